//! Measures for the scores of a company: from its books by day, its payroll, its taxes and its loans. Every value names the calls that show
//! its source, so that callers can check it with the API alone.

use crate::api::business::figures::{Figures, Reading};
use crate::api::business::reports::movements;
use crate::api::capital::conduct::{self, LoanConduct, PayrollConduct, TaxConduct};
use crate::api::prelude::*;
use crate::model::business::Authority;
use crate::model::capital::{Evidence, Measured};
use crate::model::{Account, AccountType};

/// Number of days that a score covers, including today.
const YEAR: i32 = 365;
/// Number of days of the trend, including today.
const QUARTER: i32 = 90;
/// Number of days that count as a month.
const MONTH: i64 = 30;
/// The maximum of shares and multiples; larger values are limited to it.
const FAR: i128 = 10_000;
/// Maximum number of resources named as evidence.
const NAMED: usize = 20;

/// Measured values by name.
pub(crate) type Measures = BTreeMap<&'static str, Measured>;

/// Sums of a range of days, in the company's own currency.
struct Moved {
    sales: i128,
    payroll: i128,
    expenses: i128,
    chargebacks: i128,
}

impl Moved {
    fn of(figures: &Figures) -> Self {
        let payroll = |account| {
            matches!(
                account,
                Account::Wages | Account::Contractors | Account::EmployerContributions
            )
        };
        Self {
            sales: -figures.sum(|account| account.account_type() == AccountType::Revenue),
            payroll: figures.sum(payroll),
            expenses: figures.sum(|account| account.account_type() == AccountType::Expense),
            chargebacks: figures.sum(|account| account == Account::ChargebackLosses),
        }
    }

    /// Adds wages that are due but not in the books, so that a company cannot improve its score by not paying.
    fn owe_wages(&mut self, cost: i128) {
        self.payroll += cost;
        self.expenses += cost;
    }
}

/// A company's data for the scores, as of today.
pub(crate) struct Look {
    company: String,
    today: Date,
    year_from: Date,
    quarter_from: Date,
    /// The first day of revenue or expense.
    first_day: Option<Date>,
    year: Moved,
    quarter: Moved,
    free_cash: i128,
    debt: i128,
    payroll: PayrollConduct,
    pub(crate) taxes: TaxConduct,
    pub(crate) loans: LoanConduct,
}

/// Whether the account is cash that does not belong to employees and authorities. Sales tax is left out, because it grows with revenue, and
/// revenue must never lower a score.
fn is_free_cash(account: Account) -> bool {
    match account {
        Account::WagesPayable
        | Account::ContractorsPayable
        | Account::PensionPayable
        | Account::DeductionsPayable => true,
        Account::TaxPayable(authority) => authority != Authority::VAT,
        other => other.is_cash(),
    }
}

impl Look {
    /// Reads a company's data.
    pub(crate) fn at(world: &World, company: &Company) -> Self {
        let today = world.today();
        let (year_from, quarter_from) = (today.plus_days(1 - YEAR), today.plus_days(1 - QUARTER));
        let reading = Reading::of(world, company);
        let standing = reading.standing(today);
        let earns_or_spends = |account: Account| {
            matches!(account.account_type(), AccountType::Revenue | AccountType::Expense)
        };
        let (payroll, taxes) = conduct::payroll_and_taxes(world, company, year_from);
        let (mut year, mut quarter) = (
            Moved::of(&movements(&reading, year_from, today)),
            Moved::of(&movements(&reading, quarter_from, today)),
        );
        for day in &payroll.unbooked {
            year.owe_wages(payroll.cost);
            if *day >= quarter_from {
                quarter.owe_wages(payroll.cost);
            }
        }
        let unbooked = payroll.cost * payroll.unbooked.len() as i128;
        Self {
            company: company.id.to_string(),
            today,
            year_from,
            quarter_from,
            first_day: reading.first_day(earns_or_spends),
            year,
            quarter,
            free_cash: standing.sum(is_free_cash) - unbooked,
            debt: -standing.sum(|account| account == Account::LoansPayable),
            payroll,
            taxes,
            loans: conduct::loans(world, company),
        }
    }

    /// Days since the first revenue or expense.
    pub(crate) fn days(&self) -> i64 {
        self.first_day.map_or(0, |first| i64::from(self.today.days_since(first)))
    }

    /// Months since then.
    pub(crate) fn months(&self) -> i64 {
        self.days() / MONTH
    }

    /// Sales of the last 365 days.
    pub(crate) fn yearly_sales(&self) -> i128 {
        self.year.sales
    }

    /// Wages and contributions of the last 365 days.
    pub(crate) fn yearly_payroll(&self) -> i128 {
        self.year.payroll
    }

    /// The amount owed to lenders.
    pub(crate) fn debt(&self) -> i128 {
        self.debt.max(0)
    }

    /// All measures that formulas may use.
    pub(crate) fn measures(&self) -> Measures {
        let (year, quarter) = (&self.year, &self.quarter);
        let of_year = || self.profit_and_loss(self.year_from);
        let late_runs = &self.payroll.late;
        let count = |list: &[String]| i64::try_from(list.len()).unwrap_or(i64::MAX);
        let of_today = || self.balance_sheet();
        let runs = |late: &[String]| vec![self.listed("listPayrollRuns", late)];
        let liabilities = |late: &[String]| vec![self.listed("listTaxLiabilities", late)];
        let loans = |late: &[String]| vec![self.listed("listLoans", late)];
        let of_quarter = self.profit_and_loss(self.quarter_from);
        let since_first = self.profit_and_loss(self.first_day.unwrap_or(self.today));
        let (taxes, repaid) = (&self.taxes, &self.loans);
        let rows = [
            ("revenue_level", share(year.sales, year.payroll), vec![of_year()]),
            ("revenue_trend", share(quarter.sales, quarter.payroll), vec![of_quarter]),
            ("profitability", margin(year), vec![of_year()]),
            ("cash_buffer", self.buffer(), vec![of_today(), of_year()]),
            ("payroll_paid", self.payroll.in_time, runs(&[])),
            ("payroll_late", count(late_runs), runs(late_runs)),
            ("tax_filed", taxes.filed, vec![self.listed("listTaxFilings", &[])]),
            ("tax_late", count(&taxes.late), liabilities(&taxes.late)),
            ("tax_overdue", count(&taxes.overdue), liabilities(&taxes.overdue)),
            ("chargebacks", part(year.chargebacks, year.sales, 10_000), vec![of_year()]),
            ("debt", part(self.debt(), year.sales, 100), vec![of_today(), of_year()]),
            ("repayment_late", repaid.late, loans(&repaid.late_loans)),
            ("loans_repaid", repaid.repaid, loans(&[])),
            ("age", self.months(), vec![since_first]),
        ];
        rows.map(|(name, value, evidence)| (name, Measured { value, evidence })).into()
    }

    /// Free cash, in tenths of a month's payroll.
    fn buffer(&self) -> i64 {
        let months = i128::from(self.months().clamp(1, 12));
        match self.year.payroll {
            payroll if payroll > 0 => cut((self.free_cash * 10 * months).div_euclid(payroll)),
            _ => cut(self.free_cash.signum() * FAR),
        }
    }

    fn profit_and_loss(&self, from: Date) -> Evidence {
        let days = [("from", from.to_string()), ("to", self.today.to_string())];
        self.shown("getProfitAndLoss", &days, &[])
    }

    fn balance_sheet(&self) -> Evidence {
        self.shown("getBalanceSheet", &[("as_of", self.today.to_string())], &[])
    }

    fn listed(&self, operation: &str, resources: &[String]) -> Evidence {
        self.shown(operation, &[], resources)
    }

    fn shown(&self, operation: &str, more: &[(&str, String)], resources: &[String]) -> Evidence {
        let company = ("company_id".to_owned(), self.company.clone());
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Evidence {
            operation: operation.to_owned(),
            params: core::iter::once(company).chain(more).collect(),
            resources: resources.iter().take(NAMED).cloned().collect(),
        }
    }
}

/// Sales in percent of payroll, rounded down. Without a payroll, any sales are more than enough.
fn share(sales: i128, payroll: i128) -> i64 {
    match payroll {
        payroll if payroll > 0 => cut((sales * 100).div_euclid(payroll)),
        _ => cut(sales.signum() * FAR),
    }
}

/// Net profit in percent of sales, rounded down. Without sales, everything is a loss.
fn margin(year: &Moved) -> i64 {
    match year.sales {
        sales if sales > 0 => {
            let percent = ((sales - year.expenses) * 100).div_euclid(sales);
            cut(percent.clamp(-100, 100))
        }
        _ => -100,
    }
}

/// A share of sales, rounded up, so that only an amount of 0 has a share of 0.
fn part(of_it: i128, sales: i128, scale: i128) -> i64 {
    match (of_it.max(0), sales) {
        (0, _) => 0,
        (of_it, sales) if sales > 0 => cut((of_it * scale + sales - 1) / sales),
        _ => cut(FAR),
    }
}

fn cut(value: i128) -> i64 {
    i64::try_from(value.clamp(-FAR, FAR)).expect("it is cut off far below 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_down_and_parts_up() {
        assert_eq!(share(199, 100), 199);
        assert_eq!(share(1_999, 1_000), 199);
        assert_eq!(share(-1, 100), -1);
        assert_eq!([share(5, 0), share(0, 0), share(-5, 0)], [10_000, 0, -10_000]);
        assert_eq!([part(0, 0, 100), part(1, 1_000_000, 100)], [0, 1]);
        assert_eq!(part(1, 0, 100), 10_000);
        assert_eq!(part(i128::from(i64::MAX), 1, 10_000), 10_000);
    }

    #[test]
    fn more_sales_never_lower_the_margin_at_any_cost() {
        for expenses in [-500, 0, 1, 700, 1_000_000] {
            let margins = (-50..2_000)
                .map(|sales| margin(&Moved { sales, payroll: 0, expenses, chargebacks: 0 }));
            assert!(margins.is_sorted(), "{expenses}");
        }
    }
}

//! Reports: profit and loss, balance sheet. Each adds up the ledger by day, in the company's own currency or another one.

use crate::api::business::accounting_periods::last_closed;
use crate::api::business::cash_basis;
use crate::api::business::figures::{Figures, Reading, minor};
use crate::api::business::journal_entries::in_order;
use crate::api::prelude::*;
use crate::model::business::Authority;
use crate::model::{Account, AccountType, Direction, fx};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/reports/profit-and-loss",
        summary: "Read the profit and loss report",
        description: "Returns revenue and expenses of a range of days. With `basis=cash`, amounts \
            count when they are received or paid. Sales are then the receipts from customers, less \
            the sales tax paid to the authority. A paid bill counts as the expenses of the bill, \
            including their tax. Taxes, pensions and deductions of payroll count when they are \
            paid. Each payment is split into employer contributions and wages, in the proportion \
            of the runs until that day. Amounts in other currencies are translated at the \
            reference rate of their accounting date. On the accrual basis, `exchange_gains` and \
            `exchange_losses` contain the gains and losses on balances in other currencies (IAS \
            21.28). If the report has another `currency`, these gains and losses are translated at \
            the rate of the last day.",
        example: r#"{"company_id":"@company:1","from":"2025-12-01","to":"2025-12-31"}"#,
        long: true,
        ..operation!(read get_profit_and_loss)
    },
    Operation {
        path: "/api/business/reports/balance-sheet",
        summary: "Read the balance sheet",
        description: "Returns assets, liabilities and equity at the end of a day; for a future \
            day, as of now. Equity includes earnings: `retained_earnings` has the earnings of \
            closed years, and `current_earnings` has all others. Balances in other currencies are \
            translated at the rate of the day; earnings and paid-in equity are translated at the \
            rates of their own days. The difference is an exchange gain or loss, which is part of \
            earnings. If the report has another `currency` than the company's, the effect of that \
            translation is a line of equity.",
        example: r#"{"company_id":"@company:1","as_of":"2025-12-31"}"#,
        long: true,
        ..operation!(read get_balance_sheet)
    },
]);

/// One line of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReportLine {
    /// The code of the account, such as `sales`.
    pub(crate) account: Account,
    /// Amount in minor units; negative if the balance is on the opposite side of the account.
    pub(crate) amount: i64,
}

/// Reports are not stored and have no id.
macro_rules! reports {
    ($($report:ty),*) => {
        $(impl $crate::api::reply::Identified for $report {
            fn id_text(&self) -> Option<String> {
                None
            }
        })*
    };
}
pub(crate) use reports;

reports!(ProfitAndLoss, BalanceSheet);

/// When revenue and expenses count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AccountingBasis")]
pub(crate) enum Basis {
    #[default]
    Accrual,
    Cash,
}

/// The days to compare with. `previous_period`: the period of the same length directly before, counted in months if the days are whole months,
/// otherwise in days. `previous_year`: the same days one year earlier; whole months are compared with whole months, also in leap years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ComparisonPeriod")]
pub(crate) enum Compare {
    PreviousPeriod,
    PreviousYear,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetProfitAndLoss {
    /// The company to report on.
    company_id: Id<Company>,
    /// The first day of the report.
    from: Date,
    /// The last day of the report.
    to: Date,
    /// When revenue and expenses count. Default: `accrual`.
    basis: Option<Basis>,
    /// Other days to show for comparison.
    compare: Option<Compare>,
    /// The currency of the report. Default: the company's.
    currency: Option<Currency>,
}

/// Revenue and expenses of a range of days.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfitAndLoss {
    /// The company of the report.
    company_id: Id<Company>,
    /// When revenue and expenses count.
    basis: Basis,
    /// The currency of every amount.
    currency: Currency,
    #[serde(flatten)]
    figures: ProfitFigures,
    /// The figures of the days to compare with.
    comparison: Option<ProfitFigures>,
    /// Currencies without a reference rate, whose amounts are not included, also not in the comparison; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untranslated: Vec<Currency>,
}

/// The figures of a profit and loss statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfitFigures {
    /// The first day of the figures.
    from: Date,
    /// The last day of the figures.
    to: Date,
    /// Revenue, one line for each account.
    revenue: Vec<ReportLine>,
    /// Sum of revenue, in minor units.
    total_revenue: i64,
    /// Expenses, one line for each account.
    expenses: Vec<ReportLine>,
    /// Sum of expenses, in minor units.
    total_expenses: i64,
    /// Revenue less expenses, in minor units.
    net_profit: i64,
}

fn get_profit_and_loss(world: &World, input: GetProfitAndLoss) -> Result<Data<ProfitAndLoss>> {
    let company = existing(world, input.company_id, "/company_id")?;
    in_order(input.from, input.to)?;
    let reading = shown_in(world, &company, input.currency)?;
    let basis = input.basis.unwrap_or_default();
    let currency = input.currency.unwrap_or(company.currency);
    let moved = |from, to| match basis {
        Basis::Accrual => movements(&reading, from, to),
        Basis::Cash => cash_basis::paid(world, &reading, from, to),
    };
    let before = |compare| {
        let (from, to) = compared(compare, input.from, input.to);
        let moved = moved(from, to);
        fits(&moved, currency).map(|()| (profit(from, to, basis, &moved), moved.untranslated))
    };
    let moved = moved(input.from, input.to);
    fits(&moved, currency)?;
    let (comparison, left_out) = input.compare.map(before).transpose()?.unzip();
    let untranslated = &moved.untranslated | &left_out.unwrap_or_default();
    Ok(Data(ProfitAndLoss {
        company_id: company.id,
        basis,
        currency,
        figures: profit(input.from, input.to, basis, &moved),
        comparison,
        untranslated: untranslated.into_iter().collect(),
    }))
}

/// Movements of a range of days, with the exchange gain or loss.
pub(crate) fn movements(reading: &Reading<'_>, from: Date, to: Date) -> Figures {
    let mut moved = reading.moved(from, to);
    moved.gain(reading.exchange_gain(from, to));
    moved
}

/// The books in the currency of a report, which must have a reference rate if it is not the company's.
fn shown_in<'a>(
    world: &'a World,
    company: &Company,
    currency: Option<Currency>,
) -> Result<Reading<'a>> {
    let reading = Reading::of(world, company);
    let Some(currency) = currency.filter(|currency| *currency != company.currency) else {
        return Ok(reading);
    };
    if !(fx::is_known(currency) && fx::is_known(company.currency)) {
        let own = company.currency;
        let detail = format!("there is no reference rate between {own} and {currency}");
        return Err(ApiError::of_member("/currency", "no_reference_rate", detail));
    }
    Ok(reading.shown_in(currency))
}

/// The largest sum of amounts in a report: sums and differences of several such sums stay within 64 bits.
const MOST: i128 = i64::MAX as i128 / 8;

/// Refuses figures that are too large in the currency of a report. In the company's own currency, the turnover of every account is bounded.
fn fits(figures: &Figures, currency: Currency) -> Result<()> {
    let sum: i128 = figures.by_account.values().map(|net| net.abs()).sum();
    if sum <= MOST {
        return Ok(());
    }
    let detail = format!(
        "the amounts of this report are too large in {currency}: they sum to {sum} minor units, \
            and the maximum is {MOST}"
    );
    Err(ApiError::of_member("/currency", "range", detail))
}

/// Whole months are compared with whole months. Other days are compared with the same number of days just before, or with the same days a
/// year earlier.
fn compared(compare: Compare, from: Date, to: Date) -> (Date, Date) {
    let (first, last) = (from.period(), to.period());
    if from == first.first_day() && to == last.last_day() {
        let back = match compare {
            Compare::PreviousPeriod => last.months_since(first) + 1,
            Compare::PreviousYear => 12,
        };
        return (first.plus_months(-back).first_day(), last.plus_months(-back).last_day());
    }
    match compare {
        Compare::PreviousPeriod => (from.plus_days(-to.days_since(from) - 1), from.plus_days(-1)),
        Compare::PreviousYear => (from.plus_years(-1), to.plus_years(-1)),
    }
}

/// The revenue or expense that a counterpart of cash represents.
fn counted_as(account: Account) -> Option<Account> {
    match account {
        Account::AccountsReceivable
        | Account::RefundsPayable
        | Account::VatRecoverable
        | Account::BadDebts => Some(Account::Sales),
        Account::TaxPayable(authority) if authority == Authority::VAT => Some(Account::Sales),
        Account::IncomeTaxPayable => Some(Account::IncomeTax),
        Account::InterestPayable => Some(Account::Interest),
        Account::AccountsPayable => Some(Account::Purchases),
        Account::WagesPayable
        | Account::DeductionsPayable
        | Account::TaxPayable(_)
        | Account::PensionPayable => Some(Account::Wages),
        Account::ContractorsPayable => Some(Account::Contractors),
        other => matches!(other.account_type(), AccountType::Revenue | AccountType::Expense)
            .then_some(other),
    }
}

pub(crate) fn profit(from: Date, to: Date, basis: Basis, moved: &Figures) -> ProfitFigures {
    let mut counted: BTreeMap<Account, i128> = BTreeMap::new();
    for (&account, &net) in &moved.by_account {
        let as_what = match basis {
            Basis::Accrual => Some(account),
            Basis::Cash => counted_as(account),
        };
        if let Some(account) = as_what {
            *counted.entry(account).or_default() += net;
        }
    }
    let revenue = lines(&counted, AccountType::Revenue);
    let expenses = lines(&counted, AccountType::Expense);
    let (total_revenue, total_expenses) = (total(&revenue), total(&expenses));
    ProfitFigures {
        from,
        to,
        revenue,
        total_revenue,
        expenses,
        total_expenses,
        net_profit: total_revenue - total_expenses,
    }
}

fn total(lines: &[ReportLine]) -> i64 {
    lines.iter().map(|line| line.amount).sum()
}

/// Whether its balance is part of the result.
fn is_result(account: Account) -> bool {
    matches!(account.account_type(), AccountType::Revenue | AccountType::Expense)
}

/// Accounts of a type with a balance, on their normal side.
fn lines(nets: &BTreeMap<Account, i128>, kind: AccountType) -> Vec<ReportLine> {
    let sign = if kind.normal_side() == Direction::Debit { 1 } else { -1 };
    let rows = nets.iter().filter(|(account, net)| account.account_type() == kind && **net != 0);
    rows.map(|(&account, &net)| ReportLine { account, amount: minor(sign * net) }).collect()
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetBalanceSheet {
    /// The company to report on.
    company_id: Id<Company>,
    /// The day of the report, which shows the balances at its end.
    as_of: Date,
    /// The currency of the report. Default: the company's.
    currency: Option<Currency>,
}

/// Assets, liabilities and equity of a company at the end of a day.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BalanceSheet {
    /// The company of the report.
    company_id: Id<Company>,
    /// The day of the report. Balances are those at the end of the day.
    as_of: Date,
    /// The currency of every amount.
    currency: Currency,
    /// Assets, one line for each account.
    assets: Vec<ReportLine>,
    /// Sum of assets, in minor units.
    total_assets: i64,
    /// Cash in any state: available, reserved, in transit or in escrow, in minor units. Part of the assets.
    cash: i64,
    /// Liabilities, one line for each account.
    liabilities: Vec<ReportLine>,
    /// Sum of liabilities, in minor units.
    total_liabilities: i64,
    /// Equity, one line for each account.
    equity: Vec<ReportLine>,
    /// Earnings after the last closed year that ends on or before the day, in minor units.
    current_earnings: i64,
    /// The effect of showing the report in another currency than the company's, in minor units (IAS
    /// 21.39). Assets and liabilities are translated at the rate of the day; earnings and paid-in
    /// equity are translated at the rates of their own days. 0 in the company's currency.
    translation_difference: i64,
    /// Equity including current earnings and the translation difference, in minor units: assets
    /// less liabilities.
    total_equity: i64,
    /// Currencies without a reference rate, whose amounts are not included; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    untranslated: Vec<Currency>,
}

fn get_balance_sheet(world: &World, input: GetBalanceSheet) -> Result<Data<BalanceSheet>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let reading = shown_in(world, &company, input.currency)?;
    let standing = reading.standing(input.as_of);
    let mut moved = reading.moved(Date::FIRST, input.as_of);
    let currency = input.currency.unwrap_or(company.currency);
    fits(&standing, currency)?;
    let assets = lines(&standing.by_account, AccountType::Asset);
    let liabilities = lines(&standing.by_account, AccountType::Liability);
    moved.by_account.remove(&Account::WorldFx);
    let closed = last_closed(world, company.id, input.as_of);
    let kept = closed.map_or(0, |day| {
        let gain = reading.exchange_gain(Date::FIRST, day);
        moved.gain(gain);
        gain - reading.moved(Date::FIRST, day).sum(is_result)
    });
    let open = closed.map_or(Date::FIRST, |day| day.plus_days(1));
    moved.gain(reading.exchange_gain(open, input.as_of));
    fits(&moved, currency)?;
    let earned = -moved.sum(is_result) - kept;
    *moved.by_account.entry(Account::RetainedEarnings).or_default() -= kept;
    fits(&moved, currency)?;
    let current_earnings = minor(earned);
    let equity = lines(&moved.by_account, AccountType::Equity);
    let (total_assets, total_liabilities) = (total(&assets), total(&liabilities));
    let total_equity = total_assets - total_liabilities;
    Ok(Data(BalanceSheet {
        company_id: company.id,
        as_of: input.as_of,
        currency,
        total_assets,
        cash: minor(standing.sum(Account::is_cash)),
        total_liabilities,
        total_equity,
        translation_difference: total_equity - total(&equity) - current_earnings,
        assets,
        liabilities,
        equity,
        current_earnings,
        untranslated: standing.untranslated.into_iter().collect(),
    }))
}

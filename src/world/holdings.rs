//! A grown company's assets and liabilities other than cash, the tax on its profit, and its opening equity.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "months of a year, years of a company and percentages"
)]

mod bank_loan;

use crate::model::ledger::{AccountType, EntryLine};
use crate::model::posting::holdings::Opening;
use crate::model::posting::{self, Posting};
use crate::model::{AnyId, Kind};
use crate::value::Date;
use crate::world::holdings::bank_loan::BankLoan;
use crate::world::layout::{HISTORY_MONTHS, Layout, Plan};
use crate::world::sales::SalesHistory;
use crate::world::suppliers::scale;

/// The maximum accumulated depreciation at the start, in percent of the assets: older assets were replaced.
const WORN_PERCENT: u64 = 55;
/// The retained part of the profits since the foundation, in percent.
const KEPT_PERCENT: u64 = 60;
/// The maximum part of the equity that can be retained earnings, in percent.
const MOST_RETAINED_PERCENT: u64 = 90;
/// Last year's profit, in percent of this year's.
const LAST_YEAR_PERCENT: u64 = 90;

/// The fixed assets and the stock of a company through its history.
#[derive(Debug)]
pub(crate) struct Holdings {
    fixed: i64,
    /// The depreciation of one month.
    depreciation: i64,
    depreciated: i64,
    /// Inventory at the beginning of each month, and at the end of the last month.
    stock: Vec<i64>,
    loan: Option<BankLoan>,
}

impl Holdings {
    /// Generates the values of the company of this plan.
    pub(crate) fn of(layout: &Layout, plan: &Plan, sales: &SalesHistory) -> Self {
        let assets = plan.industry.assets;
        let year = sales.average * HISTORY_MONTHS as i64;
        let months = assets.years * 12;
        let unit = 100 * plan.currency.minor_per_major();
        let fixed = scale(year, assets.fixed, 100) / unit * unit;
        let depreciation = fixed / months as i64;
        let age = layout.first_day().days_since(plan.origin.founded_on()) as u64 / 31;
        let worn = age.min(months * WORN_PERCENT / 100);
        let usual = scale(year, assets.stock, 100);
        let stock = (0..=HISTORY_MONTHS).map(|month| {
            // Half of the stock follows the season of the coming month.
            let next = layout.period(month).first_day().civil().month();
            let (season, average) = plan.industry.season(next);
            scale(usual, season + average, 2 * average)
        });
        let depreciated = depreciation * worn as i64;
        let loan = BankLoan::of(layout, plan, fixed);
        Self { fixed, depreciation, depreciated, stock: stock.collect(), loan }
    }

    /// The depreciation and the stock count of a month, and the instalment of a bank loan.
    pub(crate) fn month(&self, layout: &Layout, plan: &Plan, month: u64) -> Vec<(Date, Posting)> {
        let (company, day) = (source(layout, plan), layout.period(month).last_day());
        let place = month as usize;
        let change = self.stock[place + 1] - self.stock[place];
        let mut postings = vec![
            (day, posting::holdings::depreciated(company, plan.currency, self.depreciation)),
            (day, posting::holdings::stock_counted(company, plan.currency, change)),
        ];
        postings.extend(self.loan.iter().flat_map(|loan| loan.month(layout, plan, month)));
        postings
    }
}

/// The company is the source of entries that no other resource has caused.
fn source(layout: &Layout, plan: &Plan) -> AnyId {
    layout.any_at(Kind::Company, plan.index)
}

/// Revenue less expenses.
pub(crate) fn profit(postings: &[(Date, Posting)]) -> i64 {
    let lines = postings.iter().flat_map(|(_, posting)| &posting.lines);
    let counts = lines.filter(|line| {
        matches!(line.account.account_type(), AccountType::Revenue | AccountType::Expense)
    });
    -counts.map(EntryLine::signed).sum::<i64>()
}

/// The tax on the profit of a history.
#[derive(Debug, Default)]
pub(crate) struct IncomeTax {
    /// The tax payable at the start of the history.
    opening: i64,
    /// The tax of all its months.
    total: i64,
    pub(crate) postings: Vec<(Date, Posting)>,
}

impl IncomeTax {
    /// The tax on this profit; `None` without a profit, or if the country has no rule.
    pub(crate) fn on(layout: &Layout, plan: &Plan, profit: i64) -> Self {
        let Some(rule) = &plan.country.corporate_tax else { return Self::default() };
        let monthly = scale(profit.max(0), rule.percent, 100 * HISTORY_MONTHS);
        let first = layout.first_day().civil().month();
        let whole_year = monthly * HISTORY_MONTHS as i64;
        let last_year = scale(whole_year, LAST_YEAR_PERCENT, 100);
        let since = |month: i8| i64::from((first - 1 - month).rem_euclid(12));
        let of_last_year = rule.paid.len() == 1;
        let opening = if of_last_year {
            let unpaid = if rule.paid[0] >= first { last_year } else { 0 };
            unpaid + monthly * i64::from(first - 1)
        } else {
            monthly * rule.paid.iter().map(|month| since(*month)).min().unwrap_or_default()
        };
        let (company, mut owed, mut postings) = (source(layout, plan), opening, Vec::new());
        for month in 0..HISTORY_MONTHS {
            let period = layout.period(month);
            let number = period.first_day().civil().month();
            let day = period.last_day();
            postings.push((
                day,
                posting::holdings::income_tax_accrued(company, plan.currency, monthly),
            ));
            owed += monthly;
            if rule.paid.contains(&number) {
                let is_first_year = number >= first;
                let of_year = if is_first_year { last_year } else { whole_year };
                let paid = if of_last_year { of_year } else { owed };
                owed -= paid;
                let day = day.or_business_day_before();
                postings
                    .push((day, posting::holdings::income_tax_paid(company, plan.currency, paid)));
            }
        }
        Self { opening, total: whole_year, postings }
    }
}

/// The entries with which the books begin: cash, then the rest. An older company has retained more.
pub(crate) fn opening(
    layout: &Layout,
    plan: &Plan,
    (holdings, tax, bills): (&Holdings, &IncomeTax, i64),
    (cash, profit): (i64, i64),
) -> [Posting; 2] {
    let with = Opening {
        fixed: holdings.fixed,
        depreciated: holdings.depreciated,
        stock: holdings.stock[0],
        tax: tax.opening,
        bills,
        loan: holdings.loan.as_ref().map_or(0, |loan| loan.open_before),
    };
    let equity = cash + with.net();
    let years = layout.first_day().days_since(plan.origin.founded_on()) as u64 / 365;
    let kept = scale((profit - tax.total).max(0), KEPT_PERCENT * years, 100);
    let retained = kept.min(scale(equity.max(0), MOST_RETAINED_PERCENT, 100));
    let unit = 1_000 * plan.currency.minor_per_major();
    let paid_in = ((equity - retained) / unit * unit).max(0);
    let in_cash = paid_in.min(cash);
    let company = source(layout, plan);
    [
        posting::opening_cash(company, plan.currency, in_cash, cash - in_cash),
        posting::holdings::opened(company, plan.currency, with, paid_in - in_cash),
    ]
}

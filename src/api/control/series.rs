//! The months of a company in one call, as a chart shows them.

use crate::api::business::figures::{Reading, minor};
use crate::api::business::reports::{Basis, ProfitFigures, movements, profit};
use crate::api::prelude::*;
use crate::model::Account;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/series",
    summary: "Read the months of a company",
    description: "Returns the results of each month as in the profit and loss report, in the \
        company's currency. Each month also has the costs of payroll, and the cash at its end. The \
        last month can be incomplete.",
    errors: &[ErrorCode::ResourceNotFound],
    long: true,
    ..operation!(read get_series)
}]);

/// The number of months if the caller names none.
const MONTHS: u32 = 12;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetSeries {
    /// The company to report on.
    company_id: Id<Company>,
    /// The number of months. Default: 12.
    #[schemars(range(min = 1, max = 60))]
    months: Option<u32>,
    /// The last month. Default: the current one.
    to: Option<Period>,
}

/// The months of a company.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Series {
    /// The company of the months.
    company_id: Id<Company>,
    /// The currency of every amount.
    currency: Currency,
    /// The months, in order.
    months: Vec<SeriesMonth>,
}

/// A month of a company.
#[derive(Serialize, JsonSchema)]
struct SeriesMonth {
    /// The month, such as `2026-01`.
    month: Period,
    /// Wages, contractors and contributions of the employer, in minor units. Part of the expenses.
    payroll: i64,
    /// Cash available, reserved and in escrow at the end of the month, in minor units.
    cash: i64,
    /// The results of the month.
    #[serde(flatten)]
    results: ProfitFigures,
}

/// Whether it is a cost of payroll.
const fn is_payroll(account: Account) -> bool {
    matches!(account, Account::Wages | Account::Contractors | Account::EmployerContributions)
}

/// Whether it is money that the company has.
const fn is_held(account: Account) -> bool {
    matches!(account, Account::CashAvailable | Account::CashReserved | Account::EscrowHeld)
}

fn get_series(world: &World, input: GetSeries) -> Result<Plain<Series>> {
    let company = world.get(input.company_id)?;
    let reading = Reading::of(world, &company);
    let last = input.to.unwrap_or_else(|| world.today().period());
    let count = i32::try_from(input.months.unwrap_or(MONTHS)).unwrap_or(1);
    let month = |back: i32| {
        let month = last.plus_months(-back);
        let (from, to) = (month.first_day(), month.last_day());
        let moved = movements(&reading, from, to);
        SeriesMonth {
            month,
            payroll: minor(moved.sum(is_payroll)),
            cash: minor(reading.standing(to).sum(is_held)),
            results: profit(from, to, Basis::Accrual, &moved),
        }
    };
    Ok(Plain(Series {
        company_id: company.id,
        currency: company.currency,
        months: (0..count).rev().map(month).collect(),
    }))
}

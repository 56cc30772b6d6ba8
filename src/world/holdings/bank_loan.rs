//! The bank loan with which a company bought a part of its fixed assets. It is only in the books
//! and is not a resource, because the lender is a bank outside the service. Loans of the service
//! begin with an application.

#![expect(clippy::cast_possible_truncation, reason = "months of a loan of five years")]

use crate::model::capital::{Band, Product, amortisation, lending};
use crate::model::posting::{self, Posting};
use crate::value::Date;
use crate::world::layout::{HISTORY_MONTHS, Layout, Plan};
use crate::world::suppliers::scale;

/// Companies with at least these fixed assets, in percent of a year's sales, may borrow; and the number of
/// borrowers in three such companies.
const HEAVY: u64 = 15;
const OF_THREE: u64 = 2;
/// The loan, in percent of the fixed assets at cost.
const PART_PERCENT: u64 = 40;
/// The months in which it is repaid.
const MONTHS: u64 = 60;
/// The minimum number of months repaid before the history, and the number of possible values.
const REPAID: (u64, u64) = (6, 36);

/// The months of a loan within the history.
#[derive(Debug)]
pub(super) struct BankLoan {
    /// The balance when the books begin.
    pub(super) open_before: i64,
    months: Vec<amortisation::Month>,
}

impl BankLoan {
    /// The loan of the company of this plan with these fixed assets; `None` if it did not borrow.
    pub(super) fn of(layout: &Layout, plan: &Plan, fixed: i64) -> Option<Self> {
        let key = plan.key.with("bank loan");
        if plan.industry.assets.fixed < HEAVY || key.with("borrows").below(3) >= OF_THREE {
            return None;
        }
        let unit = 1_000 * plan.currency.minor_per_major();
        let amount = scale(fixed, PART_PERCENT, 100) / unit * unit;
        let (fewest, spread) = REPAID;
        let repaid = fewest + key.with("repaid").below(spread);
        let due_on = |month: u64| {
            let period = layout.period(0).plus_months(month as i32 - repaid as i32);
            period.last_day().or_business_day_before()
        };
        let days: Vec<Date> = (0..MONTHS).map(due_on).collect();
        let rate_bp = lending::rate_bp(Product::TermLoan, Band::VeryGood);
        let schedule = amortisation::schedule(amount, rate_bp, &days);
        let open_before = schedule[repaid as usize - 1].balance;
        let months = schedule.into_iter().skip(repaid as usize).take(HISTORY_MONTHS as usize);
        (amount > 0).then(|| Self { open_before, months: months.collect() })
    }

    /// The interest of a month, and the instalment that pays it.
    pub(super) fn month(&self, layout: &Layout, plan: &Plan, month: u64) -> [(Date, Posting); 2] {
        let (company, of) = (super::source(layout, plan), self.months[month as usize]);
        let interest = posting::lending::interest_accrued(company, plan.currency, of.interest);
        let repaid =
            posting::lending::loan_repaid(company, plan.currency, of.principal, of.interest);
        [(of.due_on, interest), (of.due_on, repaid)]
    }
}

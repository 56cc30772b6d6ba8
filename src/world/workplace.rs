//! Data shared by all people of a grown company, calculated once for all of them.

use crate::model::growth::identity;
use crate::value::{Date, Period};
use crate::world::layout::{HISTORY_MONTHS, Layout, Plan};
use crate::world::payroll_history::first_of_tax_year;

/// Data shared by the people of one grown company.
#[derive(Debug)]
pub(super) struct Workplace {
    /// The domain of their e-mail addresses.
    pub(super) domain: String,
    pub(super) founded_on: Date,
    /// The last day on which people joined before the history. They are paid in the whole first tax year of the
    /// history, so that their totals of the year are complete. They have worked for a year when the first bonus is
    /// paid.
    pub(super) joined_by: Date,
}

impl Workplace {
    pub(super) fn grow(layout: &Layout, plan: &Plan) -> Self {
        Self {
            domain: identity::domain_of(plan.country, plan.industry, plan.origin),
            founded_on: plan.origin.founded_on(),
            joined_by: joined_by(layout, plan),
        }
    }

    /// Its size in memory.
    pub(super) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.domain.capacity()
    }
}

fn joined_by(layout: &Layout, plan: &Plan) -> Date {
    let paid_on = layout.pay(plan.pays.pays().start).pay_date;
    let tax_year = plan.pays.span(first_of_tax_year(plan, paid_on)).start;
    let mut months = (0..HISTORY_MONTHS).map(|month| layout.period(month));
    let is_bonus = |month: &Period| month.first_day().civil().month() == plan.industry.bonus.month;
    let bonus = months.find(is_bonus).map(|month| month.plus_months(-11).first_day());
    bonus.map_or(tax_year, |day| day.min(tax_year)).plus_days(-1)
}

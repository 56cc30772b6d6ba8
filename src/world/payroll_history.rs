//! The twelve months of payroll of a grown company, calculated once for each pay class instead of each
//! person.
//!
//! People with the same role slot and step earn the same, so a company of three million costs as much as one
//! of two hundred.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of months within two years"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::business::{Before, Calculation, Extras, PayrollSettings, RunTotals, Terms};
use crate::model::growth::people;
use crate::model::growth::workforce::{Place, Selection};
use crate::model::payroll::{self, PayPeriod};
use crate::model::posting::RunCost;
use crate::value::time::{Date, Period};
use crate::world::layout::{HISTORY_MONTHS, Layout, Plan};

/// Role slot and step.
type Class = (u8, u8);

/// Twelve months of payroll.
#[derive(Debug)]
pub(crate) struct PayrollHistory {
    /// The number of people paid in each month.
    pub(crate) head_count: u64,
    /// By pay class, with one calculation for each month.
    calculations: BTreeMap<Class, Vec<Arc<Calculation>>>,
    pub(crate) months: Vec<PaidMonth>,
}

/// One month of payroll.
#[derive(Debug)]
pub(crate) struct PaidMonth {
    pub(crate) pay_date: Date,
    pub(crate) totals: RunTotals,
    pub(crate) cost: RunCost,
}

impl PayrollHistory {
    /// Calculates the payroll of the company of this plan.
    pub(crate) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let counts = plan.workforce.classes(Selection::PAID_IN_HISTORY);
        let mut calculations = BTreeMap::new();
        let mut months: Vec<PaidMonth> =
            (0..HISTORY_MONTHS).map(|m| PaidMonth::empty(pay_date(layout.period(m)))).collect();
        let mut head_count = 0;
        for (role, steps) in (0_u8..).zip(counts) {
            for (step, people) in (0_u8..).zip(steps).filter(|(_, people)| *people > 0) {
                let year = class_history(layout, plan, role, step);
                for (month, calculation) in months.iter_mut().zip(&year) {
                    month.add(calculation, people);
                }
                calculations.insert((role, step), year);
                head_count += people;
            }
        }
        Self { head_count, calculations, months }
    }

    /// The pay of people in this pay class in this month.
    pub(crate) fn calculation(&self, place: Place, month: u64) -> Option<&Arc<Calculation>> {
        self.calculations.get(&(place.role, place.step))?.get(usize::try_from(month).ok()?)
    }
}

impl PaidMonth {
    fn empty(pay_date: Date) -> Self {
        Self { pay_date, totals: RunTotals::default(), cost: RunCost::default() }
    }

    fn add(&mut self, pay: &Calculation, people: u64) {
        let people = i64::try_from(people).expect("a shape's people are bounded");
        self.totals.add(pay, people);
        self.cost.add(pay, people);
    }
}

/// The pay date of a month of history. Every grown company pays on the default day, so that the histories of
/// several companies are in the order of time.
pub(crate) fn pay_date(period: Period) -> Date {
    period.day(PayrollSettings::default().pay_day).or_business_day_before()
}

/// The twelve months of one pay class. The earlier months of the tax year are also calculated and then
/// dropped, because the year to date of the first month includes
/// them.
fn class_history(layout: &Layout, plan: &Plan, role: u8, step: u8) -> Vec<Arc<Calculation>> {
    let compensation = people::compensation(
        plan.country,
        plan.industry,
        plan.currency,
        role,
        step,
        layout.first_day(),
    );
    let attributes = Arc::new(people::tax_attributes(plan.country, plan.key, role, step));
    let first = pay_date(layout.period(0));
    let pack = payroll::library().in_force(plan.country.code, first.civil()).pack;
    let earlier = pack.period_number(PayPeriod::Monthly, first.civil()) as i32 - 1;
    let mut year: Vec<Arc<Calculation>> = Vec::new();
    for month in -earlier..HISTORY_MONTHS as i32 {
        let pay_date = pay_date(layout.period(0).plus_months(month));
        let terms = Terms {
            frequency: PayPeriod::Monthly,
            country: plan.country.code,
            parts: &compensation.components,
            extras: Extras::default(),
            attributes: &attributes,
        };
        let counts = |pay: &&Arc<Calculation>| pay.counts_with(plan.country.code, pay_date);
        let earlier = year.last().filter(counts);
        let earlier = earlier.map(|pay| pay.year_so_far());
        let before = Before { year: earlier.as_ref(), same_period: &[] };
        let pay = Calculation::of(terms, pay_date, before);
        let pay = pay.expect("grown salaries are far from the limits of the arithmetic");
        year.push(Arc::new(pay));
    }
    year.split_off(earlier as usize)
}

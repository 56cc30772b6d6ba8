//! The twelve months of payroll of a grown company, calculated once for each pay class instead of each
//! person.
//!
//! People with the same role slot, step and first month earn the same, so a company of three million costs about as much as one
//! of two hundred.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of months within two years"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::business::{Before, Calculation, Component, Extras, PayLine, RunTotals, Terms};
use crate::model::growth::people;
use crate::model::growth::workforce::Place;
use crate::model::payroll::{self, PayPeriod};
use crate::model::posting::RunCost;
use crate::value::time::Date;
use crate::world::layout::{HISTORY_MONTHS, Layout, Plan};

/// Role slot, step, and the first month of history that is paid.
type Class = (u8, u8, u64);

/// Twelve months of payroll.
#[derive(Debug)]
pub(crate) struct PayrollHistory {
    /// By pay class, with one calculation for each month from the first one on.
    calculations: BTreeMap<Class, Vec<Arc<Calculation>>>,
    pub(crate) months: Vec<PaidMonth>,
}

/// One month of payroll.
#[derive(Debug)]
pub(crate) struct PaidMonth {
    /// The number of people paid.
    pub(crate) people: u64,
    pub(crate) pay_date: Date,
    pub(crate) totals: RunTotals,
    pub(crate) cost: RunCost,
}

impl PayrollHistory {
    /// Calculates the payroll of the company of this plan.
    pub(crate) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let mut months: Vec<PaidMonth> =
            (0..HISTORY_MONTHS).map(|month| PaidMonth::empty(layout.paid_on(month))).collect();
        let mut calculations = BTreeMap::new();
        for ((class, end), people) in classes(plan) {
            let pays =
                calculations.entry(class).or_insert_with(|| class_history(layout, plan, class));
            let (_, _, first) = class;
            let paid = &mut months[first as usize..end as usize];
            for (month, pay) in paid.iter_mut().zip(&*pays) {
                month.add(pay, people);
            }
        }
        Self { calculations, months }
    }

    /// The pay of people in this pay class in this month; none if they are not paid.
    pub(crate) fn calculation(
        &self,
        plan: &Plan,
        place: Place,
        month: u64,
    ) -> Option<&Arc<Calculation>> {
        if !plan.tenure.is_paid(place, month) {
            return None;
        }
        let first = plan.tenure.first(place);
        let pays = self.calculations.get(&(place.role, place.step, first))?;
        pays.get(usize::try_from(month.checked_sub(first)?).ok()?)
    }
}

impl PaidMonth {
    fn empty(pay_date: Date) -> Self {
        Self { people: 0, pay_date, totals: RunTotals::default(), cost: RunCost::default() }
    }

    fn add(&mut self, pay: &Calculation, people: u64) {
        self.people += people;
        let people = i64::try_from(people).expect("a shape's people are bounded");
        self.totals.add(pay, people);
        self.cost.add(pay, people);
    }
}

/// How many people of each class are paid until before each month.
fn classes(plan: &Plan) -> BTreeMap<(Class, u64), u64> {
    let mut classes = BTreeMap::new();
    plan.workforce.tally(|place, people| {
        if plan.tenure.is_paid(place, plan.tenure.first(place)) {
            let class = (place.role, place.step, plan.tenure.first(place));
            let end = plan.tenure.last(place).map_or(HISTORY_MONTHS, |last| last + 1);
            *classes.entry((class, end)).or_default() += people;
        }
    });
    classes
}

/// The months of one pay class from its first one on. For a class that was there before, the earlier months of the tax year are also
/// calculated and then dropped, because the year to date of the first month includes them.
fn class_history(layout: &Layout, plan: &Plan, class: Class) -> Vec<Arc<Calculation>> {
    let (role, step, first) = class;
    let country = plan.country.code;
    let attributes = Arc::new(people::tax_attributes(plan.country, plan.key, role, step));
    let mut start = first as i32;
    if first == 0 {
        let paid_on = layout.paid_on(0);
        let pack = payroll::library().in_force(country, paid_on.civil()).pack;
        start -= pack.period_number(PayPeriod::Monthly, paid_on.civil()) as i32 - 1;
    }
    let [before, now] = people::monthly_pay(plan.pay(), role, step);
    let pay = if first == 0 { [before, now] } else { [now, now] };
    let parts = pay.map(|amount| people::parts(plan.country, amount));
    let raised = plan.raise_month() as i32;
    let mut year: Vec<Arc<Calculation>> = Vec::new();
    for month in start..HISTORY_MONTHS as i32 {
        let period = layout.period(0).plus_months(month);
        let pay_date = layout.pay_date(period);
        let parts: &[Component] = &parts[usize::from(month >= raised)];
        let months = if first == 0 { 12 } else { (month - first as i32 + 1) as u64 };
        let terms = Terms {
            frequency: PayPeriod::Monthly,
            country,
            parts,
            extras: extras(plan, parts, pay_date, months),
            attributes: &attributes,
            employer: None,
        };
        let counts = |pay: &&Arc<Calculation>| pay.counts_with(country, pay_date);
        let earlier = year.last().filter(counts).map(|pay| pay.year_so_far());
        let before = Before { year: earlier.as_ref(), same_period: &[] };
        let pay = Calculation::of(terms, pay_date, before);
        let pay = pay.expect("grown salaries are far from the limits of the arithmetic");
        year.push(Arc::new(pay));
    }
    year.split_off((first as i32 - start) as usize)
}

/// The bonus, in its month.
fn extras(plan: &Plan, parts: &[Component], pay_date: Date, months: u64) -> Extras {
    let mut extras = Extras::default();
    if pay_date.civil().month() == plan.industry.bonus.month {
        let month_pay = parts.iter().map(|part| part.amount).sum();
        let amount = people::bonus(plan.industry, month_pay, months);
        extras.earnings.push(PayLine::plain("bonus".to_owned(), "Bonus".to_owned(), amount));
    }
    extras
}

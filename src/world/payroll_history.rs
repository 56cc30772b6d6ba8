//! The payroll of a grown company in the twelve months before the world's start, calculated once for each pay class instead of each
//! person.
//!
//! People with the same role slot, step and first pay earn the same. So a company of three million people takes about
//! as long as one of two hundred.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "numbers of pays within two years"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::business::pay_terms::part_of;
use crate::model::business::tax_period::TaxYear;
use crate::model::business::{
    Before, Calculation, Component, Deduction, Extras, PayLine, PaySpan, Proration, RunTotals,
    Terms,
};
use crate::model::growth::people;
use crate::model::growth::workforce::Place;
use crate::model::payroll::{self, PayPeriod};
use crate::model::posting::RunCost;
use crate::value::time::{Date, Period};
use crate::world::layout::{HISTORY_MONTHS, Layout, Plan};

/// Role slot, step, and the number of the first pay of history.
pub(super) type Class = (u8, u8, u64);

/// All pays of a company's history.
#[derive(Debug)]
pub(crate) struct PayrollHistory {
    /// By pay class, with one calculation for each pay from the first one on.
    calculations: BTreeMap<Class, Vec<Arc<Calculation>>>,
    /// In order.
    pub(crate) runs: Vec<PaidRun>,
}

/// One run of payroll.
#[derive(Debug)]
pub(crate) struct PaidRun {
    /// Its number in the world.
    pub(crate) pay: u64,
    /// The number of people paid.
    pub(crate) people: u64,
    pub(crate) pay_date: Date,
    pub(crate) totals: RunTotals,
    pub(crate) cost: RunCost,
}

impl PayrollHistory {
    /// Calculates the payroll of the company of this plan.
    pub(crate) fn grow(layout: &Layout, plan: &Plan) -> Self {
        let pays = plan.pays.pays();
        let mut runs: Vec<PaidRun> =
            pays.map(|pay| PaidRun::empty(pay, layout.pay(pay).pay_date)).collect();
        let days = PayDays::of(layout, plan);
        let mut calculations = BTreeMap::new();
        for ((class, end), people) in classes(plan) {
            let pays =
                calculations.entry(class).or_insert_with(|| class_history(plan, &days, class));
            let (_, _, first) = class;
            let paid = &mut runs[first as usize..end as usize];
            for (run, pay) in paid.iter_mut().zip(&*pays) {
                run.add(pay, people);
            }
        }
        Self { calculations, runs }
    }

    /// The last pay of each pay class.
    pub(super) fn last_pays(&self) -> BTreeMap<Class, Arc<Calculation>> {
        let last = |(class, pays): (&Class, &Vec<_>)| Some((*class, Arc::clone(pays.last()?)));
        self.calculations.iter().filter_map(last).collect()
    }

    /// Its approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        let pays = self.calculations.values().flatten().map(|pay| pay.bytes());
        pays.sum::<usize>() + self.runs.len() * size_of::<PaidRun>()
    }

    /// The runs with a pay date in a month.
    pub(crate) fn paid_in(&self, month: Period) -> impl Iterator<Item = &PaidRun> {
        self.runs.iter().filter(move |run| run.pay_date.period() == month)
    }

    /// The calculation of the world's pay with this number for people in this pay class; `None` if they are not in
    /// it.
    pub(crate) fn calculation(
        &self,
        plan: &Plan,
        place: Place,
        pay: u64,
    ) -> Option<&Arc<Calculation>> {
        let number = plan.pays.number(pay)?;
        if !plan.tenure.is_paid(place, number) {
            return None;
        }
        let first = plan.tenure.first(place);
        let pays = self.calculations.get(&(place.role, place.step, first))?;
        pays.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// The last pay of people in this place that meets a condition.
    pub(crate) fn last_paid(
        &self,
        plan: &Plan,
        place: Place,
        counts: impl Fn(&Calculation) -> bool,
    ) -> Option<&Arc<Calculation>> {
        let first = plan.tenure.first(place);
        if !plan.tenure.is_paid(place, first) {
            return None;
        }
        let end = plan.tenure.last(place).map_or(plan.pays.count(), |last| last + 1);
        let pays = self.calculations.get(&(place.role, place.step, first))?;
        let pays = pays.get(..usize::try_from(end - first).ok()?)?;
        pays.iter().rev().find(|pay| counts(pay))
    }
}

impl PaidRun {
    fn empty(pay: u64, pay_date: Date) -> Self {
        Self { pay, people: 0, pay_date, totals: RunTotals::default(), cost: RunCost::default() }
    }

    fn add(&mut self, pay: &Calculation, people: u64) {
        self.people += people;
        let people = i64::try_from(people).expect("a shape's people are bounded");
        self.totals.add(pay, people);
        self.cost.add(pay, people);
    }
}

/// The number of people by class and by the number of the first pay that they no longer receive.
fn classes(plan: &Plan) -> BTreeMap<(Class, u64), u64> {
    let mut classes = BTreeMap::new();
    plan.workforce.tally(|place, people| {
        if plan.tenure.is_paid(place, plan.tenure.first(place)) {
            let class = (place.role, place.step, plan.tenure.first(place));
            let end = plan.tenure.last(place).map_or(plan.pays.count(), |last| last + 1);
            *classes.entry((class, end)).or_default() += people;
        }
    });
    classes
}

/// A pay of the tax year before the history begins.
#[derive(Clone, Debug)]
pub(crate) struct EarlierPay {
    pub(crate) span: PaySpan,
    pub(crate) pay_date: Date,
    pub(crate) calculation: Arc<Calculation>,
}

/// The pays of the tax year before the history begins, of people in this place. The year to date of their first pay includes them; no run contains
/// them.
pub(crate) fn earlier_pays(layout: &Layout, plan: &Plan, place: Place) -> Vec<EarlierPay> {
    let first = plan.tenure.first(place);
    if first > 0 || !plan.tenure.is_paid(place, first) {
        return Vec::new();
    }
    let days = PayDays::of(layout, plan);
    if first_of_tax_year(plan, days.on(0)) == 0 {
        return Vec::new();
    }
    let (start, mut pays) = class_pays(plan, &days, (place.role, place.step, first));
    pays.truncate(usize::try_from(-start).unwrap_or_default());
    let pay = |(number, calculation)| EarlierPay {
        span: plan.pays.span(number),
        pay_date: days.on(number),
        calculation,
    };
    (start..0).zip(pays).map(pay).collect()
}

/// The pays of one pay class from its first one on.
fn class_history(plan: &Plan, days: &PayDays, class: Class) -> Vec<Arc<Calculation>> {
    let (start, mut pays) = class_pays(plan, days, class);
    let (_, _, first) = class;
    pays.split_off((first as i32 - start) as usize)
}

/// The pays of one pay class, with the number of the first pay. For a class from before the history, they begin with
/// the tax year.
fn class_pays(plan: &Plan, days: &PayDays, class: Class) -> (i32, Vec<Arc<Calculation>>) {
    let (role, step, first) = class;
    let (country, calendar) = (plan.country.code, plan.pays);
    let attributes = Arc::new(people::tax_attributes(plan.country, plan.key, role, step));
    let mut start = first as i32;
    if first == 0 {
        start = first_of_tax_year(plan, days.on(0));
    }
    let [before, now] = people::monthly_pay(plan.pay(), role, step);
    let pay = if first == 0 { [before, now] } else { [now, now] };
    let parts = pay.map(|amount| people::parts(plan.country, amount));
    let of_pay = parts.each_ref().map(|parts| -> Vec<Component> {
        parts.iter().map(|part| of_pay(part, calendar.frequency)).collect()
    });
    let pension = plan.pension((role, step));
    let raised = plan.first_raised() as i32;
    let mut year: Vec<Arc<Calculation>> = Vec::new();
    for number in start..calendar.count() as i32 {
        let pay_date = days.on(number);
        let now = usize::from(number >= raised);
        let worked = if first == 0 { HISTORY_MONTHS } else { months(plan, first, number as u64) };
        let bonus = days.is_bonus(plan, number).then_some(worked);
        let terms = Terms {
            frequency: calendar.frequency,
            regular_day: pay_date,
            law_day: pay_date,
            country,
            parts: &of_pay[now],
            extras: extras(plan, &parts[now], (bonus, pension.as_ref())),
            attributes: &attributes,
            employer: None,
        };
        let earlier = year.last().filter(|pay| days.tax_year(number).contains(pay));
        let earlier = earlier.map(|pay| pay.year_so_far());
        let before = Before { year: earlier.as_ref(), ..Before::default() };
        let pay = Calculation::of(terms, pay_date, before);
        let pay = pay.expect("grown salaries are far from the limits of the arithmetic");
        year.push(Arc::new(pay));
    }
    (start, year)
}

/// The number of the first pay of the tax year of a company's first pay of history. That one has the number 0.
pub(super) fn first_of_tax_year(plan: &Plan, paid_on: Date) -> i32 {
    let pack = payroll::library().in_force(plan.country.code, paid_on.civil()).pack;
    1 - pack.period_number(plan.pays.frequency, paid_on.civil()) as i32
}

/// A month's amount for one pay period, by the rule of live runs.
fn of_pay(part: &Component, frequency: PayPeriod) -> Component {
    let whole = Proration { paid_days: 1, days: 1 };
    Component { id: part.id.clone(), amount: part_of(part.amount, (whole, frequency.per_year())) }
}

/// The months from a first pay to another one, both included, rounded up.
fn months(plan: &Plan, first: u64, number: u64) -> u64 {
    ((number - first + 1) * HISTORY_MONTHS).div_ceil(plan.pays.count())
}

/// The pay dates of a company's history and of the year before.
struct PayDays {
    /// The number of the first of them, below zero.
    first: i32,
    dates: Vec<Date>,
    /// The tax year of each.
    years: Vec<TaxYear>,
}

impl PayDays {
    fn of(layout: &Layout, plan: &Plan) -> Self {
        let count = plan.pays.count() as i32;
        let spans = (-count..count).map(|number| plan.pays.span(number));
        let dates: Vec<Date> = spans.map(|span| layout.pay_date_of(plan.pays, span)).collect();
        let years = dates.iter().map(|date| TaxYear::of(plan.country.code, *date)).collect();
        Self { first: -count, dates, years }
    }

    fn on(&self, number: i32) -> Date {
        self.dates[(number - self.first) as usize]
    }

    fn tax_year(&self, number: i32) -> &TaxYear {
        &self.years[(number - self.first) as usize]
    }

    /// Whether a pay is the first one of the bonus month.
    fn is_bonus(&self, plan: &Plan, number: i32) -> bool {
        let month = self.on(number).period();
        let before = (number > self.first).then(|| self.on(number - 1).period());
        month.first_day().civil().month() == plan.industry.bonus.month && before != Some(month)
    }
}

/// The bonus of people who have worked for some months, if there is one, and their pension.
fn extras(
    plan: &Plan,
    parts: &[Component],
    (months, pension): (Option<u64>, Option<&Deduction>),
) -> Extras {
    let mut extras = Extras::default();
    extras.keep_back(pension.map(core::slice::from_ref).unwrap_or_default());
    if let Some(months) = months {
        let month_pay = parts.iter().map(|part| part.amount).sum();
        let amount = people::bonus(plan.industry, month_pay, months);
        extras.earnings.push(PayLine::plain("bonus".to_owned(), "Bonus".to_owned(), amount));
    }
    extras
}

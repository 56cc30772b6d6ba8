//! Earlier pay of the employees of a run: totals of the tax year, pays of the same pay period, and regular pay by month.
//!
//! All calculated pay counts, in every type of run and in any order, unless the run was cancelled, failed or
//! reversed.

use std::collections::BTreeSet;

use crate::api::business::employers::Employers;
use crate::api::business::pay_periods::regular_day;
use crate::api::business::payroll_clock::{get, items};
use crate::api::business::payroll_past::Past;
use crate::api::prelude::*;
use crate::model::business::calculation_parts::needs_last_regular;
use crate::model::business::kept_rates::KeptRates;
use crate::model::business::tax_period::{TaxYear, counting_day};
use crate::model::business::year_so_far::YearSoFar;
use crate::model::business::{
    Before, Calculation, Compensation, Component, Deduction, Extras, HoursWorked, ItemStatus,
    PaySpan, PayrollItem, PayrollRun, RunStatus, RunType,
};
use crate::model::growth::workforce::Place;
use crate::model::payroll::Pack;

/// Earlier pay of the company's employees by other runs.
pub(crate) struct EarlierPay {
    kind: RunType,
    pay_date: Date,
    /// The day that numbers the tax period of the run's pays.
    pub(crate) regular_day: Date,
    /// The company on the pay date, for thresholds of the law.
    pub(crate) employers: Employers,
    /// The days that the run pays.
    span: PaySpan,
    /// The company before the world's start; none for a created one.
    past: Option<Past>,
    /// Pays of any tax year.
    pays: BTreeMap<Id<Employee>, Vec<OtherPay>>,
    /// Regular pay and arrears, by pay period.
    by_terms: BTreeMap<(Id<Employee>, PaySpan), ByTerms>,
    /// Pays since the start that have been reversed.
    reversed: BTreeMap<Id<Employee>, Vec<Arc<Calculation>>>,
    /// Grown pays of the tax year that have been reversed.
    taken_back: BTreeMap<Id<Employee>, Vec<Arc<PayrollItem>>>,
    /// Employees with a deduction in the run's own input.
    deducted: BTreeSet<Id<Employee>>,
}

/// A pay by another run.
struct OtherPay {
    /// The days that the run pays.
    span: PaySpan,
    /// The day on which it counts for taxes.
    counts_on: Date,
    pay: Arc<Calculation>,
}

/// Regular pay of one employee for one pay period.
#[derive(Default)]
struct ByTerms {
    /// The amount paid, with arrears.
    amount: i64,
    /// The first day on which a run calculated it; none for the history and for arrears alone.
    since: Option<Date>,
    /// The first day on which a run calculated arrears for it.
    corrected: Option<Date>,
    /// The regular hours of the runs that paid them.
    reported: Vec<HoursWorked>,
    /// Whether a run paid the usual hours.
    usual: bool,
}

/// The employees for whom the run itself has a deduction.
fn with_deductions(run: &PayrollRun) -> BTreeSet<Id<Employee>> {
    let inputs = run.inputs.iter().filter(|input| !input.deductions.is_empty());
    inputs.map(|input| input.employee_id).collect()
}

/// The company's other runs in the order in which they were calculated. Reversals are left out.
fn in_order(world: &World, run: &PayrollRun) -> Vec<Arc<PayrollRun>> {
    let ids = world.children::<PayrollRun>(run.company_id.bits());
    let others = ids.filter(|id| *id != run.id).map(|id| get(world, id));
    let mut others: Vec<_> = others.filter(|other| other.reverses.is_none()).collect();
    others.sort_by_key(|other| other.entered(RunStatus::Calculated));
    others
}

/// Earlier pay of one employee in the tax year.
#[derive(Default)]
pub(crate) struct Earlier {
    year: YearSoFar,
    same_period: Vec<Arc<Calculation>>,
    last_regular: Vec<Arc<Calculation>>,
}

impl Earlier {
    /// In the form that the calculation needs.
    pub(crate) fn before(&self) -> Before<'_> {
        Before {
            year: Some(&self.year),
            same_period: &self.same_period,
            last_regular: &self.last_regular,
        }
    }
}

impl EarlierPay {
    /// Pay by the company's other runs.
    pub(crate) fn of(world: &World, run: &PayrollRun) -> Self {
        let mut earlier = Self {
            kind: run.kind,
            pay_date: run.pay_date,
            regular_day: regular_day(world, run),
            employers: Employers::at(world, run.company_id, run.pay_date),
            span: run.span(),
            past: Past::of(world, run.company_id),
            pays: BTreeMap::new(),
            by_terms: BTreeMap::new(),
            reversed: BTreeMap::new(),
            taken_back: BTreeMap::new(),
            deducted: with_deductions(run),
        };
        for other in in_order(world, run) {
            let hours = other.regular_hours();
            let on = other.entered(RunStatus::Calculated).map(Timestamp::date);
            for item in items(world, other.id) {
                if other.status == RunStatus::Reversed || item.status == ItemStatus::Reversed {
                    let pays = earlier.reversed.entry(item.employee_id).or_default();
                    pays.push(Arc::clone(&item.calculation));
                } else if !other.is_void() {
                    let hours = hours.get(&item.employee_id).copied();
                    earlier.add((&other, on), &item, hours);
                }
            }
        }
        let changed = world.changed::<PayrollItem>();
        for item in changed.filter_map(|index| world.at::<PayrollItem>(index)) {
            if item.status == ItemStatus::Reversed && item.company_id == run.company_id {
                let of_employee = earlier.taken_back.entry(item.employee_id).or_default();
                of_employee.push(item);
            }
        }
        earlier
    }

    fn add(
        &mut self,
        (run, on): (&PayrollRun, Option<Date>),
        item: &PayrollItem,
        hours: Option<&HoursWorked>,
    ) {
        if matches!(item.status, ItemStatus::Reversed | ItemStatus::Blocked) {
            return;
        }
        let (span, pay) = (run.span(), &item.calculation);
        let pays = self.pays.entry(item.employee_id).or_default();
        let counts_on = pay.counts_on.unwrap_or(run.pay_date);
        pays.push(OtherPay { span, counts_on, pay: Arc::clone(pay) });
        let amount = pay.by_terms();
        if amount != 0 {
            let paid = self.by_terms.entry((item.employee_id, span)).or_default();
            paid.amount += amount;
            paid.reported.extend(hours.cloned());
            paid.usual |= hours.is_none();
            paid.since = paid.since.into_iter().chain(on).min();
        }
        for arrears in pay.extras().into_iter().flat_map(|extras| &extras.arrears) {
            let paid = self.by_terms.entry((item.employee_id, arrears.span())).or_default();
            paid.amount += arrears.amount;
            paid.corrected = paid.corrected.into_iter().chain(on).min();
        }
    }

    /// Earlier pay of that employee in the tax year: by other runs, and before the world's start or, for a later
    /// hire, by earlier employers. `parts` are the parts of the pay to calculate.
    pub(crate) fn of_employee(
        &self,
        world: &World,
        employee: &Employee,
        (parts, extras): (&[Component], &Extras),
    ) -> Earlier {
        let country = employee.payroll_country();
        let counts_on = counting_day(country, (self.kind, self.pay_date), self.regular_day);
        let tax_year = TaxYear::of(country, counts_on);
        let mut year = self.opening(world, employee, &tax_year);
        let begun = employee.annual_earnings_from(tax_year.pack, counts_on);
        if let Some(day) = begun {
            self.leave_out_opening(world, employee, (&tax_year, day), &mut year);
        }
        let is_before = |pay_date: Date| begun.is_some_and(|day| pay_date < day);
        let mut earlier = Earlier { year, ..Earlier::default() };
        let taken_back = self.taken_back.get(&employee.id).into_iter().flatten();
        let mut is_changed = false;
        for item in taken_back {
            if tax_year.contains(&item.calculation) {
                earlier.year.add(&item.calculation, -1);
                if is_before(get(world, item.payroll_run_id).pay_date) {
                    earlier.year.leave_out_pay(&item.calculation, -1);
                }
                is_changed = true;
            }
        }
        let last = earlier.year.last_attributes.as_deref();
        earlier.year.kept_rates = KeptRates::of(tax_year.pack, &earlier.year.counted(), last);
        let pays = self.pays.get(&employee.id).into_iter().flatten();
        for OtherPay { span, counts_on, pay } in pays.filter(|it| tax_year.contains(&it.pay)) {
            // Two pay periods can be paid in one month or week. Each pay period has its own bands.
            if *span == self.span {
                earlier.same_period.push(Arc::clone(pay));
            } else {
                earlier.year.add(pay, 1);
            }
            // The next pay takes the deductions that the last one did not cover, even within one pay period.
            earlier.year.carried = pay.carried();
            if is_before(*counts_on) {
                earlier.year.leave_out_pay(pay, 1);
            } else {
                earlier.year.add_to_kept_rates(tax_year.pack, pay);
            }
        }
        let mut reversed = self.reversed.get(&employee.id).into_iter().flatten();
        if is_changed || reversed.any(|pay| tax_year.contains(pay)) {
            earlier.year.note_taken_back();
        }
        if !earlier.same_period.is_empty() || needs_last_regular(tax_year.pack, parts, extras) {
            earlier.last_regular = self.last_regular(world, employee, tax_year.pack);
        }
        earlier
    }

    /// The pays of the employee's last pay period with regular pay, in any tax year. Empty if the pack has no
    /// irregular pay.
    fn last_regular(
        &self,
        world: &World,
        employee: &Employee,
        pack: &Pack,
    ) -> Vec<Arc<Calculation>> {
        if !pack.has_irregular_pay() {
            return Vec::new();
        }
        let pays = self.pays.get(&employee.id).map_or(&[][..], Vec::as_slice);
        let others = || pays.iter().filter(|other| other.span != self.span);
        if let Some(last) = others().rfind(|other| other.pay.has_regular_pay(pack)) {
            let of_last = others().filter(|other| other.span == last.span);
            return of_last.map(|other| Arc::clone(&other.pay)).collect();
        }
        let past = self.in_past(world, employee);
        let last = past.and_then(|(past, place)| past.last(world, place, |_| true));
        last.into_iter().collect()
    }

    /// The year up to the world's start.
    fn opening(&self, world: &World, employee: &Employee, year: &TaxYear) -> YearSoFar {
        let past = self.in_past(world, employee);
        if let Some((past, place)) = past
            && let Some(pay) = past.last_paid(world, place, year)
        {
            let mut so_far = pay.year_so_far();
            if pay.deductions() + pay.employer_benefits() != 0 && self.has_limits(employee) {
                past.each_pay(world, place, year, |_, pay| so_far.count_deductions(pay, 1));
            }
            return so_far;
        }
        YearSoFar::opened(employee.totals_of(year.pack, year.first).unwrap_or_default())
    }

    /// Excludes opening totals from an annual earnings period that begins on that day. Imported totals are from days
    /// before the employee's creation.
    fn leave_out_opening(
        &self,
        world: &World,
        employee: &Employee,
        (year, day): (&TaxYear, Date),
        so_far: &mut YearSoFar,
    ) {
        let past = self.in_past(world, employee);
        if past.is_some() || employee.created_at.date() <= day {
            so_far.leave_out(year.pack, so_far.by_pack.clone());
        }
        if let Some((past, place)) = past {
            past.each_pay(world, place, year, |pay_date, pay| {
                if pay_date >= day {
                    so_far.leave_out_pay(pay, -1);
                }
            });
        }
    }

    /// Whether a deduction of the employee can have an annual limit.
    fn has_limits(&self, employee: &Employee) -> bool {
        let is_limited = |it: &Deduction| {
            it.annual_limit.or(it.employer.as_ref().and_then(|part| part.annual_limit)).is_some()
        };
        let mut of_terms = employee.terms().iter().flat_map(|terms| &terms.deductions);
        self.deducted.contains(&employee.id) || of_terms.any(is_limited)
    }

    /// The place of that employee in the company's history.
    fn in_past(&self, world: &World, employee: &Employee) -> Option<(&Past, Place)> {
        let past = self.past.as_ref()?;
        Some((past, past.place(world.base().index_of(employee.id)?)?))
    }

    /// Regular pay of that employee for that pay period, including arrears.
    pub(crate) fn by_terms(&self, world: &World, employee: &Employee, span: PaySpan) -> i64 {
        let since = self.by_terms.get(&(employee.id, span)).map_or(0, |paid| paid.amount);
        since + self.in_history(world, employee, span)
    }

    /// Whether the pay for that pay period was calculated without these terms, although they apply to it. They are
    /// missing if they were set on the day of the calculation or later. Pay that was calculated again after arrears
    /// contains the arrears.
    pub(crate) fn calculated_without(
        &self,
        terms: &Compensation,
        id: Id<Employee>,
        span: PaySpan,
    ) -> bool {
        let paid = self.by_terms.get(&(id, span));
        let since = paid.and_then(|paid| paid.since);
        let corrected = paid.and_then(|paid| paid.corrected);
        let is_paid_again = since.is_some() && corrected.is_some() && since >= corrected;
        let is_late = |set: Date| is_paid_again || since.is_none_or(|since| set >= since);
        terms.effective_from <= span.end && terms.recorded.is_some_and(is_late)
    }

    /// The reported hours that other runs paid that employee for that pay period; empty if a run paid the usual
    /// hours.
    pub(crate) fn hours(&self, employee: Id<Employee>, span: PaySpan) -> &[HoursWorked] {
        let paid = self.by_terms.get(&(employee, span)).filter(|paid| !paid.usual);
        paid.map_or(&[], |paid| &paid.reported)
    }

    /// Whether another run has paid that employee an earning with this id.
    pub(crate) fn has_paid(&self, employee: Id<Employee>, id: &str) -> bool {
        let pays = self.pays.get(&employee).into_iter().flatten();
        let mut earnings =
            pays.filter_map(|other| other.pay.extras()).flat_map(|extras| &extras.earnings);
        earnings.any(|line| line.id == id && line.amount > 0)
    }

    /// The pay periods for which other runs have paid that employee, including the history.
    pub(crate) fn spans<'a>(
        &'a self,
        world: &'a World,
        employee: Id<Employee>,
    ) -> impl Iterator<Item = PaySpan> + 'a {
        let base = world.base();
        let size = base.shape().employees_per_company;
        let plan = base.index_of(employee).map(|index| base.plan(index / size));
        let before = plan.into_iter().flat_map(|plan| plan.pays.pays());
        let before = before.map(|pay| base.pay(pay).span);
        let of_employee = self.by_terms.keys().filter(move |(id, _)| *id == employee);
        before.chain(of_employee.map(|(_, span)| *span))
    }

    fn in_history(&self, world: &World, employee: &Employee, span: PaySpan) -> i64 {
        let Some((past, place)) = self.in_past(world, employee) else { return 0 };
        let Some(pay) = past.plan.pays.pay_of(span) else { return 0 };
        let base = world.base();
        let run = base.id_at::<PayrollRun>(base.run(pay, past.plan.index));
        let mut reversed = self.taken_back.get(&employee.id).into_iter().flatten();
        if reversed.any(|item| item.payroll_run_id == run) {
            return 0;
        }
        let history = base.history_at(past.plan.index);
        let pay = history.payroll.calculation(&past.plan, place, pay);
        pay.map_or(0, |pay| pay.by_terms())
    }
}

//! The pay of one employee in a run: regular pay for the paid days, arrears for earlier months, and the run's own
//! additions and deductions.
//!
//! Deliberately absent: taxes, which are in the packs (`calculation`), and earlier pay (`payroll_earlier`).

use std::collections::BTreeSet;

use crate::api::business::leave_balance::{UNUSED_LEAVE, unused_leave};
use crate::api::business::leave_clock::unpaid_leave;
use crate::api::business::payroll_earlier::{Earlier, EarlierPay};
use crate::api::business::worked_hours::{amount_of, pay_hours};
use crate::api::prelude::*;
use crate::model::business::earnings::{Employer, tax_year};
use crate::model::business::pay_extras::{Arrears, sum};
use crate::model::business::pay_terms::part_of;
use crate::model::business::payroll_run::{RunWarning, WarningCode};
use crate::model::business::tax_period::counting_day;
use crate::model::business::{
    Allowance, Calculation, Compensation, Component, Deduction, EmploymentType, Extras,
    PayInterval, PayLine, PaySpan, PayrollRun, Proration, RunInput, RunType, Terms,
};
use crate::model::calendar::Calendar;
use crate::model::payroll::{self, WagePer};

/// The pay of an employee in a run before taxes.
#[derive(Debug, Default)]
pub(crate) struct Due {
    pub(crate) parts: Vec<Component>,
    pub(crate) extras: Extras,
}

/// The calculated pay of that employee in the run.
pub(crate) fn calculate(
    world: &World,
    run: &PayrollRun,
    employee: &Employee,
    earlier: &EarlierPay,
) -> Calculation {
    let due = due(world, run, employee, earlier);
    let inputs = earlier.employers.of(employee.payroll_country());
    let before = earlier.of_employee(world, employee, (&due.parts, &due.extras));
    calculation(run, employee, (&before, earlier.regular_day), due, inputs)
}

/// A calculation of zero, for an employee whom the run excludes.
pub(crate) fn nothing(run: &PayrollRun, employee: &Employee) -> Calculation {
    let before = (&Earlier::default(), run.pay_date);
    calculation(run, employee, before, Due::default(), Employer::default()).blank()
}

fn calculation(
    run: &PayrollRun,
    employee: &Employee,
    (earlier, regular_day): (&Earlier, Date),
    due: Due,
    inputs: Employer,
) -> Calculation {
    let country = employee.payroll_country();
    let counts_on = counting_day(country, (run.kind, run.pay_date), regular_day);
    let pack = payroll::library().in_force(country, counts_on.civil()).pack;
    let year = tax_year(pack, counts_on);
    let is_last = |end: Date| end <= run.span().end && tax_year(pack, end) == year;
    let is_last_pay = employee.end_date.is_some_and(is_last);
    let terms = Terms {
        country,
        frequency: run.span().frequency,
        regular_day,
        law_day: counts_on.min(run.span().end),
        parts: &due.parts,
        extras: due.extras,
        attributes: &employee.tax_attributes_for(pack, counts_on),
        employer: Some(Employer { is_last_pay, ..inputs }),
    };
    let pay = Calculation::of(terms, counts_on, earlier.before());
    let mut pay =
        pay.expect("pay is bounded where it is set, so that no year of it leaves 64 bits");
    pay.counts_on = (counts_on != run.pay_date).then_some(counts_on);
    pay
}

/// The pay of that employee in the run before taxes.
fn due(world: &World, run: &PayrollRun, employee: &Employee, earlier: &EarlierPay) -> Due {
    let mut due = if run.kind.pays_by_terms() {
        by_terms(world, employee, run.span())
    } else {
        Due::default()
    };
    if run.kind == RunType::Termination {
        pay_reported(employee, run.span(), earlier, &mut due);
        leave_what_is_unpaid(&mut due, earlier.by_terms(world, employee, run.span()), run.span());
    }
    if run.kind.pays_by_terms() {
        due.extras.arrears.extend(arrears(world, run, employee, earlier));
        if !earlier.has_paid(employee.id, UNUSED_LEAVE) {
            due.extras.earnings.extend(unused_leave(world, run, employee));
        }
    }
    let input = run.inputs.iter().find(|input| input.employee_id == employee.id);
    if let Some(input) = input {
        let country = employee.payroll_country();
        let pack = payroll::library().in_force(country, run.pay_date.civil()).pack;
        let terms = employee.terms_on(run.span().end);
        pay_hours(terms, pack, &input.hours, &mut due.parts, &mut due.extras);
        if !run.kind.pays_by_terms() {
            due.extras.keep_back(&parts_of_pay(employee, run.span(), input));
        }
        add(&mut due.extras, input);
    }
    due
}

/// For extra pay: the deductions of the terms by percentage, such as a pension. A deduction of the run with the same
/// id replaces one.
fn parts_of_pay(employee: &Employee, span: PaySpan, input: &RunInput) -> Vec<Deduction> {
    let terms = employee.terms_on(span.end).into_iter();
    let deductions = terms.flat_map(|terms| &terms.deductions);
    let is_own = |id: &str| input.deductions.iter().any(|own| own.id == id);
    let parts = deductions.filter(|it| it.rate_bp.is_some() && !is_own(&it.id));
    parts.cloned().collect()
}

/// For final pay: leaves only the amount that no other run of the month has paid.
fn leave_what_is_unpaid(due: &mut Due, paid: i64, span: PaySpan) {
    if paid == 0 {
        return;
    }
    let parts: i64 = due.parts.iter().map(|part| part.amount).sum();
    let amount = parts + sum(&due.extras.allowances) - paid;
    due.parts.clear();
    due.extras.allowances.clear();
    due.extras.proration = None;
    due.extras.typed.clear();
    due.extras.after_tax.clear();
    // Percentages apply to the remaining amount. Fixed amounts were already taken from the earlier pay.
    due.extras.employer_rules.retain(|rule| rule.part.rate_bp.is_some());
    if amount > 0 {
        due.extras.arrears.push(Arrears::new(span, amount));
    }
}

fn add(extras: &mut Extras, input: &RunInput) {
    extras.earnings.extend(input.earnings.iter().cloned());
    extras.reimbursements.extend(input.reimbursements.iter().cloned());
    extras.keep_back(&input.deductions);
}

/// Regular pay for a pay period: the whole, or the share of working days that count. Days count between the first and
/// the last day of work, without unpaid leave. If terms change within the period, each terms apply to their own days.
pub(crate) fn by_terms(world: &World, employee: &Employee, span: PaySpan) -> Due {
    let from = employee.start_date.max(span.start);
    let to = employee.end_date.map_or(span.end, |end| end.min(span.end));
    let calendar = Calendar::of(&employee.country);
    let (first, last) = span.whole();
    let days = calendar.working_days(first, last);
    let of_month = span.frequency.per_year();
    let away = unpaid_leave(world, employee.id, from, to);
    let mut due = Due::default();
    let (mut parts, mut allowances) = (Shares::default(), Shares::default());
    let worked = |from: Date, to: Date| {
        let absent =
            away.iter().map(|&(begin, end)| calendar.working_days(begin.max(from), end.min(to)));
        let is_whole = (from, to) == (first, last);
        let all = if is_whole { days } else { calendar.working_days(from, to) };
        all - absent.sum::<u32>()
    };
    let mut paid_days = 0;
    for (terms, from, to) in stretches(employee.terms(), from, to) {
        let worked = worked(from, to);
        paid_days += worked;
        let share = Proration { paid_days: worked, days };
        for part in &terms.components {
            parts.add(&part.id, &part.id, part.amount, (share, of_month));
        }
        for Allowance { id, label, amount } in &terms.allowances {
            allowances.add(id, label, *amount, (share, of_month));
        }
    }
    if let Some(terms) = employee.terms_on(to).filter(|_| paid_days > 0) {
        let whole = Proration { paid_days: days, days };
        let deductions = terms.deductions.iter().cloned().map(|mut deduction| {
            let of_period = |amount: i64| part_of(amount, (whole, of_month));
            deduction.amount = of_period(deduction.amount);
            deduction.protected = deduction.protected.map(of_period);
            if let Some(amount) = deduction.employer.as_mut().and_then(|it| it.amount.as_mut()) {
                *amount = of_period(*amount);
            }
            deduction
        });
        due.extras.keep_back(&deductions.collect::<Vec<_>>());
    }
    let component = |line: PayLine| Component { id: line.id, amount: line.amount };
    due.parts = parts.0.into_iter().map(component).collect();
    due.extras.allowances = allowances.0;
    due.extras.allowances.retain(|line| line.amount != 0);
    if paid_days != days {
        due.extras.proration = Some(Proration { paid_days, days });
        due.extras.paid_months =
            paid_months(span, |first, last| worked(first.max(from), last.min(to)));
    }
    due
}

/// The paid working days of each month of the pay period, if it has several months.
fn paid_months(span: PaySpan, worked: impl Fn(Date, Date) -> u32) -> Vec<(Period, u32)> {
    let months = span.months();
    if months.len() == 1 {
        return Vec::new();
    }
    let paid = months.into_iter().map(|month| (month, worked(month.first_day(), month.last_day())));
    paid.filter(|(_, days)| *days > 0).collect()
}

/// Sums of shares by id, in order of first appearance.
#[derive(Default)]
struct Shares(Vec<PayLine>);

impl Shares {
    fn add(&mut self, id: &str, label: &str, amount: i64, share: (Proration, u32)) {
        let amount = part_of(amount, share);
        match self.0.iter_mut().find(|line| line.id == id) {
            Some(line) => line.amount += amount,
            None => self.0.push(PayLine::plain(id.to_owned(), label.to_owned(), amount)),
        }
    }
}

/// The terms in force in a range of days, each with its own first and last day. The first terms also apply before their first day, so that
/// all work is paid.
fn stretches(
    terms: &[Compensation],
    from: Date,
    to: Date,
) -> impl Iterator<Item = (&Compensation, Date, Date)> {
    (0..terms.len()).filter_map(move |place| {
        let begins = if place == 0 { from } else { terms[place].effective_from.max(from) };
        let next = terms.get(place + 1);
        let ends = next.map_or(to, |next| next.effective_from.plus_days(-1).min(to));
        (begins <= ends).then(|| (&terms[place], begins, ends))
    })
}

/// Arrears: the differences that backdated terms make in pay periods that are already paid.
fn arrears(
    world: &World,
    run: &PayrollRun,
    employee: &Employee,
    earlier: &EarlierPay,
) -> Vec<Arrears> {
    if employee.terms().iter().all(|terms| terms.recorded.is_none()) {
        return Vec::new();
    }
    let is_late = |span: &PaySpan| {
        employee.terms().iter().any(|terms| earlier.calculated_without(terms, employee.id, *span))
    };
    let spans: BTreeSet<PaySpan> = earlier.spans(world, employee.id).filter(is_late).collect();
    let before = spans.into_iter().filter(|span| span.end < run.span().start);
    let pack = payroll::library().in_force(employee.payroll_country(), run.pay_date.civil()).pack;
    let kind = pack.earning_types.iter().find(|kind| kind.pays_arrears);
    let owed = before.filter_map(|span| {
        let paid = earlier.by_terms(world, employee, span);
        if paid == 0 {
            return None; // a pay period without any pay gets its own run
        }
        let mut due = by_terms(world, employee, span);
        pay_reported(employee, span, earlier, &mut due);
        let parts: i64 = due.parts.iter().map(|part| part.amount).sum();
        let amount = parts + sum(&due.extras.allowances) - paid;
        let kind = kind.filter(|_| amount > 0).map(|kind| kind.id.clone());
        (amount != 0).then_some(Arrears { kind, ..Arrears::new(span, amount) })
    });
    owed.collect()
}

/// For hourly terms: pays the hours reported to the runs of the pay period, instead of the usual hours.
fn pay_reported(employee: &Employee, span: PaySpan, earlier: &EarlierPay, due: &mut Due) {
    let hours = earlier.hours(employee.id, span);
    let terms = employee.terms_on(span.end).filter(|terms| terms.interval == PayInterval::Hour);
    if let Some(terms) = terms.filter(|_| !hours.is_empty()) {
        let amount = hours.iter().map(|worked| amount_of(terms, worked)).sum();
        due.parts = vec![Component { id: "basic".to_owned(), amount }];
    }
}

/// Possible mistakes in that pay.
pub(crate) fn warnings(
    run: &PayrollRun,
    employee: &Employee,
    pay: &Calculation,
) -> Vec<RunWarning> {
    let mut warnings = Vec::new();
    let mut warn = |code, detail: String| {
        warnings.push(RunWarning { code, employee_id: employee.id, detail });
    };
    if run.kind == RunType::Regular
        && let Some(detail) = below_minimum(run, employee)
    {
        warn(WarningCode::BelowMinimumWage, detail);
    }
    let wanted = wanted_deductions(run, employee, pay);
    if pay.deductions() < wanted {
        let currency = employee.paid_in().unwrap_or(run.currency);
        let detail = format!(
            "deductions of {} were reduced to {} by the available pay or by a limit",
            currency.display(wanted),
            currency.display(pay.deductions())
        );
        warn(WarningCode::DeductionsCapped, detail);
    }
    if pay.net <= 0 {
        warn(WarningCode::NothingToPay, "the net pay of this employee is zero".to_owned());
    }
    warnings
}

fn wanted_deductions(run: &PayrollRun, employee: &Employee, pay: &Calculation) -> i64 {
    // The amount of a deduction by rate always equals the amount taken, because the rate is applied to the pay.
    let by_rate = |deduction: &Deduction| {
        let is_it = |line: &&PayLine| deduction.rate_bp.is_some() && line.id == deduction.id;
        pay.deduction_lines().iter().filter(is_it).map(|line| line.amount).sum::<i64>()
    };
    let of_run = run.inputs.iter().filter(|input| input.employee_id == employee.id);
    let of_run = of_run.flat_map(|input| &input.deductions);
    let mut wanted: i64 = of_run.map(|deduction| deduction.amount + by_rate(deduction)).sum();
    // Final pay for a month that is already paid does not repeat the month's deductions.
    if run.kind.pays_by_terms() && pay.by_terms() != 0 {
        let span = run.span();
        let terms = employee.terms_on(employee.end_date.unwrap_or(span.end).min(span.end));
        let whole = (Proration { paid_days: 1, days: 1 }, span.frequency.per_year());
        wanted += terms
            .into_iter()
            .flat_map(|terms| &terms.deductions)
            .map(|deduction| part_of(deduction.amount, whole) + by_rate(deduction))
            .sum::<i64>();
    }
    wanted
}

/// The country's minimum wage, if the terms are below it. Hours of part-time employees are not on record, so only an hourly rate can be
/// compared.
fn below_minimum(run: &PayrollRun, employee: &Employee) -> Option<String> {
    let terms = employee.terms_on(run.span().end)?;
    let pack = payroll::library().in_force(employee.payroll_country(), run.pay_date.civil()).pack;
    let begun = pack.minimum_wages.iter().filter(|wage| Date::from(wage.from) <= run.pay_date);
    let wage = begun.max_by_key(|wage| wage.from)?;
    if pack.currency != terms.currency.code() {
        return None;
    }
    let minimum = monthly_minimum(wage.amount, wage.per);
    let hourly = terms.interval == PayInterval::Hour;
    if employee.employment_type != EmploymentType::FullTime && !hourly {
        return None;
    }
    let of_run = run.inputs.iter().filter(|input| input.employee_id == employee.id);
    let deductions = of_run.flat_map(|input| &input.deductions).chain(&terms.deductions);
    let given_up = deductions.filter(|deduction| {
        let kind = deduction.kind.as_ref().and_then(|kind| pack.deduction_type(kind));
        kind.is_some_and(|kind| kind.contract_pay)
    });
    let due = Compensation::monthly(terms.amount, terms.interval)
        + terms.allowances.iter().map(|allowance| allowance.amount).sum::<i64>();
    let paid = due - given_up.map(|deduction| deduction.of_month(pack, due)).sum::<i64>();
    (paid < minimum).then(|| {
        format!(
            "a month's pay of {} is below the minimum wage of {} ({})",
            terms.currency.display(paid),
            terms.currency.display(minimum),
            wage.note.as_deref().unwrap_or(&pack.name)
        )
    })
}

/// A minimum wage per month, at 40 hours and five days per week.
fn monthly_minimum(amount: i64, per: WagePer) -> i64 {
    match per {
        WagePer::Hour => Compensation::monthly(amount, PayInterval::Hour),
        WagePer::Day => Compensation::monthly(amount * 5 * 52, PayInterval::Year),
        WagePer::Week => Compensation::monthly(amount * 52, PayInterval::Year),
        WagePer::Month => amount,
        WagePer::Year => Compensation::monthly(amount, PayInterval::Year),
    }
}

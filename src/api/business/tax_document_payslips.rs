//! The payslips that tax documents add up.

use std::collections::BTreeSet;

use crate::api::business::payroll_clock::{get, items};
use crate::api::business::tax_document_periods::Days;
use crate::api::pay_history::{GrownPayments, pays};
use crate::api::prelude::*;
use crate::model::business::tax_document::Form;
use crate::model::business::tax_document_boxes::Opening;
use crate::model::business::{ItemStatus, PayrollRun, Payslip, PayslipStatus};
use crate::model::payroll;
use crate::world::payroll_history::{EarlierPay, earlier_pays};

/// More days than any country's banks are closed in succession.
const MOST_CLOSED_DAYS: i32 = 15;

/// The payslips of a company that are not voided, in the order of their pay dates: all, those paid on some days, those of an employee. The pays of
/// the tax year before the history are among them ([`is_before_history`]).
pub(crate) fn payslips(
    world: &World,
    company: &Company,
    days: Option<&Days>,
    employee: Option<&Employee>,
) -> Result<Vec<Arc<Payslip>>> {
    let base = world.base();
    let mut pays = pays(world, None, |times| times.paid);
    pays.retain(|pay| days.is_none_or(|days| days.contain(base.pay(*pay).pay_date)));
    let id = employee.map(|employee| employee.id);
    let people = GrownPayments::new(world, pays, Some(company.id), None, id);
    let runs: Vec<Arc<PayrollRun>> =
        world.children::<PayrollRun>(company.id.bits()).map(|id| get(world, id)).collect();
    let is_paid = |run: &&Arc<PayrollRun>| {
        days.is_none_or(|days| days.contain(run.pay_date) || counts_later(world, run, days))
    };
    let runs: Vec<_> = runs.iter().filter(is_paid).collect();
    let rows = people.count() + runs.iter().map(|run| run.employee_count).sum::<u64>();
    may_scan(rows, "/employee_id")?;
    let grown = (0..people.count()).filter_map(|rank| people.find(rank)).filter_map(|paid| {
        world.at::<Payslip>(base.item(base.run(paid.pay, paid.company), paid.employee))
    });
    let of_employee = |employee_id| id.is_none_or(|id| id == employee_id);
    let since = runs.iter().flat_map(|run| items(world, run.id));
    let since = since.filter(|item| of_employee(item.employee_id));
    let since = since.filter_map(|item| world.find(item.payslip_id?));
    let counts = |payslip: &Arc<Payslip>| {
        payslip.status != PayslipStatus::Voided
            && (!payslip.calculation.is_fee() || has_arrived(world, payslip))
            && days.is_none_or(|days| days.declare(payslip))
    };
    let earlier = before_history(world, company, days, id);
    let mut found: Vec<Arc<Payslip>> = grown.chain(since).filter(counts).collect();
    found.extend(earlier);
    found.sort_by_key(|payslip| payslip.pay_date);
    Ok(found)
}

/// Whether pay of the run counts in these days, although it was paid before them.
fn counts_later(world: &World, run: &PayrollRun, days: &Days) -> bool {
    let may_move = (days.first.plus_days(-MOST_CLOSED_DAYS)..days.first).contains(&run.pay_date);
    let counts = |day: Option<Date>| day.is_some_and(|day| days.contain(day));
    !days.is_pay_date
        && may_move
        && items(world, run.id).iter().any(|item| counts(item.calculation.counts_on))
}

/// The payslips of the tax year, if the form needs them, up to those of a pay period that is paid after the days of the form.
pub(crate) fn other_days(
    world: &World,
    company: &Company,
    (country, form): (&str, &Form),
    days: &Days,
) -> Result<Vec<Arc<Payslip>>> {
    if !form.needs_other_days() {
        return Ok(Vec::new());
    }
    let days = days.of_year(country, 45);
    let mut found = payslips(world, company, Some(&days), None)?;
    found.retain(|payslip| payslip.calculation.country() == country);
    Ok(found)
}

/// Whether a pay was before the history: no run and no payslip of the world contains it. Forms of a tax year and of an employment count it.
pub(crate) fn is_before_history(payslip: &Payslip) -> bool {
    payslip.id == Id::UNKNOWN
}

/// The pays of the tax year before the history, of grown employees who worked for the company on the pay date.
fn before_history(
    world: &World,
    company: &Company,
    days: Option<&Days>,
    employee: Option<Id<Employee>>,
) -> Vec<Arc<Payslip>> {
    let base = world.base();
    let Some(index) = base.index_of(company.id) else { return Vec::new() };
    if days.is_some_and(|days| days.first >= base.first_day()) {
        return Vec::new();
    }
    let (plan, size) = (base.plan(index), base.shape().employees_per_company);
    let people = match employee {
        None => 0..size,
        Some(id) => match base.index_of(id) {
            Some(person) => person - index * size..person - index * size + 1,
            None => return Vec::new(),
        },
    };
    let mut known = BTreeMap::new();
    let mut found = Vec::new();
    for person in people {
        let place = plan.workforce.place(person);
        let class = (place.role, place.step, plan.tenure.first(place));
        let pays = known.entry(class).or_insert_with(|| earlier_pays(base, &plan, place));
        let Some(employee) = world.at::<Employee>(index * size + person) else { continue };
        let counts = |pay: &&EarlierPay| {
            pay.pay_date >= employee.start_date
                && days.is_none_or(|days| days.contain(pay.pay_date))
        };
        found.extend(
            pays.iter()
                .filter(counts)
                .map(|pay| Arc::new(payslip_of(&employee, plan.currency, pay))),
        );
    }
    found
}

fn payslip_of(employee: &Employee, currency: Currency, pay: &EarlierPay) -> Payslip {
    Payslip {
        id: Id::UNKNOWN,
        company_id: employee.company_id,
        employee_id: employee.id,
        employee_name: employee.name.as_str().into(),
        payroll_run_id: Id::UNKNOWN,
        payroll_item_id: Id::UNKNOWN,
        status: PayslipStatus::Issued,
        period: pay.span.period(),
        pay_period: pay.span.beside_its_month(),
        pay_date: pay.pay_date,
        currency,
        created_at: pay.pay_date.at_hour(0),
        calculation: Arc::clone(&pay.calculation),
        changes: StatusHistory::default(),
    }
}

/// Whether the money of a payslip has not failed and was not returned. A wage is taxed when it is due, and a fee when it is paid.
fn has_arrived(world: &World, payslip: &Payslip) -> bool {
    let item = world.find(payslip.payroll_item_id);
    item.is_none_or(|item| matches!(item.status, ItemStatus::Paid | ItemStatus::Skipped))
}

pub(crate) fn employees(
    world: &World,
    payslips: &[Arc<Payslip>],
) -> BTreeMap<Id<Employee>, Arc<Employee>> {
    let ids: BTreeSet<Id<Employee>> = payslips.iter().map(|payslip| payslip.employee_id).collect();
    ids.into_iter().filter_map(|id| Some((id, world.find(id)?))).collect()
}

/// Opening totals of employees in the tax year of their payslips. Grown employees have them in their history.
pub(crate) fn openings(
    world: &World,
    employees: &BTreeMap<Id<Employee>, Arc<Employee>>,
    payslips: &[Arc<Payslip>],
) -> BTreeMap<Id<Employee>, Opening> {
    let mut openings = BTreeMap::new();
    for payslip in payslips {
        let Some(employee) = employees.get(&payslip.employee_id) else { continue };
        let pay = &payslip.calculation;
        let Some(pack) = payroll::library().pack(&pay.pack) else { continue };
        let Some(totals) = employee.totals_of(pack, pay.tax_year) else { continue };
        let of_employment = employee.had_begun();
        openings.insert(employee.id, Opening { pack, totals, of_employment });
    }
    let grown = payslips.iter().filter(|payslip| world.base().index_of(payslip.id).is_some());
    for payslip in grown {
        openings.remove(&payslip.employee_id);
    }
    openings
}

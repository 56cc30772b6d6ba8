//! Timers of a payroll run: calculation and approval. The next steps are in `payroll_funding`.

use crate::api::business::pay_periods::first_day_to_pay;
use crate::api::business::payroll_earlier::EarlierPay;
use crate::api::business::payroll_months::accrue;
use crate::api::business::payroll_pay::{nothing, warnings};
use crate::api::business::payroll_people::Wanted;
use crate::api::business::tax_liabilities::Accrual;
use crate::api::business::{payroll_pay, tax_clock, tax_liabilities};
use crate::api::prelude::*;
use crate::model::business::payroll_run::{RunWarning, WarningCode};
use crate::model::business::tax_return::{code_of, jurisdiction, month_of};
use crate::model::business::{
    Calculation, Funding, ItemStatus, PayConversion, PayrollItem, PayrollRun, RunStatus, RunTotals,
    Settlement, TaxLiability,
};
use crate::model::fx_quoting::{Rate, spread};
use crate::model::payroll::{self, CountsOn};
use crate::model::posting::RunCost;
use crate::model::{Account, JournalEntry};
use crate::value::long_work;

/// A resource that must exist, because the task was set when it was created.
pub(crate) fn get<T: crate::world::grow::Grow>(world: &World, id: Id<T>) -> Arc<T> {
    world.find(id).expect("a task is set for what exists, and nothing is deleted")
}

/// Calculates gross to net for all employees of the run, then approves it unless approval is required.
pub(crate) fn calculate_run(world: &mut World, id: Id<PayrollRun>) {
    let Some(run) = calculate(world, id) else { return };
    if get(world, run.company_id).payroll_settings.approval_required {
        let mut run = (*run).clone();
        run.enter(RunStatus::PendingApproval, world.now());
        world.record("payroll_run.pending_approval", run);
    } else {
        approve_run(world, &run, None);
    }
}

/// Calculates gross to net for all employees of a draft, which then waits for approval.
pub(crate) fn preview_run(world: &mut World, id: Id<PayrollRun>) {
    calculate(world, id);
}

fn calculate(world: &mut World, id: Id<PayrollRun>) -> Option<Arc<PayrollRun>> {
    let run = get(world, id);
    let calculating = run.status == RunStatus::Calculating; // or cancelled in the meantime
    let employees = run.employees.len() as u64;
    calculating.then(|| long_work::over(employees, || calculated(world, (*run).clone())))
}

fn calculated(world: &mut World, mut run: PayrollRun) -> Arc<PayrollRun> {
    calculate_items(world, &mut run);
    run.enter(RunStatus::Calculated, world.now());
    world.record("payroll_run.calculated", run)
}

/// Updates a calculated run for its approval now. Employees who are no longer payable are blocked.
///
/// A missed pay date moves to the next possible day. The day of payment determines the tax year, the rates and the
/// return (ITEPA 2003, s. 686), so the pay is calculated again for the new day.
pub(crate) fn as_of_approval(world: &mut World, run: Arc<PayrollRun>) -> Arc<PayrollRun> {
    let first = first_day_to_pay(world, &get(world, run.company_id));
    if run.pay_date >= first {
        let drafted = run.is_drafted();
        return if drafted { follow_employments(world, run) } else { run };
    }
    let mut run = (*run).clone();
    (run.pay_date, run.updated_at) = (first, world.now());
    let employees = run.employees.len() as u64;
    long_work::over(employees, || calculate_items(world, &mut run));
    world.record("payroll_run.calculated", run)
}

/// Stages the items of a run as they are calculated now, and sets its totals.
fn calculate_items(world: &mut World, run: &mut PayrollRun) {
    let id = run.id;
    let company = get(world, run.company_id);
    let earlier = EarlierPay::of(world, run);
    let mut last_time = items_by_employee(world, id);
    let mut totals = RunTotals::default();
    let mut ready = 0;
    run.blockers.clear();
    let mut found = Vec::new();
    for &id in run.employees.clone().iter() {
        let employee = get(world, id);
        let last = last_time.remove(&employee.id);
        let item = calculate_item(world, run, (&company, &employee), &earlier, last);
        if item.status == ItemStatus::Ready {
            ready += 1;
            if found.len() < MOST_WARNINGS {
                found.extend(warnings(run, &employee, &item.calculation));
            }
        }
        totals.add_item(&item, 1); // adds zero for an excluded employee
        world.stage(item);
    }
    for left_out in last_time.into_values() {
        let item = (*left_out).clone();
        world.stage(excluded(item, world.now()));
    }
    let wanted = Wanted { company: &company, span: run.span(), kind: run.kind, member: "" };
    let left_out = wanted.left_out(world, &run.employees).into_iter();
    found.extend(left_out.take(MOST_WARNINGS.saturating_sub(found.len())).map(
        |(employee_id, why)| RunWarning {
            code: WarningCode::NoTablesForPayPeriod,
            employee_id,
            detail: format!("the run does not include this employee: {why}"),
        },
    ));
    run.totals = Some(totals);
    run.warnings = Arc::new(found);
    run.settlement = Settlement { pending: ready, ..Settlement::default() };
}

/// The item of one employee: with pay, or blocked, for a reason that the run then shows.
fn calculate_item(
    world: &World,
    run: &mut PayrollRun,
    (company, employee): (&Company, &Employee),
    earlier: &EarlierPay,
    last_time: Option<Arc<PayrollItem>>,
) -> PayrollItem {
    let calculated = match why_not(company, run, employee) {
        Some(why) => Err(why),
        None => calculate_pay(world, run, employee, earlier),
    };
    let (pay, status) = match calculated {
        Ok(pay) => (pay, ItemStatus::Ready),
        Err(why) => {
            run.blockers.push(format!("{}: {why}", employee.id));
            (nothing(run, employee), ItemStatus::Blocked)
        }
    };
    let mut item = item(world, run, employee, last_time, Arc::new(pay));
    if item.status != status {
        item.enter(status, world.now());
    }
    item
}

/// Calculates again the items of employees whose employment has ended or been suspended since the calculation.
fn follow_employments(world: &mut World, run: Arc<PayrollRun>) -> Arc<PayrollRun> {
    let company = get(world, run.company_id);
    let calculated = run.entered(RunStatus::Calculated);
    let is_changed = |employee: &Employee| {
        let last_days = run.kind.pays_by_terms().then_some(employee.end_date).flatten();
        let leaves = last_days.is_some_and(|day| day <= run.span().end)
            && calculated.is_none_or(|at| employee.updated_at >= at);
        leaves || why_not(&company, &run, employee).is_some()
    };
    let mut items = items(world, run.id);
    items.retain(|item| item.status == ItemStatus::Ready);
    items.retain(|item| is_changed(&get(world, item.employee_id)));
    if items.is_empty() {
        return run;
    }
    let earlier = EarlierPay::of(world, &run);
    let mut run = (*run).clone();
    let mut totals = run.totals.unwrap_or_default();
    for last in items {
        let employee = get(world, last.employee_id);
        totals.add_item(&last, -1);
        let item = calculate_item(world, &mut run, (&company, &employee), &earlier, Some(last));
        totals.add_item(&item, 1);
        run.settlement.pending -= u64::from(item.status == ItemStatus::Blocked);
        world.stage(item);
    }
    (run.totals, run.updated_at) = (Some(totals), world.now());
    world.record("payroll_run.calculated", run)
}

/// Maximum number of warnings of a run, because each of its events contains them.
const MOST_WARNINGS: usize = 100;

/// The reason why the run excludes that employee. A run created in one call pays the employees selected in that call.
fn why_not(company: &Company, run: &PayrollRun, employee: &Employee) -> Option<String> {
    let wanted = Wanted { company, span: run.span(), kind: run.kind, member: "" };
    wanted.not_payable(employee).filter(|_| run.is_drafted())
}

fn items_by_employee(
    world: &World,
    run: Id<PayrollRun>,
) -> BTreeMap<Id<Employee>, Arc<PayrollItem>> {
    let stand = |item: &Arc<PayrollItem>| item.status != ItemStatus::Skipped;
    let items = items(world, run).into_iter().filter(stand);
    items.map(|item| (item.employee_id, item)).collect()
}

/// The employee's item in the run, from the last calculation if there was one.
fn item(
    world: &World,
    run: &PayrollRun,
    employee: &Employee,
    last_time: Option<Arc<PayrollItem>>,
    pay: Arc<Calculation>,
) -> PayrollItem {
    let currency = employee.paid_in().unwrap_or(run.currency);
    let fx = conversion(world, run.currency, currency, pay.net);
    if let Some(item) = last_time {
        return PayrollItem { calculation: pay, currency, fx, ..(*item).clone() };
    }
    PayrollItem {
        id: world.next_id(run.id.bits()),
        payroll_run_id: run.id,
        company_id: run.company_id,
        employee_id: employee.id,
        employee_name: employee.name.as_str().into(),
        period: run.period,
        status: ItemStatus::Ready,
        currency,
        fx,
        calculation: pay,
        payout_id: None,
        payout_ids: Vec::new(),
        payslip_id: None,
        failure: None,
        created_at: world.now(),
        status_history: [StatusChange::plain(ItemStatus::Ready, world.now())].into(),
    }
}

/// The pay of one employee; an error if it exceeds the maximum amount in the run's currency.
fn calculate_pay(
    world: &World,
    run: &PayrollRun,
    employee: &Employee,
    earlier: &EarlierPay,
) -> Result<Calculation, String> {
    let pay = payroll_pay::calculate(world, run, employee, earlier);
    let pays_in = employee.paid_in().unwrap_or(run.currency);
    if pays_in == run.currency {
        return Ok(pay);
    }
    let mid_rate = mid_rate(world, run.currency, pays_in);
    let cost = i128::from(pay.employer_cost()).abs() + i128::from(pay.net).abs();
    let cost = i64::try_from(cost).map(|cost| mid_rate.needed(cost, run.currency, pays_in));
    if cost.is_ok_and(|cost| cost <= MOST_VALUE) {
        return Ok(pay);
    }
    Err(format!("the pay in {pays_in} exceeds the maximum of a run in {}", run.currency))
}

/// Maximum pay of one employee in another currency, in minor units of the run's.
const MOST_VALUE: i128 = 1_000_000_000_000_000;

fn mid_rate(world: &World, company: Currency, pays_in: Currency) -> Rate {
    let rate = world.base().mid_rate(company, pays_in, world.today());
    rate.expect("terms of pay are in a currency with a reference rate")
}

/// The conversion of net pay in another currency, at today's rate.
fn conversion(
    world: &World,
    company: Currency,
    pays_in: Currency,
    net: i64,
) -> Option<PayConversion> {
    if company == pays_in {
        return None;
    }
    let (rate, spread_bp) = (mid_rate(world, company, pays_in), spread(company, pays_in));
    Some(PayConversion::of(net, pays_in, company, rate, spread_bp))
}

/// The item of an employee whom the run no longer includes.
fn excluded(mut item: PayrollItem, now: Timestamp) -> PayrollItem {
    let nothing = (*item.calculation).clone().blank();
    item.calculation = Arc::new(nothing);
    item.fx =
        item.fx.map(|fx| PayConversion { source_amount: 0, target_amount: 0, fee_amount: 0, ..fx });
    item.enter(ItemStatus::Skipped, now);
    item
}

pub(crate) fn items(world: &World, run: Id<PayrollRun>) -> Vec<Arc<PayrollItem>> {
    world.children::<PayrollItem>(run.bits()).map(|id| get(world, id)).collect()
}

/// Accrues wages and withholdings, and returns the entries. The money is reserved at the cut-off of the business day before the pay date.
pub(crate) fn approve_run(
    world: &mut World,
    run: &PayrollRun,
    reason: Option<String>,
) -> Vec<Arc<JournalEntry>> {
    let mut items = items(world, run.id);
    for item in items.iter_mut().filter(|item| item.status == ItemStatus::Blocked) {
        let mut skipped = (**item).clone();
        skipped.enter(ItemStatus::Skipped, world.now());
        *item = world.stage(skipped);
    }
    let cost = RunCost::of(items.iter().map(AsRef::as_ref));
    let wallet = world
        .wallet_of(run.company_id, run.currency)
        .expect("a company has a wallet of its currency");
    let mut run = run.clone();
    run.funding = Some(Funding {
        wallet_id: wallet.id,
        required: cost.to_reserve(),
        reserved: 0,
        platform_fee: 0,
        shortfall: 0,
    });
    run.enter_because(RunStatus::Approved, world.now(), reason);
    let run = world.stage(run);
    let accruals = accrue(world, &run, &items);
    world.emit("payroll_run.approved", &run);
    for &(party, amount) in cost.owed.iter().filter(|(_, amount)| *amount != 0) {
        owe(world, &run, (party.account, party.form), amount);
    }
    let calendar = world.calendar_of(run.company_id);
    let day_before = calendar.minus_business_days(run.pay_date, 1);
    world.settle_at(calendar.cut_off(day_before), Task::FundRun(run.id));
    accruals
}

/// The accounting date of a payment of a run's wages: never before the pay date, even if the clock does not wait for
/// that date.
pub(crate) fn day_of_payment(world: &World, run: &PayrollRun) -> Date {
    world.today().max(run.pay_date)
}

/// The day on which the run's pays in that country count for taxes. A reversal counts on its own day.
fn counts_on(world: &World, run: &PayrollRun, country: &str) -> Date {
    let pack = payroll::library().in_force(country, run.pay_date.civil()).pack;
    if run.reverses.is_some() || pack.early_pay_counts_on == CountsOn::PayDate {
        return run.pay_date;
    }
    let items = items(world, run.id);
    let mut pays = items.iter().map(|item| &item.calculation);
    let moved = pays.find_map(|pay| pay.counts_on.filter(|_| pay.country() == country));
    moved.unwrap_or(run.pay_date)
}

/// Creates a tax liability of a run, with its account and form.
pub(crate) fn owe(
    world: &mut World,
    run: &PayrollRun,
    (account, form): (Account, Option<&str>),
    amount: i64,
) -> Id<TaxLiability> {
    let authority = code_of(account);
    let jurisdiction =
        jurisdiction(&get(world, run.company_id).country, authority, run.pay_date).to_owned();
    let counts_on = counts_on(world, run, &jurisdiction);
    let accrual = Accrual {
        company: run.company_id,
        run: Some(run.id),
        authority,
        form: form.map(str::to_owned),
        due_on: tax_clock::due_on(&jurisdiction, authority, form, counts_on),
        period: month_of(&jurisdiction, authority, form, counts_on),
        jurisdiction,
        amount,
        input_tax: 0,
        currency: run.currency,
        filing: None,
    };
    tax_liabilities::accrue(world, accrual)
}

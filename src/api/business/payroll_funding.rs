//! Timers of an approved run: reserve its money, and create a payout for each employee.

use std::collections::BTreeSet;

use crate::api::business::employee_verbs::end_final_pay;
use crate::api::business::payroll_clock::{day_of_payment, get, items};
use crate::api::business::payroll_payouts::{finish, issue};
use crate::api::payments::platform_fee::{Fee, FeeMonth};
use crate::api::payments::wallet_level;
use crate::api::prelude::*;
use crate::model::business::payment_method::Part;
use crate::model::business::{
    ItemStatus, PayConversion, PaymentMethod, PaymentMethodType, PayrollItem, PayrollRun, RunStatus,
};
use crate::model::decision::RUN_FUND;
use crate::model::payments::rails::route;
use crate::model::payments::{Failure, Payout, PayoutStatus, Rail, Recipient, Service};
use crate::model::posting::{self, RunCost};
use crate::value::long_work;
use crate::world::grow;

/// The events of funding a run.
pub(crate) const EMITS: &[&str] = &[
    "payroll_run.funded",
    "payroll_run.funding_failed",
    "wallet.debited",
    "wallet.low_balance",
    "payout.created",
    "payroll_run.processing",
    "payroll_run.paid",
    "payroll_run.partially_paid",
    "payroll_item.failed",
    "payslip.issued",
    "payslip.corrected",
    "employee.payroll_status_changed",
];

/// The timers that funding a run starts.
pub(crate) const STARTS: &[TaskKind] = &[TaskKind::FundRunLate, TaskKind::SendRunPayouts];

/// Hour of the pay date at which wages are sent to the rail.
const SEND_HOUR: i64 = 9;
/// The delay of late money.
const LATE_FUNDS: Span = Span::BusinessDays(1);

/// Reserves the run's money and creates its payouts. If the wallet is short, the run fails to be funded, unless the company allows partial
/// runs.
pub(crate) fn fund_run(world: &mut World, id: Id<PayrollRun>, late: bool) {
    let mut run = (*get(world, id)).clone();
    if !matches!(run.status, RunStatus::Approved | RunStatus::FundingFailed) {
        return; // cancelled in the meantime
    }
    let mut funding = run.funding.expect("an approved run knows what it needs");
    let wallet = get(world, funding.wallet_id);
    let available = world.balances(run.company_id, run.currency).available;
    let items = items(world, id);
    let whole = Covered::whole(world, &run, &items, funding.required);
    let covered = if available < whole.takes() {
        covered(world, &run, &items, available)
    } else {
        whole.clone()
    };
    funding.shortfall = whole.takes() - available.min(whole.takes());
    let refused = if covered.reserved == 0 && funding.required > 0 {
        let short = run.currency.display(funding.shortfall);
        let fee = run.currency.display(whole.fee.amount);
        Some(format!(
            "the wallet {} is short of {short}, including the platform fee of {fee}",
            wallet.id
        ))
    } else if late {
        None // the request was sent earlier, and this is the bank's answer
    } else {
        match ask_bank(world, id) {
            BankReply::Yes => None,
            BankReply::No => {
                funding.shortfall = whole.takes();
                Some("the company's bank reports insufficient funds".to_owned())
            }
            BankReply::Later(due) => {
                world.remind_at(due, Task::FundRunLate(id));
                return;
            }
        }
    };
    run.enter(RunStatus::Funding, world.now());
    run.blockers = refused.iter().cloned().collect();
    if refused.is_some() {
        run.funding = Some(funding);
        run.enter(RunStatus::FundingFailed, world.now());
        world.record("payroll_run.funding_failed", run);
        return;
    }
    funding.reserved = covered.reserved;
    funding.platform_fee = covered.fee.amount;
    run.funding = Some(funding);
    let run = world.stage(run);
    let (source, currency) = (AnyId::of(run.id), run.currency);
    let reserve = posting::reserved("Payroll funded", source, currency, covered.reserved);
    world.post(run.company_id, reserve);
    charge(world, &run, &covered);
    world.emit("payroll_run.funded", &run);
    let company = get(world, run.company_id);
    wallet_level::debited(world, &company, &wallet, available);
    let employees = run.employees.len() as u64;
    long_work::over(employees, || open_payouts(world, (&run, items), &wallet, &covered.without));
}

/// The amounts taken from the wallet for a run.
#[derive(Clone, Default)]
struct Covered {
    /// The reserved amount.
    reserved: i64,
    /// The platform fee for the wages in it.
    fee: Fee,
    /// The wages of the items.
    wages: i64,
    /// Items that the wallet does not cover.
    without: BTreeSet<Id<PayrollItem>>,
}

impl Covered {
    fn whole(world: &World, run: &PayrollRun, items: &[Arc<PayrollItem>], required: i64) -> Self {
        let wages = wages(items.iter().map(AsRef::as_ref));
        Self {
            reserved: required,
            fee: fee_month(world, run).meter(world).charge(wages),
            wages,
            without: BTreeSet::new(),
        }
    }

    const fn takes(&self) -> i64 {
        self.reserved + self.fee.amount
    }
}

/// The account of a run's fee: of the month in which the run pays.
pub(crate) fn fee_month(world: &World, run: &PayrollRun) -> FeeMonth {
    let month = day_of_payment(world, run).period();
    FeeMonth { company: run.company_id, currency: run.currency, month }
}

/// Charges the fee of a funded run.
fn charge(world: &mut World, run: &PayrollRun, covered: &Covered) {
    let (source, month) = (AnyId::of(run.id), fee_month(world, run));
    let fee = posting::platform_fee("Platform fee", source, run.currency, covered.fee.amount);
    world.post(run.company_id, fee);
    month.count(world, covered.wages);
    month.charged(world, source, covered.fee);
}

/// The wages of those items in the run's currency: the basis of the fee.
fn wages<'a>(items: impl Iterator<Item = &'a PayrollItem>) -> i64 {
    items.map(|item| item.sending_takes().max(0)).sum()
}

/// The items of a run that the wallet covers, in the run's order, and the other items. Without partial runs, the
/// wallet must cover all items. It must also cover the fee of the covered items.
fn covered(world: &World, run: &PayrollRun, items: &[Arc<PayrollItem>], available: i64) -> Covered {
    let mut covered = Covered::default();
    let settings = get(world, run.company_id).payroll_settings;
    if !settings.partial_runs {
        return covered;
    }
    let meter = fee_month(world, run).meter(world);
    let mut cost = RunCost::default();
    for item in items {
        let mut cost_with_it = cost.clone();
        cost_with_it.add_item(item);
        let with_it = covered.wages + wages(core::iter::once(&**item));
        let (reserved, fee) = (cost_with_it.to_reserve(), meter.charge(with_it));
        if reserved + fee.amount <= available {
            covered.reserved = reserved;
            covered.fee = fee;
            covered.wages = with_it;
            cost = cost_with_it;
        } else {
            covered.without.insert(item.id);
        }
    }
    covered
}

/// The reply of the company's bank to a request for a run's money.
enum BankReply {
    Yes,
    No,
    Later(Timestamp),
}

fn ask_bank(world: &mut World, run: Id<PayrollRun>) -> BankReply {
    let answer = world.decide(&RUN_FUND, AnyId::of(run), None);
    match answer.choice {
        "insufficient_funds" => BankReply::No,
        "delayed" => {
            let late = answer.after.unwrap_or(LATE_FUNDS);
            BankReply::Later(world.after(late, Some(AnyId::of(run))))
        }
        _ => BankReply::Yes,
    }
}

/// Creates one payout per employee. An item with net pay of zero is skipped without a payment. Its payslip is issued,
/// unless the employee no longer belongs to the run. Items that the wallet does not cover fail before they are sent.
fn open_payouts(
    world: &mut World,
    (run, items): (&PayrollRun, Vec<Arc<PayrollItem>>),
    wallet: &Wallet,
    uncovered: &BTreeSet<Id<PayrollItem>>,
) {
    let rail = get(world, run.company_id).payroll_settings.speed;
    let (mut run, mut left, mut failed) = (run.clone(), Vec::new(), Vec::new());
    let now = world.now();
    for item in items {
        if item.status == ItemStatus::Skipped {
            continue;
        }
        let before = item;
        let mut item = (*before).clone();
        if uncovered.contains(&item.id) {
            item.enter(ItemStatus::Processing, now);
            item.enter(ItemStatus::Failed, now);
            item.failure = Some(Box::new(NOT_COVERED));
            failed.push((before, world.stage(item)));
            continue;
        }
        if item.calculation.net <= 0 {
            item.enter(ItemStatus::Skipped, now);
            left.push(world.stage(item));
            continue;
        }
        item.enter(ItemStatus::Processing, now);
        open_payouts_of(world, item, (wallet.id, rail));
    }
    run.settlement.pending -= (left.len() + failed.len()) as u64;
    run.settlement.failed += failed.len() as u64;
    run.enter(RunStatus::Processing, world.now());
    let run = world.record("payroll_run.processing", run);
    for (before, item) in failed {
        world.emit_changed("payroll_item.failed", before, &item);
    }
    for item in left {
        if item.calculation.employer_cost() != 0 || belongs_to(world, &run, &item) {
            issue(world, &run, (*item).clone());
        } else {
            end_final_pay(world, item.employee_id);
        }
    }
    if run.settlement.pending == 0 {
        finish(world, &run);
    } else {
        let sent = run.pay_date.at_hour(SEND_HOUR);
        world.settle_at(sent, Task::SendRunPayouts(run.id));
    }
}

/// Creates the payouts of an item, one for each account that receives a part of it.
fn open_payouts_of(world: &mut World, item: PayrollItem, (wallet, rail): (Id<Wallet>, Rail)) {
    let mut item = Arc::new(item);
    let mut ids = Vec::new();
    let payee = Payee::of(world, item.employee_id);
    for part in payee.parts(&item) {
        let payout = salary(world, &item, wallet, rail, (&payee, part));
        ids.push(payout.id);
        Arc::make_mut(&mut item).set_payouts(&ids);
        world.put(&item);
        world.record("payout.created", payout);
    }
}

/// Whether the run pays an employee of its pay period: the employment can have ended since the run was created. A run that does not pay by
/// terms names its employees itself.
fn belongs_to(world: &World, run: &PayrollRun, item: &PayrollItem) -> bool {
    let (employee, span) = (get(world, item.employee_id), run.span());
    let ended = employee.end_date.is_some_and(|last| last < span.start);
    !run.kind.pays_by_terms() || (employee.start_date <= span.end && !ended)
}

/// The failure of an item that the wallet does not cover.
const NOT_COVERED: Failure = Failure {
    code: Cow::Borrowed("insufficient_funds"),
    return_code: None,
    rail_message: None,
    retryable: true,
    retry: None,
};

/// A part of an item's net pay, and its currency conversion.
pub(crate) type SalaryPart = (Part, Option<PayConversion>);

/// The data of an employee for a payment of wages.
pub(crate) struct Payee {
    country: Cow<'static, str>,
    method: Arc<PaymentMethod>,
}

impl Payee {
    /// The current state of that employee. An unchanged grown employee is generated only in part.
    pub(crate) fn of(world: &World, id: Id<Employee>) -> Self {
        let base = world.base();
        let (country, method) = match (world.touched(id), base.index_of(id)) {
            (None, Some(index)) => {
                let country = base.plan(index / base.shape().employees_per_company).country.code;
                (country.into(), grow::payment_method(base, index).map(Arc::new))
            }
            (employee, _) => {
                let employee = employee.expect("a payroll item names an employee that exists");
                (employee.country.clone().into(), employee.payment_method.clone())
            }
        };
        Self { country, method: method.expect("a payable employee has a payment method") }
    }

    /// The parts of an item's net pay, one for each payout.
    pub(crate) fn parts(&self, item: &PayrollItem) -> Vec<SalaryPart> {
        let parts = self.method.parts(item.calculation.net);
        let mut before = 0;
        let converted = |part: Part| {
            let fx = item.fx.map(|fx| fx.part(before, part.amount));
            before += part.amount;
            (part, fx)
        };
        parts.into_iter().map(converted).collect()
    }
}

/// The payout for a part of an item's net pay, to the employee's current account.
pub(crate) fn salary(
    world: &World,
    item: &PayrollItem,
    wallet_id: Id<Wallet>,
    rail: Rail,
    (payee, (Part { split, amount }, fx)): (&Payee, SalaryPart),
) -> Payout {
    let account = payee.method.account_of(split);
    let now = world.now();
    let service = match account.kind {
        PaymentMethodType::Bank => rail.service(),
        PaymentMethodType::MobileMoney => Service::MobileWallet,
    };
    Payout {
        id: world.next_id(item.company_id.bits()),
        object: Object::NAME,
        company_id: item.company_id,
        wallet_id,
        beneficiary_id: None,
        status: PayoutStatus::Queued,
        amount,
        currency: item.currency,
        fx: fx.map(Box::new),
        fee: None,
        rail,
        payment_rail: route(service, &payee.country, item.currency),
        estimated_arrival: None,
        recipient: Arc::new(Recipient::new(
            &account.account_name,
            account.bank_code.as_str(),
            &account.account_number,
        )),
        split,
        reference: format!("Salary {}", item.period).into(),
        source: Some(AnyId::of(item.id)),
        maker: None,
        approver: None,
        failure: None,
        correction: None,
        supersedes: None,
        superseded_by: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(PayoutStatus::Queued, now)].into(),
    }
}

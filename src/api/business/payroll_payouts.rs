//! What the rails and the receiving banks do to the payouts of a run, and what follows for its items, its payslips and itself.
//!
//! The outside world is asked once, when a payout is handed over; its answer travels with the timers. Deliberately absent:
//! which payouts there are, which is the run's own business (`payroll_clock`).

use std::sync::Arc;

use crate::api::business::employee_verbs::{end_final_pay, enter_payroll};
use crate::api::business::payroll_clock::{get, items};
use crate::api::business::payroll_undo::unwind;
use crate::api::business::tax_clock;
use crate::api::system::SystemRow;
use crate::model::AnyId;
use crate::model::business::employee::{Employee, HoldReason, PayrollStatus};
use crate::model::business::payroll_item::{ItemStatus, PayrollItem};
use crate::model::business::payroll_run::{PayrollRun, RunStatus, RunType, Settlement};
use crate::model::business::payslip::{Payslip, PayslipStatus};
use crate::model::decision::PAYOUT_SETTLE;
use crate::model::lifecycle::{State, Stateful};
use crate::model::payments::payout::{Failure, Payout, PayoutStatus};
use crate::model::payments::return_code::ReturnCode;
use crate::model::posting;
use crate::model::task::{Fate, Task};
use crate::value::id::Id;
use crate::value::time::Span;
use crate::world::World;
use crate::world::decide::Answer;

pub(crate) const SEND_RUN_PAYOUTS: SystemRow = SystemRow {
    name: "send_run_payouts",
    emits: &["payout.processing", "payout.sent", "payout.on_hold"],
    starts: &["release_payout", "settle_payout"],
};

pub(crate) const RELEASE_PAYOUT: SystemRow = SystemRow {
    name: "release_payout",
    emits: &[
        "payout.processing",
        "payout.sent",
        "payout.failed",
        "payroll_item.failed",
        "payroll_run.paid",
        "payroll_run.partially_paid",
        "payroll_run.failed",
        "compliance_requirement.resolved",
        "wallet.credited",
    ],
    starts: &["settle_payout"],
};

pub(crate) const SETTLE_PAYOUT: SystemRow = SystemRow {
    name: "settle_payout",
    emits: &[
        "payout.paid",
        "payout.failed",
        "payout.returned",
        "payslip.issued",
        "payslip.corrected",
        "payroll_item.paid",
        "payroll_item.failed",
        "payroll_item.returned",
        "employee.payroll_status_changed",
        "payroll_run.paid",
        "payroll_run.partially_paid",
        "payroll_run.failed",
        "compliance_requirement.resolved",
        "wallet.credited",
    ],
    starts: &["settle_payout"],
};

/// How long a rail holds a payout for a look.
const HOLD: Span = Span::BusinessDays(1);
/// How long money takes to come back.
const RETURN: Span = Span::BusinessDays(2);
/// How late late money is.
const LATE: Span = Span::BusinessDays(3);
/// What a payout failed of if nobody says.
const NO_FUNDS: ReturnCode = ReturnCode::new(1).expect("R01 is a return code");

/// Hands the run's payouts to the rail.
pub(crate) fn send_run_payouts(world: &mut World, id: Id<PayrollRun>) {
    for item in items(world, id) {
        if let Some(payout) = item.payout_id {
            hand_over(world, &item, payout);
        }
    }
}

/// Moves a payout by hand, along an arrow that its lifecycle has. What the clock would have done to it is forgotten.
pub(crate) fn force(
    world: &mut World,
    id: Id<Payout>,
    to: PayoutStatus,
    code: Option<ReturnCode>,
    reason: Option<String>,
) {
    world.forget_timers(AnyId::of(id));
    let plain = |world: &mut World, name| {
        let payout = enter(world, id, to);
        world.emit(name, &payout);
    };
    match to {
        PayoutStatus::Processing => plain(world, "payout.processing"),
        PayoutStatus::OnHold => plain(world, "payout.on_hold"),
        PayoutStatus::Sent => send(world, id),
        PayoutStatus::Paid => pay(world, id),
        _ => {
            let mut failure = code.unwrap_or(NO_FUNDS).failure();
            if let Some(reason) = reason {
                failure.rail_message = Some(reason.into());
            }
            unsettled(world, id, to, failure);
        }
    }
}

/// Hands one payout to the rail, and asks what becomes of it.
pub(crate) fn hand_over(world: &mut World, item: &PayrollItem, id: Id<Payout>) {
    if get(world, id).status != PayoutStatus::Queued {
        return; // somebody was quicker
    }
    // Nobody is grown with an account that chooses.
    let magic = world
        .touched(item.employee_id)
        .and_then(|employee| magic(&employee));
    let answer = world.decide(&PAYOUT_SETTLE, AnyId::of(id), magic);
    let payout = enter(world, id, PayoutStatus::Processing);
    world.emit("payout.processing", &payout);
    let code = || {
        answer
            .code
            .expect("a choice that sends money back has a code")
    };
    // Of two delays one is the choice's own and one the rail's; a time that the outside world named is waited for.
    let normal = payout.rail.delay();
    let (fate, delay, named) = match answer.choice {
        "held_then_paid" => return hold(world, id, answer.after, Fate::Paid),
        "held_then_rejected" => return hold(world, id, answer.after, Fate::Failed(code())),
        "delayed" => (Fate::Paid, LATE, Some(answer.after.unwrap_or(LATE))),
        "failed" => (Fate::Failed(code()), normal, answer.after),
        "returned" => (Fate::Returned(code()), RETURN, answer.after),
        "returned_late" => {
            let back = answer.after.unwrap_or(RETURN);
            (Fate::PaidThenReturned(code(), back), normal, None)
        }
        "rail_down" => (Fate::Failed(code()), Span::seconds(0), answer.after),
        _ => (Fate::Paid, normal, answer.after),
    };
    send(world, id);
    world.settle_when(delay, named, Task::SettlePayout(id, fate));
}

/// The reserved account numbers `99999999RR` choose what becomes of money sent there.
fn magic(employee: &Employee) -> Option<(Answer, String)> {
    let account = employee.payment_method.as_ref()?;
    let number = account.account_number.strip_prefix("99999999")?;
    let number: u8 = number.parse().ok().filter(|_| number.len() == 2)?;
    let plain = |choice| Answer::plain(&PAYOUT_SETTLE, choice);
    let answer = match number {
        0 => plain("paid"),
        90 => plain("delayed"),
        91 => plain("held_then_paid"),
        92 => plain("held_then_rejected"),
        98 => plain("rail_down"),
        99 => plain("returned_late"),
        number => Answer {
            code: Some(ReturnCode::new(number)?),
            ..plain("returned")
        },
    };
    Some((answer, format!("account 99999999{number:02}")))
}

fn hold(world: &mut World, id: Id<Payout>, named: Option<Span>, fate: Fate) {
    let payout = enter(world, id, PayoutStatus::OnHold);
    world.emit("payout.on_hold", &payout);
    world.settle_when(HOLD, named, Task::ReleasePayout(id, fate));
}

/// The rail has looked, and lets the payout go or refuses it.
pub(crate) fn release_payout(world: &mut World, id: Id<Payout>, fate: Fate) {
    if get(world, id).status != PayoutStatus::OnHold {
        return; // somebody was quicker
    }
    if let Fate::Failed(code) = fate {
        return unsettled(world, id, PayoutStatus::Failed, code.failure());
    }
    let payout = enter(world, id, PayoutStatus::Processing);
    world.emit("payout.processing", &payout);
    send(world, id);
    world.settle_after(payout.rail.delay(), Task::SettlePayout(id, fate));
}

fn send(world: &mut World, id: Id<Payout>) {
    let payout = enter(world, id, PayoutStatus::Sent);
    let sent = posting::net_pay_sent(AnyId::of(id), payout.currency, payout.amount);
    world.post(payout.company_id, sent);
    world.emit("payout.sent", &payout);
}

/// The receiving bank's answer.
pub(crate) fn settle_payout(world: &mut World, id: Id<Payout>, fate: Fate) {
    let status = match fate {
        Fate::Paid | Fate::PaidThenReturned(..) => PayoutStatus::Paid,
        Fate::Failed(_) => PayoutStatus::Failed,
        Fate::Returned(_) => PayoutStatus::Returned,
    };
    if !get(world, id).status.may_become(status) {
        return; // somebody was quicker
    }
    match fate {
        Fate::Paid => pay(world, id),
        Fate::Failed(code) | Fate::Returned(code) => unsettled(world, id, status, code.failure()),
        Fate::PaidThenReturned(code, after) => {
            pay(world, id);
            let back = Task::SettlePayout(id, Fate::Returned(code));
            world.settle_after(after, back);
        }
    }
}

/// The money has arrived.
fn pay(world: &mut World, id: Id<Payout>) {
    let payout = enter(world, id, PayoutStatus::Paid);
    let paid = posting::net_pay_paid(AnyId::of(id), payout.currency, payout.amount);
    world.post(payout.company_id, paid);
    world.emit("payout.paid", &payout);
    let item = item_paid(world, &item_of(world, &payout));
    settled(world, &item, "payroll_item.paid", |settlement| {
        settlement.pending -= 1;
        settlement.paid += 1;
    });
}

/// The money did not arrive, or came back.
fn unsettled(world: &mut World, id: Id<Payout>, status: PayoutStatus, failure: Failure) {
    let before = get(world, id).status;
    let mut payout = (*get(world, id)).clone();
    payout.enter(status, world.now());
    payout.failure = Some(failure.clone());
    let payout = world.keep(payout);
    let (source, currency, amount) = (AnyId::of(id), payout.currency, payout.amount);
    let back = match before {
        PayoutStatus::Sent => Some(posting::net_pay_bounced(source, currency, amount)),
        PayoutStatus::Paid => Some(posting::net_pay_returned(source, currency, amount)),
        _ => None, // it was held: no money had left
    };
    if let Some(back) = back {
        world.post(payout.company_id, back);
    }
    let returned = status == PayoutStatus::Returned;
    let name = if returned {
        "payout.returned"
    } else {
        "payout.failed"
    };
    world.emit(name, &payout);
    let item = item_unsettled(world, &item_of(world, &payout), returned, failure);
    let name = if returned {
        hold_employee(world, item.employee_id);
        "payroll_item.returned"
    } else {
        "payroll_item.failed"
    };
    settled(world, &item, name, |settlement| {
        settlement.failed += 1;
        if before == PayoutStatus::Paid {
            settlement.paid -= 1;
        } else {
            settlement.pending -= 1;
        }
    });
}

fn item_of(world: &World, payout: &Payout) -> Arc<PayrollItem> {
    let source = payout.source.expect("a salary payout names its item");
    get(world, Id::from_bits(source.bits))
}

fn item_unsettled(
    world: &mut World,
    item: &PayrollItem,
    returned: bool,
    failure: Failure,
) -> Arc<PayrollItem> {
    let mut item = item.clone();
    let status = if returned {
        ItemStatus::Returned
    } else {
        ItemStatus::Failed
    };
    item.enter(status, world.now());
    item.failure = Some(failure);
    world.keep(item)
}

/// Wages that came back go out again only when somebody has looked at the account.
fn hold_employee(world: &mut World, id: Id<Employee>) {
    let employee = get(world, id);
    if employee.payroll_status.may_become(PayrollStatus::OnHold) {
        let why = Some(HoldReason::ReturnedPayout);
        enter_payroll(world, &employee, PayrollStatus::OnHold, why);
    }
}

/// One item more has its answer: the run counts it, and ends with the last.
fn settled(
    world: &mut World,
    item: &Arc<PayrollItem>,
    name: &'static str,
    count: impl FnOnce(&mut Settlement),
) {
    let mut run = (*get(world, item.payroll_run_id)).clone();
    count(&mut run.settlement);
    run.updated_at = world.now();
    let ends = match run.status {
        RunStatus::Processing => run.settlement.pending == 0,
        // Payouts that were sent again.
        RunStatus::PartiallyPaid => run.settlement.pending == 0 && run.settlement.failed == 0,
        _ => false,
    };
    let run = world.keep(run);
    world.emit(name, item);
    if ends {
        finish(world, &run);
    }
}

fn enter(world: &mut World, id: Id<Payout>, status: PayoutStatus) -> Arc<Payout> {
    let mut payout = (*get(world, id)).clone();
    payout.enter(status, world.now());
    world.keep(payout)
}

/// The item is paid. Its payslip is issued, unless it was before the money came back; and one that it corrects is marked.
fn item_paid(world: &mut World, item: &PayrollItem) -> Arc<PayrollItem> {
    let mut item = item.clone();
    item.enter(ItemStatus::Paid, world.now());
    item.failure = None;
    if item.payslip_id.is_some() {
        return world.keep(item);
    }
    let run = get(world, item.payroll_run_id);
    let payslip = Payslip {
        id: world.next_id(item.employee_id.bits()),
        company_id: item.company_id,
        employee_id: item.employee_id,
        employee_name: Arc::clone(&item.employee_name),
        payroll_run_id: item.payroll_run_id,
        payroll_item_id: item.id,
        status: PayslipStatus::Issued,
        period: item.period,
        pay_date: run.pay_date,
        currency: item.currency,
        calculation: Arc::clone(&item.calculation),
        created_at: world.now(),
        changes: Vec::new(),
    };
    let corrected = (run.kind == RunType::Correction).then(|| issued(world, &item));
    item.payslip_id = Some(payslip.id);
    let item = world.keep(item);
    world.record("payslip.issued", payslip);
    for payslip in corrected.into_iter().flatten() {
        let mut payslip = (*payslip).clone();
        payslip.enter(PayslipStatus::Corrected, world.now());
        world.record("payslip.corrected", payslip);
    }
    end_final_pay(world, item.employee_id);
    item
}

/// Payslips of the employee and the month that hold.
fn issued(world: &World, item: &PayrollItem) -> Vec<Arc<Payslip>> {
    let base = world.base();
    let grown = || {
        let run = base.run(base.month_of(item.period)?, base.index_of(item.company_id)?);
        let number = base.index_of(item.employee_id)? % base.shape().employees_per_company;
        world.at::<Payslip>(base.item(run, number))
    };
    let created = world
        .children::<Payslip>(item.employee_id.bits())
        .filter_map(|id| world.find(id));
    let all = grown().into_iter().chain(created);
    all.filter(|payslip| payslip.period == item.period && payslip.status == PayslipStatus::Issued)
        .collect()
}

/// Every payout has been answered.
pub(crate) fn finish(world: &mut World, run: &PayrollRun) {
    let (status, name) = match run.settlement {
        Settlement { failed: 0, .. } => (RunStatus::Paid, "payroll_run.paid"),
        Settlement { paid: 0, .. } => (RunStatus::Failed, "payroll_run.failed"),
        _ => (RunStatus::PartiallyPaid, "payroll_run.partially_paid"),
    };
    if status == RunStatus::Failed {
        unwind(world, run);
    }
    let mut run = run.clone();
    run.enter(status, world.now());
    let run = world.record(name, run);
    if status == RunStatus::Failed {
        tax_clock::release(world, run.id);
    }
    if let Some(funding) = run.funding.filter(|_| status == RunStatus::Failed) {
        let wallet = get(world, funding.wallet_id);
        world.emit_wallet("wallet.credited", &wallet);
    }
}

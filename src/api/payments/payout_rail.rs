//! The processing of payouts by rails and receiving banks.
//!
//! The decision is made once, when a payout is sent; it is stored in the timers. The purpose of a payout follows from
//! its source. Results of wages update the run (`payroll_payouts`); failed payouts of an escrow or to a vendor return
//! to the wallet. Deliberately absent: the creation of payouts (`payouts`, `payroll_funding`, `escrows`).

use crate::api::business::payroll_clock::{day_of_payment, get, items};
use crate::api::business::payroll_payouts::{self, Wages};
use crate::api::identity::{alert_facts, monitoring};
use crate::api::payments::payout_account::{account_number, country_of_account, magic};
use crate::api::payments::platform_fee::refunded;
use crate::api::prelude::*;
use crate::model::business::PayrollRun;
use crate::model::decision::PAYOUT_SETTLE;
use crate::model::growth::{accounts, countries};
use crate::model::payments::{
    AccountCorrection, AccountDetail, Failure, Payout, PayoutStatus, Pays, Rail, RailId, Refusal,
};
use crate::model::posting::payouts as posting;
use crate::model::task::Fate;

/// The events of the end of a review of wages.
pub(crate) const WAGES_RELEASED: &[&str] = &[
    "payout.processing",
    "payout.sent",
    "payout.failed",
    "payroll_item.failed",
    "payroll_run.paid",
    "payroll_run.partially_paid",
    "payroll_run.failed",
    "tax_liability.updated",
    "tax_liability.created",
    "compliance_requirement.resolved",
    "wallet.credited",
];

/// The events of a bank's answer about wages.
pub(crate) const WAGES_SETTLED: &[&str] = &[
    "payout.paid",
    "payout.failed",
    "payout.returned",
    "payout.account_corrected",
    "payslip.issued",
    "payslip.corrected",
    "payroll_item.paid",
    "payroll_item.failed",
    "payroll_item.returned",
    "employee.payroll_status_changed",
    "payroll_run.paid",
    "payroll_run.partially_paid",
    "payroll_run.failed",
    "tax_liability.updated",
    "tax_liability.created",
    "compliance_requirement.resolved",
    "wallet.credited",
];

/// The duration of a rail's review of a payout.
const HOLD: Span = Span::BusinessDays(1);
/// The duration of a return, for rails that define none.
const RETURN: Span = Span::BusinessDays(2);
/// The duration of a refusal by an instant rail.
const REFUSAL: Span = Span::seconds(10);
/// The time from the arrival to a correction of the account details.
const CORRECTION: Span = Span::BusinessDays(2);
/// The delay of late money.
const LATE: Span = Span::BusinessDays(3);
/// Hour of a business day at which rails with a cut-off start.
const OPENS_HOUR: i64 = 9;

/// When a payout created now is sent: `instant` at any time, the others until the cut-off of a business day, and otherwise in the morning of
/// the next one.
pub(crate) fn departure(world: &World, company: Id<Company>, rail: Rail) -> Timestamp {
    let now = world.now();
    if rail == Rail::Instant {
        return now;
    }
    let day = world.calendar_of(company).open_day(now);
    if day == now.date() { now } else { day.at_hour(OPENS_HOUR) }
}

/// When a payout accepted at that time should arrive.
pub(crate) fn arrival(
    world: &World,
    company: Id<Company>,
    (rail, speed): (RailId, Rail),
    departure: Timestamp,
) -> Timestamp {
    world.calendar_of(company).after(departure, rail.time(speed.service()))
}

/// The rail accepts a queued payout.
pub(crate) fn send_payout(world: &mut World, id: Id<Payout>) {
    hand_over(world, id);
}

/// Sends the run's payouts to the rail.
pub(crate) fn send_run_payouts(world: &mut World, id: Id<PayrollRun>) {
    let run = get(world, id);
    for item in items(world, id) {
        let wages = Wages { item, run: Arc::clone(&run) };
        for payout in wages.item.payouts() {
            let payout = get(world, payout);
            hand_to_rail(world, &payout, Some(&wages));
        }
    }
}

/// Sends one payout to the rail, and requests the decision about it.
pub(crate) fn hand_over(world: &mut World, id: Id<Payout>) {
    let payout = get(world, id);
    let wages = Wages::of(world, &payout);
    hand_to_rail(world, &payout, wages.as_ref());
}

fn hand_to_rail(world: &mut World, payout: &Payout, wages: Option<&Wages>) {
    if payout.status != PayoutStatus::Queued {
        return; // another step has already done this
    }
    if alert_facts::freezes(world, payout) {
        return freeze(world, payout);
    }
    let rail = payout.payment_rail;
    let magic = account_number(world, payout, wages).and_then(|number| magic(&number, rail));
    let answer = world.decide_payment(&PAYOUT_SETTLE, AnyId::of(payout.id), Some(rail), magic);
    let payout = enter(world, payout, PayoutStatus::Processing);
    world.emit("payout.processing", &payout);
    let code = || answer.code.expect("a choice that sends money back has a code");
    // A choice's own delay or the rail's delay applies; a delay set by the decision replaces both.
    let normal = rail.time(payout.rail.service());
    let rail = rail.rail();
    // An instant rail answers at once: money that it did not refuse has arrived.
    let refused = if rail.instant { REFUSAL } else { normal };
    let back = rail.returns.unwrap_or(RETURN);
    let (fate, delay, named) = match answer.choice {
        "held_then_paid" => return hold(world, &payout, answer.after, Fate::Paid),
        "held_then_rejected" => return hold(world, &payout, answer.after, Fate::Failed(code())),
        "delayed" => (Fate::Paid, LATE, Some(answer.after.unwrap_or(LATE))),
        "returned" if rail.instant => (Fate::Refused(code()), refused, answer.after),
        "failed" => (Fate::Failed(code()), refused, answer.after),
        "returned" => (Fate::Returned(code()), back, answer.after),
        "returned_late" => {
            let fate = match answer.after {
                Some(named) => Fate::PaidThenReturnedAfter(code(), named),
                None => Fate::PaidThenReturned(code(), back),
            };
            (fate, normal, None)
        }
        "paid_then_corrected" => {
            let reported = answer.after.unwrap_or(CORRECTION);
            (Fate::PaidThenCorrected(code(), reported), normal, None)
        }
        "rail_down" => (Fate::Failed(code()), Span::seconds(0), answer.after),
        _ => (Fate::Paid, normal, answer.after),
    };
    send(world, &payout, wages);
    world.settle_when(delay, named, settling(&payout, fate));
}

/// The task of the receiving bank's answer. Wages have a task of their own, because more follows from it.
const fn settling(payout: &Payout, fate: Fate) -> Task {
    match payout.pays() {
        Pays::Wages => Task::SettlePayout(payout.id, fate),
        Pays::Escrow | Pays::Vendor => Task::SettleVendorPayout(payout.id, fate),
    }
}

/// Holds a queued payout until it is released, because an alert was confirmed.
pub(crate) fn freeze(world: &mut World, payout: &Payout) {
    world.forget_timers(AnyId::of(payout.id));
    let payout = enter(world, payout, PayoutStatus::Processing);
    world.emit("payout.processing", &payout);
    let mut payout = (*payout).clone();
    let why = "a confirmed alert freezes payouts".to_owned();
    payout.enter_because(PayoutStatus::OnHold, world.now(), Some(why));
    world.record("payout.on_hold", payout);
}

fn hold(world: &mut World, payout: &Payout, named: Option<Span>, fate: Fate) {
    let payout = enter(world, payout, PayoutStatus::OnHold);
    world.emit("payout.on_hold", &payout);
    world.settle_when(HOLD, named, reviewed(&payout, fate));
}

/// The task that lets a payout go.
pub(super) const fn reviewed(payout: &Payout, fate: Fate) -> Task {
    match payout.pays() {
        Pays::Wages => Task::ReleasePayout(payout.id, fate),
        Pays::Escrow | Pays::Vendor => Task::ReleaseVendorPayout(payout.id, fate),
    }
}

/// The rail's review has ended: the payout is released or rejected.
pub(crate) fn release_payout(world: &mut World, id: Id<Payout>, fate: Fate) {
    let payout = get(world, id);
    if payout.status == PayoutStatus::Processing {
        return send_on(world, &payout, fate); // a manual transition has already released it
    }
    if payout.status != PayoutStatus::OnHold {
        return; // another step has already done this
    }
    if let Fate::Failed(code) = fate {
        return unsettled(world, id, PayoutStatus::Failed, code.failure());
    }
    if alert_facts::freezes(world, &payout) {
        return; // the rail would release it, but an alert keeps it on hold
    }
    let payout = enter(world, &payout, PayoutStatus::Processing);
    world.emit("payout.processing", &payout);
    send_on(world, &payout, fate);
}

/// Sends a payout, which arrives after the time of its rail.
pub(super) fn send_on(world: &mut World, payout: &Payout, fate: Fate) {
    let wages = Wages::of(world, payout);
    send(world, payout, wages.as_ref());
    let time = payout.payment_rail.time(payout.rail.service());
    world.settle_after(time, settling(payout, fate));
}

fn send(world: &mut World, payout: &Payout, wages: Option<&Wages>) {
    let payout = enter(world, payout, PayoutStatus::Sent);
    if let Some(sent) = posting::sent(&payout) {
        world.post_on(payout.company_id, sent, day_of(world, wages));
    }
    world.emit("payout.sent", &payout);
}

/// The accounting date of a payout's step: for wages, not before the run's pay date.
fn day_of(world: &World, wages: Option<&Wages>) -> Date {
    wages.map_or(world.today(), |wages| day_of_payment(world, &wages.run))
}

/// The receiving bank's answer.
pub(crate) fn settle_payout(world: &mut World, id: Id<Payout>, fate: Fate) {
    let payout = get(world, id);
    match (result(fate), fate) {
        (Some(status), _) if payout.status.may_become(status) => {
            conclude(world, &payout, fate, None);
        }
        (None, Fate::Corrected(code)) => correct(world, id, code),
        _ => {} // another step has already done this
    }
}

/// The state that a payout enters by that answer; none if its state stays.
pub(super) const fn result(fate: Fate) -> Option<PayoutStatus> {
    match fate {
        Fate::Corrected(_) => None,
        Fate::Paid
        | Fate::PaidThenReturned(..)
        | Fate::PaidThenReturnedAfter(..)
        | Fate::PaidThenCorrected(..) => Some(PayoutStatus::Paid),
        Fate::Failed(_) | Fate::Refused(_) => Some(PayoutStatus::Failed),
        Fate::Returned(_) => Some(PayoutStatus::Returned),
    }
}

/// The payout enters the state of that answer. A message replaces the one of the rail.
pub(super) fn conclude(world: &mut World, payout: &Payout, fate: Fate, message: Option<String>) {
    let id = payout.id;
    let failure = |code: Refusal| {
        let mut failure = code.failure();
        if let Some(message) = message {
            failure.rail_message = Some(message.into());
        }
        failure
    };
    match fate {
        Fate::Corrected(_) => {}
        Fate::Paid => drop(pay(world, payout)),
        Fate::PaidThenCorrected(code, after) => {
            let payout = pay(world, payout);
            world.settle_after(after, settling(&payout, Fate::Corrected(code)));
        }
        Fate::Failed(code) => unsettled(world, id, PayoutStatus::Failed, failure(code)),
        Fate::Returned(code) => unsettled(world, id, PayoutStatus::Returned, failure(code)),
        Fate::Refused(code) => {
            unsettled(world, id, PayoutStatus::Failed, failure(code));
            if let Some(wages) = Wages::of(world, payout) {
                payroll_payouts::refused(world, &wages);
            }
        }
        Fate::PaidThenReturned(code, after) | Fate::PaidThenReturnedAfter(code, after) => {
            let named = matches!(fate, Fate::PaidThenReturnedAfter(..)).then_some(after);
            let back = settling(&pay(world, payout), Fate::Returned(code));
            world.settle_when(after, named, back);
        }
    }
}

/// The receiving bank corrects the account details of a payout that has arrived.
fn correct(world: &mut World, id: Id<Payout>, code: Refusal) {
    let mut payout = (*get(world, id)).clone();
    if payout.status != PayoutStatus::Paid {
        return; // it was returned in the meantime
    }
    let account = country_of_account(world, &payout).and_then(|country| {
        let key = world.base().key().with("corrected account").at(id.bits());
        Some(accounts::bank_account(countries::find(&country)?, key))
    });
    let corrects = |detail| code.code().is_none_or(|code| code.corrects.contains(&detail));
    let bank_code = account.as_ref().filter(|_| corrects(AccountDetail::BankCode));
    let number = account.as_ref().filter(|_| corrects(AccountDetail::AccountNumber));
    let report = code.failure();
    payout.correction = Some(Box::new(AccountCorrection {
        code: report.return_code,
        message: report.rail_message,
        bank_code: bank_code.map(|account| account.bank_code.clone()),
        account_number: number.map(|account| account.account_number.clone()),
        reported_at: world.now(),
    }));
    payout.updated_at = world.now();
    world.record("payout.account_corrected", payout);
}

/// The payout is paid.
fn pay(world: &mut World, payout: &Payout) -> Arc<Payout> {
    let payout = enter(world, payout, PayoutStatus::Paid);
    let wages = Wages::of(world, &payout);
    let paid = posting::paid(&payout, Wages::payable(wages.as_ref()));
    world.post_on(payout.company_id, paid, day_of(world, wages.as_ref()));
    world.emit("payout.paid", &payout);
    match &wages {
        Some(wages) => payroll_payouts::arrived(world, &payout, wages),
        None => monitoring::paid(world, &payout),
    }
    payout
}

/// The payout failed or was returned.
fn unsettled(world: &mut World, id: Id<Payout>, status: PayoutStatus, failure: Failure) {
    let before = get(world, id).status;
    let mut payout = (*get(world, id)).clone();
    payout.enter(status, world.now());
    payout.failure = Some(Box::new(failure));
    let payout = world.stage(payout);
    let wages = Wages::of(world, &payout);
    if let Some(back) = posting::back(&payout, before, Wages::payable(wages.as_ref())) {
        world.post_on(payout.company_id, back, day_of(world, wages.as_ref()));
    }
    refunded(world, &payout);
    let name = match status {
        PayoutStatus::Returned => "payout.returned",
        _ => "payout.failed",
    };
    world.emit(name, &payout);
    match &wages {
        Some(wages) => payroll_payouts::bounced(world, &payout, wages),
        None => credited(world, &payout),
    }
}

/// The money is back in the wallet.
pub(crate) fn credited(world: &mut World, payout: &Payout) {
    let wallet = get(world, payout.wallet_id);
    world.emit_wallet("wallet.credited", &wallet);
}

pub(super) fn enter(world: &mut World, payout: &Payout, status: PayoutStatus) -> Arc<Payout> {
    let mut payout = payout.clone();
    payout.enter(status, world.now());
    world.stage(payout)
}

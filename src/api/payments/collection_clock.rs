//! Actions of payers and their effects over time: prompted, paid, failed, settled, expired, charged back.

use crate::api::capital::repayments;
use crate::api::identity::monitoring;
use crate::api::payments::platform_fee::FeeMonth;
use crate::api::payments::wallets::fits;
use crate::api::payments::{bad_debts, debit_returns, disputes, invoice_due};
use crate::api::prelude::*;
use crate::model::Account;
use crate::model::decision::{COLLECTION_PAY, COLLECTION_SETTLE};
use crate::model::payments::invoice::{Invoice, InvoiceStatus};
use crate::model::payments::{
    Collection, CollectionMethod, CollectionStatus, Dispute, Failure, Payment, RaisedBy, Refusal,
    Scope,
};
use crate::model::posting::{self, collecting};

/// From the request to the prompt on the payer's phone.
const PROMPT: Span = Span::seconds(2);
/// From the payment to the settlement.
const SETTLEMENT: Span = Span::BusinessDays(1);
/// The default delay of a late bank.
const LATE_SETTLEMENT: Span = Span::BusinessDays(5);
/// From the payment to the dispute.
const CHARGEBACK: Span = Span::seconds(10 * 24 * 60 * 60);
/// Number of days after an invoice's due date on which a late customer pays.
const LATE_DAYS: i32 = 10;

/// The tasks that a new collection starts.
pub(super) const ASKED: &[TaskKind] = &[
    TaskKind::PromptPayer,
    TaskKind::PayCollection,
    TaskKind::ExpireCollection,
    TaskKind::ExpireMandate,
];

/// The events of a payment that succeeds or fails.
pub(crate) const FINISHED: &[&str] = &[
    "collection.succeeded",
    "collection.failed",
    "wallet.created",
    "invoice.partially_paid",
    "invoice.paid",
    "tax_liability.created",
    "tax_liability.updated",
];

/// The events of money that arrives in the wallet, and of the share that loans take of it.
pub(crate) const SETTLED: &[&str] = &[
    "collection.settled",
    "wallet.credited",
    "aml_alert.opened",
    "subject.updated",
    "loan.repayment_received",
    "loan.repaid",
    "wallet.debited",
    "wallet.low_balance",
];

/// Sets the timer for the action of a new collection's payer.
pub(super) fn follow(world: &mut World, collection: &Collection) {
    let id = collection.id;
    let rail = Some(collection.payment_rail);
    let answer = world.decide_payment(&COLLECTION_PAY, AnyId::of(id), rail, magic(collection));
    if let Some(until) = collection.expires_at {
        world.remind_at(until, Task::ExpireCollection(id));
    }
    if collection.method == CollectionMethod::MobileMoney {
        world.settle_after(PROMPT, Task::PromptPayer(id));
    }
    let whole = Payment::Pays(collection.amount);
    let payment = match answer.choice {
        "never" => return,
        "short" => Payment::Pays((collection.amount / 2).max(1)),
        "declined" => {
            let refusal = answer.code.expect("a choice that fails has a code");
            Payment::Fails(by_payer(collection, refusal))
        }
        "disputed" => Payment::PaysAndDisputes(answer.after),
        _ => whole,
    };
    let task = Task::PayCollection(id, payment);
    match (answer.choice, answer.after) {
        ("late", None) => world.remind_at(late(world, collection), task),
        ("disputed", _) => world.settle_after(collection.method.payment(), task),
        (_, after) => world.settle_when(collection.method.payment(), after, task),
    }
}

/// The refusal of a payment. A transfer that the payer's bank refuses never enters the rail. It has a code only if
/// the rail has one for exactly that reason.
pub(crate) fn by_payer(collection: &Collection, refusal: Refusal) -> Refusal {
    match collection.method {
        CollectionMethod::BankTransfer => refusal.unless_exact(),
        _ => refusal,
    }
}

/// When a late payer pays: for an invoice, after its due date.
fn late(world: &World, collection: &Collection) -> Timestamp {
    let invoice = collection.invoice_id.and_then(|id| world.find(id));
    match invoice {
        Some(invoice) => {
            let day = invoice.due_date.plus_days(LATE_DAYS);
            day.at_hour(10).max(world.now())
        }
        None => world.after(collection.method.late(), None),
    }
}

/// The result chosen by a reserved account number (`99999999RR`) of the payer.
fn magic(collection: &Collection) -> Option<(DecisionAnswer, String)> {
    let account = collection.payer.account_number.as_ref()?;
    let choice = match &**account {
        "9999999900" => "paid",
        "9999999990" => "late",
        "9999999993" => "short",
        "9999999994" => "never",
        "9999999995" => "disputed",
        _ => "declined",
    };
    let code = Scope::Collections.magic_code(account);
    if choice == "declined" && code.is_none() {
        return None;
    }
    let rail = collection.payment_rail;
    let answer = DecisionAnswer::on_rail(&COLLECTION_PAY, choice, rail, code.as_deref());
    Some((answer, format!("account {account}")))
}

fn find(world: &World, id: Id<Collection>) -> Collection {
    let collection = world.find(id);
    (*collection.expect("a task is set for what exists, and nothing is deleted")).clone()
}

/// Prompts the payer on the phone.
pub(crate) fn prompt(world: &mut World, id: Id<Collection>) {
    let mut collection = find(world, id);
    if collection.status == CollectionStatus::Pending {
        collection.enter(CollectionStatus::RequiresAction, world.now());
        world.record("collection.requires_action", collection);
    }
}

/// The payer acts; the rail needs its time.
pub(crate) fn pay(world: &mut World, id: Id<Collection>, payment: Payment) {
    let collection = find(world, id);
    if !collection.status.waits() {
        return; // it was paid in another way, cancelled or expired in the meantime
    }
    let collection = begin(world, collection);
    let time = collection.payment_rail.time(collection.method.service());
    world.settle_after(time, Task::FinishCollection(id, payment));
}

/// The rail processes the payment. Emits `collection.processing`.
pub(crate) fn begin(world: &mut World, mut collection: Collection) -> Arc<Collection> {
    collection.enter(CollectionStatus::Processing, world.now());
    world.record("collection.processing", collection)
}

/// The payment succeeds or fails.
pub(crate) fn finish(world: &mut World, id: Id<Collection>, payment: Payment) {
    let collection = find(world, id);
    if collection.status != CollectionStatus::Processing {
        return;
    }
    match payment {
        Payment::Fails(code) => fail(world, collection, code.failure()),
        Payment::Pays(amount) => {
            if let Some(collection) = admitted(world, collection, amount) {
                succeed(world, collection, amount);
            }
        }
        Payment::PaysAndDisputes(after) => {
            let amount = collection.amount;
            if let Some(collection) = admitted(world, collection, amount) {
                succeed(world, collection, amount);
                world.settle_when(CHARGEBACK, after, Task::ChargeBack(id));
            }
        }
    }
}

/// The collection, or a failed payment if the wallet would exceed its maximum.
fn admitted(world: &mut World, collection: Collection, amount: i64) -> Option<Collection> {
    let (company, currency) = (collection.company_id, collection.currency);
    if fits(world, company, currency, amount).is_ok() {
        return Some(collection);
    }
    let failure = Failure {
        code: Cow::Borrowed("refused_by_receiver"),
        return_code: None,
        rail_message: Some(Cow::Borrowed("The receiving wallet holds no more")),
        retryable: true,
        retry: None,
    };
    fail(world, collection, failure);
    None
}

/// The payer did not pay.
pub(crate) fn fail(world: &mut World, mut collection: Collection, failure: Failure) {
    collection.failure = Some(failure);
    collection.enter(CollectionStatus::Failed, world.now());
    world.record("collection.failed", collection);
}

/// The payment has succeeded. It pays the invoice if there is one, otherwise it is a sale.
pub(crate) fn succeed(
    world: &mut World,
    mut collection: Collection,
    amount: i64,
) -> Arc<Collection> {
    let (id, company, currency) = (collection.id, collection.company_id, collection.currency);
    world.wallet_for(company, currency);
    let invoice = collection.invoice_id.and_then(|id| world.find(id));
    let bad = invoice.as_ref().and_then(|invoice| bad_debts::recovered(invoice, amount));
    collection.amount_received = amount;
    collection.enter(CollectionStatus::Succeeded, world.now());
    let of = AnyId::of(id);
    let posting = match (&bad, &invoice) {
        (Some(bad), _) => collecting::bad_debt_recovered(of, currency, amount, bad.tax),
        (None, Some(_)) => {
            posting::collection_succeeded(of, currency, Account::AccountsReceivable, amount)
        }
        (None, None) => posting::collection_succeeded(of, currency, Account::Sales, amount),
    };
    world.post(company, posting);
    let collection = world.record("collection.succeeded", collection);
    match (bad, invoice) {
        (Some(bad), _) => bad_debts::recover(world, bad),
        (None, Some(invoice)) => pay_invoice(world, &invoice, amount),
        (None, None) => {}
    }
    let settled = world.decide(&COLLECTION_SETTLE, AnyId::of(id), None);
    let task = Task::SettleCollection(id);
    match (settled.choice, settled.after) {
        ("delayed", after) => {
            world.settle_when(SETTLEMENT, Some(after.unwrap_or(LATE_SETTLEMENT)), task);
        }
        (_, after) => world.settle_when(SETTLEMENT, after, task),
    }
    debit_returns::follow(world, &collection);
    collection
}

/// Records a payment of `amount` for an invoice.
fn pay_invoice(world: &mut World, invoice: &Invoice, amount: i64) {
    let mut invoice = invoice.clone();
    let now = world.now();
    invoice.amount_paid += amount;
    invoice.amount_due -= amount;
    invoice.updated_at = now;
    if invoice.amount_due == 0 {
        invoice.overdue = false;
        invoice.enter(InvoiceStatus::Paid, now);
        world.record("invoice.paid", invoice);
        return;
    }
    if invoice.status == InvoiceStatus::Open {
        invoice.enter(InvoiceStatus::PartiallyPaid, now);
    }
    let invoice = world.record("invoice.partially_paid", invoice);
    invoice_due::watch(world, &invoice);
}

/// The paid amount is settled into the wallet, less the platform fee.
pub(crate) fn settle(world: &mut World, id: Id<Collection>) {
    let mut collection = find(world, id);
    if collection.status != CollectionStatus::Succeeded {
        return;
    }
    let (company, currency) = (collection.company_id, collection.currency);
    let received = collection.amount_received;
    // At least one minor unit is settled, so that the wallet's statement has a line for it.
    let fee_month = FeeMonth::now(world, company, currency);
    let fee = fee_month.meter(world).charge_at_most(received, received - 1);
    collection.fee = fee.amount;
    collection.enter(CollectionStatus::Settled, world.now());
    let posting = posting::collection_settled(AnyId::of(id), currency, received, fee.amount);
    world.post(company, posting);
    fee_month.count(world, received);
    fee_month.charged(world, AnyId::of(id), fee);
    let collection = world.record("collection.settled", collection);
    let wallet = world.wallet_for(company, currency);
    world.emit_wallet("wallet.credited", &wallet);
    monitoring::collected(world, &collection);
    repayments::share(world, &collection);
}

/// The payer did not pay in time.
pub(crate) fn expire(world: &mut World, id: Id<Collection>) {
    let mut collection = find(world, id);
    if collection.status.waits() {
        collection.enter(CollectionStatus::Expired, world.now());
        world.record("collection.expired", collection);
    }
}

/// The payer's bank takes back everything that remains.
pub(crate) fn charge_back(world: &mut World, id: Id<Collection>) {
    let collection = find(world, id);
    let left = collection.left();
    if collection.status.is_paid() && !collection.disputed && left > 0 {
        let reason = "the payer does not recognise the payment".to_owned();
        dispute(world, &collection, left, reason);
    }
}

/// Opens a dispute about a collection that allows it.
pub(crate) fn dispute(
    world: &mut World,
    collection: &Collection,
    amount: i64,
    reason: String,
) -> Arc<Dispute> {
    let mut disputed = collection.clone();
    let new = disputes::NewDispute {
        company: collection.company_id,
        source: AnyId::of(collection.id),
        amount,
        currency: collection.currency,
        reason,
        raised_by: RaisedBy::Payer,
    };
    disputed.disputed = true;
    disputed.dispute_id = Some(world.next_id(collection.company_id.bits()));
    disputed.updated_at = world.now();
    world.stage(disputed);
    disputes::open(world, new)
}

//! Direct debits that the payer's bank sends back after the payment, within the window of the code's rule.

use crate::api::payments::wallet_level::debited;
use crate::api::payments::{bad_debts, invoice_due, mandates};
use crate::api::prelude::*;
use crate::model::Account;
use crate::model::decision::COLLECTION_RETURN;
use crate::model::payments::{
    Collection, CollectionMethod, CollectionStatus, DebitReturn, Invoice, InvoiceStatus, Late,
    Refusal, Scope,
};
use crate::model::posting::collecting;

/// The duration of a return, for rails that define none.
const RETURN: Span = Span::BusinessDays(2);

/// The events of a return.
pub(crate) const SENT_BACK: &[&str] = &[
    "collection.returned",
    "invoice.reopened",
    "tax_liability.created",
    "tax_liability.updated",
    "mandate.revoked",
    "wallet.debited",
    "wallet.low_balance",
];

/// The payer's bank decides about a direct debit that was paid now.
pub(super) fn follow(world: &mut World, collection: &Collection) {
    if collection.method != CollectionMethod::DirectDebit {
        return;
    }
    let (id, rail) = (collection.id, collection.payment_rail);
    let answer = world.decide_payment(&COLLECTION_RETURN, AnyId::of(id), Some(rail), None);
    if answer.choice == "returned" {
        let refusal = answer.code.expect("a choice that sends money back has a code");
        let normal = rail.rail().returns.unwrap_or(RETURN);
        world.settle_when(normal, answer.after, Task::ReturnCollection(id, refusal));
    }
}

/// The refusal of a return by hand: with that code of its rail, or for a missing authorisation.
pub(crate) fn refusal(collection: &Collection, code: Option<&str>) -> Refusal {
    let rail = collection.payment_rail;
    match code {
        Some(code) => Refusal::with_code(rail, code, Scope::Returns, Late::Yes),
        None => Refusal::because(rail, "not_authorized", Late::Yes),
    }
}

/// The reason why a direct debit cannot be returned with that code today; `None` if it can.
pub(crate) fn kept(world: &World, collection: &Collection, refusal: Refusal) -> Option<String> {
    if collection.method != CollectionMethod::DirectDebit {
        return Some("only a direct debit is sent back by the payer's bank".to_owned());
    }
    if collection.disputed {
        return Some("the collection is disputed: wait for the decision".to_owned());
    }
    if collection.left() <= 0 {
        return Some("the whole amount has already been returned to the payer".to_owned());
    }
    let mut paid = collection.status_history.iter();
    let paid = paid.find(|change| change.status == CollectionStatus::Succeeded)?.at.date();
    let calendar = world.calendar_of(collection.company_id);
    let last = refusal.window().last_day(paid, calendar).filter(|last| *last < world.today())?;
    let code = refusal.code().map_or("this code", |code| &*code.code);
    Some(format!("a return with {code} was possible until {last}: the payment was on {paid}"))
}

/// The payer's bank sends a direct debit back, if the window is open.
pub(crate) fn send_back(world: &mut World, id: Id<Collection>, refusal: Refusal) {
    let Some(collection) = world.find(id).filter(|it| it.status.is_paid()) else { return };
    if kept(world, &collection, refusal).is_some() {
        return;
    }
    let (company, currency) = (collection.company_id, collection.currency);
    let settled = collection.status == CollectionStatus::Settled;
    let (amount, before) = (collection.left(), world.balances(company, currency).available);
    let taken = if settled { before.clamp(0, amount) } else { amount };
    let from = if settled { Account::CashAvailable } else { Account::CollectionsInTransit };
    let mut returned = (*collection).clone();
    returned.returned = Some(DebitReturn { at: world.now(), amount, taken });
    returned.failure = Some(refusal.failure());
    returned.enter(CollectionStatus::Returned, world.now());
    world.forget_timers(AnyId::of(id));
    let invoice = returned.invoice_id.and_then(|id| world.find(id));
    let lost = invoice.as_ref().and_then(|it| bad_debts::lost_again(it, amount, world.today()));
    let tax = lost.as_ref().map_or(0, |lost| lost.tax);
    let against = match (&lost, &invoice) {
        (Some(_), _) => Account::BadDebts,
        (None, Some(_)) => Account::AccountsReceivable,
        (None, None) => Account::Sales,
    };
    let of = AnyId::of(id);
    let posting = collecting::debit_returned(of, currency, (against, amount, tax), (from, taken));
    world.post(company, posting);
    let returned = world.record("collection.returned", returned);
    match (lost, invoice) {
        (Some(lost), _) => bad_debts::lose_again(world, lost),
        (None, Some(invoice)) => reopen(world, &invoice, amount),
        (None, None) => {}
    }
    if let Some(mandate) = returned.mandate_id.filter(|_| refusal.ends_mandate()) {
        mandates::withdrawn(world, mandate, refusal);
    }
    if settled && taken > 0 {
        let wallet = world.wallet_for(company, currency);
        if let Some(company) = world.find(company) {
            debited(world, &company, &wallet, before);
        }
    }
}

/// The invoice of a returned payment is due again.
fn reopen(world: &mut World, invoice: &Invoice, amount: i64) {
    let mut invoice = invoice.clone();
    let now = world.now();
    invoice.amount_paid -= amount;
    invoice.amount_due += amount;
    invoice.overdue = invoice.due_date < world.today();
    let status =
        if invoice.amount_paid == 0 { InvoiceStatus::Open } else { InvoiceStatus::PartiallyPaid };
    invoice.enter(status, now);
    invoice.updated_at = now;
    let invoice = world.record("invoice.reopened", invoice);
    invoice_due::watch(world, &invoice);
}

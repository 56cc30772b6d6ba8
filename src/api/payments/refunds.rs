//! Refunds: collected money that is returned to the payer.

use crate::api::business::sales_tax;
use crate::api::payments::wallet_level::debited;
use crate::api::prelude::*;
use crate::model::decision::REFUND_SETTLE;
use crate::model::payments::rails::{RailId, Service, route};
use crate::model::payments::{Collection, Refund, RefundStanding, RefundStatus, Refusal};
use crate::model::posting;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/collections/{collection_id}/refunds",
        summary: "Refund a collection",
        description: "Refunds a part of a paid collection, or everything that remains. A \
            collection can be refunded several times while an amount remains. The amount is \
            debited and reserved at once, and arrives one to five business days later. If the \
            refund fails, the amount returns to the wallet. A refund is booked against sales; the \
            platform fee is not refunded. A disputed collection cannot be refunded.",
        example: r#"{"amount":1000,"reason":"Damaged on the way"}"#,
        success: 201,
        errors: &[ErrorCode::InsufficientFunds, ErrorCode::InvalidStateTransition],
        emits: &[
            "refund.created",
            "tax_liability.created",
            "tax_liability.updated",
            "wallet.debited",
            "wallet.low_balance",
        ],
        starts: &[TaskKind::SettleRefund],
        ..operation!(write create_refund)
    },
    Operation {
        path: "/api/payments/refunds",
        summary: "List refunds",
        description: "Lists refunds, newest first.",
        ..operation!(read list_refunds)
    },
    Operation {
        path: "/api/payments/refunds/{refund_id}",
        summary: "Read a refund",
        description: "Returns a refund with its status and the reason for a failure.",
        ..operation!(get get_refund: Refund)
    },
]);

list! {
    fn list_refunds(ListRefunds) -> Refund, of collection_id;
    filter
        company_id: Id<Company>,
        collection_id: Id<Collection>,
        status: RefundStatus;
    sort created_at, amount;
    newest first;
}

/// The events at the end of a refund.
pub(crate) const SETTLED: &[&str] = &[
    "refund.succeeded",
    "refund.failed",
    "collection.refunded",
    "wallet.credited",
    "tax_liability.created",
    "tax_liability.updated",
];

/// A new refund.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateRefund {
    /// The collection to refund.
    collection_id: Id<Collection>,
    /// Amount in minor units of its currency. Default: everything that remains.
    amount: Option<Amount>,
    /// The reason for the refund.
    reason: Text<500>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_refund(world: &mut World, input: CreateRefund) -> Result<Single<Refund>> {
    let collection = world.get(input.collection_id)?;
    let left = refundable(&collection)?;
    let amount = input.amount.map_or(left, Amount::minor);
    if amount > left || left == 0 {
        let detail = format!(
            "the amount must be at most {left}, the part that has not been \
            returned"
        );
        return Err(ApiError::of_member("/amount", "beyond_captured", detail));
    }
    let (company, currency) = (collection.company_id, collection.currency);
    let available = world.balances(company, currency).available;
    if amount > available {
        let detail = format!(
            "the refund needs {}, but {} is available",
            currency.display(amount),
            currency.display(available)
        );
        let error = ApiError::new(ErrorCode::InsufficientFunds, detail.clone());
        let wallet = world.wallet_of(company, currency);
        let error = wallet.map_or(error.clone(), |wallet| error.about(wallet.id));
        return Err(error.with_errors(vec![Violation::new("/amount", "short", detail)]));
    }
    let (now, payer) = (world.now(), world.get(company)?);
    let invoice = collection.invoice_id.and_then(|id| world.find(id));
    let tax = invoice.map_or(0, |invoice| {
        sales_tax::returned(&invoice, refunds_of(world, &collection).into_iter(), amount)
    });
    let refund = Refund {
        id: world.next_id(collection.id.bits()),
        object: Object::NAME,
        company_id: company,
        collection_id: collection.id,
        status: RefundStatus::Pending,
        payment_rail: rail_back(&payer, &collection),
        amount,
        tax_amount: tax,
        currency,
        reason: input.reason.into_string(),
        failure: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(RefundStatus::Pending, now)].into(),
    };
    let mut collection = (*collection).clone();
    collection.amount_refund_pending += amount;
    collection.updated_at = now;
    let delay = collection.method.refund();
    world.stage(collection);
    let posting = posting::collecting::refund_created(AnyId::of(refund.id), currency, amount, tax);
    world.post(company, posting);
    let refund = world.record("refund.created", refund);
    sales_tax::book(world, company, currency, -tax);
    let wallet = world.wallet_for(company, currency);
    debited(world, &payer, &wallet, available);
    let rail = Some(refund.payment_rail);
    let answer = world.decide_payment(&REFUND_SETTLE, AnyId::of(refund.id), rail, None);
    let failed = answer.code.filter(|_| answer.choice == "failed");
    world.settle_when(delay, answer.after, Task::SettleRefund(refund.id, failed));
    Ok(Data(Shown(refund)))
}

/// By card and mobile money the money travels back by the rail of the payment, otherwise as a bank transfer.
fn rail_back(company: &Company, collection: &Collection) -> RailId {
    if collection.payment_rail.rail().refunds {
        return collection.payment_rail;
    }
    route(Service::BankTransfer, &company.country, collection.currency)
}

/// The amount and tax of each refund of the collection's invoice that has not failed. An invoice can have several collections.
fn refunds_of(world: &World, collection: &Collection) -> Vec<(i64, i64)> {
    let since = world.children::<Collection>(collection.company_id.bits());
    let since = since.filter_map(|id| world.find(id));
    let others = since
        .filter(|other| other.id != collection.id && other.invoice_id == collection.invoice_id);
    let ids: Vec<_> = others.map(|other| other.id).chain([collection.id]).collect();
    let refunds = ids.iter().flat_map(|id| world.children::<Refund>(id.bits()));
    let live = refunds.filter_map(|id| world.find(id));
    let live = live.filter(|refund| refund.status != RefundStatus::Failed);
    live.map(|refund| (refund.amount, refund.tax_amount)).collect()
}

/// The amount that can be refunded.
fn refundable(collection: &Collection) -> Result<i64> {
    let refuse = |detail: String| Err(refused(collection.id, collection.status, detail));
    if !collection.status.is_paid() {
        return refuse("only a paid collection can be refunded".to_owned());
    }
    if collection.disputed {
        return refuse(
            "the collection is disputed: wait for the decision of the payer's bank".to_owned(),
        );
    }
    Ok(collection.left())
}

/// The payer's bank accepts or refuses the refund.
pub(crate) fn settle(world: &mut World, id: Id<Refund>, failed: Option<Refusal>) {
    let pending = world.find(id).filter(|refund| refund.status == RefundStatus::Pending);
    let Some(refund) = pending else { return };
    let collection = world.find(refund.collection_id);
    let mut collection =
        (*collection.expect("a refund has its collection, and nothing is deleted")).clone();
    let (now, mut refund) = (world.now(), (*refund).clone());
    let (company, currency, amount) = (refund.company_id, refund.currency, refund.amount);
    collection.amount_refund_pending -= amount;
    collection.updated_at = now;
    if let Some(code) = failed {
        refund.failure = Some(code.failure());
        refund.enter(RefundStatus::Failed, now);
        world.stage(collection);
        let tax = refund.tax_amount;
        let failed = posting::collecting::refund_failed(AnyId::of(id), currency, amount, tax);
        world.post(company, failed);
        world.record("refund.failed", refund);
        sales_tax::book(world, company, currency, tax);
        let wallet = world.wallet_for(company, currency);
        world.emit_wallet("wallet.credited", &wallet);
        return;
    }
    collection.amount_refunded += amount;
    collection.refund_status = if collection.amount_refunded == collection.amount_received {
        RefundStanding::Refunded
    } else {
        RefundStanding::PartiallyRefunded
    };
    refund.enter(RefundStatus::Succeeded, now);
    let collection: Arc<Collection> = world.stage(collection);
    world.post(company, posting::collecting::refund_succeeded(AnyId::of(id), currency, amount));
    world.record("refund.succeeded", refund);
    world.emit("collection.refunded", &collection);
}

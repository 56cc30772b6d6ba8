//! Collections: create, list, read, cancel. The actions of payers are in `collection_clock`.

use crate::api::business::payroll_people::may_pay;
use crate::api::payments::asking::{Asked, ask, free};
use crate::api::payments::payer::Payer;
use crate::api::payments::wallets::fits;
use crate::api::payments::{collection_clock, mandates};
use crate::api::prelude::*;
use crate::model::payments::{
    Collection, CollectionMethod, CollectionStatus, Invoice, Mandate, Refund, Scope,
};
use crate::world::{HISTORY_MONTHS, INVOICES_A_MONTH};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/collections",
        summary: "List collections",
        description: "Lists collections, newest first, including those of the twelve months before \
            the world's start.",
        ..operation!(read list_collections)
    },
    Operation {
        path: "/api/payments/collections",
        summary: "Create a collection",
        description: "Requests money from a payer. A card payer pays at `checkout_url`. A bank \
            transfer goes to `virtual_account`. A direct debit is paid automatically, and mobile \
            money after a prompt on the phone. The paid amount is `pending` in the wallet of its \
            currency, which is created at first use. The amount is available one business day \
            later, less the platform fee. If the payer pays too little, `amount_received` shows \
            the paid amount. For a direct debit, `mandate_id` can name an active mandate: the \
            payer of the mandate pays. The payer's bank can send a paid direct debit back \
            (`collection.return`) until the time limit of the return code ends.",
        example: r#"{"company_id":"@company:1","amount":250000,"currency":"NGN","method":"card","reference":"ORDER-1001","payer":{"name":"Ngozi Eze","email":"ngozi@example.com"}}"#,
        success: 201,
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::LimitExceeded,
            ErrorCode::CurrencyMismatch,
            ErrorCode::DuplicateReference,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &["collection.created"],
        starts: collection_clock::ASKED,
        ..operation!(write create_collection)
    },
    Operation {
        path: "/api/payments/collections/{collection_id}",
        summary: "Read a collection",
        description: "Returns a collection with its status and the amounts paid and refunded so \
            far. `expand=refunds` adds its refunds.",
        ..operation!(read get_collection)
    },
    Operation {
        path: "/api/payments/collections/{collection_id}/cancel",
        summary: "Cancel a collection",
        description: "Cancels a collection before the payer starts to pay.",
        example: r#"{"reason":"Paid in cash"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["collection.cancelled"],
        ..operation!(write cancel_collection)
    },
]);

list! {
    fn list_collections(ListCollections) -> Collection,
        from |world, input| sold(world, input.company_id), of company_id;
    filter
        company_id: Id<Company>,
        status: CollectionStatus,
        /// Filter by payment method.
        method: CollectionMethod,
        invoice_id: Id<Invoice>,
        mandate_id: Id<Mandate>,
        reference: Text<140>;
    sort created_at, amount, reference;
    newest first;
}

/// The number of grown invoices and collections, and their positions: of all companies or of one.
pub(super) fn sold<T: Grow>(world: &World, company: Option<Id<Company>>) -> Candidates<'_, T> {
    let base = world.base();
    let all = base.count(Kind::Invoice);
    let Some(company) = company else { return Candidates::new(all, Some, world.created()) };
    let index = base.index_of(company).filter(|_| all > 0);
    let grown = index.map_or(0, |_| HISTORY_MONTHS * INVOICES_A_MONTH);
    let find = move |rank| {
        let (month, place) = (rank / INVOICES_A_MONTH, rank % INVOICES_A_MONTH);
        Some(base.invoice(month, index?, place))
    };
    Candidates::new(grown, find, world.children(company.bits()))
}

/// A new collection.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateCollection {
    /// The company that collects.
    company_id: Id<Company>,
    /// Amount in minor units, from 1.
    amount: Amount,
    /// Currency of the amount.
    currency: Currency,
    /// How the payer pays.
    method: CollectionMethod,
    /// The payer. It must be absent if `mandate_id` is given, because the payer of the mandate pays.
    payer: Option<Payer>,
    /// The mandate for a direct debit; requires `method` `direct_debit`. The mandate must be active, belong to the company and have the same
    /// currency.
    mandate_id: Option<Id<Mandate>>,
    /// The company's reference, unique among its open collections.
    reference: Text<140>,
    /// The invoice to collect for. It must belong to the company, have an amount outstanding or written off, and have no other open collection.
    invoice_id: Option<Id<Invoice>>,
    /// When the request expires. Default: one day by card and mobile money, otherwise 30 days.
    expires_at: Option<Timestamp>,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_collection(world: &mut World, input: CreateCollection) -> Result<Single<Collection>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let invoice = input.invoice_id.map(|id| existing(world, id, "/invoice_id")).transpose()?;
    let mandate = input.mandate_id.map(|id| existing(world, id, "/mandate_id")).transpose()?;
    may_pay(world, &company)?;
    let mut wrong = faults(world, &input, invoice.as_deref());
    wrong.extend(mandate.as_ref().map_or_else(Vec::new, |it| faults_of_mandate(&input, it)));
    ApiError::if_any(wrong)?;
    if let Some(mandate) = &mandate {
        mandates::usable(mandate)?;
    }
    if let Some(invoice) = &invoice {
        still_owed(invoice, input.currency)?;
    }
    free(world, company.id, input.reference.as_str())?;
    fits(world, company.id, input.currency, input.amount.minor())?;
    let asked = Asked {
        amount: input.amount.minor(),
        currency: input.currency,
        method: input.method,
        payer: match (&mandate, input.payer) {
            (Some(mandate), _) => mandate.payer.clone(),
            (None, payer) => payer.unwrap_or_default().shown(),
        },
        mandate: input.mandate_id,
        reference: input.reference.into_string(),
        invoice: input.invoice_id,
        expires_at: input.expires_at,
        metadata: input.metadata.unwrap_or_default(),
    };
    if let Some(mandate) = mandate {
        mandates::used(world, &mandate);
    }
    let collection = ask(world, &company, asked);
    Ok(Data(Shown(collection)))
}

/// The violations of the input about its mandate.
fn faults_of_mandate(input: &CreateCollection, mandate: &Mandate) -> Vec<Violation> {
    let mut wrong = Vec::new();
    let mut fault = |pointer: &'static str, code, detail: String| {
        wrong.push(Violation::new(pointer, code, detail));
    };
    if mandate.company_id != input.company_id {
        let detail = format!("the mandate belongs to {}", mandate.company_id);
        fault("/mandate_id", "foreign_mandate", detail);
    }
    if mandate.currency != input.currency {
        let detail = format!("the mandate has the currency {}", mandate.currency);
        fault("/currency", "currency", detail);
    }
    if input.method != CollectionMethod::DirectDebit {
        let detail = "must be direct_debit if mandate_id is given".to_owned();
        fault("/method", "not_a_direct_debit", detail);
    }
    if input.payer.is_some() {
        let detail =
            "must be absent if mandate_id is given: the payer of the mandate pays".to_owned();
        fault("/payer", "contradiction", detail);
    }
    wrong
}

/// The mistakes in its members.
fn faults(world: &World, input: &CreateCollection, invoice: Option<&Invoice>) -> Vec<Violation> {
    let mut wrong = Vec::new();
    let mut fault = |pointer: &'static str, code, detail: String| {
        wrong.push(Violation::new(pointer, code, detail));
    };
    if let Some(until) = input.expires_at.filter(|until| *until <= world.now()) {
        let detail = format!("{until} is in the past: the time is {}", world.now());
        fault("/expires_at", "in_the_past", detail);
    }
    let account = input.payer.as_ref().and_then(|payer| payer.account_number.as_ref());
    let account = account.map(Text::as_str);
    if let Some(Err(detail)) = account.map(|number| Scope::Collections.check_account(number)) {
        fault("/payer/account_number", "code_of_another_rail", detail);
    }
    let Some(invoice) = invoice else { return wrong };
    if invoice.company_id != input.company_id {
        let detail = format!("the invoice belongs to {}", invoice.company_id);
        fault("/invoice_id", "foreign_invoice", detail);
    } else if let Some(due) = invoice.collectable().filter(|due| input.amount.minor() > *due) {
        let detail = format!("at most {due} of the invoice is outstanding");
        fault("/amount", "beyond_due", detail);
    }
    let name = Collection::by_invoice(invoice.id);
    if let Some(other) = world.open_collection(invoice.company_id, &name) {
        let detail = format!("the collection {other} is open for this invoice: cancel it first");
        fault("/invoice_id", "already_asked", detail);
    }
    wrong
}

fn still_owed(invoice: &Invoice, currency: Currency) -> Result<()> {
    if invoice.currency != currency {
        let detail = format!("the invoice has the currency {}, not {currency}", invoice.currency);
        return Err(ApiError::new(ErrorCode::CurrencyMismatch, detail)
            .about(invoice.id)
            .at("/currency", "currency"));
    }
    if invoice.collectable().is_some() {
        return Ok(());
    }
    let detail = "the invoice must be sent and not paid in full".to_owned();
    Err(refused(invoice.id, invoice.status, detail))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneCollection {
    /// The collection.
    collection_id: Id<Collection>,
    /// Related data to include.
    expand: Option<Expand>,
}

/// Related data that can be included with a collection.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ExpandCollection")]
enum Expand {
    /// The refunds, at most the latest 100.
    Refunds,
}

/// Maximum number of refunds included with a collection.
const MOST_EXPANDED: usize = 100;

/// A collection, with its refunds if requested.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CollectionWithRefunds {
    #[serde(flatten)]
    collection: Collection,
    /// The refunds in creation order, with `expand=refunds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    refunds: Option<Vec<Shown<Refund>>>,
}

impl Identified for CollectionWithRefunds {
    fn id_text(&self) -> Option<String> {
        Some(self.collection.id.to_string())
    }
}

fn get_collection(world: &World, input: OneCollection) -> Result<Data<CollectionWithRefunds>> {
    let collection = (*world.get(input.collection_id)?).clone();
    let refunds = input.expand.map(|Expand::Refunds| {
        let last = world.children::<Refund>(collection.id.bits()).rev();
        let mut refunds: Vec<Shown<Refund>> =
            last.take(MOST_EXPANDED).filter_map(|id| world.find(id)).map(Shown).collect();
        refunds.reverse();
        refunds
    });
    Ok(Data(CollectionWithRefunds { collection, refunds }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CancelCollection {
    /// The collection.
    collection_id: Id<Collection>,
    /// The reason, for the status history.
    reason: Option<Text<500>>,
}

fn cancel_collection(world: &mut World, input: CancelCollection) -> Result<Single<Collection>> {
    let collection = world.get(input.collection_id)?;
    step("cancel", "the collection", collection.id, collection.status)?;
    let reason = input.reason.map(Text::into_string);
    let collection = cancel(world, &collection, reason);
    Ok(Data(Shown(collection)))
}

/// Cancels a collection whose payer has not started to pay; the caller has checked this.
pub(crate) fn cancel(
    world: &mut World,
    collection: &Collection,
    reason: Option<String>,
) -> Arc<Collection> {
    let mut collection = collection.clone();
    collection.enter_because(CollectionStatus::Cancelled, world.now(), reason);
    world.forget_timers(AnyId::of(collection.id));
    world.record("collection.cancelled", collection)
}

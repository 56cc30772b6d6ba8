//! Creating a collection: the checks, and the new resource.

use crate::api::payments::collection_clock;
use crate::api::prelude::*;
use crate::model::growth::{accounts, countries};
use crate::model::payments::rails::route;
use crate::model::payments::{
    Collection, CollectionMethod, CollectionPayer, CollectionStatus, Invoice, Mandate,
    RefundStanding, VirtualAccount,
};
use crate::value::id::encode_to_string;

/// Refuses a reference that another open collection of the company has.
pub(super) fn free(world: &World, company: Id<Company>, reference: &str) -> Result<()> {
    let name = Collection::by_reference(reference);
    let Some(other) = world.open_collection(company, &name) else { return Ok(()) };
    let detail = format!("the open collection {other} has this reference");
    let error = ApiError::new(ErrorCode::DuplicateReference, detail).about(other);
    Err(error.at("/reference", "duplicate"))
}

/// The reference for the collection of an invoice: its number, with a suffix if another open collection of the company has it.
pub(super) fn free_reference(world: &World, company: Id<Company>, number: String) -> String {
    let is_taken = |reference: &str| {
        let name = Collection::by_reference(reference);
        world.open_collection(company, &name).is_some()
    };
    if !is_taken(&number) {
        return number;
    }
    let mut others = (2..).map(|count: u32| format!("{number}-{count}"));
    others.find(|reference| !is_taken(reference)).expect("a company has a finite number of them")
}

/// A collection request that passed its checks.
pub(super) struct Asked {
    pub(super) amount: i64,
    pub(super) currency: Currency,
    pub(super) method: CollectionMethod,
    pub(super) payer: CollectionPayer,
    pub(super) reference: String,
    pub(super) invoice: Option<Id<Invoice>>,
    pub(super) mandate: Option<Id<Mandate>>,
    pub(super) expires_at: Option<Timestamp>,
    pub(super) metadata: Metadata,
}

/// Creates the collection, and sets the timer for its payer's action. Emits `collection.created`.
pub(super) fn ask(world: &mut World, company: &Company, asked: Asked) -> Arc<Collection> {
    let now = world.now();
    let id: Id<Collection> = world.next_id(company.id.bits());
    let standing = now.plus_millis(asked.method.standing() * 1_000);
    let transfer = asked.method == CollectionMethod::BankTransfer;
    let card = asked.method == CollectionMethod::Card;
    let collection = Collection {
        id,
        object: Object::NAME,
        company_id: company.id,
        status: CollectionStatus::Pending,
        method: asked.method,
        payment_rail: route(asked.method.service(), &company.country, asked.currency),
        amount: asked.amount,
        currency: asked.currency,
        amount_received: 0,
        fee: 0,
        amount_refunded: 0,
        amount_refund_pending: 0,
        refund_status: RefundStanding::None,
        amount_charged_back: 0,
        disputed: false,
        dispute_id: None,
        payer: asked.payer,
        reference: asked.reference,
        invoice_id: asked.invoice,
        mandate_id: asked.mandate,
        returned: None,
        virtual_account: transfer.then(|| virtual_account(world, company, id)).flatten(),
        checkout_url: card.then(|| {
            let token = encode_to_string(world.base().key().with("checkout").at(id.bits()).hash());
            format!("https://checkout.sandbox.invalid/{token}")
        }),
        failure: None,
        expires_at: Some(asked.expires_at.unwrap_or(standing)),
        created_at: now,
        updated_at: now,
        metadata: asked.metadata,
        status_history: [StatusChange::plain(CollectionStatus::Pending, now)].into(),
    };
    let collection = world.record("collection.created", collection);
    collection_clock::follow(world, &collection);
    collection
}

/// An account for this collection only, at a bank of the company's country.
fn virtual_account(world: &World, company: &Company, id: Id<Collection>) -> Option<VirtualAccount> {
    let country = countries::find(&company.country)?;
    let key = world.base().key().with("virtual account").at(id.bits());
    let account = accounts::bank_account(country, key);
    Some(VirtualAccount {
        bank_name: account.bank_name.to_owned(),
        bank_code: account.bank_code,
        account_number: account.account_number,
        iban: account.iban,
        account_name: company.legal_name.to_string(),
    })
}

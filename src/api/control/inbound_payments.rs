//! Actions of the outside world with money that arrives or is taken back.

use crate::api::payments::collection_clock;
use crate::api::payments::wallets::{fits, room};
use crate::api::prelude::*;
use crate::model::payments::{Collection, CollectionMethod, Dispute, Late, Refusal};
use crate::model::posting;

/// Money that arrives by bank transfer.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct BankTransfer {
    /// The company that receives it.
    company_id: Id<Company>,
    /// Amount in minor units, from 1.
    amount: Amount,
    /// The currency. Default: the collection's, or else the company's.
    currency: Option<Currency>,
    /// The sender; `owner` if absent. A transfer that pays a collection comes from a customer.
    from: Option<Payer>,
    /// The reference of an open collection by bank transfer, which it pays.
    reference: Option<Text<140>>,
    /// The virtual account of an open collection, which it pays.
    account_number: Option<Text<34>>,
}

/// The sender of the money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TransferSender")]
pub(crate) enum Payer {
    /// The owners; booked as equity.
    #[default]
    Owner,
    /// A customer; booked as sales.
    Customer,
}

/// The wallet that received the money, or the collection that was paid.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum Arrived {
    Wallet(Shown<Wallet>),
    Collection(Shown<Collection>),
}

impl Identified for Arrived {
    fn id_text(&self) -> Option<String> {
        match self {
            Self::Wallet(wallet) => wallet.id_text(),
            Self::Collection(collection) => collection.id_text(),
        }
    }
}

pub(super) fn simulate_bank_transfer(
    world: &mut World,
    input: BankTransfer,
) -> Result<Data<Arrived>> {
    let company = existing(world, input.company_id, "/company_id")?;
    if let Some(collection) = meant(world, &input)? {
        return pay_by_transfer(world, &collection, &input).map(Data);
    }
    let currency = input.currency.unwrap_or(company.currency);
    let wallet = world
        .wallet_of(company.id, currency)
        .ok_or_else(|| mismatch(format!("{} has no wallet in {currency}", company.id)))?;
    room(world, &wallet, input.amount.minor())?;
    let from_customer = input.from == Some(Payer::Customer);
    receive(world, &wallet, input.amount.minor(), from_customer);
    let wallet = Shown(Arc::new(world.with_balances(&wallet)));
    Ok(Data(Arrived::Wallet(wallet)))
}

fn mismatch(detail: String) -> ApiError {
    ApiError::new(ErrorCode::CurrencyMismatch, detail).at("/currency", "currency")
}

/// Posts money that belongs to no collection, and emits its event.
fn receive(world: &mut World, wallet: &Wallet, amount: i64, from_customer: bool) {
    let of = AnyId::of(wallet.id);
    let received = posting::bank_transfer_received(of, wallet.currency, amount, from_customer);
    world.post(wallet.company_id, received);
    world.emit_wallet("wallet.credited", wallet);
}

/// The collection that a transfer pays, if it names one.
fn meant(world: &World, input: &BankTransfer) -> Result<Option<Arc<Collection>>> {
    let mut wrong = Vec::new();
    let mut missing = false;
    let mut found: Vec<Id<Collection>> = Vec::new();
    let reference = input.reference.as_ref().map(Text::as_str);
    let account = input.account_number.as_ref().map(Text::as_str);
    let names = [
        ("/reference", reference.map(Collection::by_reference)),
        ("/account_number", account.map(Collection::by_account)),
    ];
    for (pointer, name) in names {
        let Some(name) = name else { continue };
        if let Some(id) = world.open_collection(input.company_id, &name) {
            found.push(id);
        } else {
            missing = true;
            let detail = "no open collection of the company matches";
            wrong.push(Violation::new(pointer, "not_found", detail));
        }
    }
    if missing {
        let detail = "no open collection of the company has this reference or account number";
        return Err(ApiError::new(ErrorCode::ResourceNotFound, detail).with_errors(wrong));
    }
    if found.windows(2).any(|pair| pair[0] != pair[1]) {
        let detail = "this account belongs to another collection than the reference";
        wrong.push(Violation::new("/account_number", "contradiction", detail));
    }
    if !found.is_empty() && input.from == Some(Payer::Owner) {
        let detail = "a transfer that pays a collection must come from a customer";
        wrong.push(Violation::new("/from", "contradiction", detail));
    }
    ApiError::if_any(wrong)?;
    found.first().map(|id| world.get(*id)).transpose()
}

/// The transfer pays a collection. Any excess stays in the wallet as a sale.
fn pay_by_transfer(
    world: &mut World,
    collection: &Collection,
    input: &BankTransfer,
) -> Result<Arrived> {
    let currency = collection.currency;
    if input.currency.is_some_and(|named| named != currency) {
        return Err(mismatch(format!("{} has the currency {currency}", collection.id)));
    }
    by(collection, CollectionMethod::BankTransfer)?;
    step("process", "the collection", collection.id, collection.status)?;
    let amount = input.amount.minor();
    fits(world, collection.company_id, currency, amount)?;
    let (paid, beyond) = (amount.min(collection.amount), amount - collection.amount);
    world.forget_timers(AnyId::of(collection.id));
    let paying = collection_clock::begin(world, collection.clone());
    let paid = collection_clock::succeed(world, (*paying).clone(), paid);
    if beyond > 0 {
        let wallet = world.wallet_for(collection.company_id, currency);
        receive(world, &wallet, beyond, true);
    }
    Ok(Arrived::Collection(Shown(paid)))
}

fn by(collection: &Collection, method: CollectionMethod) -> Result<()> {
    if collection.method == method {
        return Ok(());
    }
    let detail = "this collection is not paid by bank transfer".to_owned();
    Err(refused(collection.id, collection.status, detail))
}

/// The result of a payment by card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CardOutcome {
    #[default]
    Paid,
    Declined,
}

/// A payment at the checkout.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CardPayment {
    /// The collection by card.
    collection: Id<Collection>,
    /// The result; paid if absent.
    #[serde(default)]
    outcome: CardOutcome,
}

pub(super) fn simulate_card_payment(
    world: &mut World,
    input: CardPayment,
) -> Result<Single<Collection>> {
    let collection = world.get(input.collection)?;
    by(&collection, CollectionMethod::Card)?;
    step("process", "the collection", collection.id, collection.status)?;
    let paid = input.outcome == CardOutcome::Paid;
    if paid {
        let (company, currency) = (collection.company_id, collection.currency);
        fits(world, company, currency, collection.amount)?;
    }
    world.forget_timers(AnyId::of(collection.id));
    let paying = collection_clock::begin(world, (*collection).clone());
    if paid {
        collection_clock::succeed(world, (*paying).clone(), collection.amount);
    } else {
        let refusal = Refusal::because(paying.payment_rail, "insufficient_funds", Late::No);
        collection_clock::fail(world, (*paying).clone(), refusal.failure());
    }
    crate::api::crud::show(world, input.collection)
}

/// The payer's bank takes money back.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Chargeback {
    /// The collection that is charged back.
    collection: Id<Collection>,
    /// Amount in minor units of its currency. Default: everything that has not been returned yet.
    amount: Option<Amount>,
    /// The reason given by the payer's bank.
    reason: Option<Text<500>>,
}

pub(super) fn simulate_chargeback(world: &mut World, input: Chargeback) -> Result<Single<Dispute>> {
    let collection = world.get(input.collection)?;
    let refuse = |detail: &str| {
        let detail = detail.to_owned();
        Err(refused(collection.id, collection.status, detail))
    };
    if !collection.status.is_paid() {
        return refuse("only a paid collection can be charged back");
    }
    if collection.disputed {
        return refuse("a dispute about this collection is already open");
    }
    let left = collection.left();
    let amount = input.amount.map_or(left, Amount::minor);
    if amount > left || left == 0 {
        let detail = format!(
            "the amount must be at most {left}, the part that has not been \
            returned"
        );
        return Err(ApiError::of_member("/amount", "beyond_captured", detail));
    }
    let reason = input
        .reason
        .map_or_else(|| "the payer does not recognise the payment".to_owned(), Text::into_string);
    let dispute = collection_clock::dispute(world, &collection, amount, reason);
    Ok(Data(Shown(dispute)))
}

//! The outside world acting: money that arrives without a call of the product.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::api::operation::{Contract, Domain, Method, Operation, answer, decode, operation};
use crate::api::payments::wallets::room;
use crate::api::reply::{Data, Reply, Shown};
use crate::model::AnyId;
use crate::model::business::company::Company;
use crate::model::payments::wallet::Wallet;
use crate::model::posting;
use crate::value::error::{ApiError, ErrorCode, Violation};
use crate::value::id::Id;
use crate::value::money::{Amount, Currency};
use crate::value::text::Text;
use crate::world::World;

pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    method: Method::Post,
    path: "/_sandbox/inbound/{kind}",
    domain: Domain::Sandbox,
    contract: Contract::Control,
    summary: "Let the outside world act",
    description: "`bank_transfer`: money arrives in a company's wallet, from its owners (equity) or from a customer (sales). Other \
        kinds come with their domains and are a 404 until then.",
    example: r#"{"kind":"bank_transfer","company_id":"@company:1","amount":500000,"from":"owner"}"#,
    errors: &[ErrorCode::LimitExceeded, ErrorCode::CurrencyMismatch],
    emits: &["wallet.credited"],
    ..operation!(write receive)
}];

/// Something that the outside world does.
pub(crate) struct Inbound {
    /// `{kind}` in the path, `inbound` in a scenario's timeline.
    pub(crate) kind: &'static str,
    pub(crate) receive: fn(&mut World, Value) -> Result<Reply, ApiError>,
}

/// Everything that the outside world can do.
pub(crate) const INBOUND: &[Inbound] = &[Inbound {
    kind: "bank_transfer",
    receive: |world, input| answer(bank_transfer(world, decode(input)?)),
}];

/// What the outside world does by that name.
pub(crate) fn row(kind: &str) -> Result<&'static Inbound, ApiError> {
    INBOUND.iter().find(|row| row.kind == kind).ok_or_else(|| {
        let known: Vec<&str> = INBOUND.iter().map(|row| row.kind).collect();
        let detail = format!(
            "nothing of the kind {kind:?} arrives in this version: {} does",
            known.join(", ")
        );
        ApiError::new(ErrorCode::ResourceNotFound, detail)
    })
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Receive {
    /// What happens: `bank_transfer`.
    kind: Text<32>,
    #[serde(flatten)]
    transfer: BankTransfer,
}

/// Money that arrives.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct BankTransfer {
    /// The company that receives it.
    company_id: Id<Company>,
    /// Minor units.
    amount: Amount,
    /// The currency; the company's own if absent.
    currency: Option<Currency>,
    /// Whose money it is; the owners' if absent.
    from: Option<Payer>,
}

/// Whose money arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Payer {
    /// The owners': equity.
    #[default]
    Owner,
    /// A customer's: sales.
    Customer,
}

fn receive(world: &mut World, input: Receive) -> Result<Data<Shown<Wallet>>, ApiError> {
    row(input.kind.as_str())?; // there is one kind, whose input this is
    bank_transfer(world, input.transfer)
}

fn bank_transfer(world: &mut World, input: BankTransfer) -> Result<Data<Shown<Wallet>>, ApiError> {
    let company = world.get(input.company_id)?;
    let currency = input.currency.unwrap_or(company.currency);
    let wallet = world.wallet_of(company.id, currency).ok_or_else(|| {
        let detail = format!("{} has no wallet in {currency}", company.id);
        ApiError::new(ErrorCode::CurrencyMismatch, detail).with_errors(vec![Violation::new(
            "/currency",
            "currency",
            "no wallet of the company is in it",
        )])
    })?;
    room(world, &wallet, input.amount.minor())?;
    let from_customer = input.from == Some(Payer::Customer);
    let received = posting::bank_transfer_received(
        AnyId::of(wallet.id),
        currency,
        input.amount.minor(),
        from_customer,
    );
    world.post(company.id, received);
    world.emit_wallet("wallet.credited", &wallet);
    Ok(Data(Shown(Arc::new(world.with_balances(&wallet)))))
}

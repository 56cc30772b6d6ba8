//! Actions of the outside world, such as money that arrives without a call of the product API.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::api::capital::deal_verbs;
use crate::api::control::inbound_payments;
use crate::api::identity::screenings::watchlist_hit;
use crate::api::operation::{self, answer, decode};
use crate::api::payments::statement_line::statement_line;
use crate::api::prelude::*;
use crate::api::reply::{IntoReply, Reply};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/inbound/{kind}",
    summary: "Simulate the outside world",
    description: "Simulates an action of the outside world. The body's form depends on the kind. \
        `bank_transfer`: money arrives in a company's wallet, from its owners (equity) or a \
        customer (sales). With a `reference` or `account_number` it pays the open collection that \
        has it; the amount may be lower, equal or higher. `card_payment`: the payer of a \
        collection by card pays now, or the payment fails. `chargeback`: the payer's bank takes \
        collected money back. `statement_line`: the bank reports one line for a wallet's account, \
        which is matched with the books. `watchlist_hit`: adds a name to a watchlist, of a \
        subject or any other. `investor_reply`: the investor of a deal is interested, or \
        declines, which ends the deal.",
    example: r#"{"kind":"bank_transfer","company_id":"@company:1","amount":500000,"from":"owner"}"#,
    errors: &[
        ErrorCode::LimitExceeded,
        ErrorCode::CurrencyMismatch,
        ErrorCode::InvalidStateTransition,
    ],
    emits: &[
        "wallet.credited",
        "wallet.created",
        "collection.processing",
        "collection.succeeded",
        "collection.failed",
        "invoice.partially_paid",
        "invoice.paid",
        "tax_liability.created",
        "tax_liability.updated",
        "dispute.created",
        "wallet.debited",
        "wallet.low_balance",
        "bank_statement.created",
        "deal.investor_replied",
        "deal.lost",
        "watchlist_entry.added",
    ],
    starts: &[
        TaskKind::SettleCollection,
        TaskKind::ChargeBack,
        TaskKind::DisputeUnanswered,
        TaskKind::ImportStatement,
        TaskKind::LiabilityDue,
    ],
    ..operation!(write receive)
}]);

/// An action of the outside world.
pub(crate) struct Inbound {
    /// `{kind}` in the path, and `inbound` in a scenario's timeline.
    pub(crate) kind: &'static str,
    pub(crate) receive: fn(&mut World, Value) -> Result<Reply>,
    /// Its input other than the kind, and its result.
    pub(crate) input: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) output: fn(&mut SchemaGenerator) -> Schema,
}

/// A row from its handler, whose type defines input and result.
macro_rules! inbound {
    ($kind:literal $handler:path) => {
        Inbound {
            kind: $kind,
            receive: |world, input| answer($handler(world, decode(input)?)),
            input: |generator| operation::input_of_write($handler, generator),
            output: |generator| operation::output_of_write($handler, generator),
        }
    };
}

/// All actions of the outside world.
pub(crate) const INBOUND: &[Inbound] = &[
    inbound!("bank_transfer" inbound_payments::bank_transfer),
    inbound!("card_payment" inbound_payments::card_payment),
    inbound!("chargeback" inbound_payments::chargeback),
    inbound!("statement_line" statement_line),
    inbound!("investor_reply" deal_verbs::investor_reply),
    inbound!("watchlist_hit" watchlist_hit),
];

/// The action with that name.
pub(crate) fn row(kind: &str) -> Result<&'static Inbound> {
    INBOUND.iter().find(|row| row.kind == kind).ok_or_else(|| {
        let known: Vec<&str> = INBOUND.iter().map(|row| row.kind).collect();
        let detail = format!("unknown kind {kind:?}: use one of {}", known.join(", "));
        ApiError::new(ErrorCode::ResourceNotFound, detail)
    })
}

/// A kind and its input: one form per row, selected by `kind`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Receive(Map<String, Value>);

impl JsonSchema for Receive {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Receive".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let form = |row: &Inbound| {
            let mut form = (row.input)(generator).to_value();
            form["properties"]["kind"] = json!({ "type": "string", "const": row.kind });
            match form.get_mut("required").and_then(Value::as_array_mut) {
                Some(required) => required.push("kind".into()),
                None => form["required"] = json!(["kind"]),
            }
            form
        };
        let forms: Vec<Value> = INBOUND.iter().map(form).collect();
        json_schema!({ "oneOf": forms })
    }
}

/// The result of a verification.
pub(crate) struct Received(Reply);

impl IntoReply for Received {
    fn into_reply(self) -> Reply {
        self.0
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        // One envelope, whose resource depends on the kind.
        let mut resources: Vec<Value> = Vec::new();
        for row in INBOUND {
            let mut data = (row.output)(generator).to_value()["properties"]["data"].take();
            let forms = data.get_mut("anyOf").map(Value::take);
            let forms = forms.and_then(|forms| forms.as_array().cloned()).unwrap_or(vec![data]);
            for form in forms {
                if !resources.contains(&form) {
                    resources.push(form);
                }
            }
        }
        json_schema!({ "type": "object", "properties": { "data": { "anyOf": resources } }, "required": ["data"] })
    }
}

fn receive(world: &mut World, input: Receive) -> Result<Received> {
    let mut members = input.0;
    let kind = members.remove("kind");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    let row = row(kind)?;
    (row.receive)(world, Value::Object(members)).map(Received)
}

//! Escrows: created, funded, released, disputed, ended.

mod clock;
mod disputes;
mod refusals;
mod states;

use serde_json::{Value, json};

use crate::harness::Answer;
use crate::harness::world::{id, number};
use crate::payouts::{Payer, with};

const ESCROWS: &str = "/api/payments/escrows";

fn body(payer: &Payer) -> Value {
    json!({"company_id": payer.company, "buyer_wallet_id": payer.wallet, "seller_beneficiary_id": payer.beneficiary,
        "amount": 90_000, "currency": "NGN"})
}

/// Two parts, of 30,000 and 60,000.
fn parts() -> Value {
    json!({"milestones": [{"name": "Design", "amount": 30_000}, {"name": "Delivery", "amount": 60_000}]})
}

/// An escrow of 90,000, with the members of `more` over the usual body.
fn agree(payer: &Payer, more: &Value) -> Value {
    payer.caller.post(ESCROWS, &with(body(payer), more)).made()
}

fn act(payer: &Payer, escrow: &Value, verb: &str, body: &Value) -> Answer {
    payer.caller.post(&format!("{ESCROWS}/{}/{verb}", id(escrow)), body)
}

fn funded(payer: &Payer, more: &Value) -> Value {
    let escrow = agree(payer, more);
    act(payer, &escrow, "fund", &json!({})).data()
}

fn now(payer: &Payer, escrow: &Value) -> Value {
    payer.caller.get(&format!("{ESCROWS}/{}", id(escrow))).data()
}

/// Held, released and refunded.
fn sums(escrow: &Value) -> [i64; 3] {
    ["held", "released", "refunded"].map(|member| number(&escrow[member]))
}

/// A funded escrow that is disputed.
fn disputed(payer: &Payer, more: &Value) -> Value {
    let escrow = funded(payer, more);
    let body = json!({"raised_by": "buyer", "reason": "The goods are broken"});
    act(payer, &escrow, "dispute", &body).data()
}

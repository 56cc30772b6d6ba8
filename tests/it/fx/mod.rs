//! Wallets and their statements, the platform fee, and currency exchange.

mod abroad;
mod fee_months;
mod fees;
mod quotes;
mod rates;
mod statements;
mod transfers;

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Answer, Caller};

const QUOTES: &str = "/api/payments/fx-quotes";
const TRANSFERS: &str = "/api/payments/fx-transfers";

/// The Nigerian company of a default world.
fn company(caller: &Caller) -> String {
    caller.company(0)
}

fn quote_of(caller: &Caller, body: &Value) -> Answer {
    let mut whole =
        json!({"company_id": company(caller), "source_currency": "NGN", "target_currency": "GBP"});
    for (name, value) in body.as_object().unwrap() {
        whole[name] = value.clone();
    }
    caller.post(QUOTES, &whole)
}

/// A quote for an amount of kobo in pounds.
fn quote(caller: &Caller, amount: i64) -> Value {
    quote_of(caller, &json!({"source_amount": amount})).expect(201)["data"].take()
}

fn wallets(caller: &Caller, company: &str) -> Vec<Value> {
    caller.all(&format!("/api/payments/wallets?company_id={company}"))
}

/// The company's wallet of this currency.
fn wallet(caller: &Caller, company: &str, currency: &str) -> Value {
    let mut wallets = wallets(caller, company).into_iter();
    wallets.find(|it| it["currency"] == currency).expect("a wallet")
}

fn transfer_of(caller: &Caller, quote: &Value) -> Answer {
    let wallet = wallet(caller, &company(caller), "NGN");
    caller.post(TRANSFERS, &json!({"quote_id": id(quote), "source_wallet_id": id(&wallet)}))
}

fn transfer(caller: &Caller, quote: &Value) -> Value {
    transfer_of(caller, quote).expect(201)["data"].take()
}

fn read(caller: &Caller, transfer: &Value) -> Value {
    caller.get(&format!("{TRANSFERS}/{}", id(transfer))).data()
}

fn give(caller: &Caller, company: &str, amount: i64, currency: &str) {
    let body = json!({"company_id": company, "amount": amount, "currency": currency});
    caller.post("/_sandbox/inbound/bank_transfer", &body).expect(200);
}

fn code(answer: &Answer) -> String {
    answer.json()["code"].as_str().unwrap_or_default().to_owned()
}

/// Pointers and codes of a refusal.
fn violations(answer: &Answer) -> Vec<(String, String)> {
    let body = answer.json();
    let errors = body["errors"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |one: &Value| (text(&one["pointer"]), text(&one["code"]));
    errors.iter().map(of).collect()
}

/// Balances by currency and account.
type Nets = std::collections::BTreeMap<(String, String), i64>;

/// Debits less credits of every account of a company, by currency and account.
fn nets(caller: &Caller, company: &str) -> Nets {
    let day = caller.now()[..10].to_owned();
    let path = format!("/api/business/reports/trial-balance?company_id={company}&as_of={day}");
    let report = caller.get(&path).data();
    assert_eq!(report["balanced"], true);
    let rows = report["accounts"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.iter()
        .map(|row| {
            let net = number(&row["debit_balance"]) - number(&row["credit_balance"]);
            ((text(&row["currency"]), text(&row["account"])), net)
        })
        .collect()
}

/// All reports agree: assets less liabilities are equity, and cash flows explain the cash.
fn reports_close(caller: &Caller, company: &str) {
    caller.audit();
    let day = caller.now()[..10].to_owned();
    let report = |name: &str, days: &str| {
        let path = format!("/api/business/reports/{name}?company_id={company}&{days}");
        caller.get(&path).data()
    };
    let sheet = report("balance-sheet", &format!("as_of={day}"));
    let of = |member: &str| number(&sheet[member]);
    assert_eq!(of("total_assets") - of("total_liabilities"), of("total_equity"));
    let equity: i64 =
        sheet["equity"].as_array().unwrap().iter().map(|line| number(&line["amount"])).sum();
    let difference = of("total_equity") - equity - of("current_earnings");
    assert_eq!(difference, of("translation_difference"));
    let flow = report("cash-flow", &format!("from=2026-01-01&to={day}"));
    let of = |member: &str| number(&flow[member]);
    assert_eq!(
        of("opening_cash") + of("net_change") + of("exchange_difference"),
        of("closing_cash")
    );
}

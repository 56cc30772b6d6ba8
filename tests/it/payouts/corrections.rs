//! Notifications of change: money arrives, and the receiving bank corrects the account details.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{BENEFICIARIES, PAYOUTS, wallet};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::server::Server;
use crate::harness::world::id;

struct Sender {
    caller: Caller,
    company: String,
    wallet: String,
    payee: String,
}

impl Sender {
    fn new() -> Self {
        let flags = ["--companies", "1", "--countries", "US", "--clock", "manual"];
        let caller = Caller::of(&Arc::new(Server::start(&flags)));
        let company = caller.company(0);
        let account = json!({
            "bank_code": "021000021", "account_number": "9999999900", "country": "US", "currency": "USD",
        });
        let payee = json!({
            "company_id": company, "name": "Ada Obi", "type": "individual", "account": account,
        });
        let payee = id(&caller.post(BENEFICIARIES, &payee).made()).to_owned();
        caller.advance(&json!({"by": "1d"}));
        let wallet = wallet(&caller, &company);
        Self { caller, company, wallet, payee }
    }

    fn send(&self, rail: &str, scenario: &str) -> Answer {
        let body = json!({
            "company_id": self.company, "wallet_id": self.wallet, "beneficiary_id": self.payee,
            "amount": 10_000, "currency": "USD", "rail": rail, "reference": "Invoice 1",
        });
        let request = self.caller.request("POST", PAYOUTS).json(&body);
        self.caller.send(&request.header("Sandbox-Scenario", scenario))
    }

    fn now(&self, payout: &Value) -> Value {
        self.caller.get(&format!("{PAYOUTS}/{}", id(payout))).data()
    }
}

/// Nacha Operating Rules, change codes: C01 account number, C02 routing number, C03 both, C04 name. The entry itself posts:
/// <https://jackhenry.dev/payments-orchestrator/docs/payments/payments-1/noc-and-return-ach-codes/>.
#[test]
fn the_code_says_which_details_the_bank_reports() {
    let sender = Sender::new();
    for (code, bank_code, number) in
        [("C01", false, true), ("C02", true, false), ("C03", true, true), ("C04", false, false)]
    {
        let scenario = format!("payout.settle=paid_then_corrected;code={code};after=1d");
        let payout = sender.send("standard", &scenario).made();
        let events = sender.caller.advance(&json!({"by": "20d"}));
        let places = ["payout.paid", "payout.account_corrected"]
            .map(|name| events.iter().position(|event| event == name).expect(name));
        assert!(places[0] < places[1]);
        let payout = sender.now(&payout);
        assert_eq!((&payout["status"], &payout["failure"]), (&json!("paid"), &Value::Null));
        let correction = &payout["correction"];
        assert_eq!(correction["code"], code);
        assert!(correction["message"].as_str().unwrap().ends_with("wrong"), "{correction}");
        assert_eq!(correction["bank_code"].is_string(), bank_code, "{correction}");
        assert_eq!(correction["account_number"].is_string(), number, "{correction}");
        if bank_code && number {
            // The reported account is valid.
            let account = json!({
                "bank_code": correction["bank_code"], "account_number": correction["account_number"],
                "country": "US", "currency": "USD",
            });
            let payee = json!({
                "company_id": sender.company, "name": "Ada Obi", "type": "individual", "account": account,
            });
            sender.caller.post(BENEFICIARIES, &payee).expect(201);
        }
    }
    sender.caller.audit();
}

#[test]
fn the_default_is_the_first_change_code_of_the_rail_or_none() {
    let sender = Sender::new();
    for (rail, code) in [("standard", json!("C01")), ("instant", Value::Null)] {
        let payout = sender.send(rail, "payout.settle=paid_then_corrected").made();
        sender.caller.advance(&json!({"by": "20d"}));
        let correction = sender.now(&payout)["correction"].take();
        assert_eq!(correction["code"], code);
        assert!(correction["account_number"].is_string(), "{correction}");
    }
    let plain = sender.send("standard", "payout.settle=paid").made();
    sender.caller.advance(&json!({"by": "20d"}));
    assert!(sender.now(&plain).get("correction").is_none());
}

#[test]
fn codes_of_returns_are_no_change_codes() {
    let sender = Sender::new();
    let before = sender.caller.digest();
    for wrong in ["payout.settle=paid_then_corrected;code=R02", "payout.settle=returned;code=C01"] {
        assert_eq!(sender.send("standard", wrong).status, 400, "{wrong}");
    }
    let rule = json!({
        "match": {"decision": "payout.settle"}, "outcome": {"then": "paid_then_corrected", "code": "R02"},
    });
    let refused = sender.caller.post("/_sandbox/rules", &rule).refused(422, "validation_failed");
    assert_eq!(pointers(&refused), ["/outcome/code"]);
    assert_eq!(sender.caller.digest(), before);
}

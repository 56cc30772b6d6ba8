//! What `sandbox share --redact` takes out of a line.

use serde_json::{Value, json};

use super::{of, open};
use crate::harness::Caller;

/// Texts that a person could have written. Each is in one call below.
const PRIVATE: [&str; 22] = [
    "zq-first",
    "zq-last",
    "zq-phone",
    "zq-number",
    "zq-post",
    "zq-city",
    "zq-external",
    "zq-meta",
    "zq-value",
    "zq-maker",
    "zq-approver",
    "zq-note",
    "zq-role",
    "zq-department",
    "zq-reason",
    "zq-where",
    "zq-key",
    "zq-registration",
    "zq-tax",
    "zq-industry-x y",
    "zq-account-name",
    "zq-reference",
];

fn inputs(caller: &Caller) -> String {
    caller.get("/_sandbox/inputs").data().to_string()
}

#[test]
fn a_redacted_line_has_no_text_of_a_person_in_any_member_or_header() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let subject = json!({"type": "person", "name": {"first": "zq-first", "last": "zq-last"}, "country": "NG",
        "phone": "zq-phone", "external_id": "zq-external", "metadata": {"zq-meta": "zq-value"},
        "address": {"line1": "Marina1", "city": "zq-city", "postal_code": "zq-post", "country": "NG"},
        "id_numbers": [{"type": "bvn", "value": "zq-number", "country": "NG"}]});
    let request = caller.request("POST", "/api/identity/subjects").json(&subject);
    caller.send(&request.header("Idempotency-Key", "zq-key")).made();
    let employee = json!({"company_id": company, "name": "zq-last", "role": "zq-role", "department": "zq-department",
        "start_date": "2026-02-02"});
    let employee = caller.post("/api/business/employees", &employee).made();
    let path = format!("/api/business/employees/{}/terminate", employee["id"].as_str().unwrap());
    caller
        .post(&path, &json!({"reason": "zq-reason", "last_working_day": "2026-03-02"}))
        .expect(200);
    let created = json!({"legal_name": "zq-last", "country": "NG", "currency": "NGN", "industry": "zq-industry-x y",
        "registration_number": "zq-registration", "tax_id": "zq-tax"});
    caller.post("/api/business/companies", &created).made();
    let account = json!({"bank_code": "011", "account_number": "9999999900", "account_name": "zq-account-name",
        "country": "NG", "currency": "NGN"});
    let beneficiary = json!({"company_id": company, "name": "zq-account-name", "type": "business", "account": account});
    let beneficiary = caller.post("/api/payments/beneficiaries", &beneficiary).made();
    caller.advance(&json!({"by": "1m"}));
    let wallet =
        caller.all(&format!("/api/payments/wallets?company_id={company}"))[0]["id"].clone();
    let payout = json!({"company_id": company, "wallet_id": wallet, "beneficiary_id": beneficiary["id"], "amount": 250_000,
        "currency": "NGN", "rail": "instant", "reference": "zq-reference", "maker": "zq-maker"});
    caller.post("/api/payments/payouts", &payout).made();
    let rule = json!({"match": {"decision": "payout.settle", "where": {"reference": "zq-where"}}, "outcome": {"then": "returned"}});
    caller.post("/_sandbox/rules", &rule).expect(201);
    let run = caller
        .post("/api/business/payroll-runs", &json!({"company_id": company, "period": "2026-01"}))
        .made();
    let path =
        |verb: &str| format!("/api/business/payroll-runs/{}/{verb}", run["id"].as_str().unwrap());
    caller.post(&path("calculate"), &json!({})).expect(202);
    caller.advance(&json!({"by": "1m"}));
    caller
        .post(&path("approve"), &json!({"approver": "zq-approver", "note": "zq-note"}))
        .expect(200);

    let before = inputs(&caller);
    for text in PRIVATE {
        assert!(before.contains(text), "{text} is in no call");
    }
    let (code, line, stderr) = of(&caller, &["share", "--key", caller.key(), "--redact"]);
    assert_eq!(code, 0, "{stderr}");
    let again = open(line.trim());
    let after = inputs(&again);
    for text in PRIVATE {
        assert!(!after.contains(text), "{text}: {after}");
    }
    for kept in ["9999999900", "011", "payout.settle", "instant", "2026-02-02", "bvn", &company] {
        assert!(after.contains(kept), "{kept}: {after}");
    }
    let people = |caller: &Caller| -> Vec<Value> { caller.all("/api/identity/subjects") };
    assert_eq!(people(&again).len(), people(&caller).len());
}

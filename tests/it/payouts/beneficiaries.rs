//! Beneficiaries: the rules of accounts, and the bank's answers about their holders.

use serde_json::{Value, json};

use super::{BENEFICIARIES, Payer, faults, history, with};
use crate::harness::world::id;

fn account(country: &str, bank_code: Option<&str>, number: &str) -> Value {
    let mut account = json!({"account_number": number, "country": country, "currency": "EUR"});
    if let Some(code) = bank_code {
        account["bank_code"] = json!(code);
    }
    json!({"account": account})
}

fn asked(payer: &Payer, account: &Value, outcome: &str) -> Value {
    let body = with(payer.payee_body("9999999900"), account);
    let request = payer.caller.request("POST", BENEFICIARIES).json(&body);
    let request = request.header("Sandbox-Scenario", &format!("beneficiary.check={outcome}"));
    payer.caller.send(&request).made()
}

#[test]
fn an_account_is_resolved_after_half_a_minute_and_its_number_stays_hidden() {
    let payer = Payer::manual();
    let made = payer.caller.post(BENEFICIARIES, &payer.payee_body("0000014579"));
    let location = made.header("location").unwrap().to_owned();
    let made = made.made();
    assert_eq!(made["status"], "pending");
    assert_eq!(made["name_match"], Value::Null);
    payer.caller.advance(&json!({"by": "29s"}));
    assert_eq!(payer.beneficiary_now(id(&made))["status"], "pending");
    let events = payer.caller.advance(&json!({"by": "1s"}));
    assert_eq!(events, ["beneficiary.verified"]);
    let answer = payer.caller.get(&location);
    assert!(!answer.text().contains("0000014579"), "{}", answer.text());
    let beneficiary = answer.data();
    assert_eq!(beneficiary["account"]["account_last4"], "4579");
    assert_eq!(beneficiary["account"]["bank_name"], "First Bank of Nigeria");
    assert_eq!(beneficiary["name_match"]["result"], "match");
    assert_eq!(beneficiary["name_match"]["score"], 100);
    assert_eq!(beneficiary["name_match"]["account_name"], "ADAEZE OBI");
    assert_eq!(history(&beneficiary), ["pending", "verified"]);
    let events = payer.caller.get("/_sandbox/events?per_page=100&sort=sequence");
    assert!(!events.text().contains("0000014579"));
}

#[test]
fn a_number_that_breaks_the_rule_of_its_country_is_refused_with_the_member() {
    let payer = Payer::instant();
    let digest = payer.caller.digest();
    let (code, number) = ("/account/bank_code", "/account/account_number");
    for (sent, pointer, kind) in [
        (account("DE", None, "DE88370400440532013000"), number, "check_digit"),
        (account("DE", None, "DE8937040044053201300"), number, "shape"),
        (account("FR", None, "DE89370400440532013000"), number, "country"),
        (account("NG", Some("011"), "0000014578"), number, "check_digit"),
        (account("NG", Some("011"), "000001457"), number, "shape"),
        (account("NG", None, "0000014579"), code, "required"),
        (account("US", Some("021000022"), "123456789"), code, "check_digit"),
        (account("GB", Some("60161"), "31926819"), code, "shape"),
        (account("GB", Some("601613"), "3192681"), number, "shape"),
        (account("ZM", Some("010123"), "1 2 3 4"), number, "shape"),
    ] {
        let answer = payer.caller.post(BENEFICIARIES, &with(payer.payee_body("x"), &sent));
        let problem = answer.refused(422, "validation_failed");
        assert_eq!(faults(&problem), [(pointer, kind)], "{sent}");
    }
    assert_eq!(payer.caller.digest(), digest);
    for sent in [
        account("DE", None, "DE89370400440532013000"),
        account("US", Some("021000021"), "123456789"),
        account("GB", Some("601613"), "31926819"),
        account("ZM", Some("010123"), "0123456789"),
        account("ZM", None, "9999999902"),
    ] {
        let body = with(payer.payee_body("x"), &sent);
        payer.caller.post(BENEFICIARIES, &body).made();
    }
}

#[test]
fn all_faults_of_a_beneficiary_are_listed_together() {
    let payer = Payer::instant();
    let body = json!({"name": "", "type": "robot", "account": {"country": "Nigeria", "currency": "ZZZ"}, "colour": "red"});
    let problem = payer.caller.post(BENEFICIARIES, &body);
    let problem = problem.refused(422, "validation_failed");
    let mut found: Vec<&str> = faults(&problem).into_iter().map(|(at, _)| at).collect();
    found.sort_unstable();
    let wanted = [
        "/account/account_number",
        "/account/country",
        "/account/currency",
        "/colour",
        "/company_id",
        "/name",
        "/type",
    ];
    assert_eq!(found, wanted, "{problem}");
    let missing = with(payer.payee_body("9999999900"), &json!({"company_id": "com_0000000000000"}));
    let problem = payer.caller.post(BENEFICIARIES, &missing);
    let problem = problem.refused(404, "resource_not_found");
    assert_eq!(faults(&problem), [("/company_id", "not_found")]);
}

#[test]
fn a_beneficiary_whose_name_does_not_match_is_rejected() {
    let payer = Payer::instant();
    let named = |name: &str| {
        let mut body = payer.payee_body("0000014579");
        body["account"]["account_name"] = json!(name);
        let made = payer.caller.post(BENEFICIARIES, &body).made();
        payer.beneficiary_now(id(&made))
    };
    let part = named("A. Obi");
    assert_eq!(part["status"], "verified");
    assert_eq!(part["name_match"]["result"], "partial_match");
    assert_eq!(part["name_match"]["account_name"], "A. OBI");
    let other = named("Grace Wanjiru");
    assert_eq!(other["status"], "rejected");
    assert_eq!(other["failure"]["code"], "name_mismatch");
    assert_eq!(other["name_match"]["result"], "no_match");
    assert_eq!(other["name_match"]["account_name"], "GRACE WANJIRU");
}

#[test]
fn a_decision_can_give_an_account_any_result() {
    let payer = Payer::instant();
    for (outcome, status, known) in [
        ("match", "verified", true),
        ("name_mismatch", "rejected", true),
        ("account_closed", "rejected", false),
        ("account_not_found", "rejected", false),
    ] {
        let made = asked(&payer, &json!({}), outcome);
        let beneficiary = payer.beneficiary_now(id(&made));
        assert_eq!(beneficiary["status"], status, "{outcome}");
        assert_eq!(beneficiary["name_match"].is_object(), known, "{outcome}");
        if status == "rejected" {
            assert_eq!(beneficiary["failure"]["code"], outcome);
            assert_eq!(beneficiary["status_history"][1]["reason"], outcome);
        } else {
            assert_eq!(beneficiary["failure"], Value::Null);
        }
    }
    let mut late = payer.payee_body("9999999900");
    late["name"] = json!("Late Payee");
    let made = asked(&payer, &late, "match;after=2d");
    assert_eq!(payer.beneficiary_now(id(&made))["status"], "pending");
    payer.caller.advance(&json!({"by": "2d"}));
    assert_eq!(payer.beneficiary_now(id(&made))["status"], "verified");
    payer.caller.audit();
}

#[test]
fn a_manual_transition_can_come_before_the_banks_answer() {
    let payer = Payer::manual();
    for (to, reason, code) in [
        ("verified", "", Value::Null),
        ("rejected", "", json!("name_mismatch")),
        ("rejected", "account_closed", json!("account_closed")),
        ("rejected", "account_not_found", json!("account_not_found")),
    ] {
        let made = payer.caller.post(BENEFICIARIES, &payer.payee_body("9999999900")).made();
        let mut body = json!({"to": to});
        if !reason.is_empty() {
            body["reason"] = json!(reason);
        }
        payer.transition(id(&made), &body).expect(200);
        let events = payer.caller.advance(&json!({"by": "1d"}));
        assert!(events.is_empty(), "the bank's answer comes too late: {events:?}");
        let beneficiary = payer.beneficiary_now(id(&made));
        assert_eq!(beneficiary["status"], to);
        assert_eq!(beneficiary["failure"]["code"], code);
        let again = payer.transition(id(&made), &json!({"to": "pending"}));
        let again = again.refused(409, "invalid_state_transition");
        assert_eq!((&again["current"], &again["allowed"]), (&json!(to), &json!([])));
    }
}

#[test]
fn beneficiaries_are_listed_by_company_status_and_currency() {
    let payer = Payer::instant();
    let euro = account("DE", None, "DE89370400440532013000");
    let euro = asked(&payer, &euro, "account_closed");
    let list = |filter: &str| -> Vec<String> {
        let path = format!("{BENEFICIARIES}?company_id={}{filter}", payer.company);
        let rows = payer.caller.all(&path);
        rows.iter().map(|row| id(row).to_owned()).collect()
    };
    assert_eq!(list(""), [payer.beneficiary.as_str(), id(&euro)]);
    assert_eq!(list("&status=rejected"), [id(&euro)]);
    assert_eq!(list("&currency=NGN"), [payer.beneficiary.as_str()]);
    assert_eq!(list("&sort=-created_at")[0], id(&euro));
    let other = payer.caller.company(1);
    let path = format!("{BENEFICIARIES}?company_id={other}");
    assert!(payer.caller.all(&path).is_empty());
}

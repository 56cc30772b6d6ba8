//! Return codes belong to rails: the codes of failed payments, by country and direction. Each case names its source.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{PAYOUTS, Payer, faults, history, with};
use crate::harness::world::{id, number};
use crate::harness::{Caller, Server};

/// An account of each country, its currency, and an account number that its rules accept.
const ACCOUNTS: &[(&str, &str)] = &[
    ("US", "USD"),
    ("GB", "GBP"),
    ("CA", "CAD"),
    ("ZA", "ZAR"),
    ("KE", "KES"),
    ("NG", "NGN"),
    ("DE", "EUR"),
    ("GH", "GHS"),
];

/// A company of that country with money.
fn payer(country: &str) -> Payer {
    let flags = ["--countries", country, "--companies", "1", "--employees-per-company", "4"];
    let flags = [&flags[..], &["--clock", "manual"]].concat();
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    let company = caller.company(0);
    let wallet = super::wallet(&caller, &company);
    Payer { caller, company, wallet, beneficiary: String::new() }
}

fn currency(country: &str) -> &'static str {
    ACCOUNTS.iter().find(|row| row.0 == country).unwrap().1
}

fn payee(payer: &Payer, country: &str, number: &str) -> String {
    let account = json!({"bank_code": "011", "account_number": number, "country": country,
        "currency": currency(country)});
    let body = json!({"company_id": payer.company, "name": "Ada Obi", "type": "individual", "account": account});
    let made = payer.caller.post(super::BENEFICIARIES, &body).made();
    payer.caller.advance(&json!({"by": "30s"}));
    id(&made).to_owned()
}

fn pay(payer: &Payer, country: &str, speed: &str, scenario: &str) -> Value {
    let beneficiary = payee(payer, country, "9999999900");
    let more = json!({"beneficiary_id": beneficiary, "currency": currency(country), "rail": speed});
    let request = payer.caller.request("POST", PAYOUTS).json(&with(payer.body(100), &more));
    payer.caller.send(&request.header("Sandbox-Scenario", scenario)).made()
}

/// ACH: <https://docs.grailpay.com/docs/resources/return-codes/>. Bacs: the ARUCS report. CHAPS: ISO 20022.
/// Faster Payments: <https://docs.numeral.io/reference/fps-reason-codes>. SEPA: EPC135-18. Canada: CPA Standard 005.
/// South Africa: <http://www.cypher.co.za/unpaid_reason_codes.htm>. NIP: <https://docs.vpay.africa/vpay-api-specification-basic-gude/glossary>.
/// RTP: <https://column.com/docs/realtime/rejection-codes>.
#[test]
fn a_closed_account_has_the_code_of_the_payments_rail() {
    for (country, speed, rail, status, code) in [
        ("US", "standard", "us_ach_credit", "returned", "R02"),
        ("US", "same_day", "us_ach_credit", "returned", "R02"),
        ("US", "instant", "us_rtp", "failed", "AC04"),
        ("GB", "standard", "gb_bacs_credit", "returned", "ARUCS B"),
        ("GB", "same_day", "gb_chaps", "returned", "AC04"),
        ("GB", "instant", "gb_faster_payments", "failed", "1160"),
        ("DE", "standard", "eu_sepa_sct", "returned", "AC04"),
        ("DE", "instant", "eu_sepa_inst", "failed", "AC04"),
        ("CA", "standard", "ca_eft_credit", "returned", "905"),
        ("ZA", "standard", "za_eft_credit", "returned", "12"),
        ("ZA", "instant", "za_rtc", "failed", "AC04"),
        ("KE", "standard", "ke_eft", "returned", "account_closed"),
        ("NG", "standard", "ng_nip", "failed", "07"),
        ("GH", "standard", "cross_border_credit", "returned", "AC04"),
    ] {
        let payer = payer(country);
        for scenario in ["payout.settle=returned", "payout.settle=returned;code=R02"] {
            let asked = pay(&payer, country, speed, scenario);
            assert_eq!(asked["payment_rail"], rail, "{country} {speed}");
            payer.caller.advance(&json!({"by": "9d"}));
            let payout = payer.payout(&asked);
            let failure = &payout["failure"];
            assert_eq!(payout["status"], status, "{country} {speed}");
            assert_eq!(failure["return_code"], code, "{country} {speed} {scenario}");
            assert_eq!(failure["code"], "account_closed", "{country} {speed}");
            assert_eq!(failure["retry"], "after_fix", "{country} {speed}");
            assert_eq!(failure["retryable"], false);
            let table = payer.caller.get("/_sandbox/rails").expect(200);
            let mut rails = table["data"].as_array().unwrap().iter();
            let row = rails.find(|row| row["id"] == rail).unwrap();
            let mut codes = row["codes"].as_array().unwrap().iter();
            let listed = codes.find(|own| own["code"] == code).expect("a code of the rail");
            assert_eq!(listed["meaning"], failure["rail_message"]);
        }
        payer.caller.audit();
    }
}

/// The receiver of an instant payment answers at once: NIBSS NIP, SCT Inst (EPC004-16), Faster Payments. A return of ACH takes two banking
/// days (Nacha Operating Rules).
#[test]
fn instant_rails_refuse_at_once_and_others_return_after_days() {
    for (country, speed, waits) in [
        ("NG", "instant", None),
        ("GB", "instant", None),
        ("DE", "instant", None),
        ("US", "standard", Some(["2026-01-02T09:00:00.000Z", "2026-01-06T09:00:00.000Z"])),
        ("DE", "standard", Some(["2026-01-02T09:00:00.000Z", "2026-01-07T09:00:00.000Z"])),
    ] {
        let payer = payer(country);
        let before = payer.balance("available");
        let asked = pay(&payer, country, speed, "payout.settle=returned");
        payer.caller.advance(&json!({"by": "20s"}));
        let payout = payer.payout(&asked);
        let Some([sent, back]) = waits else {
            assert_eq!(history(&payout), ["queued", "processing", "sent", "failed"], "{country}");
            assert_eq!(payer.balance("available"), before, "a failed payout costs nothing");
            continue;
        };
        assert_eq!(payout["status"], "queued", "{country}");
        payer.caller.advance(&json!({"by": "15d"}));
        let payout = payer.payout(&asked);
        assert_eq!(history(&payout), ["queued", "processing", "sent", "returned"]);
        let at =
            |place: usize| payout["status_history"][place]["at"].as_str().unwrap()[..16].to_owned();
        assert_eq!((at(2), at(3)), (sent[..16].to_owned(), back[..16].to_owned()), "{country}");
        assert_eq!(before - payer.balance("available"), number(&asked["fee"]));
    }
}

#[test]
fn every_choice_has_a_default_return_code() {
    let payer = payer("US");
    for (choice, code, retry) in [
        ("failed", json!("R03"), "after_fix"),
        ("returned", json!("R02"), "after_fix"),
        ("returned_late", json!("R02"), "after_fix"),
        ("held_then_rejected", json!("R16"), "no"),
        ("rail_down", Value::Null, "later"),
    ] {
        let asked = pay(&payer, "US", "standard", &format!("payout.settle={choice}"));
        payer.caller.advance(&json!({"by": "20d"}));
        let failure = payer.payout(&asked)["failure"].clone();
        assert_eq!(
            (&failure["return_code"], &failure["retry"]),
            (&code, &json!(retry)),
            "{choice}"
        );
    }
    let by_hand = pay(&payer, "US", "standard", "payout.settle=paid");
    payer.caller.advance(&json!({"by": "5d"}));
    payer.transition(id(&by_hand), &json!({"to": "returned"})).expect(200);
    assert_eq!(payer.payout(&by_hand)["failure"]["return_code"], "R03");
}

/// Nacha: R01 and R29 are returns of debits, R23 is a return of a credit.
#[test]
fn a_code_of_the_other_direction_is_refused_everywhere() {
    let payer = Payer::manual();
    let digest = payer.caller.digest();
    let rule = |matched: &Value, outcome: &Value| {
        payer.caller.post("/_sandbox/rules", &json!({"match": matched, "outcome": outcome}))
    };
    for (decision, then, code) in [
        ("payout.settle", "returned", "R01"),
        ("payout.settle", "failed", "R29"),
        ("payout.settle", "returned", "C01"),
        ("payout.settle", "returned", "00"),
        ("collection.pay", "declined", "R23"),
        ("refund.settle", "failed", "R01"),
    ] {
        let refused = rule(&json!({"decision": decision}), &json!({"then": then, "code": code}));
        let problem = refused.refused(422, "validation_failed");
        assert_eq!(faults(&problem), [("/outcome/code", "code_of_another_rail")], "{code}");
        let detail = problem["errors"][0]["detail"].as_str().unwrap();
        assert!(detail.contains("such as") && detail.contains("us_ach"), "{detail}");
        let header = format!("{decision}={then};code={code}");
        let request = payer.caller.request("GET", "/api/business/companies");
        let request = request.header("Sandbox-Scenario", &header);
        payer.caller.send(&request).refused(400, "unknown_scenario");
    }
    let on = |rail: &str| json!({"decision": "payout.settle", "where": {"payment_rail": rail}});
    let refused = rule(&on("gb_bacs_credit"), &json!({"then": "returned", "code": "R02"}));
    let problem = refused.refused(422, "validation_failed");
    let detail = problem["errors"][0]["detail"].as_str().unwrap();
    assert!(
        detail.contains("gb_bacs_credit has no such code") && detail.contains("ARUCS 0"),
        "{detail}"
    );
    // One is a rail of collections; the other is none.
    for (rail, code) in [("us_ach_debit", "unknown"), ("bacs", "unexpected")] {
        let problem =
            rule(&on(rail), &json!({"then": "returned"})).refused(422, "validation_failed");
        assert_eq!(faults(&problem), [("/match/where/payment_rail", code)]);
    }
    let account = payer.caller.post(super::BENEFICIARIES, &payer.payee_body("9999999901"));
    let problem = account.refused(422, "validation_failed");
    assert_eq!(faults(&problem), [("/account/account_number", "code_of_another_rail")]);
    assert_eq!(payer.caller.digest(), digest);
    let asked = payer.pay(500, &json!({}));
    let moved = payer.transition(id(&asked), &json!({"to": "failed", "return_code": "R01"}));
    assert_eq!(
        faults(&moved.refused(422, "validation_failed")),
        [("/return_code", "code_of_another_rail")]
    );
}

#[test]
fn a_rule_that_names_a_rail_acts_on_its_payments_only() {
    let payer = Payer::manual();
    let rule = json!({"match": {"decision": "payout.settle", "where": {"payment_rail": "ng_nip"}},
        "outcome": {"then": "failed", "code": "57"}});
    payer.caller.post("/_sandbox/rules", &rule).expect(201);
    let asked = payer.pay(500, &json!({}));
    payer.caller.advance(&json!({"by": "1m"}));
    let failure = payer.payout(&asked)["failure"].clone();
    assert_eq!(
        (&failure["return_code"], &failure["code"]),
        (&json!("57"), &json!("transaction_not_permitted"))
    );
    let decided = payer.caller.all("/_sandbox/decisions?decision=payout.settle").remove(0);
    assert_eq!((&decided["code"], &decided["why"]), (&json!("57"), &json!("rule")));
    let body = json!({"match": rule["match"], "outcome": {"then": "failed"}});
    let body = with(
        body,
        &json!({"match": {"decision": "payout.settle", "where": {"payment_rail": "gb_chaps"}}}),
    );
    payer.caller.send(&payer.caller.request("DELETE", "/_sandbox/rules")).expect(200);
    payer.caller.post("/_sandbox/rules", &body).expect(201);
    let asked = payer.pay(500, &json!({}));
    payer.caller.advance(&json!({"by": "1m"}));
    assert_eq!(payer.payout(&asked)["status"], "paid");
}

/// The payroll of a country travels by its rail: Bacs in Great Britain, NIP in Nigeria.
#[test]
fn wages_travel_by_the_rail_of_the_employees_country() {
    for (country, rail, status, code) in [
        ("GB", "gb_bacs_credit", "returned", "ARUCS B"),
        ("US", "us_ach_credit", "returned", "R02"),
        ("NG", "ng_nip", "failed", "07"),
        ("CA", "ca_eft_credit", "returned", "905"),
    ] {
        let payer = payer(country);
        let people = payer.caller.payable(&payer.company);
        let body =
            json!({"company_id": payer.company, "period": "2026-01", "employees": [people[0]]});
        let request = payer.caller.request("POST", "/v1/payroll/run").json(&body);
        let request = request.header("Sandbox-Scenario", "payout.settle=returned;code=R02");
        payer.caller.send(&request).expect(201);
        payer.caller.advance(&json!({"by": "60d"}));
        let path = format!("{PAYOUTS}?company_id={}&status={status}", payer.company);
        let payouts = payer.caller.all(&path);
        assert_eq!(payouts.len(), 1, "{country}");
        assert_eq!(payouts[0]["payment_rail"], rail);
        assert_eq!(payouts[0]["failure"]["return_code"], code, "{country}");
        payer.caller.audit();
    }
}

#[test]
fn payouts_of_the_months_before_the_start_name_their_rail() {
    for (country, wages, vendors) in
        [("GB", "gb_bacs_credit", "gb_faster_payments"), ("US", "us_ach_credit", "us_rtp")]
    {
        let payer = payer(country);
        let grown = payer.caller.all(&format!("{PAYOUTS}?company_id={}", payer.company));
        for payout in &grown {
            let rail = if payout["source"]["type"] == "bill" { vendors } else { wages };
            assert_eq!(payout["payment_rail"], rail);
        }
        assert!(grown.len() > 20, "{country}");
    }
}

//! Mandates, collections by them, and direct debits that the payer's bank sends back within the windows of the law.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{COLLECTIONS, INVOICES, statuses};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::server::Server;
use crate::harness::world::{id, number};

const MANDATES: &str = "/api/payments/mandates";

/// The first company of a country in a world with a manual clock, with an active mandate.
struct Creditor {
    _server: Arc<Server>,
    caller: Caller,
    company: String,
    currency: String,
    mandate: String,
}

impl Creditor {
    fn of(country: &str) -> Self {
        let flags =
            ["--seed", "42", "--clock", "manual", "--countries", country, "--companies", "1"];
        let server = Arc::new(Server::start(&flags));
        let caller = Caller::of(&server);
        let company = caller.company(0);
        let known = caller.get(&format!("/api/business/companies/{company}")).data();
        let currency = known["currency"].as_str().unwrap().to_owned();
        let mut creditor =
            Self { _server: server, caller, company, currency, mandate: String::new() };
        let mandate = creditor.mandate(&json!({})).made();
        creditor.caller.advance(&json!({"by": "5d"}));
        assert_eq!(creditor.read(MANDATES, id(&mandate))["status"], "active");
        id(&mandate).clone_into(&mut creditor.mandate);
        creditor
    }

    fn mandate(&self, more: &Value) -> Answer {
        let mut body = json!({
            "company_id": self.company, "currency": self.currency, "reference": "M-1",
            "payer": {"name": "Ann Lee", "account_number": "12345678"},
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.caller.post(MANDATES, &body)
    }

    fn collect(&self, more: &Value, scenario: &str) -> Answer {
        let mut body = json!({
            "company_id": self.company, "amount": 5_000, "currency": self.currency, "method": "direct_debit",
            "reference": "DD-1", "mandate_id": self.mandate,
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let mut request = self.caller.request("POST", COLLECTIONS);
        if !scenario.is_empty() {
            request = request.header("Sandbox-Scenario", scenario);
        }
        self.caller.send(&request.json(&body))
    }

    /// A direct debit that has settled.
    fn settled(&self) -> Value {
        let asked = self.collect(&json!({}), "").made();
        self.caller.advance(&json!({"by": "6d"}));
        self.read(COLLECTIONS, id(&asked))
    }

    fn read(&self, list: &str, id: &str) -> Value {
        self.caller.get(&format!("{list}/{id}")).data()
    }

    fn send_back(&self, collection: &Value, code: &str) -> Answer {
        let path = format!("/_sandbox/resources/{}/transition", id(collection));
        self.caller.post(&path, &json!({"to": "returned", "return_code": code}))
    }

    fn available(&self) -> i64 {
        let path = format!("/api/payments/wallets?company_id={}", self.company);
        number(&self.caller.all(&path)[0]["available"])
    }
}

/// The day of the payment.
fn paid_on(collection: &Value) -> jiff::civil::Date {
    let history = collection["status_history"].as_array().unwrap();
    let paid = history.iter().find(|change| change["status"] == "succeeded").unwrap();
    paid["at"].as_str().unwrap()[..10].parse().unwrap()
}

/// Sources: Nacha Operating Rules (R10: 60 calendar days, R01: two banking days); Directive (EU) 2015/2366, articles 71 and 77 (13 months,
/// 8 weeks); the Direct Debit Guarantee (no limit); Payments Canada, Rule H1 (90 days); the South African rules (40 days).
#[test]
fn a_direct_debit_comes_back_within_the_window_of_its_code_and_not_after_it() {
    for (country, code, days) in [
        ("US", "R10", Some(60)),
        ("US", "R07", Some(60)),
        ("IE", "MD06", Some(56)),
        ("IE", "MD01", Some(396)), // 13 months from January: to February of the next year
        ("CA", "915", Some(90)),
        ("ZA", "32", Some(40)),
        ("GB", "DDICA 1", None),
    ] {
        let creditor = Creditor::of(country);
        let collection = creditor.settled();
        let paid = paid_on(&collection);
        let last = match code {
            "MD01" => paid.checked_add(jiff::Span::new().months(13)).unwrap(),
            _ => paid.checked_add(jiff::Span::new().days(days.unwrap_or(3_000))).unwrap(),
        };
        let to_day = |day: jiff::civil::Date| {
            creditor.caller.advance(&json!({"to": format!("{day}T12:00:00Z")}));
        };
        let snapshot = json!({"name": "settled"});
        let snapshot = creditor.caller.post("/_sandbox/snapshots", &snapshot).made();
        if days.is_some() {
            to_day(last.tomorrow().unwrap());
            let digest = creditor.caller.digest();
            let late =
                creditor.send_back(&collection, code).refused(409, "invalid_state_transition");
            let detail = late["detail"].as_str().unwrap();
            assert!(detail.contains(code) && detail.contains(&last.to_string()), "{detail}");
            assert_eq!(late["allowed"], json!([]), "{country} {code}");
            assert_eq!(creditor.caller.digest(), digest);
            let snapshot = snapshot["id"].as_str().or(snapshot["snapshot"]["id"].as_str()).unwrap();
            let path = format!("/_sandbox/snapshots/{snapshot}/restore");
            creditor.caller.post(&path, &json!({})).expect(200);
        }
        to_day(last);
        let before = creditor.available();
        creditor.send_back(&collection, code).expect(200);
        let back = creditor.read(COLLECTIONS, id(&collection));
        assert_eq!(back["status"], "returned", "{country} {code}");
        assert_eq!(back["failure"]["return_code"], code);
        assert_eq!(
            (&back["returned"]["amount"], &back["returned"]["taken"]),
            (&json!(5_000), &json!(5_000))
        );
        assert_eq!(before - creditor.available(), 5_000, "{country} {code}");
        creditor.caller.audit();
    }
}

/// A rule chooses the return and its time. After the window the money stays.
#[test]
fn rules_choose_the_return_and_its_time() {
    let creditor = Creditor::of("US");
    let in_time = "collection.return=returned;code=R10;after=50d";
    let too_late = "collection.return=returned;code=R10;after=70d";
    let one = creditor.collect(&json!({"reference": "A"}), in_time).made();
    let other = creditor.collect(&json!({"reference": "B"}), too_late).made();
    let usual = creditor.collect(&json!({"reference": "C"}), "collection.return=returned").made();
    creditor.caller.advance(&json!({"by": "120d"}));
    let now = |of: &Value| creditor.read(COLLECTIONS, id(of));
    assert_eq!(statuses(&now(&one)), ["pending", "processing", "succeeded", "settled", "returned"]);
    assert_eq!(now(&other)["status"], "settled");
    // The default code means that the payer denies the authorisation, which ends the mandate.
    assert_eq!(now(&usual)["failure"]["return_code"], "R10");
    assert_eq!(now(&usual)["failure"]["code"], "not_authorized");
    assert_eq!(creditor.read(MANDATES, &creditor.mandate)["status"], "revoked");
    creditor.collect(&json!({"reference": "D"}), "").refused(409, "invalid_state_transition");
    for bad in ["collection.return=returned;code=R23", "collection.return=returned;code=1160"] {
        creditor.collect(&json!({"reference": "E"}), bad).expect(400);
    }
    creditor.caller.audit();
}

#[test]
fn only_an_active_mandate_of_the_company_and_currency_allows_a_direct_debit() {
    let creditor = Creditor::of("GB");
    let pending = creditor.mandate(&json!({"reference": "M-2"})).made();
    let early = creditor.collect(&json!({"mandate_id": pending["id"]}), "");
    let early = early.refused(409, "invalid_state_transition");
    assert_eq!((&early["current"], &early["resource_id"]), (&json!("pending"), &pending["id"]));
    let wrong = |more: Value| {
        let problem = creditor.collect(&more, "").refused(422, "validation_failed");
        pointers(&problem).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let before = creditor.caller.digest();
    assert_eq!(wrong(json!({"method": "card"})), ["/method"]);
    assert_eq!(wrong(json!({"currency": "EUR"})), ["/currency"]);
    assert_eq!(wrong(json!({"payer": {"name": "Other"}})), ["/payer"]);
    creditor
        .collect(&json!({"mandate_id": "mnd_0000000000000"}), "")
        .refused(404, "resource_not_found");
    let refused = |more: Value| {
        let problem = creditor.mandate(&more).refused(422, "validation_failed");
        pointers(&problem).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let later = |more: &mut Value| more["reference"] = json!("M-3");
    let mut past = json!({"expires_on": "2025-12-31"});
    later(&mut past);
    assert_eq!(refused(past), ["/expires_on"]);
    let mut nameless = json!({"payer": {"name": "Ann"}});
    later(&mut nameless);
    assert_eq!(refused(nameless), ["/payer/account_number"]);
    let mut odd = json!({"payer": {"account_number": "9999999923"}});
    later(&mut odd);
    assert_eq!(refused(odd), ["/payer/account_number"]);
    let mut colour = json!({"colour": "red"});
    later(&mut colour);
    assert_eq!(refused(colour), ["/colour"]);
    creditor.mandate(&json!({})).refused(409, "duplicate_reference");
    assert_eq!(creditor.caller.digest(), before);
    let made = creditor.collect(&json!({}), "").made();
    assert_eq!(
        (&made["mandate_id"], &made["payer"]["name"]),
        (&json!(creditor.mandate), &json!("Ann Lee"))
    );
    let path =
        format!("{COLLECTIONS}?company_id={}&mandate_id={}", creditor.company, creditor.mandate);
    assert_eq!(creditor.caller.all(&path).len(), 1);
    // The revoked mandate frees its reference.
    let path = format!("{MANDATES}/{}/revoke", creditor.mandate);
    creditor.caller.post(&path, &json!({})).expect(200);
    creditor.caller.post(&path, &json!({})).refused(409, "invalid_state_transition");
    creditor.mandate(&json!({})).expect(201);
}

/// Source: EPC SDD Core rulebook: a mandate ends 36 months after its last collection.
#[test]
fn a_collection_prolongs_a_mandate_that_ends_unused() {
    let creditor = Creditor::of("IE");
    let mandate = || creditor.read(MANDATES, &creditor.mandate);
    assert_eq!(
        (&mandate()["expires_on"], &mandate()["unused_months"]),
        (&json!("2029-01-01"), &json!(36))
    );
    creditor.caller.advance(&json!({"to": "2026-03-10T08:00:00Z"}));
    creditor.collect(&json!({}), "").expect(201);
    assert_eq!(mandate()["expires_on"], "2029-03-10");
    creditor.caller.advance(&json!({"to": "2029-03-10T23:00:00Z"}));
    assert_eq!(mandate()["status"], "active");
    creditor.caller.advance(&json!({"to": "2029-03-11T00:00:00Z"}));
    assert_eq!(mandate()["status"], "expired");
}

/// The invoice is due again. A wallet that is short leaves a debt, as after a lost dispute.
#[test]
fn a_returned_payment_reopens_its_invoice_and_a_short_wallet_leaves_a_debt() {
    let creditor = Creditor::of("GB");
    let caller = &creditor.caller;
    let body = json!({
        "company_id": creditor.company, "currency": "GBP", "due_date": "2026-01-31",
        "customer": {"name": "Ann Lee", "email": "ann@example.com", "account_number": "9999999994"},
        "lines": [{"description": "Boiler", "quantity": 1, "unit_amount": 100_000}],
    });
    let invoice = caller.post(INVOICES, &body).made();
    let path = format!("{INVOICES}/{}", id(&invoice));
    let sent = caller.post(&format!("{path}/send"), &json!({})).data();
    let asked = sent["collection_id"].as_str().unwrap();
    caller.post(&format!("{COLLECTIONS}/{asked}/cancel"), &json!({})).expect(200);
    let of_invoice = json!({"amount": 120_000, "invoice_id": invoice["id"]});
    let collection = creditor.collect(&of_invoice, "").made();
    caller.advance(&json!({"by": "10d"}));
    assert_eq!(caller.get(&path).data()["status"], "paid");
    // The wallet is emptied but for 20,000 by a booked payment.
    let entry = json!({
        "company_id": creditor.company, "effective_on": "2026-01-16", "lines": [
            {"account": "rent", "direction": "debit", "amount": creditor.available() - 20_000, "currency": "GBP"},
            {"account": "cash_available", "direction": "credit", "amount": creditor.available() - 20_000, "currency": "GBP"},
        ],
    });
    caller.post("/api/business/journal-entries", &entry).expect(201);
    creditor.send_back(&collection, "DDICA 5").expect(200);
    let back = creditor.read(COLLECTIONS, id(&collection));
    assert_eq!(
        (&back["returned"]["amount"], &back["returned"]["taken"]),
        (&json!(120_000), &json!(20_000))
    );
    assert_eq!(creditor.available(), 0);
    let owed = caller.get(&path).data();
    assert_eq!(
        (&owed["status"], &owed["amount_due"], &owed["amount_paid"]),
        (&json!("open"), &json!(120_000), &json!(0))
    );
    assert_eq!(creditor.read(MANDATES, &creditor.mandate)["status"], "revoked");
    caller
        .post(&format!("{COLLECTIONS}/{}/refunds", id(&collection)), &json!({"reason": "No"}))
        .refused(409, "invalid_state_transition");
    let report = format!(
        "/api/business/reports/aged-receivables?company_id={}&as_of=2026-01-16",
        creditor.company
    );
    assert_eq!(caller.get(&report).data()["totals"][0]["unallocated"], 0);
    caller.audit();
}

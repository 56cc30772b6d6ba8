//! The due dates of liabilities, and the effects of late payment.

use serde_json::{Value, json};

use super::{FILINGS, filing, prepare, submit};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::id;

const LIABILITIES: &str = "/api/business/tax-liabilities";

fn owed(caller: &Caller, authority: &str) -> Value {
    let mut found = caller.all(&format!("{LIABILITIES}?authority={authority}"));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn statuses(resource: &Value) -> Vec<&str> {
    let history = resource["status_history"].as_array().unwrap().iter();
    history.map(|change| change["status"].as_str().unwrap()).collect()
}

/// The types of the events about taxes.
fn of_taxes(events: Vec<String>) -> Vec<String> {
    let about = |name: &String| name.starts_with("tax_") || name.starts_with("compliance");
    events.into_iter().filter(about).collect()
}

#[test]
fn a_liability_is_due_on_its_day_and_late_on_the_next() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let accrued = owed(&caller, "SIRS");
    assert_eq!((&accrued["status"], &accrued["due_on"]), (&json!("accrued"), &json!("2026-02-10")));
    let clock = caller.get("/_sandbox/clock").data();
    let tasks: Vec<&Value> =
        clock["next"].as_array().unwrap().iter().map(|due| &due["at"]).collect();
    let days = ["2026-02-03", "2026-02-10", "2026-02-16", "2026-02-23", "2027-04-01"];
    assert_eq!(json!(tasks), json!(days.map(|day| format!("{day}T00:00:00.000Z"))));
    caller.advance(&json!({"to": "2026-02-09T23:59:59Z"}));
    assert_eq!(owed(&caller, "SIRS")["status"], "accrued");
    assert_eq!(caller.advance(&json!({"by": "1s"})), ["tax_liability.due"]);
    assert_eq!(owed(&caller, "SIRS")["status"], "due");
    assert_eq!(caller.advance(&json!({"to": "2026-02-10T23:59:59Z"})), [""; 0]);
    let expected = ["tax_liability.late", "compliance_requirement.created"];
    assert_eq!(caller.advance(&json!({"by": "1s"})), expected);
    assert_eq!(owed(&caller, "SIRS")["status"], "late");

    let late = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    assert_eq!(late["late"], true);
    submit(&caller, &late).expect(202);
    let paid = owed(&caller, "SIRS");
    assert_eq!(statuses(&paid), ["accrued", "due", "late", "paid"]);
    assert_eq!(statuses(&owed(&caller, "NSITF")), ["accrued"]);
    assert_eq!(owed(&caller, "NSITF")["due_on"], "2026-02-16");
    caller.audit();
}

#[test]
fn tax_that_is_paid_by_its_due_day_is_never_late() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"to": "2026-02-10T12:00:00Z"}));
    let on_the_day = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    submit(&caller, &on_the_day).expect(202);
    let events = of_taxes(caller.advance(&json!({"to": "2026-02-15T12:00:00Z"})));
    assert_eq!(events, ["tax_filing.acknowledged", "tax_filing.filed"]);
    let filed = filing(&caller, &on_the_day);
    assert_eq!((&filed["status"], &filed["late"]), (&json!("filed"), &json!(false)));
    assert_eq!(statuses(&owed(&caller, "SIRS")), ["accrued", "due", "paid"]);
    caller.audit();
}

#[test]
fn a_return_that_waits_is_late_with_what_it_declares() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let waiting = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    assert_eq!((&waiting["status"], &waiting["late"]), (&json!("pending"), &json!(false)));
    caller.advance(&json!({"to": "2026-02-11T00:00:00Z"}));
    let late = filing(&caller, &waiting);
    assert_eq!((&late["status"], &late["late"]), (&json!("pending"), &json!(true)));
    submit(&caller, &late).expect(202);
    assert_eq!(filing(&caller, &late)["late"], true);
}

#[test]
fn days_are_those_of_each_countrys_law() {
    let caller = Caller::instant();
    let expected = [
        (0, "SIRS", json!("2026-02-10")),
        (0, "pension", json!("2026-02-03")),
        (1, "HMRC", json!("2026-02-20")),
        (2, "IRS", json!("2026-02-17")),
    ];
    for company in 0..3 {
        caller.run_payroll(&caller.company(company), "2026-01");
    }
    for (company, authority, due_on) in expected {
        let company = caller.company(company);
        let found =
            caller.all(&format!("{LIABILITIES}?company_id={company}&authority={authority}"));
        assert_eq!(found[0]["due_on"], due_on, "{authority}");
    }
}

#[test]
fn a_wallet_that_is_named_is_the_companys_own() {
    let caller = Caller::instant();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let prepared = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    let target = format!("{FILINGS}/{}/submit", id(&prepared));
    let pay_from = |wallet: &str| -> Answer {
        caller.post(&target, &json!({"declaration": "Ada Obi", "wallet_id": wallet}))
    };
    let wallets = caller.all("/api/payments/wallets");
    let foreign = pay_from(id(&wallets[1])).refused(422, "validation_failed");
    assert_eq!(foreign["errors"][0]["code"], "foreign_wallet");
    assert_eq!(pointers(&foreign), ["/wallet_id"]);
    let unknown = pay_from("wal_0000000000000").refused(404, "resource_not_found");
    assert_eq!(pointers(&unknown), ["/wallet_id"]);
    pay_from(id(&wallets[0])).expect(202);
    let missing = format!("{FILINGS}/txf_0000000000000");
    for (verb, body) in
        [("submit", json!({"declaration": "Ada"})), ("amend", json!({"reason": "Typing error"}))]
    {
        caller.post(&format!("{missing}/{verb}"), &body).refused(404, "resource_not_found");
    }
    for body in [json!({}), json!({"declaration": 7}), json!({"declaration": "x".repeat(201)})] {
        let refused = caller.post(&target, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), ["/declaration"]);
    }
}

#[test]
fn a_return_needs_a_company_a_type_a_month_and_a_country() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let none = caller.post(FILINGS, &json!({})).refused(422, "validation_failed");
    assert_eq!(pointers(&none), ["/company_id", "/tax_type", "/period", "/jurisdiction"]);
    let good = json!({"company_id": company, "tax_type": "SIRS", "period": "2026-01", "jurisdiction": "NG"});
    for (member, wrong) in [
        ("tax_type", json!("x".repeat(33))),
        ("period", json!("2026-13")),
        ("jurisdiction", json!("Nigeria")),
        ("colour", json!("red")),
    ] {
        let mut body = good.clone();
        body[member] = wrong;
        let refused = caller.post(FILINGS, &body).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [format!("/{member}")]);
    }
    let mut body = good;
    body["company_id"] = json!("com_0000000000000");
    let unknown = caller.post(FILINGS, &body).refused(404, "resource_not_found");
    assert_eq!(pointers(&unknown), ["/company_id"]);
    for query in ["status=lost", "period=2026", "sort=colour", "colour=red"] {
        caller.get(&format!("{FILINGS}?{query}")).refused(422, "validation_failed");
        caller.get(&format!("{LIABILITIES}?{query}")).refused(422, "validation_failed");
    }
}

/// 26 CFR 31.6302-1(c)(1): the 15th of the next month. 26 USC 7503 and 26 CFR 301.7503-1: on a Saturday, a Sunday or a legal holiday of the
/// District of Columbia, the next business day (16 February 2026 is Washington's Birthday). The days of IRS Publication 509 for 2026.
#[test]
fn deposits_of_2026_are_due_on_the_days_of_the_tax_calendar() {
    let caller = Caller::manual();
    let company = caller.company(2);
    caller.pay_monthly(&company);
    let person = caller.payable(&company).remove(0);
    let mut expected = Vec::new();
    for (month, due_on) in [
        ("2026-01", "2026-02-17"),
        ("2026-02", "2026-03-16"),
        ("2026-03", "2026-04-15"),
        ("2026-04", "2026-05-15"),
        ("2026-05", "2026-06-15"),
        ("2026-06", "2026-07-15"),
        ("2026-07", "2026-08-17"),
        ("2026-08", "2026-09-15"),
        ("2026-09", "2026-10-15"),
        ("2026-10", "2026-11-16"),
        ("2026-11", "2026-12-15"),
        ("2026-12", "2027-01-15"),
    ] {
        caller.advance(&json!({"to": format!("{month}-02T00:00:00Z")}));
        let body = json!({"company_id": company, "period": month, "employees": [person]});
        caller.post("/v1/payroll/run", &body).expect(201);
        expected.push((json!(month), json!(due_on)));
    }
    caller.advance(&json!({"by": "2s"}));
    let path = format!("{LIABILITIES}?company_id={company}&authority=IRS&form=941");
    let mut found: Vec<_> = caller
        .all(&path)
        .iter()
        .map(|owed| (owed["period"].clone(), owed["due_on"].clone()))
        .collect();
    found.sort_by_key(|(period, _)| period.to_string());
    assert_eq!(found, expected);
}

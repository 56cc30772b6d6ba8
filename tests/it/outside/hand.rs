//! Rules, transitions, inbound money and triggers, also by typed methods.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{people, rule};
use crate::harness::{Caller, Server};

fn transition(caller: &Caller, id: &str, body: &Value) -> crate::harness::Answer {
    caller.post(&format!("/_sandbox/resources/{id}/transition"), body)
}

#[test]
fn a_payout_transitions_only_along_its_lifecycle() {
    let caller = Caller::manual();
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"to": "2026-01-22T16:00:00Z"}));
    let all = caller.all("/api/payments/payouts?status=queued");
    let id = all[0]["id"].as_str().unwrap();
    let digest = caller.digest();
    let refused =
        transition(&caller, id, &json!({"to": "paid"})).refused(409, "invalid_state_transition");
    assert_eq!(refused["current"], "queued");
    assert_eq!(refused["allowed"], json!(["processing"]));
    assert_eq!(caller.digest(), digest);
    transition(&caller, id, &json!({"to": "processing"})).expect(200);
    transition(&caller, id, &json!({"to": "sent"})).expect(200);
    let body = json!({"to": "returned", "return_code": "R02", "reason": "asked by a test"});
    let moved = transition(&caller, id, &body).expect(200);
    assert_eq!(moved["data"]["failure"]["return_code"], "07");
    assert_eq!(moved["data"]["failure"]["rail_message"], "asked by a test");
    caller.advance(&json!({"by": "30d"}));
    caller.audit();
    transition(&caller, "pyo_0000000000000", &json!({"to": "paid"}))
        .refused(404, "resource_not_found");
    transition(&caller, id, &json!({"to": "paid", "return_code": "R99"})).expect(422);
}

#[test]
fn a_rule_acts_as_often_as_its_limit_and_can_be_removed() {
    let caller = Caller::manual();
    let people = people(&caller, 2);
    let body =
        json!({"match": {"decision": "payout.settle"}, "times": 1, "outcome": {"then": "failed"}});
    caller.post("/_sandbox/rules", &body).expect(201);
    let (run, _) = super::pay(&caller, &people, None);
    assert_eq!(run["settlement"], json!({"paid": 1, "failed": 1, "pending": 0}));
    let rules = caller.get("/_sandbox/rules").expect(200);
    assert_eq!(rules["data"][0]["hits"], 1);
    let id = rules["data"][0]["id"].as_str().unwrap();
    let path = format!("/_sandbox/rules/{id}");
    caller.send(&caller.request("DELETE", &path)).expect(200);
    caller.send(&caller.request("DELETE", &path)).refused(404, "resource_not_found");
}

#[test]
fn an_invalid_rule_is_refused_with_all_its_mistakes() {
    let caller = Caller::manual();
    for (body, pointer) in [
        (
            json!({"match": {"decision": "payout.setle"}, "outcome": {"then": "failed"}}),
            "/match/decision",
        ),
        (
            json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "lost"}}),
            "/outcome/then",
        ),
        (
            json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "paid", "code": "R02"}}),
            "/outcome/code",
        ),
        (
            json!({"match": {"decision": "payroll_run.fund"}, "outcome": {"then": "funded", "after": "2d"}}),
            "/outcome/after",
        ),
        (
            json!({"match": {"operation": "runPayrol"}, "fault": {"status": 503}}),
            "/match/operation",
        ),
        (json!({"match": {"decision": "payout.settle"}, "fault": {"status": 503}}), ""),
    ] {
        let digest = caller.digest();
        let problem = caller.post("/_sandbox/rules", &body).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}");
        assert_eq!(caller.digest(), digest);
    }
}

#[test]
fn a_fault_can_be_a_rule() {
    let caller = Caller::manual();
    let body =
        json!({"match": {"operation": "listCompanies"}, "times": 1, "fault": {"status": 503}});
    caller.post("/_sandbox/rules", &body).expect(201);
    caller.get("/api/business/companies").refused(503, "maintenance");
    caller.get("/api/business/companies").expect(200);
}

#[test]
fn money_arrives_as_equity_or_sales_and_never_beyond_what_a_wallet_holds() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let wallet = |caller: &Caller| {
        caller.all(&format!("/api/payments/wallets?company_id={company}"))[0]["available"]
            .as_i64()
            .unwrap()
    };
    let before = wallet(&caller);
    for from in ["owner", "customer"] {
        let body = json!({"company_id": company, "amount": 12_345, "from": from});
        caller.post("/_sandbox/inbound/bank_transfer", &body).expect(200);
    }
    assert_eq!(wallet(&caller), before + 2 * 12_345);
    caller.audit();
    for (kind, amount, status) in
        [("bank_transfer", 0, 422), ("bank_transfer", -5, 422), ("watchlist_hit", 5, 422)]
    {
        let body = json!({"company_id": company, "amount": amount});
        caller.post(&format!("/_sandbox/inbound/{kind}"), &body).expect(status);
    }
}

#[test]
fn every_event_type_is_triggered_or_names_the_call_to_make() {
    let document = crate::harness::contract::product();
    let names: Vec<&String> = document["webhooks"].as_object().unwrap().keys().collect();
    assert!(names.len() > 30, "{names:?}");
    let mut caused = 0;
    for name in names {
        let caller = Caller::manual();
        let before = caller.digest();
        let answer = caller.post("/_sandbox/trigger", &json!({"type": name}));
        if answer.status == 200 {
            assert_eq!(answer.data()["event"]["type"], **name);
            caused += 1;
            caller.audit();
        } else {
            let problem = answer.refused(422, "validation_failed");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains("call ") && detail.contains("/api/"), "{name}: {detail}");
            assert_eq!(caller.digest(), before);
        }
    }
    assert!(caused >= 20, "{caused}");
}

/// Only a run that is paid in part needs two people, and a payment of such a run that is sent again.
#[test]
fn all_but_two_event_types_are_triggered_in_companies_of_one_employee() {
    let flags = ["--seed", "42", "--employees-per-company", "1"];
    let server = Arc::new(Server::start(&flags));
    let document = crate::harness::contract::product();
    for name in document["webhooks"].as_object().unwrap().keys() {
        let caller = Caller::with_key(&server, &format!("test_{}", name.replace('.', "_")));
        let answer = caller.post("/_sandbox/trigger", &json!({"type": name}));
        if name == "payroll_run.partially_paid" || name == "payroll_item.retried" {
            let problem = answer.refused(422, "employee_not_payable");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains("{\"employees_per_company\":2}"), "{detail}");
            caller.post("/_sandbox/reset", &json!({"employees_per_company": 2})).expect(200);
            caller.post("/_sandbox/trigger", &json!({"type": name})).expect(200);
        } else {
            assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        }
    }
}

#[test]
fn an_override_is_held_to_the_schema_of_the_call_and_a_refusal_changes_nothing() {
    let caller = Caller::manual();
    for body in [
        json!({"type": "wallet.credited", "override": {"amount": -5}}),
        json!({"type": "company.updated", "override": {"payroll_settings": {"pay_day": 99}}}),
        json!({"type": "employee.created", "override": {"name": ""}}),
        json!({"type": "employee.created", "override": {"nope": 1}}),
        json!({"type": "employee.terminated", "override": {"nope": 1}}),
    ] {
        let digest = caller.digest();
        caller.post("/_sandbox/trigger", &body).refused(422, "validation_failed");
        assert_eq!(caller.digest(), digest, "{body}");
    }
    let chosen = people(&caller, 3).pop().unwrap();
    let body = json!({"type": "employee.terminated", "override": {"employee_id": chosen}});
    let made = caller.post("/_sandbox/trigger", &body).data();
    assert_eq!(made["event"]["data"]["object"]["id"], *chosen);
}

#[test]
fn typed_methods_of_the_library_cover_the_control_plane() {
    use sandbox::{Rule, Sandbox, Verification};
    let sandbox = Sandbox::builder().start().unwrap();
    let key = "test_typed";
    sandbox.add_rule(key, &Rule::on("payout.settle").then("failed").code("R03").times(1)).unwrap();
    let event = sandbox.trigger(key, "payroll_run.partially_paid").unwrap();
    assert_eq!(event.data["object"]["status"], "partially_paid");
    let events = sandbox.events(key).unwrap();
    assert!(events.iter().any(|event| event.name == "payroll_item.failed"));
    let never = sandbox.verify(key, "runPayroll", &json!({"status": 201}), 1).unwrap();
    assert!(matches!(never, Verification::Fail(_)), "a trigger is no request");
    assert!(sandbox.add_rule(key, &Rule::on("payout.setle").then("failed")).is_err());
    assert!(
        sandbox.trigger(key, "payout.retuned").unwrap_err().to_string().contains("did you mean")
    );
    sandbox.load_scenario(key, "happy-path").unwrap();
    assert!(Sandbox::builder().scenario_text("mine", "titel = 'x'").is_err());
}

#[test]
fn a_rule_about_one_resource_leaves_the_others_alone() {
    let caller = Caller::manual();
    let people = people(&caller, 3);
    let matched =
        json!({"decision": "payout.settle", "where": {"employee_id": people[1], "amount": ">= 1"}});
    rule(&caller, &matched, &json!({"then": "returned_late"}));
    super::pay(&caller, &people, None);
    let items = caller.all("/_sandbox/events?type=payroll_item.returned&sort=sequence");
    assert_eq!(items.len(), 1);
    assert_eq!(items[0]["data"]["object"]["employee_id"], *people[1]);
}

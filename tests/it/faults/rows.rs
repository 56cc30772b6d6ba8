//! Faults added by a call: which exchanges they affect, how often, and how they end.

use serde_json::{Value, json};

use super::{EMPLOYEES, RUN, run};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::world::id;

const FAULTS: &str = "/_sandbox/faults";

fn add(caller: &Caller, row: &Value) -> Value {
    caller.post(FAULTS, row).made()
}

#[test]
fn a_row_acts_at_its_places_and_counts() {
    let caller = Caller::instant();
    let row = add(
        &caller,
        &json!({"on": "runPayroll", "nth": [1, 3], "status": 503, "retry_after": "1s"}),
    );
    assert_eq!(row["source"], format!("rule {}", id(&row)));
    let first = caller.send(&run(&caller, "k", None));
    first.refused(503, "maintenance");
    let source = format!("fault=rule {}", id(&row));
    assert_eq!(first.header("sandbox-decision"), Some(source.as_str()));
    caller.send(&run(&caller, "k", None)).expect(201);
    caller.send(&run(&caller, "k", None)).refused(503, "maintenance");
    let listed = caller.get(FAULTS).data();
    assert_eq!((&listed[0]["asked"], &listed[0]["hits"]), (&json!(3), &json!(2)));
    assert_eq!(listed[0]["does"], "status=503;retry_after=1s");
    assert_eq!(listed[0]["nth"], json!(["1", "3"]));
}

#[test]
fn a_domain_and_the_product_can_be_named_and_the_control_plane_only_by_its_own_name() {
    let caller = Caller::instant();
    add(&caller, &json!({"on": "payments.*", "status": 502, "times": 1}));
    caller.get(EMPLOYEES).expect(200);
    caller.get("/api/payments/wallets").refused(502, "upstream_rail_error");
    caller.get("/api/payments/wallets").expect(200);
    add(&caller, &json!({"on": "*", "status": 503}));
    caller.get(EMPLOYEES).refused(503, "maintenance");
    caller.get("/_sandbox/clock").expect(200);
    add(&caller, &json!({"on": "sandbox.*", "status": 503}));
    caller.get("/_sandbox/clock").refused(503, "maintenance");
    let removed = caller.send(&caller.request("DELETE", FAULTS)).data();
    assert_eq!(removed["removed"], 3, "the call that removes faults is never faulted");
    caller.get("/_sandbox/clock").expect(200);
    caller.get(EMPLOYEES).expect(200);
}

#[test]
fn a_removed_row_no_longer_acts_and_other_keys_are_not_affected() {
    let (caller, other) = (Caller::instant(), Caller::instant());
    let row = add(&caller, &json!({"on": "*", "status": 503}));
    other.get(EMPLOYEES).expect(200);
    caller.get(EMPLOYEES).refused(503, "maintenance");
    let path = format!("{FAULTS}/{}", id(&row));
    caller.send(&caller.request("DELETE", &path)).expect(200);
    caller.get(EMPLOYEES).expect(200);
    caller.send(&caller.request("DELETE", &path)).refused(404, "resource_not_found");
}

#[test]
fn chance_is_equal_in_equal_worlds() {
    let statuses = || {
        let caller = Caller::instant();
        add(&caller, &json!({"on": "*", "chance": "0.5", "status": 503}));
        (0..40).map(|_| caller.get(EMPLOYEES).status).collect::<Vec<_>>()
    };
    let first = statuses();
    assert!(first.contains(&200) && first.contains(&503), "{first:?}");
    assert_eq!(first, statuses());
}

#[test]
fn an_invalid_row_is_refused_with_all_its_mistakes() {
    let caller = Caller::instant();
    for (row, wrong) in [
        (json!({"on": "runPayrol", "status": 503}), vec!["/on"]),
        (json!({"on": "*"}), vec![""]),
        (json!({"on": "*", "status": 503, "lose": "reply"}), vec!["/lose"]),
        (json!({"on": "*", "status": 200}), vec!["/status"]),
        (json!({"on": "*", "retry_after": "1s", "latency": "1s"}), vec!["/retry_after"]),
        (json!({"on": "*", "latency": "1d"}), vec!["/latency"]),
        (json!({"on": "*", "lose": "reply", "latency": "1s"}), vec!["/latency"]),
        (
            json!({"on": "nobody", "nth": "4..2", "chance": "2", "lose": "reply"}),
            vec!["/on", "/nth", "/chance"],
        ),
        (json!({"on": "*", "nth": 0, "lose": "reply"}), vec!["/nth"]),
        (json!({"on": "*", "lose": "reply", "colour": "red"}), vec!["/colour"]),
    ] {
        let problem = caller.post(FAULTS, &row).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), wrong, "{row}");
    }
    let problem = caller.post(FAULTS, &json!({"on": "runPayrol", "status": 503}));
    assert!(problem.text().contains("did you mean runPayroll"), "{}", problem.text());
    assert_eq!(caller.get(FAULTS).data(), json!([]));
}

#[test]
fn a_faulted_call_is_in_the_request_log_and_changes_nothing_else() {
    let caller = Caller::instant();
    let row = add(&caller, &json!({"on": "runPayroll", "times": 1, "status": 503}));
    let before = caller.digest();
    let refused = caller.send(&run(&caller, "k", None));
    assert_eq!(caller.digest(), before);
    let path = format!("/_sandbox/requests/{}", refused.header("request-id").unwrap());
    let entry = caller.get(&path).data();
    let request = &entry["request"];
    assert_eq!((&request["status"], &request["error"]), (&json!(503), &json!("maintenance")));
    assert_eq!(request["fault"]["source"], row["source"]);
    assert_eq!((&request["path"], &request["idempotency_key"]), (&json!(RUN), &json!("k")));
    assert_eq!(entry["events"], json!([]));
}

#[test]
fn conditions_on_the_input_select_the_calls_that_count() {
    let caller = Caller::instant();
    let people = caller.get(EMPLOYEES).data();
    let (first, second) = (id(&people[0]).to_owned(), id(&people[1]).to_owned());
    let update = |person: &str, department: &str| {
        let request = caller.request("PATCH", &format!("{EMPLOYEES}/{person}"));
        caller.send(&request.json(&json!({"department": department})))
    };
    let row = add(
        &caller,
        &json!({"on": "updateEmployee", "where": {"employee_id": first, "department": "Moon"}, "nth": 2, "status": 503}),
    );
    assert_eq!(row["conditions"], json!(["employee_id", "department"]));
    update(&first, "Moon").expect(200);
    update(&first, "Mars").expect(200);
    update(&second, "Moon").expect(200);
    let before = caller.digest();
    let refused = update(&first, "Moon");
    refused.refused(503, "maintenance");
    assert_eq!(caller.digest(), before);
    let source = format!("fault=rule {}", id(&row));
    assert_eq!(refused.header("sandbox-decision"), Some(source.as_str()));
    update(&first, "Moon").expect(200);
    let listed = caller.get(FAULTS).data();
    assert_eq!((&listed[0]["asked"], &listed[0]["hits"]), (&json!(3), &json!(1)));
    let logged = caller.all("/_sandbox/requests?operation=updateEmployee");
    let faulted: Vec<bool> = logged.iter().map(|row| row["fault"].is_object()).collect();
    assert_eq!(faulted, [false, false, false, true, false], "each call is logged once");
    assert_eq!(logged[3]["body"]["department"], "Moon");
}

#[test]
fn conditions_compare_numbers_and_follow_references_and_a_rule_has_them_too() {
    let caller = Caller::instant();
    let wallet = caller.get("/api/payments/wallets").data()[0].clone();
    let row = json!({"match": {"operation": "createPayout", "where": {"amount": ">= 500000", "company_id": "@company:1"}}, "fault": {"lose": "reply"}});
    caller.post("/_sandbox/rules", &row).expect(201);
    let fault = |amount: i64| {
        let body =
            json!({"company_id": wallet["company_id"], "wallet_id": id(&wallet), "amount": amount});
        let request = caller.request("POST", "/api/payments/payouts").json(&body);
        super::raw(&caller, &request).is_empty()
    };
    assert_eq!([fault(499_999), fault(500_000), fault(1)], [false, true, false]);
    for (wrong, pointer, code) in [
        (json!({"amonut": 5}), "/match/where/amonut", "unknown"),
        (json!({"amount": [5]}), "/match/where/amount", "type"),
        (json!({"a/b": 5}), "/match/where/a~1b", "unknown"),
    ] {
        let body = json!({"match": {"operation": "createPayout", "where": wrong}, "fault": {"status": 503}});
        let problem = caller.post("/_sandbox/rules", &body).refused(422, "validation_failed");
        let body = json!({"on": "createPayout", "where": wrong, "status": 503});
        let direct = caller.post(FAULTS, &body).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer);
        assert_eq!(direct["errors"][0]["pointer"], pointer.trim_start_matches("/match"));
        assert_eq!(direct["errors"][0]["code"], code);
    }
}

#[test]
fn rules_and_faults_are_listed_and_removed_by_themselves() {
    let caller = Caller::manual();
    let fault = caller.post("/_sandbox/faults", &json!({"on": "createPayout", "status": 503}));
    let fault = fault.expect(201)["data"]["id"].clone();
    for rule in [
        json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "returned"}}),
        json!({"match": {"operation": "runPayroll"}, "fault": {"status": 503}}),
        json!({"match": {"event": "payout.paid"}, "shape": "drop"}),
    ] {
        caller.post("/_sandbox/rules", &rule).expect(201);
    }
    let rows = |path: &str| caller.get(path).data().as_array().unwrap().clone();
    let delete = |path: &str| caller.send(&caller.request("DELETE", path));
    assert_eq!(rows("/_sandbox/rules").len(), 3);
    delete(&format!("/_sandbox/rules/{}", fault.as_str().unwrap()))
        .refused(404, "resource_not_found");
    assert_eq!(delete("/_sandbox/rules").data()["removed"], 3);
    assert!(rows("/_sandbox/rules").is_empty());
    let faults = rows("/_sandbox/faults");
    assert_eq!(faults.iter().map(|fault| &fault["id"]).collect::<Vec<_>>(), [&fault]);
}

#[test]
fn a_key_has_at_most_a_thousand_rules_and_faults() {
    let caller = Caller::manual();
    let rule = json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "returned"}});
    let fault = json!({"on": "runPayroll", "latency": "1ms"});
    for _ in 0..500 {
        caller.post("/_sandbox/rules", &rule).expect(201);
        caller.post("/_sandbox/faults", &fault).expect(201);
    }
    for (path, body) in [("/_sandbox/rules", &rule), ("/_sandbox/faults", &fault)] {
        let refused = caller.post(path, body).refused(422, "validation_failed");
        assert_eq!(refused["errors"][0]["code"], "too_many", "{refused}");
    }
    caller.send(&caller.request("DELETE", "/_sandbox/rules")).expect(200);
    caller.post("/_sandbox/rules", &rule).expect(201);
}

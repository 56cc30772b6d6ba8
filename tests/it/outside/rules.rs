//! The conditions of rules: which members they can name, and how they are shown.

use serde_json::{Value, json};

use crate::harness::Caller;

fn add(caller: &Caller, matched: &Value, act: (&str, Value)) -> crate::harness::Answer {
    let mut body = json!({"match": matched});
    body[act.0] = act.1;
    caller.post("/_sandbox/rules", &body)
}

#[test]
fn a_rule_shows_its_conditions_when_it_is_added_and_in_the_list() {
    let caller = Caller::manual();
    let employee = caller.payable(&caller.company(0)).remove(0);
    let outcome = || ("outcome", json!({"then": "returned"}));
    let conditions = json!({"amount": ">= 500000", "department": "Engineering", "company": "@company:1", "employee": 3});
    let matched = json!({"decision": "payout.settle", "where": conditions});
    let rule = add(&caller, &matched, outcome()).made();
    assert_eq!(rule["where"], conditions);
    // An instant is compared in the form in which resources show it.
    let whole =
        json!({"decision": "payout.settle", "where": {"created_at": "2026-01-01T00:00:00Z"}});
    let rule = add(&caller, &whole, outcome()).made();
    assert_eq!(rule["where"]["created_at"], "2026-01-01T00:00:00.000Z");
    let path = format!("/_sandbox/rules/{}", rule["id"].as_str().unwrap());
    assert!(caller.send(&caller.request("DELETE", &path)).status < 300);
    let about = json!({"decision": "payout.settle", "resource": employee});
    let rule = add(&caller, &about, outcome()).made();
    assert_eq!(rule["where"], json!({"employee": employee}));
    let on = json!({"operation": "createPayout", "where": {"amount": "< 5"}});
    let fault = add(&caller, &on, ("fault", json!({"status": 503}))).made();
    assert_eq!(fault["where"], json!({"amount": "< 5"}));
    let event = json!({"event": "payout.*", "where": {"status": "paid", "company": "@company:2"}});
    let shape = add(&caller, &event, ("shape", json!("drop"))).made();
    assert_eq!(shape["where"], event["where"]);
    let plain = add(&caller, &json!({"decision": "payout.settle"}), outcome()).made();
    assert!(plain.get("where").is_none(), "{plain}");
    let listed = caller.get("/_sandbox/rules").data();
    let shown: Vec<&Value> = listed.as_array().unwrap().iter().map(|rule| &rule["where"]).collect();
    assert_eq!(
        shown,
        [
            &Value::Null,
            &json!({"employee": employee}),
            &conditions,
            &json!({"amount": "< 5"}),
            &event["where"]
        ]
    );
    let faults = caller.get("/_sandbox/faults").data();
    assert_eq!(faults[0]["where"], json!({"amount": "< 5"}));
}

#[test]
fn a_condition_on_an_unknown_member_is_refused_with_its_pointer() {
    let caller = Caller::manual();
    let decision = |conditions: Value| {
        let matched = json!({"decision": "payout.settle", "where": conditions});
        add(&caller, &matched, ("outcome", json!({"then": "returned"})))
    };
    let event = |on: &str, conditions: Value| {
        let matched = json!({"event": on, "where": conditions});
        add(&caller, &matched, ("shape", json!("drop")))
    };
    for (answer, pointer, words) in [
        (decision(json!({"amonut": 5})), "/match/where/amonut", "did you mean amount"),
        (decision(json!({"a/b": 5})), "/match/where/a~1b", "expected a member of"),
        (decision(json!({"recipient": "Ada"})), "/match/where/recipient", "a single value"),
        (decision(json!({"amount": "abc"})), "/match/where/amount", "a whole number"),
        (decision(json!({"amount": true})), "/match/where/amount", "a whole number"),
        (decision(json!({"created_at": "x"})), "/match/where/created_at", "expected"),
        (decision(json!({"rail": "pigeon"})), "/match/where/rail", "expected one of"),
        (decision(json!({"invoice": 1})), "/match/where/invoice", "expected a member of"),
        (event("payout.paid", json!({"amonut": 5})), "/match/where/amonut", "did you mean amount"),
        (event("payout.*", json!({"statsu": "paid"})), "/match/where/statsu", "mean status"),
        (event("*", json!({"amount": 5})), "/match/where", "events of one resource"),
    ] {
        let problem = answer.refused(422, "validation_failed");
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!((errors.len(), &errors[0]["pointer"]), (1, &json!(pointer)), "{problem}");
        assert!(errors[0]["detail"].as_str().unwrap().contains(words), "{problem}");
    }
    assert_eq!(caller.get("/_sandbox/rules").data(), json!([]), "a refused rule is not added");
}

#[test]
fn the_header_names_a_scenario_of_the_key_before_a_shipped_one() {
    let caller = Caller::manual();
    let text = |then: &str| {
        format!("title = \"Own\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"{then}\"\n")
    };
    for name in ["own", "partial-failure"] {
        let own = json!({"name": name, "text": text("failed"), "run": false});
        caller.post("/_sandbox/scenarios", &own).made();
        let (run, _) = super::pay(&caller, &super::people(&caller, 2), Some(name));
        assert_eq!(
            (&run["settlement"]["failed"], &run["settlement"]["paid"]),
            (&json!(2), &json!(0))
        );
    }
    let other = Caller::manual();
    let request = other.request("GET", "/api/business/companies").header("Sandbox-Scenario", "own");
    other.send(&request).refused(400, "unknown_scenario");
}

#[test]
fn every_mistake_of_a_rule_has_its_place_in_the_rule() {
    let caller = Caller::manual();
    let fault = |does: Value| add(&caller, &json!({"operation": "runPayroll"}), ("fault", does));
    let unknown = json!({"operation": "createPayout", "where": {"zz": 1}});
    let deliveries = json!({"event": "payout.*", "resource": "com_0000000000001"});
    let decision = |part: &str, value: Value| {
        let matched = json!({"decision": "payout.settle", part: value});
        add(&caller, &matched, ("outcome", json!({"then": "failed"})))
    };
    for (answer, pointer) in [
        (fault(json!({"lose": "reply", "status": 503})), "/fault/lose"),
        (fault(json!({"latency": "10d"})), "/fault/latency"),
        (fault(json!({"retry_after": "5s", "latency": "1ms"})), "/fault/retry_after"),
        (fault(json!({})), "/fault"),
        (add(&caller, &unknown, ("fault", json!({"status": 503}))), "/match/where/zz"),
        (add(&caller, &deliveries, ("shape", json!("drop"))), "/match/resource"),
        (decision("where", json!({"employee": "emp_zzz"})), "/match/where/employee"),
        (decision("resource", json!("pyo_x")), "/match/resource"),
    ] {
        let problem = answer.refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{pointer}: ")), "{detail}");
    }
    assert_eq!(caller.get("/_sandbox/rules").data(), json!([]), "a refused rule is not added");
}

/// The choices about four payouts of a run, in order.
fn settled(caller: &Caller) -> Vec<Value> {
    super::pay(caller, &super::people(caller, 4), None);
    let decided = caller.all("/_sandbox/decisions?decision=payout.settle");
    decided.iter().map(|one| one["chosen"].clone()).collect()
}

#[test]
fn each_row_counts_its_matches_also_those_that_another_row_decided() {
    let row = |keys: &str| format!("\n[[outcome]]\non = \"payout.settle\"\n{keys}\n");
    for (rows, chosen) in [
        (
            ["nth = 1\nthen = \"returned\"", "nth = 2\nthen = \"failed\""],
            ["returned", "failed", "paid", "paid"],
        ),
        (
            ["where = { employee = 1 }\nthen = \"returned\"", "nth = 2\nthen = \"failed\""],
            ["returned", "failed", "paid", "paid"],
        ),
        (
            ["nth = \"2..3\"\nthen = \"failed\"", "nth = 3\nthen = \"returned\""],
            ["paid", "failed", "failed", "paid"],
        ),
        // `times` counts only the matches on which the row itself acts.
        (
            ["times = 1\nthen = \"returned\"", "times = 2\nthen = \"failed\""],
            ["returned", "failed", "failed", "paid"],
        ),
    ] {
        let caller = Caller::manual();
        let text = format!("title = \"Rows\"\n{}{}", row(rows[0]), row(rows[1]));
        caller.post("/_sandbox/scenarios", &json!({"name": "rows", "text": text})).made();
        assert_eq!(settled(&caller), chosen, "{text}");
    }
}

#[test]
fn a_rule_counts_the_matches_of_a_later_rule() {
    let caller = Caller::manual();
    let matched = json!({"decision": "payout.settle"});
    for (nth, then) in [(2, "failed"), (1, "returned")] {
        let rule = json!({"match": matched, "nth": nth, "outcome": {"then": then}});
        caller.post("/_sandbox/rules", &rule).made();
    }
    assert_eq!(settled(&caller), ["returned", "failed", "paid", "paid"]);
    let rules = caller.get("/_sandbox/rules").data();
    let counts: Vec<_> =
        rules.as_array().unwrap().iter().map(|rule| (&rule["asked"], &rule["hits"])).collect();
    assert_eq!(counts, [(&json!(4), &json!(1)), (&json!(4), &json!(1))]);
}

#[test]
fn a_running_scenario_is_not_added_again() {
    let caller = Caller::manual();
    let text = "title = \"Money\"\n\n[[timeline]]\nat = \"+1d\"\ninbound = \"bank_transfer\"\n\
        with = { company_id = \"@company:1\", amount = 1000, from = \"owner\" }\n";
    let add = json!({"name": "money", "text": text, "add": true});
    caller.post("/_sandbox/scenarios", &add).made();
    let before = caller.digest();
    let problems = [
        caller.post("/_sandbox/scenarios", &add),
        caller.post("/_sandbox/scenarios/money/load", &json!({"add": true})),
    ];
    for problem in problems {
        let problem = problem.refused(422, "validation_failed");
        let error = &problem["errors"][0];
        assert_eq!(
            (&error["pointer"], &error["code"]),
            (&json!("/add"), &json!("already_running"))
        );
    }
    let rows = caller.get("/_sandbox/scenarios/coverage").data();
    assert_eq!((&rows["total"], caller.digest()), (&json!(1), before));
    caller.advance(&json!({"by": "2d"}));
    let credits = super::names(&caller);
    assert_eq!(credits.iter().filter(|name| *name == "wallet.credited").count(), 1);
    // Without `add`, it starts again.
    caller.post("/_sandbox/scenarios/money/load", &json!({})).expect(200);
}

#[test]
fn a_running_scenario_also_decides_in_the_world_of_an_added_one() {
    let caller = Caller::manual();
    let text = "title = \"Own\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"failed\"\n";
    caller.post("/_sandbox/scenarios", &json!({"name": "own", "text": text})).made();
    let added = caller.post("/_sandbox/scenarios/partial-failure/load", &json!({"add": true}));
    assert_eq!(added.data()["regrown"], true);
    let (run, _) = super::pay(&caller, &super::people(&caller, 2), None);
    assert_eq!(run["settlement"]["failed"], 2, "{run}");
}

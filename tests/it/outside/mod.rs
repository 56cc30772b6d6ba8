//! The answers of the outside world by rule, header, magic value and default; and the interventions of a
//! tester.

mod hand;
mod hand_answers;
mod hand_checks;
mod hand_moves;
mod rules;
mod triggers;

use serde_json::{Value, json};

use crate::harness::{Answer, Caller, Request, Server};

/// Runs the first month of these employees of the first company, as far as the clock goes.
fn pay(caller: &Caller, people: &[String], header: Option<&str>) -> (Value, Answer) {
    let period = &caller.now()[..7];
    let body = json!({"company_id": caller.company(0), "period": period, "employees": people});
    let mut request = caller.request("POST", "/v1/payroll/run").json(&body);
    if let Some(value) = header {
        request = request.header("Sandbox-Scenario", value);
    }
    let answer = caller.send(&request);
    let id = answer.expect(201)["data"]["id"].as_str().unwrap().to_owned();
    caller.advance(&json!({"by": "60d"}));
    (caller.run(&id), answer)
}

fn people(caller: &Caller, count: usize) -> Vec<String> {
    let mut people = caller.payable(&caller.company(0));
    people.truncate(count);
    people
}

fn rule(caller: &Caller, matched: &Value, outcome: &Value) -> Value {
    let body = json!({"match": matched, "outcome": outcome});
    caller.post("/_sandbox/rules", &body).made()
}

fn names(caller: &Caller) -> Vec<String> {
    let events = caller.events();
    events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

/// The types of events, and the count of each.
type Happened = &'static [(&'static str, usize)];

/// Every choice, the end of the run, and the counts of these events.
#[test]
fn every_choice_of_a_payout_has_its_result_and_the_books_stay_consistent() {
    let cases: [(&str, &str, Happened); 8] = [
        ("paid", "paid", &[("payout.paid", 2), ("payslip.issued", 2)]),
        ("delayed", "paid", &[("payout.paid", 2)]),
        (
            "failed",
            "partially_paid",
            &[("payout.failed", 1), ("payroll_item.failed", 1), ("payslip.issued", 1)],
        ),
        (
            "returned",
            "partially_paid",
            // The rail of Nigeria refuses at once.
            &[("payout.failed", 1), ("payroll_item.failed", 1), ("payslip.issued", 1)],
        ),
        (
            "returned_late",
            "paid",
            &[("payout.paid", 2), ("payout.returned", 1), ("payslip.issued", 2)],
        ),
        ("held_then_paid", "paid", &[("payout.on_hold", 1), ("payout.paid", 2)]),
        (
            "held_then_rejected",
            "partially_paid",
            &[("payout.on_hold", 1), ("payout.failed", 1), ("payout.sent", 1)],
        ),
        ("rail_down", "partially_paid", &[("payout.failed", 1)]),
    ];
    for clock in [Caller::manual, Caller::instant] {
        for (choice, ends, happened) in cases {
            let caller = clock();
            let people = people(&caller, 2);
            let matched = json!({"decision": "payout.settle", "resource": people[0]});
            rule(&caller, &matched, &json!({"then": choice}));
            let (run, _) = pay(&caller, &people, None);
            assert_eq!(run["status"], ends, "{choice}");
            let names = names(&caller);
            for (name, times) in happened {
                let came = names.iter().filter(|other| other == name).count();
                assert_eq!(came, *times, "{choice}: {name}");
            }
            caller.audit();
        }
    }
}

#[test]
fn a_run_whose_payouts_all_fail_has_failed() {
    let caller = Caller::manual();
    rule(&caller, &json!({"decision": "payout.settle"}), &json!({"then": "failed", "code": "R04"}));
    let (run, _) = pay(&caller, &people(&caller, 2), None);
    assert_eq!(run["status"], "failed");
    assert_eq!(run["settlement"], json!({"paid": 0, "failed": 2, "pending": 0}));
    let items =
        caller.all(&format!("/api/business/payroll-runs/{}/items", run["id"].as_str().unwrap()));
    assert_eq!(items[0]["failure"]["return_code"], "07");
    assert_eq!(items[0]["failure"]["code"], "invalid_account_number");
    caller.audit();
}

#[test]
fn a_refusal_by_the_bank_leaves_the_run_unfunded() {
    let caller = Caller::manual();
    rule(&caller, &json!({"decision": "payroll_run.fund"}), &json!({"then": "insufficient_funds"}));
    let (run, _) = pay(&caller, &people(&caller, 1), None);
    assert_eq!(run["status"], "funding_failed");
    assert!(run["blockers"][0].as_str().unwrap().contains("bank"));
    caller.audit();
}

#[test]
fn a_rule_comes_before_the_header_the_header_before_the_value_and_the_value_before_the_default() {
    let settled = |setup: &dyn Fn(&Caller, &str), header: Option<&str>| {
        let caller = Caller::manual();
        let people = people(&caller, 1);
        setup(&caller, &people[0]);
        caller.advance(&json!({"by": "2m"}));
        pay(&caller, &people, header);
        let decided = caller.all("/_sandbox/decisions?decision=payout.settle");
        (decided[0]["chosen"].clone(), decided[0]["why"].clone())
    };
    let account = |caller: &Caller, person: &str| {
        let method = json!({"type": "bank", "bank_code": "058", "account_number": "9999999990"});
        let path = format!("/api/business/employees/{person}/payment-method");
        let request = caller.request("PUT", &path).json(&method);
        caller.send(&request).expect(200);
    };
    let ruled = |caller: &Caller, person: &str| {
        account(caller, person);
        rule(caller, &json!({"decision": "payout.settle"}), &json!({"then": "rail_down"}));
    };
    let nothing = |_: &Caller, _: &str| {};
    let asked = Some("payout.settle=failed;code=R03");
    assert_eq!(settled(&nothing, None), (json!("paid"), json!("default")));
    assert_eq!(settled(&account, None), (json!("delayed"), json!("magic_value")));
    assert_eq!(settled(&account, asked), (json!("failed"), json!("header")));
    assert_eq!(settled(&ruled, asked), (json!("rail_down"), json!("rule")));
}

#[test]
fn a_decision_is_shown_on_the_event_in_the_reply_and_in_the_list() {
    let caller = Caller::instant();
    let header = "payout.settle=returned;code=R02, payroll_run.calculate=on_time";
    let (_, answer) = pay(&caller, &people(&caller, 2), Some(header));
    let decided = answer.header("sandbox-decision").unwrap();
    assert!(decided.contains("payout.settle=returned;code=07;why=header;times=2"), "{decided}");
    let events = caller.events();
    let returned = events.iter().find(|event| event["type"] == "payout.failed").unwrap();
    assert_eq!(returned["decision"]["chosen"], "returned");
    assert_eq!(returned["decision"]["code"], "07");
    let listed = caller.all("/_sandbox/decisions?why=header");
    assert_eq!(listed[0]["source"], "Sandbox-Scenario");
    let choices = listed.last().unwrap()["choices"].as_array().unwrap();
    assert!(choices.contains(&json!("returned_late")));
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let caller = Caller::instant();
    for (header, said) in [
        ("payout.setle=failed", "there is no decision"),
        ("payout.settle=lost", "has no choice"),
        ("payout.settle=paid;code=R02", "code=R02"),
        ("payout.settle=failed;code=R99", "code=R99"),
        ("payout.settle=delayed;after=x", "after=x: expected a duration"),
        ("payout.settle", "write payout.settle=CHOICE, with one of paid"),
        ("payout.settle=paid,payout.settle=returned", "payout.settle is chosen twice"),
        ("payout.settle=returned;code=R02;code=R03", "code is given twice"),
        ("payout.settle=returned;after=1d;after=9d", "after is given twice"),
        ("no-such-scenario", "unknown scenario"),
    ] {
        let request =
            caller.request("GET", "/api/business/companies").header("Sandbox-Scenario", header);
        let refused = caller.send(&request).refused(400, "unknown_scenario");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(said), "{header}: {detail}");
    }
}

#[test]
fn an_unrelated_call_shifts_no_answer_of_the_outside_world() {
    let ids = |noise: bool| {
        let caller = Caller::manual();
        let people = people(&caller, 3);
        if noise {
            caller
                .post(
                    "/_sandbox/inbound/bank_transfer",
                    &json!({"company_id": caller.company(1), "amount": 5}),
                )
                .expect(200);
        }
        rule(
            &caller,
            &json!({"decision": "payout.settle", "where": {"employee": 3}}),
            &json!({"then": "returned"}),
        );
        pay(&caller, &people, None);
        let decided = caller.all("/_sandbox/decisions?decision=payout.settle");
        let decided = decided.iter().map(|one| (one["subject_id"].clone(), one["chosen"].clone()));
        decided.collect::<Vec<_>>()
    };
    let quiet = ids(false);
    assert_eq!(quiet[2].1, "returned");
    assert_eq!(quiet, ids(true));
}

#[test]
fn a_loaded_scenario_decides_and_its_coverage_counts() {
    let caller = Caller::manual();
    let loaded = caller.post("/_sandbox/scenarios/partial-failure/load", &json!({})).data();
    assert_eq!(loaded["regrown"], true);
    let (run, _) = pay(&caller, &people(&caller, 3), None);
    assert_eq!(run["status"], "partially_paid");
    let coverage = caller.get("/_sandbox/scenarios/coverage").data();
    assert!(coverage["hit"].as_u64().unwrap() > 0, "{coverage}");
    let ended = caller.send(&caller.request("DELETE", "/_sandbox/scenarios/current")).data();
    assert_eq!(ended["ended"], json!(["partial-failure"]));
    let unknown = caller.post("/_sandbox/scenarios/partial-failur/load", &json!({}));
    let problem = unknown.refused(404, "resource_not_found");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("did you mean partial-failure"), "{detail}");
    caller.audit();
}

const FAILING: &str =
    "title = \"Every payout fails\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"failed\"\n";

/// The scenarios that run in the world of the caller.
fn running(caller: &Caller) -> Vec<String> {
    let rows = caller.get("/_sandbox/scenarios").data();
    let rows = rows.as_array().unwrap().iter().filter(|row| row["running"] == true);
    rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_scenario_is_added_as_text_for_one_key() {
    let caller = Caller::manual();
    let body = json!({"name": "mine", "text": FAILING});
    caller.post("/_sandbox/scenarios", &body).expect(201);
    assert_eq!(running(&caller), ["mine"]);
    let (run, _) = pay(&caller, &people(&caller, 2), None);
    assert_eq!(run["status"], "failed", "{run}");
    // The scenario survives a reset, is copied into a fork, and can be ended and loaded again.
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    assert_eq!(running(&caller), ["mine"]);
    caller.post("/_sandbox/reset", &json!({"scenario": null})).expect(200);
    assert_eq!(running(&caller), [""; 0]);
    caller.post("/_sandbox/scenarios/mine/load", &json!({})).expect(200);
    assert_eq!(running(&caller), ["mine"]);
    let key = format!("{}_fork", caller.key());
    let fork = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    caller.post(&fork, &json!({"key": key})).made();
    let request = Request::new("POST", "/_sandbox/scenarios/mine/load").key(&key).json(&json!({}));
    request.send(caller.port()).expect(200);
    // Another key does not know it.
    let other = Caller::manual();
    other.post("/_sandbox/scenarios/mine/load", &json!({})).refused(404, "resource_not_found");
}

#[test]
fn a_scenario_with_mistakes_is_refused_with_the_report_of_check() {
    let caller = Caller::manual();
    let before = caller.digest();
    let text = FAILING.replace("payout.settle", "payout.setle").replace("failed", "eaten");
    let body = json!({"name": "wrong", "text": text});
    let problem = caller.post("/_sandbox/scenarios", &body).refused(422, "validation_failed");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wrong.toml"), &text).unwrap();
    let mut check = crate::harness::command(&["scenario", "check", "wrong.toml"]);
    let report = crate::harness::finish(check.current_dir(folder.path())).stderr;
    let report = String::from_utf8(report).unwrap();
    let detail = problem["detail"].as_str().unwrap();
    assert!(report.contains(detail) && detail.contains("payout.settle"), "{report}\n{detail}");
    assert_eq!(problem["errors"][0]["pointer"], "/text");
    let place = problem["errors"][0]["detail"].as_str().unwrap();
    assert!(place.starts_with("wrong.toml: line 4, column 6: "), "{place}");
    for (body, pointer) in [
        (json!({"name": "Has Space", "text": FAILING}), "/name"),
        (json!({"name": "mine"}), "/text"),
        (json!({"name": "mine", "text": ""}), "/text"),
    ] {
        let problem = caller.post("/_sandbox/scenarios", &body).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer);
    }
    assert_eq!(caller.digest(), before);
    assert_eq!(running(&caller), [""; 0]);
}

#[test]
fn a_reset_gives_a_world_of_another_shape() {
    let caller = Caller::instant();
    let shape = json!({"countries": ["KE", "gb"], "companies": 2, "employees_per_company": 7, "start": "2026-06-01T00:00:00Z"});
    caller.post("/_sandbox/reset", &shape).expect(200);
    let companies = caller.all("/api/business/companies");
    let countries: Vec<&Value> = companies.iter().map(|company| &company["country"]).collect();
    assert_eq!(countries, ["KE", "GB"]);
    assert_eq!(caller.all("/api/business/employees").len(), 14);
    assert!(caller.now().starts_with("2026-06-01T00:00:00"));
    // Absent members are unchanged.
    caller.post("/_sandbox/reset", &json!({"employees_per_company": 3})).expect(200);
    assert_eq!(caller.all("/api/business/employees").len(), 6);
    let before = caller.digest();
    for (wrong, pointer) in [
        (json!({"countries": ["GB", "XX"]}), "/countries/1"),
        (json!({"countries": []}), "/countries"),
        (json!({"companies": 0}), "/companies"),
        (
            json!({"companies": 1_000_000_000, "employees_per_company": 1_000}),
            "/employees_per_company",
        ),
        (json!({"start": "1999-01-01T00:00:00Z"}), "/start"),
    ] {
        let problem = caller.post("/_sandbox/reset", &wrong).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{wrong}");
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_reset_restores_the_first_world_its_scenario_and_its_keys() {
    let server = std::sync::Arc::new(Server::start(&["--scenario", "partial-failure"]));
    let caller = Caller::with_key(&server, "test_reset");
    let (digest, body) = (caller.digest(), json!({"company_id": caller.company(0)}));
    let hire = |caller: &Caller| {
        let mut hired = body.clone();
        for (name, value) in [
            ("name", "Ada Obi"),
            ("role", "Clerk"),
            ("department", "Finance"),
            ("start_date", "2026-03-20"),
        ] {
            hired[name] = value.into();
        }
        let request = caller.request("POST", "/api/business/employees");
        caller.send(&request.header("Idempotency-Key", "k").json(&hired))
    };
    hire(&caller).expect(201);
    assert_eq!(hire(&caller).header("idempotent-replayed"), Some("true"));
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    assert_eq!(caller.digest(), digest);
    let again = hire(&caller);
    again.expect(201);
    assert_eq!(again.header("idempotent-replayed"), None);
}

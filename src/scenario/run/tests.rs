use serde_json::json;

use super::*;
use crate::scenario::file::check;
use crate::value::Look;

/// Returns the prepared answers, and stores the calls.
#[derive(Default)]
struct Played {
    replies: Vec<Came>,
    events: Vec<&'static str>,
    deliveries: BTreeMap<String, u64>,
    asked: Vec<String>,
}

impl Runner for Played {
    fn call(
        &mut self,
        operation: &'static Operation,
        input: &Map<String, Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String> {
        let input = Value::Object(input.clone());
        self.asked.push(format!("{} {input} {headers:?}", operation.name));
        Ok(self.replies.remove(0))
    }

    fn nth(&mut self, kind: &str, _: Places, place: u64) -> Result<Option<String>, String> {
        Ok((place < 9).then(|| format!("{kind}#{place}")))
    }

    fn external(&mut self, name: &str) -> Result<Result<String, String>, String> {
        let is_known = name != "unknown";
        Ok(is_known
            .then(|| format!("ext#{name}"))
            .ok_or_else(|| "it belongs to no resource".to_owned()))
    }

    fn advance(&mut self, by: Span) -> Result<(), String> {
        self.asked.push(format!("advance {by}"));
        Ok(())
    }

    fn idle(&mut self) -> Result<(), String> {
        self.asked.push("idle".to_owned());
        Ok(())
    }

    fn events(&mut self) -> Result<Vec<Value>, String> {
        Ok(self.events.iter().map(|name| json!({ "type": name })).collect())
    }

    fn deliveries(&mut self, _: &BTreeMap<String, u64>) -> Result<BTreeMap<String, u64>, String> {
        Ok(self.deliveries.clone())
    }

    fn coverage(&mut self) -> Result<Vec<RowHits>, String> {
        Ok(Vec::new())
    }
}

fn replied(status: u16, body: Value) -> Came {
    Came::Reply(Reply {
        status,
        headers: [("retry-after".to_owned(), "1".to_owned())].into(),
        body,
    })
}

fn played(file: &str, mut runner: Played) -> (RunReport, Vec<String>) {
    let checked = check("f.toml", &|_| Ok(file.as_bytes().to_vec()));
    assert_eq!(checked.report(Look::Plain), "");
    let scenario = checked.scenario.expect("nothing is wrong with it");
    let outcome = run(&scenario, &mut runner).expect("the runner answers");
    (outcome, runner.asked)
}

fn texts(differences: &[Difference]) -> Vec<String> {
    differences.iter().map(|it| format!("{}: {} but {}", it.at, it.expected, it.came)).collect()
}

#[test]
fn references_become_ids_and_saved_values() {
    let file = r#"
[[step]]
call = "runPayroll"
with = { company_id = "@company:1", period = "2026-03", employees = ["@employee:2", "@employee:3"] }
headers = { Idempotency-Key = "k" }
save = "run"
[[step]]
advance = "10d"
[[step]]
idle = true
[[step]]
call = "getPayrollRun"
with = { payroll_run_id = "@run.data.ids.1" }
expect = { body = { data = { id = "@run.data.ids.1" } } }
"#;
    let runner = Played {
        replies: vec![
            replied(201, json!({ "data": { "ids": ["a", "b"] } })),
            replied(200, json!({ "data": { "id": "b" } })),
        ],
        ..Played::default()
    };
    let (outcome, asked) = played(file, runner);
    assert!(outcome.passed(), "{outcome:?}");
    assert_eq!(
        asked,
        [
            r#"run_payroll {"company_id":"company#1","period":"2026-03","employees":["employee#2","employee#3"]} {"Idempotency-Key": "k"}"#,
            "advance 10d",
            "idle",
            r#"get_payroll_run {"payroll_run_id":"b"} {}"#,
        ]
    );
}

#[test]
fn every_difference_of_a_reply_is_reported_with_its_position() {
    let file = r#"
[[step]]
call = "runPayroll"
with = { company_id = "@company:1", period = "2026-03" }
expect = { status = 201, headers = { Retry-After = "2", X = "y" }, body = { data = { status = "paid", gone = 1, list = [{ a = 1 }, { a = 2 }], short = [1] } } }
"#;
    let runner = Played {
        replies: vec![replied(
            409,
            json!({
                "detail": "no",
                "data": { "status": "failed", "list": [{ "a": 1, "b": 9 }, { "a": 3 }], "short": [], "more": true },
            }),
        )],
        ..Played::default()
    };
    let (outcome, _) = played(file, runner);
    assert_eq!(
        texts(&outcome.steps[0].differences),
        [
            "status: 201 but 409: no",
            "header Retry-After: \"2\" but \"1\"",
            "header X: \"y\" but no such header",
            "body/data/status: \"paid\" but \"failed\"",
            "body/data/gone: 1 but no such member",
            "body/data/list/1/a: 2 but 3",
            "body/data/short: 1 item but 0 items",
        ]
    );
    assert_eq!(outcome.differences(), 7);
}

#[test]
fn a_lost_exchange_differs_from_a_reply() {
    let file = r#"
[[step]]
call = "listCompanies"
expect = { lost = true }
[[step]]
call = "listCompanies"
expect = { lost = true }
[[step]]
call = "listCompanies"
expect = { status = 200 }
"#;
    let runner = Played {
        replies: vec![Came::Lost, replied(200, json!({})), Came::Lost],
        ..Played::default()
    };
    let (outcome, _) = played(file, runner);
    let steps: Vec<_> = outcome.steps.iter().map(|step| texts(&step.differences)).collect();
    assert!(steps[0].is_empty());
    assert_eq!(steps[1], ["status: no complete reply but 200"]);
    assert_eq!(steps[2], ["status: 200 but no complete reply"]);
}

#[test]
fn an_input_with_an_unresolved_reference_is_not_sent() {
    let file = r#"
[[step]]
call = "listCompanies"
save = "all"
[[step]]
call = "getCompany"
with = { company_id = "@all.data.0.id" }
[[step]]
call = "getCompany"
with = { company_id = "@company:9" }
"#;
    let runner = Played { replies: vec![replied(200, json!({ "data": [] }))], ..Played::default() };
    let (outcome, asked) = played(file, runner);
    assert_eq!(asked.len(), 1);
    assert_eq!(texts(&outcome.steps[1].differences), ["@all.data.0.id: a value but no value"]);
    assert_eq!(texts(&outcome.steps[2].differences), ["@company:9: a value but no value"]);
}

#[test]
fn events_of_other_resources_do_not_disturb_a_list_and_deliveries_are_counted() {
    let file = r#"
[expect]
events = ["payroll_run.created", "…", "payroll_run.paid"]
deliveries = { "payroll_run.paid" = 2, "payroll_run.created" = 0 }
"#;
    let runner = || Played {
        events: vec![
            "payroll_run.created",
            "tax_liability.created",
            "payroll_run.funded",
            "payroll_run.paid",
            "payslip.issued",
        ],
        deliveries: [("payroll_run.paid".to_owned(), 2)].into(),
        ..Played::default()
    };
    assert!(played(file, runner()).0.passed());
    let other = Played {
        events: vec!["payroll_run.created", "payroll_run.failed", "payout.failed"],
        deliveries: BTreeMap::new(),
        ..Played::default()
    };
    assert_eq!(
        texts(&played(file, other).0.differences),
        [
            "events: payroll_run.created, …, payroll_run.paid but payroll_run.created, payroll_run.failed",
            "deliveries of payroll_run.paid: 2 but 0",
        ]
    );
}

#[test]
fn a_gap_matches_any_number_of_events() {
    let follows = |pattern: &str, names: &str| {
        let pattern: Vec<String> = pattern.split_whitespace().map(str::to_owned).collect();
        let names: Vec<&str> = names.split_whitespace().collect();
        follows(&pattern, &names)
    };
    for (pattern, names) in [
        ("a b", "a b"),
        ("a … c", "a c"),
        ("a … c", "a b b c"),
        ("a … c", "a c b c"),
        ("…", ""),
        ("… b", "a b"),
        ("a …", "a b c"),
        ("… b … d …", "a b c d e"),
        ("", ""),
    ] {
        assert!(follows(pattern, names), "{pattern} / {names}");
    }
    for (pattern, names) in [
        ("a b", "a"),
        ("a", "a b"),
        ("a … c", "a b"),
        ("a … c", "b c"),
        ("… b … b", "a b"),
        ("a", ""),
        ("", "a"),
    ] {
        assert!(!follows(pattern, names), "{pattern} / {names}");
    }
}

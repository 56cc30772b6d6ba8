//! Tools for language models: `POST /_sandbox/mcp` and `sandbox mcp`.

mod contract;
mod hostile;
mod protocol;
mod stdio;

use serde_json::{Value, json};

use crate::harness::{Answer, Caller, Request};

const PATH: &str = "/_sandbox/mcp";

/// A message, sent with the key of the caller.
fn message(caller: &Caller, method: &str, params: &Value) -> Request {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    caller.request("POST", PATH).json(&message)
}

fn send(caller: &Caller, request: &Request) -> Answer {
    request.send(caller.port())
}

/// The answer of a tool, and whether it is an error.
fn tool(caller: &Caller, name: &str, arguments: &Value) -> (Value, bool) {
    let request = message(caller, "tools/call", &json!({"name": name, "arguments": arguments}));
    let answer = send(caller, &request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let result = answer.json()["result"].take();
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", answer.text()));
    assert!(text.len() <= 6_000, "{name} {arguments}: {} bytes", text.len());
    let shown = serde_json::from_str(text).unwrap();
    (shown, result["isError"].as_bool().unwrap())
}

/// Calls a tool that must succeed.
#[track_caller]
fn done(caller: &Caller, name: &str, arguments: &Value) -> Value {
    let (shown, is_error) = tool(caller, name, arguments);
    assert!(!is_error, "{name} {arguments}: {shown}");
    shown
}

/// Calls a tool that must fail, and returns the text of the error.
#[track_caller]
fn refused(caller: &Caller, name: &str, arguments: &Value) -> String {
    let (shown, is_error) = tool(caller, name, arguments);
    assert!(is_error, "{name} {arguments}: {shown}");
    shown.to_string()
}

/// The example of an operation.
fn example(caller: &Caller, operation: &str) -> Value {
    done(caller, "describe_operation", &json!({"operation": operation}))["example"].take()
}

/// The input of a payout to a new beneficiary.
fn purchase(caller: &Caller) -> Value {
    let mut input = example(caller, "createPayout");
    let mut payee = example(caller, "createBeneficiary");
    payee["company_id"] = input["company_id"].clone();
    let create =
        json!({"operation": "createBeneficiary", "input": payee, "idempotency_key": "payee"});
    let made = done(caller, "call_operation", &create);
    input["beneficiary_id"] = made["body"]["data"]["id"].clone();
    done(caller, "advance_clock", &json!({"by": "1d"})); // the account is checked
    input
}

#[test]
fn the_list_of_operations_is_short_and_each_link_describes_its_operations() {
    let caller = Caller::manual();
    let page = |path: &str| Request::new("GET", path).send(caller.port());
    let list = page("/llms.txt");
    assert_eq!(list.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert!(list.header("etag").is_some());
    assert!(list.text().len() <= 12_000, "{} bytes", list.text().len());
    let (mut named, mut links) = (Vec::new(), 0);
    for line in list.text().lines().filter_map(|line| line.strip_prefix("- [")) {
        let (link, note) = line.split_once("): ").unwrap();
        let target = link.split_once("](").unwrap().1;
        let described = page(target);
        assert_eq!(described.status, 200, "{target}");
        links += 1;
        if target.starts_with("/llms/") {
            for id in note.split(", ") {
                assert!(described.text().contains(&format!("### {id}: ")), "{id} at {target}");
                named.push(id.to_owned());
            }
        }
    }
    assert!(links >= 40, "{links}");
    let mut served: Vec<String> = ["/openapi.json", "/_sandbox/openapi.json"]
        .iter()
        .flat_map(|path| {
            let document = page(path).json();
            let paths = document["paths"].as_object().unwrap().values();
            let rows = paths.flat_map(|methods| methods.as_object().unwrap().values());
            rows.filter_map(|row| Some(row["operationId"].as_str()?.to_owned())).collect::<Vec<_>>()
        })
        .collect();
    served.sort();
    named.sort();
    assert_eq!(named, served);
}

#[test]
fn a_client_that_loses_the_reply_and_retries_with_the_key_pays_once() {
    let caller = Caller::manual();
    let found = done(&caller, "find_operation", &json!({"query": "pay a beneficiary"}));
    assert_eq!(found["operations"][0]["operation"], "createPayout");
    let mut input = purchase(&caller);
    input["reference"] = "Invoice 7".into();
    let pay = json!({"operation": "createPayout", "input": input, "idempotency_key": "invoice-7"});
    done(&caller, "set_fault", &json!({"on": "createPayout", "lose": "reply", "times": 1}));

    let (lost, is_error) = tool(&caller, "call_operation", &pay);
    assert!(is_error && lost["lost"] == true, "{lost}");
    assert_eq!(lost["key"], "sent with key invoice-7; retry with key invoice-7");
    let paid = done(&caller, "call_operation", &pay);
    assert_eq!((&paid["status"], &paid["replayed"]), (&json!(201), &json!(true)));

    let created = json!({"about": "events", "name": "payout.created", "at_least": 1, "at_most": 1});
    assert_eq!(done(&caller, "verify", &created)["verdict"], "pass");
    let calls = json!({"about": "requests", "name": "createPayout", "at_least": 2, "at_most": 2});
    assert_eq!(done(&caller, "verify", &calls)["verdict"], "pass");
    assert_eq!(done(&caller, "verify", &json!({"about": "ledger"}))["ok"], true);
    let id = paid["body"]["data"]["id"].as_str().unwrap();
    let steps = done(&caller, "explain", &json!({"id": id}));
    let requests =
        steps["steps"].as_array().unwrap().iter().filter(|step| step["type"] == "request");
    assert!(requests.clone().count() >= 1, "{steps}");
}

#[test]
fn a_purchase_without_a_key_is_refused_and_nothing_happens() {
    let caller = Caller::instant();
    let input = example(&caller, "createPayout");
    let before = caller.digest();
    let why =
        refused(&caller, "call_operation", &json!({"operation": "createPayout", "input": input}));
    assert!(why.contains("send the same key when you retry it"), "{why}");
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_tool_for_each_step_of_a_test() {
    let caller = Caller::manual();
    let input = purchase(&caller);
    let taken = done(&caller, "snapshot", &json!({"action": "take", "name": "start"}));
    let start = caller.digest();
    let rule = json!({"decision": "payout.settle", "then": "returned", "code": "R02", "times": 1});
    done(&caller, "set_rule", &rule);
    assert_eq!(done(&caller, "set_rule", &json!({"action": "list"}))["meta"]["total"], 1);
    let pay = json!({"operation": "createPayout", "input": input, "idempotency_key": "k"});
    let paid = done(&caller, "call_operation", &pay);
    let id = paid["body"]["data"]["id"].clone();
    let moved = done(&caller, "advance_clock", &json!({"by": "10d"}));
    assert_eq!(moved["event_counts"]["payout.failed"], 1, "{moved}");
    let events = done(&caller, "list_events", &json!({"type": "payout.*", "about": id}));
    let last = events["events"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["status"]), (&json!("payout.failed"), &json!("failed")));
    let event = done(&caller, "list_events", &json!({"id": last["id"]}));
    assert_eq!(event["event"]["type"], "payout.failed");
    let steps = done(&caller, "explain", &json!({"id": id})).to_string();
    assert!(steps.contains("payout.settle"), "{steps}");
    let counts = done(&caller, "diff", &json!({"from": taken["id"]}));
    assert_eq!(counts["kinds"]["payout"]["created"], 1, "{counts}");
    let rows = done(&caller, "diff", &json!({"from": taken["id"], "kind": "payout"}));
    assert_eq!(rows["rows"].as_array().unwrap().len(), 1);
    let fork =
        json!({"action": "fork", "id": taken["id"], "key": format!("{}_fork", caller.key())});
    done(&caller, "snapshot", &fork);
    done(&caller, "snapshot", &json!({"action": "restore", "id": taken["id"]}));
    assert_eq!(caller.digest(), start);
    assert_eq!(done(&caller, "snapshot", &json!({"action": "list"}))["meta"]["total"], 1);
    done(&caller, "snapshot", &json!({"action": "delete", "id": taken["id"]}));
    done(&caller, "set_fault", &json!({"on": "*", "status": 503}));
    assert_eq!(done(&caller, "set_fault", &json!({"action": "list"}))["meta"]["total"], 1);
    done(&caller, "set_fault", &json!({"action": "remove"}));
    done(&caller, "call_operation", &pay);
    done(&caller, "reset", &json!({"confirm": true}));
    assert_eq!(caller.digest(), Caller::manual().digest());
}

#[test]
fn a_long_answer_is_continued_without_a_second_call() {
    let caller = Caller::instant();
    let all = json!({"operation": "listEmployees", "input": {"per_page": 100}, "fields": ["/data", "/meta"]});
    let mut page = done(&caller, "call_operation", &all);
    let mut names = Vec::new();
    loop {
        for row in page["fields"]["/data"].as_array().unwrap() {
            names.push(row["id"].as_str().unwrap().to_owned());
        }
        let Some(cursor) = page["next"].as_str() else { break };
        let arguments = json!({"operation": "listEmployees", "cursor": cursor});
        page = done(&caller, "call_operation", &arguments);
    }
    let listed: Vec<String> = caller
        .all("/api/business/employees")
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, listed);
    let logged = caller.all("/_sandbox/requests?operation=listEmployees");
    assert_eq!(logged.len(), 2, "one call of the tool, and one of the test");

    let (first, _) = tool(&caller, "call_operation", &all);
    let cursor = json!({"operation": "listEmployees", "cursor": first["next"]});
    let other = Caller::instant();
    assert!(refused(&other, "call_operation", &cursor).contains("the cursor is unknown"));
}

#[test]
fn a_list_shows_ten_rows_with_few_members() {
    let caller = Caller::instant();
    let input = json!({"department": "Executive"});
    let shown =
        done(&caller, "call_operation", &json!({"operation": "listEmployees", "input": input}));
    let row = &shown["body"]["data"][0];
    assert_eq!(row["department"], "Executive", "the filter is shown");
    assert!(row.get("role").is_none());
    assert!(shown["more_members"].as_str().unwrap().contains("role"));
    let shown = done(&caller, "call_operation", &json!({"operation": "listEmployees"}));
    assert_eq!(shown["body"]["data"].as_array().unwrap().len(), 10);
}

#[test]
fn every_operation_can_be_described_in_short() {
    let caller = Caller::instant();
    let listed = crate::harness::contract::product()["paths"].as_object().unwrap().clone();
    let operations = listed.values().flat_map(|path| path.as_object().unwrap().values());
    let ids: Vec<String> =
        operations.filter_map(|row| Some(row["operationId"].as_str()?.to_owned())).collect();
    assert!(ids.len() > 100);
    for id in ids {
        for part in ["summary", "input", "output", "errors"] {
            let shown =
                done(&caller, "describe_operation", &json!({"operation": id, "part": part}));
            assert_eq!(shown["operation"], id.as_str(), "{part}");
            let mut page = shown;
            loop {
                let hidden = [" bytes: too long", " bytes; call_operation"];
                let hides = hidden.iter().any(|words| page.to_string().contains(words));
                assert!(!hides, "{id} {part}: {page}");
                let Some(cursor) = page["next"].as_str() else { break };
                let next = json!({"operation": id, "part": part, "cursor": cursor});
                page = done(&caller, "describe_operation", &next);
            }
        }
    }
}

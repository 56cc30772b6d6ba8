//! The tools of the control plane: the clock, rules, faults, snapshots, and the history of calls and
//! events.

use serde_json::{Map, Value, json};

use crate::model::decision::DECISIONS;
use crate::render::mcp::calling::{Calling, Done, encoded};
use crate::value::ErrorCode;

/// Events of an answer.
const MOST_EVENTS: usize = 50;

/// The members of the arguments that are given, by these names.
fn given(arguments: &Value, names: &[&str]) -> Map<String, Value> {
    let given = names.iter().filter(|name| !arguments[**name].is_null());
    given.map(|name| ((*name).to_owned(), arguments[*name].clone())).collect()
}

fn wrong(why: impl Into<String>) -> Value {
    json!({ "error": why.into() })
}

/// The path of one resource, or of all if no id is given.
fn path_of(base: &str, id: &Value) -> String {
    id.as_str().map_or_else(|| base.to_owned(), |id| format!("{base}/{}", encoded(id)))
}

pub(super) fn advance(calling: &Calling<'_>, arguments: &Value) -> Done {
    let mut body = given(arguments, &["by", "to", "until"]);
    if body.len() != 1 {
        return Err(wrong("give exactly one of by, to and until"));
    }
    body.insert("events_limit".to_owned(), 0.into());
    let mut moved = calling.control("POST", "/_sandbox/clock/advance", &body.into())?;
    if let Some(members) = moved.as_object_mut() {
        members
            .retain(|name, _| !["events", "events_after", "deliveries"].contains(&name.as_str()));
    }
    Ok(moved)
}

pub(super) fn rule(calling: &Calling<'_>, arguments: &Value) -> Done {
    const RULES: &str = "/_sandbox/rules";
    match arguments["action"].as_str() {
        Some("list") => calling.get(RULES),
        Some("remove") => {
            calling.control("DELETE", &path_of(RULES, &arguments["id"]), &Value::Null)
        }
        _ => {
            let names = || -> Vec<&str> { DECISIONS.iter().map(|row| row.name).collect() };
            let decision = arguments["decision"].as_str().unwrap_or_default();
            if !names().contains(&decision) {
                let why = format!("decision must be one of {}", names().join(", "));
                return Err(json!({ "error": why, "decisions": names() }));
            }
            let mut body = given(arguments, &["times"]);
            let wanted = given(arguments, &["decision", "where"]);
            body.insert("match".to_owned(), wanted.into());
            let outcome = given(arguments, &["then", "code", "after"]);
            body.insert("outcome".to_owned(), outcome.into());
            calling.control("POST", RULES, &body.into()).map_err(of_arguments)
        }
    }
}

/// A refusal whose pointers are those of the tool's arguments.
fn of_arguments(mut refusal: Value) -> Value {
    for error in refusal["errors"].as_array_mut().into_iter().flatten() {
        let pointer = error["pointer"].as_str().unwrap_or_default();
        let own = ["/match", "/outcome"].iter().find_map(|part| pointer.strip_prefix(part));
        if let Some(own) = own.map(str::to_owned) {
            error["pointer"] = own.into();
        }
    }
    refusal
}

pub(super) fn fault(calling: &Calling<'_>, arguments: &Value) -> Done {
    const FAULTS: &str = "/_sandbox/faults";
    match arguments["action"].as_str() {
        Some("list") => calling.get(FAULTS),
        Some("remove") => {
            calling.control("DELETE", &path_of(FAULTS, &arguments["id"]), &Value::Null)
        }
        _ => {
            let names = [
                "on",
                "lose",
                "status",
                "after_commit",
                "retry_after",
                "latency",
                "body",
                "nth",
                "times",
            ];
            calling.control("POST", FAULTS, &given(arguments, &names).into())
        }
    }
}

pub(super) fn snapshot(calling: &Calling<'_>, arguments: &Value) -> Done {
    const SNAPSHOTS: &str = "/_sandbox/snapshots";
    let action = arguments["action"].as_str().unwrap_or_default();
    match action {
        "take" => return calling.control("POST", SNAPSHOTS, &given(arguments, &["name"]).into()),
        "list" => return calling.get(SNAPSHOTS),
        _ => {}
    }
    if arguments["id"].is_null() {
        return Err(wrong(format!("{action} needs the id of a snapshot")));
    }
    let path = path_of(SNAPSHOTS, &arguments["id"]);
    match action {
        "fork" if arguments["key"].is_null() => Err(wrong("fork needs the new key")),
        "fork" => {
            let body = json!({ "key": arguments["key"], "answers": true });
            calling.control("POST", &format!("{path}/fork"), &body)
        }
        "restore" => calling.control("POST", &format!("{path}/restore"), &json!({})),
        _ => calling.control("DELETE", &path, &Value::Null),
    }
}

pub(super) fn diff(calling: &Calling<'_>, arguments: &Value) -> Done {
    let is_snapshot = |name: &str| {
        arguments[name].as_str().is_some_and(|point| !["start", "now"].contains(&point))
    };
    difference(calling, arguments).or_else(|refusal| {
        if refusal["status"] == 404 && !is_snapshot("from") && !is_snapshot("to") {
            return Ok(json!({ "total": 0, "hint": "no call has used this world yet" }));
        }
        Err(refusal)
    })
}

fn difference(calling: &Calling<'_>, arguments: &Value) -> Done {
    let end = |name: &str, default: &str| encoded(arguments[name].as_str().unwrap_or(default));
    let target = format!("/_sandbox/diff?from={}&to={}", end("from", "start"), end("to", "now"));
    let counts = || -> Done {
        let mut found = calling.get(&format!("{target}&per_page=1"))?;
        let mut counts = found["meta"].take();
        if let Some(counts) = counts.as_object_mut() {
            counts.shift_remove("page");
        }
        Ok(counts)
    };
    let Some(kind) = arguments["kind"].as_str() else {
        return counts();
    };
    let (mut rows, _) = calling.rows(&target)?;
    rows.retain(|row| row["kind"] == kind);
    let mut shown = json!({ "kind": kind, "rows": rows });
    if rows.is_empty() {
        shown["changed_kinds"] = counts()?["kinds"].take();
    }
    Ok(shown)
}

pub(super) fn verify(calling: &Calling<'_>, arguments: &Value) -> Done {
    let (path, member) = match arguments["about"].as_str() {
        Some("requests") => ("/_sandbox/requests/verify", "operation"),
        Some("events") => ("/_sandbox/events/verify", "type"),
        Some("deliveries") => ("/_sandbox/deliveries/verify", "event_type"),
        _ => return calling.get("/_sandbox/ledger/check"),
    };
    let mut body = given(arguments, &["match"]);
    if !arguments["name"].is_null() {
        body.insert(member.to_owned(), arguments["name"].clone());
    }
    let times = given(arguments, &["at_least", "at_most"]);
    if !times.is_empty() {
        body.insert("times".to_owned(), times.into());
    }
    calling.control("POST", path, &body.into())
}

pub(super) fn explain(calling: &Calling<'_>, arguments: &Value) -> Done {
    let id = arguments["id"].as_str().unwrap_or_default();
    // A payslip or a score of the history has parts, but no causing call.
    let amount = calling.get(&format!("/_sandbox/explain/{}", encoded(id))).ok();
    let (mut steps, total) = match calling.rows(&format!("/_sandbox/trace/{}", encoded(id))) {
        Err(_) if amount.is_some() => (Vec::new(), 0.into()),
        found => found?,
    };
    for step in steps.iter_mut().filter_map(Value::as_object_mut) {
        step.retain(|_, value| !value.is_null() && *value != json!([]));
    }
    let mut shown = json!({ "total": total, "steps": steps });
    if let Some(amount) = amount {
        shown["amount"] = amount;
    }
    Ok(shown)
}

pub(super) fn events(calling: &Calling<'_>, arguments: &Value) -> Done {
    if !arguments["id"].is_null() {
        return calling.get(&path_of("/_sandbox/events", &arguments["id"]));
    }
    let after = arguments["after"].as_u64().unwrap_or_default();
    let mut target = format!("/_sandbox/events?after={after}&per_page={MOST_EVENTS}");
    for (argument, filter) in [("type", "type"), ("about", "subject_id")] {
        if let Some(text) = arguments[argument].as_str() {
            target = format!("{target}&{filter}={}", encoded(text));
        }
    }
    let found = calling.get(&target)?;
    let rows = found["data"].as_array().map_or(&[][..], Vec::as_slice);
    let line = |event: &Value| {
        let mut line = json!({
            "sequence": event["sequence"],
            "at": event["timestamp"],
            "type": event["type"],
            "id": event["id"],
            "about": event["data"]["object"]["id"],
        });
        for member in ["status", "amount", "currency"] {
            let value = &event["data"]["object"][member];
            if !value.is_null() {
                line[member] = value.clone();
            }
        }
        line
    };
    let lines: Vec<Value> = rows.iter().map(line).collect();
    let mut shown = json!({ "total": found["meta"]["total"], "events": lines });
    if rows.len() == MOST_EVENTS {
        shown["after"] = rows[MOST_EVENTS - 1]["sequence"].clone();
        shown["hint"] = "send after to see later events".into();
    }
    Ok(shown)
}

pub(super) fn reset(calling: &Calling<'_>, arguments: &Value) -> Done {
    let mut body = given(arguments, &["seed", "scenario"]);
    if arguments.get("scenario").is_some_and(Value::is_null) {
        body.insert("scenario".to_owned(), Value::Null); // null ends the scenario; without the member it stays
    }
    calling.control("POST", "/_sandbox/reset", &body.into()).map_err(|mut refusal| {
        if refusal["code"] == ErrorCode::UnknownScenario.code()
            && let Ok(known) = calling.get("/_sandbox/scenarios")
        {
            let rows = known["data"].as_array().into_iter().flatten();
            refusal["scenarios"] = rows.map(|row| row["name"].clone()).collect();
        }
        refusal
    })
}

//! Calls an operation.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::api;
use crate::api::check::suggestion;
use crate::api::json::quoted;
use crate::api::operation::{Method, Operation};
use crate::render::mcp::calling::{Call, Calling, Done, encoded, lost, read, refusal, unreadable};
use crate::render::openapi::row::{is_keyed, is_product};

/// Operations that delete data, and the tools for them, which require a confirmation or state what they delete.
const OF_TOOLS: [(&str, &str); 5] = [
    ("resetWorld", "use the tool reset, with confirm: true"),
    ("deleteWorld", "use the tool reset, with confirm: true"),
    ("restoreSnapshot", "use the tool snapshot, with action: restore"),
    (
        "loadScenario",
        "give keep_world: true, or use the tool reset, with scenario and confirm: true",
    ),
    ("addScenario", "give keep_world: true or run: false"),
];

/// Rows of a list without `per_page`.
const PER_PAGE: u64 = 10;
/// The default members of list rows without `fields`, in addition to the members that filter.
const ROW_MEMBERS: [&str; 12] = [
    "id",
    "name",
    "legal_name",
    "status",
    "type",
    "kind",
    "amount",
    "currency",
    "period",
    "country",
    "choices",
    "then",
];

/// All operations.
fn rows() -> impl Iterator<Item = &'static Operation> + Clone {
    let rows: Vec<&'static Operation> = api::product().chain(api::control()).collect();
    rows.into_iter()
}

/// The operation of that id; the error names the nearest one.
pub(super) fn operation(arguments: &Value) -> Result<&'static Operation, Value> {
    let id = arguments["operation"].as_str().unwrap_or_default();
    rows().find(|row| row.operation_id() == id).ok_or_else(|| {
        let known: Vec<String> = rows().map(Operation::operation_id).collect();
        let near = suggestion(id, known.iter().map(String::as_str));
        let why = format!("there is no operation {}{near}; use find_operation", quoted(id));
        json!({ "error": why })
    })
}

/// One call of an operation.
pub(super) fn call(calling: &Calling<'_>, arguments: &Value) -> Done {
    let row = operation(arguments)?;
    let key = arguments["idempotency_key"].as_str();
    check(row, key, &arguments["input"])?;
    let fields = arguments["fields"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(wrong) =
        fields.into_iter().find(|field| !field.is_empty() && !field.starts_with('/'))
    {
        let why = format!("fields: {} is no JSON pointer, such as /data/status", quoted(wrong));
        return Err(json!({ "error": why }));
    }
    let mut input = arguments["input"].as_object().cloned().unwrap_or_default();
    let filters: Vec<String> = input.keys().cloned().collect();
    let is_list = row.method == Method::Get && row.checker().carried("per_page").is_some();
    if is_list && !input.contains_key("per_page") {
        input.insert("per_page".to_owned(), PER_PAGE.into());
    }
    let call = Call {
        method: row.method.name(),
        target: target(row, &mut input)?,
        idempotency_key: key.filter(|_| is_product(row)).map(str::to_owned),
        body: if row.method.has_body() { Value::Object(input).to_string() } else { String::new() },
    };
    let key = call.idempotency_key.as_deref();
    let Some(called) = calling.calls.call(&call) else { return Err(lost(key)) };
    let Some(mut body) = read(&called) else { return Err(unreadable(&called, key)) };
    if called.status >= 400 {
        return Err(refusal(&called, body, key));
    }
    let mut shown = json!({ "status": called.status });
    if called.replayed {
        shown["replayed"] = true.into();
    }
    if let Some(fields) = arguments["fields"].as_array() {
        let fields = fields.iter().filter_map(Value::as_str);
        let fields: Map<String, Value> =
            fields.map(|field| (field.to_owned(), selected(&body, field))).collect();
        shown["fields"] = Value::Object(fields);
        return Ok(shown);
    }
    if is_list && let Some(rows) = body["data"].as_array_mut() {
        let left_out = shorten(rows, &filters);
        if !left_out.is_empty() {
            shown["more_members"] = left_out.into();
            shown["hint"] = "fields shows other members, such as /data/created_at".into();
        }
    }
    shown["body"] = body;
    Ok(shown)
}

/// Refuses calls that are not for this tool, and purchases without a key.
fn check(row: &Operation, key: Option<&str>, input: &Value) -> Result<(), Value> {
    let keeps = input["keep_world"] == true || input["run"] == false;
    let why = if row.streams {
        "this operation is a stream: use list_events"
    } else if row.only_pdf {
        "this operation returns a PDF, which is no text: read the resource instead"
    } else if row.method != Method::Get && row.path.starts_with("/_sandbox/webhook-endpoints") {
        "tools cannot make or change webhook endpoints"
    } else if let Some((_, help)) =
        OF_TOOLS.iter().find(|(id, _)| !keeps && *id == row.operation_id())
    {
        let why = format!("this operation can delete all earlier changes of the world: {help}");
        return Err(json!({ "error": why }));
    } else if is_keyed(row) && key.is_none() {
        "this write needs idempotency_key. One purchase has one key: choose one for a new purchase, and send the same key when you retry it"
    } else {
        return Ok(());
    };
    Err(json!({ "error": why }))
}

/// Path and query. Removes the path's members from the input; without a body, it removes all members.
fn target(row: &Operation, input: &mut Map<String, Value>) -> Result<String, Value> {
    let mut path = row.path.to_owned();
    for name in row.path_parameters() {
        let given = input.shift_remove(name).unwrap_or_default();
        let text = plain(&given).filter(|text| !text.is_empty()).ok_or_else(|| {
            json!({ "error": format!("input.{name} is needed: it is a part of the path {}", row.path) })
        })?;
        path = path.replace(&format!("{{{name}}}"), &encoded(&text));
    }
    if row.method.has_body() {
        return Ok(path);
    }
    let mut mark = '?';
    for (name, value) in std::mem::take(input) {
        let values = match value {
            Value::Null => continue,
            Value::Array(values) => values,
            value => vec![value],
        };
        for value in values {
            let text = plain(&value).ok_or_else(|| {
                json!({ "error": format!("input.{name} must be a text, a number or a boolean") })
            })?;
            path.push(mark);
            let _ = write!(path, "{}={}", encoded(&name), encoded(&text));
            mark = '&';
        }
    }
    Ok(path)
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        _ => None,
    }
}

/// The value at a JSON pointer. A name applies to each row of an array.
fn selected(value: &Value, pointer: &str) -> Value {
    let Some(rest) = pointer.strip_prefix('/') else { return value.clone() };
    let (name, rest) = rest.find('/').map_or((rest, ""), |end| rest.split_at(end));
    match value {
        Value::Array(rows) if name.parse::<usize>().is_err() => {
            rows.iter().map(|row| selected(row, pointer)).collect()
        }
        Value::Array(rows) => {
            let row = name.parse().ok().and_then(|place: usize| rows.get(place));
            row.map_or(Value::Null, |row| selected(row, rest))
        }
        value => {
            let name = name.replace("~1", "/").replace("~0", "~");
            value.get(&name).map_or(Value::Null, |value| selected(value, rest))
        }
    }
}

/// Keeps a few members of each row. Returns the names of the removed members.
fn shorten(rows: &mut [Value], filters: &[String]) -> String {
    let mut left_out: Vec<String> = Vec::new();
    for row in rows {
        let Some(members) = row.as_object_mut().filter(|members| members.contains_key("id")) else {
            continue;
        };
        members.retain(|name, value| {
            let stays = ROW_MEMBERS.contains(&name.as_str()) || filters.contains(name);
            if !stays && !value.is_null() && !left_out.contains(name) {
                left_out.push(name.clone());
            }
            stays
        });
    }
    left_out.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_contains_text_only_as_one_encoded_part() {
        let row = operation(&json!({ "operation": "getPayout" })).expect("it exists");
        let of = |id: Value| {
            let mut input = Map::from_iter([("payout_id".to_owned(), id)]);
            target(row, &mut input)
        };
        let path = |id: &str| of(id.into()).expect("a path");
        assert_eq!(
            path("../../_sandbox/reset"),
            "/api/payments/payouts/..%2F..%2F_sandbox%2Freset"
        );
        assert_eq!(path("a?b=c#d\u{0}"), "/api/payments/payouts/a%3Fb%3Dc%23d%00");
        for wrong in [Value::Null, "".into(), json!({}), json!([1])] {
            assert!(of(wrong).is_err());
        }
    }

    #[test]
    fn a_query_repeats_the_name_for_each_value() {
        let row = operation(&json!({ "operation": "listPayouts" })).expect("it exists");
        let input = json!({"status": ["a", "b"], "n": 1, "yes": true, "none": null});
        let mut input = input.as_object().cloned().expect("an object");
        let path = target(row, &mut input).expect("a path");
        assert_eq!(path, "/api/payments/payouts?status=a&status=b&n=1&yes=true");
    }

    #[test]
    fn fields_are_pointers_that_apply_to_rows() {
        let body = json!({"data": [{"a": {"b/c": 1}}, {"a": 2}], "meta": {"total": 2}});
        assert_eq!(selected(&body, "/meta/total"), 2);
        assert_eq!(selected(&body, "/data/a"), json!([{"b/c": 1}, 2]));
        assert_eq!(selected(&body, "/data/0/a/b~1c"), 1);
        assert_eq!(selected(&body, "/data/9/a"), Value::Null);
        assert_eq!(selected(&body, ""), body);
    }
}

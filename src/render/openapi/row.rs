//! One row of the table as an OpenAPI operation.

use serde_json::{Map, Value, json};

use crate::api;
use crate::api::change;
use crate::api::list::{CSV, LINES};
use crate::api::operation::{Call, Contract, Method, Operation};
use crate::api::pdf::PDF;
use crate::api::system::events_of;
use crate::render::openapi::header::BEARER;
use crate::render::openapi::schemas::{RowSchemas, Schemas, referred};
use crate::render::openapi::{header, made, problem, tags};
use crate::render::samples::Sample;

/// Part of the simulated product, and not of the control plane.
pub(crate) fn is_product(row: &Operation) -> bool {
    row.contract != Contract::Control
}

/// Reads the simulated product.
fn reads_product(row: &Operation) -> bool {
    is_product(row) && row.method == Method::Get
}

/// Takes an `Idempotency-Key`.
pub(crate) fn is_keyed(row: &Operation) -> bool {
    is_product(row) && row.method == Method::Post
}

/// Takes an `If-Match`: it changes a resource that the path names, and that can be read by itself.
pub(crate) fn is_conditional(row: &Operation) -> bool {
    let resource = row.resource_path();
    let reads = |other: &Operation| other.method == Method::Get && Some(other.path) == resource;
    let acts = row.method == Method::Post && api::product().any(reads);
    is_product(row) && (matches!(row.method, Method::Put | Method::Patch) || acts)
}

/// Reads one resource: the answer has an `ETag`, and the call takes an `If-None-Match`. The document does not list this header as a
/// parameter, because each read of a generated client would then have one more argument.
fn is_cacheable(row: &Operation, output: &Value) -> bool {
    let data = output["properties"]["data"].as_object();
    let is_single = data.is_some_and(|data| !data.contains_key("items"));
    reads_product(row) && is_single
}

/// Creates a resource that can be read: its answer has the path.
fn is_located(row: &Operation) -> bool {
    let reads = |other: &Operation| other.method == Method::Get && row.creates_at(other.path);
    row.success == 201 && api::product().chain(api::control()).any(reads)
}

/// The Operation Object.
pub(crate) fn operation(
    row: &Operation,
    shape: RowSchemas,
    sample: &Sample,
    schemas: &mut Schemas,
) -> Value {
    let refusals = problem::responses(row, &shape.input);
    let mut operation = json!({
        "operationId": row.operation_id(),
        "summary": row.summary,
        "description": description(row),
        "tags": [tags::of_row(row)],
        "x-contract": row.contract,
    });
    if row.contract == Contract::Published {
        operation["x-badges"] = json!([{ "label": "published", "color": "green" }]); // RapiDoc shows badges
    }
    let events = events_of(row);
    if !events.is_empty() {
        operation["x-emits"] = json!(events);
    }
    if matches!(row.call, Call::Open(_)) {
        operation["security"] = json!([{}, { BEARER: [] }]); // no key is needed, and one is taken
    }
    if let Some(calls) = (row.method == Method::Get).then(|| made::calls(row)).flatten() {
        operation[made::CALLS] = calls;
    }
    let is_cacheable = is_cacheable(row, &shape.output);
    let parameters = parameters(row, &shape.input, sample);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = body(row, shape.input, sample, schemas) {
        operation["requestBody"] = body;
    }
    let mut responses = Map::new();
    responses.insert(row.success.to_string(), success(row, shape.output, sample, schemas));
    if is_cacheable {
        responses.insert("304".to_owned(), problem::not_modified());
    }
    responses.extend(refusals);
    operation["responses"] = responses.into();
    operation
}

/// The events of an operation that runs others.
const BY_LIFECYCLE: &str = "Events: those of the timer or operation that runs (`x-emits`). The \
    schema of each resource has its transitions (`x-lifecycle`).";

/// The row's description, what makes the resources that it reads, and its events for viewers that do not show `x-emits`. An operation that
/// runs others has too many events for a sentence.
fn description(row: &Operation) -> String {
    let events: Vec<String> = events_of(row).iter().map(|name| format!("`{name}`")).collect();
    let listed = format!("Events: {}.", events.join(", "));
    let events = match (events.is_empty(), row.runs.is_empty()) {
        (true, _) => None,
        (false, true) => Some(listed),
        (false, false) => Some(BY_LIFECYCLE.to_owned()),
    };
    let text = Some(row.description.to_owned()).filter(|text| !text.is_empty());
    let paragraphs = [text, reads_product(row).then(|| made::sentence(row)).flatten(), events];
    paragraphs.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The members of an input in its path or query, then the headers.
fn parameters(row: &Operation, input: &Value, sample: &Sample) -> Vec<Value> {
    let none = Map::new();
    let members = input["properties"].as_object().unwrap_or(&none);
    let in_path: Vec<&str> = row.path_parameters().collect();
    let required = |name: &str| {
        input["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let path = in_path.iter().map(|name| {
        let member = members.get(*name).unwrap_or_else(|| panic!("{} takes no {name}", row.name));
        parameter(name, "path", true, member, sample)
    });
    let in_query = members
        .iter()
        .filter(|(name, _)| !row.method.has_body() && !in_path.contains(&name.as_str()));
    let query =
        in_query.map(|(name, member)| parameter(name, "query", required(name), member, sample));
    path.chain(query).chain(headers(row)).collect()
}

fn headers(row: &Operation) -> impl Iterator<Item = Value> {
    let taken = [
        ("Idempotency-Key", is_keyed(row)),
        ("If-Match", is_conditional(row)),
        ("Sandbox-Scenario", is_product(row)),
        ("Sandbox-Fault", is_product(row)),
        ("Api-Version", is_product(row)),
        ("Sandbox-Observer", is_product(row) && row.method == Method::Get),
        ("Sandbox-As-Of", is_product(row) && matches!(row.call, Call::Read(_))),
        ("Last-Event-ID", row.streams),
    ];
    taken.into_iter().filter(|(_, takes)| *takes).map(|(name, _)| header::parameter(name))
}

fn parameter(name: &str, place: &str, required: bool, member: &Value, sample: &Sample) -> Value {
    let mut schema = change::without_null(member.clone());
    let description = schema.as_object_mut().and_then(|members| members.remove("description"));
    // An optional parameter has no example of its own: a viewer would fill in several filters at once, which match nothing together.
    let usual = schema["examples"].get(0).filter(|_| required);
    let example = sample.input.as_ref().and_then(|input| input.get(name)).or(usual).cloned();
    if !required && let Some(members) = schema.as_object_mut() {
        members.shift_remove("examples");
    }
    let mut parameter = json!({ "name": name, "in": place, "required": required });
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter["schema"] = schema;
    if let Some(example) = example {
        parameter["example"] = example;
    }
    parameter
}

/// The members of an input in its body; none if it has none.
fn body(
    row: &Operation,
    mut input: Value,
    sample: &Sample,
    schemas: &mut Schemas,
) -> Option<Value> {
    if !row.method.has_body() {
        return None;
    }
    let in_path: Vec<&str> = row.path_parameters().collect();
    if let Some(members) = input.get_mut("properties").and_then(Value::as_object_mut) {
        members.retain(|name, _| !in_path.contains(&name.as_str()));
        if members.is_empty() {
            return None;
        }
    }
    let mut required = false;
    if let Some(names) = input.get_mut("required").and_then(Value::as_array_mut) {
        names.retain(|name| in_path.iter().all(|parameter| name != parameter));
        required = !names.is_empty();
        if !required {
            input.as_object_mut().and_then(|members| members.remove("required"));
        }
    }
    let mut content = json!({ "schema": schemas.define(body_name(row), input) });
    if let Some(Value::Object(mut example)) = sample.input.clone() {
        example.retain(|name, _| !in_path.contains(&name.as_str()));
        content["examples"] = examples(example.into());
    }
    Some(json!({ "required": required, "content": { "application/json": content } }))
}

/// The answer to an accepted request.
fn success(row: &Operation, output: Value, sample: &Sample, schemas: &mut Schemas) -> Value {
    let single =
        output["properties"]["data"].as_object().is_some_and(|data| !data.contains_key("items"));
    let is_list =
        output["properties"]["meta"].is_object() && output["properties"]["data"]["type"] == "array";
    let mut headers = header::common();
    let also = [
        ("ETag", single && row.success != 201 && is_product(row)),
        ("Location", is_located(row)),
        ("Content-Disposition", is_list || row.pdf.is_some() || row.only_pdf),
        ("Sandbox-As-Of", is_product(row) && matches!(row.call, Call::Read(_))),
        ("Idempotent-Replayed", is_keyed(row)),
        ("Sandbox-Decision", is_product(row) && row.method != Method::Get),
        ("Sandbox-Waiting", is_product(row) && row.method != Method::Get),
    ];
    for (name, _) in also.into_iter().filter(|(_, sends)| *sends) {
        headers.insert(name.to_owned(), header::reference(name));
    }
    let mut response = json!({ "description": problem::reason(row.success), "headers": headers });
    if row.streams {
        let mut content = json!({ "schema": { "type": "string" } });
        if let Some(first) = &sample.answer {
            let first = &first["data"]; // frames have no envelope
            content["examples"] = examples(format!("event: clock\ndata: {first}\n\n").into());
        }
        response["content"] = json!({ "text/event-stream": content });
    } else if row.success != 204 {
        response["content"] = json!({});
        if !row.only_pdf {
            let mut content = json!({ "schema": answer(output, schemas) });
            if let Some(example) = &sample.answer {
                content["examples"] = examples(example.clone());
            }
            response["content"]["application/json"] = content;
        }
        for form in [CSV, LINES].iter().filter(|_| is_list) {
            response["content"][*form] = json!({ "schema": { "type": "string" } });
        }
        if row.pdf.is_some() {
            response["content"][PDF] =
                json!({ "schema": { "type": "string", "format": "binary" } });
        }
    }
    response
}

/// An answer's schema, named after the resource in it, so that generated clients have one type for it.
fn answer(output: Value, schemas: &mut Schemas) -> Value {
    let data = &output["properties"]["data"];
    let name = match (referred(data), referred(&data["items"])) {
        (Some(resource), _) => format!("{resource}Envelope"),
        (_, Some(resource)) => format!("{resource}List"),
        _ => return output,
    };
    schemas.define(name, output)
}

/// One named example, because RapiDoc ignores the plain `example`.
fn examples(value: Value) -> Value {
    json!({ "fresh": { "summary": "In a fresh world of seed 42", "value": value } })
}

/// `CreatePayoutRequest`, but `CreateLeaveRequestBody`.
fn body_name(row: &Operation) -> String {
    let name = type_name(row);
    let suffix = if name.ends_with("Request") { "Body" } else { "Request" };
    name + suffix
}

/// `CreatePayout` for `create_payout`.
fn type_name(row: &Operation) -> String {
    let id = row.operation_id();
    let (first, rest) = id.split_at(1);
    first.to_ascii_uppercase() + rest
}

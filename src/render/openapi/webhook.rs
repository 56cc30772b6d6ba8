//! The webhooks: one for each event type, in the common envelope.

use serde_json::{Map, Value, json};

use crate::render::events::EventKind;
use crate::render::openapi::header;
use crate::render::openapi::schemas::{Schemas, reference, referred};

/// The tag of every webhook. Without one, client generators put them into the class of the product's
/// operations.
pub(crate) const TAG: &str = "Webhooks";

/// `webhooks` of the document.
pub(crate) fn webhooks(events: &[EventKind], schemas: &mut Schemas) -> Map<String, Value> {
    let mut webhooks = Map::new();
    for resource in events.chunk_by(|one, other| one.resource() == other.resource()) {
        let event = schemas.define(
            format!("{}Event", pascal(resource[0].resource())),
            envelope(resource, schemas),
        );
        webhooks.extend(
            resource
                .iter()
                .map(|kind| (kind.name.to_owned(), json!({ "post": webhook(kind, &event) }))),
        );
    }
    webhooks
}

fn webhook(kind: &EventKind, event: &Value) -> Value {
    let headers = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(header::parameter);
    json!({
        "operationId": format!("on{}", pascal(kind.name)),
        "summary": kind.name,
        "description": caused_by(&kind.caused_by),
        "tags": [TAG],
        "security": [],
        "parameters": headers,
        "requestBody": { "required": true, "content": { "application/json": { "schema": event } } },
        "responses": {
            "2XX": { "description": "Delivered. The body is ignored." },
            "410": { "description": "The endpoint is disabled and receives nothing more." },
            "default": { "description": "Not delivered: sent again later." },
        },
    })
}

/// The sentence about the causes of an event, with the ids of operations.
pub(super) fn caused_by(operations: &[String]) -> String {
    if operations.is_empty() {
        return "No operation of this document causes this event, but the clock and the test tools can cause it.".to_owned();
    }
    let causes: Vec<String> = operations.iter().map(|id| format!("`{id}`")).collect();
    format!("Caused by {}, at once or later by the clock.", causes.join(", "))
}

/// The envelope of a resource's events: the common envelope with their names and their resource.
fn envelope(kinds: &[EventKind], schemas: &Schemas) -> Value {
    let kind = kinds[0].resource();
    let mut envelope = schemas.event.clone();
    envelope["description"] = format!("An event about one resource of the kind `{kind}`.").into();
    let members = &mut envelope["properties"];
    members["type"]["enum"] = kinds.iter().map(|kind| kind.name).collect();
    if let Some(mut data) =
        referred(&members["data"]).and_then(|name| schemas.definitions.get(name)).cloned()
    {
        let object = &mut data["properties"]["object"];
        if let (Some(mut resource), Some(description)) =
            (resource(kind, schemas), object.get("description").cloned())
        {
            resource["description"] = description;
            *object = resource;
        }
        members["data"] = data;
    }
    envelope
}

/// The definition whose `object` member is this kind of resource: the one with the same name, or the first.
fn resource(kind: &str, schemas: &Schemas) -> Option<Value> {
    let own = resource_of(kind, schemas)?;
    let other = ALSO.iter().find(|(of, _)| *of == kind);
    let other = other.and_then(|(_, other)| resource_of(other, schemas));
    Some(match other {
        Some(other) => json!({ "anyOf": [own, other] }),
        None => own,
    })
}

/// Kinds whose events can contain another kind, too: the check of an employee's account is part of the
/// payroll checks.
const ALSO: &[(&str, &str)] = &[("bank_account_verification", "payroll_verification")];

fn resource_of(kind: &str, schemas: &Schemas) -> Option<Value> {
    let is_kind = |schema: &Value| schema["properties"]["object"]["const"] == kind;
    let named = pascal(kind);
    if schemas.definitions.get(&named).is_some_and(is_kind) {
        return Some(reference(&named));
    }
    schemas.definitions.iter().find(|(_, schema)| is_kind(schema)).map(|(name, _)| reference(name))
}

/// `PayrollRunPaid` for `payroll_run.paid`.
pub(super) fn pascal(name: &str) -> String {
    let mut pascal = String::with_capacity(name.len());
    for word in name.split(['.', '_']) {
        let mut letters = word.chars();
        pascal.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        pascal.extend(letters);
    }
    pascal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_names_become_type_names() {
        assert_eq!(pascal("payroll_run.partially_paid"), "PayrollRunPartiallyPaid");
    }
}

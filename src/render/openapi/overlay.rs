//! Applies a contract overlay to the product's document, so that the document agrees with the engine.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api;
use crate::api::operation::Operation;
use crate::engine::contract::{Dialect, ENVELOPE, ErrorFormat, Header, Overlay, Paging};
use crate::render::events;
use crate::render::openapi::header::BEARER;
use crate::render::openapi::{endpoints, links, problem, webhook};

pub(crate) fn applied(mut document: Value, contract: &Overlay) -> Value {
    if *contract == Overlay::default() {
        return document;
    }
    for row in api::product() {
        apply_row(&mut document, row, contract);
    }
    if let Some(paths) = document["paths"].as_object_mut() {
        let unserved = api::product().filter(|row| !contract.rows.serves(row));
        links::without(paths, &unserved.map(Operation::operation_id).collect());
        paths.retain(|_, methods| methods.as_object().is_some_and(|methods| !methods.is_empty()));
    }
    name_causes(&mut document, contract);
    endpoints::add(&mut document, contract);
    let dialect = &contract.dialect;
    if dialect.errors == ErrorFormat::Envelope {
        document["components"]["schemas"]["Problem"] = envelope_schema();
    }
    translate(&mut document, dialect);
    for (header, name) in &dialect.headers {
        let name = name.as_ref().map(|name| name.written.as_str());
        rename(&mut document, *header, name);
    }
    if contract.rows.key_required {
        let name = contract.called("idempotency_key");
        if let Some(name) = name {
            document["components"]["parameters"][name]["required"] = true.into();
        }
    }
    if !contract.auth.keys.is_empty() {
        document["components"]["securitySchemes"][BEARER]["description"] =
            "One of the keys that this sandbox was started with. Each key has its own world."
                .into();
    } else if !contract.auth.refuse_live {
        document["components"]["securitySchemes"][BEARER]["description"] =
            "Any key. Each key has its own world, and an unknown key opens a new one.".into();
    }
    without_unused(&mut document);
    document
}

/// Removes operations that are not served from the causes of webhooks.
fn name_causes(document: &mut Value, contract: &Overlay) {
    let served = events::catalogue(api::product().filter(|row| contract.rows.serves(row)));
    let webhooks = document.get_mut("webhooks").and_then(Value::as_object_mut);
    for (name, webhook) in webhooks.into_iter().flatten() {
        let kind = served.iter().find(|kind| kind.name == name.as_str());
        let causes = kind.map_or(&[][..], |kind| &kind.caused_by);
        webhook["post"]["description"] = webhook::caused_by(causes).into();
    }
}

/// Removes a row, or changes it.
fn apply_row(document: &mut Value, row: &Operation, contract: &Overlay) {
    let method = row.method.name().to_ascii_lowercase();
    let Some(paths) = document["paths"].as_object_mut() else { return };
    let Some(methods) = paths.get_mut(row.path).and_then(Value::as_object_mut) else { return };
    if !contract.rows.serves(row) {
        methods.shift_remove(&method);
        return;
    }
    let Some(operation) = methods.get_mut(&method) else { return };
    let status = contract.rows.status(row);
    if status != row.success {
        restate(operation, row.success, status);
    }
    if contract.rows.paging != Paging::default() {
        let parameters = operation["parameters"].as_array_mut();
        let per_page =
            parameters.into_iter().flatten().filter(|parameter| parameter["name"] == "per_page");
        for parameter in per_page {
            parameter["description"] = contract.rows.paging.words().into();
        }
    }
    let operation = operation.clone();
    for (place, alias) in contract.rows.aliases(row).iter().enumerate() {
        let mut operation = operation.clone();
        operation["operationId"] = format!("{}Alias{}", row.operation_id(), place + 1).into();
        operation["description"] = format!(
            "The same as `{} {}`.\n\n{}",
            row.method.name(),
            row.path,
            operation["description"].as_str().unwrap_or_default()
        )
        .into();
        operation["x-alias-of"] = row.operation_id().into();
        let path = paths.entry(alias.as_str()).or_insert_with(|| json!({}));
        path[&method] = operation;
    }
}

/// Changes the success status of a row, at the position of the old one.
fn restate(operation: &mut Value, from: u16, to: u16) {
    let Some(responses) = operation["responses"].as_object_mut() else { return };
    let (from, name) = (from.to_string(), to.to_string());
    let old = core::mem::take(responses);
    for (status, mut response) in old {
        if status == from {
            response["description"] = problem::reason(to).into();
            responses.insert(name.clone(), response);
        } else {
            responses.insert(status, response);
        }
    }
}

/// Changes the form of all refusals, and the header names in all texts.
fn translate(part: &mut Value, dialect: &Dialect) {
    match part {
        Value::Array(items) => items.iter_mut().for_each(|item| translate(item, dialect)),
        Value::Object(members) => {
            if let Some(content) = members.get_mut("application/problem+json").map(Value::take) {
                members.shift_remove("application/problem+json");
                let (kind, content) = refusals(content, dialect);
                members.insert(kind.to_owned(), content);
            }
            for (name, member) in members.iter_mut() {
                match member {
                    Value::String(text) if matches!(name.as_str(), "description" | "summary") => {
                        *text = dialect.words(text);
                    }
                    other => translate(other, dialect),
                }
            }
        }
        _ => {}
    }
}

/// The content of a refusal, and its media type.
fn refusals(mut content: Value, dialect: &Dialect) -> (&'static str, Value) {
    for (_, example) in content["examples"].as_object_mut().into_iter().flatten() {
        example["value"] = dialect.refusal(example["value"].take());
    }
    if dialect.errors == ErrorFormat::Problem {
        return ("application/problem+json", content);
    }
    ("application/json", content)
}

/// The schema of an envelope: the members of a problem that it keeps, by its names.
fn envelope_schema() -> Value {
    let mut problem = problem::schema();
    let required: Vec<Value> = problem["required"].as_array().cloned().unwrap_or_default();
    let mut members = Map::new();
    let mut needed = Vec::new();
    for (from, to) in ENVELOPE {
        members.insert(to.to_owned(), problem["properties"][from].take());
        if required.iter().any(|name| name == from) {
            needed.push(to);
        }
    }
    json!({
        "type": "object",
        "description": "Why a request was refused. Members without a value are left out.",
        "properties": {
            "error": { "type": "object", "properties": members, "required": needed },
        },
        "required": ["error"],
    })
}

/// Renames a header, or removes it.
fn rename(document: &mut Value, header: Header, name: Option<&str>) {
    let section = if header.of_requests { "parameters" } else { "headers" };
    if let Some(components) = document["components"][section].as_object_mut()
        && let Some(mut component) = components.shift_remove(header.name)
        && let Some(name) = name
    {
        if header.of_requests {
            component["name"] = name.into();
        }
        components.insert(name.to_owned(), component);
    }
    let reference = |name: &str| format!("#/components/{section}/{name}");
    let old = reference(header.name);
    refer(document, header, &old, name.map(|name| (name, reference(name))));
}

/// Applies the new name or the removal of a header to all references.
fn refer(part: &mut Value, header: Header, old: &str, new: Option<(&str, String)>) {
    let is_old = |value: &Value| value["$ref"] == old;
    match part {
        Value::Array(items) => {
            if new.is_none() {
                items.retain(|item| !is_old(item));
            }
            for item in items {
                refer(item, header, old, new.clone());
            }
        }
        Value::Object(members) => {
            if members.get(header.name).is_some_and(is_old) {
                // The order of the others does not change.
                let all = core::mem::take(members);
                for (name, member) in all {
                    match &new {
                        _ if name != header.name => members.insert(name, member),
                        Some((new, _)) => members.insert((*new).to_owned(), member),
                        None => None,
                    };
                }
            }
            if let (Some(Value::String(target)), Some((_, new))) = (members.get_mut("$ref"), &new)
                && target == old
            {
                target.clone_from(new);
            }
            for (_, member) in members.iter_mut() {
                refer(member, header, old, new.clone());
            }
        }
        _ => {}
    }
}

/// Removes unused parts of `components` and unused tags.
pub(super) fn without_unused(document: &mut Value) {
    let mut components = document["components"].take();
    let mut used = BTreeSet::new();
    follow(document, &components, &mut used);
    for (section, entries) in components.as_object_mut().into_iter().flatten() {
        if let (false, Some(entries)) = (section == "securitySchemes", entries.as_object_mut()) {
            entries.retain(|name, _| used.contains(&format!("/{section}/{name}")));
        }
    }
    document["components"] = components;
    let text = document["paths"].to_string();
    let has_webhooks = document.get("webhooks").is_some();
    if let Some(tags) = document["tags"].as_array_mut() {
        let tagged = |tag: &Value| text.contains(&format!("\"tags\":[{}]", tag["name"]));
        tags.retain(|tag| tagged(tag) || (has_webhooks && tag["name"] == webhook::TAG));
    }
}

/// Adds all pointers into `components` to which `part` refers, directly or indirectly.
pub(super) fn follow(part: &Value, components: &Value, used: &mut BTreeSet<String>) {
    if let Some(pointer) =
        part.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix("#/components"))
        && used.insert(pointer.to_owned())
        && let Some(target) = components.pointer(pointer)
    {
        follow(target, components, used);
    }
    match part {
        Value::Array(items) => items.iter().for_each(|item| follow(item, components, used)),
        Value::Object(members) => {
            members.values().for_each(|member| follow(member, components, used));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::{Contract, Method};
    use crate::render::openapi::{Plane, document, document_under};

    #[test]
    fn overlay_values_equal_the_enum_values_of_the_schema() {
        let ours = document(Plane::Product);
        let parameters = &ours["paths"]["/api/business/employees"]["get"]["parameters"];
        let per_page = parameters
            .as_array()
            .into_iter()
            .flatten()
            .find(|parameter| parameter["name"] == "per_page")
            .expect("the list has pages");
        assert_eq!(per_page["description"], Paging::default().words());
    }

    #[test]
    fn every_header_of_the_overlay_is_in_the_document() {
        let ours = document(Plane::Product);
        for header in Header::ALL {
            let section = if header.of_requests { "parameters" } else { "headers" };
            let known = !ours["components"][section][header.name].is_null();
            assert!(known, "{}", header.name);
        }
    }

    #[test]
    fn published_leaves_two_operations() {
        let document = document_under(Plane::Product, &Overlay::published());
        let paths: Vec<&String> = document["paths"].as_object().expect("paths").keys().collect();
        assert_eq!(paths.len(), 2, "{paths:?}");
        assert!(api::product().filter(|row| row.contract == Contract::Published).all(|row| {
            let method = if row.method == Method::Get { "get" } else { "post" };
            !document["paths"][row.path][method].is_null()
        }));
    }
}

//! Links: the operations that take the id of an answer, for programs that follow a document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::render::openapi::schemas::referred;

/// The position of an answer's id, and the prefix of its link names.
const ONE: (&str, &str) = ("$response.body#/data/id", "");
const FIRST: (&str, &str) = ("$response.body#/data/0/id", "OfFirst");

/// The answers of calls that create a resource.
const MADE: [&str; 2] = ["201", "202"];

/// An operation, and its parameter for a resource of a kind.
struct Target {
    operation: String,
    parameter: String,
    kind: String,
}

/// Adds links to each answer that creates or reads a resource; returns `components.links`. A list has links
/// only if no call creates such a resource, because a list can be empty.
pub(crate) fn add(paths: &mut Map<String, Value>, schemas: &BTreeMap<String, Value>) -> Value {
    let targets = targets(paths);
    let mut made = BTreeSet::new();
    for (_, operation) in paths.values_mut().flat_map(operations) {
        for status in MADE {
            made.extend(shown(&operation["responses"][status], schemas).map(|(kind, _)| kind));
        }
    }
    let mut links = Map::new();
    for (method, operation) in paths.values_mut().flat_map(operations) {
        let own = operation["operationId"].clone();
        let responses = operation["responses"].as_object_mut();
        for (status, response) in responses.into_iter().flatten() {
            let gives = MADE.contains(&status.as_str()) || (method == "get" && status == "200");
            let Some((kind, (id, suffix))) = shown(response, schemas).filter(|_| gives) else {
                continue;
            };
            if (id, suffix) == FIRST && made.contains(kind) {
                continue;
            }
            let fits = |target: &&Target| target.kind == kind && target.operation != own;
            let mut found = Map::new();
            for target in targets.iter().filter(fits) {
                let name = format!("{}{suffix}", target.operation);
                let reference = format!("#/components/links/{name}");
                found.insert(target.operation.clone(), json!({ "$ref": reference }));
                let parameters = json!({ &target.parameter: id });
                let link = json!({ "operationId": target.operation, "parameters": parameters });
                links.insert(name, link);
            }
            if !found.is_empty() {
                response["links"] = found.into();
            }
        }
    }
    links.into()
}

/// Removes the links to these operations.
pub(crate) fn without(paths: &mut Map<String, Value>, gone: &BTreeSet<String>) {
    for (_, operation) in paths.values_mut().flat_map(operations) {
        let responses = operation["responses"].as_object_mut();
        for response in responses.into_iter().flatten().map(|(_, response)| response) {
            // Not by an index, which would add `links` to a response without them.
            let Some(response) = response.as_object_mut() else { continue };
            let links = response.get_mut("links").and_then(Value::as_object_mut);
            let Some(links) = links else { continue };
            links.retain(|name, _| !gone.contains(name));
            if links.is_empty() {
                response.shift_remove("links");
            }
        }
    }
}

fn operations(path: &mut Value) -> impl Iterator<Item = (&String, &mut Value)> {
    path.as_object_mut().into_iter().flatten()
}

/// The parameters that name one resource in the path, or are required in the query.
fn targets(paths: &mut Map<String, Value>) -> Vec<Target> {
    let mut found = Vec::new();
    for (path, methods) in paths {
        for (_, operation) in operations(methods) {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = parameters.filter(|one| one["required"] == true);
            let named: Vec<&str> = named
                .filter_map(|one| one["name"].as_str())
                .filter(|name| name.ends_with("_id"))
                .collect();
            if let ([parameter], Some(operation)) = (&named[..], operation["operationId"].as_str())
            {
                found.push(Target {
                    operation: operation.to_owned(),
                    parameter: (*parameter).to_owned(),
                    kind: meant(path, parameter),
                });
            }
        }
    }
    found
}

/// The kind of a parameter. In a path it is the kind of the collection before it, which can be more exact
/// than the name.
fn meant(path: &str, parameter: &str) -> String {
    let before = path.split_once(&format!("/{{{parameter}}}"));
    let Some((_, collection)) = before.and_then(|(before, _)| before.rsplit_once('/')) else {
        return parameter.trim_end_matches("_id").to_owned();
    };
    let plural = collection.replace('-', "_");
    match (plural.strip_suffix("ies"), plural.strip_suffix("ches")) {
        (Some(stem), _) => format!("{stem}y"),
        (_, Some(stem)) => format!("{stem}ch"),
        _ => plural.trim_end_matches('s').to_owned(),
    }
}

/// The kind of the resource in an answer, and the position of its id.
fn shown<'a>(
    response: &Value,
    schemas: &'a BTreeMap<String, Value>,
) -> Option<(&'a str, (&'static str, &'static str))> {
    let answer = &response["content"]["application/json"]["schema"];
    let data = &schemas.get(referred(answer)?)?["properties"]["data"];
    let (resource, place) = match referred(data) {
        Some(resource) => (resource, ONE),
        None => (referred(&data["items"])?, FIRST),
    };
    let object = &schemas.get(resource)?["properties"]["object"];
    Some((object["const"].as_str()?, place))
}

//! The OpenAPI 3.1.1 documents: one of the simulated product, one of the control plane.
//!
//! A document is a `serde_json::Value`, assembled row by row in the table's order. Its schemas are those that
//! check requests.

mod endpoints;
pub(super) mod header;
mod links;
mod made;
mod overlay;
pub(super) mod problem;
pub(crate) mod row;
mod schemas;
mod served;
pub(super) mod tags;
mod unions;
pub(crate) mod variant;
mod webhook;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::operation::Operation;
use crate::api::{control, product};
use crate::engine::contract::Overlay;
use crate::model::registry::{Machine, machines};
use crate::render::events;
use crate::render::openapi::header::BEARER;
use crate::render::openapi::schemas::Schemas;
use crate::render::samples::{Sample, Session};
use crate::world::Base;

/// The address of a sandbox with the default port. A served document has the address of its server instead.
pub(crate) const SERVER: &str = "http://localhost:4747";

/// Which document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plane {
    /// The simulated product.
    Product,
    /// `/_sandbox`.
    Control,
}

impl Plane {
    fn rows(self) -> Vec<&'static Operation> {
        match self {
            Self::Product => product().collect(),
            Self::Control => control().collect(),
        }
    }
}

/// The document of one plane, with examples from a fresh world. A pure function of the program;
/// some milliseconds.
pub(crate) fn document(plane: Plane) -> Value {
    let mut session = Session::new();
    let base = Arc::clone(session.base());
    let mut document = render(plane, &plane.rows(), &mut |row| session.sample(row));
    served::with_ids_of(&mut document, &base, &base);
    document
}

/// The document under a contract, which affects only the product.
pub(crate) fn document_under(plane: Plane, contract: &Overlay) -> Value {
    match plane {
        Plane::Product => overlay::applied(document(plane), contract),
        Plane::Control => document(plane),
    }
}

/// The document with the ids of the worlds that a server opens.
pub(crate) fn document_served(plane: Plane, contract: &Overlay, served: &Base) -> Value {
    let mut document = document_under(plane, contract);
    served::with_ids_of(&mut document, Session::new().base(), served);
    document
}

/// A document as formatted text that ends in a line feed.
pub(crate) fn text(document: &Value) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("a value of JSON is written as JSON");
    text.push('\n');
    text
}

fn render(
    plane: Plane,
    rows: &[&Operation],
    sampler: &mut dyn FnMut(&Operation) -> Sample,
) -> Value {
    let mut schemas = Schemas::of(rows);
    schemas.define("Problem".to_owned(), problem::schema());
    schemas.define("Violation".to_owned(), problem::violation_schema());
    unions::name(&mut schemas.definitions);
    let mut paths = Map::new();
    let shapes = core::mem::take(&mut schemas.rows);
    for (row, shape) in rows.iter().zip(shapes) {
        let sample = sampler(row);
        let path = paths.entry(row.path).or_insert_with(|| json!({}));
        path[row.method.name().to_ascii_lowercase()] =
            row::operation(row, shape, &sample, &mut schemas);
    }
    let links = links::add(&mut paths, &schemas.definitions);
    let mut document = json!({
        "openapi": "3.1.1",
        "info": info(plane),
        "servers": [{ "url": SERVER, "description": "This sandbox" }],
        "security": [{ BEARER: [] }],
        "tags": tags::of(rows, plane == Plane::Product),
        "paths": paths,
    });
    if plane == Plane::Product {
        let events = events::catalogue(rows.iter().copied());
        document["webhooks"] = webhook::webhooks(&events, &mut schemas).into();
    }
    unions::discriminate(&mut document, &schemas.definitions);
    let components = components(schemas, links, &document);
    document["components"] = components;
    document
}

fn info(plane: Plane) -> Value {
    let (title, description) = match plane {
        Plane::Product => ("Sandbox", include_str!("openapi/product.md")),
        Plane::Control => ("Sandbox control plane", include_str!("openapi/control.md")),
    };
    json!({ "title": title, "version": env!("CARGO_PKG_VERSION"), "description": description.trim_end() })
}

/// Adds `x-lifecycle` to the schema of each resource that has one: by member its states, and which verb leads where.
fn add_lifecycles(definitions: &mut BTreeMap<String, Value>) {
    let machines = machines();
    for schema in definitions.values_mut() {
        let object = schema.pointer("/properties/object/const").cloned();
        let Some(object) = object else {
            continue;
        };
        let of_kind = machines.iter().filter(|machine| object == machine.kind);
        let shown: Map<String, Value> =
            of_kind.map(|it| (it.member.to_owned(), lifecycle(it))).collect();
        if !shown.is_empty() {
            schema["x-lifecycle"] = shown.into();
        }
    }
}

/// States and moves. A move may start in several states.
fn lifecycle(machine: &Machine) -> Value {
    let moves = machine.rows.chunk_by(|one, next| (one.0, one.2) == (next.0, next.2));
    let moves = moves.map(|rows| {
        let from: Vec<&str> = rows.iter().map(|row| row.1).collect();
        json!({ "verb": rows[0].0, "from": from, "to": rows[0].2 })
    });
    json!({ "states": machine.states, "moves": moves.collect::<Vec<_>>() })
}

/// `components`, without parts that the document never refers to.
fn components(mut schemas: Schemas, links: Value, document: &Value) -> Value {
    let whole = schemas.definitions.clone();
    for schema in schemas.definitions.values_mut() {
        unions::discriminate(schema, &whole);
    }
    add_lifecycles(&mut schemas.definitions);
    let mut components = json!({
        "schemas": schemas.definitions,
        "parameters": header::parameters(),
        "headers": header::components(),
        "responses": problem::components(),
        "links": links,
    });
    let mut used = BTreeSet::new();
    overlay::follow(document, &components, &mut used);
    for (section, entries) in components.as_object_mut().into_iter().flatten() {
        if let Some(entries) = entries.as_object_mut() {
            entries.retain(|name, _| used.contains(&format!("/{section}/{name}")));
        }
    }
    components["securitySchemes"] = json!({
        BEARER: {
            "type": "http",
            "scheme": "bearer",
            "description": "Any key. Each key has its own world, and an unknown key opens a new one. Keys that look live are \
                refused.",
        },
    });
    components
}

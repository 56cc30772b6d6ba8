//! The webhook endpoints of the control plane in the product's document, if the contract gives their path.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::api;
use crate::engine::contract::Overlay;
use crate::render::openapi::{Plane, document, overlay};

pub(super) fn add(product: &mut Value, contract: &Overlay) {
    if contract.rows.webhook_endpoints.is_none() {
        return;
    }
    let control = document(Plane::Control);
    let mut used = BTreeSet::new();
    for row in api::control() {
        let Some(path) = contract.rows.product_path(row) else { continue };
        let method = row.method.name().to_ascii_lowercase();
        let mut operation = control["paths"][row.path][&method].clone();
        operation["x-contract"] = json!(api::operation::Contract::Assumed);
        for (_, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            // They lead to operations that only the control plane has.
            if let Some(members) = response.as_object_mut() {
                members.shift_remove("links");
            }
        }
        overlay::follow(&operation, &control["components"], &mut used);
        if let Some(tag) = tag(&control, &operation).filter(|_| !has_tag(product, &operation)) {
            product["tags"].as_array_mut().into_iter().for_each(|tags| tags.push(tag.clone()));
        }
        product["paths"][path][method] = operation;
    }
    for pointer in used {
        let Some((section, name)) = pointer.trim_start_matches('/').split_once('/') else {
            continue;
        };
        let own = &mut product["components"][section][name];
        if own.is_null() {
            *own = control["components"][section][name].clone();
        }
    }
}

fn tag(document: &Value, operation: &Value) -> Option<Value> {
    let tags = document["tags"].as_array().into_iter().flatten();
    tags.into_iter().find(|tag| tag["name"] == operation["tags"][0]).cloned()
}

fn has_tag(document: &Value, operation: &Value) -> bool {
    tag(document, operation).is_some()
}

//! Requests by the obligation that they are about: operation, path, and the members of the body that say who gets what.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::api::json;
use crate::cli::exam::trial::Call;
use crate::cli::lab::canon::{Canon, Masks};

/// The class of a request.
pub(super) type Class = String;

/// The calls of a run by class.
pub(super) type Classes = BTreeMap<Class, Used>;

/// How a run used one class.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    pub(super) keys: BTreeSet<String>,
    /// Calls without a key.
    pub(super) bare: usize,
    /// The recipient or payer.
    pub(super) counterparty: Option<String>,
}

/// The classes of a run's writes.
pub(super) fn classes(calls: &[Call], canon: &Canon, masks: &Masks) -> Classes {
    let texts = canon.texts(masks);
    let mut classes = Classes::new();
    for call in calls.iter().filter(|call| !call.is_read()) {
        let used = classes.entry(class(call, &texts)).or_default();
        match &call.key {
            Some(key) => drop(used.keys.insert(key.clone())),
            None => used.bare += 1,
        }
        let written = call.resource.as_deref();
        let object = canon.objects.iter().find(|object| written == Some(object.id.as_str()));
        if let Some(name) = object.and_then(|object| object.counterparty.clone()) {
            used.counterparty = Some(name);
        }
    }
    classes
}

/// The class of one request. `texts` are the resources that the run created, by their ids: another run has other ids.
pub(super) fn class(call: &Call, texts: &BTreeMap<&str, String>) -> Class {
    let known = |id: &str| texts.get(id).cloned().unwrap_or_else(|| id.to_owned());
    let path: Vec<String> = call.path.split('/').map(known).collect();
    let mut members = Map::new();
    for (name, value) in call.body.as_object().into_iter().flatten() {
        // The wallet is a way to pay, like the rail.
        let is_party = name.ends_with("_id") && name != "wallet_id";
        if is_party || ["amount", "currency", "period"].contains(&name.as_str()) {
            let value = value.as_str().map_or_else(|| value.clone(), |id| known(id).into());
            members.insert(name.clone(), value);
        }
    }
    let operation = call.operation.as_deref().unwrap_or_default();
    let members = json::canonical(&Value::Object(members));
    format!("{operation} {} {}", path.join("/"), String::from_utf8_lossy(&members))
}

/// The body of a request without what an app may vary between two attempts for one thing.
pub(super) fn meant(call: &Call) -> Vec<u8> {
    let mut body = call.body.clone();
    if let Some(members) = body.as_object_mut() {
        members
            .retain(|name, _| !["reference", "metadata", "description"].contains(&name.as_str()));
    }
    json::canonical(&body)
}

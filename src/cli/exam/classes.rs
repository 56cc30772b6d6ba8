//! Groups requests by obligation: operation, path, and the members of the body that name the recipient and the
//! amount.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::api::json;
use crate::cli::exam::trial::Call;
use crate::cli::lab::canon::{Canon, Masks};

/// The class of a request.
pub(super) type Class = String;

/// The names of resources by their ids.
pub(super) type Known = BTreeMap<String, String>;

/// The calls of a run by class.
pub(super) type Classes = BTreeMap<Class, Used>;

/// The requests of one class in a run.
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
    let known = identities(calls, canon, masks);
    let mut classes = Classes::new();
    for call in calls.iter().filter(|call| !call.is_read()) {
        let used = classes.entry(class(call, &known)).or_default();
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

/// Names for the resources that the run created, by their ids: another run has other ids. The name of a resource is
/// its kind and its place in the order of creation, because its final state can differ after a fault. Resources from
/// before the run keep their ids. A resource that no call of the app created, such as an item of a payroll run, is
/// identified by its content.
pub(super) fn identities(calls: &[Call], canon: &Canon, masks: &Masks) -> Known {
    let mut known = Known::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.creates()) {
        let Some(id) = call.resource.as_deref() else { continue };
        if canon.existed(id) || known.contains_key(id) {
            continue;
        }
        let prefix = id.split('_').next().unwrap_or_default();
        let count = counts.entry(prefix).or_default();
        *count += 1;
        known.insert(id.to_owned(), format!("{prefix}#{count}"));
    }
    for (id, text) in canon.texts(masks) {
        if !canon.existed(id) {
            known.entry(id.to_owned()).or_insert(text);
        }
    }
    known
}

/// The class of one request.
pub(super) fn class(call: &Call, known: &Known) -> Class {
    let known = |id: &str| known.get(id).cloned().unwrap_or_else(|| id.to_owned());
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

/// The body of a request without members that an app may vary between two attempts for the same obligation.
pub(super) fn meant(call: &Call) -> Vec<u8> {
    let mut body = call.body.clone();
    if let Some(members) = body.as_object_mut() {
        members
            .retain(|name, _| !["reference", "metadata", "description"].contains(&name.as_str()));
    }
    json::canonical(&body)
}

//! Resources as the events of a world have left them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::machines::of_kind;
use super::runner::Client;
use crate::harness::contract::product;

/// The known state of a resource.
#[derive(Clone, Default)]
pub(super) struct Resource {
    pub(super) kind: String,
    members: Map<String, Value>,
}

/// The resources that events have written so far.
#[derive(Default)]
pub(super) struct Records {
    /// Place in the log of the last event that was read.
    last: u64,
    all: BTreeMap<String, Resource>,
}

impl Records {
    /// Reads the events since the last call, and returns the ids of the written resources.
    pub(super) fn update(&mut self, client: &Client) -> BTreeSet<String> {
        let mut written = BTreeSet::new();
        for event in client.events(self.last) {
            self.last = event["sequence"].as_u64().unwrap();
            let path = format!("/_sandbox/events/{}", event["id"].as_str().unwrap());
            let detail = client.read(&path)["data"].take();
            for change in detail["changes"].as_array().unwrap() {
                let id = change["id"].as_str().unwrap();
                let resource = self.all.entry(id.to_owned()).or_default();
                change["kind"].as_str().unwrap().clone_into(&mut resource.kind);
                resource.members.extend(change["after"].as_object().unwrap().clone());
                written.insert(id.to_owned());
            }
        }
        written
    }

    /// A resource with all members. Grown resources are read at the first use.
    pub(super) fn get(&mut self, client: &Client, id: &str) -> Option<&Resource> {
        let resource = self.all.get_mut(id)?;
        if !resource.members.contains_key("id") || lacks_state(resource) {
            let path = path_of(id)?;
            let whole = client.read(&path)["data"].as_object().cloned()?;
            resource.members.extend(whole);
        }
        Some(resource)
    }
}

fn lacks_state(resource: &Resource) -> bool {
    of_kind(&resource.kind).iter().any(|machine| !resource.members.contains_key(machine.member))
}

impl Resource {
    pub(super) fn member(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    /// Its state in each machine of its kind.
    pub(super) fn states(&self) -> Vec<(&'static str, &'static str)> {
        let machines = of_kind(&self.kind);
        let state = |machine: &&super::machines::Machine| {
            let name = self.member(machine.member).as_str()?;
            Some((machine.member, machine.state(name)?))
        };
        machines.iter().filter_map(state).collect()
    }
}

/// The path that reads the resource of that id, by the prefix of the document's example.
fn path_of(id: &str) -> Option<String> {
    let prefix = id.split_once('_')?.0;
    let paths = product()["paths"].as_object().unwrap();
    paths.iter().find_map(|(path, methods)| {
        let parameters = methods["get"]["parameters"].as_array()?;
        let mut in_path = parameters.iter().filter(|it| it["in"] == "path");
        let only = in_path.next().filter(|_| in_path.next().is_none())?;
        let is_of_kind = only["example"].as_str()?.split_once('_')?.0 == prefix;
        let name = format!("{{{}}}", only["name"].as_str()?);
        (is_of_kind && path.ends_with(&name)).then(|| path.replace(&name, id))
    })
}

//! Tries every move and call that the state of a resource does not allow. Each must be refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::{Map, Value, json};

use super::machines::{Machine, machine, of_kind};
use super::records::{Records, Resource};
use super::runner::{Client, KEY, request_line};
use super::verbs::{VERBS, Verb, wrong_states};
use crate::harness::http::Answer;

/// The calls that were tried and correctly refused.
#[derive(Default)]
pub(super) struct Probed {
    /// Kinds, members and states in which every transition was tried.
    pub(super) moves: BTreeSet<(&'static str, &'static str, &'static str)>,
    /// Operations, and the states in which they were refused.
    pub(super) verbs: BTreeSet<(&'static str, &'static str)>,
    /// Replies that are different.
    pub(super) wrong: Vec<String>,
}

impl Probed {
    /// Adds the results of another prober.
    pub(super) fn add(&mut self, other: Self) {
        self.moves.extend(other.moves);
        self.verbs.extend(other.verbs);
    }

    /// Records a reply that is not a 409 with the state and the allowed transitions.
    fn expect(&mut self, what: &str, came: &Answer, current: &str, allowed: &Value) {
        let body = came.json();
        let right = came.status == 409
            && body["code"] == "invalid_state_transition"
            && body["current"] == current
            && body["allowed"] == *allowed;
        if !right {
            let wanted = format!("409 with current {current:?} and allowed {allowed}");
            self.wrong.push(format!("{what}: expected {wanted}, got {body}"));
        }
    }
}

type States = Vec<(&'static str, &'static str)>;

/// Kinds and states that were tried in the world of a situation: once is enough for all situations.
static TRIED: Mutex<BTreeSet<(String, States)>> = Mutex::new(BTreeSet::new());

/// The prober of one world.
#[derive(Default)]
pub(super) struct Prober {
    /// In a story, every state is tried, even if a situation has already covered it.
    is_of_story: bool,
    records: Records,
    known: BTreeSet<(String, States)>,
    forks: usize,
    probed: Probed,
}

impl Prober {
    pub(super) fn new(is_of_story: bool) -> Self {
        Self { is_of_story, ..Self::default() }
    }

    pub(super) fn end(self) -> Probed {
        self.probed
    }

    /// Tries one resource of each kind and state that no resource had before.
    pub(super) fn probe(&mut self, client: &Client) {
        let mut found: BTreeMap<(String, States), (String, Resource)> = BTreeMap::new();
        for id in self.records.update(client) {
            let Some(resource) = self.records.get(client, &id) else {
                continue;
            };
            if !of_kind(&resource.kind).is_empty() {
                let place = (resource.kind.clone(), resource.states());
                let resource = resource.clone();
                found.entry(place).or_insert_with(|| (id, resource));
            }
        }
        found.retain(|place, _| {
            let is_first = || TRIED.lock().unwrap().insert(place.clone());
            self.known.insert(place.clone()) && (self.is_of_story || is_first())
        });
        if found.is_empty() {
            return;
        }
        let before = client.sandbox.digest(KEY).unwrap();
        for ((kind, states), (id, resource)) in &found {
            self.transitions(client, id, kind, states);
            for verb in VERBS.iter().filter(|verb| verb.kind == kind) {
                self.call(client, verb, id, resource, states);
            }
        }
        if client.sandbox.digest(KEY).unwrap() != before {
            let names: Vec<&str> = found.values().map(|(id, _)| id.as_str()).collect();
            let names = names.join(", ");
            self.probed.wrong.push(format!("refusals changed the world: {names}"));
        }
    }

    fn transitions(&mut self, client: &Client, id: &str, kind: &str, states: &States) {
        let what = format!("{id} {states:?} by a transition");
        let first = transition(client, KEY, id, "nowhere").json();
        let allowed = &first["allowed"];
        let named: Vec<&str> =
            allowed.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let machines = of_kind(kind);
        for to in &named {
            let mut starts = machines.iter().zip(states);
            let may = starts.any(|(machine, (_, from))| machine.leads(from, to));
            if !may {
                self.probed.wrong.push(format!("{what}: {to} is allowed, and no row leads there"));
            }
        }
        let all: BTreeSet<&str> =
            machines.iter().flat_map(|it| it.states.iter().copied()).collect();
        for to in &all {
            if named.contains(to) {
                self.move_aside(client, &what, id, states, to);
                continue;
            }
            let came = transition(client, KEY, id, to);
            if first["current"].is_string() {
                self.probed.expect(&format!("{what} to {to}"), &came, states[0].1, allowed);
            } else if came.status != 409 || came.json()["allowed"] != json!([]) {
                self.probed.wrong.push(format!("{what} to {to}: got {}", came.text()));
            }
        }
        let moved = machines.iter().zip(states);
        let moved = moved.map(|(machine, (member, state))| (machine.kind, *member, *state));
        self.probed.moves.extend(moved);
    }

    /// Makes an allowed move in a copy of the world. It leads to exactly that state, or is refused. The ledger stays balanced.
    fn move_aside(&mut self, client: &Client, what: &str, id: &str, states: &States, to: &str) {
        self.forks += 1;
        let key = format!("test_aside_{}", self.forks);
        client.sandbox.fork(KEY, &key).unwrap();
        let came = transition(client, &key, id, to);
        // The data of the resource can exclude a target. Then the refusal does not allow it again.
        let lists = |body: &Value| body["allowed"].as_array().unwrap().iter().any(|it| it == to);
        let is_by_data = came.status == 409 && !lists(&came.json());
        if came.status != 200 && !is_by_data {
            self.probed
                .wrong
                .push(format!("{what} to {to}, which is allowed: got {}", came.text()));
        }
        let is_done = came.status == 200;
        let came = came.json();
        let arrived = |(member, from): &(&str, &str)| {
            *from != to && came["data"][*member].as_str() == Some(to)
        };
        // A step can lead to the state in which it starts.
        let again = |history: &Value| {
            let mut latest = history.as_array().unwrap().iter().rev();
            latest.by_ref().take(2).all(|change| change["status"] == *to)
        };
        let is_there = states.iter().any(arrived)
            || (states[0].1 == to && again(&came["data"]["status_history"]));
        if is_done && !is_there {
            self.probed.wrong.push(format!("{what} to {to}: got {}", came["data"]));
        }
        let books = send(client, &key, "GET", "/_sandbox/ledger/check", None).data();
        if books["ok"] != true {
            self.probed.wrong.push(format!("{what} to {to}: the books say {books}"));
        }
    }

    fn call(
        &mut self,
        client: &Client,
        verb: &Verb,
        id: &str,
        resource: &Resource,
        states: &States,
    ) {
        let state = states.iter().find(|(member, _)| *member == verb.machine);
        let &(_, state) = state.unwrap_or_else(|| panic!("{id} has no {}", verb.machine));
        if verb.machine == "stage" && !states.contains(&("status", "open")) {
            return;
        }
        let found = machine(verb.kind, verb.machine).unwrap();
        if !wrong_states(verb, found).contains(&state) {
            return;
        }
        let (method, path, body) = request_line(verb.operation, &input(client, verb, id, resource));
        let came = send(client, KEY, &method, &path, body.as_ref());
        let what = format!("{} of {id} ({state})", verb.operation);
        let other = self.behind(client, &came, id);
        let (current, mut allowed) = other.unwrap_or_else(|| (state, found.allowed(state)));
        // A row of a reconciliation without a line of the bank can only be ignored.
        if verb.kind == "reconciliation_match" && resource.member("side") == "ledger" {
            allowed.retain(|to| *to == "ignored");
        }
        self.probed.expect(&what, &came, current, &json!(allowed));
        self.probed.verbs.insert((verb.operation, state));
    }

    /// The state of another resource that a refusal is about: of the run of an item.
    fn behind(
        &mut self,
        client: &Client,
        came: &Answer,
        id: &str,
    ) -> Option<(&'static str, Vec<&'static str>)> {
        let body = came.json();
        let about = body["resource_id"].as_str().filter(|about| *about != id)?;
        let other = self.records.get(client, about)?;
        let machine: &Machine = of_kind(&other.kind).into_iter().next()?;
        let (_, state) = *other.states().first()?;
        Some((state, machine.allowed(state)))
    }
}

/// The input of a call about that resource.
fn input(client: &Client, verb: &Verb, id: &str, resource: &Resource) -> Value {
    let mut input = verb.body();
    let company = resource.member("company_id").as_str().unwrap_or_default().to_owned();
    for (name, value) in input.as_object_mut().unwrap() {
        match name.as_str() {
            "company_id" => *value = company.clone().into(),
            "wallet_id" | "source_wallet_id" => *value = first_wallet(client, &company),
            _ => {}
        }
    }
    input[verb.member] = id.into();
    match verb.operation {
        "createFxTransfer" => input["source_wallet_id"] = first_wallet(client, &company),
        "retryPayrollItem" => input["payroll_run_id"] = resource.member("payroll_run_id").clone(),
        "createCollection" => input["currency"] = resource.member("currency").clone(),
        "createVerification" if resource.member("type") == "person" => input["type"] = json!("kyc"),
        _ => {}
    }
    input
}

/// The first wallet of that company; of all, if the resource has no company.
fn first_wallet(client: &Client, company: &str) -> Value {
    let of = if company.is_empty() { String::new() } else { format!("&company_id={company}") };
    client.read(&format!("/api/payments/wallets?per_page=1{of}"))["data"][0]["id"].take()
}

fn transition(client: &Client, key: &str, id: &str, to: &str) -> Answer {
    let path = format!("/_sandbox/resources/{id}/transition");
    send(client, key, "POST", &path, Some(&json!({ "to": to })))
}

fn send(client: &Client, key: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
    let answer = client.call(key, method, path, &Map::new(), body);
    answer.unwrap_or_else(|| panic!("{method} {path} is not answered"))
}

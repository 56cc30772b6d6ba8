//! The hands of a life: they do its steps, and after each ask whatever stands in a state that is new to them for every move that
//! this state does not have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::api;
use crate::api::operation::Operation;
use crate::cli::scenario::lives::machines::{Machine, machine};
use crate::cli::scenario::lives::seen::Seen;
use crate::cli::scenario::lives::verbs::{VERBS, Verb, wrong_states};
use crate::cli::scenario::server::{KEY, Served};
use crate::model::{AnyId, Kind};
use crate::scenario::{Came, Places, Reply, RowHits, Runner};
use crate::value::Span;
use crate::value::id::parse;
use crate::world::{Event, World};

/// What was asked for, and refused as it has to be.
#[derive(Default)]
pub(super) struct Asked {
    /// Kinds and states that were moved by hand: by each way that is named, and by none that is not.
    pub(super) moves: BTreeSet<(Kind, &'static str, &'static str)>,
    /// Operations, and the states in which they were refused.
    pub(super) verbs: BTreeSet<(&'static str, &'static str)>,
    pub(super) refusals: usize,
    /// What was answered otherwise.
    pub(super) wrong: Vec<String>,
}

impl Asked {
    /// Puts both together.
    pub(super) fn add(&mut self, other: Self) {
        self.moves.extend(other.moves);
        self.verbs.extend(other.verbs);
        self.refusals += other.refusals;
    }

    /// Notes a refusal that is no 409 with the state and where it leads.
    fn expect(&mut self, what: &str, came: &Reply, current: &str, allowed: &Value) {
        self.refusals += 1;
        let body = &came.body;
        let right = came.status == 409
            && body["code"] == "invalid_state_transition"
            && body["current"] == current
            && body["allowed"] == *allowed;
        if !right {
            let wanted = format!("409 with current {current:?} and allowed {allowed}");
            self.wrong.push(format!("{what}: expected {wanted}, came {body}"));
        }
    }
}

/// A resource, and where it stands in the machines of its kind.
struct Standing {
    id: AnyId,
    states: Vec<(&'static str, &'static str)>,
}

/// A running server whose resources are asked.
pub(super) struct Hands {
    served: Served,
    machines: Vec<Machine>,
    is_asking: bool,
    /// Length of the log at the last look.
    looked_at: u64,
    known: BTreeSet<(Kind, Vec<(&'static str, &'static str)>)>,
    forks: usize,
    asked: Asked,
}

impl Hands {
    pub(super) fn new(served: Served, machines: Vec<Machine>, is_asking: bool) -> Self {
        Self {
            served,
            machines,
            is_asking,
            looked_at: 0,
            known: BTreeSet::new(),
            forks: 0,
            asked: Asked::default(),
        }
    }

    /// What the life has shown, and the hash of the world at its end.
    pub(super) fn end(self) -> (Seen, Asked, String) {
        let (seen, digest) = self.look(|world| (Seen::of(world, &self.machines), world.digest()));
        (seen, self.asked, digest)
    }

    fn look<T>(&self, at: impl FnOnce(&World) -> T) -> T {
        let looked = self.served.sandbox.look(KEY, at);
        looked.expect("the key of the steps opens a world")
    }

    /// Asks whatever stands where nothing of its kind has stood before.
    fn ask(&mut self) -> Result<(), String> {
        if !self.is_asking {
            return Ok(());
        }
        let (mut standing, length) = self.look(|world| (self.standing(world), world.log_length()));
        self.looked_at = length;
        standing.retain(|it| self.known.insert((it.id.kind, it.states.clone())));
        if standing.is_empty() {
            return Ok(());
        }
        let before = self.look(World::version);
        for it in &standing {
            self.ask_by_hand(it)?;
            for verb in VERBS.iter().filter(|verb| verb.kind == it.id.kind) {
                self.ask_verb(verb, it)?;
            }
        }
        if self.look(World::version) != before {
            let names: Vec<String> = standing.iter().map(|it| it.id.to_string()).collect();
            let names = names.join(", ");
            self.asked.wrong.push(format!("refusals changed the world: {names}"));
        }
        Ok(())
    }

    /// One resource of each kind and state, of those that have changed since the last look.
    fn standing(&self, world: &World) -> Vec<Standing> {
        let mut found = BTreeMap::new();
        let events = world.log().since(self.looked_at);
        let changed: BTreeSet<AnyId> = events.flat_map(|event| ids(event)).collect();
        for id in changed {
            let Some(record) = world.any(id) else {
                continue;
            };
            let AnyId { kind, bits } = id;
            let of_kind: Vec<_> = self.machines.iter().filter(|it| it.kind == kind).collect();
            if of_kind.is_empty() {
                continue;
            }
            let shown = record.to_wire();
            let state = |machine: &&Machine| {
                let name = shown[machine.member].as_str().unwrap_or_default();
                Some((machine.member, machine.state(name)?))
            };
            let states: Vec<_> = of_kind.iter().filter_map(state).collect();
            // Of those in one state the first of its ids, whatever else there is.
            found.entry((kind, states)).or_insert(AnyId { kind, bits });
        }
        let standing = found.into_iter();
        standing.map(|((_, states), id)| Standing { id, states }).collect()
    }

    fn ask_by_hand(&mut self, it: &Standing) -> Result<(), String> {
        let (id, kind) = (it.id.to_string(), it.id.kind);
        let what = format!("{id} ({}) by hand", shown(&it.states));
        let first = self.transition(KEY, &id, "nowhere")?;
        let allowed = first.body["allowed"].clone();
        let named: Vec<&str> =
            allowed.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let of_kind: Vec<&Machine> = self.machines.iter().filter(|it| it.kind == kind).collect();
        for to in &named {
            let may =
                of_kind.iter().zip(&it.states).any(|(machine, (_, from))| machine.leads(from, to));
            if !may {
                self.asked.wrong.push(format!("{what}: {to} is allowed, and no row leads there"));
            }
        }
        let states: BTreeSet<&'static str> =
            of_kind.iter().flat_map(|it| it.states.iter().copied()).collect();
        let moved = first.body["current"].is_string();
        for to in states.iter().filter(|to| !named.contains(*to)) {
            let came = self.transition(KEY, &id, to)?;
            if moved {
                self.asked.expect(&format!("{what} to {to}"), &came, it.states[0].1, &allowed);
            } else if came.status != 409 || came.body["allowed"] != json!([]) {
                self.asked.wrong.push(format!("{what} to {to}: came {}", came.body));
            }
        }
        for to in states.iter().filter(|to| named.contains(*to)) {
            self.move_aside(&what, it, to)?;
        }
        let states = it.states.iter();
        let walked = states.map(|(member, state)| (kind, *member, *state));
        self.asked.moves.extend(walked);
        Ok(())
    }

    /// Does an allowed move in a copy of the world. It leads to exactly that state, or is refused; and the books agree there.
    fn move_aside(&mut self, what: &str, it: &Standing, to: &str) -> Result<(), String> {
        self.forks += 1;
        let key = format!("lives_aside_{}", self.forks);
        let forked = self.served.sandbox.fork(KEY, &key);
        forked.map_err(|error| error.to_string())?;
        let came = self.transition(&key, &it.id.to_string(), to)?;
        let facts = came.body["detail"].as_str().unwrap_or_default();
        let led_elsewhere = came.status == 409 && facts.ends_with("its data determines the result");
        if came.status != 200 && !led_elsewhere {
            self.asked.wrong.push(format!("{what} to {to}, which is allowed: came {}", came.body));
        }
        let arrived = |(member, from): &(&str, &str)| {
            *from != to && came.body["resource"][*member].as_str() == Some(to)
        };
        if came.status == 200 && !it.states.iter().any(arrived) {
            self.asked.wrong.push(format!("{what} to {to}: came {}", came.body["resource"]));
        }
        let books = self.send(&key, "GET", "/_sandbox/ledger/check", None)?;
        if books.body["ok"] != true {
            self.asked.wrong.push(format!("{what} to {to}: the books say {}", books.body));
        }
        Ok(())
    }

    fn ask_verb(&mut self, verb: &Verb, it: &Standing) -> Result<(), String> {
        let mut states = it.states.iter();
        let state = states.find(|(member, _)| *member == verb.machine);
        let &(_, state) = state.ok_or("no such member")?;
        if verb.machine == "stage" && !it.states.contains(&("status", "open")) {
            return Ok(());
        }
        let found = machine(&self.machines, verb.kind, verb.machine).ok_or("no such machine")?;
        if !wrong_states(verb, found).contains(&state) {
            return Ok(());
        }
        let mut rows = api::product();
        let row = rows.find(|row| row.name == verb.operation);
        let row = row.ok_or("no such operation")?;
        let mut input = verb.input(row);
        if let Err(why) = self.complete(&mut input, verb, it) {
            let wrong = format!("{} has no input: {why}", verb.operation);
            self.asked.wrong.push(wrong);
            return Ok(());
        }
        let Value::Object(input) = input else {
            return Err("no table".to_owned());
        };
        let what = format!("{} of {} ({state})", verb.operation, it.id);
        let Came::Reply(came) = self.served.call(row, &input, &BTreeMap::new())? else {
            return Err(format!("{what} is not answered"));
        };
        let (current, allowed) = match self.behind(&came, it) {
            Some(other) => other,
            None => (state, found.allowed(state)),
        };
        let mut allowed = allowed;
        if self.is_of_the_books(it) {
            allowed.retain(|to| *to == "ignored");
        }
        self.asked.expect(&what, &came, current, &json!(allowed));
        self.asked.verbs.insert((verb.operation, state));
        Ok(())
    }

    /// A row of a reconciliation that has no line of the bank: it can only be put aside.
    fn is_of_the_books(&self, it: &Standing) -> bool {
        let record = self.look(|world| world.any(it.id));
        it.id.kind == Kind::ReconciliationMatch
            && record.is_some_and(|record| record.to_wire()["side"] == "ledger")
    }

    /// Where another resource stands that a refusal is about: the run of an item.
    fn behind(&self, came: &Reply, it: &Standing) -> Option<(&'static str, Vec<&'static str>)> {
        let about = came.body["resource_id"].as_str()?;
        if about == it.id.to_string() {
            return None;
        }
        let of_kind =
            |machine: &&Machine| about.starts_with(&format!("{}_", machine.kind.prefix()));
        let machine = self.machines.iter().find(of_kind)?;
        let bits = parse(machine.kind.prefix(), about)?;
        let kind = machine.kind;
        let record = self.look(|world| world.any(AnyId { kind, bits }))?.to_wire();
        let state = machine.state(record[machine.member].as_str()?)?;
        Some((state, machine.allowed(state)))
    }

    /// Names the resource, and what the call has to name besides.
    fn complete(&self, input: &mut Value, verb: &Verb, it: &Standing) -> Result<(), String> {
        self.look(|world| {
            if verb.operation == "create_fx_transfer" {
                input["source_wallet_id"] = json!("@wallet:1");
            }
            input[verb.member] = Value::Null;
            world.resolve(input)?;
            input[verb.member] = json!(it.id.to_string());
            let record = world.any(it.id).ok_or("it is gone")?.to_wire();
            match verb.operation {
                "retry_payroll_item" => input["payroll_run_id"] = record["payroll_run_id"].clone(),
                "create_collection" => {
                    input["company_id"] = record["company_id"].clone();
                    input["currency"] = record["currency"].clone();
                }
                "create_verification" if record["type"] == "person" => input["type"] = json!("kyc"),
                _ => {}
            }
            Ok(())
        })
    }

    fn transition(&self, key: &str, id: &str, to: &str) -> Result<Reply, String> {
        let path = format!("/_sandbox/resources/{id}/transition");
        self.send(key, "POST", &path, Some(&json!({ "to": to })))
    }

    fn send(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, String> {
        match self.served.exchange(key, method, path, body, &BTreeMap::new())? {
            Came::Reply(reply) => Ok(reply),
            Came::Lost => Err(format!("{method} {path} is not answered")),
        }
    }
}

/// What an event has changed.
fn ids(event: &Event) -> impl Iterator<Item = AnyId> {
    event.changes.iter().map(|change| AnyId { kind: change.kind, bits: change.after.bits() })
}

fn shown(states: &[(&str, &str)]) -> String {
    let words: Vec<&str> = states.iter().map(|(_, state)| *state).collect();
    words.join(", ")
}

impl Runner for Hands {
    fn call(
        &mut self,
        operation: &'static Operation,
        input: &Map<String, Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String> {
        let came = self.served.call(operation, input, headers)?;
        self.ask()?;
        Ok(came)
    }

    fn nth(&mut self, kind: &str, places: Places, place: u64) -> Result<Option<String>, String> {
        self.served.nth(kind, places, place)
    }

    fn advance(&mut self, by: Span) -> Result<(), String> {
        self.served.advance(by)?;
        self.ask()
    }

    fn idle(&mut self) -> Result<(), String> {
        self.served.idle()?;
        self.ask()
    }

    fn events(&mut self) -> Result<Vec<Value>, String> {
        self.served.events()
    }

    fn deliveries(
        &mut self,
        wanted: &BTreeMap<String, u64>,
    ) -> Result<BTreeMap<String, u64>, String> {
        self.served.deliveries(wanted)
    }

    fn coverage(&mut self) -> Result<Vec<RowHits>, String> {
        self.served.coverage()
    }
}

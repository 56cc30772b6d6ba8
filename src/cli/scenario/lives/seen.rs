//! What a life has shown: which events followed from which call, and which arrows were walked.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api;
use crate::cli::scenario::lives::machines::{Arrow, Machine};
use crate::model::Record;
use crate::world::{Change, Event, World};

/// An operation of the product and a type of event that followed from it, at once or by the clock.
pub(super) type Pair = (&'static str, String);

/// What was seen.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) pairs: BTreeSet<Pair>,
    /// Walked by a call of the product, or by the clock after one.
    pub(super) arrows: BTreeSet<Arrow>,
    /// Walked because a tester said so, or something came from outside.
    pub(super) by_hand: BTreeSet<Arrow>,
    /// What no machine has.
    pub(super) strange: BTreeSet<String>,
}

impl Seen {
    /// Looks at everything that happened in a world.
    pub(super) fn of(world: &World, machines: &[Machine]) -> Self {
        let mut seen = Self::default();
        for event in world.log().iter() {
            let operation = caller(event);
            if let Some(operation) = operation {
                seen.pairs.insert((operation, event.name.to_string()));
            }
            for change in &event.changes {
                seen.look(event, change, operation.is_some(), machines);
            }
        }
        seen
    }

    /// Puts both together.
    pub(super) fn add(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.arrows.extend(other.arrows);
        self.by_hand.extend(other.by_hand);
        self.strange.extend(other.strange);
    }

    fn look(&mut self, event: &Event, change: &Change, by_call: bool, machines: &[Machine]) {
        let before = change.before.as_ref().map(Record::to_wire);
        let after = change.after.to_wire();
        let kind = change.kind.name();
        let mut of_kind = machines.iter().filter(|it| it.kind == change.kind);
        if after.get("status_history").is_some() && !of_kind.clone().any(|it| it.member == "status")
        {
            self.strange.insert(format!("{kind} has a history and no machine"));
        }
        let walked = of_kind.try_fold(Vec::new(), |mut all, machine| {
            let mut states = states(machine.member, before.as_ref(), &after);
            if let ([state], true) = (&*states, before.is_some())
                && (tells_of(event, machine.member) || begins_again(event, machine, state))
            {
                states.push(state.clone());
            }
            for step in states.windows(2) {
                let (from, to) = (machine.state(&step[0])?, machine.state(&step[1])?);
                all.push((machine, from, to));
            }
            Some(all)
        });
        let Some(walked) = walked else {
            self.strange.insert(format!("{kind} is in a state of none"));
            return;
        };
        for (machine, from, to) in walked {
            if !machine.rows.iter().any(|row| (row.1, row.2) == (from, to)) {
                let member = machine.member;
                let walk = format!("{kind}.{member}: {from} -> {to} in {}", event.name);
                self.strange.insert(walk);
            } else if by_call {
                self.arrows.insert(machine.arrow(from, to));
            } else {
                self.by_hand.insert(machine.arrow(from, to));
            }
        }
    }
}

/// The product's row behind an event.
fn caller(event: &Event) -> Option<&'static str> {
    let origin = event.request.as_ref().or(event.cause.as_ref())?;
    let mut rows = api::product().filter(|row| row.name == origin.operation);
    rows.next().map(|row| row.name)
}

/// Whether the event is about that member: `employee.payroll_status_changed`.
fn tells_of(event: &Event, member: &str) -> bool {
    let (_, told) = event.name.split_once('.').unwrap_or_default();
    told.strip_suffix("_changed") == Some(member)
}

/// Whether an event that does not name the member is of a row that leads back to where it began.
fn begins_again(event: &Event, machine: &Machine, state: &str) -> bool {
    let back = |row: &&(&str, &str, &str)| row.1 == state && row.2 == state;
    let mut rows = machine.rows.iter();
    let verb = rows.find(back).map(|(verb, ..)| *verb);
    // `set_payment_method` is told as `employee.payment_method_updated`.
    verb.and_then(|verb| verb.strip_prefix("set_"))
        .is_some_and(|noun| event.name.ends_with(&format!(".{noun}_updated")))
}

/// The state before a change and those entered since, in order.
fn states(member: &str, before: Option<&Value>, after: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let of = |resource: &Value| -> Vec<String> {
        let history = resource[format!("{member}_history")].as_array();
        let entered = history.into_iter().flatten();
        let state = |line: &Value| text(&line["status"]).or(text(&line[member]));
        entered.filter_map(state).collect()
    };
    let history = of(after);
    if history.is_empty() {
        let states = [before.and_then(|it| text(&it[member])), text(&after[member])];
        let mut states: Vec<String> = states.into_iter().flatten().collect();
        states.dedup();
        return states;
    }
    assert_eq!(history.last(), text(&after[member]).as_ref(), "{after}");
    let known = before.map_or(0, |before| of(before).len());
    history[known.saturating_sub(1).min(history.len() - 1)..].to_vec()
}

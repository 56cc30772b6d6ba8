//! Every lifecycle of the product, as the document's `x-lifecycle` has it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::contract::product;

/// One arrow of a machine, from one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) kind: &'static str,
    /// `status`, unless a kind has a second machine.
    pub(super) member: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

/// A lifecycle.
pub(super) struct Machine {
    /// `payroll_run`.
    pub(super) kind: &'static str,
    pub(super) member: &'static str,
    pub(super) states: Vec<&'static str>,
    /// Verb, start and end.
    pub(super) rows: Vec<(&'static str, &'static str, &'static str)>,
}

impl Machine {
    /// Its own word for a state, if it is one.
    pub(super) fn state(&self, name: &str) -> Option<&'static str> {
        self.states.iter().copied().find(|state| *state == name)
    }

    /// A state as situations name it: `payout: paid`, or `deal.stage: screening` for a second machine.
    pub(super) fn named(&self, state: &str) -> String {
        match self.member {
            "status" => format!("{}: {state}", self.kind),
            member => format!("{}.{member}: {state}", self.kind),
        }
    }

    pub(super) const fn arrow(&self, from: &'static str, to: &'static str) -> Arrow {
        Arrow { kind: self.kind, member: self.member, from, to }
    }

    pub(super) fn arrows(&self) -> impl Iterator<Item = Arrow> {
        self.rows.iter().map(|(_, from, to)| self.arrow(from, to))
    }

    /// The other states that can be reached from this one in one step.
    pub(super) fn allowed(&self, from: &str) -> Vec<&'static str> {
        let mut found = Vec::new();
        for (_, start, to) in &self.rows {
            if *start == from && *to != from && !found.contains(to) {
                found.push(*to);
            }
        }
        found
    }

    /// Whether rows lead from one state to another. A timer of a run may take several at once.
    pub(super) fn leads(&self, from: &'static str, to: &str) -> bool {
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&state) = reached.get(next) {
            next += 1;
            let of_state = self.rows.iter().filter(|row| row.1 == state).map(|row| row.2);
            let new: Vec<_> = of_state.filter(|to| !reached.contains(to)).collect();
            reached.extend(new);
        }
        reached.contains(&to)
    }

    /// The states in which these verbs may start.
    pub(super) fn starts(&self, verbs: &[&str]) -> Vec<&'static str> {
        let rows = self.rows.iter();
        rows.filter(|(verb, ..)| verbs.contains(verb)).map(|(_, from, _)| *from).collect()
    }
}

/// Every machine, by kind; of one kind that of `status` first.
pub(super) fn machines() -> &'static [Machine] {
    static MACHINES: OnceLock<Vec<Machine>> = OnceLock::new();
    MACHINES.get_or_init(|| {
        let schemas = product()["components"]["schemas"].as_object().unwrap().values();
        let mut found = BTreeMap::new();
        for schema in schemas {
            let Some(lifecycles) = schema["x-lifecycle"].as_object() else {
                continue;
            };
            let kind = schema["properties"]["object"]["const"].as_str().unwrap();
            for (member, lifecycle) in lifecycles {
                let place = (kind, member != "status", member.as_str());
                found.insert(place, read(kind, member, lifecycle));
            }
        }
        found.into_values().collect()
    })
}

fn read(kind: &'static str, member: &'static str, lifecycle: &'static Value) -> Machine {
    let text = |value: &'static Value| value.as_str().unwrap();
    let list = |value: &'static Value| value.as_array().unwrap().iter();
    let rows = list(&lifecycle["moves"]).flat_map(|row| {
        list(&row["from"]).map(move |from| (text(&row["verb"]), text(from), text(&row["to"])))
    });
    Machine {
        kind,
        member,
        states: list(&lifecycle["states"]).map(text).collect(),
        rows: rows.collect(),
    }
}

/// The machine of that kind's member.
pub(super) fn machine(kind: &str, member: &str) -> Option<&'static Machine> {
    machines().iter().find(|machine| machine.kind == kind && machine.member == member)
}

/// Every machine of a kind.
pub(super) fn of_kind(kind: &str) -> Vec<&'static Machine> {
    machines().iter().filter(|machine| machine.kind == kind).collect()
}

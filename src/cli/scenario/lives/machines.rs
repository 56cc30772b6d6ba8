//! Every lifecycle of the product by kind and member, as names.

use crate::model::{Kind, registry};
use crate::world::facts::kind_named;

/// One arrow of a machine, from one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) kind: &'static str,
    /// `status`, unless a kind has a second machine.
    pub(super) member: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

/// A machine of the registry.
pub(super) struct Machine {
    pub(super) kind: Kind,
    pub(super) member: &'static str,
    pub(super) states: Vec<&'static str>,
    /// Every transition: verb, start and end.
    pub(super) rows: Vec<(&'static str, &'static str, &'static str)>,
}

impl Machine {
    /// Its own word for a state, if it is one.
    pub(super) fn state(&self, name: &str) -> Option<&'static str> {
        self.states.iter().copied().find(|state| *state == name)
    }

    /// From one state to another.
    pub(super) const fn arrow(&self, from: &'static str, to: &'static str) -> Arrow {
        Arrow { kind: self.kind.name(), member: self.member, from, to }
    }

    /// Every arrow that it has.
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

/// Every machine of the registry.
pub(super) fn machines() -> Vec<Machine> {
    let kind = |name| kind_named(name).expect("the registry has the machine's kind");
    let all = registry::machines().into_iter();
    all.map(|it| Machine {
        kind: kind(it.kind),
        member: it.member,
        states: it.states,
        rows: it.rows,
    })
    .collect()
}

/// The machine of that kind's member.
pub(super) fn machine<'a>(all: &'a [Machine], kind: Kind, member: &str) -> Option<&'a Machine> {
    let mut all = all.iter();
    all.find(|machine| machine.kind == kind && machine.member == member)
}

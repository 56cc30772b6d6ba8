//! The coverage of a run: the events that followed from each call, and the transitions that occurred.

use std::collections::BTreeSet;

use serde_json::Value;

use super::machines::{Arrow, Machine, of_kind};
use super::operations;
use super::runner::Client;

/// An operation of the product and a type of event that followed from it, at once or by the clock.
pub(super) type Pair = (String, String);

/// The coverage of runs.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) pairs: BTreeSet<Pair>,
    /// Transitions made by a call of the product, or by the clock after one.
    pub(super) arrows: BTreeSet<Arrow>,
    /// Walked because of a call of the control plane.
    pub(super) by_a_tester: BTreeSet<Arrow>,
    /// States that resources have entered since the own steps of a situation began.
    pub(super) entered: BTreeSet<String>,
    /// Transitions that no machine has.
    pub(super) strange: BTreeSet<String>,
}

impl Seen {
    /// The coverage of a world. The own steps of a situation began after position `began` of the log.
    pub(super) fn of(client: &Client, began: u64) -> Self {
        let mut seen = Self::default();
        let product = operations();
        for audited in client.all("/api/business/audit-logs") {
            let operation = audited["operation"].as_str().filter(|name| product.contains_key(name));
            let name = audited["event"].as_str().unwrap();
            if let Some(operation) = operation {
                seen.pairs.insert((operation.to_owned(), name.to_owned()));
            }
            let path = format!("/_sandbox/events/{}", audited["event_id"].as_str().unwrap());
            let detail = client.read(&path)["data"].take();
            let event = &detail["event"];
            let is_own = event["sequence"].as_u64().unwrap() > began;
            for change in detail["changes"].as_array().unwrap() {
                seen.look(event, change, operation.is_some(), is_own);
            }
        }
        seen
    }

    /// Adds the coverage of another run.
    pub(super) fn add(&mut self, other: Self) {
        self.pairs.extend(other.pairs);
        self.arrows.extend(other.arrows);
        self.by_a_tester.extend(other.by_a_tester);
        self.strange.extend(other.strange);
    }

    fn look(&mut self, event: &Value, change: &Value, by_call: bool, is_own: bool) {
        let kind = change["kind"].as_str().unwrap();
        let name = event["type"].as_str().unwrap();
        let machines = of_kind(kind);
        if !change["after"]["status_history"].is_null()
            && !machines.iter().any(|it| it.member == "status")
        {
            self.strange.insert(format!("{kind} has a history and no machine"));
        }
        for machine in machines {
            let mut states = states(machine.member, event, change);
            if is_own {
                let earlier = usize::from(!change["before"].is_null());
                let entered = states.iter().skip(earlier);
                self.entered.extend(entered.map(|state| machine.named(state)));
            }
            if let ([state], false) = (&*states, change["before"].is_null())
                && (is_about(name, machine.member) || begins_again(name, machine, state))
            {
                states.push(state.clone());
            }
            for step in states.windows(2) {
                let (Some(from), Some(to)) = (machine.state(&step[0]), machine.state(&step[1]))
                else {
                    self.strange.insert(format!("{kind} goes from {} to {}", step[0], step[1]));
                    continue;
                };
                if !machine.rows.iter().any(|row| (row.1, row.2) == (from, to)) {
                    let member = machine.member;
                    self.strange.insert(format!("{kind}.{member}: {from} -> {to} in {name}"));
                } else if by_call {
                    self.arrows.insert(machine.arrow(from, to));
                } else {
                    self.by_a_tester.insert(machine.arrow(from, to));
                }
            }
        }
    }
}

/// Whether the event is about that member: `employee.payroll_status_changed`.
fn is_about(event: &str, member: &str) -> bool {
    let (_, changed) = event.split_once('.').unwrap_or_default();
    changed.strip_suffix("_changed") == Some(member)
}

/// Whether an event without a change of the member belongs to a transition that leads back to its start
/// state.
fn begins_again(event: &str, machine: &Machine, state: &str) -> bool {
    let back = |row: &&(&str, &str, &str)| row.1 == state && row.2 == state;
    let verb = machine.rows.iter().find(back).map(|(verb, ..)| *verb);
    // The event of `set_payment_method` is `employee.payment_method_updated`.
    verb.and_then(|verb| verb.strip_prefix("set_"))
        .is_some_and(|noun| event.ends_with(&format!(".{noun}_updated")))
}

/// The state before a change and those entered since, in order. A change has only the members that differ.
fn states(member: &str, event: &Value, change: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let history = |of: &Value| -> Vec<String> {
        let entered = of[format!("{member}_history")].as_array().into_iter().flatten();
        entered.filter_map(|line| text(&line["status"]).or(text(&line[member]))).collect()
    };
    let (before, after) = (&change["before"], &change["after"]);
    let entered = history(after);
    if !entered.is_empty() {
        let known = history(before).len();
        return entered[known.saturating_sub(1).min(entered.len() - 1)..].to_vec();
    }
    let mut states: Vec<String> =
        [text(&before[member]), text(&after[member])].into_iter().flatten().collect();
    states.dedup();
    let object = &event["data"]["object"];
    if states.is_empty() && object["id"] == change["id"] {
        states.extend(text(&object[member]));
    }
    states
}

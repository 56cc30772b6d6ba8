//! The values that keys of a scenario file accept.

use crate::model::decision::DECISIONS;
use crate::model::registry::{Machine, machines};
use crate::scenario::vocabulary::vocabulary;

/// The values of `do` of a webhook row.
pub(crate) const SHAPINGS: [&str; 7] =
    ["duplicate", "delay", "drop", "reorder", "bad_signature", "stale_timestamp", "truncate"];
pub(super) const CLOCKS: [&str; 3] = ["instant", "manual", "real"];
/// Names instead of tiers: no fee, or the service's normal fee.
pub(crate) const FEES: [&str; 2] = ["off", "standard"];
pub(super) const HALVES: [&str; 2] = ["request", "reply"];
pub(super) const BODIES: [&str; 3] = ["truncated", "garbage", "slow"];

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(super) fn clocks() -> Vec<String> {
    owned(&CLOCKS)
}

pub(super) fn shapings() -> Vec<String> {
    owned(&SHAPINGS)
}

pub(super) fn fees() -> Vec<String> {
    owned(&FEES)
}

pub(super) fn halves() -> Vec<String> {
    owned(&HALVES)
}

pub(super) fn bodies() -> Vec<String> {
    owned(&BODIES)
}

pub(super) fn decisions() -> Vec<String> {
    DECISIONS.iter().map(|row| row.name.to_owned()).collect()
}

/// The choices of all decisions. The reader checks which of them a decision has.
pub(super) fn choices() -> Vec<String> {
    let mut names = Vec::new();
    for choice in DECISIONS.iter().flat_map(|decision| decision.choices) {
        if !names.iter().any(|name| name == choice.name) {
            names.push(choice.name.to_owned());
        }
    }
    names
}

pub(super) fn events() -> Vec<String> {
    vocabulary().events.iter().cloned().collect()
}

/// `payout: paid`, and `deal.stage: screening` for a second lifecycle.
pub(super) fn states() -> Vec<String> {
    let name = |machine: &Machine, state: &str| match machine.member {
        "status" => format!("{}: {state}", machine.kind),
        member => format!("{}.{member}: {state}", machine.kind),
    };
    let all = machines();
    all.iter().flat_map(|it| it.states.iter().map(|state| name(it, state))).collect()
}

pub(super) fn operations() -> Vec<String> {
    vocabulary().product().map(str::to_owned).collect()
}

/// Steps may also call the control plane, for example to resend an event or to take a snapshot.
pub(super) fn callable() -> Vec<String> {
    vocabulary().operations.keys().cloned().collect()
}

pub(super) fn faulted() -> Vec<String> {
    let domains = vocabulary().domains.iter().map(|domain| format!("{domain}.*"));
    let all = ["*".to_owned()];
    operations().into_iter().chain(domains).chain(all).collect()
}

pub(super) fn matched() -> Vec<String> {
    let names = vocabulary();
    let resources = names.resources();
    let groups = resources.iter().map(|resource| format!("{resource}.*"));
    let all = ["*".to_owned()];
    events().into_iter().chain(groups).chain(all).collect()
}

pub(super) fn inbound() -> Vec<String> {
    vocabulary().inbound.keys().cloned().collect()
}

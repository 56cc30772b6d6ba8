//! What a tester holds beside a world: webhook endpoints and deliveries, the request log, snapshots, faults of the wire.
//!
//! All of it is outside the world's digest: whether a webhook was answered, or a reply lost, changes nothing of what happened.
//! Pure, as the world is: it is told the time and hands out what is to be sent. May import `value`, `model` and `world`.

pub(crate) mod address;
pub(crate) mod fault;
pub(crate) mod outbox;
pub(crate) mod request_log;
pub(crate) mod signature;
pub(crate) mod snapshots;
pub(crate) mod verify;
pub(crate) mod wire;

use std::sync::Arc;

use crate::tester::outbox::Outbox;
use crate::tester::request_log::Requests;
use crate::tester::snapshots::Snapshots;
use crate::tester::wire::Wire;
use crate::world::Base;
use crate::world::script::{Limits, Scenario};

/// One key's tester.
#[derive(Debug, Default)]
pub(crate) struct Tester {
    /// The scenarios that are running, in the order in which they were loaded.
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    /// Webhooks: who receives them, and what is on its way.
    pub(crate) outbox: Outbox,
    /// What the log names this key by; the key itself is not here.
    pub(crate) tag: u32,
    pub(crate) snapshots: Snapshots,
    /// Faults of the wire, and limits.
    pub(crate) wire: Wire,
    /// The request log.
    pub(crate) requests: Requests,
}

impl Tester {
    /// Arms the rows of the scenarios that run, in their order, with counters at zero. Of several limits the first stands.
    pub(crate) fn follow_scenarios(&mut self, base: &Base) {
        let faults = self.scenarios.iter().flat_map(|scenario| scenario.faults.clone());
        let limits = self.scenarios.iter().map(|scenario| scenario.limits.clone());
        let limits = limits.reduce(|first, next| Limits {
            rate: first.rate.or(next.rate),
            latency: first.latency.or(next.latency),
            platform_fee: None, // the world's
        });
        let limits = limits.unwrap_or_default();
        self.wire.set(faults.collect(), limits, base.key());
        let shaping = self.scenarios.iter().flat_map(|scenario| scenario.webhooks.clone());
        self.outbox.set_shaping(shaping.collect());
    }
}

/// Scenarios in their new form; none if all of them are as they were.
pub(crate) fn renewed(
    running: &[Arc<Scenario>],
    known: &[Arc<Scenario>],
) -> Option<Vec<Arc<Scenario>>> {
    let new = |old: &Arc<Scenario>| {
        let found = known.iter().find(|scenario| scenario.name == old.name);
        Arc::clone(found.unwrap_or(old))
    };
    let renewed: Vec<_> = running.iter().map(new).collect();
    (renewed != running).then_some(renewed)
}

//! State for testers that accompanies a world: webhook endpoints and deliveries, the request log, snapshots, network faults.
//!
//! It is not part of the world's digest, because the answer to a webhook or a lost reply does not change the world.
//! It is pure, like the world: callers pass the time and receive what to send. May import `value`, `model` and
//! `world`.

pub(crate) mod address;
pub(crate) mod fault;
pub(crate) mod inputs;
pub(crate) mod outbox;
pub(crate) mod request_log;
pub(crate) mod signature;
pub(crate) mod snapshots;
pub(crate) mod verify;
pub(crate) mod wire;

use std::sync::Arc;

use crate::tester::inputs::Inputs;
use crate::tester::outbox::Outbox;
use crate::tester::request_log::Requests;
use crate::tester::snapshots::Snapshots;
use crate::tester::wire::Wire;
use crate::world::Base;
use crate::world::script::{Limits, Scenario};

/// The tester state of one key.
#[derive(Debug, Default)]
pub(crate) struct Tester {
    /// The running scenarios, in the order in which they were loaded.
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    /// The scenarios that this key added, in addition to those of the server.
    pub(crate) own: Vec<Arc<Scenario>>,
    /// Webhook endpoints and deliveries.
    pub(crate) outbox: Outbox,
    /// The name of this key in the log; the key itself is not stored here.
    pub(crate) tag: u32,
    pub(crate) snapshots: Snapshots,
    /// Network faults and limits.
    pub(crate) wire: Wire,
    /// The request log.
    pub(crate) requests: Requests,
    /// The inputs of the world, to share it.
    pub(crate) inputs: Inputs,
}

impl Tester {
    /// Activates the rows of the running scenarios in order, with counters at zero. The first limit applies.
    pub(crate) fn follow_scenarios(&mut self, base: &Base) {
        let faults = self.scenarios.iter().flat_map(|scenario| scenario.faults.clone());
        let limits = self.scenarios.iter().map(|scenario| scenario.limits.clone());
        let limits = limits.reduce(|first, next| Limits {
            rate: first.rate.or(next.rate),
            latency: first.latency.or(next.latency),
            platform_fee: None, // the world's
            monthly_fee: None,
        });
        let limits = limits.unwrap_or_default();
        self.wire.set(faults.collect(), limits, base.key());
        let shaping = self.scenarios.iter().flat_map(|scenario| scenario.webhooks.clone());
        self.outbox.set_shaping(shaping.collect());
    }
}

impl Tester {
    /// Whether it equals a new tester state, because no call has left data in it.
    pub(crate) fn is_like_new(&self, started: &[Arc<Scenario>]) -> bool {
        self.scenarios == started
            && self.own.is_empty()
            && self.snapshots.len() == 0
            && self.outbox.is_empty()
    }
}

/// Scenarios converted to the new form; none if they are all unchanged.
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

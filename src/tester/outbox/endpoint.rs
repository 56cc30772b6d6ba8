//! Webhook endpoints: URL, events and secret.

use std::sync::Arc;

use crate::tester::address::Target;
use crate::tester::signature::Secret;
use crate::value::Timestamp;
use crate::world::envelope::named;

/// The time for which the previous secret still signs after a rotation, in virtual time.
const ROTATION_MS: i64 = 24 * 60 * 60 * 1_000;
/// Maximum number of deliveries in flight to an endpoint without ordering.
const UNORDERED_IN_FLIGHT: usize = 4;

/// A receiver.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) id: String,
    pub(crate) target: Arc<Target>,
    /// Given when the server was started; it may have a private address.
    pub(crate) trusted: bool,
    /// `payroll_run.*`; every event if empty.
    pub(crate) events: Vec<String>,
    pub(crate) description: Option<String>,
    /// Why it is disabled; none while it is enabled.
    pub(crate) disabled: Option<String>,
    pub(crate) ordered: bool,
    pub(crate) secret: Secret,
    /// The previous secret, and when it stops signing.
    pub(crate) previous: Option<(Secret, Timestamp)>,
    pub(crate) rotations: u64,
    pub(crate) created_at: Timestamp,
}

impl Endpoint {
    /// Whether it receives events of that type now.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.disabled.is_none() && self.listens_to(name)
    }

    /// Whether its filters match that type.
    pub(crate) fn listens_to(&self, name: &str) -> bool {
        self.events.is_empty() || self.events.iter().any(|filter| named(filter, name))
    }

    /// Its filters, as callers write them.
    pub(crate) fn shown_events(&self) -> Vec<String> {
        if self.events.is_empty() { vec!["*".to_owned()] } else { self.events.clone() }
    }

    /// Until when the previous secret also signs; none if it does not at that virtual time.
    pub(crate) fn previous_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.previous.as_ref().map(|(_, until)| *until).filter(|until| now < *until)
    }

    /// Maximum number of deliveries in flight at the same time.
    pub(crate) const fn most_in_flight(&self) -> usize {
        if self.ordered { 1 } else { UNORDERED_IN_FLIGHT }
    }

    /// The signing secrets at that virtual time, newest first.
    pub(crate) fn secrets(&self, now: Timestamp) -> Vec<Secret> {
        let previous = self.previous.iter();
        let previous = previous.filter(|(_, until)| now < *until);
        core::iter::once(&self.secret).chain(previous.map(|(secret, _)| secret)).cloned().collect()
    }

    /// Signs with a new secret from now on, and with the current one for another day.
    pub(crate) fn rotate(&mut self, secret: Secret, now: Timestamp) {
        let old = core::mem::replace(&mut self.secret, secret);
        self.previous = Some((old, now.plus_millis(ROTATION_MS)));
        self.rotations += 1;
    }
}

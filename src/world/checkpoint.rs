//! The stored form of a world, from which it continues without its earlier inputs.
//!
//! The form contains all state except the earlier events, which are most of a world's size and are rarely read. It
//! has two parts of about the same size, which two threads can read. Deliberately absent: files.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::world::overlay::Overlay;
use crate::world::{Base, World};

/// The resources of a stored world.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Records(Overlay);

/// All other state of a stored world.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Rest(World);

impl World {
    /// Whether its stored form contains everything.
    pub(crate) fn is_storable(&self) -> bool {
        // The trace of a call does not belong to the world, but the webhooks of its timers contain it.
        let is_traced = |request: &crate::world::RequestRef| request.trace.is_some();
        self.timers
            .iter()
            .all(|timer| timer.cause.as_ref().is_none_or(|cause| !is_traced(&cause.request)))
    }

    /// The two parts of its stored form. Hashes all events.
    pub(crate) fn into_parts(mut self) -> (Records, Rest) {
        let records = Records(std::mem::take(&mut self.overlay));
        self.log = self.log.latest();
        (records, Rest(self))
    }

    /// The world of these parts. It uses the given base if its own is equal, because worlds of one base share its
    /// caches.
    pub(crate) fn from_parts(records: Records, rest: Rest, base: &Arc<Base>) -> Self {
        let mut world = Self { overlay: records.0, ..rest.0 };
        if world.base.seed() == base.seed() && world.base.shape() == base.shape() {
            world.base = Arc::clone(base);
        }
        world
    }
}

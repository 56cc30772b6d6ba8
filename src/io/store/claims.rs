//! The worlds that this process serves, and the database row of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Instant;

use tokio_postgres::Row;

use crate::engine::recording::{KeyHash, ProgressOf, Tenure};
use crate::io::store::connection::Fault;

/// A part of the log: the entries of a world from one number to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) world: KeyHash,
    pub(super) first: i64,
    pub(super) last: i64,
}

/// The row of a world in the database.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The number of the claim. It grows with each one, so that a late write of an earlier one is refused.
    pub(super) epoch: i64,
    /// The number of its next entry.
    pub(super) next: i64,
    /// The number of its first entry since it was deleted.
    pub(super) first: i64,
    /// The number of entries since then that a replay needs.
    pub(super) inputs: i64,
    /// The entries of other worlds that lead to the fork with which it begins; the last entry of each segment is a
    /// fork.
    pub(super) before: Vec<Segment>,
    /// Whether the key was used.
    pub(super) is_used: bool,
    /// Whether all its events were delivered.
    pub(super) is_quiet: bool,
    /// Whether it has endpoints that were created by calls.
    pub(super) has_endpoints: bool,
    pub(super) progress: ProgressOf,
}

impl Held {
    /// Reads a row of [`super::claim`], and the rows of its origin.
    pub(super) fn read(row: &Row, origin: &[Row]) -> Result<Self, Fault> {
        let progress = serde_json::from_str(row.get("progress"));
        let progress = progress.map_err(|error| damaged(&error.to_string()))?;
        let segment = |row: &Row| {
            let world = KeyHash::from_bytes(row.get("world"));
            let world = world.ok_or_else(|| damaged("an id does not have 16 bytes"))?;
            Ok(Segment { world, first: row.get("first_seq"), last: row.get("last_seq") })
        };
        Ok(Self {
            epoch: row.get("epoch"),
            next: row.get("next_seq"),
            first: row.get("first_seq"),
            inputs: row.get("inputs"),
            before: origin.iter().map(segment).collect::<Result<_, Fault>>()?,
            is_used: row.get("used"),
            is_quiet: row.get("quiet"),
            has_endpoints: row.get("endpoints"),
            progress,
        })
    }

    /// Whether it differs from a new world.
    pub(super) fn is_held(&self) -> bool {
        self.inputs > 0 || !self.before.is_empty()
    }

    /// Everything that leads to the world, in order.
    pub(super) fn segments(&self, world: KeyHash) -> Vec<Segment> {
        let own = Segment { world, first: self.first, last: self.next - 1 };
        self.before.iter().copied().chain([own]).collect()
    }

    /// The world was deleted by its entry before `next`.
    pub(super) fn remove(&mut self) {
        (self.first, self.inputs) = (self.next, 0);
        (self.is_used, self.is_quiet, self.has_endpoints) = (false, false, false);
        self.before.clear();
        self.progress.clear();
    }
}

fn damaged(why: &str) -> Fault {
    Fault::new(format!("a row of the store is damaged: {why}"))
}

/// A world that this process serves.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) held: Held,
    /// The periods in which it was in memory; the last period can still be running.
    tenures: Vec<Weak<Tenure>>,
    pub(super) since: Instant,
    /// Whether it is being released to other processes.
    pub(super) is_leaving: bool,
}

impl Claim {
    pub(super) fn new(held: Held) -> Self {
        Self { held, tenures: Vec::new(), since: Instant::now(), is_leaving: false }
    }

    /// Whether it is in memory.
    pub(super) fn is_resident(&self) -> bool {
        self.tenures.iter().any(|tenure| tenure.strong_count() > 0)
    }

    /// Whether a world may begin to serve requests under this claim: a new one if nothing is stored, a replayed one if no other serves them.
    pub(super) fn may_adopt(&self, is_new: bool) -> bool {
        let is_free = || {
            let tenures = self.tenures.iter().filter_map(Weak::upgrade);
            tenures.into_iter().all(|tenure| tenure.is_lost())
        };
        !self.is_leaving && if is_new { !self.held.is_held() } else { is_free() }
    }

    pub(super) fn adopt(&mut self, tenure: &Arc<Tenure>) {
        self.tenures.retain(|known| known.strong_count() > 0);
        self.tenures.push(Arc::downgrade(tenure));
        tenure.set_claim(self.held.epoch.unsigned_abs());
    }

    /// The inputs from this place on are lost.
    pub(super) fn lose(&self, place: u64) {
        self.tenures.iter().filter_map(Weak::upgrade).for_each(|tenure| tenure.lose(place));
    }
}

/// The worlds that this process serves.
#[derive(Debug, Default)]
pub(super) struct Claims {
    pub(super) by_world: BTreeMap<KeyHash, Claim>,
    /// Worlds that are being claimed.
    pub(super) coming: BTreeSet<KeyHash>,
    /// Worlds whose claim ended because of a fault. The database can still name this process as their owner.
    pub(super) dropped: BTreeMap<KeyHash, i64>,
}

impl Claims {
    /// Ends a claim: all inputs from this place on are lost, and the next request claims the world again. A later
    /// claim is unaffected.
    pub(super) fn lose(&mut self, world: KeyHash, epoch: i64, place: u64) {
        if self.by_world.get(&world).is_some_and(|claim| claim.held.epoch == epoch)
            && let Some(claim) = self.by_world.remove(&world)
        {
            claim.lose(place);
            self.dropped.insert(world, epoch);
        }
    }

    /// The lease has ended: all worlds are lost from this place on.
    pub(super) fn lose_all(&mut self, place: u64) {
        for claim in std::mem::take(&mut self.by_world).into_values() {
            claim.lose(place);
        }
        self.dropped.clear();
    }
}

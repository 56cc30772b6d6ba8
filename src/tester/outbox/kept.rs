//! The endpoints of a world and the progress of their deliveries, as a write-ahead log stores them.
//!
//! Deliveries are not stored: they follow from the world's log, which is replayed. The progress of
//! an endpoint contains the ended deliveries. So a delivery that had not ended is sent again after
//! a restart, under the same id. It is stored when an endpoint has nothing more to send now, and
//! otherwise at least each second in which a delivery ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tester::address::Target;
use crate::tester::outbox::Outbox;
use crate::tester::outbox::endpoint::Endpoint;
use crate::tester::outbox::lane::Lane;
use crate::tester::signature::Secret;
use crate::value::Timestamp;
use crate::world::World;

/// After this many ended deliveries, the progress of a busy endpoint is stored.
const OFTEN: u64 = 64;
/// After this time, in milliseconds, it is stored with the next ended delivery.
const LONG_MS: i64 = 1_000;
/// Maximum number of waiting deliveries that a progress lists. Deliveries after them are made again.
const MOST_LISTED: usize = 256;

/// The endpoints of a world that were created or changed by calls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptEndpoints {
    /// Number of endpoints ever created.
    made: u64,
    endpoints: Vec<KeptEndpoint>,
}

impl KeptEndpoints {
    pub(crate) const fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }
}

/// An endpoint.
#[derive(Clone, Serialize, Deserialize)]
struct KeptEndpoint {
    id: String,
    url: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disabled: Option<String>,
    ordered: bool,
    secret: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<(String, Timestamp)>,
    rotations: u64,
    created_at: Timestamp,
}

impl std::fmt::Debug for KeptEndpoint {
    /// A secret never appears in a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptEndpoint").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The progress of an endpoint: its ended deliveries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptProgress {
    pub(crate) endpoint: String,
    #[serde(flatten)]
    pub(crate) progress: Progress,
    /// Whether no delivery of the world is waiting.
    pub(crate) quiet: bool,
}

/// A position in the event log of a world, which may have been reset or restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// The number of earlier resets and restores of the world.
    pub(crate) turn: u64,
    /// All deliveries of events up to this position have ended, except those of `waiting`.
    pub(crate) through: u64,
    /// The positions of events with a delivery that has not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waiting: Vec<u64>,
}

impl Progress {
    /// All deliveries of events up to a position have ended.
    pub(crate) const fn all(turn: u64, through: u64) -> Self {
        Self { turn, through, waiting: Vec::new() }
    }

    /// Whether the deliveries of an event have ended.
    fn has_ended(&self, turn: u64, sequence: u64) -> bool {
        let is_before = (turn, sequence) <= (self.turn, self.through);
        is_before && (turn != self.turn || self.waiting.binary_search(&sequence).is_err())
    }
}

/// The stored progress of each endpoint.
pub(crate) type ProgressOf = BTreeMap<String, Progress>;

/// The deliveries of a world of which none is waiting, as a checkpoint stores them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct QuietOutbox {
    endpoints: KeptEndpoints,
    /// The number of ended deliveries of each endpoint.
    ended: BTreeMap<String, u64>,
    /// The number of their positions, some of which no copy has used.
    positions: BTreeMap<String, u64>,
    turn: u64,
}

impl Outbox {
    /// Its state, if no delivery is waiting.
    pub(crate) fn quiet(&self, world: &World) -> Option<QuietOutbox> {
        let is_collected = self.lanes.is_empty() || self.cursor == world.log_length();
        let counts = |count: fn(&Lane) -> u64| {
            self.lanes.iter().map(|lane| (lane.endpoint.id.clone(), count(lane))).collect()
        };
        let (ended, positions) = (counts(Lane::ended_so_far), counts(Lane::positions));
        let state = QuietOutbox { endpoints: self.kept(), ended, positions, turn: self.turn };
        (is_collected && !self.is_waiting()).then_some(state)
    }

    /// Continues from a state. Events in the log of the world are not sent again.
    pub(crate) fn resume(&mut self, world: &World, quiet: &QuietOutbox) -> Result<(), String> {
        self.put_kept(world, &quiet.endpoints)?;
        self.turn = quiet.turn;
        for lane in &mut self.lanes {
            let of = |counts: &BTreeMap<String, u64>| {
                counts.get(&lane.endpoint.id).copied().unwrap_or_default()
            };
            let (positions, ended) = (of(&quiet.positions), of(&quiet.ended));
            lane.skip(positions, ended);
        }
        self.catch_up(world);
        Ok(())
    }

    /// The endpoints to store: all but those of the command line, which the next start creates again.
    pub(crate) fn kept(&self) -> KeptEndpoints {
        let own = self.lanes.iter().map(|lane| &lane.endpoint).filter(|endpoint| !endpoint.trusted);
        KeptEndpoints { made: self.made, endpoints: own.map(KeptEndpoint::of).collect() }
    }

    /// Sets the endpoints to stored ones. Deliveries of remaining endpoints are kept.
    pub(crate) fn put_kept(&mut self, world: &World, kept: &KeptEndpoints) -> Result<(), String> {
        if self.lanes.is_empty() {
            self.look(world, self.clocks.wall);
            self.catch_up(world);
        }
        self.made = self.made.max(kept.made);
        let endpoints: Vec<Endpoint> =
            kept.endpoints.iter().map(KeptEndpoint::read).collect::<Result<_, _>>()?;
        self.lanes.retain(|lane| {
            lane.endpoint.trusted || endpoints.iter().any(|kept| kept.id == lane.endpoint.id)
        });
        for endpoint in endpoints {
            match self.lane_mut(&endpoint.id) {
                Some(lane) => {
                    lane.reorder(endpoint.ordered);
                    if let Some(reason) = endpoint.disabled.as_deref() {
                        lane.cancel(reason);
                    }
                    lane.endpoint = endpoint;
                }
                None => self.lanes.push(Lane::new(endpoint, world.base().key())),
            }
        }
        Ok(())
    }

    /// The events are replayed: deliveries that have ended before are not made again.
    pub(crate) fn expect(&mut self, progress: ProgressOf) {
        self.progress = progress;
        self.replays = true;
    }

    /// The replay has ended.
    pub(crate) const fn expect_no_more(&mut self) {
        self.replays = false;
    }

    /// Whether the delivery of an event has ended in an earlier process. An endpoint of the command line without progress is new: it receives
    /// no replayed event.
    pub(super) fn has_ended(&self, endpoint: &Endpoint, sequence: u64) -> bool {
        match self.progress.get(&endpoint.id) {
            Some(known) => known.has_ended(self.turn, sequence),
            None => self.replays && endpoint.trusted,
        }
    }

    /// The start of each endpoint of the command line that no progress was stored for yet. It is stored before the next event.
    pub(crate) fn starts_to_keep(&mut self) -> Vec<KeptProgress> {
        let start = Progress::all(self.turn, self.cursor);
        let lanes = self.lanes.iter().map(|lane| &lane.endpoint);
        let new =
            lanes.filter(|endpoint| endpoint.trusted && !self.progress.contains_key(&endpoint.id));
        let new: Vec<String> = new.map(|endpoint| endpoint.id.clone()).collect();
        for endpoint in &new {
            self.progress.insert(endpoint.clone(), start.clone());
        }
        let kept = |endpoint| KeptProgress { endpoint, progress: start.clone(), quiet: false };
        new.into_iter().map(kept).collect()
    }

    /// The progress of an endpoint, if it is time to store it. `is_idle` says that nothing can be sent now.
    pub(crate) fn progress_to_keep(
        &mut self,
        endpoint: &str,
        wall: Timestamp,
        is_idle: bool,
    ) -> Option<KeptProgress> {
        let lane = self.lane_mut(endpoint)?;
        let ended = lane.ended_so_far();
        let (known, at) = lane.stored;
        let is_due = is_idle || ended - known >= OFTEN || wall.millis() - at.millis() >= LONG_MS;
        let is_new = ended != known && is_due;
        if !is_new && (lane.waiting() > 0 || is_idle) {
            return None;
        }
        lane.stored = (ended, wall);
        self.progress_of(endpoint)
    }

    /// The progress of an endpoint.
    pub(crate) fn progress_of(&self, endpoint: &str) -> Option<KeptProgress> {
        let pending = self.lane(endpoint)?.pending();
        let mut waiting: Vec<u64> = pending.map(|delivery| delivery.event.sequence).collect();
        waiting.sort_unstable();
        waiting.dedup();
        let through = waiting.get(MOST_LISTED).map_or(self.cursor, |next| next - 1);
        waiting.truncate(MOST_LISTED);
        Some(KeptProgress {
            endpoint: endpoint.to_owned(),
            progress: Progress { turn: self.turn, through, waiting },
            quiet: !self.is_waiting(),
        })
    }

    /// Whether a delivery is waiting or in flight.
    pub(crate) fn is_waiting(&self) -> bool {
        self.lanes.iter().any(|lane| lane.waiting() > 0)
    }
}

impl KeptEndpoint {
    fn of(endpoint: &Endpoint) -> Self {
        let previous = endpoint.previous.as_ref();
        Self {
            id: endpoint.id.clone(),
            url: endpoint.target.to_string(),
            events: endpoint.events.clone(),
            description: endpoint.description.clone(),
            disabled: endpoint.disabled.clone(),
            ordered: endpoint.ordered,
            secret: endpoint.secret.reveal().to_owned(),
            previous: previous.map(|(secret, until)| (secret.reveal().to_owned(), *until)),
            rotations: endpoint.rotations,
            created_at: endpoint.created_at,
        }
    }

    fn read(&self) -> Result<Endpoint, String> {
        let secret = |text: &str| Secret::parse(text).map_err(str::to_owned);
        let previous = self.previous.as_ref();
        let previous = previous.map(|(text, until)| secret(text).map(|secret| (secret, *until)));
        Ok(Endpoint {
            id: self.id.clone(),
            target: Arc::new(Target::kept(&self.url)?),
            trusted: false,
            events: self.events.clone(),
            description: self.description.clone(),
            disabled: self.disabled.clone(),
            ordered: self.ordered,
            secret: secret(&self.secret)?,
            previous: previous.transpose()?,
            rotations: self.rotations,
            created_at: self.created_at,
        })
    }
}

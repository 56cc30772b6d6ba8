//! Webhooks of one world: endpoints, deliveries and their results.
//!
//! Deliveries are derived from the world's log behind a cursor. Attempts, answers and retries are not part of the world's digest. A pure
//! state machine: [`Outbox::collect`] reads the log, [`Outbox::take`] returns due deliveries, [`Outbox::report`] records results, and
//! callers pass the time. Deliberately absent: sockets and waiting (`io::courier`), locks (`engine::delivery_waker`).

mod attempt;
pub(crate) mod body;
pub(crate) mod delivery;
pub(crate) mod endpoint;
pub(crate) mod kept;
pub(crate) mod lane;
pub(crate) mod message;
pub(crate) mod recent;
pub(crate) mod schedule;
pub(crate) mod shaping;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::tester::address::{Policy, Target};
use crate::tester::outbox::delivery::Attempted;
use crate::tester::outbox::endpoint::Endpoint;
use crate::tester::outbox::kept::ProgressOf;
use crate::tester::outbox::lane::{Entry, Lane};
use crate::tester::outbox::recent::Recent;
use crate::tester::outbox::schedule::{Clocks, Pace, Retries};
use crate::tester::outbox::shaping::{Shape, Shapes};
use crate::tester::signature::Secret;
use crate::value::id::encode_to_string;
use crate::value::{Key, Timestamp};
use crate::world::script::{Shaping, WebhookRow};
use crate::world::{ClockMode, Event, World};

/// Maximum number of endpoints of one world.
pub(crate) const MOST_ENDPOINTS: usize = 64;

/// Webhook settings shared by all worlds of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) retries: Retries,
    pub(crate) policy: Policy,
    /// Endpoints that every world starts with.
    pub(crate) given: Vec<Given>,
}

/// An endpoint given at server start.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) target: Target,
    pub(crate) events: Vec<String>,
    /// Drawn from the seed if absent.
    pub(crate) secret: Option<Secret>,
}

/// The definition of a new endpoint.
#[derive(Debug)]
pub(crate) struct NewEndpoint {
    pub(crate) target: Target,
    pub(crate) trusted: bool,
    pub(crate) events: Vec<String>,
    pub(crate) description: Option<String>,
    pub(crate) ordered: bool,
    pub(crate) secret: Option<Secret>,
}

/// The webhooks of one world.
#[derive(Debug)]
pub(crate) struct Outbox {
    settings: Arc<Settings>,
    lanes: Vec<Lane>,
    /// Number of endpoints ever created; it numbers the next one.
    made: u64,
    /// Position after the last processed event, and that event.
    cursor: u64,
    last: Option<Arc<Event>>,
    clocks: Clocks,
    pace: Pace,
    shapes: Shapes,
    /// Number of callers that wait for the clock, and the attempts made in the meantime.
    watchers: usize,
    attempted: VecDeque<Attempted>,
    /// Number of attempts ever made: one more than the number of the last recorded attempt.
    attempts: u64,
    /// The latest attempts, for the event stream.
    pub(crate) recent: Recent,
    /// The number of resets and restores of the world.
    turn: u64,
    /// The deliveries that had ended before the process started.
    progress: ProgressOf,
    /// Whether the events are being replayed.
    replays: bool,
    /// Whether nothing may be sent, because the step that caused the last events is not stored yet.
    held: bool,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            settings: Arc::default(),
            lanes: Vec::new(),
            made: 0,
            cursor: 0,
            last: None,
            clocks: Clocks { now: Timestamp::EPOCH, wall: Timestamp::EPOCH },
            pace: Pace::default(),
            shapes: Shapes::default(),
            watchers: 0,
            attempted: VecDeque::new(),
            attempts: 0,
            recent: Recent::default(),
            turn: 0,
            progress: ProgressOf::new(),
            replays: false,
            held: false,
        }
    }
}

/// A delivery to attempt now.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) target: Arc<Target>,
    pub(crate) trusted: bool,
    pub(crate) delivery_id: String,
    pub(crate) order: u64,
    pub(crate) event: Arc<Event>,
    /// Number of the attempt, from 1.
    pub(crate) attempt: usize,
    /// A deliberate defect. Only the first attempt has it: a receiver that correctly refuses it gets the intact message next.
    pub(crate) spoilt: Option<Shaping>,
    pub(crate) secrets: Vec<Secret>,
    /// Shared by the event's deliveries to all endpoints.
    pub(crate) body: Arc<OnceLock<Bytes>>,
}

impl Outbox {
    /// The outbox of a new world, with the endpoints that every world has. They receive events from now on.
    pub(crate) fn open(settings: &Arc<Settings>, world: &World) -> Self {
        let mut outbox = Self { settings: Arc::clone(settings), ..Self::default() };
        outbox.look(world, Timestamp::EPOCH);
        for (place, given) in (0..).zip(&settings.given) {
            let endpoint = NewEndpoint {
                target: given.target.clone(),
                trusted: true,
                events: given.events.clone(),
                description: Some("given at server start".to_owned()),
                ordered: true,
                secret: given.secret.clone(),
            };
            // Its id is separate from the ids that calls create, because the next start can have more or fewer
            // endpoints.
            outbox.add(world, world.base().key().with("given_endpoint").at(place), endpoint);
        }
        outbox
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.settings.policy
    }

    /// The retry schedule for a clock mode.
    pub(crate) fn retries_in(&self, mode: ClockMode) -> Pace {
        self.settings.retries.pace(mode)
    }

    // --- endpoints -------------------------------------------------------------------------------------------------

    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    pub(crate) fn lane(&self, id: &str) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.endpoint.id == id)
    }

    pub(crate) fn lane_mut(&mut self, id: &str) -> Option<&mut Lane> {
        self.lanes.iter_mut().find(|lane| lane.endpoint.id == id)
    }

    /// Creates an endpoint that receives events from now on.
    pub(crate) fn create(&mut self, world: &World, new: NewEndpoint) -> &Lane {
        if self.lanes.is_empty() {
            // The world has not been processed until now.
            self.look(world, self.clocks.wall);
            self.catch_up(world);
        }
        let key = world.base().key().with("webhook_endpoint").at(self.made);
        self.add(world, key, new)
    }

    fn add(&mut self, world: &World, key: Key, new: NewEndpoint) -> &Lane {
        self.made += 1;
        let secret = new.secret.unwrap_or_else(|| Secret::drawn(key.with("secret")));
        let endpoint = Endpoint {
            id: format!("whe_{}", encode_to_string(key.hash())),
            target: Arc::new(new.target),
            trusted: new.trusted,
            events: new.events,
            description: new.description,
            disabled: None,
            ordered: new.ordered,
            secret,
            previous: None,
            rotations: 0,
            created_at: world.now(),
        };
        self.lanes.push(Lane::new(endpoint, world.base().key()));
        self.lanes.last().expect("one was just pushed")
    }

    /// Sets a new secret for an endpoint: the given one, or the next one of the seed.
    pub(crate) fn rotate(&mut self, world: &World, id: &str, given: Option<Secret>) {
        if let Some(lane) = self.lane_mut(id) {
            let endpoint = &mut lane.endpoint;
            let key = world.base().key().with("webhook_secret").with(&endpoint.id);
            let secret = given.unwrap_or_else(|| Secret::drawn(key.at(endpoint.rotations)));
            endpoint.rotate(secret, world.now());
        }
    }

    /// Deletes an endpoint and its deliveries.
    pub(crate) fn delete(&mut self, id: &str) -> bool {
        let before = self.lanes.len();
        self.lanes.retain(|lane| lane.endpoint.id != id);
        self.lanes.len() < before
    }

    /// Sets these rows of scenarios, with counters at zero.
    pub(crate) fn set_shaping(&mut self, rows: Vec<WebhookRow>) {
        self.shapes.set(rows);
    }

    /// The rows with their counters.
    pub(crate) fn shaping(&self) -> &Shapes {
        &self.shapes
    }

    /// The rows, to add or remove some at run time.
    pub(crate) const fn shaping_mut(&mut self) -> &mut Shapes {
        &mut self.shapes
    }

    /// Sets these rows with their counters, from a snapshot.
    pub(crate) fn put_shaping(&mut self, shapes: Shapes) {
        self.shapes = shapes;
    }

    // --- the log ---------------------------------------------------------------------------------------------------

    /// Creates deliveries for new events.
    pub(crate) fn collect(&mut self, world: &World, wall: Timestamp) {
        self.look(world, wall);
        let log = world.log();
        let last = log.get(self.cursor).filter(|_| self.cursor > 0);
        let same = match (&self.last, last) {
            (Some(known), Some(found)) => Arc::ptr_eq(known, found),
            (None, _) => self.cursor == 0,
            // The log has dropped it, and the events up to its first one are not sent.
            (Some(_), None) => log.first_sequence() > self.cursor,
        };
        if !same {
            self.set_back(world);
            return;
        }
        for event in log.since(self.cursor) {
            let shape = self.shapes.shape(world, event);
            self.offer(event, shape.as_ref());
        }
        self.catch_up(world);
    }

    /// The world was replaced by another state of itself: waiting deliveries are cancelled, and the events in its log count as processed.
    pub(crate) fn set_back(&mut self, world: &World) {
        self.turn += 1;
        for lane in &mut self.lanes {
            lane.cancel("the world was reset or restored");
        }
        self.catch_up(world);
    }

    pub(crate) fn catch_up(&mut self, world: &World) {
        self.cursor = world.log().len();
        self.last = world.log().last().cloned();
    }

    fn look(&mut self, world: &World, wall: Timestamp) {
        self.clocks = Clocks { now: world.now(), wall };
        let pace = self.settings.retries.pace(world.mode());
        if pace != self.pace {
            self.pace = pace;
            let now = self.now();
            for lane in &mut self.lanes {
                lane.retime(now);
            }
        }
    }

    fn offer(&mut self, event: &Arc<Event>, shape: Option<&Shape>) {
        let at = match self.pace {
            Pace::Virtual => event.at,
            Pace::Compressed | Pace::Real => self.clocks.wall,
        };
        let mut entry = Entry::at(at);
        if let Some(shape) = shape {
            let delay_ms = self.pace.scaled_ms(shape.delay_ms);
            entry.shaped = Some(shape.does);
            match shape.does {
                Shaping::Duplicate => entry.copies = Some((shape.copies, delay_ms)),
                Shaping::Delay => entry.due = at.plus_millis(delay_ms),
                Shaping::Reorder => {
                    entry.due = at.plus_millis(delay_ms);
                    entry.loose = true;
                }
                Shaping::Drop => entry.dropped = Some(format!("dropped by {}", shape.source)),
                Shaping::BadSignature | Shaping::StaleTimestamp | Shaping::Truncate => {}
            }
        }
        for place in 0..self.lanes.len() {
            let endpoint = &self.lanes[place].endpoint;
            if !endpoint.wants(&event.name) {
                continue;
            }
            if self.has_ended(endpoint, event.sequence) {
                self.lanes[place].skip(entry.positions(), entry.positions());
            } else {
                self.lanes[place].push(event, entry.clone());
            }
        }
    }

    /// Sends an event again at once, to that endpoint or to all that receive it. Returns the new deliveries.
    pub(crate) fn resend(
        &mut self,
        event: &Arc<Event>,
        endpoint: Option<&str>,
    ) -> Vec<(usize, u64)> {
        let now = self.now();
        let mut sent = Vec::new();
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let meant = endpoint
                .map_or_else(|| lane.endpoint.wants(&event.name), |id| lane.endpoint.id == id);
            if meant {
                let entry = Entry { loose: true, ..Entry::at(now) };
                sent.push((place, lane.push(event, entry)));
            }
        }
        sent
    }

    const fn now(&self) -> Timestamp {
        self.pace.now(self.clocks)
    }

    /// The time of the world on the clock for due times. The wall clock has the value of its last reading.
    pub(crate) fn now_in(&self, world: &World) -> Timestamp {
        let pace = self.retries_in(world.mode());
        pace.now(Clocks { now: world.now(), ..self.clocks })
    }
}

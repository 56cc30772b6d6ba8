//! Records the inputs of one world. All functions are called while the world is locked.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderValue, StatusCode};

use crate::api::operation::{Contract, Operation};
use crate::engine::idempotency;
use crate::engine::recording::{Call, KeyHash, Recorder, Step, Ticket};
use crate::engine::request::{Request, request_id};
use crate::value::{ApiError, Timestamp};
use crate::world::{ClockMode, World};

/// Headers that affect a write. The type of an accepted body is known.
const HEADERS: [&str; 3] = ["idempotency-key", "if-match", "sandbox-scenario"];

/// Rows that are not recorded: webhook endpoints, whose bodies contain secrets, and reads by POST.
const BESIDE: [&str; 4] = [
    "/_sandbox/webhook-endpoints",
    "/_sandbox/deliveries",
    "/_sandbox/events",
    "/_sandbox/requests",
];

/// Whether a row is not recorded.
pub(in crate::engine) fn is_beside(row: &Operation) -> bool {
    BESIDE.iter().any(|path| row.path.starts_with(path))
}

/// The state of a world before a step.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Before {
    at: Timestamp,
    version: u64,
    log: u64,
}

impl Before {
    pub(in crate::engine) fn of(world: &World) -> Self {
        Self { at: world.now(), version: world.version(), log: world.log_length() }
    }

    pub(in crate::engine) const fn version(self) -> u64 {
        self.version
    }
}

/// The recorder of one world.
pub(in crate::engine) struct Tape {
    recorder: Arc<dyn Recorder>,
    world: KeyHash,
    /// The number of the world's last input; 0 before the first.
    last: AtomicU64,
    /// The last time to which the wall clock moved the world.
    wall: AtomicI64,
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("world", &self.world).finish_non_exhaustive()
    }
}

impl Tape {
    pub(in crate::engine) fn new(recorder: Arc<dyn Recorder>, world: KeyHash) -> Self {
        Self { recorder, world, last: AtomicU64::new(0), wall: AtomicI64::new(0) }
    }

    pub(in crate::engine) fn accepts(&self) -> Result<(), ApiError> {
        self.recorder.accepts()
    }

    pub(in crate::engine) const fn world(&self) -> KeyHash {
        self.world
    }

    /// The input that must be on disk before a reply may show the current world.
    pub(in crate::engine) fn ticket(&self) -> Option<Ticket> {
        let last = self.last.load(Ordering::Acquire);
        (last > 0).then_some(Ticket(last))
    }

    /// The wall clock's virtual time that the world saw last.
    pub(in crate::engine) fn wall(&self, world: &World) -> Option<Timestamp> {
        let wall = Timestamp::from_millis(self.wall.load(Ordering::Relaxed));
        (world.mode() == ClockMode::Real).then_some(wall)
    }

    /// The wall clock has moved the world. This is an input only if work was due: of two moves in a row, the
    /// second alone gives the same world.
    pub(in crate::engine) fn followed(&self, wall: Timestamp, before: Before, world: &World) {
        self.wall.store(wall.millis(), Ordering::Relaxed);
        if world.version() != before.version {
            self.append(self.step(before, world), world);
        }
    }

    /// A request was executed with this status; the world is in its state after it.
    pub(in crate::engine) fn wrote(
        &self,
        request: &Request<'_>,
        before: Before,
        world: &World,
        reply: (StatusCode, &HeaderValue),
    ) {
        let row = request.route.operation;
        let (status, request_id) = reply;
        let is_remembered = request.head.headers.contains_key("idempotency-key")
            && idempotency::is_kept(status)
            && row.contract != Contract::Control;
        let is_input = status.is_success() || is_remembered || world.version() != before.version;
        if !is_input || is_beside(row) {
            return;
        }
        let header = |name: &'static str| {
            let value = request.head.headers.get(name)?.to_str().ok()?;
            Some((name, value.to_owned()))
        };
        let call = Call {
            method: row.method.name(),
            target: request.target().to_owned(),
            headers: HEADERS.into_iter().filter_map(header).collect(),
            body: request.body.clone(),
            is_control: row.contract == Contract::Control,
            status: status.as_u16(),
            request_id: request_id.to_str().unwrap_or_default().to_owned(),
        };
        let call = Some(call);
        let step = self.step(before, world);
        self.append(Step { call, ..step }, world);
    }

    /// The clock was moved during an advance with deliveries. `reached` says whether it arrived at the end.
    pub(in crate::engine) fn advanced(
        &self,
        before: Before,
        world: &World,
        tasks: u64,
        reached: bool,
    ) {
        if !reached {
            if tasks > 0 || world.now() != before.at {
                let step = self.step(before, world);
                self.append(Step { wall: Some(world.now()), tasks: Some(tasks), ..step }, world);
            }
            return;
        }
        let id = request_id(world.base().key().with("write").at(before.log));
        let call = Call {
            method: "POST",
            target: "/_sandbox/clock/advance".to_owned(),
            headers: Vec::new(),
            body: Bytes::from(format!(r#"{{"to":"{}"}}"#, world.now())),
            is_control: true,
            status: 200,
            request_id: id.to_str().unwrap_or_default().to_owned(),
        };
        let call = Some(call);
        let step = self.step(before, world);
        self.append(Step { call, ..step }, world);
    }

    fn step(&self, before: Before, world: &World) -> Step {
        // A reset or restored world may have a shorter log.
        let events = world.log().since(before.log).cloned().collect();
        Step {
            world: self.world,
            wall: self.wall(world),
            call: None,
            tasks: None,
            at: before.at,
            now: world.now(),
            version: world.version(),
            log: world.log_length(),
            events,
        }
    }

    fn append(&self, step: Step, world: &World) {
        let Ticket(place) = self.recorder.record(step, world);
        self.last.store(place, Ordering::Release);
    }
}

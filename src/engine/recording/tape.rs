//! Records the inputs of one world. Inputs are recorded while the world is locked; notes may come at any time.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::IF_MATCH;
use http::{HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::api::operation::{Call as Row, Contract, Method, Operation};
use crate::engine::headers::{IDEMPOTENCY_KEY, SANDBOX_SCENARIO, list, trace_of};
use crate::engine::idempotency;
use crate::engine::recording::{Call, KeyHash, Note, Recorder, Step, Tenure, Ticket};
use crate::engine::request::{Request, advance_id};
use crate::tester::inputs::SharedInput;
use crate::value::{ApiError, Timestamp, text};
use crate::world::{ClockMode, World};

/// Rows that are not recorded as requests: webhook endpoints, whose bodies contain secrets, the deletion of the world, and reads by POST.
const BESIDE: [&str; 5] = [
    "/_sandbox/webhook-endpoints",
    "/_sandbox/world",
    "/_sandbox/deliveries",
    "/_sandbox/events",
    "/_sandbox/requests",
];

/// Whether a row is not recorded.
pub(in crate::engine) fn is_beside(row: &Operation) -> bool {
    BESIDE.iter().any(|path| row.path.starts_with(path)) && !row.path.ends_with("/fork")
}

/// Whether a row changes webhook endpoints.
pub(in crate::engine) fn changes_endpoints(row: &Operation) -> bool {
    row.method != Method::Get && row.path.starts_with(BESIDE[0])
}

/// Whether a successful request of the row must be stored. Others continue while the log cannot be written.
pub(crate) fn is_stored(row: &Operation) -> bool {
    match row.call {
        Row::Open(_) | Row::Read(_) => false,
        Row::Write(_) | Row::Drive(_) => true,
        Row::Tester(_) if is_beside(row) => changes_endpoints(row) || deletes_world(row),
        Row::Tester(_) => row.method != Method::Get,
    }
}

/// Whether a row deletes its world.
pub(in crate::engine) fn deletes_world(row: &Operation) -> bool {
    row.method == Method::Delete && row.path == BESIDE[1]
}

/// Whether a request that was executed changed its world, or left a stored reply.
pub(in crate::engine) fn is_input(
    request: &Request<'_>,
    before: Before,
    world: &World,
    status: StatusCode,
) -> bool {
    let row = request.route.operation;
    let is_remembered = request.head.headers.contains_key(IDEMPOTENCY_KEY)
        && idempotency::is_kept(status)
        && row.contract != Contract::Control;
    let is_input = status.is_success() || is_remembered || world.version() != before.version;
    is_input && !is_beside(row) && is_stored(row)
}

/// The headers of a request that affect it or its webhooks. `Content-Type` is not one of them: each accepted body is JSON.
fn headers<T: for<'a> From<&'a str>>(request: &Request<'_>) -> Vec<(&'static str, T)> {
    let value = |headers, header| Some(list(headers, header)?.to_str().ok()?.into());
    let sent = [
        ("idempotency-key", value(&request.head.headers, IDEMPOTENCY_KEY)),
        ("if-match", value(&request.head.headers, IF_MATCH)),
        ("sandbox-scenario", value(request.own, SANDBOX_SCENARIO)),
        ("traceparent", trace_of(request.own).map(|trace| trace.to_string().as_str().into())),
    ];
    sent.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// An input in the form in which it is shared. The key of another world in its body is replaced.
pub(in crate::engine) fn shared(request: &Request<'_>, number: usize) -> SharedInput {
    let row = request.route.operation;
    let mut body = text::lossy(request.body.to_vec());
    if row.contract == Contract::Control
        && let Ok(Value::Object(mut members)) = serde_json::from_str(&body)
        && let Some(key) = members.get_mut("key")
    {
        *key = format!("fork_{number}").into();
        body = Value::Object(members).to_string();
    }
    let (method, target) = (row.method.name(), request.recorded_target());
    let headers = headers(request).into();
    SharedInput { method, target: target.into(), headers, body: body.into() }
}

/// Marks a reply with the inputs that it shows, so that it is sent only after they are stored.
pub(in crate::engine) fn hold<B>(tape: Option<&Tape>, response: &mut Response<B>) {
    if let Some(ticket) = tape.and_then(Tape::ticket) {
        response.extensions_mut().insert(ticket);
    }
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

    /// Whether the world was changed, or its clock was moved.
    pub(in crate::engine) fn differs(self, world: &World) -> bool {
        world.version() != self.version || world.now() != self.at
    }

    /// Virtual time.
    pub(in crate::engine) const fn at(self) -> Timestamp {
        self.at
    }

    pub(in crate::engine) const fn version(self) -> u64 {
        self.version
    }
}

/// The recorder of one world.
pub(in crate::engine) struct Tape {
    recorder: Arc<dyn Recorder>,
    tenure: Arc<Tenure>,
    /// The place of the world's last input; 0 before the first.
    last: AtomicU64,
    /// The last time to which the wall clock moved the world.
    wall: AtomicI64,
    /// Whether inputs are replayed: they are not stored, and the replay reads the result of the last one.
    playing: AtomicBool,
    played: Mutex<Option<Step>>,
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("world", &self.tenure.world).finish_non_exhaustive()
    }
}

impl Tape {
    pub(in crate::engine) fn new(
        recorder: Arc<dyn Recorder>,
        world: KeyHash,
        playing: bool,
    ) -> Self {
        let tenure = Arc::new(Tenure::new(world));
        if !playing {
            recorder.adopt(&tenure, true);
        }
        Self::of(recorder, tenure, playing)
    }

    fn of(recorder: Arc<dyn Recorder>, tenure: Arc<Tenure>, playing: bool) -> Self {
        Self {
            recorder,
            tenure,
            last: AtomicU64::new(0),
            wall: AtomicI64::new(0),
            playing: AtomicBool::new(playing),
            played: Mutex::default(),
        }
    }

    /// The recorder of a world that begins with a fork. Its state may be shown once the fork is stored.
    pub(in crate::engine) fn forked(
        recorder: Arc<dyn Recorder>,
        world: KeyHash,
        fork: &Ticket,
    ) -> Self {
        let tenure = Arc::new(Tenure::forked(world, fork, &*recorder));
        recorder.adopt(&tenure, true);
        Self { last: AtomicU64::new(fork.place), ..Self::of(recorder, tenure, false) }
    }

    /// The world that is recorded.
    pub(in crate::engine) const fn tenure(&self) -> &Arc<Tenure> {
        &self.tenure
    }

    pub(in crate::engine) fn accepts(&self) -> Result<(), ApiError> {
        self.recorder.accepts()
    }

    pub(in crate::engine) fn world(&self) -> KeyHash {
        self.tenure.world
    }

    /// Whether the world differs from its stored inputs, because one of them could not be stored.
    pub(in crate::engine) fn is_lost(&self) -> bool {
        self.tenure.is_lost()
    }

    /// Whether all inputs of the world are stored, so that it can be read again.
    pub(in crate::engine) fn is_stored(&self) -> bool {
        self.recorder.is_read_again()
            && !self.is_lost()
            && self.recorder.has_stored(self.last.load(Ordering::Acquire))
    }

    /// Whether inputs are replayed.
    pub(in crate::engine) fn is_playing(&self) -> bool {
        self.playing.load(Ordering::Relaxed)
    }

    /// The replay has ended: further inputs are stored.
    pub(in crate::engine) fn go_live(&self) {
        self.recorder.adopt(&self.tenure, false);
        self.playing.store(false, Ordering::Relaxed);
    }

    /// The result of the last replayed input, if it changed anything.
    pub(in crate::engine) fn take(&self) -> Option<Step> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The world was deleted: no later input of this tenure counts.
    pub(in crate::engine) fn removed(&self) {
        self.note(Note::Removed);
        self.tenure.lose(self.last.load(Ordering::Acquire) + 1);
    }

    /// The world leaves memory. If its inputs are not read again, this deletes it.
    pub(in crate::engine) fn removed_unless_stored(&self) {
        if !self.recorder.is_read_again() {
            self.removed();
        }
    }

    /// The input that must be on disk before a reply may show the current world.
    pub(in crate::engine) fn ticket(&self) -> Option<Ticket> {
        Some(self.last()).filter(|ticket| ticket.place > 0)
    }

    /// The last input of the world, in place 0 if there is none since it was opened.
    pub(in crate::engine) fn last(&self) -> Ticket {
        Ticket { place: self.last.load(Ordering::Acquire), tenure: Arc::clone(&self.tenure) }
    }

    /// Notes that the key was used, because after a restart a verification needs to know that there were requests.
    /// Returns the ticket of a reply.
    pub(in crate::engine) fn opened(&self) -> Option<Ticket> {
        if !self.tenure.is_opened() && self.recorder.accepts().is_ok() {
            self.tenure.set_opened(true);
            self.note(Note::Opened);
        }
        self.ticket()
    }

    /// Stores a note, which is not an input of the world.
    pub(in crate::engine) fn note(&self, note: Note) {
        // A note after the deletion is not stored, and the reply to the deletion must not wait for it.
        if self.is_playing() || self.is_lost() {
            return;
        }
        if let Some(place) = self.recorder.note(note, &self.tenure) {
            self.last.fetch_max(place, Ordering::AcqRel);
        }
    }

    /// The wall clock's virtual time that the world saw last.
    pub(in crate::engine) fn wall(&self, world: &World) -> Option<Timestamp> {
        let wall = Timestamp::from_millis(self.wall.load(Ordering::Relaxed));
        (world.mode() == ClockMode::Real).then_some(wall)
    }

    /// The replayed world has followed the wall clock up to `now`.
    pub(in crate::engine) fn continue_at(&self, now: Timestamp) {
        self.wall.store(now.millis(), Ordering::Relaxed);
    }

    /// The wall clock has moved the world. The move is recorded only if timers were due: a later move alone gives the
    /// same world.
    pub(in crate::engine) fn followed(&self, wall: Timestamp, before: Before, world: &World) {
        // Another request may have read a later time of the clock and moved the world before this one.
        self.wall.fetch_max(wall.millis(), Ordering::Relaxed);
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
        if !is_input(request, before, world, status) {
            return;
        }
        if self.is_playing() {
            // Only the result is compared.
            let call = Call {
                status: status.as_u16(),
                request_id: request_id.to_str().unwrap_or_default().to_owned(),
                ..Call::default()
            };
            let step = self.step(before, world);
            return self.append(Step { call: Some(call), ..step }, world);
        }
        let call = Call {
            method: row.method.name(),
            target: request.recorded_target(),
            headers: headers(request),
            body: request.body.clone(),
            is_control: row.contract == Contract::Control,
            status: status.as_u16(),
            request_id: request_id.to_str().unwrap_or_default().to_owned(),
        };
        let call = Some(call);
        let step = self.step(before, world);
        self.append(Step { call, ..step }, world);
    }

    /// The clock was moved during an advance with deliveries. `reached` is true at the end of the advance.
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
        let id = advance_id(world.base(), before.log, before.at);
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
        // A reset or restored world has not seen the time of the wall clock yet.
        self.wall.fetch_min(world.now().millis(), Ordering::Relaxed);
        if self.is_playing() {
            *self.played.lock().unwrap_or_else(PoisonError::into_inner) = Some(step);
            self.tenure.count();
            return;
        }
        let place = self.recorder.record(step, &self.tenure, world);
        self.last.fetch_max(place, Ordering::AcqRel);
    }
}

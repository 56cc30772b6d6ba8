//! The event stream: its row, and the frames of one reader.
//!
//! A reader has positions and no queue. It reads the event log, the request log and the latest attempts from its
//! positions. So a slow reader needs no more memory than a fast one. Dropped items are counted and reported.
//! Deliberately absent: waiting and sending (`engine::stream`, `io::following`).

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use crate::api::control::events::check_type;
use crate::api::control::request_log::RequestShape;
use crate::api::prelude::*;
use crate::tester::Tester;
use crate::tester::request_log::Entry;
use crate::value::id::parse;
use crate::world::envelope::{event_id, named};
use crate::world::{Base, ClockMode, Event, EventShape};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/events/stream",
    summary: "Follow what happens",
    description: "Sends what happens in this key's world as Server-Sent Events, until the client \
        disconnects. The name of a frame is its kind. `event`: an event as in the list, with its \
        `sequence` as the frame's `id`. `request`: a request as in the request log. `delivery`: an \
        attempt to deliver a webhook. `clock`: the time and the number of waiting timers, at the \
        start and after each change. `reset`: the world was reset, restored or replaced; read it \
        again. `lost`: the number of frames of a `kind` that were dropped before this reader read \
        them. A comment keeps an idle stream open. `Last-Event-ID` continues after that event.",
    streams: true,
    ..operation!(read stream_events)
}]);

/// The size in bytes at which a batch ends, and the maximum number of events compared with the filters for one batch.
const BATCH_BYTES: usize = 8 * 1_024;
const SCANNED: usize = 5_000;

/// Where a stream begins, and what it sends.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct StreamEvents {
    /// Begin after this position in the log. Default: only what happens from now on.
    after: Option<u64>,
    /// The kinds of frames, separated by commas: `event`, `request`, `delivery` and `clock`. Default: all. The frames `reset` and
    /// `lost` are always sent.
    kinds: Option<Text<64>>,
    /// Filter events and deliveries by event type; `payroll_run.*` for all types of a resource.
    #[serde(rename = "type")]
    name: Option<Text<64>>,
    /// Filter events and deliveries by the resource that the event is about.
    subject_id: Option<Text<64>>,
    /// Filter events and deliveries by company.
    company_id: Option<Id<Company>>,
}

/// The content of a `clock` frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct StreamClock {
    /// The current virtual time of the world.
    now: Timestamp,
    /// The clock mode.
    mode: ClockMode,
    /// Number of waiting timers.
    pending: u64,
    /// Position of the last event in the log.
    sequence: u64,
}

impl StreamClock {
    fn of(world: &World) -> Self {
        Self {
            now: world.now(),
            mode: world.mode(),
            pending: world.timers().len() as u64,
            sequence: world.log().len(),
        }
    }
}

/// The first frame; the frames of a stream have no envelope.
fn stream_events(world: &World, input: StreamEvents) -> Result<Plain<StreamClock>> {
    Kinds::of(&input)?;
    check_type(input.name.as_ref())?;
    Ok(Plain(StreamClock::of(world)))
}

/// The kinds of frames.
const KINDS: [&str; 4] = ["event", "request", "delivery", "clock"];

/// The kinds of frames that a reader has selected, by their places in [`KINDS`].
#[derive(Clone, Copy, Debug)]
struct Kinds([bool; KINDS.len()]);

impl Kinds {
    fn of(input: &StreamEvents) -> Result<Self> {
        let Some(named) = &input.kinds else { return Ok(Self([true; KINDS.len()])) };
        let mut kinds = Self([false; KINDS.len()]);
        for named in named.as_str().split(',').map(str::trim) {
            let Some(place) = KINDS.iter().position(|kind| *kind == named) else {
                let detail = format!(
                    "unknown kind {named:?}: expected event, request, delivery or clock, separated by commas"
                );
                return Err(ApiError::of_member("/kinds", "unknown", detail));
            };
            kinds.0[place] = true;
        }
        Ok(kinds)
    }

    fn has(self, kind: &str) -> bool {
        KINDS.iter().zip(self.0).any(|(name, wanted)| *name == kind && wanted)
    }
}

/// A batch of frames.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The frames; none if nothing happened.
    pub(crate) frames: Vec<Bytes>,
    /// Their size.
    bytes: usize,
    /// Whether there is more to read at once.
    pub(crate) more: bool,
}

/// A frame as it is sent.
fn frame(kind: &str, id: Option<u64>, data: &impl Serialize) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).expect("shapes of replies are JSON");
    Bytes::from(format!("{id}event: {kind}\ndata: {data}\n\n"))
}

impl Batch {
    fn push(&mut self, kind: &str, id: Option<u64>, data: &impl Serialize) {
        self.add(frame(kind, id, data));
    }

    fn add(&mut self, frame: Bytes) {
        self.bytes += frame.len();
        self.frames.push(frame);
    }

    /// Whether the rest belongs to the next batch.
    fn is_full(&mut self) -> bool {
        self.more |= self.bytes >= BATCH_BYTES;
        self.more
    }

    fn push_lost(&mut self, kind: &str, count: u64) {
        if count > 0 {
            self.push("lost", None, &serde_json::json!({ "kind": kind, "count": count }));
        }
    }
}

/// The frames that readers of a world read last. Each is written once, and shared by all of them.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    events: Frames<Arc<Event>>,
    requests: Frames<()>,
}

impl Encoded {
    fn event(&mut self, event: &Arc<Event>) -> Bytes {
        let write = || frame("event", Some(event.sequence), &EventShape::of(event));
        // After a restore, another event has the sequence.
        let is_same = |known: &Arc<Event>| Arc::ptr_eq(known, event);
        self.events.get(event.sequence, is_same, || (Arc::clone(event), write()))
    }

    fn request(&mut self, entry: &Entry) -> Bytes {
        let write = || frame("request", None, &RequestShape::of(entry));
        self.requests.get(entry.number, |()| true, || ((), write()))
    }
}

/// Frames by number, within a number of bytes.
#[derive(Debug)]
struct Frames<T> {
    by_number: BTreeMap<u64, (T, Bytes)>,
    /// The numbers, the one that was written first at the front.
    order: VecDeque<u64>,
    bytes: usize,
}

impl<T> Default for Frames<T> {
    fn default() -> Self {
        Self { by_number: BTreeMap::new(), order: VecDeque::new(), bytes: 0 }
    }
}

/// The size of the frames that are kept. Stalled readers are at different positions, and each of them holds its
/// unshared frames in memory.
const SHARED_BYTES: usize = 1024 * 1024;

impl<T> Frames<T> {
    /// The cached frame with that number, if it is the same frame.
    fn get(
        &mut self,
        number: u64,
        is_same: impl FnOnce(&T) -> bool,
        write: impl FnOnce() -> (T, Bytes),
    ) -> Bytes {
        let known = self.by_number.get(&number);
        if let Some((_, frame)) = known.filter(|(known, _)| is_same(known)) {
            return frame.clone();
        }
        let (of, frame) = write();
        self.bytes += frame.len();
        match self.by_number.insert(number, (of, frame.clone())) {
            Some((_, other)) => self.bytes -= other.len(),
            None => self.order.push_back(number),
        }
        while self.bytes > SHARED_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            let left = self.by_number.remove(&oldest);
            self.bytes -= left.map_or(0, |(_, frame)| frame.len());
        }
        frame
    }
}

/// One reader of a world.
#[derive(Debug)]
pub(crate) struct Follow {
    kinds: Kinds,
    name: Option<Text<64>>,
    subject: Option<Text<64>>,
    company: Option<Id<Company>>,
    base: Arc<Base>,
    /// Position in the event log, and the event there. After a restored snapshot, another event gets the same id.
    events: u64,
    last: Option<Arc<Event>>,
    requests: u64,
    deliveries: u64,
    clock: Option<StreamClock>,
}

impl Follow {
    /// A reader that begins where the input says, or after the event of `Last-Event-ID`: a sequence or an event id.
    pub(crate) fn begin(
        world: &World,
        tester: &mut Tester,
        input: StreamEvents,
        last_id: Option<&str>,
    ) -> Result<Self> {
        let kinds = Kinds::of(&input)?;
        check_type(input.name.as_ref())?;
        let events = match last_id {
            Some(id) => position(world, id)?,
            None => input.after.unwrap_or(world.log().len()),
        };
        Ok(Self {
            kinds,
            name: input.name,
            subject: input.subject_id,
            company: input.company_id,
            base: Arc::clone(world.base()),
            last: world.log().get(events).cloned(),
            events,
            requests: tester.requests.noted(),
            deliveries: tester.outbox.recent.begin(),
            clock: None,
        })
    }

    /// Whether it sends requests, and deliveries.
    pub(crate) fn beside_events(&self) -> [bool; 2] {
        [self.kinds.has("request") && !self.is_filtered(), self.kinds.has("delivery")]
    }

    fn is_filtered(&self) -> bool {
        self.name.is_some() || self.subject.is_some() || self.company.is_some()
    }

    /// The frames since the last batch.
    pub(crate) fn next(&mut self, world: &World, tester: &Tester, encoded: &mut Encoded) -> Batch {
        let mut batch = Batch::default();
        self.notice_reset(world, &mut batch);
        self.read_events(world, encoded, &mut batch);
        if !batch.more {
            self.read_deliveries(world, tester, &mut batch);
            self.read_requests(tester, encoded, &mut batch);
            self.read_clock(world, &mut batch);
        }
        batch
    }

    /// A log that is shorter, or that has another event at the position, belongs to another state of the world.
    fn notice_reset(&mut self, world: &World, batch: &mut Batch) {
        let log = world.log();
        let is_shorter = log.len() < self.events;
        let known = log.get(self.events).zip(self.last.as_ref());
        let other = known.is_some_and(|(now, last)| !Arc::ptr_eq(now, last));
        if is_shorter || other || !Arc::ptr_eq(&self.base, world.base()) {
            self.base = Arc::clone(world.base());
            self.move_to(world, log.len());
            batch.push("reset", Some(self.events), &StreamClock::of(world));
        }
    }

    fn move_to(&mut self, world: &World, position: u64) {
        self.events = position;
        self.last = world.log().get(position).cloned();
    }

    fn read_events(&mut self, world: &World, encoded: &mut Encoded, batch: &mut Batch) {
        let log = world.log();
        if !self.kinds.has("event") {
            self.move_to(world, log.len());
            return;
        }
        let dropped = (log.first_sequence() - 1).saturating_sub(self.events);
        batch.push_lost("event", dropped);
        let (mut scanned, mut position) = (0, self.events + dropped);
        for event in log.since(position) {
            if scanned == SCANNED || batch.is_full() {
                batch.more = true;
                break;
            }
            scanned += 1;
            position = event.sequence;
            if self.wants(event) {
                batch.add(encoded.event(event));
            }
        }
        self.move_to(world, position);
    }

    fn wants(&self, event: &Event) -> bool {
        self.name.as_ref().is_none_or(|name| named(name.as_str(), &event.name))
            && self.subject.as_ref().is_none_or(|id| id.accepts(&event.subject()))
            && self.company.is_none_or(|company| event.company_id() == Some(company))
    }

    fn read_deliveries(&mut self, world: &World, tester: &Tester, batch: &mut Batch) {
        let recent = &tester.outbox.recent;
        let (lost, attempts) = recent.since(self.deliveries.min(recent.made()));
        if self.kinds.has("delivery") {
            batch.push_lost("delivery", lost);
            self.deliveries = self.deliveries.min(recent.made()) + lost;
            let is_filtered = self.is_filtered();
            for attempt in attempts {
                if batch.is_full() {
                    return;
                }
                let event = world.log().get(attempt.sequence);
                let event = event.filter(|event| event_id(event) == attempt.event_id);
                if !is_filtered || event.is_some_and(|event| self.wants(event)) {
                    batch.push("delivery", None, attempt);
                }
                self.deliveries += 1;
            }
        }
        self.deliveries = recent.made();
    }

    fn read_requests(&mut self, tester: &Tester, encoded: &mut Encoded, batch: &mut Batch) {
        let requests = &tester.requests;
        if self.kinds.has("request") && !self.is_filtered() {
            let first = requests.noted() - requests.entries().len() as u64;
            batch.push_lost("request", first.saturating_sub(self.requests));
            self.requests = self.requests.max(first);
            for entry in requests.since(self.requests) {
                if batch.is_full() {
                    return;
                }
                batch.add(encoded.request(entry));
                self.requests = entry.number;
            }
        }
        self.requests = requests.noted();
    }

    fn read_clock(&mut self, world: &World, batch: &mut Batch) {
        if self.kinds.has("clock") {
            let clock = StreamClock::of(world);
            let moved = self.clock.as_ref().is_none_or(|sent| {
                (sent.now, sent.mode, sent.pending) != (clock.now, clock.mode, clock.pending)
            });
            if moved {
                batch.push("clock", None, &clock);
                self.clock = Some(clock);
            }
        }
    }
}

/// The position after the event that `Last-Event-ID` names.
fn position(world: &World, id: &str) -> Result<u64> {
    if let Ok(sequence) = id.parse() {
        return Ok(sequence);
    }
    let bits = parse(Kind::Event.prefix(), id);
    let found = bits.and_then(|bits| world.log().iter().rev().find(|event| event.id == bits));
    found.map(|event| event.sequence).ok_or_else(|| {
        let detail = "Last-Event-ID names no event of this world: send the id of a frame, or omit the header";
        ApiError::new(ErrorCode::InvalidHeader, detail)
    })
}

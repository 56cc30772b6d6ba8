//! The content of a recording: its header, then one entry after another, each a separate JSON object.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::engine::recording::{KeyHash, Salt, Step};
use crate::tester::outbox::kept::{KeptEndpoints, KeptProgress};
use crate::tester::wire::SpentRow;
use crate::value::Timestamp;
use crate::value::json_sink::JsonSink;
use crate::world::script::Scenario;
use crate::world::{ClockMode, Event, MAX_EVENTS, Shape, WORLD_VERSION};

/// The version of this format.
pub(crate) const FORMAT: u32 = 4;

/// One line of a recording, or one frame of a write-ahead log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first.
    Recording(Box<Header>),
    /// A world that the next entries use.
    World(Named),
    Input(Box<Input>),
    Clock(ClockMove),
    Mark(Mark),
    Spent(Spent),
    Endpoints(Box<Endpoints>),
    Delivered(Delivered),
    Removed(Removed),
    End(End),
}

/// The seed, shape and program of the worlds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u32,
    /// The version of the program.
    pub(crate) engine: String,
    pub(crate) world_version: u32,
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) clock: ClockMode,
    /// The events that each world kept; all of them if none. The recorded checks and digests depend on it.
    #[serde(default)]
    pub(crate) max_events: Option<u64>,
    pub(crate) salt: Salt,
    /// Scenarios beyond the shipped ones that could be loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    /// The names of the scenarios that every world starts with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) started: Vec<String>,
}

impl Header {
    /// The header of a new recording.
    pub(crate) fn new(seed: u64, shape: Shape, clock: ClockMode, salt: Salt) -> Self {
        Self {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            world_version: WORLD_VERSION,
            seed,
            shape,
            clock,
            max_events: Some(MAX_EVENTS),
            salt,
            scenarios: Vec::new(),
            started: Vec::new(),
        }
    }

    /// Why this program cannot replay such worlds, if it cannot.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!(
                "it has format {} (written by sandbox {}), but this sandbox {} reads format {FORMAT}",
                self.format,
                self.engine,
                env!("CARGO_PKG_VERSION")
            ));
        }
        if self.world_version != WORLD_VERSION {
            return Err(format!(
                "it is of world version {} (sandbox {}); this is sandbox {}, whose seeds produce world version {WORLD_VERSION}",
                self.world_version,
                self.engine,
                env!("CARGO_PKG_VERSION")
            ));
        }
        self.shape.check()
    }
}

/// A world's number in this recording.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) world: u32,
    pub(crate) key: KeyHash,
}

/// A request that a world accepted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Input {
    /// The number in the recording, from 1.
    pub(crate) seq: u64,
    pub(crate) world: u32,
    /// The wall clock's virtual time, if it drives the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wall: Option<Timestamp>,
    /// Virtual time before the call.
    pub(crate) at: Timestamp,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// The body as sent, without line ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Box<RawValue>>,
    pub(crate) reply: Reply,
    pub(crate) after: After,
}

/// The recorded reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) request_id: String,
}

/// The recorded state of a world after each input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct After {
    /// Virtual time.
    pub(crate) now: Timestamp,
    /// The number of changes of the world.
    pub(crate) version: u64,
    /// Length of the log.
    pub(crate) log: u64,
    /// A hash of the events that the input caused, and of the records after them.
    pub(crate) check: String,
}

/// Due work by the wall clock.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClockMove {
    pub(crate) seq: u64,
    pub(crate) world: u32,
    pub(crate) wall: Timestamp,
    /// The number of timers that ran, if an advance with deliveries stopped between two of one instant;
    /// absent if all due ones ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<u64>,
    pub(crate) after: After,
}

/// The counters of a world's faults. Refused calls and reads use faults up, and are no inputs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) world: u32,
    pub(crate) rows: Vec<SpentRow>,
}

/// The webhook endpoints of a world from now on, with their secrets.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Endpoints {
    pub(crate) world: u32,
    #[serde(flatten)]
    pub(crate) kept: KeptEndpoints,
}

/// The progress of an endpoint: its ended deliveries.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Delivered {
    pub(crate) world: u32,
    #[serde(flatten)]
    pub(crate) progress: KeptProgress,
}

/// The world was deleted: later inputs belong to a fresh world.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Removed {
    pub(crate) world: u32,
}

/// A world's digest after the input before it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) world: u32,
    pub(crate) digest: String,
}

/// All worlds at the end of the recording.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct End {
    /// The last instant of the wall clock, if no world has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wall: Option<Timestamp>,
    pub(crate) worlds: Vec<EndOf>,
}

/// The state of one world at the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndOf {
    pub(crate) world: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wall: Option<Timestamp>,
    /// Length of the log.
    pub(crate) log: u64,
    pub(crate) digest: String,
}

impl Step {
    /// The state of the world after the step. Serialises every event: do not call it while holding the world.
    pub(crate) fn after(&self) -> After {
        After { now: self.now, version: self.version, log: self.log, check: check(&self.events) }
    }

    /// Whether the state equals this one, apart from the hash of the events.
    pub(crate) fn is_at(&self, after: &After) -> bool {
        (self.now, self.version, self.log) == (after.now, after.version, after.log)
    }

    /// The part about the reply; none for the wall clock.
    pub(crate) fn reply(&self) -> Option<Reply> {
        self.call
            .as_ref()
            .map(|call| Reply { status: call.status, request_id: call.request_id.clone() })
    }

    /// The recorded form.
    pub(crate) fn into_entry(self, seq: u64, world: u32, salt: Salt) -> Entry {
        let after = self.after();
        let Some(call) = self.call else {
            let wall = self.wall.unwrap_or(self.now);
            return Entry::Clock(ClockMove { seq, world, wall, tasks: self.tasks, after });
        };
        let headers = call.headers.into_iter();
        Entry::Input(Box::new(Input {
            seq,
            world,
            wall: self.wall,
            at: self.at,
            method: call.method.to_owned(),
            path: call.target,
            headers: headers.map(|(name, v)| (name.to_owned(), v)).collect(),
            body: body(&call.body, call.is_control, salt),
            reply: Reply { status: call.status, request_id: call.request_id },
            after,
        }))
    }
}

/// A hash of events, truncated to 64 bits. This is enough to detect a difference, because every input has its
/// own hash.
fn check(events: &[Arc<Event>]) -> String {
    let mut hash = Sha256::new();
    let mut update = |piece: &[u8]| hash.update(piece);
    let mut sink = JsonSink::to_hash(&mut update, Vec::new());
    for event in events {
        let Event { sequence, at, name, id, .. } = &**event;
        let Event { object, request, cause, decision, .. } = &**event;
        let (subject, company) = (event.subject(), event.company().bits());
        sink.add(&(sequence, at, name, id, subject, company, request, cause, decision));
        for change in event.changes() {
            sink.add(change.after);
        }
        if !event.changes().any(|change| event.is_of_subject(change)) {
            sink.add(object);
        }
    }
    sink.finish();
    bits(&hash.finalize())
}

fn bits(digest: &[u8]) -> String {
    let bits = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    format!("{bits:016x}")
}

/// The body on one line. An accepted body is JSON, in which a line end is never part of a value. The key of
/// another world, in a body of the control
/// plane, is recorded as its hash.
fn body(sent: &[u8], is_control: bool, salt: Salt) -> Option<Box<RawValue>> {
    let line_end = |byte: &u8| {
        if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }
    };
    let text = String::from_utf8(sent.iter().map(line_end).collect()).ok()?;
    let without_key = is_control.then(|| without_key(&text, salt)).flatten();
    RawValue::from_string(without_key.unwrap_or(text)).ok()
}

fn without_key(text: &str, salt: Salt) -> Option<String> {
    let mut body: Value = serde_json::from_str(text).ok()?;
    let Value::String(key) = body.get_mut("key")? else { return None };
    *key = KeyHash::of(salt, key).as_key();
    serde_json::to_string(&body).ok()
}

//! What stands in a recording: its header, and one entry after the other, each a JSON object on its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::api::control::process::WORLD_VERSION;
use crate::engine::recording::{KeyHash, Salt, Step};
use crate::value::Timestamp;
use crate::world::script::Scenario;
use crate::world::{ClockMode, Event, Shape};

/// The form of what is described here.
pub(crate) const FORMAT: u32 = 1;

/// One line of a recording, or one frame of a journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first.
    Recording(Box<Header>),
    /// A world that the next entries speak of.
    World(Named),
    Input(Box<Input>),
    Clock(ClockMove),
    Mark(Mark),
    End(End),
}

/// What the worlds were grown from, and by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) format: u32,
    /// Version of the program.
    pub(crate) engine: String,
    pub(crate) world_version: u32,
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) clock: ClockMode,
    pub(crate) salt: Salt,
    /// Scenarios beyond the shipped ones that could be loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    /// Names of those that ran in every world from its start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) started: Vec<String>,
}

impl Header {
    /// The header of a recording that begins now.
    pub(crate) fn new(seed: u64, shape: Shape, clock: ClockMode, salt: Salt) -> Self {
        Self {
            format: FORMAT,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            world_version: WORLD_VERSION,
            seed,
            shape,
            clock,
            salt,
            scenarios: Vec::new(),
            started: Vec::new(),
        }
    }

    /// Why worlds like these cannot be grown by this program, if they cannot.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            return Err(format!(
                "it has format {} (written by sandbox {}); this is sandbox {}, which reads format {FORMAT}",
                self.format,
                self.engine,
                env!("CARGO_PKG_VERSION")
            ));
        }
        if self.world_version != WORLD_VERSION {
            return Err(format!(
                "it is of world version {} (sandbox {}); this is sandbox {}, whose seeds grow into world version {WORLD_VERSION}",
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
    /// Hash of its key.
    pub(crate) key: KeyHash,
}

/// A request that a world took.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Input {
    /// Place in the recording, from 1.
    pub(crate) seq: u64,
    pub(crate) world: u32,
    /// The wall clock's virtual time, where it drives the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wall: Option<Timestamp>,
    /// Virtual time before.
    pub(crate) at: Timestamp,
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) headers: BTreeMap<String, String>,
    /// As it was sent, but for line ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Box<RawValue>>,
    pub(crate) reply: Reply,
    pub(crate) after: After,
}

/// What a reply is held to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) request_id: String,
}

/// What a world is held to after each input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct After {
    /// Virtual time.
    pub(crate) now: Timestamp,
    /// How often the world has changed.
    pub(crate) version: u64,
    /// Length of the log.
    pub(crate) log: u64,
    /// A hash of the events that the input caused.
    pub(crate) check: String,
}

/// Something fell due by the wall clock.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClockMove {
    pub(crate) seq: u64,
    pub(crate) world: u32,
    pub(crate) wall: Timestamp,
    /// How many tasks ran, where an advance that waited for deliveries stopped between two of one instant; all that are due if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tasks: Option<u64>,
    pub(crate) after: After,
}

/// A world's whole digest after the input before it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) world: u32,
    pub(crate) digest: String,
}

/// Every world when the recording ended.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) worlds: Vec<EndOf>,
}

/// One of them.
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
    /// Where the step left its world. Serialises every event: not for a thread that holds the world.
    pub(crate) fn after(&self) -> After {
        After { now: self.now, version: self.version, log: self.log, check: check(&self.events) }
    }

    /// The reply's part of it; none of the wall clock.
    pub(crate) fn reply(&self) -> Option<Reply> {
        self.call
            .as_ref()
            .map(|call| Reply { status: call.status, request_id: call.request_id.clone() })
    }

    /// As it is recorded.
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

/// A hash of events, cut to 64 bits: enough to notice what differs, and every input has its own.
fn check(events: &[Arc<Event>]) -> String {
    let json = serde_json::to_vec(events).expect("events have string keys and no failing member");
    let digest = Sha256::digest(json);
    let bits = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    format!("{bits:016x}")
}

/// The body on one line. What was accepted is JSON, in which a line end is never part of a value. A key of another world, in
/// a body of the control plane, is recorded as its hash.
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
    let Value::String(key) = body.get_mut("key")? else {
        return None;
    };
    *key = KeyHash::of(salt, key).as_key();
    serde_json::to_string(&body).ok()
}

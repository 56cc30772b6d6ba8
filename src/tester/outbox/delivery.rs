//! One event on its way to one endpoint.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::Timestamp;
use crate::world::Event;
use crate::world::script::Shaping;

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// Not tried yet.
    Pending,
    /// The receiver answered 2xx.
    Delivered,
    /// Waits for the next attempt.
    Failed,
    /// The last attempt failed.
    Exhausted,
    /// Never sent: a scenario lost it, or the queue was full.
    Dropped,
    /// Not sent any more: the endpoint was disabled, or the world set back.
    Cancelled,
}

/// One event on its way to one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// Its place among the endpoint's deliveries, from 0.
    pub(crate) order: u64,
    pub(crate) id: String,
    pub(crate) event: Arc<Event>,
    pub(crate) status: Status,
    /// Why it ended without being delivered.
    pub(crate) reason: Option<String>,
    /// What a scenario does to it.
    pub(crate) shaped: Option<Shaping>,
    /// When it is due, on the outbox's clock; meaningless once it has ended.
    pub(crate) due: Timestamp,
    /// Whether it goes when it is due, whatever stands before it.
    pub(crate) loose: bool,
    /// How long after the first attempt a copy follows.
    pub(crate) copies: Option<(u64, i64)>,
    /// Shared by the event's deliveries until they have ended.
    pub(crate) body: Arc<OnceLock<Bytes>>,
    pub(crate) attempts: Vec<Attempt>,
}

impl Delivery {
    /// Whether nothing more will happen to it.
    pub(crate) const fn has_ended(&self) -> bool {
        !matches!(self.status, Status::Pending | Status::Failed)
    }
}

/// One try.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Virtual time.
    pub(crate) at: Timestamp,
    /// The machine's time.
    pub(crate) wall_at: Timestamp,
    /// What the receiver answered, if it did.
    pub(crate) http_status: Option<u16>,
    pub(crate) duration_ms: u64,
    /// Why there is no answer, or why it counts as a failure.
    pub(crate) error: Option<String>,
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttemptOutcome {
    pub(crate) result: Result<Answered, Unanswered>,
    pub(crate) duration_ms: u64,
}

/// What a receiver answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// `Retry-After`.
    pub(crate) retry_after_ms: Option<i64>,
    /// The beginning of its body: hostile text.
    pub(crate) text: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub(crate) error: String,
    /// Whether the time for it ran out.
    pub(crate) timed_out: bool,
}

/// A try as the clock's answer tells of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Attempted {
    /// The delivery.
    pub(crate) id: String,
    /// The event that it carries.
    pub(crate) event_id: String,
    /// The event's type.
    #[serde(rename = "type")]
    pub(crate) name: String,
    /// The endpoint it goes to.
    pub(crate) endpoint_id: String,
    /// Which attempt, from 1.
    pub(crate) attempt: u64,
    /// When, in virtual time.
    pub(crate) at: Timestamp,
    /// Where the delivery stood after it.
    pub(crate) status: Status,
    /// What the receiver answered; null if it did not.
    pub(crate) http_status: Option<u16>,
    /// Place of the event in the world's log.
    #[serde(skip)]
    pub(crate) sequence: u64,
}

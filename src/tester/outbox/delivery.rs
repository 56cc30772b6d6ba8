//! A delivery: one event for one endpoint.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::Timestamp;
use crate::world::Event;
use crate::world::script::Shaping;

/// Status of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DeliveryStatus")]
pub(crate) enum Status {
    /// Not attempted yet.
    Pending,
    /// The receiver answered 2xx.
    Delivered,
    /// The attempt failed. It waits for the next one.
    Failed,
    /// The last attempt failed.
    Exhausted,
    /// Never sent: a scenario dropped it, or the queue was full.
    Dropped,
    /// No longer sent: the endpoint was disabled, or the world was reset or restored.
    Cancelled,
}

/// A delivery: one event for one endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    /// Position among the endpoint's deliveries, from 0.
    pub(crate) order: u64,
    pub(crate) id: String,
    pub(crate) event: Arc<Event>,
    pub(crate) status: Status,
    /// Why it ended without success.
    pub(crate) reason: Option<String>,
    /// The change that a scenario makes to it.
    pub(crate) shaped: Option<Shaping>,
    /// When it is due, on the outbox's clock; undefined after its end.
    pub(crate) due: Timestamp,
    /// Whether it is sent when it is due, independent of earlier deliveries.
    pub(crate) loose: bool,
    /// The delay of a copy after the first attempt.
    pub(crate) copies: Option<(u64, i64)>,
    /// Shared by the event's deliveries until they have ended.
    pub(crate) body: Arc<OnceLock<Bytes>>,
    pub(crate) attempts: Vec<Attempt>,
}

impl Delivery {
    pub(crate) const fn has_ended(&self) -> bool {
        !matches!(self.status, Status::Pending | Status::Failed)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    /// Virtual time.
    pub(crate) at: Timestamp,
    /// The machine's clock.
    pub(crate) wall_at: Timestamp,
    /// The receiver's HTTP status, or null without an answer.
    pub(crate) http_status: Option<u16>,
    pub(crate) duration_ms: u64,
    /// Why there is no answer, or why the answer counts as a failure.
    pub(crate) error: Option<String>,
    /// The signed parts; none if nothing was sent.
    pub(crate) signed: Option<Signed>,
}

/// The parts of a sent message that differ between attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signed {
    /// `webhook-timestamp`.
    pub(crate) timestamp: i64,
    /// `webhook-signature`.
    pub(crate) signatures: String,
    /// The size of the body: less than all of it if a scenario cut it.
    pub(crate) bytes: usize,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttemptOutcome {
    pub(crate) result: Result<Answered, Unanswered>,
    /// The signed parts of the message; none if nothing was sent.
    pub(crate) signed: Option<Signed>,
    pub(crate) duration_ms: u64,
}

/// A receiver's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) retry_after_ms: Option<i64>,
    /// The start of its body. Do not trust this text.
    pub(crate) text: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub(crate) error: String,
    pub(crate) timed_out: bool,
}

/// An attempt, as returned when the clock was advanced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AttemptedDelivery")]
pub(crate) struct Attempted {
    /// The id of the delivery.
    pub(crate) id: String,
    /// The event in the delivery.
    pub(crate) event_id: String,
    /// The event's type.
    #[serde(rename = "type")]
    pub(crate) name: String,
    /// The receiving endpoint.
    pub(crate) endpoint_id: String,
    /// Number of the attempt, from 1.
    pub(crate) attempt: u64,
    /// When the attempt was made, in virtual time.
    pub(crate) at: Timestamp,
    /// Status of the delivery after the attempt.
    pub(crate) status: Status,
    /// The receiver's HTTP status; null without an answer.
    pub(crate) http_status: Option<u16>,
    /// Position of the event in the world's log.
    #[serde(skip)]
    pub(crate) sequence: u64,
}

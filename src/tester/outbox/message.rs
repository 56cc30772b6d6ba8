//! A delivery as sent: body and headers, damaged if a scenario requires it.

use bytes::Bytes;

use crate::tester::outbox::{Job, body};
use crate::tester::signature::{Secret, TOLERANCE_SECONDS};
use crate::value::{Key, Timestamp};
use crate::world::envelope::event_id;
use crate::world::script::Shaping;

/// The `User-Agent` of every delivery.
pub(crate) const AGENT: &str = concat!("sandbox/", env!("CARGO_PKG_VERSION"));
/// Age of a stale timestamp: more than any receiver accepts.
const STALE_SECONDS: i64 = 2 * TOLERANCE_SECONDS;

/// The parts of a webhook request other than the usual headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// `webhook-id`: the event's id, so it is the same for every retry.
    pub(crate) id: String,
    /// `webhook-timestamp`: the machine's clock in seconds, which a receiver compares with its own.
    pub(crate) timestamp: i64,
    /// `webhook-signature`: one signature per secret, newest first.
    pub(crate) signatures: String,
    /// `traceparent`: that of the call that caused the event, if it had one.
    pub(crate) traceparent: Option<String>,
    pub(crate) body: Bytes,
}

impl Job {
    /// The message at that wall-clock time.
    pub(crate) fn message(&self, wall: Timestamp) -> Message {
        let id = event_id(&self.event);
        let mut body = body::shared(&self.event, &self.body);
        let mut timestamp = wall.millis().div_euclid(1_000);
        if self.spoilt == Some(Shaping::StaleTimestamp) {
            timestamp -= STALE_SECONDS;
        }
        let sign = |secret: &Secret| secret.sign(&id, timestamp, &body);
        let signatures: Vec<String> = if self.spoilt == Some(Shaping::BadSignature) {
            // Well-formed, but of an unknown secret.
            let nobody = Secret::drawn(Key::new(self.event.id).with("nobody's secret"));
            vec![sign(&nobody)]
        } else {
            self.secrets.iter().map(sign).collect()
        };
        if self.spoilt == Some(Shaping::Truncate) {
            body = body.slice(..body.len() / 2);
        }
        let traceparent = self.event.trace().map(|trace| trace.to_string());
        Message { id, timestamp, signatures: signatures.join(" "), traceparent, body }
    }
}

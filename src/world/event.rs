//! The events: each sealed event has all of its changes.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::business::Company;
use crate::model::{AnyId, Kind, Record};
use crate::value::id::Id;
use crate::value::time::Timestamp;
use crate::world::decided::Decided;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    /// The position in the world's event log, from 1.
    pub(crate) sequence: u64,
    /// The virtual time.
    pub(crate) at: Timestamp,
    /// `payout.paid`.
    pub(crate) name: Cow<'static, str>,
    /// The bits of the event's id. They depend on the subject and its own number of events, not on the sequence, so an unrelated event
    /// changes no id.
    pub(crate) id: u64,
    pub(crate) subject: AnyId,
    /// The subject's company, or the value for no company.
    pub(crate) company: u64,
    /// The subject after the event.
    pub(crate) object: Record,
    /// The request that caused it; none if the clock did.
    pub(crate) request: Option<Arc<RequestRef>>,
    /// The request that set the timer, if the clock caused it.
    pub(crate) cause: Option<Arc<RequestRef>>,
    /// The decision of the outside world that led to it, if there was one.
    pub(crate) decision: Option<Arc<Decided>>,
    /// All changes, in order.
    pub(crate) changes: Vec<Change>,
}

impl Event {
    /// The subject's company, if it has one.
    pub(crate) fn company_id(&self) -> Option<Id<Company>> {
        Some(Id::from_bits(self.company)).filter(|id| *id != Id::UNKNOWN)
    }
}

/// The request that caused an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestRef {
    /// `Request-Id` of the reply.
    pub(crate) id: String,
    pub(crate) operation: Cow<'static, str>,
    /// The caller's `Idempotency-Key`.
    pub(crate) idempotency_key: Option<String>,
}

/// One changed record, with its state before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    pub(crate) before: Option<Record>,
    pub(crate) after: Record,
}

impl Change {
    /// The changed members with their old and new values; for a new record, nothing and the whole record.
    pub(crate) fn differing(&self) -> (Option<Map<String, Value>>, Map<String, Value>) {
        let mut after = members(&self.after);
        let Some(mut before) = self.before.as_ref().map(members) else { return (None, after) };
        let same: Vec<String> = before
            .iter()
            .filter(|(name, value)| after.get(*name) == Some(*value))
            .map(|(name, _)| name.clone())
            .collect();
        before.retain(|name, _| !same.contains(name));
        after.retain(|name, _| !same.contains(name));
        (Some(before), after)
    }
}

/// A resource's members in the form that callers see.
pub(crate) fn members(record: &Record) -> Map<String, Value> {
    match record.to_wire() {
        Value::Object(members) => members,
        other => unreachable!("a resource must be a JSON object, not {other}"),
    }
}

//! The log: one sealed event for each thing that happened, with every change it made.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::business::Company;
use crate::model::{AnyId, Kind, Record};
use crate::value::{Id, Timestamp};
use crate::world::Decided;

/// Something that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    /// Place in the world's log, from 1.
    pub(crate) sequence: u64,
    /// When, in virtual time.
    pub(crate) at: Timestamp,
    /// `payout.paid`.
    pub(crate) name: Cow<'static, str>,
    /// The bits of the event's id: derived from the subject and its own count of events, not from the sequence, so
    /// that an unrelated event shifts no id.
    pub(crate) id: u64,
    /// What it happened to.
    pub(crate) subject: AnyId,
    /// The subject's company; that of no company where it has none.
    pub(crate) company: u64,
    /// The subject as it was left.
    pub(crate) object: Record,
    /// The request behind it; none where the clock did it.
    pub(crate) request: Option<Arc<RequestRef>>,
    /// The request that set the clock's timer, where the clock did it.
    pub(crate) cause: Option<Arc<RequestRef>>,
    /// What the outside world decided just before, if it was asked.
    pub(crate) decision: Option<Arc<Decided>>,
    /// Everything that changed, in order.
    pub(crate) changes: Vec<Change>,
}

impl Event {
    /// The subject's company, where it has one.
    pub(crate) fn company_id(&self) -> Option<Id<Company>> {
        Some(Id::from_bits(self.company)).filter(|id| *id != Id::UNKNOWN)
    }
}

/// The request behind an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestRef {
    /// `Request-Id` of the reply.
    pub(crate) id: String,
    /// What was called.
    pub(crate) operation: Cow<'static, str>,
    /// The caller's `Idempotency-Key`.
    pub(crate) idempotency_key: Option<String>,
}

/// One record written, with what stood there before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) kind: Kind,
    pub(crate) before: Option<Record>,
    pub(crate) after: Record,
}

impl Change {
    /// The members that it changed, as they were and as they are since; nothing and the whole record where it is new.
    pub(crate) fn differing(&self) -> (Option<Map<String, Value>>, Map<String, Value>) {
        let mut after = members(&self.after);
        let Some(mut before) = self.before.as_ref().map(members) else {
            return (None, after);
        };
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

/// A resource's members, as callers see them.
pub(crate) fn members(record: &Record) -> Map<String, Value> {
    match record.to_wire() {
        Value::Object(members) => members,
        other => unreachable!("a resource is an object on the wire, and not {other}"),
    }
}

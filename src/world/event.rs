//! The events: each sealed event has all of its changes.

use std::sync::Arc;

use serde::ser::{Error as _, SerializeMap, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::model::business::Company;
use crate::model::{AnyId, Kind, Record};
use crate::value::TraceParent;
use crate::value::id::{Id, Prefixed};
use crate::value::interned::Interned;
use crate::value::time::Timestamp;
use crate::world::decided::Decided;

/// An event. The log keeps every one, so what follows from the subject is not stored, and what few events have is boxed.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "WrittenEvent")]
pub(crate) struct Event {
    /// The position in the world's event log, from 1.
    pub(crate) sequence: u64,
    /// The virtual time.
    pub(crate) at: Timestamp,
    /// `payout.paid`.
    pub(crate) name: Interned,
    /// The bits of the event's id. They depend on the subject and its own number of events, not on the sequence, so an unrelated event
    /// changes no id.
    pub(crate) id: u64,
    /// The subject after the event.
    pub(crate) object: Record,
    /// The request that caused it; none if the clock did.
    pub(crate) request: Option<Arc<RequestRef>>,
    /// The request that set the timer, if the clock caused it.
    pub(crate) cause: Option<Arc<RequestRef>>,
    /// The decision of the outside world that led to it, if there was one.
    pub(crate) decision: Option<Arc<Decided>>,
    pub(super) changes: Changes,
}

/// The serialised form of an event, apart from members that follow from the subject.
#[derive(Deserialize)]
struct WrittenEvent {
    sequence: u64,
    at: Timestamp,
    name: Interned,
    id: u64,
    object: Record,
    #[serde(default)]
    before: Option<Record>,
    request: Option<Arc<RequestRef>>,
    cause: Option<Arc<RequestRef>>,
    decision: Option<Arc<Decided>>,
    changes: Vec<Change>,
}

impl From<WrittenEvent> for Event {
    fn from(written: WrittenEvent) -> Self {
        let WrittenEvent { sequence, at, name, id, object, .. } = written;
        let WrittenEvent { request, cause, decision, before, changes, .. } = written;
        let changes = Changes::All(changes.into()).after(before);
        Self { sequence, at, name, id, object, request, cause, decision, changes }
    }
}

/// The changes of an event. Most events have only the change of their subject; its new state is the event's object.
#[derive(Clone, Debug)]
pub(super) enum Changes {
    /// Only the change of the subject, with its previous state.
    OfSubject(Option<Record>),
    All(Box<[Change]>),
    /// Without the change of the subject, which follows from the journal or from an earlier event: its previous state
    /// and all changes. No hash of the world contains that state.
    OfOthers(Box<(Record, Box<[Change]>)>),
}

impl Event {
    /// All changes, in order.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Changed<'_>> {
        let (own, all) = match &self.changes {
            Changes::OfSubject(before) => (Some(before.as_ref()), &[][..]),
            Changes::All(changes) => (None, &changes[..]),
            Changes::OfOthers(of) => (None, &of.1[..]),
        };
        let own = own.map(|before| Changed { before, after: &self.object });
        own.into_iter().chain(all.iter().map(Changed::of))
    }

    /// The subject's id.
    pub(crate) fn subject(&self) -> AnyId {
        self.object.any_id()
    }

    /// The subject's company, or the value for no company.
    pub(crate) fn company(&self) -> Id<Company> {
        self.object.company()
    }

    /// The subject's company, if it has one.
    pub(crate) fn company_id(&self) -> Option<Id<Company>> {
        Some(self.company()).filter(|id| *id != Id::UNKNOWN)
    }

    /// The request that caused it, directly or by a timer; none if no request did.
    pub(crate) fn origin(&self) -> Option<&RequestRef> {
        self.request.as_deref().or(self.cause.as_deref())
    }

    /// The trace of that request, if it had one.
    pub(crate) fn trace(&self) -> Option<TraceParent> {
        self.origin()?.trace.as_deref().copied()
    }

    /// Whether a change is of the subject.
    pub(crate) fn is_of_subject(&self, change: Changed<'_>) -> bool {
        change.id() == self.subject()
    }

    /// The subject before the event; nothing if it is new.
    pub(crate) fn subject_before(&self) -> Option<&Record> {
        let change = self.changes().find(|change| self.is_of_subject(*change));
        change.map_or_else(|| self.earlier(), |change| change.before)
    }

    /// The subject before the event, if its change is not among the changes.
    fn earlier(&self) -> Option<&Record> {
        match &self.changes {
            Changes::OfOthers(of) => Some(&of.0),
            _ => None,
        }
    }
}

/// The request that caused an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestRef {
    /// `Request-Id` of the reply.
    pub(crate) id: Id<Self>,
    pub(crate) operation: Interned,
    /// The caller's `Idempotency-Key`.
    pub(crate) idempotency_key: Option<Box<str>>,
    /// The caller's trace. It is not part of the world: two worlds that differ only in it have the same digest.
    #[serde(skip)]
    pub(crate) trace: Option<Box<TraceParent>>,
}

impl Prefixed for RequestRef {
    const PREFIX: &'static str = Kind::Request.prefix();
    const NAME: &'static str = Kind::Request.name();
}

impl Serialize for Event {
    /// With all changes in full.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { sequence, at, name, id, object, .. } = self;
        let Self { request, cause, decision, changes: _, .. } = self;
        let mut members = serializer.serialize_struct("Event", 12)?;
        members.serialize_field("sequence", sequence)?;
        members.serialize_field("at", at)?;
        members.serialize_field("name", name)?;
        members.serialize_field("id", id)?;
        members.serialize_field("subject", &self.subject())?;
        members.serialize_field("company", &self.company().bits())?;
        members.serialize_field("object", object)?;
        if let Some(before) = self.earlier() {
            members.serialize_field("before", before)?;
        }
        members.serialize_field("request", request)?;
        members.serialize_field("cause", cause)?;
        members.serialize_field("decision", decision)?;
        members.serialize_field("changes", &self.changes().collect::<Vec<_>>())?;
        members.end()
    }
}

/// One changed record, with its state before.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Change {
    pub(super) before: Option<Record>,
    pub(super) after: Record,
}

impl Changes {
    /// The same, with the previous state of a subject whose change is not among them.
    pub(super) fn after(self, before: Option<Record>) -> Self {
        match (self, before) {
            (Self::All(changes), Some(before)) => Self::OfOthers(Box::new((before, changes))),
            (changes, _) => changes,
        }
    }

    /// The staged changes, for the event about this object.
    pub(super) fn of(staged: &mut Vec<Change>, object: &Record) -> Self {
        match &mut staged[..] {
            [only] if only.after.is(object) => {
                let before = only.before.take();
                staged.clear();
                Self::OfSubject(before)
            }
            // Every event keeps its list, so the list gets its exact size.
            _ => Self::All(staged.drain(..).collect()),
        }
    }
}

/// A record that an event changed.
#[derive(Clone, Copy)]
pub(crate) struct Changed<'a> {
    pub(crate) before: Option<&'a Record>,
    pub(crate) after: &'a Record,
}

impl Serialize for Changed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("Change", 3)?;
        members.serialize_field("kind", &self.kind())?;
        members.serialize_field("before", &self.before)?;
        members.serialize_field("after", &self.after)?;
        members.end()
    }
}

impl<'a> Changed<'a> {
    const fn of(change: &'a Change) -> Self {
        Self { before: change.before.as_ref(), after: &change.after }
    }

    pub(crate) fn kind(self) -> Kind {
        self.after.kind()
    }

    pub(crate) fn id(self) -> AnyId {
        self.after.any_id()
    }

    /// The changed members: their old and their new values. For a new record, `None` and the whole record.
    pub(crate) fn differing(self) -> (Option<Map<String, Value>>, Map<String, Value>) {
        let Some(before) = self.before else { return (None, members(self.after)) };
        let (before, after) = differing(before, self.after);
        (Some(before), after)
    }
}

/// The members that differ between two states of a resource, with their old and new values.
///
/// Only differing members are parsed; equality is tested on the text.
pub(crate) fn differing(
    before: &Record,
    after: &Record,
) -> (Map<String, Value>, Map<String, Value>) {
    let (before, after) = (before.to_members(), after.to_members());
    (read(before.without(&after)), read(after.without(&before)))
}

fn read<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let read = |(name, value)| Ok((serde_json::from_str(name)?, serde_json::from_str(value)?));
    let members: serde_json::Result<_> = members.map(read).collect();
    members.expect("it was just written")
}

/// The old values of the members that an event changed, written when they are needed.
pub(crate) struct Previous(pub(crate) Arc<Event>);

impl Serialize for Previous {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(before) = self.0.subject_before() {
            let (before, after) = (before.to_members(), self.0.object.to_members());
            for (name, value) in before.without(&after) {
                let name: &str = serde_json::from_str(name).map_err(S::Error::custom)?;
                let value: &RawValue = serde_json::from_str(value).map_err(S::Error::custom)?;
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

/// A resource's members in the form that callers see.
pub(crate) fn members(record: &Record) -> Map<String, Value> {
    match record.to_wire() {
        Value::Object(members) => members,
        other => unreachable!("a resource must be a JSON object, not {other}"),
    }
}

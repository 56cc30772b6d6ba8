//! Who did what, when, to which resource: one audit record for each event of the log, chained by hashes.
//!
//! Deliberately absent: anything that is kept. A record is made from its event when somebody asks for it, and so is its hash;
//! hashes once reckoned are remembered by the log's [`Chain`].

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::model::business::Company;
use crate::model::{AnyId, Kind};
use crate::value::id::encode_to_string;
use crate::value::text::camel_case;
use crate::value::{Id, Prefixed, Timestamp};
use crate::world::envelope::event_id;
use crate::world::event::members;
use crate::world::{Change, Event};

/// One thing that happened: who did what, when, to which resource.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditLog")]
pub(crate) struct AuditRow {
    /// The record's id: `aud_` and the code of its event.
    id: String,
    /// Always `audit_log`.
    #[schemars(extend("const" = "audit_log"))]
    object: &'static str,
    /// Its place in the log, from 1.
    sequence: u64,
    /// When, in virtual time.
    at: Timestamp,
    /// The company it happened to; null where it is nobody's: a subject without one.
    company_id: Option<Id<Company>>,
    /// Who did it.
    actor: Actor,
    /// The operationId of the call, or of the call that set the clock's timer; null where nobody called.
    operation: Option<String>,
    /// The event: `payout.paid`.
    event: String,
    /// Its id, as in webhooks.
    event_id: String,
    /// What it happened to.
    resource: AnyId,
    /// Members of the resource that changed; empty where it is new, or where only what belongs to it changed.
    changed_fields: Vec<String>,
}

/// Who did something.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditActor")]
struct Actor {
    /// Somebody with the key, or the clock.
    #[serde(rename = "type")]
    kind: ActorType,
    /// `Request-Id` of the call; of what the clock did, that of the call that set its timer.
    request_id: Option<String>,
    /// The call's `Idempotency-Key`.
    idempotency_key: Option<String>,
}

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActorType {
    Caller,
    Clock,
}

/// A record with what it changed, and its place in the chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditLogDetail")]
pub(crate) struct AuditRecord {
    #[serde(flatten)]
    row: AuditRow,
    /// The resource as it was; null where it is new, or was not itself written.
    before: Option<Map<String, Value>>,
    /// The resource as it was left.
    after: Map<String, Value>,
    /// Everything else that was written with it, in order.
    changes: Vec<Written>,
    /// `hash` of the record before this one; 64 zeros for the first of all. Where older records were dropped, the oldest that is
    /// kept still names the hash of the one before it.
    previous_hash: String,
    /// SHA-256 in hexadecimal digits of this record without `hash`: its JSON in UTF-8, without white space, members sorted by
    /// name at every level.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    hash: Option<String>,
}

/// Another resource that was written with it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditChange")]
struct Written {
    /// What was written.
    resource: AnyId,
    /// The members that changed, as they were; null where it is new.
    before: Option<Map<String, Value>>,
    /// The same members as they are since; the whole resource where it is new.
    after: Map<String, Value>,
}

impl Prefixed for AuditRecord {
    const PREFIX: &'static str = Kind::AuditLog.prefix();
    const NAME: &'static str = Kind::AuditLog.name();
}

impl AuditRecord {
    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.row.id
    }
}

impl AuditRow {
    /// The record of an event, without what it changed.
    pub(crate) fn of(event: &Event) -> Self {
        let before = subject_before(event);
        let after = members(&event.object);
        Self::between(event, before.as_ref(), &after)
    }

    fn between(
        event: &Event,
        before: Option<&Map<String, Value>>,
        after: &Map<String, Value>,
    ) -> Self {
        let cause = event.request.as_ref().or(event.cause.as_ref());
        let changed = |before: &Map<String, Value>| {
            let names = after.keys().chain(before.keys());
            let mut names: Vec<String> =
                names.filter(|name| before.get(*name) != after.get(*name)).cloned().collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        Self {
            id: audit_id(event),
            object: Kind::AuditLog.name(),
            sequence: event.sequence,
            at: event.at,
            company_id: event.company_id(),
            actor: Actor {
                kind: if event.request.is_some() { ActorType::Caller } else { ActorType::Clock },
                request_id: cause.map(|request| request.id.clone()),
                idempotency_key: cause.and_then(|request| request.idempotency_key.clone()),
            },
            operation: cause.map(|request| camel_case(&request.operation)),
            event: event.name.to_string(),
            event_id: event_id(event),
            resource: event.subject,
            changed_fields: before.map(changed).unwrap_or_default(),
        }
    }
}

/// The id of an event's record.
fn audit_id(event: &Event) -> String {
    format!("{}_{}", Kind::AuditLog.prefix(), encode_to_string(event.id))
}

/// The whole record of an event that follows a record with that hash.
pub(crate) fn record(event: &Event, previous: Hash, hash: Option<Hash>) -> AuditRecord {
    let before = subject_before(event);
    let after = members(&event.object);
    let is_subject = |change: &&Change| {
        change.kind == event.subject.kind && change.after.bits() == event.subject.bits
    };
    AuditRecord {
        row: AuditRow::between(event, before.as_ref(), &after),
        before,
        after,
        changes: event.changes.iter().filter(|change| !is_subject(change)).map(written).collect(),
        previous_hash: hex(previous),
        hash: hash.map(hex),
    }
}

/// The subject as it stood before the event wrote it.
fn subject_before(event: &Event) -> Option<Map<String, Value>> {
    let change = event.changes.iter().find(|change| {
        change.kind == event.subject.kind && change.after.bits() == event.subject.bits
    })?;
    change.before.as_ref().map(members)
}

fn written(change: &Change) -> Written {
    let resource = AnyId { kind: change.kind, bits: change.after.bits() };
    let (before, after) = change.differing();
    Written { resource, before, after }
}

/// SHA-256 of a record.
pub(crate) type Hash = [u8; 32];

/// What the first record of all follows.
const NOTHING_BEFORE: Hash = [0; 32];

fn hash_of(event: &Event, previous: Hash) -> Hash {
    let record = serde_json::to_value(record(event, previous, None)).expect("a record serialises");
    let mut sink = Sink(Sha256::new());
    write_canonical(&record, &mut sink).expect("the hash takes every byte");
    sink.0.finalize().into()
}

fn hex(hash: Hash) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = hash
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]));
    digits.collect()
}

/// JSON without white space, members sorted by name at every level.
fn write_canonical(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Array(items) => {
            out.write_all(b"[")?;
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.write_all(b",")?;
                }
                write_canonical(item, out)?;
            }
            out.write_all(b"]")
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            out.write_all(b"{")?;
            for (place, (name, member)) in sorted.into_iter().enumerate() {
                if place > 0 {
                    out.write_all(b",")?;
                }
                serde_json::to_writer(&mut *out, name)?;
                out.write_all(b":")?;
                write_canonical(member, out)?;
            }
            out.write_all(b"}")
        }
        plain => Ok(serde_json::to_writer(out, plain)?),
    }
}

struct Sink(Sha256);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hashes of a log's events, reckoned when somebody asks for one: a world whose audit log nobody reads pays nothing for it, and
/// a log that is read is hashed once. An event that is dropped leaves its hash behind, so that the chain goes on.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// Of the last event that was dropped.
    dropped: Option<Hash>,
    /// Of the oldest events that are kept, in order.
    known: Mutex<Vector<Hash>>,
}

impl Clone for Chain {
    fn clone(&self) -> Self {
        Self { dropped: self.dropped, known: Mutex::new(self.known().clone()) }
    }
}

impl Chain {
    /// Hashes of the event at that place of those kept, and of the one before it.
    pub(crate) fn at(&self, events: &Vector<Arc<Event>>, place: usize) -> (Hash, Hash) {
        let mut known = self.known();
        let first = self.dropped.unwrap_or(NOTHING_BEFORE);
        let missing = events.iter().skip(known.len());
        for event in missing.take((place + 1).saturating_sub(known.len())) {
            let previous = known.last().copied().unwrap_or(first);
            known.push_back(hash_of(event, previous));
        }
        let previous = place.checked_sub(1).map_or(first, |before| known[before]);
        (previous, known[place])
    }

    /// The oldest event goes.
    pub(crate) fn drop_first(&mut self, event: &Event) {
        let previous = self.dropped.unwrap_or(NOTHING_BEFORE);
        let known = self.known().pop_front();
        self.dropped = Some(known.unwrap_or_else(|| hash_of(event, previous)));
    }

    /// Events beyond so many were taken back.
    pub(crate) fn truncate(&mut self, events: usize) {
        self.known().truncate(events);
    }

    /// A panic while the lock was held cannot have left half a hash behind it.
    fn known(&self) -> MutexGuard<'_, Vector<Hash>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_json_has_sorted_members_and_no_white_space() {
        let value = json!({"b": [1, {"z": null, "a": "é\n"}], "a": {"y": true, "x": -5}});
        let mut bytes = Vec::new();
        write_canonical(&value, &mut bytes).expect("a vector takes every byte");
        let expected = r#"{"a":{"x":-5,"y":true},"b":[1,{"a":"é\n","z":null}]}"#;
        assert_eq!(String::from_utf8(bytes).expect("UTF-8"), expected);
    }

    #[test]
    fn hashes_are_written_in_hexadecimal_digits() {
        let mut hash = NOTHING_BEFORE;
        (hash[0], hash[31]) = (0xa5, 0x0f);
        assert_eq!(hex(hash), format!("a5{}0f", "00".repeat(30)));
    }
}

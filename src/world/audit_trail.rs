//! The audit log: one record for each event, with actor, operation, time and resource, chained by hashes.
//!
//! Deliberately absent: stored records. A record and its hash are calculated when a call reads them. The
//! log's [`Chain`] stores calculated hashes.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use imbl::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::model::business::Company;
use crate::model::{AnyId, Kind, Record};
use crate::value::id::encode_to_string;
use crate::value::text::camel_case;
use crate::value::{Id, Prefixed, Timestamp};
use crate::world::envelope::event_id;
use crate::world::event::{differing, members};
use crate::world::{Changed, Event, RequestRef};

/// An audit record: who did what to which resource, and when.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditLog")]
pub(crate) struct AuditRow {
    /// The record's id: `aud_` and the code of its event's id.
    id: String,
    /// Always `audit_log`.
    #[schemars(extend("const" = "audit_log"))]
    object: &'static str,
    /// The position in the log, from 1.
    sequence: u64,
    /// When the event happened, in virtual time.
    at: Timestamp,
    /// The company of the resource; null if it belongs to no company.
    company_id: Option<Id<Company>>,
    /// Who caused the event: a caller or the clock.
    actor: Actor,
    /// The operationId of the call, or of the call that set the timer; null if there was no call.
    operation: Option<String>,
    /// The type of the event, such as `payout.paid`.
    event: String,
    /// The event's id, as in webhooks.
    event_id: String,
    /// The type and the id of the resource that the event is about.
    resource: AnyId,
    /// The members of the resource that changed; empty for a new resource, or if only a related resource
    /// changed.
    changed_fields: Vec<String>,
}

/// Who caused the event.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditActor")]
struct Actor {
    /// `caller`: a call with the API key. `clock`: a timer.
    #[serde(rename = "type")]
    kind: ActorType,
    /// `Request-Id` of the call; for the clock, of the call that set the timer.
    #[schemars(with = "Option<String>")]
    request_id: Option<Id<RequestRef>>,
    /// The call's `Idempotency-Key`.
    idempotency_key: Option<Box<str>>,
}

/// Who caused the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActorType {
    Caller,
    Clock,
}

/// A record with its changes and its position in the chain.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditLogDetail")]
pub(crate) struct AuditRecord {
    #[serde(flatten)]
    row: AuditRow,
    /// The resource before the event; null if it is new, or was not changed itself.
    before: Option<Map<String, Value>>,
    /// The resource after the event.
    after: Map<String, Value>,
    /// All other resources that changed with it, in order.
    changes: Vec<Written>,
    /// `hash` of the previous record; 64 zeros for the first record of the world. If older records were dropped, the oldest stored record still has
    /// the hash of the dropped record before it.
    previous_hash: String,
    /// SHA-256 in hexadecimal digits of this record without `hash`: its JSON in UTF-8, without white space,
    /// with members sorted by name at every level.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    hash: Option<String>,
}

/// Another resource that changed with it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditChange")]
struct Written {
    /// The kind of resource.
    resource: AnyId,
    /// The old values of the members that changed; null for a new resource.
    before: Option<Map<String, Value>>,
    /// The new values of the same members; the whole resource if it is new.
    after: Map<String, Value>,
}

impl Prefixed for AuditRecord {
    const PREFIX: &'static str = Kind::AuditLog.prefix();
    const NAME: &'static str = Kind::AuditLog.name();
}

impl AuditRecord {
    pub(crate) fn id(&self) -> &str {
        &self.row.id
    }
}

impl AuditRow {
    /// The record of an event, without its changes.
    pub(crate) fn of(event: &Event) -> Self {
        let cause = event.request.as_ref().or(event.cause.as_ref());
        let changed = |before: &Record| {
            let (before, after) = differing(before, &event.object);
            let mut names: Vec<String> =
                before.into_iter().chain(after).map(|(name, _)| name).collect();
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
                request_id: cause.map(|request| request.id),
                idempotency_key: cause.and_then(|request| request.idempotency_key.clone()),
            },
            operation: cause.map(|request| camel_case(&request.operation)),
            event: event.name.to_string(),
            event_id: event_id(event),
            resource: event.subject(),
            changed_fields: event.subject_before().map(changed).unwrap_or_default(),
        }
    }
}

/// The id of an event's record.
fn audit_id(event: &Event) -> String {
    format!("{}_{}", Kind::AuditLog.prefix(), encode_to_string(event.id))
}

/// The complete record of an event after a record with this hash.
pub(crate) fn record(event: &Event, previous: Hash, hash: Option<Hash>) -> AuditRecord {
    let of_others = event.changes().filter(|change| !event.is_of_subject(*change));
    AuditRecord {
        row: AuditRow::of(event),
        before: event.subject_before().map(members),
        after: members(&event.object),
        changes: of_others.map(written).collect(),
        previous_hash: hex(previous),
        hash: hash.map(hex),
    }
}

fn written(change: Changed<'_>) -> Written {
    let (before, after) = change.differing();
    Written { resource: change.id(), before, after }
}

/// SHA-256 of a record.
pub(crate) type Hash = [u8; 32];

/// The hash before the first record.
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

/// JSON without white space, with members sorted by name at every level.
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

/// The hashes of a log's events, calculated when a call reads one. A world whose audit log is never read pays
/// nothing, and a log is hashed only once. A dropped event
/// leaves its hash, so that the chain continues.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The hash of the last dropped event.
    dropped: Option<Hash>,
    /// The hashes of the oldest stored events, in order.
    known: Mutex<Vector<Hash>>,
}

impl Clone for Chain {
    fn clone(&self) -> Self {
        Self { dropped: self.dropped, known: Mutex::new(self.known().clone()) }
    }
}

impl Chain {
    /// The hashes after that of the last dropped event.
    pub(crate) fn after(dropped: Option<Hash>) -> Self {
        Self { dropped, ..Self::default() }
    }

    /// The hash of the last dropped event.
    pub(crate) const fn dropped(&self) -> Option<Hash> {
        self.dropped
    }

    /// The hashes of the event at this position of the stored ones, and of the one before it.
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

    /// Drops the oldest event.
    pub(crate) fn drop_first(&mut self, event: &Event) {
        let previous = self.dropped.unwrap_or(NOTHING_BEFORE);
        let known = self.known().pop_front();
        self.dropped = Some(known.unwrap_or_else(|| hash_of(event, previous)));
    }

    /// Removes the hashes of events that were undone.
    pub(crate) fn truncate(&mut self, events: usize) {
        self.known().truncate(events);
    }

    /// A panic under the lock cannot leave an incomplete hash.
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

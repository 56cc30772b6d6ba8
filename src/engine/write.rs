//! The steps of a write: idempotency, shape, precondition, the step itself, its reply.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use http::header::IF_MATCH;
use http::{HeaderValue, Response};
use serde_json::Value;

use crate::api::host::{Host, Session};
use crate::api::operation::{Call, Method, Operation};
use crate::api::reply::Reply;
use crate::api::system;
use crate::engine::created;
use crate::engine::fork::Forking;
use crate::engine::headers::{SANDBOX_TIME, list, show_waiting, trace_of};
use crate::engine::idempotency::{self, IdempotencyKey, Seen};
use crate::engine::lazy_body::LazyBody;
use crate::engine::outcomes::{self, SANDBOX_DECISION};
use crate::engine::quota::is_repeated;
use crate::engine::recording::{self, Before, Note, Tape};
use crate::engine::request::{Prepared, Request, advance_key, etag, is_advance, request_id};
use crate::engine::slot::Slot;
use crate::engine::{export, problem};
use crate::value::{ApiError, ErrorCode, Id, Key, Timestamp};
use crate::world::{RequestRef, World};

pub(super) fn write(request: &Request<'_>, slot: &Arc<Slot>, host: Forking<'_>) -> Response<Bytes> {
    // Work without the world is done before its lock is taken, and the body of the reply is written after it is released.
    let prepared = request.prepared.take().unwrap_or_else(|| request.prepare());
    let mut held = slot.world_mut();
    let world = &mut *held;
    request.trace.now.set(Some(world.now()));
    let mut response = match prepared.and_then(|prepared| Ready::of(request, prepared, world, slot))
    {
        Err(error) => refused(request, slot, world, &error).map(LazyBody::from),
        Ok(Ready::Replay(response)) => response,
        Ok(Ready::Run { running, input }) => {
            let ran = run(request, slot, &host, world, (running.key(), input));
            if ran.performed.is_ok() {
                host.open(slot.tape.as_ref().and_then(Tape::ticket).as_ref());
            }
            slot.deliver_events(world);
            ran.end(request, running)
        }
    };
    if request.route.operation.method != Method::Get {
        show_waiting(world, &mut response);
    }
    // The reply waits only for its own input, and not for that of the next request.
    recording::hold(slot.tape.as_ref(), &mut response);
    drop(held);
    if matches!(request.route.operation.call, Call::Write(_)) {
        drop(request.turn.take()); // the next request may begin
    }
    response.map(LazyBody::into_bytes)
}

/// Repeats a recorded request. Returns its refusal. A reply is made only to be stored under an idempotency key.
pub(super) fn replay(
    request: &Request<'_>,
    prepared: Result<Prepared, ApiError>,
    slot: &Arc<Slot>,
    host: &dyn Host,
) -> Option<ApiError> {
    let mut held = slot.world_mut();
    let world = &mut *held;
    match prepared.and_then(|prepared| Ready::of(request, prepared, world, slot)) {
        Err(error) => Some(error),
        Ok(Ready::Replay(_)) => None,
        Ok(Ready::Run { running, input }) => {
            let ran = run(request, slot, host, world, (running.key(), input));
            slot.collect_events(world);
            drop(held);
            let refusal = ran.performed.as_ref().err().cloned();
            if running.key().is_some() {
                ran.end(request, running);
            }
            refusal
        }
    }
}

/// Refuses a request that could not be stored now. A stored answer is returned again, because a replay stores nothing. The answers of a
/// lost world are not returned: the request of such an answer may not be stored.
pub(super) fn can_store(request: &Request<'_>, slot: &Slot) -> Result<(), ApiError> {
    match &slot.tape {
        Some(tape) if recording::is_stored(request.route.operation) => {
            tape.accepts().or_else(|error| {
                let repeats = !tape.is_lost() && is_repeated(request, slot);
                if repeats { Ok(()) } else { Err(error) }
            })
        }
        _ => Ok(()),
    }
}

/// A request that was executed.
struct Ran {
    performed: Result<Reply, ApiError>,
    /// The reply to a refusal. It shows the state at its acceptance, not the later effects.
    refusal: Option<Response<Bytes>>,
    id: HeaderValue,
    time: HeaderValue,
    now: Timestamp,
    decided: Option<HeaderValue>,
}

impl Ran {
    /// The reply, which is also stored under the key of the request.
    fn end(self, request: &Request<'_>, running: Running<'_>) -> Response<LazyBody> {
        let mut response = match (self.performed, self.refusal) {
            (Ok(reply), _) => created::reply(request, reply, &self.id, self.time),
            (Err(_), refusal) => refusal.expect("made of the error").map(LazyBody::from),
        };
        if let Some(header) = self.decided {
            response.headers_mut().insert(SANDBOX_DECISION, header);
        }
        running.store_reply(request, &response, self.now);
        response
    }
}

/// The reply to a refusal, with the time of the world.
pub(super) fn refused(
    request: &Request<'_>,
    slot: &Slot,
    world: &World,
    error: &ApiError,
) -> Response<Bytes> {
    let mut response = problem::reply(error, &request.refused_id(world));
    response.headers_mut().insert(SANDBOX_TIME, slot.memory().time_header(world.now()));
    response
}

/// Executes a request and the work that is due after it, and records both.
fn run(
    request: &Request<'_>,
    slot: &Arc<Slot>,
    host: &dyn Host,
    world: &mut World,
    (key, input): (Option<&IdempotencyKey>, Value),
) -> Ran {
    let row = request.route.operation;
    let decided = outcomes::count(world);
    let write_key = write_key(request, world, slot);
    let mut id = request_id(write_key);
    let origin = RequestRef {
        id: Id::from_bits(write_key.hash()),
        operation: row.name.into(),
        idempotency_key: key.map(IdempotencyKey::text),
        trace: None,
    };
    let before = Before::of(world);
    let (logged, version) = (world.log_length(), world.version());
    world.follow_trace(trace_of(request.own));
    let performed = guard(world, |world| {
        if let Call::Tester(call) = row.call {
            let tester = &mut *slot.tester();
            let done = export::of_tester(request, input, |input| {
                call(&mut Session { world: &mut *world, tester: &mut *tester, host }, input)
            });
            slot.rearm(tester);
            return done;
        }
        system::perform(world, row, Arc::new(origin), request.outcomes.to_vec(), input)
    });
    world.follow_trace(None);
    if is_numbered_by_events(row) && performed.is_ok() && world.version() == version {
        id = request.id_by_state("unchanged", world);
    }
    if performed.is_err() && is_numbered(row) {
        slot.memory().uncount_tester_call();
    }
    slot.changed(world);
    request.trace.caused(logged, world);
    let (time, now) = (slot.memory().time_header(world.now()), world.now());
    let refusal = performed.as_ref().err().map(|error| refused(request, slot, world, error));
    // A request that is not recorded changes nothing. The next recorded request runs the due timers.
    let is_recorded = recording::is_stored(row) && !recording::is_beside(row);
    if is_recorded && settle(world) {
        slot.changed(world);
    }
    let decided = outcomes::header(&outcomes::since(world, decided));
    if matches!(row.call, Call::Tester(_)) {
        slot.tester_used();
    }
    let status = refusal.as_ref().map_or_else(|| created::success(request), Response::status);
    if recording::is_input(request, before, world, status) {
        let tester = &mut *slot.tester();
        let input = recording::shared(request, tester.inputs.len());
        tester.keep_input(world, before.at(), input);
    }
    if let Some(tape) = &slot.tape {
        slot.note_starts();
        tape.wrote(request, before, world, (status, &id));
        if recording::deletes_world(row) && performed.is_ok() {
            // A worker may not note the progress of a delivery after the deletion.
            let _tester = slot.tester();
            tape.removed();
        }
        if recording::changes_endpoints(row) && performed.is_ok() {
            tape.note(Note::Endpoints(slot.tester().outbox.kept()));
        }
    }
    Ran { performed, refusal, id, time, now, decided }
}

/// Whether a row is a recorded call to the tester.
fn is_numbered(row: &Operation) -> bool {
    matches!(row.call, Call::Tester(_)) && row.method != Method::Get && !recording::is_beside(row)
}

/// Whether the events before a call determine its id. An advance of the clock has an id by the time before it.
fn is_numbered_by_events(row: &Operation) -> bool {
    !matches!(row.call, Call::Tester(_)) && !is_advance(row)
}

/// The key of the id of a reply to a possible change. A call to the tester leaves no event, so it has its own numbers. A
/// call that only reads, or is not
/// recorded, shifts no number of the recorded ones. A write that changes nothing gets another id after it has run, because the next
/// write has the same position in the log.
fn write_key(request: &Request<'_>, world: &World, slot: &Slot) -> Key {
    let (row, key) = (request.route.operation, world.base().key());
    match row.call {
        Call::Tester(_) if row.method == Method::Get => {
            key.with("looked").at(world.version()).with(request.target())
        }
        Call::Tester(_) if recording::is_beside(row) => {
            key.with("beside").at(slot.memory().next_call_beside())
        }
        Call::Tester(_) => key.with("desk").at(slot.memory().next_tester_call()),
        _ if is_advance(row) => advance_key(world.base(), world.log().len(), world.now()),
        _ => key.with("write").at(world.log().len()),
    }
}

/// Runs the due work of an instant world after the request. Returns whether there was any.
pub(super) fn settle(world: &mut World) -> bool {
    let before = world.version();
    let settled = guard(world, |world| {
        system::settle(world);
        Ok(())
    });
    settled.ok(); // a panic was already logged; the request remains accepted
    world.version() != before
}

/// A write that is being executed.
enum Ready<'a> {
    /// The key already has an answer.
    Replay(Response<LazyBody>),
    Run {
        running: Running<'a>,
        input: Value,
    },
}

impl<'a> Ready<'a> {
    /// An error is a refusal before execution: it is not stored under its key.
    fn of(
        request: &Request<'_>,
        prepared: Prepared,
        world: &World,
        slot: &'a Slot,
    ) -> Result<Self, ApiError> {
        let key = prepared.key?;
        if let Some(key) = &key {
            let seen = slot.memory().seen.begin(key, request.body, world.now());
            request.trace.key.set(Some(seen.outcome()));
            match seen {
                Seen::Never => {}
                Seen::Running(error) | Seen::OtherBody(error) => return Err(error),
                Seen::Replay(response) => return Ok(Self::Replay(response)),
            }
        }
        let age = slot.memory().seen.age();
        let running = Running { slot, key, age };
        let input = prepared.input?;
        check_if_match(request, world)?;
        Ok(Self::Run { running, input })
    }
}

/// A key whose request is running. A drop releases it, so that every end of a request does.
struct Running<'a> {
    slot: &'a Slot,
    key: Option<IdempotencyKey>,
    /// The generation of the answers at its start.
    age: u64,
}

impl Running<'_> {
    const fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_ref()
    }

    /// Stores the answer under the key, if it is one to store.
    fn store_reply(mut self, request: &Request<'_>, reply: &Response<LazyBody>, now: Timestamp) {
        if let Some(key) = self.key.take() {
            let seen = &mut self.slot.memory().seen;
            seen.end(&key);
            if idempotency::is_kept(reply.status()) && seen.age() == self.age {
                seen.store((key, request.body), reply, now);
            }
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.slot.memory().seen.end(key);
        }
    }
}

/// Runs a step of a world. A panic is a bug: its staged changes are undone, and only its request fails.
pub(super) fn guard<T>(
    world: &mut World,
    step: impl FnOnce(&mut World) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    // Unwind safety: the roll-back undoes all changes that a panic leaves incomplete in the world.
    catch_unwind(AssertUnwindSafe(|| step(world))).unwrap_or_else(|_| {
        world.roll_back();
        tracing::error!(
            seed = world.base().seed(),
            sequence = world.log().len(),
            "a step of a world failed because of a bug; its changes are undone"
        );
        Err(ApiError::new(
            ErrorCode::InternalError,
            "this is a bug of the sandbox; the request changed nothing",
        ))
    })
}

/// `If-Match` requires that the resource has the version that the caller read (412 otherwise).
fn check_if_match(request: &Request<'_>, world: &World) -> Result<(), ApiError> {
    let Some(wanted) = list(&request.head.headers, IF_MATCH) else { return Ok(()) };
    let Some(reads) = request.route.reads_resource() else { return Ok(()) };
    let Call::Read(call) = reads.operation.call else { return Ok(()) };
    let wanted = wanted.to_str().ok().and_then(entity_tags).ok_or_else(|| {
        let detail =
            "If-Match: expected the ETag of a read with its double quotes, a list of them, or *";
        ApiError::new(ErrorCode::InvalidHeader, detail)
    })?;
    let names: Vec<&str> = reads.operation.path_parameters().collect();
    let input = request.params.iter().filter(|(name, _)| names.contains(name));
    let input =
        input.map(|(name, value)| ((*name).to_owned(), Value::String(value.clone()))).collect();
    let current = etag(&call(world, Value::Object(input))?.into_bytes());
    if wanted.iter().any(|tag| *tag == "*" || tag.as_bytes() == current.as_bytes()) {
        return Ok(());
    }
    let detail = "the resource has changed since it was read: read it again and repeat the change";
    Err(ApiError::new(ErrorCode::PreconditionFailed, detail))
}

/// The entity tags of `If-Match`, or `*` alone. None if it is malformed.
fn entity_tags(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim();
    if rest == "*" {
        return Some(vec![rest]);
    }
    let mut tags = Vec::new();
    loop {
        let opaque = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"')?;
        let (within, after) = opaque.split_once('"')?;
        if within.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return None;
        }
        let (tag, _) = rest.split_at(rest.len() - after.len());
        tags.push(tag);
        match after.trim_start() {
            "" => return Some(tags),
            more => rest = more.strip_prefix(',')?.trim_start(),
        }
    }
}

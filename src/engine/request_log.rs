//! Writes the request log: once for each reply, and once for each refusal before the handler.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, Response};

use crate::api::operation::{Contract, Operation};
use crate::engine::fault::Acted;
use crate::engine::headers::{IDEMPOTENCY_KEY, REQUEST_ID, observes, own, trace_of};
use crate::engine::keys::bearer;
use crate::engine::outcomes;
use crate::engine::readers::Happened;
use crate::engine::recording::Tape;
use crate::engine::request::{Request, Trace};
use crate::engine::response::Transport;
use crate::engine::router::Found;
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::tester::request_log::{Body, FaultUse, KeyOutcome, KeyUse, Wall};
use crate::tester::wire::{Applied, ExchangePlan};
use crate::value::error::ErrorCode;
use crate::world::script::Lose;

/// A refusal that is logged after its body is read; in its extensions.
#[derive(Clone)]
struct Marked {
    slot: Arc<Slot>,
    operation: Option<&'static Operation>,
}

/// Logs a request that was answered.
pub(super) fn note(
    request: &Request<'_>,
    slot: &Arc<Slot>,
    verdict: Option<&ExchangePlan>,
    response: &mut Response<Bytes>,
) {
    let operation = request.route.operation;
    if operation.contract == Contract::Control {
        return;
    }
    let fault = verdict.and_then(|verdict| verdict.fault.as_ref());
    let (head, body) = (request.head, Body::of(request.body));
    let number =
        write(slot, Some(operation), (head, request.own), body, &request.trace, fault, response);
    wait(slot, number, response);
}

/// An entry whose reply is delayed. Its end is noted later.
#[derive(Clone)]
pub(crate) struct DelayedEntry {
    slot: Arc<Slot>,
    number: u64,
}

impl DelayedEntry {
    /// The delay has ended, `ms` after the start of the server, or the client has disconnected.
    pub(crate) fn end(&self, ms: u64, client_left: bool) {
        self.slot.tester().requests.replied(self.number, ms, client_left);
    }
}

/// Lets the network layer note the end of a delay.
fn wait(slot: &Arc<Slot>, number: Option<u64>, response: &mut Response<Bytes>) {
    let transport: Option<&Transport> = response.extensions().get();
    let is_delayed = transport.is_some_and(|transport| !transport.delay.is_zero());
    if let Some(number) = number.filter(|_| is_delayed) {
        response.extensions_mut().insert(DelayedEntry { slot: Arc::clone(slot), number });
    }
}

fn write(
    slot: &Slot,
    operation: Option<&'static Operation>,
    (head, own): (&Parts, &HeaderMap),
    body: Body,
    trace: &Trace,
    fault: Option<&Applied>,
    response: &Response<Bytes>,
) -> Option<u64> {
    // The world's lock is taken before the tester's, and only if the world was not read yet.
    let now = trace.now.get().unwrap_or_else(|| slot.world().now());
    let mut tester = slot.tester();
    let entry = tester.requests.next(now)?;
    let number = entry.number;
    let is_sent = |sent: &Transport| !sent.lost && sent.delay.is_zero();
    let is_answered = response.extensions().get().is_none_or(is_sent);
    entry.wall = Wall {
        arrived_ms: trace.arrived_ms,
        replied_ms: is_answered.then_some(trace.arrived_ms),
        client_left: false,
    };
    entry.operation = operation.map(|operation| operation.name);
    entry.method.clone_from(&head.method);
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    entry.target.push_str(target);
    let id = response.headers().get(REQUEST_ID);
    entry.request_id = id.and_then(|id| id.to_str().ok()?.parse().ok());
    let status = response.status();
    entry.status = Some(status.as_u16());
    entry.body = body;
    if !own.is_empty() {
        entry.scenario = outcomes::as_sent(own);
        entry.trace = trace_of(own).map(Box::new);
    }
    if head.method != Method::GET {
        entry.key = key(head, trace.key.get()).map(Box::new);
        entry.resource = trace.resource.take();
        entry.events = trace.events.get();
    }
    if status.as_u16() >= 400 {
        let code: Option<&ErrorCode> = response.extensions().get();
        entry.error = code.map(|code| code.code());
    }
    if let Some(Applied { source, fault, .. }) = fault {
        if fault.lose == Some(Lose::Request) {
            (entry.status, entry.error) = (None, None);
        }
        entry.fault = Some(Box::new(FaultUse { source: Arc::clone(source), fault: fault.clone() }));
    }
    drop(tester);
    slot.readers.wake(Happened::Request);
    Some(number)
}

fn key(head: &Parts, outcome: Option<KeyOutcome>) -> Option<KeyUse> {
    let text = head.headers.get(IDEMPOTENCY_KEY)?;
    let text = String::from_utf8_lossy(text.as_bytes()).trim_matches('"').to_owned();
    Some(KeyUse { text, outcome })
}

impl Engine {
    /// An engine with request logs of at most `most` requests for each world.
    pub(crate) fn with_max_requests(mut self, most: usize) -> Self {
        self.worlds.most_requests = most;
        self
    }

    /// Marks the refusal of a request to the product whose key opens a world.
    pub(super) fn mark(&self, head: &Parts, refusal: &mut Response<Bytes>) {
        let path = head.uri.path();
        let is_control = path == "/_sandbox" || path.starts_with("/_sandbox/");
        if is_control || matches!(observes(&head.method, &head.headers), Ok(true)) {
            return;
        }
        let Ok(key) = bearer(&head.headers) else { return };
        let slot = if refusal.status().is_server_error() {
            self.worlds.resident(key).ok().flatten() // if it could not be opened, it is not tried again
        } else {
            self.open_world_to(key, true).ok()
        };
        let Some(slot) = slot else { return };
        let operation = match self.router.find(&head.method, path) {
            Ok(Found::Route(route, _)) => Some(route.operation),
            _ => None,
        };
        if let Some(ticket) = slot.tape.as_ref().and_then(Tape::opened) {
            refusal.extensions_mut().insert(ticket);
        }
        refusal.extensions_mut().insert(Marked { slot, operation });
    }

    /// Logs a request that was refused by its head, after its body was read.
    pub(crate) fn refused(&self, head: &Parts, body: &Bytes, refusal: &mut Response<Bytes>) {
        let Some(Marked { slot, operation }) = refusal.extensions().get().cloned() else { return };
        let acted = refusal.extensions().get::<Acted>();
        let fault = acted.and_then(|Acted(applied)| applied.as_ref());
        let trace = Trace::at(self.wall_ms());
        let head = (head, own(&head.headers));
        let number = write(&slot, operation, head, Body::of(body), &trace, fault, refusal);
        wait(&slot, number, refusal);
    }
}

/// Logs a request whose body could not be read.
pub(super) fn unread(
    slot: &Slot,
    operation: &'static Operation,
    head: &Parts,
    refusal: &Response<Bytes>,
    arrived_ms: u64,
) {
    if operation.contract != Contract::Control {
        let trace = Trace::at(arrived_ms);
        let head = (head, own(&head.headers));
        write(slot, Some(operation), head, Body::Unread, &trace, None, refusal);
    }
}

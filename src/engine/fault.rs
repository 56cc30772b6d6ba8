//! Faults of the wire: selected after the key is checked, applied before or after the commit.
//!
//! A refusal before the commit changes nothing and leaves no idempotency record. A fault after the commit does not
//! undo the call: a retry with the same idempotency key gets the successful reply. Deliberately absent: the selection
//! of the row (`tester::wire`), and the effects on connections and bytes (`io`), which reads [`Transport`].

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use serde_json::{Map, Value};

use crate::api::json;
use crate::api::operation::{Contract, Operation};
use crate::engine::headers::{REQUEST_ID, SANDBOX_TIME};
use crate::engine::problem;
use crate::engine::recording;
use crate::engine::request::{Request, request_id};
use crate::engine::response::{Delivery, Transport};
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::tester::fault;
use crate::tester::wire::{Allowance, Applied, Exchange, ExchangePlan, SpentRow, Wire};
use crate::value::{ApiError, ErrorCode, Key, Span};
use crate::world::script::{BodyFault, Fault, Lose, Selector};

const SANDBOX_FAULT: HeaderName = HeaderName::from_static("sandbox-fault");
const SANDBOX_DECISION: HeaderName = HeaderName::from_static("sandbox-decision");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The source in a reply that a limit, and no row, refused.
const LIMITS: &str = "limits";

/// Why a request ends after its head.
pub(super) enum Refused {
    Error(ApiError),
    /// A fault: a refusal to send, or a dropped request.
    Injected(Box<Response<Bytes>>),
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

/// The faults of an exchange after its head was read.
pub(super) enum Faults {
    Known(Option<Box<ExchangePlan>>),
    /// A row has conditions on the path or the body.
    ByInput,
}

/// The entry of a fault before the commit for the request log; in the refusal's extensions.
#[derive(Clone, Debug)]
pub(super) struct Acted(pub(super) Option<Applied>);

impl Engine {
    /// Reports how long the server has been running. Threads may report out of order; the time never goes
    /// back.
    pub(crate) fn report_time(&self, elapsed: Duration) {
        let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        if self.edge_ms.load(Ordering::Relaxed) < ms {
            self.edge_ms.fetch_max(ms, Ordering::Relaxed);
        }
    }

    /// The time of the latest request, in milliseconds since the server started.
    pub(super) fn wall_ms(&self) -> u64 {
        self.edge_ms.load(Ordering::Relaxed)
    }

    /// Sets the counters of faults in the world of a key.
    pub(crate) fn put_spent(&self, key: &str, spent: &[SpentRow]) -> Result<(), ApiError> {
        self.open_world(key)?.tester().put_spent(spent);
        Ok(())
    }

    /// Repeats a recorded call without faults and limits, because they already acted on the original call.
    pub(crate) fn repeat(
        &self,
        key: &str,
        spent: &[SpentRow],
        request: http::Request<Bytes>,
    ) -> Result<Response<Bytes>, ApiError> {
        self.put_spent(key, spent)?;
        let slot = self.open_world(key)?;
        slot.armed.store(false, Ordering::Relaxed);
        let reply = self.call(request);
        slot.rearm(&slot.tester());
        Ok(reply)
    }

    /// Selects the faults of an exchange by its head, or reports that they depend on its input. An error is the fault
    /// before the commit.
    pub(super) fn judge_head(
        &self,
        operation: &Operation,
        slot: Option<&Slot>,
        head: &Parts,
        own: &HeaderMap,
    ) -> Result<Faults, Refused> {
        let asked = asked(own)?;
        if asked.is_none()
            && let Some(slot) = armed(operation, slot)
        {
            let domain = domain(operation);
            if slot.tester().wire.needs_input(exchange(operation, &domain)) {
                return Ok(Faults::ByInput);
            }
        }
        self.judge(operation, slot, head, asked, &|_| false).map(Faults::Known)
    }

    /// Selects the faults of an exchange by its path and body.
    pub(super) fn judge_input(
        &self,
        request: &Request<'_>,
        slot: Option<&Slot>,
    ) -> Result<Option<Box<ExchangePlan>>, Refused> {
        let (operation, head) = (request.route.operation, request.head);
        let asked = asked(request.own)?;
        let Some(world) = slot.map(Slot::world) else {
            return self.judge(operation, slot, head, asked, &|_| false);
        };
        let mut members: Map<String, Value> = Map::new();
        if let (true, Ok(Value::Object(body))) =
            (operation.method.has_body(), json::parse(request.body))
        {
            members = body;
        }
        let path = request.params.iter().map(|(name, value)| (*name, value.as_str()));
        members.extend(path.map(|(name, value)| (name.to_owned(), value.into())));
        // Before the tester's lock, because the world's lock is always taken first.
        let matching: Vec<Selector> = slot
            .into_iter()
            .flat_map(|slot| slot.tester().wire.conditions())
            .filter(|selector| world.selects_input(selector, &members))
            .collect();
        drop(world);
        self.judge(operation, slot, head, asked, &|selector| matching.contains(selector))
    }

    fn judge(
        &self,
        operation: &Operation,
        slot: Option<&Slot>,
        head: &Parts,
        asked: Option<Fault>,
        selects: &dyn Fn(&Selector) -> bool,
    ) -> Result<Option<Box<ExchangePlan>>, Refused> {
        let armed = armed(operation, slot);
        if asked.is_none() && armed.is_none() {
            return Ok(None);
        }
        let domain = domain(operation);
        let exchange = exchange(operation, &domain);
        let key = slot.map_or_else(|| self.base().key(), |slot| slot.world().base().key());
        let now = self.wall_ms();
        let verdict = match armed {
            Some(slot) => {
                let tester = &mut *slot.tester();
                let verdict = tester.wire.judge(exchange, selects, asked, key, now);
                slot.note_spent(tester);
                verdict
            }
            None => Wire::default().judge(exchange, selects, asked, key, now),
        };
        match before_commit(&verdict, head, key) {
            None => Ok(Some(Box::new(verdict))),
            Some(mut refusal) => {
                let time = match slot {
                    Some(slot) => {
                        let now = slot.world().now();
                        refusal.extensions_mut().insert(slot.tag());
                        recording::hold(slot.tape.as_ref(), &mut refusal);
                        slot.memory().time_header(now)
                    }
                    None => HeaderValue::try_from(self.config.shape.start.to_string())
                        .expect("an instant is ASCII"),
                };
                refusal.headers_mut().insert(SANDBOX_TIME, time);
                Err(Refused::Injected(Box::new(refusal)))
            }
        }
    }
}

/// The slot, if rows or limits can apply.
fn armed<'s>(operation: &Operation, slot: Option<&'s Slot>) -> Option<&'s Slot> {
    slot.filter(|slot| slot.is_armed() && !is_exempt(operation))
}

/// The domain of an operation, by its tag. Called only if there are faults.
fn domain(operation: &Operation) -> String {
    format!("{:?}", operation.domain).to_ascii_lowercase()
}

fn exchange<'e>(operation: &'e Operation, domain: &'e str) -> Exchange<'e> {
    let product = operation.contract != Contract::Control;
    Exchange { operation: operation.name, domain, product }
}

/// The operations that remove faults and limits are never faulted, so that a caller cannot lock itself out.
fn is_exempt(operation: &Operation) -> bool {
    ["/_sandbox/faults", "/_sandbox/limits"].iter().any(|path| operation.path.starts_with(path))
}

/// The fault in the header of the request.
fn asked(headers: &HeaderMap) -> Result<Option<Fault>, ApiError> {
    let mut values = headers.get_all(&SANDBOX_FAULT).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let refused =
        |detail: &str| ApiError::new(ErrorCode::InvalidHeader, format!("Sandbox-Fault: {detail}"));
    if values.next().is_some() {
        return Err(refused("the header is sent twice"));
    }
    let text = value.to_str().map_err(|_| refused("the value is not ASCII text"))?;
    fault::parse(text).map(Some).map_err(|error| refused(&error))
}

/// The refusal instead of the call: by a limit, by a fault, or one that is never sent.
fn before_commit(verdict: &ExchangePlan, head: &Parts, key: Key) -> Option<Response<Bytes>> {
    let id = |source: &str, place: u64| {
        let key = key.with("faulted").with(source).at(place);
        request_id(key.with(head.method.as_str()).with(head.uri.path()))
    };
    if let Some(at) = verdict.allowance.filter(|at| at.exceeded) {
        let seconds = at.reset_ms.div_ceil(1_000).max(1);
        let detail = format!(
            "more than {} requests in {}; retry in {seconds} s",
            at.rate.requests,
            shown_ms(at.rate.window_ms),
        );
        let mut error = ApiError::new(ErrorCode::RateLimited, detail);
        error.header = Some(("retry-after", seconds.to_string()));
        let mut refusal = problem::reply(&error, &id(LIMITS, 0));
        decided(&mut refusal, LIMITS);
        wire_up(verdict, &mut refusal, Transport::default());
        refusal.extensions_mut().insert(Acted(None));
        return Some(refusal);
    }
    let applied = verdict.fault.as_ref()?;
    let fault = &applied.fault;
    let lost = fault.lose == Some(Lose::Request);
    let status = fault.status.filter(|_| !fault.after_commit);
    if status.is_none() && !lost {
        return None;
    }
    let (status, id) = (status.unwrap_or(503), id(&applied.source, applied.place));
    let mut refusal =
        problem::reply_with(&error(applied, status, "the call changed nothing"), status, &id);
    decided(&mut refusal, &applied.source);
    let transport = Transport { lost, ..Transport::default() };
    wire_up(verdict, &mut refusal, transport);
    refusal.extensions_mut().insert(Acted(Some(applied.clone())));
    Some(refusal)
}

/// Changes the reply to a call that is answered and recorded under its key.
pub(super) fn after_commit(verdict: &ExchangePlan, response: &mut Response<Bytes>) {
    let mut transport = Transport::default();
    if let Some(applied) = &verdict.fault {
        let fault = &applied.fault;
        if let Some(status) = fault.status {
            replace(response, applied, status);
        }
        transport.lost = fault.lose.is_some();
        match fault.body {
            None => {}
            Some(BodyFault::Truncated) => transport.body = Delivery::Truncated,
            Some(BodyFault::Slow) => transport.body = Delivery::Slow,
            Some(BodyFault::Garbage) => *response.body_mut() = garbage(response.body()),
        }
        decided(response, &applied.source);
    }
    wire_up(verdict, response, transport);
}

/// Replaces the reply by a refusal; the recorded answer stays.
fn replace(response: &mut Response<Bytes>, applied: &Applied, status: u16) {
    let kept = [REQUEST_ID, SANDBOX_TIME, SANDBOX_DECISION]
        .map(|name| response.headers().get(&name).cloned().map(|value| (name, value)));
    let id = response.headers().get(REQUEST_ID).cloned();
    let id = id.unwrap_or(HeaderValue::from_static(""));
    let error = error(applied, status, "the call may have taken effect");
    let mut refusal = problem::reply_with(&error, status, &id);
    for (name, value) in kept.into_iter().flatten() {
        refusal.headers_mut().insert(name, value);
    }
    *response = refusal;
}

/// The refusal of a fault with this status.
fn error(applied: &Applied, status: u16, what: &str) -> ApiError {
    let code = match status {
        403 => ErrorCode::Forbidden,
        404 => ErrorCode::ResourceNotFound,
        408 => ErrorCode::RequestTimeout,
        429 => ErrorCode::RateLimited,
        500 => ErrorCode::InternalError,
        502 => ErrorCode::UpstreamRailError,
        503 => ErrorCode::Maintenance,
        504 => ErrorCode::UpstreamTimeout,
        _ => ErrorCode::InjectedFault,
    };
    let detail = format!("a fault from {}; {what}", applied.source);
    let mut error = ApiError::new(code, detail);
    if let Some(Span::Millis(ms)) = applied.fault.retry_after {
        let seconds = u64::try_from(ms).unwrap_or_default().div_ceil(1_000);
        error.header = Some(("retry-after", seconds.to_string()));
    }
    error
}

/// Adds the delay and rate headers of every reply while limits are set.
fn wire_up(verdict: &ExchangePlan, response: &mut Response<Bytes>, mut transport: Transport) {
    let of_fault = verdict.fault.as_ref().and_then(|applied| applied.fault.latency_ms);
    transport.delay = Duration::from_millis(verdict.latency_ms + of_fault.unwrap_or(0));
    if transport != Transport::default() {
        response.extensions_mut().insert(transport);
    }
    let Some(Allowance { rate, remaining, reset_ms, .. }) = verdict.allowance else { return };
    // draft-ietf-httpapi-ratelimit-headers: a policy has a quota and a window; a limit has the remaining
    // requests and the reset time.
    let window = rate.window_ms.div_ceil(1_000).max(1);
    let policy = format!("\"default\";q={};w={window}", rate.requests);
    let reset = reset_ms.div_ceil(1_000).max(1);
    let limit = format!("\"default\";r={remaining};t={reset}");
    for (name, value) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, limit)] {
        let value = HeaderValue::try_from(value).expect("numbers are ASCII");
        response.headers_mut().insert(name, value);
    }
}

/// Adds the source of the fault to the decisions of the reply.
fn decided(response: &mut Response<Bytes>, source: &str) {
    let headers = response.headers_mut();
    let mut value = headers
        .get(&SANDBOX_DECISION)
        .map(|before| [before.as_bytes(), b", "].concat())
        .unwrap_or_default();
    value.extend_from_slice(b"fault=");
    value.extend_from_slice(source.as_bytes());
    // A file name may contain any character; then only the existence of a fault is stated.
    let value = HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("fault"));
    headers.insert(SANDBOX_DECISION, value);
}

/// The same number of bytes, derived from the original ones, that are neither JSON nor UTF-8.
fn garbage(body: &Bytes) -> Bytes {
    let key = Key::new(0).with("garbage").with_bytes(body);
    let byte =
        |place: usize| u8::try_from(key.at(place as u64).below(128)).unwrap_or_default() | 0x80;
    (0..body.len()).map(byte).collect::<Vec<u8>>().into()
}

fn shown_ms(ms: u64) -> Span {
    Span::Millis(i64::try_from(ms).unwrap_or(i64::MAX))
}

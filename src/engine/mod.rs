//! The engine: from the head and body of a request to its reply, through the one order of refusal.
//!
//! route → key → headers → content type → parse → idempotency → shape → handler (existence, permission, state, money) →
//! commit → record → reply. May import everything to its left and the plain types of `http`; knows no socket and no clock but
//! what it is told. Each world is behind its own lock, held for the step and not for the writing of the reply.

mod cache;
mod idempotency;
mod problem;
mod router;
mod worlds;

pub(crate) use worlds::is_usable_key;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderName, IF_MATCH, IF_NONE_MATCH, LOCATION};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::api::bind::bind;
use crate::api::control::events::API_VERSION;
use crate::api::json;
use crate::api::operation::{Call, Contract, Process};
use crate::api::reply::Reply;
use crate::api::system;
use crate::engine::cache::{Cached, ReadCache};
use crate::engine::idempotency::{IdempotencyKey, Seen};
use crate::engine::router::{Found, Route, Router};
use crate::engine::worlds::{Slot, Worlds};
use crate::value::error::{ApiError, ErrorCode};
use crate::value::id::encode_to_string;
use crate::value::stream::Key;
use crate::value::time::Timestamp;
use crate::world::base::{Base, Shape};
use crate::world::event::RequestRef;
use crate::world::{ClockMode, World};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SANDBOX_TIME: HeaderName = HeaderName::from_static("sandbox-time");
const SANDBOX_SCENARIO: HeaderName = HeaderName::from_static("sandbox-scenario");
const API_VERSION_HEADER: HeaderName = HeaderName::from_static("api-version");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What a reply asks of the wire beyond its bytes: put into its extensions by an injected fault, read by the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transport {
    /// Hold the finished reply back for so long.
    pub(crate) delay: Duration,
    /// Close the connection instead of replying.
    pub(crate) lost: bool,
}

/// A short hash that names the world in the log, in a reply's extensions. Not the key, nor anything to guess it from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorldTag(pub(crate) u32);

/// A page that is no operation: the documents and the viewer.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// Whether the body is gzip.
    pub(crate) gzip: bool,
    /// `Content-Security-Policy`.
    pub(crate) csp: &'static str,
}

/// Finds a page by its path. Given from outside: pages are rendered to the right of the engine.
pub(crate) type Pages = fn(&str) -> Option<Page>;

/// How worlds are opened.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) mode: ClockMode,
    /// The only keys that open a world; any but live-looking ones if empty.
    pub(crate) api_keys: Vec<String>,
    pub(crate) max_worlds: usize,
    pub(crate) pages: Pages,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its configuration holds keys, its worlds are many.
        f.debug_struct("Engine")
            .field("seed", &self.config.seed)
            .finish_non_exhaustive()
    }
}

/// All worlds and the way to them. Shared by every thread.
pub(crate) struct Engine {
    config: Config,
    router: Router,
    worlds: Worlds,
    /// Reads of worlds in which nothing has happened yet: all of them give the same answers.
    untouched: std::sync::Mutex<ReadCache>,
    /// Virtual time in a world driven by the wall clock.
    wall: AtomicI64,
}

/// A request whose head was accepted.
pub(crate) struct Admitted(Target);

enum Target {
    Page(Page),
    Operation {
        route: &'static Route,
        params: Vec<(&'static str, String)>,
        slot: Option<Arc<Slot>>,
    },
}

impl Engine {
    /// An engine without worlds; they open as keys come.
    pub(crate) fn new(config: Config) -> Self {
        let base = Arc::new(Base::new(config.seed, config.shape.clone()));
        Self {
            wall: AtomicI64::new(config.shape.start.millis()),
            worlds: Worlds::new(
                base,
                config.mode,
                config.api_keys.clone(),
                config.max_worlds,
            ),
            router: Router::new(),
            untouched: std::sync::Mutex::new(ReadCache::new(cache::SHARED_BYTES)),
            config,
        }
    }

    /// The base of every fresh world.
    pub(crate) fn base(&self) -> &Arc<Base> {
        self.worlds.base()
    }

    /// Tells the engine how far virtual time is in worlds that the wall clock drives.
    pub(crate) fn tick(&self, since_start: Duration, speed: u32) {
        let ms = i64::try_from(since_start.as_millis())
            .unwrap_or(i64::MAX)
            .saturating_mul(i64::from(speed));
        let now = self.config.shape.start.plus_millis(ms);
        self.wall.store(now.millis(), Ordering::Relaxed);
    }

    /// Everything that is decided before a body is read. An error is the finished refusal.
    pub(crate) fn admit(&self, head: &Parts) -> Result<Admitted, Response<Bytes>> {
        self.target(head).map(Admitted).map_err(|error| {
            let mut refusal = self.refusal(head, &error);
            echo_trace(head, &mut refusal);
            refusal
        })
    }

    fn target(&self, head: &Parts) -> Result<Target, ApiError> {
        let path = head.uri.path();
        let (route, params) = match self.router.find(&head.method, path)? {
            Found::Route(route, params) => (route, params),
            Found::Nothing(error) => match (self.config.pages)(path) {
                Some(page) if head.method == http::Method::GET => return Ok(Target::Page(page)),
                Some(_) => return Err(router::not_allowed(head.method.as_str(), "GET".to_owned())),
                None => return Err(error),
            },
        };
        let open = matches!(route.operation.call, Call::Open(_));
        let slot = match worlds::bearer(&head.headers) {
            Err(_) if open && !head.headers.contains_key(http::header::AUTHORIZATION) => None,
            key => Some(self.worlds.open(key?)?),
        };
        check_headers(&head.headers)?;
        if route.operation.method.has_body() {
            check_content_type(&head.headers)?;
        }
        Ok(Target::Operation {
            route,
            params,
            slot,
        })
    }

    /// The rest, given the whole body, which is empty when there was none.
    pub(crate) fn answer(&self, admitted: Admitted, head: &Parts, body: Bytes) -> Response<Bytes> {
        let (route, params, slot) = match admitted.0 {
            Target::Page(page) => return page_reply(page),
            Target::Operation {
                route,
                params,
                slot,
            } => (route, params, slot),
        };
        let mut response = match slot {
            Some(slot) => self.answer_world(
                &Request {
                    route,
                    params: &params,
                    head,
                    body: &body,
                },
                &slot,
            ),
            None => self.answer_open(route, None),
        };
        echo_trace(head, &mut response);
        response
    }

    fn answer_open(&self, route: &Route, world: Option<&World>) -> Response<Bytes> {
        let Call::Open(call) = route.operation.call else {
            unreachable!("only an open row is called without a world")
        };
        let process = Process {
            seed: self.config.seed,
            shape: self.config.shape.clone(),
            mode: self.config.mode,
            worlds: self.worlds.count(),
        };
        let reply = call(&process, world);
        let (base, now, version) = match world {
            Some(world) => (world.base(), world.now(), world.version()),
            None => (self.base(), self.config.shape.start, 0),
        };
        let id = base
            .key()
            .with("open")
            .with(route.operation.name)
            .at(version);
        let mut response = Response::new(Bytes::from(reply.into_bytes()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(REQUEST_ID, request_id(id));
        headers.insert(
            SANDBOX_TIME,
            HeaderValue::try_from(now.to_string()).expect("an instant is ASCII"),
        );
        response
    }

    fn answer_world(&self, request: &Request<'_>, slot: &Slot) -> Response<Bytes> {
        if self.config.mode == ClockMode::Real {
            self.follow_wall(&mut slot.world_mut());
        }
        let mut response = match request.route.operation.call {
            Call::Open(_) => self.answer_open(request.route, Some(&slot.world())),
            Call::Read(call) => self.read(request, slot, call),
            Call::Write(_) | Call::Drive(_) => write(request, slot),
        };
        response.extensions_mut().insert(slot.tag());
        response
    }

    fn follow_wall(&self, world: &mut World) {
        let now = Timestamp::from_millis(self.wall.load(Ordering::Relaxed));
        let followed = guard(world, |world| {
            system::follow(world, now);
            Ok(())
        });
        followed.ok(); // a bug there was logged; what was asked is answered all the same
    }

    /// A read is a pure function of the world's version, path and query: its answer is kept until the world changes.
    fn read(&self, request: &Request<'_>, slot: &Slot, call: ReadCall) -> Response<Bytes> {
        let (target, world) = (request.target(), slot.world());
        let untouched = world.version() == 0 && Arc::ptr_eq(world.base(), self.base());
        let (kept, time) = {
            let mut memory = slot.memory();
            let kept = if untouched {
                None
            } else {
                memory.reads.get(target)
            };
            (kept, memory.time_header(world.now()))
        };
        let kept = if untouched {
            self.shared_cache().get(target)
        } else {
            kept
        };
        let answer = match kept {
            Some(cached) => Ok(cached),
            None => read(request, &world, call).map(|cached| {
                if untouched {
                    self.shared_cache().put(target, cached)
                } else {
                    slot.memory().reads.put(target, cached)
                }
            }),
        };
        let mut response = match answer {
            Ok(cached) => cached.reply(&request.head.headers),
            Err(error) => problem::reply(&error, &request.refused_id(&world)),
        };
        response.headers_mut().insert(SANDBOX_TIME, time);
        response
    }

    /// A panic while the lock was held cannot have left half an answer: they are put in whole.
    fn shared_cache(&self) -> std::sync::MutexGuard<'_, ReadCache> {
        self.untouched
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn refusal(&self, head: &Parts, error: &ApiError) -> Response<Bytes> {
        let key = Key::new(self.config.seed)
            .with("refused")
            .with(head.method.as_str())
            .with(head.uri.path());
        let mut response = problem::reply(error, &request_id(key));
        let time = self.config.shape.start.to_string();
        response.headers_mut().insert(
            SANDBOX_TIME,
            HeaderValue::try_from(time).expect("an instant is ASCII"),
        );
        response
    }

    /// A refusal that the edge itself decided.
    pub(crate) fn refuse(
        &self,
        head: Option<&Parts>,
        code: ErrorCode,
        detail: &str,
    ) -> Response<Bytes> {
        let error = ApiError::new(code, detail);
        match head {
            Some(head) => self.refusal(head, &error),
            None => problem::reply(
                &error,
                &request_id(Key::new(self.config.seed).with("refused")),
            ),
        }
    }

    /// One call in process, without a socket: what the tests of the engine use.
    #[cfg(test)]
    pub(crate) fn call(&self, request: http::Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        match self.admit(&head) {
            Ok(admitted) => self.answer(admitted, &head, body),
            Err(refusal) => refusal,
        }
    }

    /// Looks at the world of a key, which opens if it was not.
    pub(crate) fn with_world<T>(
        &self,
        key: &str,
        look: impl FnOnce(&World) -> T,
    ) -> Result<T, ApiError> {
        Ok(look(&self.worlds.open(key)?.world()))
    }

    /// Moves the clock of a key's world and tells what time it is then.
    pub(crate) fn advance(
        &self,
        key: &str,
        step: impl FnOnce(&mut World),
    ) -> Result<Timestamp, ApiError> {
        let slot = self.worlds.open(key)?;
        let world = &mut *slot.world_mut();
        guard(world, |world| {
            step(world);
            Ok(())
        })?;
        slot.memory().changed(world);
        Ok(world.now())
    }
}

/// A caller's trace goes on through every reply.
fn echo_trace(head: &Parts, response: &mut Response<Bytes>) {
    if let Some(trace) = head.headers.get(TRACEPARENT) {
        response.headers_mut().insert(TRACEPARENT, trace.clone());
    }
}

type ReadCall = fn(&World, Value) -> Result<Reply, ApiError>;

/// One request on its way through a world.
struct Request<'a> {
    route: &'static Route,
    params: &'a [(&'static str, String)],
    head: &'a Parts,
    body: &'a Bytes,
}

impl Request<'_> {
    /// Path and query as they were sent.
    fn target(&self) -> &str {
        self.head
            .uri
            .path_and_query()
            .map_or("/", http::uri::PathAndQuery::as_str)
    }

    /// The body as JSON; none for a method without one. An empty body is an empty object where that is enough.
    fn parse(&self) -> Result<Option<Value>, ApiError> {
        if !self.route.operation.method.has_body() {
            return Ok(None);
        }
        let in_path: Vec<&str> = self.params.iter().map(|(name, _)| *name).collect();
        if self.body.is_empty() && self.route.checker().requires_only(&in_path) {
            return Ok(Some(Value::Object(serde_json::Map::new())));
        }
        json::parse(self.body).map(Some)
    }

    fn bind(&self, body: Option<Value>) -> Result<Value, ApiError> {
        let params: Vec<(&str, &str)> = self
            .params
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        bind(self.route.checker(), &params, self.head.uri.query(), body)
    }

    /// The id of a reply that changed nothing: of what was asked and the world it was asked of, so that it shifts nothing.
    fn refused_id(&self, world: &World) -> HeaderValue {
        let key = world
            .base()
            .key()
            .with("refused")
            .at(world.version())
            .with(self.head.method.as_str());
        request_id(
            key.with(self.target())
                .at(Key::new(0).with_bytes(self.body).hash()),
        )
    }
}

fn request_id(key: Key) -> HeaderValue {
    HeaderValue::try_from(format!("req_{}", encode_to_string(key.hash()))).expect("an id is ASCII")
}

fn read(request: &Request<'_>, world: &World, call: ReadCall) -> Result<Cached, ApiError> {
    let input = request.bind(None)?;
    let reply = call(world, input)?;
    let key = world
        .base()
        .key()
        .with("read")
        .at(world.version())
        .with(request.target());
    let single = reply.single;
    let body = reply.into_bytes();
    Ok(Cached {
        etag: single.then(|| etag(&body)),
        body: Bytes::from(body),
        request_id: request_id(key),
    })
}

/// The tag of a representation: equal for equal bytes.
fn etag(body: &[u8]) -> HeaderValue {
    let hash = Key::new(0).with_bytes(body).hash();
    HeaderValue::try_from(format!("\"{}\"", encode_to_string(hash))).expect("a tag is ASCII")
}

/// What can be made of a write without looking at its world. Each part is refused only when its turn comes.
struct Prepared {
    key: Result<Option<IdempotencyKey>, ApiError>,
    /// The canonical body, where there is a key to compare it under.
    fingerprint: Option<Vec<u8>>,
    input: Result<Value, ApiError>,
}

impl Prepared {
    /// An error is the 400 of a body that is no JSON.
    fn of(request: &Request<'_>) -> Result<Self, ApiError> {
        let body = request.parse()?;
        // The control plane is no part of the product: advancing twice is advancing twice.
        let key = match request.route.operation.contract {
            Contract::Control => Ok(None),
            _ => IdempotencyKey::of(request.head),
        };
        let keyed = matches!(key, Ok(Some(_)));
        let fingerprint = keyed.then(|| json::canonical(body.as_ref().unwrap_or(&Value::Null)));
        Ok(Self {
            key,
            fingerprint,
            input: request.bind(body),
        })
    }
}

fn write(request: &Request<'_>, slot: &Slot) -> Response<Bytes> {
    // What needs no look at the world is done before its lock is taken, and the reply is written after it is given back.
    let prepared = Prepared::of(request);
    let mut held = slot.world_mut();
    let world = &mut *held;
    let time = |world: &World| slot.memory().time_header(world.now());
    let refused = |error: &ApiError, world: &World| {
        let mut response = problem::reply(error, &request.refused_id(world));
        response.headers_mut().insert(SANDBOX_TIME, time(world));
        response
    };
    match prepared.and_then(|prepared| Ready::of(request, prepared, world, slot)) {
        Err(error) => refused(&error, world),
        Ok(Ready::Replay(response)) => response,
        Ok(Ready::Run { running, input }) => {
            let id = request_id(
                world
                    .base()
                    .key()
                    .with("write")
                    .at(world.log().len() as u64),
            );
            let origin = RequestRef {
                id: id.to_str().expect("an id is ASCII").to_owned(),
                operation: request.route.operation.name.into(),
                idempotency_key: running.key().map(IdempotencyKey::text),
            };
            let performed = guard(world, |world| {
                let row = request.route.operation;
                system::perform(world, row, Some(Arc::new(origin)), input)
            });
            slot.memory().changed(world);
            // The reply tells of the moment at which it was accepted, not of what follows from it.
            let (time, now) = (time(world), world.now());
            let refusal = performed.as_ref().err().map(|error| refused(error, world));
            settle(world);
            drop(held);
            let response = match (performed, refusal) {
                (Ok(reply), _) => created(request, reply, &id, time),
                (Err(_), refusal) => refusal.expect("made of the error"),
            };
            running.keep(&response, now);
            response
        }
    }
}

/// In an instant world: what follows from the request.
fn settle(world: &mut World) {
    let settled = guard(world, |world| {
        system::settle(world);
        Ok(())
    });
    settled.ok(); // a bug there was logged; what was accepted stands
}

/// A write whose turn has come.
enum Ready<'a> {
    /// It was answered before.
    Replay(Response<Bytes>),
    Run {
        running: Running<'a>,
        input: Value,
    },
}

impl<'a> Ready<'a> {
    /// An error is a refusal before execution: it is not kept under its key.
    fn of(
        request: &Request<'_>,
        prepared: Prepared,
        world: &World,
        slot: &'a Slot,
    ) -> Result<Self, ApiError> {
        let keyed = prepared.key?.zip(prepared.fingerprint);
        if let Some((key, body)) = &keyed {
            match slot.memory().seen.begin(key, body, world.now()) {
                Seen::Never => {}
                Seen::Running(error) | Seen::OtherBody(error) => return Err(error),
                Seen::Replay(response) => return Ok(Self::Replay(response)),
            }
        }
        let running = Running { slot, keyed };
        let input = prepared.input?;
        check_if_match(request, world)?;
        Ok(Self::Run { running, input })
    }
}

/// A key whose request is being answered; let go of when dropped, so that no end of a request leaves it taken.
struct Running<'a> {
    slot: &'a Slot,
    keyed: Option<(IdempotencyKey, Vec<u8>)>,
}

impl Running<'_> {
    fn key(&self) -> Option<&IdempotencyKey> {
        self.keyed.as_ref().map(|(key, _)| key)
    }

    /// Keeps the answer under the key, if it is one that is kept.
    fn keep(mut self, response: &Response<Bytes>, now: Timestamp) {
        if let Some((key, body)) = self.keyed.take() {
            let seen = &mut self.slot.memory().seen;
            seen.end(&key);
            if idempotency::is_kept(response.status()) {
                seen.keep(key, body, response, now);
            }
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some((key, _)) = &self.keyed {
            self.slot.memory().seen.end(key);
        }
    }
}

/// Runs a step of a world. A panic is a bug: what it staged is undone, and its request alone fails.
fn guard<T>(
    world: &mut World,
    step: impl FnOnce(&mut World) -> Result<T, ApiError>,
) -> Result<T, ApiError> {
    // Unwind safety: what a panic leaves half done in the world is what the roll-back undoes.
    catch_unwind(AssertUnwindSafe(|| step(world))).unwrap_or_else(|_| {
        world.roll_back();
        tracing::error!(
            seed = world.base().seed(),
            sequence = world.log().len(),
            "a step of a world failed by a bug; what it changed is undone"
        );
        Err(ApiError::new(
            ErrorCode::InternalError,
            "a bug of the sandbox; nothing was changed by this request",
        ))
    })
}

/// The reply to a write that went through.
fn created(
    request: &Request<'_>,
    reply: Reply,
    id: &HeaderValue,
    time: HeaderValue,
) -> Response<Bytes> {
    let operation = request.route.operation;
    let mut response = Response::new(Bytes::new());
    *response.status_mut() =
        StatusCode::from_u16(operation.success).expect("rows hold HTTP statuses");
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(REQUEST_ID, id.clone());
    headers.insert(SANDBOX_TIME, time);
    if let (201, Some(path), Some(id)) = (operation.success, request.route.reads_at(), &reply.id) {
        let location =
            HeaderValue::try_from(path.replace("{}", id)).expect("paths and ids are ASCII");
        headers.insert(LOCATION, location);
    }
    let tagged = reply.single && operation.success != 201;
    let body = reply.into_bytes();
    if tagged {
        response.headers_mut().insert(ETAG, etag(&body));
    }
    *response.body_mut() = Bytes::from(body);
    response
}

/// `If-Match` holds if the resource still is what the caller read (412 otherwise).
fn check_if_match(request: &Request<'_>, world: &World) -> Result<(), ApiError> {
    let Some(wanted) = request.head.headers.get(IF_MATCH) else {
        return Ok(());
    };
    let Some(reads) = request.route.reads_resource() else {
        return Ok(());
    };
    let Call::Read(call) = reads.operation.call else {
        return Ok(());
    };
    let names: Vec<&str> = reads.operation.path_parameters().collect();
    let input = request
        .params
        .iter()
        .filter(|(name, _)| names.contains(name));
    let input = input
        .map(|(name, value)| ((*name).to_owned(), Value::String(value.clone())))
        .collect();
    let current = etag(&call(world, Value::Object(input))?.into_bytes());
    let wanted = wanted.to_str().unwrap_or_default();
    if wanted == "*"
        || wanted
            .split(',')
            .any(|tag| tag.trim().as_bytes() == current.as_bytes())
    {
        return Ok(());
    }
    let detail = "the resource has changed since it was read: read it again and repeat the change on what it is now";
    Err(ApiError::new(ErrorCode::PreconditionFailed, detail))
}

fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    if let Some(version) = headers.get(API_VERSION_HEADER)
        && version.as_bytes() != API_VERSION.as_bytes()
    {
        let detail = format!("the Api-Version is not known: send {API_VERSION} or leave it out");
        return Err(ApiError::new(ErrorCode::InvalidHeader, detail));
    }
    if headers.contains_key(SANDBOX_SCENARIO) {
        let detail = "no scenario outcome has this name: this version of the sandbox has none yet";
        return Err(ApiError::new(ErrorCode::UnknownScenario, detail));
    }
    Ok(())
}

/// A body is JSON in UTF-8. Without a body no type is needed.
fn check_content_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let unsupported = |detail: &str| Err(ApiError::new(ErrorCode::UnsupportedMediaType, detail));
    let coding = headers
        .get(http::header::CONTENT_ENCODING)
        .map(HeaderValue::as_bytes);
    if !matches!(coding, None | Some(b"identity")) {
        return unsupported("a body is taken as it is, without a Content-Encoding");
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let Some(content_type) = types.next() else {
        let length = headers
            .get(http::header::CONTENT_LENGTH)
            .map(HeaderValue::as_bytes);
        let empty = matches!(length, None | Some(b"0"))
            && !headers.contains_key(http::header::TRANSFER_ENCODING);
        return if empty {
            Ok(())
        } else {
            unsupported("a body needs Content-Type: application/json")
        };
    };
    let text = content_type
        .to_str()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next() == Some("application/json") && types.next().is_none();
    let utf8 =
        parts.all(|part| part.is_empty() || matches!(part, "charset=utf-8" | "charset=\"utf-8\""));
    if json && utf8 {
        Ok(())
    } else {
        unsupported("the body's type must be application/json, in UTF-8")
    }
}

fn page_reply(page: Page) -> Response<Bytes> {
    let mut response = Response::new(page.body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    headers.insert(
        http::header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(page.csp),
    );
    headers.insert(
        http::header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
    if page.gzip {
        headers.insert(
            http::header::CONTENT_ENCODING,
            HeaderValue::from_static("gzip"),
        );
    }
    response
}

/// `Allow` and the like, as an error carries them.
fn error_header(name: &str) -> HeaderName {
    HeaderName::try_from(name).unwrap_or(ALLOW)
}

impl Cached {
    /// The reply, or 304 where the caller has it already.
    fn reply(&self, headers: &HeaderMap) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        let known = self.etag.as_ref().zip(headers.get(IF_NONE_MATCH));
        if known.is_some_and(|(etag, sent)| {
            sent.to_str().is_ok_and(|tags| {
                // Compared weakly, as RFC 9110 (§13.1.2) wants it.
                let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
                tags.split(',')
                    .any(|tag| tag.trim() == "*" || strong(tag).as_bytes() == etag.as_bytes())
            })
        }) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            *response.body_mut() = self.body.clone();
        }
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(REQUEST_ID, self.request_id.clone());
        if let Some(etag) = &self.etag {
            headers.insert(ETAG, etag.clone());
        }
        response
    }
}

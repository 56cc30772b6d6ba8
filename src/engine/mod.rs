//! The engine: from the head and body of a request to its reply, through the one order of refusal.
//!
//! route → key → headers → content type → parse → idempotency → shape → handler (existence, permission, state, money) →
//! commit → record → reply. May import everything to its left and the plain types of `http`; knows no socket and no clock but
//! what it is told. Each world is behind its own lock, held for the step and not for the writing of the reply.

mod cache;
mod headers;
mod idempotency;
mod problem;
mod request;
mod router;
mod worlds;
mod write;

pub(crate) use worlds::is_usable_key;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::api::operation::{Call, Process};
use crate::api::reply::Reply;
use crate::api::system;
use crate::engine::cache::{Cached, ReadCache};
use crate::engine::headers::{check_content_type, check_headers};
use crate::engine::request::{Request, etag, request_id};
use crate::engine::router::{Found, Route, Router};
use crate::engine::worlds::{Slot, Worlds};
use crate::engine::write::{guard, write};
use crate::value::error::{ApiError, ErrorCode};
use crate::value::stream::Key;
use crate::value::time::Timestamp;
use crate::world::base::{Base, Shape};
use crate::world::{ClockMode, World};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SANDBOX_TIME: HeaderName = HeaderName::from_static("sandbox-time");
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

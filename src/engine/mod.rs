//! The engine: makes a reply from the head and body of a request, in the fixed order of refusal.
//!
//! route → key → headers → injected fault before the commit → content type → parse → idempotency → shape →
//! handler (existence, permission, state,
//! money) → commit → record → injected fault after the commit → reply. May import everything to its left and
//! the plain types of `http`. It
//! knows no socket, and only the clocks it is given. Each world has its own lock, held for the step and not
//! while the reply is written.

mod advance;
mod cache;
pub(crate) mod contract;
mod delivery_waker;
mod fault;
mod headers;
mod idempotency;
mod outcomes;
mod problem;
pub(crate) mod recording;
mod represent;
mod request;
mod request_log;
mod router;
mod worlds;
mod write;

pub(crate) use advance::Unfinished;
pub(crate) use delivery_waker::{Courier, Duty, Worker};
pub(crate) use worlds::is_usable_key;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ALLOW, CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde_json::Value;

use crate::api::operation::{Call, Host, OpenWorld, Process, Session};
use crate::api::pdf::PDF;
use crate::api::reply::Reply;
use crate::api::system;
use crate::engine::cache::{Cached, ReadCache};
use crate::engine::contract::{Auth, Overlay};
use crate::engine::fault::Refused;
use crate::engine::headers::{check_content_type, check_headers};
use crate::engine::recording::{Before, Recorder};
use crate::engine::represent::Form;
use crate::engine::request::{Request, etag, request_id};
use crate::engine::request_log::Trace;
use crate::engine::router::{Found, Route, Router};
use crate::engine::worlds::{Slot, Worlds};
use crate::engine::write::{guard, write};
use crate::tester::outbox::Settings;
use crate::tester::snapshots::TesterPart;
use crate::tester::wire::ExchangePlan;
use crate::value::{ApiError, ErrorCode, Key, Span, Timestamp};
use crate::world::script::{OutcomeRule, Scenario};
use crate::world::{Base, ClockMode, Shape, World};

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SANDBOX_TIME: HeaderName = HeaderName::from_static("sandbox-time");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How the network layer must send a reply. An injected fault puts it into the reply's extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transport {
    /// Delay the finished reply by this time.
    pub(crate) delay: Duration,
    /// Close the connection instead of replying.
    pub(crate) lost: bool,
    /// How the body is sent.
    pub(crate) body: Delivery,
}

/// How a body is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    #[default]
    Whole,
    /// Its first half, then the end of the connection.
    Truncated,
    /// A few bytes at a time.
    Slow,
}

/// A short hash that names the world in the log, in a reply's extensions. The key cannot be guessed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorldTag(pub(crate) u32);

/// A page that is not an operation: the documents and the viewer.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
    /// Whether the body is gzip.
    pub(crate) gzip: bool,
    /// `Content-Security-Policy`.
    pub(crate) csp: &'static str,
}

/// Finds a page by its path. The caller passes it in, because pages are rendered to the right of the engine.
pub(crate) type Pages = fn(&str, &Overlay) -> Option<Page>;

/// The default number of events that a world keeps: some gigabytes, and weeks of calls.
pub(crate) const MAX_EVENTS: u64 = 1_000_000;

/// The configuration of an engine.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) mode: ClockMode,
    /// The only keys that open a world; any but live-looking ones if empty.
    pub(crate) api_keys: Vec<String>,
    /// The contract overlay. Its keys are accepted in addition to those above.
    pub(crate) contract: Overlay,
    pub(crate) max_worlds: usize,
    /// Events that each world keeps; all of them if none.
    pub(crate) max_events: Option<u64>,
    pub(crate) pages: Pages,
    /// Scenarios that can be loaded by name.
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    /// Records every input that changes a world.
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its configuration contains keys, and it has many worlds.
        f.debug_struct("Engine").field("seed", &self.config.seed).finish_non_exhaustive()
    }
}

/// All worlds and the access to them. Shared by all threads.
pub(crate) struct Engine {
    config: Config,
    router: Router,
    worlds: Worlds,
    /// The cached reads of unchanged worlds, which all return the same answers.
    untouched: std::sync::Mutex<ReadCache>,
    /// Virtual time in a world driven by the wall clock.
    wall: AtomicI64,
    /// Its start: the start of virtual time, or the end of a continued recording.
    wall_origin: AtomicI64,
    /// Milliseconds of the wall clock since the server started, as last reported. Rates are measured by it.
    edge_ms: AtomicU64,
    /// Scenarios that can be loaded by name: the shipped ones, and those of files.
    scenarios: RwLock<Vec<Arc<Scenario>>>,
}

/// A request whose head was accepted.
pub(crate) struct Admitted(Target);

enum Target {
    Page(Page),
    Operation {
        route: &'static Route,
        params: Vec<(&'static str, String)>,
        slot: Option<Arc<Slot>>,
        /// The outcomes that the request chooses.
        outcomes: Vec<OutcomeRule>,
        /// The faults of the exchange, if there are any.
        verdict: Option<Box<ExchangePlan>>,
    },
}

impl Engine {
    /// An engine without worlds; they open as keys come.
    pub(crate) fn new(config: Config) -> Self {
        let base = Arc::new(Base::new(config.seed, config.shape.clone()));
        Self {
            wall: AtomicI64::new(config.shape.start.millis()),
            wall_origin: AtomicI64::new(config.shape.start.millis()),
            worlds: Worlds::new(
                base,
                config.mode,
                Auth {
                    keys: [&*config.api_keys, &config.contract.auth.keys].concat(),
                    ..config.contract.auth.clone()
                },
                config.max_worlds,
                config.max_events,
                config.recorder.clone(),
            ),
            router: Router::new(&config.contract.rows),
            edge_ms: AtomicU64::new(0),
            untouched: std::sync::Mutex::new(ReadCache::new(cache::SHARED_BYTES)),
            scenarios: RwLock::new(config.scenarios.clone()),
            config,
        }
    }

    /// Starts every world with these scenarios. Must be called before the first request.
    pub(crate) fn with_started(mut self, scenarios: Vec<Arc<Scenario>>) -> Self {
        self.worlds.started = RwLock::new(scenarios);
        self
    }

    /// Replaces the scenarios that can be loaded by name. Worlds that run one of them continue with its new
    /// rows.
    pub(crate) fn renew_scenarios(&self, scenarios: Vec<Arc<Scenario>>) {
        let mut known = self.scenarios.write().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(&scenarios);
        drop(known);
        if let Some(renewed) = crate::tester::renewed(&self.worlds.started(), &scenarios) {
            let started = self.worlds.started.write();
            *started.unwrap_or_else(PoisonError::into_inner) = renewed;
        }
        for slot in self.worlds.recorded() {
            let mut world = slot.world_mut();
            let renewed = crate::tester::renewed(&slot.tester().scenarios, &scenarios);
            let Some(renewed) = renewed else { continue };
            let world = &mut *world;
            let done = guard(world, |world| {
                let tester = &mut *slot.tester();
                let mut session = Session { world, tester, host: self };
                session.end_scenarios();
                for scenario in renewed {
                    session.begin_scenario(scenario);
                }
                slot.rearm(tester);
                Ok(())
            });
            done.ok(); // a bug there was logged
            slot.changed(world);
        }
    }

    /// The clock of a fresh world.
    pub(crate) const fn mode(&self) -> ClockMode {
        self.config.mode
    }

    /// The base of every fresh world.
    pub(crate) fn base(&self) -> &Arc<Base> {
        self.worlds.base()
    }

    /// Whether only listed keys are accepted.
    pub(crate) fn is_closed(&self) -> bool {
        !(self.config.api_keys.is_empty() && self.config.contract.auth.keys.is_empty())
    }

    /// Reports the virtual time of worlds that the wall clock drives.
    pub(crate) fn tick(&self, since_start: Duration, speed: u32) {
        let ms = i64::try_from(since_start.as_millis())
            .unwrap_or(i64::MAX)
            .saturating_mul(i64::from(speed));
        let origin = Timestamp::from_millis(self.wall_origin.load(Ordering::Relaxed));
        let now = origin.plus_millis(ms);
        self.wall.store(now.millis(), Ordering::Relaxed);
        for slot in self.worlds.office().watched() {
            self.follow_eagerly(&slot);
        }
    }

    /// Starts sending webhooks. In existing worlds (restored from a write-ahead log), only new events are
    /// sent. Must be called before the first
    /// request.
    pub(crate) fn open_post(&self, settings: Settings, courier: Arc<dyn Courier>) {
        let office = self.worlds.office();
        office.open(Arc::new(settings), courier);
        for slot in self.worlds.recorded() {
            let mut outbox = office.outbox(&slot.world());
            let mut tester = slot.tester();
            outbox.put_shaping(tester.outbox.shaping().clone());
            tester.outbox = outbox;
            drop(tester);
            slot.tester_changed();
        }
    }

    /// All checks before a body is read. An error is the finished refusal.
    pub(crate) fn admit(&self, head: &Parts) -> Result<Admitted, Response<Bytes>> {
        self.target(head).map(Admitted).map_err(|refused| {
            let mut refusal = match refused {
                Refused::Error(error) => self.refusal(head, &error),
                Refused::Injected(refusal) => *refusal,
            };
            echo_trace(head, &mut refusal);
            self.mark(head, &mut refusal);
            self.leave(head, refusal)
        })
    }

    fn target(&self, head: &Parts) -> Result<Target, Refused> {
        let path = head.uri.path();
        let (route, params) = match self.router.find(&head.method, path)? {
            Found::Route(route, params) => (route, params),
            Found::Nothing(error) => match (self.config.pages)(path, &self.config.contract) {
                Some(page) if head.method == http::Method::GET => return Ok(Target::Page(page)),
                Some(_) => {
                    return Err(router::not_allowed(head.method.as_str(), "GET".to_owned()).into());
                }
                None => return Err(error.into()),
            },
        };
        let open = matches!(route.operation.call, Call::Open(_));
        let slot = match worlds::bearer(&head.headers) {
            Err(_) if open && !head.headers.contains_key(http::header::AUTHORIZATION) => None,
            key => Some(self.worlds.open(key?)?),
        };
        check_headers(&head.headers)?;
        let outcomes = outcomes::wanted(&head.headers, self)?;
        let verdict = self.judge(route.operation, slot.as_deref(), head)?;
        if route.operation.method.has_body() {
            check_content_type(&head.headers)?;
        }
        Ok(Target::Operation { route, params, slot, outcomes, verdict })
    }

    /// The rest, with the complete body, which is empty if there was none.
    pub(crate) fn answer(&self, admitted: Admitted, head: &Parts, body: Bytes) -> Response<Bytes> {
        let (route, params, slot, outcomes, verdict) = match admitted.0 {
            Target::Page(page) => return page_reply(page),
            Target::Operation { route, params, slot, outcomes, verdict } => {
                (route, params, slot, outcomes, verdict)
            }
        };
        let request = Request {
            route,
            params: &params,
            head,
            body: &body,
            outcomes: &outcomes,
            trace: Trace::default(),
        };
        let mut response = match &slot {
            Some(slot) => self.answer_world(&request, slot),
            None => self.answer_open(route, None),
        };
        if let Some(verdict) = &verdict {
            fault::after_commit(verdict, &mut response);
        }
        if let Some(slot) = &slot {
            request_log::note(&request, slot, verdict.as_deref(), &response);
        }
        echo_trace(head, &mut response);
        self.leave(head, response)
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
        let id = base.key().with("open").with(route.operation.name).at(version);
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

    fn answer_world(&self, request: &Request<'_>, slot: &Arc<Slot>) -> Response<Bytes> {
        let writes = !matches!(request.route.operation.call, Call::Open(_) | Call::Read(_));
        if let (true, Some(tape)) = (writes, &slot.tape)
            && let Err(error) = tape.accepts()
        {
            return problem::reply(&error, &request.refused_id(&slot.world()));
        }
        if self.config.mode == ClockMode::Real && slot.world().mode() == ClockMode::Real {
            self.follow_wall(slot);
        }
        let mut response = match request.route.operation.call {
            Call::Open(_) => self.answer_open(request.route, Some(&slot.world())),
            Call::Read(call) => self.read(request, slot, call),
            Call::Write(_) | Call::Drive(_) | Call::Tester(_) => {
                let unfinished = advance::begin(request, slot);
                unfinished.unwrap_or_else(|| write(request, slot, self))
            }
        };
        response.extensions_mut().insert(slot.tag());
        if let Some(ticket) = slot.tape.as_ref().and_then(recording::Tape::ticket) {
            response.extensions_mut().insert(ticket);
        }
        let route = request.route;
        if route.status != route.operation.success && response.status() == route.operation.success {
            *response.status_mut() =
                StatusCode::from_u16(route.status).expect("a contract holds HTTP statuses");
        }
        response
    }

    /// Gives the headers of a request their internal names, before all other code.
    pub(crate) fn enter(&self, head: &mut Parts) {
        let dialect = &self.config.contract.dialect;
        dialect.enter(head.uri.path(), &mut head.headers);
    }

    /// Reply headers that a page of another origin may read, by their names in the contract.
    pub(crate) fn exposed_headers(&self) -> Vec<String> {
        self.config.contract.dialect.reply_headers()
    }

    /// Translates a reply into the dialect of the contract. This is the last change of a reply.
    fn leave(&self, head: &Parts, response: Response<Bytes>) -> Response<Bytes> {
        let dialect = &self.config.contract.dialect;
        dialect.leave(head.uri.path(), response)
    }

    fn follow_wall(&self, slot: &Arc<Slot>) {
        let world = &mut *slot.world_mut();
        let before = Before::of(world);
        let now = Timestamp::from_millis(self.wall.load(Ordering::Relaxed));
        let followed = guard(world, |world| {
            system::follow(world, now);
            Ok(())
        });
        followed.ok(); // a bug there was logged; the request is still answered
        if let Some(tape) = &slot.tape {
            tape.followed(now, before, world);
        }
        if world.version() != before.version() {
            slot.changed(world);
        }
        slot.post_events(world);
    }

    /// A read is a pure function of the world's version, path and query. Its answer is cached until the world
    /// changes.
    fn read(&self, request: &Request<'_>, slot: &Slot, call: ReadCall) -> Response<Bytes> {
        let form = Form::wanted(request.route.operation, &request.head.headers);
        let (place, world) = (form.place(request.target()), slot.world());
        request.trace.now.set(Some(world.now()));
        let untouched = world.version() == 0 && world.is_fresh();
        // If the wall clock drives the world, time alone changes the answers.
        let is_lasting = world.mode() != ClockMode::Real;
        let (kept, time) = {
            let mut memory = slot.memory();
            let kept = if untouched || !is_lasting { None } else { memory.reads.get(&place) };
            (kept, memory.time_header(world.now()))
        };
        let kept = if untouched && is_lasting { self.shared_cache().get(&place) } else { kept };
        let answer = match kept {
            Some(cached) => Ok(cached),
            None => read(request, &world, call, form).map(|cached| {
                if !is_lasting {
                    cached
                } else if untouched {
                    self.shared_cache().put(&place, cached)
                } else {
                    slot.memory().reads.put(&place, cached)
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

    /// A panic under the lock cannot leave half an answer, because each is inserted as a whole.
    fn shared_cache(&self) -> std::sync::MutexGuard<'_, ReadCache> {
        self.untouched.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn refusal(&self, head: &Parts, error: &ApiError) -> Response<Bytes> {
        let key = Key::new(self.config.seed)
            .with("refused")
            .with(head.method.as_str())
            .with(head.uri.path());
        let mut response = problem::reply(error, &request_id(key));
        let time = self.config.shape.start.to_string();
        response
            .headers_mut()
            .insert(SANDBOX_TIME, HeaderValue::try_from(time).expect("an instant is ASCII"));
        response
    }

    /// A refusal that the network layer decided.
    pub(crate) fn refuse(
        &self,
        head: Option<&Parts>,
        code: ErrorCode,
        detail: &str,
    ) -> Response<Bytes> {
        let error = ApiError::new(code, detail);
        if let Some(head) = head {
            return self.leave(head, self.refusal(head, &error));
        }
        let id = request_id(Key::new(self.config.seed).with("refused"));
        let dialect = &self.config.contract.dialect;
        dialect.leave("", problem::reply(&error, &id))
    }

    /// One call in the process, without a socket; used by replays.
    pub(crate) fn call(&self, request: http::Request<Bytes>) -> Response<Bytes> {
        let (mut head, body) = request.into_parts();
        self.enter(&mut head);
        match self.admit(&head) {
            Ok(admitted) => self.answer(admitted, &head, body),
            Err(refusal) => {
                Self::refused(&head, &body, &refusal);
                refusal
            }
        }
    }

    /// Reads the world of a key, which opens if it is new.
    pub(crate) fn with_world<T>(
        &self,
        key: &str,
        look: impl FnOnce(&World) -> T,
    ) -> Result<T, ApiError> {
        Ok(look(&self.worlds.open(key)?.world()))
    }

    /// Advances the clock of a key's world, attempts the due deliveries on the way, and returns the new time.
    pub(crate) async fn advance(&self, key: &str, by: Span) -> Result<Timestamp, ApiError> {
        advance::by(&self.worlds.open(key)?, by).await
    }

    /// A world with endpoints follows the wall clock by itself, so that its webhooks are sent without a call.
    fn follow_eagerly(&self, slot: &Arc<Slot>) {
        let now = Timestamp::from_millis(self.wall.load(Ordering::Relaxed));
        let due = |world: &World| world.timers().next().is_some_and(|timer| timer.due <= now);
        let real = slot.world().mode() == ClockMode::Real;
        if real && slot.has_post() && (due(&slot.world()) || slot.is_due_by(now)) {
            self.follow_wall(slot);
        }
    }

    /// Calls a control row on a key's world and tester.
    pub(crate) fn at_tester<T>(
        &self,
        key: &str,
        act: impl FnOnce(&mut Session<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let slot = self.worlds.open(key)?;
        let world = &mut *slot.world_mut();
        slot.memory().next_tester_call();
        let done = guard(world, |world| {
            let tester = &mut slot.tester();
            act(&mut Session { world, tester, host: self })
        });
        slot.changed(world);
        done
    }
}

impl Host for Engine {
    fn scenarios(&self) -> Vec<Arc<Scenario>> {
        let known = self.scenarios.read();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError> {
        let mut known = self.scenarios().into_iter();
        let found = known.find(|scenario| scenario.name == name);
        found.ok_or_else(|| {
            let detail = format!("unknown scenario {name:?}: GET /_sandbox/scenarios lists them");
            ApiError::new(ErrorCode::UnknownScenario, detail)
        })
    }

    fn open(&self, key: &str, world: World, part: TesterPart) -> Result<(), ApiError> {
        self.worlds.open_on(key, world, part)
    }

    fn worlds(&self) -> Vec<OpenWorld> {
        self.worlds.list()
    }
}

/// Every reply returns the caller's trace.
fn echo_trace(head: &Parts, response: &mut Response<Bytes>) {
    if let Some(trace) = head.headers.get(TRACEPARENT) {
        response.headers_mut().insert(TRACEPARENT, trace.clone());
    }
}

type ReadCall = fn(&World, Value) -> Result<Reply, ApiError>;

fn read(
    request: &Request<'_>,
    world: &World,
    call: ReadCall,
    form: Form,
) -> Result<Cached, ApiError> {
    let input = request.bind(None)?;
    let row = request.route.operation;
    let pdf = row.pdf.filter(|_| form == Form::Pdf);
    let (body, single, file) = if let Some(pdf) = pdf {
        let pdf = pdf(world, input)?;
        let file = format!("inline; filename=\"{}.pdf\"", pdf.file);
        (pdf.to_pdf(), true, HeaderValue::try_from(file).ok())
    } else {
        let reply = call(world, input)?;
        let single = reply.single;
        (reply.into_bytes(), single, None)
    };
    let key =
        world.base().key().with("read").at(world.version()).with(&form.place(request.target()));
    Ok(Cached {
        etag: single.then(|| etag(&body)),
        body: Bytes::from(body),
        request_id: request_id(key),
        form,
        file,
        varies: row.pdf.is_some(),
    })
}

fn page_reply(page: Page) -> Response<Bytes> {
    let mut response = Response::new(page.body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    headers.insert(http::header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page.csp));
    headers.insert(http::header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if page.gzip {
        headers.insert(http::header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// The headers of an error, such as `Allow`.
fn error_header(name: &str) -> HeaderName {
    HeaderName::try_from(name).unwrap_or(ALLOW)
}

impl Cached {
    /// The reply, or 304 if the caller already has it.
    fn reply(&self, headers: &HeaderMap) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        let known = self.etag.as_ref().zip(headers.get(IF_NONE_MATCH));
        if known.is_some_and(|(etag, sent)| {
            sent.to_str().is_ok_and(|tags| {
                // Uses the weak comparison of RFC 9110 (§13.1.2).
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
        let content_type = match self.form {
            Form::Json => JSON,
            Form::Pdf => HeaderValue::from_static(PDF),
        };
        headers.insert(CONTENT_TYPE, content_type);
        headers.insert(REQUEST_ID, self.request_id.clone());
        if self.varies {
            headers.insert(VARY, HeaderValue::from_static("Accept"));
        }
        if let Some(file) = &self.file {
            headers.insert(CONTENT_DISPOSITION, file.clone());
        }
        if let Some(etag) = &self.etag {
            headers.insert(ETAG, etag.clone());
        }
        response
    }
}

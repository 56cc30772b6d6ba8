//! The steps of a request: check its head, answer its body, and translate the reply into the contract's dialect.

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use crate::api::host::Process;
use crate::api::operation::{Call, Contract, Operation};
use crate::engine::fault::{self, Faults, Refused};
use crate::engine::fork::Forking;
use crate::engine::headers::{
    JSON, REQUEST_ID, SANDBOX_TIME, check_content_type, check_headers, observes, own, own_if,
};
use crate::engine::keys::bearer;
use crate::engine::outcomes::Chosen;
use crate::engine::past::AsOf;
use crate::engine::recording::{self, Tape};
use crate::engine::represent::Form;
use crate::engine::request::{Prepared, Request, Trace, request_id};
use crate::engine::response::{Page, WorldTag, echo_trace, page_reply};
use crate::engine::router::{self, Found, Route};
use crate::engine::slot::Slot;
use crate::engine::state::Engine;
use crate::engine::turn::{Turn, Waiting};
use crate::engine::write::{can_store, refused, write};
use crate::engine::{advance, outcomes, problem, request_log, stream};
use crate::value::error::{ApiError, ErrorCode};
use crate::value::long_work;
use crate::value::stream::Key;
use crate::world::{ClockMode, World};

/// A request whose head was accepted.
pub(crate) struct Admitted(Target);

impl Admitted {
    /// Takes the turn of the request in its world. A read takes one only if it would have to wait.
    pub(crate) fn turn(&self) -> Option<Result<Turn, Waiting>> {
        let Accepted { route, slot: Some(slot), .. } = self.accepted()? else { return None };
        let waits = match route.operation.call {
            Call::Open(_) => false,
            Call::Read(_) => slot.is_busy(),
            Call::Write(_) | Call::Drive(_) | Call::Tester(_) => true,
        };
        waits.then(|| Turn::take(&slot.turns))
    }

    /// The world of the request in the access log.
    pub(crate) fn world(&self) -> Option<WorldTag> {
        self.accepted()?.slot.as_ref().map(|slot| slot.tag())
    }

    /// The place of the operation in [`Engine::operation_ids`]; none for a page.
    pub(crate) fn place(&self) -> Option<usize> {
        Some(self.accepted()?.route.place)
    }

    /// The call; none for a page.
    fn accepted(&self) -> Option<&Accepted> {
        match &self.0 {
            Target::Page(_) => None,
            Target::Operation(accepted) => Some(accepted),
        }
    }
}

enum Target {
    Page(Page),
    Operation(Box<Accepted>),
}

/// A call of an operation.
struct Accepted {
    route: &'static Route,
    params: Vec<(&'static str, String)>,
    slot: Option<Arc<Slot>>,
    form: Form,
    /// The outcomes that the request chooses.
    chosen: Vec<Chosen>,
    faults: Faults,
    /// Whether the request only observes, so that it is not logged.
    observes: bool,
    /// Whether it has headers that only this server reads.
    has_own: bool,
    /// Its parts that need no world, if they were read.
    prepared: Option<Result<Prepared, ApiError>>,
}

/// The size of a body whose parsing and handling may take long.
const LONG_BODY: usize = 32 * 1024;

/// Whether the request may delay other connections: its body is large, or its operation may take long and its world is large.
fn may_take_long(request: &Request, slot: &Slot) -> bool {
    request.body.len() > LONG_BODY || (request.route.operation.long && slot.is_large())
}

impl Engine {
    /// The ids of all served operations.
    pub(crate) fn operation_ids(&self) -> Vec<String> {
        self.router.routes().iter().map(|route| route.operation.operation_id()).collect()
    }

    /// All checks before a body is read. An error is the finished refusal.
    pub(crate) fn admit(&self, head: &Parts) -> Result<Admitted, Response<Bytes>> {
        self.target(head).map(Admitted).map_err(|refused| self.marked(head, refused))
    }

    /// The finished refusal, marked for the request log.
    fn marked(&self, head: &Parts, refused: Refused) -> Response<Bytes> {
        let mut refusal = match refused {
            Refused::Error(error) => self.refusal(head, &error),
            Refused::Injected(refusal) => *refusal,
        };
        echo_trace(&head.headers, &mut refusal);
        self.mark(head, &mut refusal);
        self.leave(head, refusal)
    }

    fn target(&self, head: &Parts) -> Result<Target, Refused> {
        let path = head.uri.path();
        let (route, params) = match self.router.find(&head.method, path)? {
            Found::Route(route, params) => (route, params),
            Found::Nothing(error) => {
                match (self.config.pages)(head, &self.config.contract, self.base()) {
                    Some(page) if head.method == http::Method::GET => {
                        return Ok(Target::Page(page));
                    }
                    Some(_) => {
                        return Err(router::not_allowed(
                            head.method.as_str(),
                            "GET, HEAD".to_owned(),
                        )
                        .into());
                    }
                    None => return Err(error.into()),
                }
            }
        };
        let open = matches!(route.operation.call, Call::Open(_));
        let slot = match bearer(&head.headers) {
            Err(_) if open && !head.headers.contains_key(http::header::AUTHORIZATION) => None,
            key => self.world_for(route.operation, key?)?,
        };
        let own = own(&head.headers);
        let observes = observes(&head.method, own);
        let is_used =
            route.operation.contract != Contract::Control && !matches!(observes, Ok(true));
        if let Some(slot) = slot.as_ref().filter(|_| is_used) {
            slot.tape.as_ref().map(Tape::opened);
        }
        check_headers(own)?;
        AsOf::of(route, &head.method, own)?;
        let observes = observes?;
        let form = Form::wanted(route, &head.headers)?;
        let chosen = outcomes::wanted(own)?;
        outcomes::resolved(&chosen, slot.as_deref(), self)?;
        let faults = if observes {
            Faults::Known(None)
        } else {
            self.judge_head(route.operation, slot.as_deref(), head, own)?
        };
        if route.operation.method.has_body() {
            check_content_type(&head.headers)?;
        }
        let accepted = Accepted {
            route,
            params,
            slot,
            form,
            chosen,
            faults,
            observes,
            has_own: !own.is_empty(),
            prepared: None,
        };
        Ok(Target::Operation(Box::new(accepted)))
    }

    /// Parses the body of a write before its turn, so that other requests to the world do not wait for it. A long
    /// body is parsed later, on a thread where it delays no other connection.
    pub(crate) fn prepare(admitted: &mut Admitted, head: &Parts, body: &Bytes) {
        if let Target::Operation(accepted) = &mut admitted.0
            && let Accepted { route, params, form, has_own, prepared, .. } = &mut **accepted
            && matches!(route.operation.call, Call::Write(_))
            && body.len() <= LONG_BODY
        {
            let own = own_if(*has_own, &head.headers);
            let request = Request::of(route, params, *form, (head, own, body), &[]);
            *prepared = Some(request.prepare());
        }
    }

    /// Answers the request with its complete body, which is empty if there was none.
    pub(crate) fn answer(
        &self,
        admitted: Admitted,
        head: &Parts,
        body: Bytes,
        turn: Option<Turn>,
    ) -> Response<Bytes> {
        let accepted = match admitted.0 {
            Target::Page(page) => return page_reply(page, head),
            Target::Operation(accepted) => *accepted,
        };
        let Accepted { route, params, slot, form, chosen, faults, observes, has_own, prepared } =
            accepted;
        let (slot, outcomes) = match self.in_turn(slot, head, &chosen) {
            Ok(found) => found,
            Err(error) => return self.marked(head, error.into()),
        };
        let own = own_if(has_own, &head.headers);
        let request = Request {
            trace: Trace::at(self.wall_ms()),
            prepared: Cell::new(prepared),
            turn: Cell::new(turn),
            ..Request::of(route, &params, form, (head, own, &body), &outcomes)
        };
        let verdict = match faults {
            Faults::Known(verdict) => verdict,
            Faults::ByInput => match self.judge_input(&request, slot.as_deref()) {
                Ok(verdict) => verdict,
                Err(refused) => {
                    let mut refusal = self.marked(head, refused);
                    self.refused(head, &body, &mut refusal);
                    return refusal;
                }
            },
        };
        let mut response = match &slot {
            Some(slot) => {
                let may_take_long = may_take_long(&request, slot);
                if long_work::is_full() && (may_take_long || slot.is_busy()) {
                    let detail = "too many long calculations are running; try again soon";
                    self.refusal(head, &ApiError::new(ErrorCode::Overloaded, detail))
                } else {
                    long_work::run_if(may_take_long, || self.answer_world(&request, slot))
                }
            }
            None => self.answer_open(route, None),
        };
        if let Some(verdict) = &verdict {
            fault::after_commit(verdict, &mut response);
        }
        if let Some(slot) = &slot
            && matches!(route.operation.call, Call::Tester(_))
            && head.method != http::Method::GET
            && response.status().is_success()
        {
            self.after_tester(head, route.operation, slot);
        }
        if let Some(slot) = slot.as_ref().filter(|_| !observes) {
            request_log::note(&request, slot, verdict.as_deref(), &mut response);
        }
        echo_trace(request.own, &mut response);
        self.leave(head, response)
    }

    /// Follows a successful call to the tester: its world may be deleted, or may be able to leave memory.
    fn after_tester(&self, head: &Parts, row: &Operation, slot: &Arc<Slot>) {
        if recording::deletes_world(row)
            && let Ok(key) = bearer(&head.headers)
        {
            self.worlds.close(key, slot);
        }
        self.worlds.room.search.renew();
    }

    /// The configuration and the state of the process.
    pub(crate) fn process(&self) -> Process {
        Process {
            seed: self.config.seed,
            shape: self.config.shape.clone(),
            mode: self.config.mode,
            worlds: self.worlds.count(),
            max_events: self.config.max_events,
            idempotency_key: self.config.contract.dialect.idempotency_key(),
            stored: self.config.recorder.as_ref().and_then(|recorder| recorder.stored()),
            figures: self.config.recorder.iter().flat_map(|recorder| recorder.figures()).collect(),
        }
    }

    fn answer_open(&self, route: &Route, world: Option<&World>) -> Response<Bytes> {
        let Call::Open(call) = route.operation.call else {
            unreachable!("only an open row is called without a world")
        };
        if route.operation.path == "/_sandbox/ready" && !self.is_ready() {
            let id = request_id(self.base().key().with("unready"));
            let detail = "this process is shutting down or has lost its database: send requests to another process";
            return problem::reply(&recording::moving(detail), &id);
        }
        let process = self.process();
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
        let storable = can_store(request, slot);
        if let Err(error) = storable.and_then(|()| self.most.check(request, slot)) {
            return refused(request, slot, &slot.world(), &error);
        }
        if self.config.mode == ClockMode::Real && slot.world().mode() == ClockMode::Real {
            self.follow_wall(slot);
        }
        let held = |mut response| {
            recording::hold(slot.tape.as_ref(), &mut response);
            response
        };
        let mut response = match request.route.operation.call {
            Call::Open(_) => held(self.answer_open(request.route, Some(&slot.world()))),
            Call::Read(_) if request.route.operation.streams => held(stream::open(request, slot)),
            Call::Read(call) => held(self.read(request, slot, call)),
            Call::Write(_) | Call::Drive(_) | Call::Tester(_) => {
                let unfinished = advance::begin(request, slot);
                unfinished
                    .unwrap_or_else(|| write(request, slot, Forking::new(self, &self.worlds, slot)))
            }
        };
        let route = request.route;
        if route.status != route.operation.success && response.status() == route.operation.success {
            *response.status_mut() =
                StatusCode::from_u16(route.status).expect("a contract holds HTTP statuses");
        }
        response
    }

    fn refusal(&self, head: &Parts, error: &ApiError) -> Response<Bytes> {
        let key = Key::new(self.config.seed)
            .with("refused")
            .with(head.method.as_str())
            .with(head.uri.path());
        let mut response = problem::reply(error, &request_id(key));
        // Without a world there is no virtual time.
        let slot = bearer(&head.headers).ok().and_then(|key| self.worlds.resident(key).ok()?);
        if let Some(slot) = slot {
            let now = slot.try_world().map(|world| world.now());
            let mut memory = slot.memory();
            let now = now.unwrap_or(memory.state.now);
            response.headers_mut().insert(SANDBOX_TIME, memory.time_header(now));
        }
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
            Ok(admitted) => self.answer(admitted, &head, body, None),
            Err(refusal) => {
                let mut refusal = refusal;
                self.refused(&head, &body, &mut refusal);
                refusal
            }
        }
    }

    /// Logs a request whose body could not be read.
    pub(crate) fn unread(&self, admitted: &Admitted, head: &Parts, refusal: &Response<Bytes>) {
        if let Some(Accepted { route, slot: Some(slot), observes: false, .. }) = admitted.accepted()
        {
            request_log::unread(slot, route.operation, head, refusal, self.wall_ms());
        }
    }
}

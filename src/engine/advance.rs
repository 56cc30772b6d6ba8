//! Advances the clock of a world with webhook endpoints in steps, and waits for the due deliveries between
//! the steps.
//!
//! The world's lock is held for a step and never while a receiver answers, because a receiver may call the
//! server. A world without endpoints advances in
//! one step without this module.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};

use crate::api::control::clock::{Advance, AdvanceClock};
use crate::api::operation::decode;
use crate::api::reply::IntoReply;
use crate::engine::headers::{JSON, REQUEST_ID, SANDBOX_TIME, show_waiting};
use crate::engine::problem;
use crate::engine::recording::{self, Before};
use crate::engine::request::{Request, advance_id, is_advance};
use crate::engine::slot::Slot;
use crate::engine::write::{guard, settle};
use crate::tester::outbox::delivery::Attempted;
use crate::value::{ApiError, ErrorCode, Span, Timestamp, long_work};
use crate::world::World;

/// In a reply's extensions: the rest of the reply, which the network layer awaits. The advance was accepted,
/// so it continues even if the caller
/// disconnects.
#[derive(Clone)]
pub(crate) struct Unfinished(Arc<Mutex<Option<Run>>>);

impl Unfinished {
    /// The finished reply, made from the first one.
    pub(crate) async fn finish(self, response: Response<Bytes>) -> Response<Bytes> {
        let run = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match run {
            Some(run) => run.reply(response).await,
            None => response,
        }
    }
}

/// Starts the answer to `advanceClock` in a world with endpoints; `None` in all other cases, including refusals.
pub(super) fn begin(request: &Request<'_>, slot: &Arc<Slot>) -> Option<Response<Bytes>> {
    if !is_advance(request.route.operation) || !slot.delivers() {
        return None;
    }
    let input = request.bind(request.parse().ok()?).ok()?;
    let input: AdvanceClock = decode(input).ok()?;
    let world = slot.world();
    let advance = Advance::of(&world, &input).ok()?;
    let id = advance_id(world.base(), world.log_length(), world.now());
    let run = Run::new(slot, advance);
    let mut response = Response::new(Bytes::new());
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response.headers_mut().insert(REQUEST_ID, id);
    let unfinished = Unfinished(Arc::new(Mutex::new(Some(run))));
    response.extensions_mut().insert(unfinished);
    show_waiting(&world, &mut response);
    Some(response)
}

/// Advances a world's clock by a duration.
pub(super) async fn by(slot: &Arc<Slot>, span: Span) -> Result<Timestamp, ApiError> {
    let advance = Advance::by(&slot.world(), span)?;
    let mut run = Run::new(slot, advance);
    run.drive().await?;
    let now = slot.world().now();
    Ok(now)
}

/// An advance in progress.
struct Run {
    slot: Arc<Slot>,
    advance: Advance,
    /// The number of the first attempt that belongs to the advance; `None` after its end.
    watch: Option<u64>,
}

impl Run {
    fn new(slot: &Arc<Slot>, advance: Advance) -> Self {
        Self { watch: Some(slot.tester().outbox.watch()), slot: Arc::clone(slot), advance }
    }

    async fn reply(mut self, mut response: Response<Bytes>) -> Response<Bytes> {
        let ended = self.drive().await;
        let deliveries = self.end();
        let world = self.slot.world();
        let id = response.headers().get(REQUEST_ID).cloned();
        match ended {
            Ok(()) => {
                let reply = self.advance.end(&world, deliveries).into_reply();
                *response.body_mut() = Bytes::from(reply.into_bytes());
            }
            Err(error) => {
                let id = id.unwrap_or(HeaderValue::from_static("req_0"));
                response = problem::reply(&error, &id);
            }
        }
        let time = self.slot.memory().time_header(world.now());
        response.headers_mut().insert(SANDBOX_TIME, time);
        recording::hold(self.slot.tape.as_ref(), &mut response);
        response
    }

    async fn drive(&mut self) -> Result<(), ApiError> {
        loop {
            poll_fn(|cx| self.slot.poll_quiet(cx)).await;
            if !self.step()? {
                return Ok(());
            }
        }
    }

    /// Advances the world until a delivery is due; false at the end.
    fn step(&mut self) -> Result<bool, ApiError> {
        let slot = Arc::clone(&self.slot);
        let world = &mut *slot.world_mut();
        // Checked under the lock: a lost world delivers nothing, so the advance would never end.
        if slot.is_lost() {
            return Err(why_lost(&slot));
        }
        let (before, reached) = (Before::of(world), self.advance.is_reached());
        let tasks = self.advance.tasks();
        slot.note_starts();
        slot.hold_deliveries(true);
        let more = self.step_held(world);
        let tasks = self.advance.tasks() - tasks;
        let is_end = self.advance.is_reached() && !reached;
        if let Some(tape) = &slot.tape {
            tape.advanced(before, world, tasks, is_end);
        }
        if before.differs(world) {
            slot.tester().keep_advance(world, before.at(), tasks, is_end);
        }
        slot.hold_deliveries(false);
        more
    }

    fn step_held(&mut self, world: &mut World) -> Result<bool, ApiError> {
        let mut ended = Ok(None);
        long_work::repeat(|| {
            ended = self.task(world);
            matches!(ended, Ok(None))
        });
        Ok(ended?.unwrap_or_default())
    }

    /// Runs the next task. Returns `None` if another task follows at once, and otherwise whether the advance
    /// continues after the deliveries.
    fn task(&mut self, world: &mut World) -> Result<Option<bool>, ApiError> {
        let delivery = {
            let outbox = &self.slot.tester().outbox;
            let due = world.timers().next().is_some_and(|timer| timer.due <= world.now());
            // All tasks of one instant run before any delivery.
            if !due && !outbox.is_quiet() && self.slot.delivers() {
                return Ok(Some(true));
            }
            outbox.next_virtual()
        };
        let delivery = delivery.filter(|_| self.slot.delivers());
        let advance = &mut self.advance;
        let more = guard(world, |world: &mut World| Ok(advance.step(world, delivery)))?;
        self.slot.changed(world);
        self.slot.deliver_events(world);
        if more {
            return Ok(None);
        }
        settle(world);
        self.slot.deliver_events(world);
        Ok(Some(false))
    }

    fn end(&mut self) -> Vec<Attempted> {
        let Some(from) = self.watch.take() else { return Vec::new() };
        let mut tester = self.slot.tester();
        let mut attempted = tester.outbox.unwatch(from);
        attempted.retain(|one| self.advance.caused(one));
        // Deliveries to a hanging receiver that were postponed during the wait are due now.
        self.slot.stir(&tester);
        attempted
    }
}

/// Why an advance cannot go on in a world.
fn why_lost(slot: &Slot) -> ApiError {
    if slot.is_closed() {
        let detail = "the world was deleted during the advance";
        return ApiError::new(ErrorCode::ResourceNotFound, detail);
    }
    recording::unavailable("inputs of the world could not be stored during the advance: repeat it")
}

impl Drop for Run {
    fn drop(&mut self) {
        self.end();
    }
}

impl Slot {
    /// No webhook is sent during a step that is not stored yet, because its event must be stored first.
    fn hold_deliveries(self: &Arc<Self>, held: bool) {
        if self.tape.is_some() {
            let mut tester = self.tester();
            tester.outbox.hold(held);
            if !held {
                self.stir(&tester);
            }
        }
    }
}

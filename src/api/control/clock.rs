//! The clock: read it and advance it.

use crate::api::control::pay_day;
use crate::api::prelude::*;
use crate::api::system;
use crate::tester::outbox::delivery::Attempted;
use crate::value::long_work;
use crate::world::envelope::event_id;
use crate::world::{ClockMode, EventShape};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/clock",
        summary: "Read the clock",
        description: "Returns virtual time, the clock mode, and what is due next: timers, and \
            deliveries to webhook endpoints.",
        ..operation!(tester get_clock)
    },
    Operation {
        path: "/_sandbox/clock/advance",
        summary: "Advance the clock",
        description: "Advances virtual time by a duration, to an instant, or until an event. Runs \
            the timers that are due by then, and waits until the deliveries that are due by then \
            were attempted. Returns the number of events of each type, and the first events and attempts that it \
            caused.",
        errors: &[ErrorCode::ResourceNotFound], // the world was deleted in the meantime
        example: r#"{"by":"10d"}"#,
        ..operation!(drive advance_clock)
    },
]);

/// Maximum number of timers shown.
const SHOWN_TIMERS: usize = 25;

/// Virtual time, and what is due next.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Clock {
    /// The current virtual time of the world.
    now: Timestamp,
    /// The clock mode of the world.
    mode: ClockMode,
    /// Number of waiting timers.
    pending: u64,
    /// The first timers, at most 25, in order of due time.
    next: Vec<Due>,
    /// Number of deliveries that wait for webhook endpoints.
    pending_deliveries: u64,
    /// The next deliveries, at most 25, in order of due time.
    next_deliveries: Vec<DueDelivery>,
}

/// A timer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DueTimer")]
pub(crate) struct Due {
    /// When the timer runs, in virtual time.
    at: Timestamp,
    /// The task that the timer runs.
    task: &'static str,
    /// The resource that the task is about; null for a row of a scenario.
    subject: Option<String>,
}

/// A delivery that is in flight or waiting.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DueDelivery {
    /// When the next attempt can be made, after the deliveries before it. The time is virtual if
    /// retries follow the virtual clock, otherwise it is wall-clock time.
    at: Timestamp,
    /// The id of the delivery.
    id: String,
    /// The event in the delivery.
    event_id: String,
    /// The event's type.
    #[serde(rename = "type")]
    name: String,
    /// The receiving endpoint.
    endpoint_id: String,
    /// Number of the attempt, from 1.
    attempt: u64,
}

fn get_clock(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Clock>> {
    let (world, outbox) = (&*session.world, &session.tester.outbox);
    let next = world.timers().take(SHOWN_TIMERS).map(|timer| Due {
        at: timer.due,
        task: timer.task.kind().name(),
        subject: timer.task.subject().map(|subject| subject.to_string()),
    });
    let next = next.collect();
    let lanes = outbox.lanes().iter();
    let now = outbox.now_in(world);
    let waiting = lanes.clone().flat_map(|lane| {
        let shown = lane.pending().map(move |delivery| DueDelivery {
            at: lane.attempt_at(delivery, now),
            id: delivery.id.clone(),
            event_id: event_id(&delivery.event),
            name: delivery.event.name.to_string(),
            endpoint_id: lane.endpoint.id.clone(),
            attempt: delivery.attempts.len() as u64 + 1,
        });
        shown.take(SHOWN_TIMERS)
    });
    let mut next_deliveries: Vec<DueDelivery> = waiting.collect();
    next_deliveries.sort_by_key(|delivery| delivery.at);
    next_deliveries.truncate(SHOWN_TIMERS);
    Ok(Plain(Clock {
        now: world.now(),
        mode: world.mode(),
        pending: world.timers().len() as u64,
        next,
        pending_deliveries: lanes.map(|lane| lane.waiting() as u64).sum(),
        next_deliveries,
    }))
}

/// How far to advance: exactly one of the three members.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AdvanceClock {
    /// Duration, such as `90s`, `10d` or `2bd`. Virtual time ends with the year 2199.
    by: Option<Span>,
    /// Instant to advance to. It must not be in the past.
    to: Option<Timestamp>,
    /// `next_event`: until the next event, or the next delivery attempt if that is earlier.
    /// `pay_day`: until 12:00 UTC of the next pay day of any company, or of a run. `idle`: until
    /// nothing is in progress, including retries of deliveries. Tasks with a calendar date, such as
    /// tax due dates, still wait for their date.
    until: Option<Until>,
    /// Maximum number of events in the response, and of deliveries; 0 to 100,000. Default: 1000.
    #[schemars(range(max = 100_000))]
    events_limit: Option<u64>,
}

/// Default maximum number of events in the response to an advance.
const SHOWN_EVENTS: u64 = 1_000;

/// The condition to stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AdvanceUntil")]
pub(crate) enum Until {
    NextEvent,
    Idle,
    PayDay,
}

/// What happened while the clock advanced.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ClockAdvance")]
pub(crate) struct Advanced {
    /// Virtual time before the call.
    from: Timestamp,
    /// Virtual time after the call.
    now: Timestamp,
    /// Number of events of each type, including those beyond the limit; without those that the log has dropped (`--max-events`).
    event_counts: BTreeMap<String, u64>,
    /// The first events, in order.
    events: Vec<EventShape>,
    /// The value of `after` with which `GET /_sandbox/events` lists the remaining events. Null if the response contains all of them.
    events_after: Option<u64>,
    /// Number of attempts to deliver to webhook endpoints.
    delivery_count: u64,
    /// The first attempts, in order.
    deliveries: Vec<Attempted>,
}

/// Maximum number of tasks of one advance, as a protection against an endless chain of tasks. No known world needs
/// this many.
const MOST_TASKS: usize = 10_000_000;

fn advance_clock(world: &mut World, input: AdvanceClock) -> Result<Plain<Advanced>> {
    let mut advance = Advance::of(world, &input)?;
    let mut hashed = world.log_length();
    long_work::repeat(|| {
        hashed = world.hash_log_since(hashed);
        advance.step(world, None)
    });
    Ok(advance.end(world, Vec::new()))
}

/// An advance of the clock in progress. It stops at each due delivery, so that the delivery is attempted at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance {
    from: Timestamp,
    /// Length of the log before the advance.
    logged: u64,
    goal: Goal,
    steps: usize,
    /// Number of tasks run.
    tasks: u64,
    /// Maximum number of events in the response.
    shown: u64,
}

#[derive(Clone, Copy, Debug)]
enum Goal {
    To(Timestamp),
    NextEvent,
    Idle,
    Reached,
    /// The next step was a delivery, which is attempted now.
    Attempted,
}

/// The instant that an advance by a duration leads to.
fn later(from: Timestamp, span: Span) -> Result<Timestamp> {
    from.checked_plus(span).ok_or_else(|| {
        let end = Timestamp::MAX;
        let detail = format!(
            "{span} after the world's time {from} is beyond {end}, where virtual time ends: \
                use a shorter duration"
        );
        ApiError::of_member("/by", "range", detail)
    })
}

impl Advance {
    /// The requested advance; an error refuses it.
    pub(crate) fn of(world: &World, input: &AdvanceClock) -> Result<Self> {
        let from = world.now();
        let goal = match (input.by, input.to, input.until) {
            (Some(span), None, None) => Goal::To(later(from, span)?),
            (None, Some(to), None) if to < from => {
                let detail = format!(
                    "{to} is before the world's time {from}, and the clock cannot go backwards: \
                        restore a snapshot (/_sandbox/snapshots) or reset the world instead"
                );
                return Err(ApiError::of_member("/to", "past", detail));
            }
            (None, Some(to), None) => Goal::To(to),
            (None, None, Some(Until::NextEvent)) => Goal::NextEvent,
            (None, None, Some(Until::Idle)) => Goal::Idle,
            (None, None, Some(Until::PayDay)) => Goal::To(pay_day::next(world)?),
            _ => {
                let detail = "expected exactly one of by, to and until";
                return Err(ApiError::of_member("", "one_of", detail));
            }
        };
        let shown = input.events_limit.unwrap_or(SHOWN_EVENTS);
        Ok(Self { shown, ..Self::to(world, goal) })
    }

    /// An advance by a duration; an error refuses it.
    pub(crate) fn by(world: &World, span: Span) -> Result<Self> {
        Ok(Self::to(world, Goal::To(later(world.now(), span)?)))
    }

    fn to(world: &World, goal: Goal) -> Self {
        let (from, logged) = (world.now(), world.log_length());
        Self { from, logged, goal, steps: 0, tasks: 0, shown: SHOWN_EVENTS }
    }

    /// Whether an attempt belongs to the advance. Attempts that were due before it could already be in progress.
    pub(crate) fn caused(&self, attempted: &Attempted) -> bool {
        attempted.at > self.from || attempted.sequence > self.logged
    }

    /// Number of tasks run so far.
    pub(crate) const fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Whether the goal is reached.
    pub(crate) fn is_reached(&self) -> bool {
        matches!(self.goal, Goal::Reached)
    }

    /// Moves to the next timer, or to an earlier delivery, which is then due. False if there is none left.
    pub(crate) fn step(&mut self, world: &mut World, delivery: Option<Timestamp>) -> bool {
        self.steps += 1;
        let timer = world.timers().next().map(|timer| timer.due);
        let last = match self.goal {
            Goal::To(to) => to,
            Goal::NextEvent if world.log_length() == self.logged => Timestamp::MAX,
            Goal::Idle if self.steps < MOST_TASKS => Timestamp::MAX,
            Goal::NextEvent | Goal::Idle | Goal::Reached | Goal::Attempted => return false,
        };
        // A task that only waits for its date is not in progress: a world is idle even if taxes will be due in it.
        let waits = |task: Task| task.kind().is_deadline() || world.is_repetition(task);
        let idle = || world.timers().all(|timer| waits(timer.task));
        let over = matches!(self.goal, Goal::Idle) && idle();
        let timer = timer.filter(|due| *due <= last && !over);
        let delivery =
            delivery.filter(|due| *due <= last && timer.is_none_or(|timer| *due < timer));
        match (delivery, timer, self.goal) {
            // A delivery does not change the world: a world is the same with and without endpoints.
            (Some(due), _, goal) => {
                world.follow_clock(due);
                if matches!(goal, Goal::NextEvent) {
                    self.goal = Goal::Attempted;
                }
            }
            (None, Some(due), _) => {
                system::run_next(world, due);
                self.tasks += 1;
            }
            (None, None, Goal::To(to)) => {
                system::advance(world, to);
                self.goal = Goal::Reached;
            }
            (None, None, _) => return false,
        }
        true
    }

    /// The response to the advance.
    pub(crate) fn end(self, world: &World, mut deliveries: Vec<Attempted>) -> Plain<Advanced> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for event in system::events_since(world, self.logged) {
            *counts.entry(&event.name).or_default() += 1;
        }
        let shown = usize::try_from(self.shown).unwrap_or(usize::MAX);
        let events = system::events_since(world, self.logged).take(shown);
        let last = self.logged.max(world.log().first_sequence() - 1) + events.len() as u64;
        let delivery_count = deliveries.len() as u64;
        deliveries.truncate(shown);
        Plain(Advanced {
            from: self.from,
            now: world.now(),
            event_counts: counts
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
            events: events.map(EventShape::of).collect(),
            events_after: (last < world.log_length()).then_some(last),
            delivery_count,
            deliveries,
        })
    }
}

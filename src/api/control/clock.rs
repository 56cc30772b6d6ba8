//! The clock in the tester's hands, and starting again.

use crate::api::prelude::*;
use crate::api::system;
use crate::tester::outbox::delivery::Attempted;
use crate::world::envelope::event_id;
use crate::world::{Base, ClockMode, EventShape};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/clock",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Read the clock",
        description: "Virtual time, how it passes, and what falls due next: what the clock does by itself, and deliveries to webhook \
            endpoints.",
        ..operation!(tester get_clock)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/clock/advance",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Advance the clock",
        description: "By a length of time, to an instant, or until something happens. Returns when the world is quiet and the \
            deliveries to webhook endpoints that fell due were attempted, with the events and attempts that were caused.",
        example: r#"{"by":"10d"}"#,
        ..operation!(drive advance_clock)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/reset",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Reset the world",
        description: "This key's world as it was before anything happened, or that of another seed.",
        example: "{}",
        errors: &[ErrorCode::UnknownScenario],
        ..operation!(tester reset_world)
    },
];

/// Timers shown by the clock.
const SHOWN_TIMERS: usize = 25;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct GetClock {}

/// Virtual time and what falls due.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Clock {
    /// Virtual time.
    now: Timestamp,
    /// How it passes.
    mode: ClockMode,
    /// How many timers wait.
    pending: u64,
    /// The first of them.
    next: Vec<Due>,
    /// How many deliveries wait for webhook endpoints.
    pending_deliveries: u64,
    /// The first of them to fall due.
    next_deliveries: Vec<DueDelivery>,
}

/// Something that falls due.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Due {
    /// When.
    at: Timestamp,
    /// What the clock does then.
    task: &'static str,
    /// The resource that it does it to; null for a row of a scenario.
    subject: Option<String>,
}

/// A delivery that is in flight or falls due.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DueDelivery {
    /// When: on the virtual clock where retries follow it, else on the machine's.
    at: Timestamp,
    /// The delivery.
    id: String,
    /// The event that it carries.
    event_id: String,
    /// The event's type.
    #[serde(rename = "type")]
    name: String,
    /// The endpoint it goes to.
    endpoint_id: String,
    /// Which attempt it will be, from 1.
    attempt: u64,
}

fn get_clock(session: &mut Session<'_>, _: GetClock) -> Result<Plain<Clock>, ApiError> {
    let (world, outbox) = (&*session.world, &session.tester.outbox);
    let next = world.timers().take(SHOWN_TIMERS).map(|timer| Due {
        at: timer.due,
        task: system::row(timer.task).name,
        subject: timer.task.subject().map(|subject| subject.to_string()),
    });
    let next = next.collect();
    let lanes = outbox.lanes().iter();
    let waiting = lanes.clone().flat_map(|lane| {
        let shown = lane.pending().map(|delivery| DueDelivery {
            at: delivery.due,
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

/// One of three ways to say how far.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AdvanceClock {
    /// A length of time: `90s`, `10d`, `2bd`.
    by: Option<Span>,
    /// An instant, not in the past.
    to: Option<Timestamp>,
    /// `next_event`: the next event, or the next attempt of a delivery if that comes first. `idle`: until nothing is under
    /// way any more, retries of deliveries included; taxes that fall due and requirements with a last day wait for their date.
    until: Option<Until>,
}

/// How far, by what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Until {
    NextEvent,
    Idle,
}

/// What came of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Advanced {
    /// Virtual time before.
    from: Timestamp,
    /// Virtual time now.
    now: Timestamp,
    /// Everything that happened, in order.
    events: Vec<EventShape>,
    /// Every attempt at a delivery to a webhook endpoint, in order.
    deliveries: Vec<Attempted>,
}

/// Events of one advance that are tasks of an endless chain would keep a call running for ever; nothing sets such a chain
/// today, and this many tasks is more than any world needs.
const MOST_TASKS: usize = 10_000_000;

fn advance_clock(world: &mut World, input: AdvanceClock) -> Result<Plain<Advanced>, ApiError> {
    let mut advance = Advance::of(world, &input)?;
    while advance.step(world, None) {}
    Ok(advance.end(world, Vec::new()))
}

/// An advance of the clock on its way, stop by stop: where deliveries are due in between, they are attempted there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advance {
    from: Timestamp,
    /// Length of the log before.
    logged: u64,
    goal: Goal,
    steps: usize,
    /// Tasks that were run.
    tasks: u64,
}

#[derive(Clone, Copy, Debug)]
enum Goal {
    To(Timestamp),
    NextEvent,
    Idle,
    Reached,
    /// The next thing to happen was a delivery, which is attempted now.
    Attempted,
}

impl Advance {
    /// What was asked for; an error is its refusal.
    pub(crate) fn of(world: &World, input: &AdvanceClock) -> Result<Self, ApiError> {
        let from = world.now();
        let goal = match (input.by, input.to, input.until) {
            (Some(span), None, None) => Goal::To(from.plus(span)),
            (None, Some(to), None) if to < from => {
                let detail = format!(
                    "{to} is before the world's {from}, and the clock does not run back: restore a snapshot \
                     (/_sandbox/snapshots) or reset the world instead"
                );
                return Err(ApiError::invalid(vec![Violation::new("/to", "past", detail)]));
            }
            (None, Some(to), None) => Goal::To(to),
            (None, None, Some(Until::NextEvent)) => Goal::NextEvent,
            (None, None, Some(Until::Idle)) => Goal::Idle,
            _ => {
                let detail = "expected exactly one of by, to and until";
                return Err(ApiError::invalid(vec![Violation::new("", "one_of", detail)]));
            }
        };
        Ok(Self::to(world, goal))
    }

    /// By a length of time.
    pub(crate) fn by(world: &World, span: Span) -> Self {
        Self::to(world, Goal::To(world.now().plus(span)))
    }

    fn to(world: &World, goal: Goal) -> Self {
        Self { from: world.now(), logged: world.log_length(), goal, steps: 0, tasks: 0 }
    }

    /// Whether an attempt belongs to it: not what was due before it began, which may have been on its way already.
    pub(crate) fn caused(&self, attempted: &Attempted) -> bool {
        attempted.at > self.from || attempted.sequence > self.logged
    }

    /// How many tasks it has run so far.
    pub(crate) const fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Whether the clock was moved to where it was to be.
    pub(crate) fn is_reached(&self) -> bool {
        matches!(self.goal, Goal::Reached)
    }

    /// Moves to the next stop: the next timer, or before it the next delivery, which is due then. False when there is none left.
    pub(crate) fn step(&mut self, world: &mut World, delivery: Option<Timestamp>) -> bool {
        self.steps += 1;
        let timer = world.timers().next().map(|timer| timer.due);
        let last = match self.goal {
            Goal::To(to) => to,
            Goal::NextEvent if world.log_length() == self.logged => Timestamp::MAX,
            Goal::Idle if self.steps < MOST_TASKS => Timestamp::MAX,
            Goal::NextEvent | Goal::Idle | Goal::Reached | Goal::Attempted => return false,
        };
        // What only waits for its date is not under way: a world is idle although taxes will fall due in it.
        let idle = || !world.timers().any(|timer| !timer.task.is_deadline());
        let over = matches!(self.goal, Goal::Idle) && idle();
        let timer = timer.filter(|due| *due <= last && !over);
        let delivery =
            delivery.filter(|due| *due <= last && timer.is_none_or(|timer| *due < timer));
        match (delivery, timer, self.goal) {
            // Not a change of the world: it is the same with and without endpoints.
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

    /// What came of it.
    pub(crate) fn end(self, world: &World, deliveries: Vec<Attempted>) -> Plain<Advanced> {
        let events = system::events_since(world, self.logged);
        Plain(Advanced {
            from: self.from,
            now: world.now(),
            events: events.map(|event| EventShape::of(event)).collect(),
            deliveries,
        })
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ResetWorld {
    /// The seed to grow from; the world's own if absent.
    seed: Option<u64>,
    /// A scenario to run from the start, by name; those that run now start again if absent.
    scenario: Option<Text<128>>,
}

/// The world after a reset.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Reset {
    /// The seed it is grown from.
    seed: u64,
    /// Virtual time.
    now: Timestamp,
}

fn reset_world(session: &mut Session<'_>, input: ResetWorld) -> Result<Plain<Reset>, ApiError> {
    let named = input.scenario.as_ref();
    let named = named.map(|name| session.host.scenario(name.as_str())).transpose()?;
    let (base, mut mode) = (session.world.base(), session.world.mode());
    let seed = input.seed.unwrap_or(base.seed());
    let mut base = if seed == base.seed() {
        base.clone()
    } else {
        Base::new(seed, base.shape().clone()).into()
    };
    if let Some(scenario) = &named {
        let grown = scenario.world.base(&base);
        base = grown.map_err(|detail| ApiError::new(ErrorCode::ValidationFailed, detail))?;
        mode = scenario.world.clock.unwrap_or(mode);
    }
    let running = std::mem::take(&mut session.tester.scenarios);
    let running = named.map_or(running, |scenario| vec![scenario]);
    session.world.restart(base, mode);
    for scenario in running {
        session.begin_scenario(scenario);
    }
    session.world.begins_here();
    Ok(Plain(Reset { seed: session.world.base().seed(), now: session.world.now() }))
}

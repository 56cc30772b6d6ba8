//! The clock in the tester's hands, and starting again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::control::events::EventShape;
use crate::api::operation::{Contract, Domain, Method, Operation, operation};
use crate::api::reply::Plain;
use crate::api::system;
use crate::value::error::{ApiError, Violation};
use crate::value::time::{Span, Timestamp};
use crate::world::base::Base;
use crate::world::{ClockMode, World};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/_sandbox/clock",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Read the clock",
        description: "Virtual time, how it passes, and what falls due next.",
        ..operation!(read get_clock)
    },
    Operation {
        method: Method::Post,
        path: "/_sandbox/clock/advance",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Advance the clock",
        description: "By a length of time, to an instant, or until something happens. Returns when the world is quiet, with the events \
            that were caused.",
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
        ..operation!(drive reset_world)
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
}

/// Something that falls due.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Due {
    /// When.
    at: Timestamp,
    /// What the clock does then.
    task: &'static str,
    /// The resource that it does it to.
    subject: String,
}

fn get_clock(world: &World, _: GetClock) -> Result<Plain<Clock>, ApiError> {
    Ok(Plain(clock(world)))
}

fn clock(world: &World) -> Clock {
    let next = world.timers().take(SHOWN_TIMERS).map(|timer| Due {
        at: timer.due,
        task: system::row(timer.task).name,
        subject: timer.task.subject().to_string(),
    });
    Clock {
        now: world.now(),
        mode: world.mode(),
        pending: world.timers().count() as u64,
        next: next.collect(),
    }
}

/// One of three ways to say how far.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AdvanceClock {
    /// A length of time: `90s`, `10d`, `2bd`.
    by: Option<Span>,
    /// An instant, not in the past.
    to: Option<Timestamp>,
    /// The next thing that falls due, or the last of all.
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
}

/// Events of one advance that are tasks of an endless chain would keep a call running for ever; nothing sets such a chain
/// today, and this many tasks is more than any world needs.
const MOST_TASKS: usize = 10_000_000;

fn advance_clock(world: &mut World, input: AdvanceClock) -> Result<Plain<Advanced>, ApiError> {
    let (from, logged) = (world.now(), world.log().len());
    match (input.by, input.to, input.until) {
        (Some(span), None, None) => system::advance(world, from.plus(span)),
        (None, Some(to), None) => {
            if to < from {
                let detail = format!(
                    "{to} is before the world's {from}; the clock does not run back: reset the world instead"
                );
                return Err(ApiError::invalid(vec![Violation::new(
                    "/to", "past", detail,
                )]));
            }
            system::advance(world, to);
        }
        (None, None, Some(Until::NextEvent)) => {
            while world.log().len() == logged && system::run_next(world, Timestamp::MAX).is_some() {
            }
        }
        (None, None, Some(Until::Idle)) => {
            let mut tasks = 0;
            while tasks < MOST_TASKS && system::run_next(world, Timestamp::MAX).is_some() {
                tasks += 1;
            }
        }
        _ => {
            let detail = "expected exactly one of by, to and until";
            return Err(ApiError::invalid(vec![Violation::new(
                "", "one_of", detail,
            )]));
        }
    }
    let events = system::events_since(world, logged)
        .iter()
        .map(|event| EventShape::of(event))
        .collect();
    Ok(Plain(Advanced {
        from,
        now: world.now(),
        events,
    }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ResetWorld {
    /// The seed to grow from; the world's own if absent.
    seed: Option<u64>,
}

/// The world after a reset.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Reset {
    /// The seed it is grown from.
    seed: u64,
    /// Virtual time.
    now: Timestamp,
}

fn reset_world(world: &mut World, input: ResetWorld) -> Result<Plain<Reset>, ApiError> {
    let base = world.base();
    let seed = input.seed.unwrap_or(base.seed());
    let base = if seed == base.seed() {
        base.clone()
    } else {
        Base::new(seed, base.shape().clone()).into()
    };
    world.restart(base);
    Ok(Plain(Reset {
        seed,
        now: world.now(),
    }))
}

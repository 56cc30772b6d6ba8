//! Causes an event on demand by the real state changes that lead to it.

use serde_json::{Map, Value};

use crate::api::check::near_events;
use crate::api::control::situation::{NOT_CAUSED, Saves, origin};
use crate::api::prelude::*;
use crate::api::{control, product, system};
use crate::world::situation::Situation;
use crate::world::{Event, EventShape, Why};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/trigger",
    summary: "Trigger an event",
    description: "Makes real calls, and runs the timers that they set at once, until an event of \
        the given type has happened. `override` replaces members of the input of the last call. An \
        unknown type returns 422 with the nearest type.",
    example: r#"{"type":"payroll_run.paid"}"#,
    errors: &[
        ErrorCode::ResourceNotFound,
        ErrorCode::EmployeeNotPayable,
        ErrorCode::PayrollPeriodAlreadyRun,
        ErrorCode::InvalidStateTransition,
    ],
    method: Method::Post,
    long: true,
    ..operation!(tester trigger_event)
}]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct TriggerEvent {
    /// The event's type: `payout.returned`.
    r#type: Text<64>,
    /// Members that replace members of the input of the last call.
    #[serde(default)]
    r#override: Map<String, Value>,
}

/// Maximum number of timers that run for one event. Some timers always start the next one, such as those of a pay
/// schedule without employees.
const MOST_TIMERS: u32 = 10_000;

/// The event that was caused, and the events that led to it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Triggered {
    /// The requested event: the first of its type.
    event: EventShape,
    /// All events that led to it, in order.
    events: Vec<EventShape>,
}

/// Restores the world if one of the calls is refused.
fn trigger_event(
    session: &mut Session<'_>,
    input: TriggerEvent,
) -> Result<Plain<Triggered>, ApiError> {
    let name = input.r#type.as_str();
    let situations = session.host.situation_showing(name);
    let before = session.world.clone();
    let done = follow(session.world, &situations, name, &input.r#override);
    if done.is_err() {
        session.world.replace(before);
    }
    done
}

/// Performs the situations, and returns the events up to the first one of that type.
pub(crate) fn until(
    world: &mut World,
    situations: &[Arc<Situation>],
    name: &str,
) -> Result<Vec<EventShape>, ApiError> {
    let logged = world.log_length();
    follow(world, situations, name, &Map::new())?;
    let mut events: Vec<EventShape> = Vec::new();
    for event in system::events_since(world, logged) {
        events.push(EventShape::of(event));
        if event.name == name {
            break;
        }
    }
    Ok(events)
}

fn follow(
    world: &mut World,
    situations: &[Arc<Situation>],
    name: &str,
    own: &Map<String, Value>,
) -> Result<Plain<Triggered>, ApiError> {
    if situations.is_empty() {
        return Err(not_shown(name));
    }
    let since = Since::now(world, situations);
    let logged = since.logged;
    // Deadlines run only if the event is caused by one. Otherwise an amount that must be paid would also become late.
    let by_deadline = system::is_by_deadline(name);
    let steps = situations.iter().flat_map(|it| it.steps.iter().map(|step| (step, &it.outcomes)));
    let count = steps.clone().count();
    let none = Map::new();
    let mut saves = Saves::default();
    let mut seen = logged;
    let mut timers_left = MOST_TIMERS;
    for (place, (step, outcomes)) in (1..).zip(steps) {
        let is_last = place == count;
        let origin = origin(world, ("trigger", "trigger_event"), logged, place as u64);
        let own = if is_last { own } else { &none };
        let called = (&step.with, step.save.as_deref());
        let done = saves.perform(world, row(&step.call), called, own, outcomes, &origin);
        done.map_err(|error| match error.errors.first() {
            Some(why) if why.code == NOT_CAUSED => since.not_caused(world, name, own),
            _ => of_override(error, &step.call, own),
        })?;
        // Deadlines must not pass before the last call is made.
        let deadlines = by_deadline && is_last;
        while !happened(world, &mut seen, name)
            && timers_left > 0
            && system::run_caused(world, origin.id, deadlines)
        {
            timers_left -= 1;
        }
    }
    let events: Vec<EventShape> = system::events_since(world, logged).map(EventShape::of).collect();
    let event = system::events_since(world, logged).find(|event| event.name == name);
    let event = event.ok_or_else(|| since.not_caused(world, name, own))?;
    Ok(Plain(Triggered { event: EventShape::of(event), events }))
}

/// A refusal of the last call, with the places of the members that the override gave.
fn of_override(error: ApiError, call: &str, own: &Map<String, Value>) -> ApiError {
    let mut errors = error.errors.clone();
    for wrong in &mut errors {
        let first = wrong.pointer.split('/').nth(1).unwrap_or_default();
        let first = first.replace("~1", "/").replace("~0", "~");
        if own.contains_key(&first) {
            wrong.pointer = format!("/override{}", wrong.pointer);
            wrong.detail = format!("{} (the override is of {call})", wrong.detail);
        }
    }
    if errors == error.errors {
        return error;
    }
    match error.code {
        ErrorCode::ValidationFailed => ApiError::invalid(errors),
        _ => ApiError { errors, ..error },
    }
}

/// The state of a world before the calls of situations.
struct Since<'a> {
    situations: &'a [Arc<Situation>],
    /// The length of its log.
    logged: u64,
    /// The latest decision.
    decided: u64,
}

impl<'a> Since<'a> {
    fn now(world: &World, situations: &'a [Arc<Situation>]) -> Self {
        let decided = world.decided().last().map_or(0, |last| last.sequence);
        Self { situations, logged: world.log_length(), decided }
    }

    /// Whether a row of the situations themselves is the source.
    fn is_of_situation(&self, source: &str) -> bool {
        let mut rows = self.situations.iter().flat_map(|situation| &situation.outcomes);
        rows.any(|row| row.source == source)
    }

    /// The reason why the event did not happen although all calls were accepted: the caller's overrides, or existing
    /// resources of the world.
    fn not_caused(&self, world: &World, name: &str, own: &Map<String, Value>) -> ApiError {
        let since = world.decided().iter().filter(|decision| decision.sequence > self.decided);
        let mut chosen = since.filter(|decision| {
            let source = decision.source.as_deref();
            decision.why != Why::Default && !source.is_some_and(|it| self.is_of_situation(it))
        });
        let last = system::events_since(world, self.logged).next_back();
        let reasons = last.map_or_else(String::new, |event| reasons(event));
        let why = if let Some(decision) = chosen.next_back() {
            let source = decision.source.as_deref().unwrap_or(decision.why.name());
            format!("{} was {} because of {source}", decision.decision, decision.chosen)
        } else if !own.is_empty() && reasons.is_empty() {
            "the override led to another outcome".to_owned()
        } else {
            let last = last.map_or_else(String::new, |event| {
                format!(" (the last event was {}{reasons})", event.name)
            });
            format!(
                "the resources of this world lead to another outcome{last}. Reset the world, or \
                    use a new key"
            )
        };
        let detail = format!("the calls were made, and {name} did not happen: {why}");
        ApiError::of_member("/type", NOT_CAUSED, detail)
    }
}

/// The reasons of a decision about the event's subject, if it has one.
fn reasons(event: &Event) -> String {
    let object = event.object.to_wire();
    let reasons = object.pointer("/decision/reasons").and_then(Value::as_array);
    let reasons = reasons.into_iter().flatten().filter_map(|it| it["detail"].as_str());
    let reasons: Vec<&str> = reasons.collect();
    if reasons.is_empty() { String::new() } else { format!(" because: {}", reasons.join("; ")) }
}

/// The row that a step of a situation calls.
pub(crate) fn row(operation: &str) -> &'static Operation {
    let mut rows = product().chain(control());
    let found = rows.find(|row| row.operation_id() == operation);
    found.expect("a test checks the operations of all situations")
}

/// Whether one of the events since a position has that name. If not, moves the position to the end of the log.
fn happened(world: &World, seen: &mut u64, name: &str) -> bool {
    let has = system::events_since(world, *seen).any(|event| event.name == name);
    if !has {
        *seen = world.log_length();
    }
    has
}

fn not_shown(name: &str) -> ApiError {
    ApiError::of_member("/type", "unknown_event", unknown_event(name))
}

/// That no event has this type, with the types that it can mean.
pub(crate) fn unknown_event(name: &str) -> String {
    let known = system::event_types();
    let rest = match near_events(name, &known).as_slice() {
        [] => format!("; there are {}", known.join(", ")),
        [near] => format!("; did you mean {near}"),
        near => format!("; did you mean one of {}", near.join(", ")),
    };
    format!("no event has the type {name:?}{rest}")
}

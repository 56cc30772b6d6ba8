//! Runs timers, each in its own transaction.

use serde_json::Value;

use crate::api::control::inbound;
use crate::api::operation::{Call, Effects};
use crate::api::prelude::*;
use crate::api::reply::Reply;
use crate::api::{product, scripted, timers};
use crate::model::Record;
use crate::value::long_work;
use crate::world::script::OutcomeRule;
use crate::world::timers::Timer;
use crate::world::{ClockMode, Event, RequestRef};

/// Calls a row that may change the world, completely or not at all. `outcomes` are the outcomes that its request
/// sets.
pub(crate) fn perform(
    world: &mut World,
    operation: &Operation,
    origin: Arc<RequestRef>,
    outcomes: Vec<OutcomeRule>,
    input: Value,
) -> Result<Reply> {
    match operation.call {
        Call::Write(call) => {
            let logged = world.log().len();
            world.begin_with(origin, outcomes);
            let reply = call(world, input);
            match &reply {
                Ok(_) => {
                    assert_declared(world, operation.name, logged, operation.effects(), None);
                    world.commit();
                }
                Err(_) => world.roll_back(),
            }
            reply
        }
        Call::Drive(call) => call(world, input),
        Call::Read(_) | Call::Open(_) | Call::Tester(_) => {
            unreachable!("only a row that acts on a world alone can be called here")
        }
    }
}

/// All events that a call can cause, at once or later: its own and those of every timer that it starts.
pub(crate) fn events_of(operation: &Operation) -> Vec<&'static str> {
    let (mut events, mut tasks) = (Vec::new(), Vec::new());
    for effects in operation.effects() {
        add(&mut events, effects.emits);
        add(&mut tasks, effects.starts);
    }
    let mut next = 0;
    while let Some(&task) = tasks.get(next) {
        let effects = timers::effects(task);
        add(&mut events, effects.emits);
        add(&mut tasks, effects.starts);
        next += 1;
    }
    events
}

fn add<T: Copy + PartialEq>(to: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !to.contains(one) {
            to.push(*one);
        }
    }
}

/// Checks that a step did only what its row declares: the events, the timers and, if it is a timer, the states of its subject.
fn assert_declared(
    world: &World,
    name: &str,
    logged: u64,
    effects: impl Iterator<Item = Effects> + Clone,
    timer: Option<Task>,
) {
    for event in world.log().since(logged) {
        assert!(
            effects.clone().any(|it| it.emits.contains(&&*event.name)),
            "{name} emitted {}, which its row does not declare",
            event.name
        );
        for change in event.changes() {
            let task = timer.filter(|task| task.subject() == Some(change.id()));
            if let (Some(task), Some(before)) = (task, change.before) {
                held_to_states(task, before, change.after);
            }
        }
    }
    for task in world.timers_set().map(Task::kind) {
        let declared =
            task == TaskKind::Scripted || effects.clone().any(|it| it.starts.contains(&task));
        assert!(declared, "{name} started {}, which its row does not declare", task.name());
    }
}

/// Checks that the subject of a timer entered no state that the row does not declare.
fn held_to_states(task: Task, before: &Record, after: &Record) {
    let states = after.states().into_iter().zip(before.states());
    for ((member, state), _) in states.filter(|(after, before)| after != before) {
        assert!(
            timers::entered(task.kind()).iter().any(|it| (it.member, it.state) == (member, state)),
            "{} led to {member} {state}, which its row does not declare",
            task.kind().name()
        );
    }
}

/// All event types that a call or a timer can cause, by name. Control operations cause no other types, except inbound calls.
pub(crate) fn event_types() -> Vec<&'static str> {
    let tasks = timers::EFFECTS.iter().flat_map(|timer| timer.emits);
    let mut types: Vec<&'static str> = product()
        .chain(inbound::OPERATIONS)
        .flat_map(|row| row.emits)
        .chain(tasks)
        .copied()
        .collect();
    types.sort_unstable();
    types.dedup();
    types
}

/// Whether a deadline causes events of that type.
pub(crate) fn is_by_deadline(event: &str) -> bool {
    let mut deadlines = TaskKind::ALL.iter().filter(|task| task.is_deadline());
    deadlines.any(|task| timers::effects(*task).emits.contains(&event))
}

/// Runs the first task that is due by `instant`, if any.
pub(crate) fn run_next(world: &mut World, instant: Timestamp) -> Option<Task> {
    run(world, |world| world.take_due(instant))
}

/// Runs the next task that a request caused, directly or indirectly, before its due time; deadlines only if requested.
pub(crate) fn run_caused(world: &mut World, request: Id<RequestRef>, deadlines: bool) -> bool {
    run(world, |world| world.take_caused(request, deadlines)).is_some()
}

fn run(world: &mut World, take: impl FnOnce(&mut World) -> Option<Arc<Timer>>) -> Option<Task> {
    world.begin(None);
    let Some(timer) = take(world) else {
        world.roll_back();
        return None;
    };
    if let Task::Scripted(place) = timer.task {
        let row = world.scripted(place);
        world.commit();
        if let Some(row) = row {
            let cause = timer.cause.as_ref();
            let trace = cause.and_then(|cause| cause.request.trace.as_deref().copied());
            let before = world.follow_trace(trace);
            scripted::perform(world, place, &row);
            world.follow_trace(before);
        }
        return Some(timer.task);
    }
    let logged = world.log().len();
    timers::call(world, timer.task);
    let kind = timer.task.kind();
    let effects = core::iter::once(timers::effects(kind));
    assert_declared(world, kind.name(), logged, effects, Some(timer.task));
    world.commit();
    Some(timer.task)
}

/// In an instant world: runs everything that follows from the last request.
pub(crate) fn settle(world: &mut World) {
    if world.mode() == ClockMode::Instant {
        run_all(world, |world| world.now().plus_millis(1));
    }
}

/// Runs all tasks that are due by an instant. `due` is evaluated again after each task.
fn run_all(world: &mut World, due: impl Fn(&World) -> Timestamp) {
    let mut hashed = world.log_length();
    long_work::repeat(|| {
        hashed = world.hash_log_since(hashed);
        run_next(world, due(world)).is_some()
    });
}

/// Moves the clock to an instant, and runs due tasks in order.
pub(crate) fn advance(world: &mut World, to: Timestamp) {
    run_all(world, |_| to);
    world.begin(None);
    world.move_clock(to);
    world.commit();
}

/// The events after that length of the log, if still in the log.
pub(crate) fn events_since(
    world: &World,
    length: u64,
) -> impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator {
    world.log().since(length)
}

/// Moves a world in `real` mode to the wall clock's time. This alone has no effects, so the version is unchanged.
pub(crate) fn follow(world: &mut World, to: Timestamp) {
    run_all(world, |_| to);
    world.follow_clock(to);
}

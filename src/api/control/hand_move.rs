//! Code shared by all manual transitions: the typed target, the refusal, and running a timer now.

use crate::api::timers::{self, entered};
use crate::model::{AnyId, Record, State, Task, TaskKind, registry};
use crate::value::{ApiError, ErrorCode};
use crate::world::World;

/// The caller's input for a manual transition.
pub(crate) struct Wanted {
    pub(crate) reason: Option<String>,
    /// A code that the payments of this kind know.
    pub(crate) code: Option<String>,
}

pub(super) fn refused(
    id: AnyId,
    current: &'static str,
    allowed: Vec<&'static str>,
    detail: String,
) -> ApiError {
    let mut error = ApiError::new(ErrorCode::InvalidStateTransition, detail).about(id);
    error.current = Some(current).filter(|current| !current.is_empty());
    error.allowed = Some(allowed);
    error
}

/// States to which a transition leads from that one, with their names.
pub(super) fn reachable<S: State>(from: S) -> impl Iterator<Item = (S, &'static str)> {
    let states = S::STATES.iter().copied();
    states.filter(move |(state, _)| from.may_become(*state))
}

/// The state of that name, if the lifecycle has a transition to it from `current` and a manual transition can reach
/// it.
pub(super) fn target<S: State>(
    id: AnyId,
    current: S,
    to: &str,
    by_hand: impl Fn(S) -> bool,
) -> Result<S, ApiError> {
    let moves = || reachable(current).filter(|(state, _)| by_hand(*state));
    if let Some((state, _)) = moves().find(|(_, name)| *name == to) {
        return Ok(state);
    }
    Err(cannot_become(id, current.name(), to, moves().map(|(_, name)| name).collect()))
}

pub(super) fn cannot_become(
    id: AnyId,
    current: &'static str,
    to: &str,
    allowed: Vec<&'static str>,
) -> ApiError {
    let detail = format!("{id} is {current} and cannot become {to:?}");
    refused(id, current, allowed, detail)
}

/// Runs a timer now. It replaces a pending timer of its kind for the same resource, and takes over its cause and its
/// decision.
pub(super) fn run_now(world: &mut World, task: Task) {
    take(world, task);
    timers::call(world, task);
}

/// Removes and returns the pending timer of the same kind for the same resource; the caller runs its effect now.
pub(super) fn take(world: &mut World, task: Task) -> Option<Task> {
    let waits = |other: Task| other.kind() == task.kind() && other.subject() == task.subject();
    world.take_first(waits).map(|timer| timer.task)
}

/// Moves a resource by the timer that leads to the target and carries no answer.
pub(super) fn by_timer(world: &mut World, id: AnyId, to: &str) -> Result<(), ApiError> {
    let current = world.any(id).map(|record| record.states()).unwrap_or_default();
    let &(member, current) = current.first().expect("the kind has a machine");
    let timers = || {
        let of_kind = TaskKind::ALL.iter().filter(|task| task.subject() == Some(id.kind));
        of_kind.filter_map(|task| task.about(id.bits))
    };
    let leads = |task: &Task, to: &str| {
        entered(task.kind()).iter().any(|it| (it.member, it.state) == (member, to))
    };
    let allowed: Vec<&'static str> = next_states(id, member, current)
        .filter(|state| timers().any(|task| leads(&task, state)))
        .collect();
    // If two timers lead to the target, take the timer that leads to fewer other states.
    let leading = timers().filter(|task| allowed.contains(&to) && leads(task, to));
    let task = leading.min_by_key(|task| entered(task.kind()).len());
    run_now(world, task.ok_or_else(|| cannot_become(id, current, to, allowed))?);
    Ok(())
}

/// The states to which the machine leads from that one, in the order of its declaration.
fn next_states(
    id: AnyId,
    member: &'static str,
    from: &'static str,
) -> impl Iterator<Item = &'static str> {
    let mut all = registry::machines().into_iter();
    let machine = all.find(|it| (it.kind, it.member) == (id.kind.name(), member));
    machine.into_iter().flat_map(move |machine| {
        let rows = machine.rows;
        machine
            .states
            .into_iter()
            .filter(move |to| rows.iter().any(|row| (row.1, row.2) == (from, *to)))
    })
}

/// Checks that a move has reached its target. If not, the engine undoes the move.
pub(super) fn check_target(
    id: AnyId,
    before: &Record,
    after: &Record,
    to: &str,
) -> Result<(), ApiError> {
    let (was, is) = (before.states(), after.states());
    let entered = is.iter().zip(&was).any(|(is, was)| is != was && is.1 == to);
    if entered {
        return Ok(());
    }
    let ((member, current), came) = (was[0], is[0].1);
    let detail = format!("{id} would become {came}, not {to}: its data determines the result");
    Err(refused(id, current, next_states(id, member, current).collect(), detail))
}

/// Removes the timers whose target states can no longer be entered after the move.
pub(super) fn drop_stale(world: &mut World, id: AnyId) {
    let Some(record) = world.any(id) else { return };
    let open: Vec<(&str, &str)> = record
        .states()
        .into_iter()
        .flat_map(|(member, state)| next_states(id, member, state).map(move |next| (member, next)))
        .collect();
    world.drop_timers_about(id, |task| {
        let leads = entered(task.kind());
        !leads.is_empty() && leads.iter().all(|it| !open.contains(&(it.member, it.state)))
    });
}

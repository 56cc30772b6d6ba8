//! Code shared by all manual transitions: the typed target, the refusal, and running a timer now.

use crate::api::control::hand_reasons::{moved_by, why_not};
use crate::api::timers::{self, entered};
use crate::model::{AnyId, Kind, Record, State, Task, TaskKind, registry};
use crate::value::{ApiError, ErrorCode};
use crate::world::World;

/// What a caller says about a move.
#[derive(Default)]
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
    let current = (S::MEMBER, current.name());
    Err(cannot_become(id, current, to, moves().map(|(_, name)| name).collect()))
}

/// The refusal of a move. It names the operations that move the resource, if one of them may lead to the target.
pub(super) fn cannot_become(
    id: AnyId,
    (member, current): (&'static str, &'static str),
    to: &str,
    allowed: Vec<&'static str>,
) -> ApiError {
    let mut detail = format!("{id} is {current} and cannot become {to:?}");
    let mut next = next_states(id, member, current);
    if next.any(|state| state == to || allowed.is_empty()) {
        detail = format!("{detail} by this operation: {}", moved_by(id.kind));
    }
    refused(id, current, allowed, detail)
}

/// Whether a timer of that kind waits for the resource.
pub(super) fn waits(world: &World, kind: TaskKind, subject: AnyId) -> bool {
    world.waiting(subject).any(|task| task.kind() == kind)
}

/// Runs a timer now. If one of its kind waits for the same resource, this one replaces it and takes over its cause.
pub(super) fn run_now(world: &mut World, task: Task) {
    answer_now(world, task, |_, _| false);
}

/// Runs the timer that waits for the resource, if its answer leads to the target. Otherwise it runs the given one of the same kind in its
/// place. The decision that waits is not behind the effects of another answer.
pub(super) fn answer_now(
    world: &mut World,
    chosen: Task,
    leads: impl FnOnce(&World, Task) -> bool,
) {
    let task = match take(world, chosen) {
        Some(waiting) if waiting == chosen || leads(world, waiting) => waiting,
        Some(_) => {
            world.forget_decision();
            chosen
        }
        None => chosen,
    };
    timers::call(world, task);
}

/// Runs the timer of that kind that waits for the resource, if there is one.
pub(super) fn run_waiting(world: &mut World, kind: TaskKind, subject: AnyId) {
    if let Some(task) = world.take_about(subject, |task| task.kind() == kind) {
        timers::call(world, task);
    }
}

/// Takes this timer, or one of the same kind that waits for the same resource: what it would do happens now.
pub(super) fn take(world: &mut World, task: Task) -> Option<Task> {
    let subject = task.subject()?;
    let this = world.take_about(subject, |other| other == task);
    this.or_else(|| world.take_about(subject, |other| other.kind() == task.kind()))
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
    run_now(world, task.ok_or_else(|| cannot_become(id, (member, current), to, allowed))?);
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

/// A move that was made: what it is about, the state before and after it, and its target.
pub(super) struct Made<'a> {
    pub(super) id: AnyId,
    pub(super) before: &'a Record,
    pub(super) after: &'a Record,
    pub(super) to: &'a str,
}

impl Made<'_> {
    /// The state before and after it, of the member that has the target.
    fn step(&self) -> (&'static str, &'static str) {
        let (was, is) = (self.before.states(), self.after.states());
        let leads = |(member, state): (_, _)| {
            next_states(self.id, member, state).any(|state| state == self.to)
        };
        let place = was.iter().position(|of| leads(*of)).unwrap_or(0);
        (was[place].1, is[place].1)
    }
}

/// Checks that a move has reached its target. If not, the engine undoes the move. `others` are the other states that could be targets.
pub(super) fn check_target(
    world: &World,
    made: &Made<'_>,
    mut others: Vec<&'static str>,
) -> Result<(), ApiError> {
    let Made { id, before, after, to } = *made;
    let (was, is) = (before.states(), after.states());
    let changed = is.iter().zip(&was).any(|(is, was)| is != was && is.1 == to);
    // A step that leads from a state to the same one, such as a further part of an escrow.
    let again = || was == is && made.step().1 == to && after.to_json() != before.to_json();
    if changed || again() {
        return Ok(());
    }
    let (current, came) = made.step();
    if id.kind == Kind::PayrollRun {
        others.retain(|state| *state == came); // its only timer leads to one state
    }
    let becomes = if current == came {
        format!("{id} would stay {current}")
    } else {
        format!("{id} would become {came}, not {to}")
    };
    Err(refused(id, current, others, format!("{becomes}: {}", why_not(world, after))))
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

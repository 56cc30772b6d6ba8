//! The inputs of a world since it was opened, so that the world can be shared as text, and replayed up to an event. They are kept in
//! memory, and only the latest of them.

use std::sync::Arc;

use crate::tester::Tester;
use crate::tester::snapshots::TesterPart;
use crate::tester::wire::SpentRow;
use crate::value::Timestamp;
use crate::value::later::Later;
use crate::world::script::{Scenario, imports};
use crate::world::{Base, ClockMode, World};

/// Maximum number of inputs of a stretch in a short history. One to two stretches are kept.
const MOST: usize = 500;
/// The most bytes of their paths and bodies.
const MOST_BYTES: usize = 256 * 1_024;
/// In a long history, a stretch has at most the number of all earlier inputs divided by this. Each stretch begins
/// with a copy of the world. Copies share their data, but each write must copy changed parts, so many copies would
/// make every write slower.
const PART: usize = 4;

/// Why a long world is not shared.
const TOO_MANY: &str = "it has more than 500 inputs or 256 KiB of them";

/// A call that changed the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedInput {
    pub(crate) method: &'static str,
    /// Path and query.
    pub(crate) target: Box<str>,
    /// Headers that affect it, never a credential.
    pub(crate) headers: Box<[(&'static str, Box<str>)]>,
    pub(crate) body: Box<str>,
}

/// The path of an advance.
const ADVANCE: &str = "/_sandbox/clock/advance";

/// A part of an advance. Deliveries of webhooks divide an advance into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The number of timers that ran. An advance may end between two timers of one instant.
    pub(crate) tasks: u64,
    pub(crate) to: Timestamp,
}

/// An input, with the data for a replay up to an event.
#[derive(Clone, Debug)]
pub(crate) struct Recalled {
    pub(crate) input: SharedInput,
    /// Virtual time before it.
    pub(crate) at: Timestamp,
    /// The part that ran, for an advance that has not reached its end yet, or that ended at an event.
    pub(crate) moved: Option<Moved>,
    /// The counters of faults before it, if they have changed since the previous input. Refused calls and reads can
    /// change them, although they are not inputs.
    pub(crate) spent: Vec<SpentRow>,
    /// The number of events after it.
    events: u64,
}

/// The start of a replay: a world and its tester state; `None` means the start of every world of the process.
type Start = Option<Box<(World, TesterPart)>>;

/// Inputs without a gap.
#[derive(Debug, Default)]
struct Stretch {
    start: Start,
    /// The number of events at the start.
    events: u64,
    kept: Vec<Recalled>,
    bytes: usize,
    /// The inputs before the start, and the bytes of their paths and bodies.
    before: (usize, usize),
}

impl Stretch {
    /// The number of its inputs up to an event; `None` if the stretch begins after it.
    fn leading_to(&self, sequence: u64) -> Option<usize> {
        if self.kept.last().map_or(self.events, |last| last.events) < sequence {
            return Some(self.kept.len());
        }
        // After a restored snapshot, positions occur again; the latest occurrence belongs to the present world.
        let before =
            |place: usize| place.checked_sub(1).map_or(self.events, |it| self.kept[it].events);
        let causes =
            |place: &usize| before(*place) < sequence && sequence <= self.kept[*place].events;
        (0..self.kept.len()).rev().find(causes).map(|place| place + 1)
    }

    fn is_full(&self) -> bool {
        let (inputs, bytes) = self.before;
        self.kept.len() > MOST.max(inputs / PART) || self.bytes > MOST_BYTES.max(bytes / PART)
    }

    /// The next stretch.
    fn next(&self, start: Start, events: u64) -> Self {
        let (inputs, bytes) = self.before;
        let before = (inputs + self.kept.len(), bytes + self.bytes);
        Self { start, events, before, ..Self::default() }
    }
}

/// The inputs that lead to an event.
#[derive(Debug)]
pub(crate) struct Leading {
    pub(crate) start: Start,
    pub(crate) inputs: Vec<Recalled>,
}

/// The inputs of one world.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// The base and the clock with which the world was opened.
    start: Option<(Arc<Base>, ClockMode)>,
    /// The scenarios and imports that it was opened with.
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    /// The previous stretch, if there is one.
    older: Option<Stretch>,
    latest: Stretch,
    /// The counters of faults that have changed since the last input.
    spent: Vec<SpentRow>,
    /// The inputs before the world's checkpoint, set after another thread has read them.
    earlier: Option<Arc<Later<Earlier>>>,
    /// Why they are not all of them, if so.
    missing: Option<&'static str>,
}

/// The latest inputs at a checkpoint.
#[derive(Debug, Default)]
pub(crate) struct Earlier([Option<Stretch>; 2]);

impl Inputs {
    /// The inputs of a world that was just opened.
    pub(crate) fn of(world: &World, tester: &Tester) -> Self {
        let start = Some((Arc::clone(world.base()), world.mode()));
        let imports = imports(&tester.scenarios);
        let is_fork = world.version() != imports || imports == 0 && world.log_length() > 0;
        let missing = is_fork.then_some("it began as a fork: share its source");
        let latest = Stretch {
            start: is_fork.then(|| Box::new((world.clone(), tester.part()))),
            events: world.log_length(),
            ..Stretch::default()
        };
        Self { start, scenarios: tester.scenarios.clone(), latest, missing, ..Self::default() }
    }

    /// The world began with a checkpoint. Returns where its earlier inputs are expected.
    pub(crate) fn follow_checkpoint(&mut self) -> Arc<Later<Earlier>> {
        self.missing = Some(TOO_MANY);
        Arc::clone(self.earlier.insert(Arc::default()))
    }

    /// Takes the inputs of a world that has just reached a checkpoint.
    pub(crate) fn take_earlier(&mut self) -> Earlier {
        Earlier([Some(std::mem::take(&mut self.latest)), self.older.take()])
    }

    /// The number of inputs in the latest stretch.
    pub(crate) const fn len(&self) -> usize {
        self.latest.kept.len()
    }

    /// Counters of faults have changed.
    pub(crate) fn note_spent(&mut self, rows: &[SpentRow]) {
        merge(&mut self.spent, rows);
    }

    /// Adds one, which led to that number of events.
    fn add(&mut self, input: SharedInput, at: Timestamp, events: u64) {
        self.latest.bytes += input.target.len() + input.body.len();
        let spent = std::mem::take(&mut self.spent);
        self.latest.kept.push(Recalled { input, at, moved: None, spent, events });
        if self.latest.is_full() {
            self.missing.get_or_insert(TOO_MANY);
        }
    }

    /// The counters of faults that have changed since the last input.
    pub(crate) fn spent(&self) -> &[SpentRow] {
        &self.spent
    }

    /// The world's initial seed, shape and clock, and all inputs. An error describes why they are not available.
    pub(crate) fn all<'a>(
        &'a self,
        world: &'a World,
    ) -> Result<(&'a Base, ClockMode, &'a [Recalled]), &'static str> {
        let (base, mode) =
            self.start.as_ref().map_or((world.base(), world.mode()), |(base, mode)| (base, *mode));
        match (mode, self.missing) {
            (_, Some(why)) => Err(why),
            _ if world.log().is_trimmed() => Err("its log has dropped events (`--max-events`)"),
            (ClockMode::Real, None) => Err("with the clock `real`, the wall clock changes it, too"),
            (mode, None) => Ok((base, mode, &self.latest.kept)),
        }
    }

    /// The inputs up to an event; `None` if it is too old. Waits for earlier inputs that are still being read.
    pub(crate) fn leading_to(&self, sequence: u64) -> Option<Leading> {
        let found = |stretch: &Stretch| {
            let count = stretch.leading_to(sequence)?;
            let inputs = stretch.kept[..count].to_vec();
            Some(Leading { start: stretch.start.clone(), inputs })
        };
        let here = core::iter::once(&self.latest).chain(&self.older).find_map(found);
        here.or_else(|| {
            let Earlier(stretches) = self.earlier.as_ref()?.wait()?;
            stretches.iter().flatten().find_map(found)
        })
    }
}

impl Tester {
    /// Sets the counters of faults that a replayed input had.
    pub(crate) fn put_spent(&mut self, rows: &[SpentRow]) {
        self.wire.put_spent(rows);
        self.inputs.note_spent(rows);
    }

    /// Adds a part of an advance that ran `tasks` timers. Consecutive parts without another input between them are
    /// one advance. `is_end` means that the advance has reached its end.
    pub(crate) fn keep_advance(&mut self, world: &World, at: Timestamp, tasks: u64, is_end: bool) {
        let (to, events) = (world.now(), world.log_length());
        let is_due = world.timers().next().is_some_and(|timer| timer.due <= to);
        let body = if is_due && !is_end {
            r#"{"until":"next_event"}"#.into()
        } else {
            format!("{{\"to\":\"{to}\"}}").into()
        };
        let input =
            SharedInput { method: "POST", target: ADVANCE.into(), headers: [].into(), body };
        if is_end {
            return self.keep_input(world, at, input);
        }
        if let Some(Recalled {
            input: last, moved: Some(moved), spent, events: last_events, ..
        }) = self.inputs.latest.kept.last_mut()
        {
            *last = input;
            *moved = Moved { tasks: moved.tasks + tasks, to };
            merge(spent, &std::mem::take(&mut self.inputs.spent));
            *last_events = events;
            return;
        }
        self.inputs.add(input, at, events);
        if let Some(last) = self.inputs.latest.kept.last_mut() {
            last.moved = Some(Moved { tasks, to });
        }
        self.begin_stretch(world);
    }

    /// Adds an input that led to this state of the world. `at` is virtual time before it. The last part of an advance replaces the parts before.
    pub(crate) fn keep_input(&mut self, world: &World, at: Timestamp, input: SharedInput) {
        let is_end = *input.target == *ADVANCE && input.body.starts_with("{\"to\"");
        match self.inputs.latest.kept.last_mut() {
            Some(last) if is_end && last.moved.is_some() => {
                (last.input, last.moved, last.events) = (input, None, world.log_length());
                merge(&mut last.spent, &std::mem::take(&mut self.inputs.spent));
            }
            _ => {
                self.inputs.add(input, at, world.log_length());
                self.begin_stretch(world);
            }
        }
    }

    /// Begins the next stretch, if the latest one is full.
    fn begin_stretch(&mut self, world: &World) {
        if self.inputs.latest.is_full() {
            let start = Some(Box::new((world.clone(), self.part())));
            let latest = self.inputs.latest.next(start, world.log_length());
            self.inputs.older = Some(std::mem::replace(&mut self.inputs.latest, latest));
        }
    }
}

/// Replaces the counters of rows by later ones.
fn merge(rows: &mut Vec<SpentRow>, later: &[SpentRow]) {
    rows.retain(|row| later.iter().all(|new| new.id != row.id));
    rows.extend_from_slice(later);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Shape;

    fn input(body: &str) -> SharedInput {
        SharedInput { method: "POST", target: "/x".into(), headers: [].into(), body: body.into() }
    }

    fn world() -> World {
        World::new(Arc::new(Base::new(42, Shape::default())), ClockMode::Manual)
    }

    fn opened(world: &World) -> Tester {
        let tester = Tester::default();
        Tester { inputs: Inputs::of(world, &tester), ..tester }
    }

    #[test]
    fn inputs_are_all_shared_or_none() {
        let world = world();
        let mut few = opened(&world);
        (0..MOST).for_each(|_| few.keep_input(&world, world.now(), input("{}")));
        assert_eq!(few.inputs.all(&world).map(|(_, _, inputs)| inputs.len()), Ok(MOST));
        few.keep_input(&world, world.now(), input("{}"));
        assert!(few.inputs.all(&world).is_err());
        let mut large = opened(&world);
        large.keep_input(&world, world.now(), input(&"x".repeat(MOST_BYTES)));
        assert!(large.inputs.all(&world).is_err());
    }

    #[test]
    fn the_latest_inputs_lead_to_an_event_also_after_a_restored_snapshot() {
        let world = world();
        let mut tester = opened(&world);
        for events in [10, 20, 10, 15] {
            tester.inputs.add(input("{}"), world.now(), events);
        }
        let leading = |sequence| tester.inputs.leading_to(sequence).map(|it| it.inputs.len());
        assert_eq!([1, 10, 11, 12, 15, 16].map(leading), [1, 1, 4, 4, 4, 4].map(Some));
    }

    #[test]
    fn an_input_has_the_counters_of_faults_that_changed_before_it() {
        let world = world();
        let mut tester = opened(&world);
        let row = |id: &str, hits| SpentRow { id: id.to_owned(), asked: hits, hits };
        tester.inputs.note_spent(&[row("a", 1), row("b", 1)]);
        tester.inputs.note_spent(&[row("a", 2)]);
        // Two parts of one advance.
        tester.keep_advance(&world, world.now(), 0, false);
        tester.inputs.note_spent(&[row("a", 3)]);
        tester.keep_advance(&world, world.now(), 0, false);
        tester.keep_input(&world, world.now(), input("{}"));
        tester.inputs.note_spent(&[row("b", 2)]);
        let kept = tester.inputs.latest.kept.iter().map(|kept| kept.spent.clone());
        assert_eq!(kept.collect::<Vec<_>>(), [vec![row("b", 1), row("a", 3)], vec![]]);
    }

    #[test]
    fn old_inputs_are_dropped_in_stretches() {
        let world = world();
        let mut tester = opened(&world);
        for events in 0..3 * MOST as u64 {
            tester.inputs.add(input("{}"), world.now(), events);
            if tester.inputs.latest.is_full() {
                let latest = tester.inputs.latest.next(None, events);
                tester.inputs.older = Some(std::mem::replace(&mut tester.inputs.latest, latest));
            }
        }
        assert!(tester.inputs.leading_to(1).is_none(), "long ago");
        assert!(tester.inputs.leading_to(2 * MOST as u64).is_some());
    }
}

//! The runs without faults: the app's calls, whether they are repeatable, and the calls that change the world.

use std::collections::BTreeMap;

use crate::cli::exam::args::Exam;
use crate::cli::exam::classes::{Classes, classes};
use crate::cli::exam::trial::{self, Again, Ran, Trial};
use crate::cli::failure::Failure;
use crate::cli::lab::canon::{Canon, Masks};
use crate::cli::lab::command::End;
use crate::cli::lab::said;

/// Differences that a message shows.
const SHOWN: usize = 6;

/// The results of the runs without faults.
pub(super) struct Learned {
    /// The run that all others are compared with.
    pub(super) reference: Canon,
    /// The classes of the requests of that run.
    pub(super) classes: Classes,
    pub(super) masks: Masks,
    pub(super) points: Vec<Point>,
    /// Whether a second start after a finished run changes nothing.
    pub(super) repeatable: bool,
    pub(super) had_deliveries: bool,
    /// The events to deliver after a later one: the type of each, and its place among the events of that type.
    pub(super) overtaken: Vec<(String, u64)>,
}

/// A call that changed something.
pub(super) struct Point {
    /// `createPayout#1`.
    pub(super) name: String,
    pub(super) operation: String,
    /// Its place among all calls of the operation, from 1.
    pub(super) nth: u64,
}

/// Runs the command three times.
pub(super) fn learn(exam: &Exam) -> Result<Learned, Failure> {
    let repeated = Trial { again: Again::Always, ..Trial::default() };
    let (control, repeated) = if exam.options.jobs > 1 {
        std::thread::scope(|scope| {
            let repeated = scope.spawn(|| trial::run(exam, &repeated));
            let control = two(exam);
            (control, repeated.join().expect("a run does not panic"))
        })
    } else {
        (two(exam), trial::run(exam, &repeated))
    };
    let ((one, two), repeated) = (control?, repeated?);
    for ran in [&one, &two, &repeated] {
        finished(ran)?;
    }
    let masks = Masks::between(&one.canon, &two.canon);
    if !one.canon.equals(&two.canon, &masks) {
        let differences = one.canon.differences(&two.canon, &masks);
        let shown: Vec<String> =
            differences.iter().take(SHOWN).map(|line| format!("  {line}\n")).collect();
        return Err(Failure::Report(format!(
            "error: two runs of the command without faults end in different states, so nothing can be judged\n{}",
            shown.concat()
        )));
    }
    let points = points(&one, exam.options.reads);
    if points.is_empty() {
        let why = "the command made no call that changes something, so there is nothing to examine";
        return Err(Failure::Usage(why.to_owned()));
    }
    let again = repeated.again.as_ref();
    let repeatable = again
        .is_some_and(|(end, canon)| *end == End::Code(0) && canon.equals(&repeated.canon, &masks));
    Ok(Learned {
        classes: classes(&one.calls, &one.canon, &masks),
        had_deliveries: one.deliveries.iter().any(|row| row["attempts"][0].is_object()),
        overtaken: overtaken(&one),
        reference: one.canon,
        points,
        repeatable,
        masks,
    })
}

fn two(exam: &Exam) -> Result<(Ran, Ran), Failure> {
    Ok((trial::run(exam, &Trial::default())?, trial::run(exam, &Trial::default())?))
}

/// Refuses a run without faults that did not finish its work.
fn finished(ran: &Ran) -> Result<(), Failure> {
    let how = match ran.end {
        End::Code(0) => return Ok(()),
        End::Code(code) => format!("ends with exit code {code}"),
        End::Killed => "is ended by a signal".to_owned(),
        End::TimedOut => "runs longer than --timeout".to_owned(),
    };
    Err(Failure::Report(format!(
        "error: without faults, the command {how}, so nothing can be judged{}",
        said(&ran.printed)
    )))
}

/// The calls that changed something, in the order of the log.
fn points(ran: &Ran, reads: bool) -> Vec<Point> {
    let mut seen: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut points = Vec::new();
    for call in &ran.calls {
        let Some(operation) = call.operation.as_deref() else { continue };
        let (asked, committed) = seen.entry(operation).or_default();
        *asked += 1;
        if call.is_commit() && (reads || !call.is_read()) {
            *committed += 1;
            points.push(Point {
                name: format!("{operation}#{committed}"),
                operation: operation.to_owned(),
                nth: *asked,
            });
        }
    }
    points
}

/// The event before the last one of each resource with two events.
fn overtaken(ran: &Ran) -> Vec<(String, u64)> {
    let mut of_type: BTreeMap<&str, u64> = BTreeMap::new();
    let mut last_two: BTreeMap<&str, [Option<(&str, u64)>; 2]> = BTreeMap::new();
    for delivery in &ran.deliveries {
        let (Some(name), Some(resource)) =
            (delivery["event_type"].as_str(), ran.resource(delivery))
        else {
            continue;
        };
        let place = of_type.entry(name).or_default();
        *place += 1;
        let last_two = last_two.entry(resource).or_default();
        *last_two = [last_two[1], Some((name, *place))];
    }
    last_two
        .into_values()
        .filter_map(|[before, _]| before)
        .map(|(name, place)| (name.to_owned(), place))
        .collect()
}

//! `sandbox exam`: runs the command of an app with failures of the wire, each on a fork of one world, and judges it by the ledger.
//!
//! | file | content |
//! |---|---|
//! | `args` | the flags |
//! | `trial` | one run of the command in a fork, and its results |
//! | `learn` | the runs without faults: reference, masks, commit points |
//! | `cases` | the table of cases |
//! | `rules` | the table of rules, with their fixes |
//! | `classes` | requests by the obligation that they are about |
//! | `judge` | the money rules, and the verdict of a case |
//! | `retries` | the rules for retries and pauses |
//! | `hooks` | the rules for webhooks |
//! | `evidence` | requests and sums as a report shows them |
//! | `report` | the report as text, JSON and JUnit |

mod args;
mod cases;
mod classes;
mod evidence;
mod hooks;
mod judge;
mod learn;
mod report;
mod retries;
mod rules;
mod trial;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

pub(super) use self::args::ExamArgs;

use crate::cli::exam::args::Exam;
use crate::cli::exam::cases::Planned;
use crate::cli::exam::judge::Judged;
use crate::cli::exam::learn::Learned;
use crate::cli::exam::report::{Files, Report};
use crate::cli::failure::{Failure, complain};
use crate::cli::lab::{self, Lab};
use crate::world::ClockMode;

/// Runs the exam: 0 without a failure, 1 with one, 2 if nothing could be judged.
pub(super) fn run(args: &ExamArgs) -> ExitCode {
    match examine(args) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(1),
        Err(Failure::Report(report)) => {
            eprintln!("{}", report.trim_end());
            ExitCode::from(2)
        }
        Err(failure) => complain(&failure.to_string(), 2),
    }
}

/// Whether a case failed.
fn examine(args: &ExamArgs) -> Result<bool, Failure> {
    let options = args.check()?;
    cases::check(&options)?;
    let files = Files::check(args.json.as_deref(), args.junit.as_deref())?;
    lab::end_with_us();
    let site = args.lab.site(ClockMode::Instant)?;
    let exam = Exam { lab: Lab::open(&site)?, options };
    let learned = learn::learn(&exam)?;
    let planned = cases::plan(&exam.options, &learned)?;
    let judged = examined(&exam, &learned, &planned)?;
    let report = Report::of(&exam, &learned, judged);
    files.write(&report, args.verbose)?;
    if report.is_empty() {
        return Err(Failure::Usage("no case was exercised, so nothing is known".to_owned()));
    }
    Ok(report.has_failed())
}

/// Runs all cases, several at a time. Their results are in the order of the cases.
fn examined(exam: &Exam, learned: &Learned, planned: &[Planned]) -> Result<Vec<Judged>, Failure> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Judged, Failure>>>> =
        Mutex::new(planned.iter().map(|_| None).collect());
    let progress = report::Progress::of(planned.len());
    std::thread::scope(|scope| {
        for _ in 0..exam.options.jobs.min(planned.len()) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(planned) = planned.get(place) else { return };
                    let judged = judge::case(exam, learned, planned);
                    if judged.is_err() {
                        next.store(usize::MAX / 2, Ordering::Relaxed); // no further cases are started
                    }
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results[place] = Some(judged);
                    progress.step();
                }
            });
        }
    });
    progress.end();
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut all = Vec::with_capacity(planned.len());
    for result in results.into_iter().flatten() {
        all.push(result?);
    }
    Ok(all)
}

//! The report of an exam as text, JSON and JUnit. It has no times, ids and ports, so that two reports are
//! byte-identical.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::cli::counted::counted;
use crate::cli::exam::args::Exam;
use crate::cli::exam::judge::{Finding, Judged, Verdict};
use crate::cli::exam::learn::Learned;
use crate::cli::exam::rules::Severity;
use crate::cli::failure::{Failure, print};
use crate::cli::junit::{self, Case};
use crate::cli::report_file::ReportFile;

/// The results of an exam.
pub(super) struct Report {
    seed: Value,
    version: Value,
    repeatable: bool,
    points: Vec<String>,
    cases: Vec<Judged>,
}

impl Report {
    pub(super) fn of(exam: &Exam, learned: &Learned, cases: Vec<Judged>) -> Self {
        Self {
            seed: exam.lab.seed.clone(),
            version: exam.lab.version.clone(),
            repeatable: learned.repeatable,
            points: learned.points.iter().map(|point| point.name.clone()).collect(),
            cases,
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.count(Verdict::Fail) > 0
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.cases.iter().filter(|case| case.verdict == verdict).count()
    }

    /// Commit points with a case; the cases of webhooks are at none.
    fn places(&self) -> usize {
        let places = self.cases.iter().map(|case| case.at.as_str()).filter(|at| is_point(at));
        places.collect::<BTreeSet<&str>>().len()
    }

    /// Whether no case acted, so that there is no result.
    pub(super) fn is_empty(&self) -> bool {
        self.count(Verdict::NotExercised) == self.cases.len()
    }

    /// The text: cases that failed or were not exercised, and with `verbose` all of them.
    pub(super) fn text(&self, verbose: bool) -> String {
        let width = |text: fn(&Judged) -> usize| self.cases.iter().map(text).max().unwrap_or(0);
        let (at, name) = (width(|case| case.at.len()), width(|case| case.case.len()));
        let mut text = String::new();
        for case in &self.cases {
            let is_shown = !case.findings.is_empty() || case.verdict == Verdict::NotExercised;
            if is_shown || verbose {
                let word = match case.verdict {
                    Verdict::Fail => "FAIL",
                    Verdict::Pass | Verdict::GaveUp if !case.findings.is_empty() => "WARN",
                    Verdict::Pass => "ok  ",
                    Verdict::GaveUp => "gave up",
                    Verdict::NotExercised => "not exercised",
                };
                let rules: Vec<&str> = case.findings.iter().map(|found| found.rule.id).collect();
                let rest = [rules.join(", "), case.note.clone().unwrap_or_default()];
                let rest: Vec<&str> =
                    rest.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
                let line =
                    format!("{word}  {:at$}  {:name$}  {}", case.at, case.case, rest.join(": "));
                let _ = writeln!(text, "{}", line.trim_end());
                text.push_str(&evidence(&case.findings));
            }
        }
        text.push_str(&self.summary());
        text
    }

    /// The last two lines of the text: the counts, and what they mean.
    fn summary(&self) -> String {
        let points = |number: usize| counted(number as u64, "commit point", "commit points");
        let places = match (self.places(), self.cases.iter().any(|case| !is_point(&case.at))) {
            (0, _) => "webhooks".to_owned(),
            (number, true) => format!("{} and webhooks", points(number)),
            (number, false) => points(number),
        };
        let exercised = self.cases.len() - self.count(Verdict::NotExercised);
        let verdict = match (self.has_failed(), exercised) {
            (_, 0) => "",
            (false, _) => " No money moved twice, and no unpaid debt went unnoticed.",
            (true, _) if self.count(Verdict::Pass) == 0 => "",
            (true, _) => {
                " In the passed cases, no money moved twice and no unpaid debt went unnoticed."
            }
        };
        format!(
            "{} at {places}: {} pass, {} fail, {} gave up, {} not exercised. Exit {}.\n\
             The command was run with {} at these places of one run.{verdict} Other inputs, other orders, failures of your own machine \
             and database, and two failures at once were not tried.\n",
            counted(self.cases.len() as u64, "case", "cases"),
            self.count(Verdict::Pass),
            self.count(Verdict::Fail),
            self.count(Verdict::GaveUp),
            self.count(Verdict::NotExercised),
            if self.is_empty() { 2 } else { u8::from(self.has_failed()) },
            counted(exercised as u64, "failure of the wire", "failures of the wire"),
        )
    }

    fn json(&self) -> Value {
        let case = |case: &Judged| {
            let findings: Vec<Value> = case.findings.iter().map(finding).collect();
            json!({
                "at": case.at,
                "case": case.case,
                "verdict": case.verdict.name(),
                "exit": case.exit,
                "findings": findings,
            })
        };
        json!({
            "format": 1,
            "world": {"seed": self.seed, "version": self.version},
            "repeatable": self.repeatable,
            "points": self.points,
            "cases": self.cases.iter().map(case).collect::<Vec<_>>(),
            "counts": {
                "cases": self.cases.len(),
                "pass": self.count(Verdict::Pass),
                "fail": self.count(Verdict::Fail),
                "gave_up": self.count(Verdict::GaveUp),
                "not_exercised": self.count(Verdict::NotExercised),
            },
        })
    }

    fn junit(&self) -> Vec<Case> {
        let verdict = |case: &Judged| {
            let note = case.note.clone().unwrap_or_default();
            match case.verdict {
                Verdict::Pass if case.findings.is_empty() => junit::Verdict::Passed,
                Verdict::Pass => junit::Verdict::PassedWith(evidence(&case.findings)),
                Verdict::GaveUp => junit::Verdict::PassedWith(note),
                Verdict::NotExercised => {
                    junit::Verdict::Skipped(Some(format!("not exercised: {note}")))
                }
                Verdict::Fail => {
                    let failed = case.findings.iter();
                    let mut failed = failed.filter(|found| found.severity == Severity::Fail);
                    let first = failed.next();
                    let message = first.and_then(|found| found.what.first().cloned());
                    let rules: Vec<&str> =
                        case.findings.iter().map(|found| found.rule.id).collect();
                    junit::Verdict::Failed {
                        kind: first.map(|found| found.rule.id.to_owned()),
                        message: message.unwrap_or_else(|| rules.join(", ")),
                        report: evidence(&case.findings),
                    }
                }
            }
        };
        let case = |case: &Judged| Case {
            class: case.at.clone(),
            name: case.case.to_owned(),
            verdict: verdict(case),
        };
        self.cases.iter().map(case).collect()
    }
}

/// Whether a place is a commit point, such as `createPayout#1`.
fn is_point(at: &str) -> bool {
    at.contains('#')
}

fn finding(found: &Finding) -> Value {
    json!({
        "rule": found.rule.id,
        "severity": found.severity,
        "what": found.what.join("; "),
        "requests": found.requests,
        "entries": found.entries,
        "fix": found.fix,
    })
}

/// The lines below a case: its requests, what differs, and how to fix it.
fn evidence(findings: &[Finding]) -> String {
    let mut text = String::new();
    let Some(first) = findings.first() else { return text };
    for request in &first.requests {
        let _ = writeln!(text, "      {}", request.line());
    }
    let mut seen = BTreeSet::new();
    let what = findings.iter().flat_map(|found| found.what.iter().map(String::as_str));
    for line in what.filter(|line| seen.insert(*line)) {
        let _ = writeln!(text, "      {line}");
    }
    for fix in findings.iter().map(|found| found.fix).filter(|fix| seen.insert(*fix)) {
        let _ = writeln!(text, "      fix: {fix}");
    }
    text
}

/// The files of a report, checked before the first run.
pub(super) struct Files {
    json: Json,
    junit: Option<ReportFile>,
}

/// Where the report goes as JSON.
enum Json {
    Nowhere,
    Printed,
    File(ReportFile),
}

impl Files {
    pub(super) fn check(json: Option<&Path>, junit: Option<&Path>) -> Result<Self, Failure> {
        let json = match json {
            None => Json::Nowhere,
            Some(path) if path.as_os_str() == "-" => Json::Printed,
            Some(path) => Json::File(ReportFile::check("--json", path)?),
        };
        let junit = junit.map(|path| ReportFile::check("--junit", path)).transpose()?;
        Ok(Self { json, junit })
    }

    /// Writes the files, and prints the report as text or JSON.
    pub(super) fn write(&self, report: &Report, verbose: bool) -> Result<(), Failure> {
        let json = || format!("{:#}\n", report.json());
        if let Json::File(file) = &self.json {
            file.write(&json())?;
        }
        if let Some(file) = &self.junit {
            file.write(&junit::document("sandbox exam", &report.junit()))?;
        }
        print(&if matches!(self.json, Json::Printed) { json() } else { report.text(verbose) })
    }
}

/// A line on stderr, if it is a terminal.
pub(super) struct Progress {
    all: usize,
    done: AtomicUsize,
    is_shown: bool,
}

impl Progress {
    pub(super) fn of(all: usize) -> Self {
        let is_shown = std::io::stderr().is_terminal();
        Self { all, done: AtomicUsize::new(0), is_shown }
    }

    pub(super) fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_shown {
            eprint!("\r{done} of {} cases", self.all);
        }
    }

    pub(super) fn end(&self) {
        if self.is_shown {
            eprint!("\r{:30}\r", "");
        }
    }
}

//! Every published case is within its tolerance, calculated by the subcommand.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use clap::Parser;
use sandbox::cli::gross_to_net;
use serde_json::{Value, json};

/// A row of `pack,engine,period,k,attrs,inputs,gross,ytd,line,expected,tol`.
pub(super) struct Case {
    pub(super) row: usize,
    pub(super) columns: Vec<String>,
}

const HEADER: &str = "pack,engine,period,k,attrs,inputs,gross,ytd,line,expected,tol";

impl Case {
    fn column(&self, name: &str) -> &str {
        let index = HEADER.split(',').position(|column| column == name).unwrap();
        &self.columns[index]
    }

    fn ndjson(&self) -> String {
        let cell = |name| Value::from(self.column(name));
        json!({
            "pack": cell("pack"),
            "period": cell("period"),
            "k": cell("k"),
            "attrs": cell("attrs"),
            "inputs": cell("inputs"),
            "gross": cell("gross"),
            "ytd": cell("ytd"),
        })
        .to_string()
    }

    /// The result for the line of the case.
    fn actual(&self, answer: &Value) -> Result<i64, String> {
        if let Some(error) = answer.get("error") {
            return Err(error.to_string());
        }
        let number = |value: &Value| value.as_i64().ok_or_else(|| format!("not a number: {value}"));
        let line =
            |id: &str| number(&answer["lines"][id]).map_err(|error| format!("{id}: {error}"));
        match self.column("line") {
            "@net" => number(&answer["net"]),
            "@ee" => number(&answer["employee"]),
            "@tax+ee" => Ok(number(&answer["tax"])? + number(&answer["employee"])?),
            other => match other.strip_prefix('@') {
                Some(sum) => sum.split('+').map(line).sum(),
                None => line(other),
            },
        }
    }
}

pub(super) fn read(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    lines.enumerate().map(|(i, line)| Case { row: i + 2, columns: cells(line) }).collect()
}

/// The cells of a CSV line; quotes are doubled inside quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().unwrap();
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    assert_eq!(cells.len(), HEADER.split(',').count(), "{line}");
    cells
}

/// Runs all cases at once and lists the wrong ones.
fn failures(cases: &[Case]) -> Vec<String> {
    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: gross_to_net::Args,
    }
    let Command { args } = Command::parse_from(["sandbox", "--cases", "-"]);
    let lines: Vec<String> = cases.iter().map(Case::ndjson).collect();
    let mut output = Vec::new();
    gross_to_net::run(&args, Cursor::new(lines.join("\n")), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    assert_eq!(output.lines().count(), cases.len());
    cases.iter().zip(output.lines()).filter_map(|(case, answer)| failure(case, answer)).collect()
}

fn failure(case: &Case, answer: &str) -> Option<String> {
    let expected: i64 = case.column("expected").parse().unwrap();
    let tolerance: u64 = case.column("tol").parse().unwrap();
    match case.actual(&serde_json::from_str(answer).unwrap()) {
        Ok(actual) if actual.abs_diff(expected) <= tolerance => None,
        actual => Some(format!(
            "row {}: {} is {actual:?}, expected {expected} within {tolerance}: {}",
            case.row,
            case.column("line"),
            case.columns.join(",")
        )),
    }
}

#[track_caller]
fn assert_all_pass(cases: &[Case]) {
    let failures = failures(cases);
    let shown: Vec<&str> = failures.iter().take(10).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} of {} wrong:\n{}",
        failures.len(),
        cases.len(),
        shown.join("\n")
    );
}

fn sample_cases() -> Vec<Case> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/payroll/sample-cases.csv"))
}

#[test]
fn every_sample_case_is_within_its_tolerance() {
    let cases = sample_cases();
    assert_eq!(cases.len(), 1488);
    assert_all_pass(&cases);
}

/// Rows of the law, computed by published engines: US states and deduction types, British tax codes, Canadian claims and maxima.
#[test]
fn every_row_of_the_law_is_within_its_tolerance() {
    let cases = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/payroll/law-cases.csv"));
    assert_eq!(cases.len(), 500);
    print_counts(&cases);
    assert_all_pass(&cases);
}

/// Prints how many rows agree, by pack and line.
fn print_counts(cases: &[Case]) {
    let failures = failures(cases);
    let fails = |case: &Case| {
        let start = format!("row {}: ", case.row);
        failures.iter().any(|failure| failure.starts_with(&start))
    };
    let mut counts = BTreeMap::<(&str, &str), [usize; 2]>::new();
    for case in cases {
        let count = counts.entry((case.column("pack"), case.column("line"))).or_default();
        count[usize::from(fails(case))] += 1;
    }
    for ((pack, line), [agree, differ]) in counts {
        println!("{pack:<8} {line:<40} {agree:>5} agree {differ:>5} differ");
    }
}

/// The authorities' own figures. Their licences differ, so they are not in the repository.
#[test]
fn every_authority_case_is_within_its_tolerance() {
    let beside = || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/payroll");
        ["authority-cases.csv", "law/authority-cases.csv"].map(|file| folder.join(file)).to_vec()
    };
    let given = std::env::var_os("SANDBOX_AUTHORITY_CASES");
    for path in given.map_or_else(beside, |path| vec![PathBuf::from(path)]) {
        if !path.exists() {
            println!("skipped: {} is not there (set SANDBOX_AUTHORITY_CASES)", path.display());
            continue;
        }
        let cases = read(&path);
        assert!(cases.len() > 1000, "{} rows", cases.len());
        print_counts(&cases);
        assert_all_pass(&cases);
    }
}

/// The control run: the checker must notice a wrong figure.
#[test]
fn a_wrong_expected_value_is_noticed_in_every_row() {
    let mut cases = sample_cases();
    let tolerance = |case: &Case| case.column("tol").parse::<i64>().unwrap();
    for case in &mut cases {
        let off = tolerance(case) * 2 + 1;
        let expected: i64 = case.column("expected").parse().unwrap();
        case.columns[9] = (expected + off).to_string();
    }
    assert_eq!(failures(&cases).len(), cases.len());
}

/// A line that the pack does not have must fail, not count as zero.
#[test]
fn an_unknown_line_is_noticed() {
    let mut cases = sample_cases();
    cases.truncate(1);
    cases[0].columns[8] = "no_such_line".to_owned();
    assert_eq!(failures(&cases).len(), 1);
}

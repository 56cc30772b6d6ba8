//! Instructions for each request, counted by valgrind: a busy machine does not change them.
//!
//! A server runs twice, with N requests and with 3 N. The difference divided by 2 N is one request, without
//! the start and the end.

use std::process::{Command, Stdio};

use crate::child::Child;
use crate::load::{self, Write};

/// The requests of the shorter run.
const REQUESTS: u64 = 1_000;
/// Few connections: with valgrind threads take turns, and idle ones would only add switches.
const CONNECTIONS: u64 = 4;

/// Whether valgrind is installed.
pub(crate) fn are_countable() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// The instructions of one request to the program with these arguments.
pub(crate) fn per_request(
    program: &str,
    arguments: &[String],
    write: &Write,
) -> Result<u64, String> {
    let short = total(program, arguments, write, REQUESTS)?;
    let long = total(program, arguments, write, 3 * REQUESTS)?;
    Ok(long.saturating_sub(short) / (2 * REQUESTS))
}

fn total(program: &str, arguments: &[String], write: &Write, requests: u64) -> Result<u64, String> {
    let counts = std::env::temp_dir().join(format!("ratios-{}.callgrind", std::process::id()));
    let mut wrapped = vec![
        "--tool=callgrind".to_owned(),
        "--quiet".to_owned(),
        format!("--callgrind-out-file={}", counts.display()),
        program.to_owned(),
    ];
    wrapped.extend_from_slice(arguments);
    let child = Child::start("valgrind", &wrapped, "/")?;
    let round = load::run(child.address, CONNECTIONS, requests, 0, write);
    child.end();
    let round = round.map_err(|error| error.to_string())?;
    if let Some(status) = round.refused {
        return Err(format!("refused with {status}"));
    }
    let text = std::fs::read(&counts).map_err(|error| format!("{}: {error}", counts.display()))?;
    // The file belongs to the benchmark, and a remaining file is harmless.
    let _ = std::fs::remove_file(&counts);
    let total = load::number_after(&text, b"\ntotals:");
    let total = total.or_else(|| load::number_after(&text, b"\nsummary:"));
    total.ok_or_else(|| "callgrind wrote no total".to_owned())
}

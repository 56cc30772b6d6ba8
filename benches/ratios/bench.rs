//! The bench itself: starts servers, runs rounds of both in turn, and prints the results.

use std::path::Path;
use std::time::Duration;

use crate::child::{Child, Got};
use crate::load::{self, CONNECTIONS, Round, Write};
use crate::requests::{self, KEY};
use crate::rows::{PAGE, ROWS, Row};
use crate::{BARE, instructions};

/// Ten million people.
const LARGE: [(&str, u64); 2] = [("--companies", 1_000), ("--employees-per-company", 10_000)];

/// One run of the bench.
pub(crate) struct Bench {
    filters: Vec<String>,
    sandbox: String,
    bare: String,
    pub(crate) rounds: u64,
    pub(crate) requests: u64,
    pub(crate) memory_requests: u64,
    /// The number of the next request; all requests of a run differ.
    pub(crate) next: u64,
}

impl Bench {
    /// The options of the command line.
    pub(crate) fn from_arguments(arguments: &[String]) -> Result<Self, String> {
        let bare = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut bench = Self {
            filters: Vec::new(),
            sandbox: env!("CARGO_BIN_EXE_sandbox").to_owned(),
            bare: bare.display().to_string(),
            rounds: 7,
            requests: 40_000,
            memory_requests: 1_000_000,
            next: 0,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => {} // cargo passes it to every bench
                "--quick" => {
                    (bench.rounds, bench.requests, bench.memory_requests) = (3, 8_000, 50_000);
                }
                "--sandbox" => {
                    bench.sandbox.clone_from(arguments.next().ok_or("--sandbox PROGRAM")?);
                }
                "--list" => bench.filters.push("--list".to_owned()),
                unknown if unknown.starts_with('-') => return Err(format!("{unknown} is unknown")),
                filter => bench.filters.push(filter.to_owned()),
            }
        }
        Ok(bench)
    }

    /// The measured program.
    pub(crate) fn program(&self) -> &str {
        &self.sandbox
    }

    /// Whether a rough figure is enough.
    pub(crate) const fn is_quick(&self) -> bool {
        self.rounds < 7
    }

    /// The same measurement with the build of the profile `dist`, which is shipped.
    pub(crate) fn shipped(
        &mut self,
        measure: impl FnOnce(&mut Self) -> Result<String, String>,
    ) -> Result<String, String> {
        let program = Path::new(&self.sandbox).with_file_name("../dist/sandbox");
        if !program.exists() {
            return Err("build it: cargo build --profile dist".to_owned());
        }
        let measured = std::mem::replace(&mut self.sandbox, program.display().to_string());
        let result = measure(self);
        self.sandbox = measured;
        result
    }

    /// Measures the selected rows and prints each when it is done. A row that cannot be measured prints the
    /// reason, and is an error at the end.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        if self.filters.iter().any(|filter| filter == "--list") {
            for row in ROWS {
                println!("{}", row.name);
            }
            return Ok(());
        }
        let filters = self.filters.clone();
        let wanted = |row: &&Row| {
            filters.is_empty() || filters.iter().any(|filter| row.name.contains(filter))
        };
        println!("{:<32} {:<86} target", "row", "measured (median of rounds)");
        let mut failed = 0;
        for row in ROWS.iter().filter(wanted) {
            let measured = (row.measure)(self).unwrap_or_else(|error| {
                failed += 1;
                format!("NOT MEASURED: {error}")
            });
            println!("{:<32} {measured:<86} {}", row.name, row.target);
        }
        if failed == 0 { Ok(()) } else { Err(format!("{failed} rows were not measured")) }
    }

    pub(crate) fn sandbox(&self, large: bool) -> Result<Child, String> {
        Child::start(&self.sandbox, &sandbox_arguments(large), PAGE)
    }

    pub(crate) fn bare(&self, body_bytes: usize) -> Result<Child, String> {
        Child::start(&self.bare, &bare_arguments(body_bytes), "/")
    }

    /// Requests over all connections; the server's CPU time in hundredths of a microsecond for each request.
    pub(crate) fn round(&mut self, server: &Child, write: &Write) -> Result<(Round, u64), String> {
        let cpu = server.cpu_us();
        let first = self.next;
        self.next += self.requests;
        let round = load::run(server.address, CONNECTIONS, self.requests, first, write);
        let round = round.map_err(|error| error.to_string())?;
        if let Some(status) = round.refused {
            return Err(format!("refused with {status}"));
        }
        Ok((round, (server.cpu_us() - cpu) * 100 / round.requests))
    }

    /// Rounds of both servers in turn, after one uncounted round of each.
    pub(crate) fn against(
        &mut self,
        (one, ask_one): (&Child, &Write),
        (other, ask_other): (&Child, &Write),
    ) -> Result<Comparison, String> {
        let mut rounds = Comparison::default();
        for number in 0..=self.rounds {
            let (fast, cpu) = self.round(one, ask_one)?;
            let (yardstick, yardstick_cpu) = self.round(other, ask_other)?;
            if number > 0 {
                rounds.push((fast.per_second(), cpu), (yardstick.per_second(), yardstick_cpu));
            }
        }
        Ok(rounds)
    }

    /// A GET against constant bytes of the same length.
    pub(crate) fn get_against_bare(
        &mut self,
        large: bool,
        path: &str,
        ask: &Write,
    ) -> Result<String, String> {
        let sandbox = self.sandbox(large)?;
        let body_bytes = ok(sandbox.get(path, KEY)?)?.body.len();
        let bare = self.bare(body_bytes)?;
        let rounds = self.against((&sandbox, ask), (&bare, &requests::get("/")))?;
        Ok(format!("{rounds}; {body_bytes} B"))
    }

    /// A write against a GET of constant bytes as long as a page.
    pub(crate) fn post_against_bare(
        &mut self,
        ask: impl Fn(&Child) -> Result<Write, String>,
    ) -> Result<String, String> {
        self.post_with_against_bare(&[], ask)
    }

    /// A write to a sandbox with more flags, against a GET of constant bytes.
    pub(crate) fn post_with_against_bare(
        &mut self,
        flags: &[&str],
        ask: impl Fn(&Child) -> Result<Write, String>,
    ) -> Result<String, String> {
        let flags = flags.iter().map(|flag| (*flag).to_owned());
        let arguments: Vec<_> = sandbox_arguments(false).into_iter().chain(flags).collect();
        let sandbox = Child::start(&self.sandbox, &arguments, PAGE)?;
        let ask = ask(&sandbox)?;
        let bare = self.bare(ok(sandbox.get(PAGE, KEY)?)?.body.len())?;
        Ok(self.against((&sandbox, &ask), (&bare, &requests::get("/")))?.to_string())
    }

    pub(crate) fn instructions_against_bare(
        &mut self,
        large: bool,
        path: &str,
        ask: &Write,
    ) -> Result<String, String> {
        if !instructions::are_countable() {
            return Err("there is no valgrind".to_owned());
        }
        let body_bytes = ok(self.sandbox(large)?.get(path, KEY)?)?.body.len();
        let ours = instructions::per_request(&self.sandbox, &sandbox_arguments(large), ask)?;
        let bare = instructions::per_request(
            &self.bare,
            &bare_arguments(body_bytes),
            &requests::get("/"),
        )?;
        Ok(format!("{ours} of {bare} = {} x; {body_bytes} B", hundredths(ours * 100 / bare.max(1))))
    }
}

fn sandbox_arguments(large: bool) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["--seed", "42", "--port", "0", "--quiet"].map(ToOwned::to_owned).to_vec();
    if large {
        arguments.extend(
            LARGE.iter().flat_map(|(flag, number)| [(*flag).to_owned(), number.to_string()]),
        );
    }
    arguments
}

fn bare_arguments(body_bytes: usize) -> Vec<String> {
    vec![BARE.to_owned(), body_bytes.to_string()]
}

pub(crate) fn ok(got: Got) -> Result<Got, String> {
    if (200..300).contains(&got.status) {
        Ok(got)
    } else {
        Err(format!("refused with {}: {}", got.status, got.body))
    }
}

/// Rounds of two servers: requests per second, and hundredths of a microsecond of CPU time for each request.
#[derive(Default)]
pub(crate) struct Comparison {
    per_second: Vec<(u64, u64)>,
    cpu: Vec<(u64, u64)>,
}

impl Comparison {
    fn push(&mut self, one: (u64, u64), other: (u64, u64)) {
        self.per_second.push((one.0, other.0));
        self.cpu.push((one.1, other.1));
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ratio = |pairs: &[(u64, u64)]| {
            hundredths(median(
                pairs.iter().map(|(one, other)| one * 100 / (*other).max(1)).collect(),
            ))
        };
        let ones = |pairs: &[(u64, u64)]| median(pairs.iter().map(|pair| pair.0).collect());
        let others = |pairs: &[(u64, u64)]| median(pairs.iter().map(|pair| pair.1).collect());
        let (speed, cpu) = (&self.per_second, &self.cpu);
        write!(out, "{} of {}/s = {} x", ones(speed), others(speed), ratio(speed))?;
        let (one, other) = (hundredths(ones(cpu)), hundredths(others(cpu)));
        write!(out, "; cpu {one} of {other} us = {} x", ratio(cpu))
    }
}

pub(crate) fn median(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn hundredths(number: u64) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

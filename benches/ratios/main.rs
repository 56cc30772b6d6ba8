//! Compares the sandbox with a bare hyper server that sends the same bytes, side by side in one run.
//!
//! `cargo bench --bench ratios -- [FILTER…] [--quick] [--sandbox PROGRAM] [--list]`. A filter selects the
//! rows whose name contains it. Speed is a ratio within a round, with the median over the rounds, because
//! absolute numbers vary on shared cores. CPU is the server's own, as the kernel counts it. The rows
//! `instructions…` need valgrind.
//!
//! Uses only the documented interface: HTTP, and the library's methods in some rows. All numbers are whole: a
//! ratio is in hundredths.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads the clock, starts processes and opens sockets"
)]

mod bare;
mod bench;
mod books;
mod child;
mod deliveries;
mod instructions;
mod isolation;
mod load;
mod names;
mod payments;
mod recovery;
mod requests;
mod rows;
mod store;
mod worlds;

use std::process::ExitCode;

use mimalloc::MiMalloc;

use crate::bench::Bench;

/// The allocator of the program, so that rows in this process are comparable.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Makes this program the reference; the size of the body follows.
const BARE: &str = "--bare-server";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = arguments.iter().position(|argument| argument == BARE) {
        let bytes = arguments.get(at + 1).and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        return match bare::serve(bytes) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error.to_string()),
        };
    }
    match Bench::from_arguments(&arguments).and_then(|mut bench| bench.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

fn fail(error: &str) -> ExitCode {
    eprintln!("ratios: {error}");
    ExitCode::FAILURE
}

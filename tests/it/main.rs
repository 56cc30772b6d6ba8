//! The binary from outside: over TCP, by its command line, and by its documents; the payroll engine by its public library.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test fails by panicking, and drives processes, sockets and files"
)]

mod cli;
mod contract;
mod determinism;
mod errors;
mod harness;
mod headers;
mod idempotency;
mod layers;
mod lists;
mod payroll;
mod payroll_flow;
mod published;
mod readme;
mod walk;
mod world;

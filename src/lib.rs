//! A seeded, in-memory simulator of a financial-infrastructure API.
//!
//! The layers, in reading order. A layer imports only from those above it in this list; `tests/it/layers.rs` checks this.
//! `docs/glossary.md` defines the terms.
//!
//! | layer | content |
//! |---|---|
//! | [`value`] | ids, money, time, keyed randomness, the table of error codes: no state, no IO |
//! | [`model`] | resources, lifecycles, postings, growth, the payroll engine: pure rules |
//! | `world` | all state: grown base, overlay, ledger, event log, timers, transactions, audit |
//! | `tester` | the test tools beside a world: endpoints and deliveries, request log, snapshots, faults |
//! | `api` | the operation table and its handlers |
//! | `engine` | route → key → idempotency → shape → handler → commit; worlds by key |
//! | `scenario` | scenario files: TOML to checked rows, with diagnostics; the shipped ones |
//! | `render` | the OpenAPI document, the reference pages and the tools for language models, loops over the table |
//! | `io` | sockets, signals, the wall clock |
//! | [`cli`] | one file for each subcommand |
//!
//! Invariants, each with a test:
//! - a refused request leaves the digest of its world unchanged;
//! - every journal entry balances in every currency and names a source that exists;
//! - totals, statements and reports are sums of the entries and agree with one another;
//! - the same seed and inputs give the same bytes, independently of other worlds in the process;
//! - no code left of `io` reads a clock, opens a file or uses unseeded random numbers; money has no floats; no hash map is iterated.
//!
//! For Rust tests, [`Sandbox`] starts a server in one line.

pub(crate) mod api;
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this layer uses sockets, files and the machine's clock"
)]
pub mod cli;
pub(crate) mod engine;
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this layer uses sockets, files and the machine's clock"
)]
pub(crate) mod io;
pub mod model;
pub(crate) mod render;
pub(crate) mod scenario;
pub(crate) mod tester;
pub mod value;
pub(crate) mod world;

pub use crate::io::embed::{Builder, Sandbox, SandboxError, SnapshotId};
pub use crate::io::embed_calls::{Event, Rule, Verification};
pub use crate::world::ClockMode;

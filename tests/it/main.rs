//! Black-box tests of the binary: over TCP, by its command line and by its documents; the payroll engine by
//! its public library.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::struct_field_names,
    reason = "a test fails by panicking, and drives processes, sockets and files"
)]

mod accounting;
mod agents;
mod auditor;
mod bad_input;
mod capital;
mod catalogue;
mod cli;
#[cfg(unix)]
mod cluster;
mod collections;
mod compliance;
mod contract;
mod contract_overlay;
mod coverage;
#[cfg(target_os = "linux")]
mod crowd;
mod dashboard;
mod declared;
mod determinism;
mod documents;
mod edge;
mod embedded;
mod employees;
mod errors;
mod escrows;
mod exam;
mod explain;
mod explore;
mod faults;
mod fx;
mod golden_path;
mod harness;
mod headers;
mod hosting;
mod idempotency;
mod identity;
mod import_cycles;
mod imports;
mod layers;
mod leave;
mod lists;
mod outside;
mod payouts;
mod payroll;
mod payroll_flow;
mod payroll_runs;
mod pdf;
mod published;
mod readme;
mod reconciliation;
mod replay;
mod requests;
mod room;
mod scenario;
mod share;
mod sizes;
mod tax_documents;
mod tax_filings;
#[cfg(feature = "otel")]
mod telemetry;
mod walk;
mod webhooks;
mod world;

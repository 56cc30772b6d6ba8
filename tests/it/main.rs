//! Scratch test binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod payroll;

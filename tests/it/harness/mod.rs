//! The base of the black-box tests: the real binary on a free port, a small HTTP client, the served contract.
//!
//! May import nothing of the crate under test, because shared code would share mistakes.

pub(crate) mod contract;
pub(crate) mod http;
pub(crate) mod receiver;
pub(crate) mod schema;
pub(crate) mod server;
pub(crate) mod world;

pub(crate) use http::{Answer, Request};
pub(crate) use server::{Server, command, finish};
pub(crate) use world::Caller;

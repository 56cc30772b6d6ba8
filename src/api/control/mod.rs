//! The control API under `/_sandbox`. It is not part of the product and has a document of its own.

pub(crate) mod clock;
mod collecting;
mod dealing;
pub(crate) mod decisions;
pub(crate) mod deliveries;
pub(crate) mod diff;
pub(crate) mod events;
pub(crate) mod faults;
mod identifying;
pub(crate) mod inbound;
mod inbound_payments;
pub(crate) mod intervene;
mod lending;
pub(crate) mod limits;
pub(crate) mod process;
mod recipes;
pub(crate) mod request_log;
pub(crate) mod scenarios;
pub(crate) mod snapshots;
pub(crate) mod statement_truth;
pub(crate) mod transitions;
pub(crate) mod trigger;
pub(crate) mod verify;
pub(crate) mod webhooks;
pub(crate) mod worlds;

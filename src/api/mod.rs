//! The operations: tables of rows, the types of their inputs, and their handlers.
//!
//! May import `value`, `model`, `world` and `tester`. Deliberately absent: headers, keys, sockets. A handler sees only a world and a
//! decoded input; a control handler also sees the tester.

pub(crate) mod bind;
pub(crate) mod business;
pub(crate) mod capital;
pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod control;
pub(crate) mod crud;
pub(crate) mod host;
pub(crate) mod identity;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod operation;
pub(crate) mod pay_history;
pub(crate) mod payments;
pub(crate) mod pdf;
pub(crate) mod prelude;
pub(crate) mod print;
mod product;
pub(crate) mod reply;
pub(crate) mod resource_members;
mod resource_paths;
pub(crate) mod scripted;
pub(crate) mod sort;
pub(crate) mod system;
pub(crate) mod timers;

use crate::api::control::{
    clock, decisions, deliveries, diff, event_fork, event_histogram, event_stream, events, explain,
    export, faults, import, inbound, inputs, intervene, limits, micro_deposits, process, rails,
    request_log, reset, scenarios, series, snapshots, statement_file, statement_truth, trace,
    trigger, verify, webhooks, worlds,
};
use crate::api::operation::Operation;

pub(crate) use self::product::product;

/// The operations of the control API under `/_sandbox`.
pub(crate) fn control() -> impl Iterator<Item = &'static Operation> {
    let tables = [
        process::OPERATIONS,
        clock::OPERATIONS,
        reset::OPERATIONS,
        events::OPERATIONS,
        event_fork::OPERATIONS,
        event_histogram::OPERATIONS,
        event_stream::OPERATIONS,
        decisions::OPERATIONS,
        series::OPERATIONS,
        explain::OPERATIONS,
        rails::OPERATIONS,
        scenarios::OPERATIONS,
        intervene::OPERATIONS,
        trigger::OPERATIONS,
        inbound::OPERATIONS,
        statement_file::OPERATIONS,
        statement_truth::OPERATIONS,
        micro_deposits::OPERATIONS,
        webhooks::OPERATIONS,
        deliveries::OPERATIONS,
        snapshots::OPERATIONS,
        worlds::OPERATIONS,
        inputs::OPERATIONS,
        diff::OPERATIONS,
        faults::OPERATIONS,
        limits::OPERATIONS,
        trace::OPERATIONS,
        request_log::OPERATIONS,
        verify::OPERATIONS,
        import::OPERATIONS,
        export::OPERATIONS,
    ];
    tables.into_iter().flatten()
}

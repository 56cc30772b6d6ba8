//! System rows: what the clock calls. Timers come through here one by one, each its own transaction.

use std::sync::Arc;

use serde_json::Value;

use crate::api::business::payroll_clock;
use crate::api::operation::{Call, Operation};
use crate::api::reply::Reply;
use crate::model::task::Task;
use crate::value::error::ApiError;
use crate::value::time::Timestamp;
use crate::world::event::{Event, RequestRef};
use crate::world::{ClockMode, World};

/// Calls a row that may change the world: wholly, or not at all.
pub(crate) fn perform(
    world: &mut World,
    operation: &Operation,
    origin: Option<Arc<RequestRef>>,
    input: Value,
) -> Result<Reply, ApiError> {
    match operation.call {
        Call::Write(call) => {
            world.begin(origin);
            let reply = call(world, input);
            match &reply {
                Ok(_) => world.commit(),
                Err(_) => world.roll_back(),
            }
            reply
        }
        Call::Drive(call) => call(world, input),
        Call::Read(_) | Call::Open(_) => unreachable!("a row that cannot write is not performed"),
    }
}

/// What one task does, and the events it can cause.
pub(crate) struct SystemRow {
    pub(crate) name: &'static str,
    pub(crate) emits: &'static [&'static str],
}

/// The row of a task.
pub(crate) const fn row(task: Task) -> SystemRow {
    match task {
        Task::CalculateRun(_) => SystemRow {
            name: "calculate_run",
            emits: &[
                "payroll_run.calculated",
                "payroll_run.pending_approval",
                "payroll_run.approved",
                "tax_liability.created",
            ],
        },
        Task::FundRun(_) => SystemRow {
            name: "fund_run",
            emits: &[
                "payroll_run.funded",
                "payroll_run.funding_failed",
                "wallet.debited",
                "payout.created",
                "payroll_run.processing",
                "payroll_run.paid",
            ],
        },
        Task::SendRunPayouts(_) => SystemRow {
            name: "send_run_payouts",
            emits: &["payout.processing", "payout.sent"],
        },
        Task::SettlePayout(_) => SystemRow {
            name: "settle_payout",
            emits: &[
                "payout.paid",
                "payslip.issued",
                "payroll_item.paid",
                "payroll_run.paid",
                "payroll_run.partially_paid",
                "payroll_run.failed",
            ],
        },
    }
}

fn call(world: &mut World, task: Task) {
    match task {
        Task::CalculateRun(run) => payroll_clock::calculate_run(world, run),
        Task::FundRun(run) => payroll_clock::fund_run(world, run),
        Task::SendRunPayouts(run) => payroll_clock::send_run_payouts(world, run),
        Task::SettlePayout(payout) => payroll_clock::settle_payout(world, payout),
    }
}

/// Runs the first task due by `instant`, if there is one.
pub(crate) fn run_next(world: &mut World, instant: Timestamp) -> Option<Task> {
    world.begin(None);
    let Some(timer) = world.take_due(instant) else {
        world.roll_back();
        return None;
    };
    let logged = world.log().len();
    call(world, timer.task);
    assert!(
        world.log()[logged..]
            .iter()
            .all(|event| row(timer.task).emits.contains(&&*event.name)),
        "{} emitted an event that its row does not declare",
        row(timer.task).name
    );
    world.commit();
    Some(timer.task)
}

/// In an instant world: everything that follows from the last request.
pub(crate) fn settle(world: &mut World) {
    if world.mode() == ClockMode::Instant {
        while run_next(world, world.now().plus_millis(1)).is_some() {}
    }
}

/// Moves the clock to an instant, running what falls due on the way in its order.
pub(crate) fn advance(world: &mut World, to: Timestamp) {
    while run_next(world, to).is_some() {}
    world.begin(None);
    world.move_clock(to);
    world.commit();
}

/// What happened since the log had that length.
pub(crate) fn events_since(world: &World, length: usize) -> &[Arc<Event>] {
    &world.log()[length..]
}

/// Moves a world that the wall clock drives to where the wall clock is. Nothing happens by this alone, so the version stays.
pub(crate) fn follow(world: &mut World, to: Timestamp) {
    while run_next(world, to).is_some() {}
    world.follow_clock(to);
}

//! Operations on a waiting payroll run: approve, cancel, retry funding.

use crate::api::business::payroll_clock::{approve_run, as_of_approval, items};
use crate::api::business::payroll_funding::{self, fund_run};
use crate::api::business::payroll_months::unaccrue;
use crate::api::business::payroll_people::may_pay;
use crate::api::business::payroll_undo::void_liabilities;
use crate::api::business::tax_clock;
use crate::api::prelude::*;
use crate::model::business::{ItemStatus, PayrollRun, RunStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([
    Operation {
        path: "/api/business/payroll-runs/{payroll_run_id}/approve",
        summary: "Approve a payroll run",
        description: "Approves a run that is `calculated` or `pending_approval`. Approval accrues wages \
            and taxes. The money is reserved at the cut-off. Afterwards, the run has the same \
            steps as a run of `runPayroll`. If the cut-off of the pay date has passed, the pay \
            date becomes the next possible day. The run is then calculated again for that day. In \
            a drafted run, employees who can no longer be paid are excluded, and the pay of \
            employees who leave is calculated again.",
        example: r#"{"approver":"Ada Obi","note":"Checked against the rota"}"#,
        errors: &[
            ErrorCode::InvalidStateTransition,
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
        ],
        emits: &[
            "payroll_run.calculated",
            "payroll_run.approved",
            "tax_liability.created",
            "journal_entry.posted",
        ],
        starts: &[TaskKind::FundRun, TaskKind::LiabilityDue],
        long: true,
        ..operation!(write approve_payroll_run)
    },
    Operation {
        path: "/api/business/payroll-runs/{payroll_run_id}/cancel",
        summary: "Cancel a payroll run",
        description: "Cancels a run before its money is reserved. Its accrual is reversed, its \
            liabilities become `void`, and its items `skipped`. The employees can then be in \
            another run of the period.",
        example: r#"{"reason":"Wrong period"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "payroll_run.cancelled",
            "journal_entry.posted",
            "tax_liability.updated",
            "compliance_requirement.resolved",
        ],
        long: true,
        ..operation!(write cancel_payroll_run)
    },
    Operation {
        path: "/api/business/payroll-runs/{payroll_run_id}/retry-funding",
        summary: "Retry a run's funding",
        description: "Tries again to reserve the money after `funding_failed`. The response shows \
            the result: `processing`, or `funding_failed` again with the missing amount. The pay \
            date and the amounts do not change.",
        errors: &[ErrorCode::InvalidStateTransition],
        // The call does the work of the timer.
        emits: payroll_funding::EMITS,
        starts: payroll_funding::STARTS,
        long: true,
        ..operation!(write retry_payroll_funding)
    },
]);

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ApprovePayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The approver, for the status history.
    approver: Option<Text<200>>,
    /// The approver's note, for the status history.
    note: Option<Text<500>>,
}

impl ApprovePayrollRun {
    fn reason(&self) -> Option<String> {
        match (&self.approver, &self.note) {
            (None, None) => None,
            (Some(approver), None) => Some(format!("by {}", approver.as_str())),
            (None, Some(note)) => Some(note.as_str().to_owned()),
            (Some(approver), Some(note)) => {
                Some(format!("by {}: {}", approver.as_str(), note.as_str()))
            }
        }
    }
}

fn approve_payroll_run(world: &mut World, input: ApprovePayrollRun) -> Result<Single<PayrollRun>> {
    let run = world.get(input.payroll_run_id)?;
    let company = world.get(run.company_id)?;
    may_pay(world, &company)?;
    next(&run, "approve")?;
    let run = as_of_approval(world, run);
    for entry in approve_run(world, &run, input.reason()) {
        world.emit("journal_entry.posted", &entry);
    }
    Ok(Data(Shown(world.get(run.id)?)))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct CancelPayrollRun {
    /// The run.
    payroll_run_id: Id<PayrollRun>,
    /// The reason, for the status history.
    reason: Option<Text<500>>,
}

fn cancel_payroll_run(world: &mut World, input: CancelPayrollRun) -> Result<Single<PayrollRun>> {
    let mut run = (*world.get(input.payroll_run_id)?).clone();
    let status = next(&run, "cancel")?;
    let (now, reason) = (world.now(), input.reason.map(Text::into_string));
    // An approved run has an accrual and a required amount. Money is reserved only when it is processing.
    let mirrors = match run.funding {
        Some(_) => unaccrue(world, &run, "Payroll cancelled"),
        None => Vec::new(),
    };
    for item in items(world, run.id) {
        if item.status.may_become(ItemStatus::Skipped) {
            let mut item = (*item).clone();
            item.enter(ItemStatus::Skipped, now);
            world.stage(item);
        }
    }
    run.settlement.pending = 0;
    run.blockers.clear();
    run.enter_because(status, now, reason);
    let run = world.record("payroll_run.cancelled", run);
    for entry in mirrors {
        world.emit("journal_entry.posted", &entry);
    }
    let void = void_liabilities(world, run.id);
    tax_clock::relieve(world, &void);
    Ok(Data(Shown(run)))
}

fn retry_payroll_funding(world: &mut World, input: One<PayrollRun>) -> Result<Single<PayrollRun>> {
    let run = world.get(input.id)?;
    next(&run, "retry")?;
    fund_run(world, run.id, false);
    Ok(Data(Shown(world.get(run.id)?)))
}

fn next(run: &PayrollRun, verb: &str) -> Result<RunStatus> {
    step(verb, "the run", run.id, run.status)
}

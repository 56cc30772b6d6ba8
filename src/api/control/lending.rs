//! Manual transitions of applications and loans. The next step of the underwriter, lender or calendar happens now.

use crate::api::capital::loan_clock;
use crate::api::control::hand_move::{Wanted, run_now, take, target};
use crate::api::prelude::*;
use crate::model::UnderwriterDecision;
use crate::model::capital::{Application, ApplicationStatus, Loan, LoanStatus};

/// The underwriter starts or decides now, or the deadline for information passes now.
pub(super) fn application(world: &mut World, id: Id<Application>, to: &str) -> Result<()> {
    let before = world.get(id)?.status;
    let task = match target(AnyId::of(id), before, to, |_| true)? {
        ApplicationStatus::UnderReview => Task::ReviewApplication(id),
        ApplicationStatus::Approved => Task::DecideApplication(id, UnderwriterDecision::Approved),
        ApplicationStatus::Rejected => Task::DecideApplication(id, UnderwriterDecision::Rejected),
        ApplicationStatus::InformationRequested => {
            Task::DecideApplication(id, UnderwriterDecision::InformationRequested)
        }
        ApplicationStatus::Withdrawn => Task::WithdrawApplication(id),
        ApplicationStatus::Submitted => unreachable!("no transition leads to the first state"),
    };
    run_now(world, task);
    Ok(())
}

/// The money is paid out now, the next instalment becomes late now, or the lender defaults the loan now. Only the company can
/// repay it.
pub(super) fn loan(world: &mut World, id: Id<Loan>, to: &str, wanted: Wanted) -> Result<()> {
    let loan = world.get(id)?;
    let number = loan.first_unpaid().map_or(0, |row| row.number);
    let task = |to| match to {
        LoanStatus::Active if loan.status == LoanStatus::PendingDisbursement => {
            Some(Task::DisburseLoan(id))
        }
        LoanStatus::Late => Some(Task::MissInstalment(id, number)),
        LoanStatus::Defaulted => Some(Task::DefaultLoan(id, number)),
        LoanStatus::Active | LoanStatus::PendingDisbursement | LoanStatus::Repaid => None,
    };
    let to = target(AnyId::of(id), loan.status, to, |state| task(state).is_some())?;
    let task = task(to).expect("the target has a timer");
    match wanted.reason.filter(|_| to == LoanStatus::Defaulted) {
        Some(reason) => {
            take(world, task);
            loan_clock::default_because(world, id, number, reason);
        }
        None => run_now(world, task),
    }
    Ok(())
}

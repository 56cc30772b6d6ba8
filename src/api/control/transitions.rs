//! One verb for every machine: a resource moved along its lifecycle by the tester, with all that follows from it.
//!
//! A move is one that the lifecycle has and that somebody outside could make: the bank, the tax office, the clock. What only the
//! resource's own arithmetic leads to (a run that ends with its last payout) is not moved by hand.

use serde_json::Value;

use crate::api::business::employee_pay::cancel_check;
use crate::api::business::leave::LeaveDecision;
use crate::api::business::{
    compliance, leave, leave_clock, payroll_clock, payroll_funding, regulatory_reports, tax_clock,
};
use crate::api::control::{collecting, dealing, identifying, lending};
use crate::api::payments::escrow_clock::Part;
use crate::api::payments::reconciliation::MatchAction;
use crate::api::payments::{
    beneficiaries, dispute_clock, escrow_clock, escrow_verbs, fx_quotes, fx_transfers, payout_rail,
    payout_verbs, reconciliation, statement_clock,
};
use crate::api::prelude::*;
use crate::model::business::{
    BankAnswer, CompanyStatus, ComplianceRequirement, EmployeeStatus, FilingStatus, LeaveRequest,
    LeaveStatus, LiabilityStatus, PayrollRun, PayrollStatus, RegulatoryReport, ReportStatus,
    RequirementStatus, RunStatus, TaxFiling, TaxLiability,
};
use crate::model::payments::{
    BankStatement, Beneficiary, BeneficiaryStatus, DisputeStatus, Escrow, EscrowStatus, FxQuote,
    FxTransfer, FxTransferStatus, MatchStatus, MilestoneStatus, Payout, PayoutStatus, Pays,
    QuoteStatus, RaisedBy, ReconciliationMatch, ReturnCode, Side,
};
use crate::value::id::parse;

/// Everything that a move can cause.
pub(crate) const EMITS: &[&str] = &[
    "company.status_changed",
    "employee.activated",
    "employee.leave_started",
    "employee.suspended",
    "employee.terminated",
    "employee.payroll_status_changed",
    "payroll_run.calculated",
    "payroll_run.pending_approval",
    "payroll_run.approved",
    "tax_liability.created",
    "payroll_run.funded",
    "payroll_run.funding_failed",
    "wallet.debited",
    "wallet.low_balance",
    "payout.created",
    "payroll_run.processing",
    "payout.processing",
    "payout.on_hold",
    "payout.sent",
    "payout.paid",
    "payout.failed",
    "payout.returned",
    "payslip.issued",
    "payroll_item.paid",
    "payroll_item.failed",
    "payroll_item.returned",
    "payroll_run.paid",
    "payroll_run.partially_paid",
    "payroll_run.failed",
    "tax_filing.filed",
    "tax_filing.rejected",
    "tax_liability.due",
    "tax_liability.late",
    "compliance_requirement.created",
    "compliance_requirement.overdue",
    "regulatory_report.acknowledged",
    "regulatory_report.rejected",
    "leave_request.decided",
    "payout.approved",
    "payout.cancelled",
    "beneficiary.verified",
    "beneficiary.rejected",
    "escrow.funded",
    "escrow.partially_released",
    "escrow.released",
    "escrow.disputed",
    "escrow.refunded",
    "escrow.cancelled",
    "escrow.expired",
    "dispute.created",
    "wallet.low_balance",
    "fx_quote.expired",
    "fx_transfer.completed",
    "fx_transfer.failed",
    "wallet.credited",
    "collection.requires_action",
    "collection.processing",
    "collection.succeeded",
    "collection.settled",
    "collection.failed",
    "collection.expired",
    "collection.cancelled",
    "collection.refunded",
    "wallet.created",
    "invoice.partially_paid",
    "invoice.paid",
    "refund.succeeded",
    "refund.failed",
    "wallet.low_balance",
    "dispute.won",
    "dispute.lost",
    "credit_score.completed",
    "credit_score.failed",
    "readiness_assessment.completed",
    "insurance_risk_score.completed",
    "application.under_review",
    "application.information_requested",
    "application.approved",
    "application.rejected",
    "application.withdrawn",
    "offer.created",
    "offer.expired",
    "loan.disbursed",
    "loan.late",
    "loan.defaulted",
    "deal.stage_changed",
    "deal.won",
    "deal.lost",
    "deal.withdrawn",
    "due_diligence_case.opened",
    "due_diligence_case.completed",
    "due_diligence_request.created",
    "due_diligence_request.in_review",
    "due_diligence_request.accepted",
    "due_diligence_request.rejected",
    "due_diligence_request.waived",
    "due_diligence_request.overdue",
    "bank_statement.imported",
    "reconciliation_match.matched",
    "reconciliation_match.suggested",
    "reconciliation_match.exception",
    "reconciliation_match.resolved",
    "document.accepted",
    "document.rejected",
    "verification.approved",
    "verification.declined",
    "verification.in_review",
    "verification.resubmission_requested",
    "verification.expired",
    "verification.cancelled",
    "compliance_requirement.resolved",
    "aml_screening.completed",
    "aml_alert.opened",
    "aml_alert.dismissed",
    "aml_alert.confirmed",
    "aml_alert.escalated",
    "trust_score.completed",
    "trust_score.changed",
];

/// The tasks that a move can set.
pub(crate) const STARTS: &[&str] = &[
    "begin_leave",
    "end_leave",
    "fall_due",
    "miss_liability",
    "miss_requirement",
    "pay_collection",
    "fund_run",
    "send_run_payouts",
    "release_payout",
    "settle_payout",
    "send_payout",
    "finish_collection",
    "settle_collection",
    "charge_back",
    "release_escrow",
    "miss_escrow_evidence",
    "decide_application",
    "withdraw_application",
    "expire_offer",
    "disburse_loan",
    "instalment_due",
    "default_loan",
    "reply_to_deal",
    "miss_request",
    "review_case",
    "expire_case",
    "screen_again",
];

/// How a move is to be made.
pub(crate) struct Wanted {
    pub(crate) reason: Option<String>,
    pub(crate) code: Option<ReturnCode>,
}

/// Moves the resource, and shows it as it is then.
pub(crate) fn go(world: &mut World, id: &str, to: &str, wanted: Wanted) -> Result<Value, ApiError> {
    let found = Kind::ALL.iter().find_map(|&kind| {
        let bits = parse(kind.prefix(), id)?;
        Some(AnyId { kind, bits })
    });
    let missing = || ApiError::not_found("resource").about(id);
    let id = found.filter(|id| world.any(*id).is_some());
    let id = id.ok_or_else(missing)?;
    match id.kind {
        Kind::Payout => payout(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::Employee => employee(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::Company => company(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::PayrollRun => run(world, Id::from_bits(id.bits), to)?,
        Kind::TaxFiling => filing(world, Id::from_bits(id.bits), to)?,
        Kind::TaxLiability => liability(world, Id::from_bits(id.bits), to)?,
        Kind::ComplianceRequirement => requirement(world, Id::from_bits(id.bits), to)?,
        Kind::RegulatoryReport => report(world, Id::from_bits(id.bits), to)?,
        Kind::LeaveRequest => leave_request(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::Collection => collecting::collection(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::Refund => collecting::refund(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::FxQuote => fx_quote(world, Id::from_bits(id.bits), to)?,
        Kind::FxTransfer => fx_transfer(world, Id::from_bits(id.bits), to)?,
        Kind::Escrow => escrow(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::Beneficiary => beneficiary(world, Id::from_bits(id.bits), to, &wanted)?,
        Kind::Dispute => collecting::dispute(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::Document => identifying::document(world, Id::from_bits(id.bits), to)?,
        Kind::Verification => identifying::case(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::AmlScreening => identifying::screening(world, Id::from_bits(id.bits), to)?,
        Kind::AmlAlert => identifying::alert(world, Id::from_bits(id.bits), to, wanted)?,
        Kind::TrustScore => identifying::trust(world, Id::from_bits(id.bits), to)?,
        Kind::BankStatement => statement(world, Id::from_bits(id.bits), to)?,
        Kind::ReconciliationMatch => reconciliation(world, Id::from_bits(id.bits), to, wanted)?,
        kind if lending::KINDS.contains(&kind) => lending::go(world, id, to, &wanted)?,
        kind if dealing::KINDS.contains(&kind) => dealing::go(world, id, to, wanted)?,
        kind => {
            let detail = format!("a {} is not moved by hand: it follows from others", kind.name());
            return Err(refused(id, "", Vec::new(), detail));
        }
    }
    let record = world.any(id).ok_or_else(missing)?;
    Ok(record.to_wire())
}

pub(super) fn refused(
    id: AnyId,
    current: &'static str,
    allowed: Vec<&'static str>,
    detail: String,
) -> ApiError {
    let mut error = ApiError::new(ErrorCode::InvalidStateTransition, detail).about(id);
    error.current = Some(current).filter(|current| !current.is_empty());
    error.allowed = Some(allowed);
    error
}

/// States to which an arrow leads from that one, with their names.
fn reachable<S: State>(from: S) -> impl Iterator<Item = (S, &'static str)> {
    let states = S::STATES.iter().copied();
    states.filter(move |(state, _)| from.may_become(*state))
}

/// The state of that name, if the lifecycle leads there from `current` and it is one of those that a hand can reach.
pub(super) fn target<S: State>(
    id: AnyId,
    current: S,
    to: &str,
    by_hand: impl Fn(S) -> bool,
) -> Result<S, ApiError> {
    let moves = || reachable(current).filter(|(state, _)| by_hand(*state));
    if let Some((state, _)) = moves().find(|(_, name)| *name == to) {
        return Ok(state);
    }
    let allowed: Vec<&'static str> = moves().map(|(_, name)| name).collect();
    let detail = format!("{id} is {}, and cannot become {to:?} from there", current.name());
    Err(refused(id, current.name(), allowed, detail))
}

fn payout(world: &mut World, id: Id<Payout>, to: &str, wanted: Wanted) -> Result<(), ApiError> {
    let payout = world.get(id)?;
    let by_hand = |state| match payout.pays() {
        Pays::Wages => !matches!(state, PayoutStatus::Cancelled | PayoutStatus::Queued),
        Pays::Escrow => state != PayoutStatus::Cancelled,
        // Those of the months before the world's start are over.
        Pays::Vendor => payout.beneficiary_id.is_some(),
    };
    let to = target(AnyId::of(id), payout.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    match to {
        PayoutStatus::Queued => payout_verbs::approve(world, id, None),
        PayoutStatus::Cancelled => payout_verbs::cancel(world, id, wanted.reason),
        _ => payout_rail::force(world, id, to, wanted.code, wanted.reason),
    }
    Ok(())
}

/// The buyer, the calendar or the verdict moves it now. In part it is released by its next milestone alone.
fn escrow(world: &mut World, id: Id<Escrow>, to: &str, wanted: Wanted) -> Result<(), ApiError> {
    let escrow = world.get(id)?;
    let parts = escrow.pending().count();
    let by_hand = |state| state != EscrowStatus::PartiallyReleased || parts > 1;
    let to = target(AnyId::of(id), escrow.status, to, by_hand)?;
    let reason = wanted.reason.unwrap_or_else(|| "by hand".to_owned());
    match (to, escrow.dispute_id.filter(|_| escrow.status == EscrowStatus::Disputed)) {
        (EscrowStatus::Funded, _) => escrow_verbs::fund(world, &escrow, None)?,
        (EscrowStatus::Disputed, _) => {
            escrow_verbs::dispute(world, &escrow, RaisedBy::Seller, reason)?;
        }
        (EscrowStatus::Released, Some(dispute)) => {
            dispute_clock::end(world, dispute, DisputeStatus::Lost, Some(reason));
        }
        (EscrowStatus::PartiallyReleased, _) => {
            let mut parts = escrow.milestones.iter();
            let next = parts.position(|part| part.status == MilestoneStatus::Pending);
            let part = Part::Milestone(next.expect("more than one part is pending"));
            escrow_clock::release(world, &escrow, part, Some(reason));
        }
        (EscrowStatus::Released, None) => {
            escrow_clock::release(world, &escrow, Part::Rest, Some(reason));
        }
        (EscrowStatus::Expired, _) => escrow_clock::expire(world, id),
        _ => escrow_verbs::take_back(world, &escrow, None, reason)?,
    }
    Ok(())
}

/// The bank answers now: of a refusal, `reason` may be one of its words.
fn beneficiary(
    world: &mut World,
    id: Id<Beneficiary>,
    to: &str,
    wanted: &Wanted,
) -> Result<(), ApiError> {
    let beneficiary = world.get(id)?;
    let to = target(AnyId::of(id), beneficiary.status, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    let answer = match (to, wanted.reason.as_deref()) {
        (BeneficiaryStatus::Verified | BeneficiaryStatus::Pending, _) => BankAnswer::Match,
        (BeneficiaryStatus::Rejected, Some("account_closed")) => BankAnswer::AccountClosed,
        (BeneficiaryStatus::Rejected, Some("account_not_found")) => BankAnswer::AccountNotFound,
        (BeneficiaryStatus::Rejected, _) => BankAnswer::NameMismatch,
    };
    beneficiaries::resolve(world, id, answer);
    Ok(())
}

fn employee(world: &mut World, id: Id<Employee>, to: &str, wanted: Wanted) -> Result<(), ApiError> {
    let mut employee = (*world.get(id)?).clone();
    employee.updated_at = world.now();
    // Two machines in one resource: a name that both have is the employment's.
    let (current, payroll) = (employee.status, employee.payroll_status);
    let by_name = reachable(current).find(|(_, name)| *name == to);
    let Some((status, _)) = by_name else {
        if let Some((payroll, _)) = reachable(payroll).find(|(_, name)| *name == to) {
            cancel_check(world, id);
            employee.payroll_status = payroll;
            put(world, employee, "employee.payroll_status_changed");
            return Ok(());
        }
        let names = reachable(current).map(|(_, name)| name);
        let allowed = names.chain(reachable(payroll).map(|(_, name)| name)).collect();
        let (of, status, payroll) = (AnyId::of(id), current.name(), payroll.name());
        let detail =
            format!("{of} is {status}, its payroll_status {payroll}; it cannot become {to:?}");
        return Err(refused(of, status, allowed, detail));
    };
    employee.status = status;
    employee.status_history.push(StatusChange {
        status,
        at: world.now(),
        reason: wanted.reason.map(Cow::Owned),
    });
    let (name, payroll) = match status {
        EmployeeStatus::OnLeave => ("employee.leave_started", None),
        EmployeeStatus::Suspended => ("employee.suspended", Some(PayrollStatus::OnHold)),
        EmployeeStatus::Terminated => ("employee.terminated", Some(PayrollStatus::Closed)),
        EmployeeStatus::Active | EmployeeStatus::Pending => ("employee.activated", None),
    };
    if payroll.is_some() {
        cancel_check(world, id); // a check that is under way would come to another end
    }
    match status {
        EmployeeStatus::Terminated => {
            employee.end_date = Some(world.today());
            employee.end_reason = None;
            leave_clock::end_with_employment(world, id);
            world.forget_timers(AnyId::of(id));
        }
        EmployeeStatus::Active => leave_clock::return_to_work(world, id, world.today()),
        _ => {}
    }
    let mut moved = put(world, employee, name);
    if let Some(payroll) = payroll.filter(|to| moved.payroll_status.may_become(*to)) {
        moved.payroll_status = payroll;
        put(world, moved, "employee.payroll_status_changed");
    }
    Ok(())
}

fn put(world: &mut World, employee: Employee, name: &'static str) -> Employee {
    let employee = world.record(name, employee);
    (*employee).clone()
}

fn company(world: &mut World, id: Id<Company>, to: &str, wanted: Wanted) -> Result<(), ApiError> {
    let mut company = (*world.get(id)?).clone();
    let status: CompanyStatus = target(AnyId::of(id), company.status, to, |_| true)?;
    company.status = status;
    company.updated_at = world.now();
    company.status_history.push(StatusChange {
        status,
        at: world.now(),
        reason: wanted.reason.map(Cow::Owned),
    });
    world.record("company.status_changed", company);
    Ok(())
}

/// Somebody decides it now.
fn leave_request(
    world: &mut World,
    id: Id<LeaveRequest>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let request = world.get(id)?;
    let decision = match target(AnyId::of(id), request.status, to, |_| true)? {
        LeaveStatus::Declined => LeaveDecision::Decline,
        LeaveStatus::Approved | LeaveStatus::Pending => LeaveDecision::Approve,
    };
    leave::decide(world, id, decision, wanted.reason)
}

/// The tax office answers now.
fn filing(world: &mut World, id: Id<TaxFiling>, to: &str) -> Result<(), ApiError> {
    let filing = world.get(id)?;
    let by_hand = |state| matches!(state, FilingStatus::Filed | FilingStatus::Rejected);
    let to = target(AnyId::of(id), filing.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    match to {
        FilingStatus::Filed => tax_clock::accept_filing(world, id),
        _ => tax_clock::reject_filing(world, id),
    }
    Ok(())
}

/// Its day comes now, or is over now.
fn liability(world: &mut World, id: Id<TaxLiability>, to: &str) -> Result<(), ApiError> {
    let liability = world.get(id)?;
    let by_hand = |state| matches!(state, LiabilityStatus::Due | LiabilityStatus::Late);
    let to = target(AnyId::of(id), liability.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    match to {
        LiabilityStatus::Due => tax_clock::fall_due(world, id),
        _ => tax_clock::miss(world, id),
    }
    Ok(())
}

/// Its last day is over now. What meets it is shown, and not moved.
fn requirement(world: &mut World, id: Id<ComplianceRequirement>, to: &str) -> Result<(), ApiError> {
    let requirement = world.get(id)?;
    let by_hand = |state| state == RequirementStatus::Overdue;
    target(AnyId::of(id), requirement.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    compliance::miss(world, id);
    Ok(())
}

/// The regulator answers now.
fn report(world: &mut World, id: Id<RegulatoryReport>, to: &str) -> Result<(), ApiError> {
    let report = world.get(id)?;
    let by_hand = |state| state != ReportStatus::Submitted;
    let to = target(AnyId::of(id), report.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    match to {
        ReportStatus::Acknowledged => regulatory_reports::acknowledge(world, id),
        _ => regulatory_reports::reject(world, id),
    }
    Ok(())
}

/// Its half hour is over now. What uses it is a transfer, and no hand.
fn fx_quote(world: &mut World, id: Id<FxQuote>, to: &str) -> Result<(), ApiError> {
    let quote = world.get(id)?;
    let by_hand = |state| state == QuoteStatus::Expired;
    target(AnyId::of(id), quote.status, to, by_hand)?;
    world.forget_timers(AnyId::of(id));
    fx_quotes::expire(world, id);
    Ok(())
}

/// The conversion comes about now, or does not.
fn fx_transfer(world: &mut World, id: Id<FxTransfer>, to: &str) -> Result<(), ApiError> {
    let transfer = world.get(id)?;
    let to = target(AnyId::of(id), transfer.status, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    match to {
        FxTransferStatus::Completed => fx_transfers::complete(world, id),
        _ => fx_transfers::fail(world, id),
    }
    Ok(())
}

/// A run does at once what its clock would do next.
fn run(world: &mut World, id: Id<PayrollRun>, to: &str) -> Result<(), ApiError> {
    let run = world.get(id)?;
    let next = match run.status {
        RunStatus::Calculating => Some(RunStatus::Calculated),
        RunStatus::Approved => Some(RunStatus::Funding),
        _ => None,
    };
    let to = target(AnyId::of(id), run.status, to, |state| Some(state) == next)?;
    world.forget_timers(AnyId::of(id));
    match to {
        RunStatus::Calculated => payroll_clock::calculate_run(world, id),
        _ => payroll_funding::fund_run(world, id, false),
    }
    Ok(())
}

/// The bank's statement is read now.
fn statement(world: &mut World, id: Id<BankStatement>, to: &str) -> Result<(), ApiError> {
    let statement = world.get(id)?;
    target(AnyId::of(id), statement.status, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    statement_clock::import(world, id);
    Ok(())
}

/// Somebody decides about a row now; what it is matched with by hand is said by the call alone.
fn reconciliation(
    world: &mut World,
    id: Id<ReconciliationMatch>,
    to: &str,
    wanted: Wanted,
) -> Result<(), ApiError> {
    let row = world.get(id)?;
    let by_hand = |state| match state {
        MatchStatus::Matched => row.status == MatchStatus::Suggested,
        MatchStatus::Unmatched => row.side == Side::Bank,
        MatchStatus::Ignored => true,
        MatchStatus::Suggested | MatchStatus::Exception => false,
    };
    let action = match target(AnyId::of(id), row.status, to, by_hand)? {
        MatchStatus::Matched => MatchAction::Confirm,
        MatchStatus::Unmatched => MatchAction::Reject,
        _ => MatchAction::Ignore,
    };
    reconciliation::resolve(world, id, action, None, wanted.reason)
}

impl World {
    /// Takes away what the clock would have done to a resource: somebody else did it.
    pub(crate) fn forget_timers(&mut self, subject: AnyId) {
        self.drop_timers(|task: Task| task.subject() == Some(subject));
    }
}

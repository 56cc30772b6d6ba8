//! One operation for all state machines: the tester moves a resource along its lifecycle, with all effects.
//!
//! A move runs the pending timer of the resource, or calls the function of the operation with that result. If neither
//! leads to the target, a short function takes the typed target. A transition that follows from the resource's own
//! data (a run that ends with its last payout) cannot be made by hand.

use serde_json::Value;

use crate::api::business::{compliance, employee_pay, employee_verbs, leave, pay_schedules};
use crate::api::capital::{deal_verbs, due_diligence_answers};
use crate::api::control::hand_move::{Made, Wanted, by_timer, check_target, drop_stale, refused};
use crate::api::control::hand_reasons::moved_by;
use crate::api::control::{collecting, dealing, employing, identifying, lending, paying};
use crate::api::identity::{alerts, verifications};
use crate::api::operation::Effects;
use crate::api::payments::{collections, escrow_verbs, mandates, payout_verbs, reconciliation};
use crate::api::prelude::*;
use crate::api::timers;
use crate::value::id::parse;

/// The effects of manual transitions: those of each timer, and of these operations.
pub(crate) const RUNS: &[&[Effects]] = &[
    timers::EFFECTS,
    &[
        Effects::of(employee_verbs::OPERATIONS, "suspend_employee"),
        Effects::of(employee_verbs::OPERATIONS, "activate_employee"),
        Effects::of(employee_verbs::OPERATIONS, "terminate_employee"),
        Effects::of(employee_pay::OPERATIONS, "verify_employee_payroll"),
        Effects::of(leave::OPERATIONS, "decide_leave_request"),
        Effects::of(pay_schedules::OPERATIONS, "end_pay_schedule"),
        Effects::of(compliance::OPERATIONS, "resolve_compliance_requirement"),
        Effects::of(payout_verbs::OPERATIONS, "approve_payout"),
        Effects::of(payout_verbs::OPERATIONS, "cancel_payout"),
        Effects::of(escrow_verbs::OPERATIONS, "fund_escrow"),
        Effects::of(escrow_verbs::OPERATIONS, "release_escrow"),
        Effects::of(escrow_verbs::OPERATIONS, "refund_escrow"),
        Effects::of(escrow_verbs::OPERATIONS, "dispute_escrow"),
        Effects::of(reconciliation::OPERATIONS, "resolve_reconciliation_match"),
        Effects::of(collections::OPERATIONS, "cancel_collection"),
        Effects::of(mandates::OPERATIONS, "revoke_mandate"),
        Effects::of(alerts::OPERATIONS, "resolve_aml_alert"),
        Effects::of(verifications::OPERATIONS, "review_verification"),
        Effects::of(verifications::OPERATIONS, "cancel_verification"),
        Effects::of(deal_verbs::OPERATIONS, "advance_deal"),
        Effects::of(deal_verbs::OPERATIONS, "close_deal"),
        Effects::of(due_diligence_answers::OPERATIONS, "review_due_diligence_request"),
    ],
];

/// Moves the resource, and shows it as it is then.
pub(crate) fn go(world: &mut World, id: &str, to: &str, wanted: Wanted) -> Result<Value> {
    let found = Kind::ALL.iter().find_map(|&kind| {
        let bits = parse(kind.prefix(), id)?;
        Some(AnyId { kind, bits })
    });
    let Some(id) = found else {
        let mut missing = ApiError::not_found("resource").about(id);
        missing.detail += "; events, requests and deliveries are not resources";
        return Err(missing);
    };
    let missing = || ApiError::not_found("resource").about(id);
    if matches!(id.kind, Kind::Event | Kind::Request | Kind::AuditLog) {
        let detail = format!("{} has no status that this operation can change", one(id.kind));
        return Err(ApiError::new(ErrorCode::ResourceNotFound, detail).about(id));
    }
    let before = world.any(id).ok_or_else(missing)?;
    // Before the move, because it can change what is possible.
    let mut others = targets(world, id);
    others.retain(|state| *state != to);
    apply(world, id, to, wanted).map_err(|mut error| {
        // The refusal of an operation lists what the lifecycle allows.
        if error.allowed.is_some() && error.resource_id == Some(id.to_string()) {
            error.allowed = Some(others.clone());
        }
        error
    })?;
    let after = world.any(id).ok_or_else(missing)?;
    check_target(world, &Made { id, before: &before, after: &after, to }, others)?;
    drop_stale(world, id);
    Ok(after.to_wire())
}

/// The states that can be targets of a move now: the refusal of a state without a name lists them.
fn targets(world: &mut World, id: AnyId) -> Vec<&'static str> {
    let refusal = apply(world, id, "", Wanted::default()).err();
    refusal.and_then(|refusal| refusal.allowed).unwrap_or_default()
}

fn apply(world: &mut World, id: AnyId, to: &str, wanted: Wanted) -> Result<()> {
    let bits = id.bits;
    match id.kind {
        Kind::Employee => employing::employee(world, Id::from_bits(bits), to, wanted),
        Kind::Company => employing::company(world, Id::from_bits(bits), to, wanted),
        Kind::LeaveRequest => employing::leave_request(world, Id::from_bits(bits), to, wanted),
        Kind::PaySchedule => employing::pay_schedule(world, Id::from_bits(bits), to),
        Kind::PayrollRun => employing::run(world, Id::from_bits(bits), to),
        Kind::TaxFiling => employing::filing(world, Id::from_bits(bits), to),
        Kind::Payout => paying::payout(world, Id::from_bits(bits), to, wanted),
        Kind::Escrow => paying::escrow(world, Id::from_bits(bits), to, wanted),
        Kind::Beneficiary => paying::beneficiary(world, Id::from_bits(bits), to, &wanted),
        Kind::ReconciliationMatch => paying::reconciliation(world, Id::from_bits(bits), to, wanted),
        Kind::Collection => collecting::collection(world, Id::from_bits(bits), to, wanted),
        Kind::Mandate => collecting::mandate(world, Id::from_bits(bits), to, wanted),
        Kind::Refund => collecting::refund(world, Id::from_bits(bits), to, &wanted),
        Kind::Dispute => collecting::dispute(world, Id::from_bits(bits), to, wanted),
        Kind::Document => identifying::document(world, Id::from_bits(bits), to),
        Kind::Verification => identifying::case(world, Id::from_bits(bits), to, wanted),
        Kind::AmlScreening => identifying::screening(world, Id::from_bits(bits), to),
        Kind::AmlAlert => identifying::alert(world, Id::from_bits(bits), to, wanted),
        Kind::Application => lending::application(world, Id::from_bits(bits), to),
        Kind::Loan => lending::loan(world, Id::from_bits(bits), to, wanted),
        Kind::Deal => dealing::deal(world, Id::from_bits(bits), to, wanted),
        Kind::DueDiligenceCase => dealing::case(world, Id::from_bits(bits), to, &wanted),
        Kind::DueDiligenceRequest => dealing::request(world, Id::from_bits(bits), to, wanted),
        Kind::TaxLiability
        | Kind::ComplianceRequirement
        | Kind::RegulatoryReport
        | Kind::FxQuote
        | Kind::FxTransfer
        | Kind::BankStatement
        | Kind::TrustScore
        | Kind::CreditScore
        | Kind::ReadinessAssessment
        | Kind::InsuranceRiskScore
        | Kind::Offer => by_timer(world, id, to),
        Kind::PayrollItem
        | Kind::Payslip
        | Kind::PayrollVerification
        | Kind::JournalEntry
        | Kind::Wallet
        | Kind::WalletTransaction
        | Kind::Subject
        | Kind::BankAccountVerification
        | Kind::WatchlistEntry
        | Kind::Invoice
        | Kind::LoanRepayment
        | Kind::AccountingPeriod
        | Kind::Bill
        | Kind::LedgerAccount
        | Kind::PaymentMethod
        | Kind::Event
        | Kind::AuditLog
        | Kind::Request => {
            let detail = format!(
                "{} cannot be moved by this operation: {}",
                one(id.kind),
                moved_by(id.kind)
            );
            Err(refused(id, "", Vec::new(), detail))
        }
    }
}

/// "an invoice"
fn one(kind: Kind) -> String {
    let name = kind.name().replace('_', " ");
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {name}")
}

//! Transitions by hand of applications, offers, loans and scores. The next step of the bureau, underwriter, lender or calendar happens now.
//! A result that depends on facts follows the facts, and a transition to another result is refused.

use crate::api::capital::{credit_scores, insurance, loan_clock, offers, readiness, underwriting};
use crate::api::control::transitions::{Wanted, target};
use crate::api::prelude::*;
use crate::model::UnderwriterDecision;
use crate::model::capital::{
    Application, ApplicationStatus, CreditScore, InsuranceRiskScore, Loan, LoanStatus, Offer,
    OfferStatus, ReadinessAssessment, ScoreStatus,
};

/// The kinds that this module moves.
pub(super) const KINDS: &[Kind] = &[
    Kind::CreditScore,
    Kind::ReadinessAssessment,
    Kind::InsuranceRiskScore,
    Kind::Application,
    Kind::Offer,
    Kind::Loan,
];

/// Moves one of them.
pub(super) fn go(world: &mut World, id: AnyId, to: &str, _: &Wanted) -> Result<(), ApiError> {
    match id.kind {
        Kind::CreditScore => score(world, Id::from_bits(id.bits), to),
        Kind::ReadinessAssessment => assessment(world, Id::from_bits(id.bits), to),
        Kind::InsuranceRiskScore => risk(world, Id::from_bits(id.bits), to),
        Kind::Application => application(world, Id::from_bits(id.bits), to),
        Kind::Offer => offer(world, Id::from_bits(id.bits), to),
        _ => loan(world, Id::from_bits(id.bits), to),
    }
}

/// Checks that a transition reached its target; the engine rolls a refused one back.
fn held_to<S: State>(id: AnyId, wanted: S, came: S, before: S) -> Result<(), ApiError> {
    if came == wanted {
        return Ok(());
    }
    let detail = format!(
        "{id} would become {}, not {}: its data determines the result",
        came.name(),
        wanted.name()
    );
    Err(refused(id, before, detail))
}

/// The bureau answers now.
fn score(world: &mut World, id: Id<CreditScore>, to: &str) -> Result<(), ApiError> {
    let before = world.get(id)?.status;
    let to: ScoreStatus = target(AnyId::of(id), before, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    credit_scores::complete(world, id);
    held_to(AnyId::of(id), to, world.get(id)?.status, before)
}

fn assessment(world: &mut World, id: Id<ReadinessAssessment>, to: &str) -> Result<(), ApiError> {
    let before = world.get(id)?.status;
    target(AnyId::of(id), before, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    readiness::complete(world, id);
    Ok(())
}

fn risk(world: &mut World, id: Id<InsuranceRiskScore>, to: &str) -> Result<(), ApiError> {
    let before = world.get(id)?.status;
    target(AnyId::of(id), before, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    insurance::complete(world, id);
    Ok(())
}

/// The underwriter starts or decides now, or the deadline for information passes now.
fn application(world: &mut World, id: Id<Application>, to: &str) -> Result<(), ApiError> {
    let before = world.get(id)?.status;
    let to: ApplicationStatus = target(AnyId::of(id), before, to, |_| true)?;
    world.forget_timers(AnyId::of(id));
    match to {
        ApplicationStatus::Approved => {
            underwriting::decide(world, id, UnderwriterDecision::Approved);
        }
        ApplicationStatus::Rejected => {
            underwriting::decide(world, id, UnderwriterDecision::Rejected);
        }
        ApplicationStatus::InformationRequested => {
            underwriting::decide(world, id, UnderwriterDecision::InformationRequested);
        }
        ApplicationStatus::Withdrawn => underwriting::withdraw(world, id),
        ApplicationStatus::UnderReview | ApplicationStatus::Submitted => {
            underwriting::review(world, id);
        }
    }
    held_to(AnyId::of(id), to, world.get(id)?.status, before)
}

/// The offer expires now. Only the company can accept or decline it.
fn offer(world: &mut World, id: Id<Offer>, to: &str) -> Result<(), ApiError> {
    let before = world.get(id)?.status;
    target(AnyId::of(id), before, to, |at| at == OfferStatus::Expired)?;
    world.forget_timers(AnyId::of(id));
    offers::expire(world, id);
    Ok(())
}

/// The money is paid out now, the next instalment becomes late now, or the lender defaults the loan now. Only the company can repay it.
fn loan(world: &mut World, id: Id<Loan>, to: &str) -> Result<(), ApiError> {
    let loan = world.get(id)?;
    let (about, before) = (AnyId::of(id), loan.status);
    let by_hand = |at| match before {
        LoanStatus::PendingDisbursement => at == LoanStatus::Active,
        _ => matches!(at, LoanStatus::Late | LoanStatus::Defaulted),
    };
    let to: LoanStatus = target(about, before, to, by_hand)?;
    let number = loan.first_unpaid().map_or(0, |row| row.number);
    match to {
        LoanStatus::Active => {
            world.forget_timers(about);
            loan_clock::disburse(world, id);
        }
        LoanStatus::Late => loan_clock::miss(world, id, number),
        _ => loan_clock::default(world, id, number),
    }
    held_to(about, to, world.get(id)?.status, before)
}

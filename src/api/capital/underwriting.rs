//! The underwriter: reviews an application, and decides by a new credit score and by facts. Facts, such as an overdue
//! amount or a default, have priority over decisions of the outside world.

use crate::api::capital::measures::Look;
use crate::api::capital::{credit_scores, offers};
use crate::api::prelude::*;
use crate::model::UnderwriterDecision;
use crate::model::business::CompanyStatus;
use crate::model::capital::application::{
    ApplicationOutcome, Reason, ReasonCode, UnderwritingDecision,
};
use crate::model::capital::{
    Application, ApplicationStatus, Band, CreditScore, Loan, LoanStatus, Offer, OfferStatus,
    lending,
};
use crate::model::decision::UNDERWRITER;

/// The events of an underwriter's decision.
pub(crate) const DECIDED: &[&str] = &[
    "credit_score.completed",
    "credit_score.failed",
    "application.approved",
    "application.rejected",
    "application.information_requested",
    "offer.created",
];

/// From the start of the review to the decision.
const REVIEW: Span = Span::BusinessDays(1);
/// The time limit for information that the underwriter has requested.
const INFORMATION: Span = Span::seconds(14 * 24 * 60 * 60);

/// The underwriter starts the review.
pub(crate) fn review(world: &mut World, id: Id<Application>) {
    let open = world.find(id);
    let waits = |application: &Application| {
        matches!(
            application.status,
            ApplicationStatus::Submitted | ApplicationStatus::InformationRequested
        )
    };
    let Some(application) = open.filter(|application| waits(application)) else { return };
    let mut application = (*application).clone();
    application.information_requested.clear();
    application.information_due_by = None;
    application.enter(ApplicationStatus::UnderReview, world.now());
    world.record("application.under_review", application);
    world.drop_timers(Task::WithdrawApplication(id));
    let reply = world.decide(&UNDERWRITER, AnyId::of(id), None);
    let verdict = match reply.choice {
        "approved" => UnderwriterDecision::Approved,
        "rejected" => UnderwriterDecision::Rejected,
        "information_requested" => UnderwriterDecision::InformationRequested,
        _ => UnderwriterDecision::ByScore,
    };
    world.settle_when(REVIEW, reply.after, Task::DecideApplication(id, verdict));
}

/// A new score of a company answers an underwriter's request for information.
pub(super) fn take_up(world: &mut World, company: Id<Company>) {
    let applications = world.children::<Application>(company.bits());
    let waiting = applications.filter(|id| {
        let application = world.find(*id);
        application.is_some_and(|it| it.status == ApplicationStatus::InformationRequested)
    });
    let waiting: Vec<Id<Application>> = waiting.collect();
    for id in waiting {
        review(world, id);
    }
}

/// The information was not provided.
pub(crate) fn withdraw(world: &mut World, id: Id<Application>) {
    let open = world.find(id);
    let waits = |it: &Application| it.status == ApplicationStatus::InformationRequested;
    let Some(application) = open.filter(|application| waits(application)) else { return };
    let mut application = (*application).clone();
    let reason = "the requested information did not arrive in time".to_owned();
    application.enter_because(ApplicationStatus::Withdrawn, world.now(), Some(reason));
    world.record("application.withdrawn", application);
    world.forget_timers(AnyId::of(id));
}

pub(crate) fn decide(world: &mut World, id: Id<Application>, verdict: UnderwriterDecision) {
    let open = world.find(id);
    let reviewed = |it: &Application| it.status == ApplicationStatus::UnderReview;
    let Some(application) = open.filter(|application| reviewed(application)) else { return };
    let mut application = (*application).clone();
    let company = world.find(application.company_id);
    let company = company.expect("an application is a company's, and nothing is deleted");
    world.forget_timers(AnyId::of(id));
    let score = credit_scores::fresh(world, &company, format!("application {id}"));
    let look = Look::at(world, &company);
    let (outcome, reasons, terms) = judged(world, &application, &look, &score, verdict);
    let now = world.now();
    application.decision = Some(UnderwritingDecision {
        outcome,
        reasons,
        credit_score_id: Some(score.id),
        decided_at: now,
    });
    match (outcome, terms) {
        (ApplicationOutcome::Approved, Some(terms)) => {
            let offer = offers::drawn_up(world, &application, &terms);
            application.offer_id = Some(offer.id);
            application.enter(ApplicationStatus::Approved, now);
            world.record("application.approved", application);
            offers::make(world, offer);
        }
        (ApplicationOutcome::InformationRequested, _) => {
            let due = now.plus(INFORMATION);
            let needed = "a new credit score: createCreditScore";
            application.information_requested = vec![needed.to_owned()];
            application.information_due_by = Some(due);
            application.enter(ApplicationStatus::InformationRequested, now);
            world.record("application.information_requested", application);
            world.remind_at(due, Task::WithdrawApplication(id));
        }
        _ => {
            let first = application.decision.as_ref();
            let first = first.and_then(|decision| decision.reasons.first());
            let why = first.map(|reason| reason.detail.clone());
            application.enter_because(ApplicationStatus::Rejected, now, why);
            world.record("application.rejected", application);
        }
    }
}

/// The terms of an offer.
pub(super) struct Terms {
    pub(super) amount: i64,
    pub(super) rate_bp: i64,
}

fn reason(code: ReasonCode, detail: impl Into<String>) -> Reason {
    Reason { code, detail: detail.into() }
}

/// Facts come first, then the decision of the outside world, then the score.
fn judged(
    world: &World,
    application: &Application,
    look: &Look,
    score: &CreditScore,
    verdict: UnderwriterDecision,
) -> (ApplicationOutcome, Vec<Reason>, Option<Terms>) {
    let facts = against(world, application, look);
    if !facts.is_empty() {
        return (ApplicationOutcome::Rejected, facts, None);
    }
    let band = score.band.unwrap_or(Band::Poor);
    let terms = |amount| Terms { amount, rate_bp: lending::rate_bp(application.product, band) };
    let said = |detail: &str| vec![reason(ReasonCode::UnderwriterDecision, detail)];
    match verdict {
        UnderwriterDecision::Approved => {
            let why = said("the underwriter approved it, independent of the score");
            (ApplicationOutcome::Approved, why, Some(terms(application.amount)))
        }
        UnderwriterDecision::Rejected => {
            let why = said("the underwriter rejected this risk, independent of the score");
            (ApplicationOutcome::Rejected, why, None)
        }
        UnderwriterDecision::InformationRequested => {
            let detail = "the underwriter requires a newer credit score";
            let why = vec![reason(ReasonCode::FreshScoreNeeded, detail)];
            (ApplicationOutcome::InformationRequested, why, None)
        }
        UnderwriterDecision::ByScore => by_score(world, application, look, score, terms),
    }
}

/// The facts that prevent a loan in any case.
fn against(world: &World, application: &Application, look: &Look) -> Vec<Reason> {
    let mut facts = Vec::new();
    let company = world.find(application.company_id);
    if company.is_some_and(|company| company.status != CompanyStatus::Active) {
        let detail = "the company is no longer active";
        facts.push(reason(ReasonCode::CompanyNotActive, detail));
    }
    if look.loans.has_defaulted {
        let detail = "a loan of the company is in default";
        facts.push(reason(ReasonCode::LoanDefaulted, detail));
    }
    if look.loans.is_late {
        facts.push(reason(ReasonCode::LoanLate, "a loan of the company is late"));
    }
    if !look.taxes.overdue.is_empty() {
        let detail = format!("taxes are overdue: {}", look.taxes.overdue.join(", "));
        facts.push(reason(ReasonCode::OverdueFilings, detail));
    }
    facts
}

fn by_score(
    world: &World,
    application: &Application,
    look: &Look,
    score: &CreditScore,
    terms: impl Fn(i64) -> Terms,
) -> (ApplicationOutcome, Vec<Reason>, Option<Terms>) {
    let rejected =
        |code, detail: String| (ApplicationOutcome::Rejected, vec![reason(code, detail)], None);
    let (Some(points), Some(band)) = (score.score, score.band) else {
        let failure = score.failure.as_ref();
        let detail = failure.map_or_else(String::new, |failure| failure.detail.clone());
        return rejected(ReasonCode::InsufficientData, detail);
    };
    if band == Band::Poor {
        let detail = format!("a score of {points} is poor; the minimum for lending is fair");
        return rejected(ReasonCode::ScoreTooLow, detail);
    }
    let room = room(world, application, look, band);
    if room < i128::from(application.term_months) {
        let detail =
            "the company's debt and open offers have reached the limit of its sales".to_owned();
        return rejected(ReasonCode::NoCapacity, detail);
    }
    let detail = format!("a score of {points}");
    let mut reasons = vec![reason(ReasonCode::ScoreSufficient, detail)];
    let amount = room.min(i128::from(application.amount));
    let amount = i64::try_from(amount).unwrap_or(application.amount);
    if amount < application.amount {
        let detail =
            format!("the sales of one year support {} more", application.currency.display(amount));
        reasons.push(reason(ReasonCode::AmountReduced, detail));
    }
    (ApplicationOutcome::Approved, reasons, Some(terms(amount)))
}

/// The additional debt that the company may have, after its debt and open offers, in the application's currency.
fn room(world: &World, application: &Application, look: &Look, band: Band) -> i128 {
    let company = world.find(application.company_id);
    let own = company.map_or(application.currency, |company| company.currency);
    let (mut rates, today) = (crate::api::business::figures::rates(world), world.today());
    let promised = promised(world, application.company_id).into_iter();
    let promised = promised
        .filter_map(|(currency, amount)| rates.translate(amount.into(), currency, own, today));
    let promised: i128 = promised.sum();
    let left = lending::capacity(band, look.yearly_sales()) - look.debt() - promised;
    let room = rates.translate(left.max(0), own, application.currency, today);
    room.unwrap_or(0)
}

/// Money of undisbursed loans and open offers of a company.
fn promised(world: &World, company: Id<Company>) -> Vec<(Currency, i64)> {
    let loans = world.children::<Loan>(company.bits());
    let loans = loans.filter_map(|id| world.find(id));
    let loans = loans.filter(|loan| loan.status == LoanStatus::PendingDisbursement);
    let applications = world.children::<Application>(company.bits());
    let offers = applications.flat_map(|id| world.children::<Offer>(id.bits()));
    let offers = offers.filter_map(|id| world.find(id));
    let offers = offers.filter(|offer| offer.status == OfferStatus::Pending);
    loans
        .map(|loan| (loan.currency, loan.amount))
        .chain(offers.map(|offer| (offer.currency, offer.amount)))
        .collect()
}

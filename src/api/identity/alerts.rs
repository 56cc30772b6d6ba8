//! Alerts: the list, and the effects of a decision on subjects, cases and payouts.

use crate::api::business::employee_verbs::enter_payroll;
use crate::api::identity::alert_facts::{self, is_about};
use crate::api::identity::verification_clock::CaseOutcome;
use crate::api::identity::verifications::open_case;
use crate::api::identity::{subjects, verification_clock};
use crate::api::payments::payout_rail;
use crate::api::prelude::*;
use crate::model::business::{HoldReason, PayrollStatus};
use crate::model::identity::{
    AlertStatus, AmlAlert, AmlScreening, CaseStatus, HitStatus, KycStatus, RejectLabel, RiskLevel,
    ScreeningStatus, Severity, Subject,
};
use crate::model::payments::{Payout, PayoutStatus};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Identity.table([
    Operation {
        path: "/api/identity/aml-alerts",
        summary: "List alerts",
        description: "Lists the findings of screenings and of the monitoring of payouts and \
            collections, in creation order.",
        ..operation!(read list_aml_alerts)
    },
    Operation {
        path: "/api/identity/aml-alerts/{alert_id}",
        summary: "Read an alert",
        description: "Returns an alert with its findings, its rule and the decision.",
        ..operation!(get get_aml_alert: AmlAlert)
    },
    Operation {
        path: "/api/identity/aml-alerts/{alert_id}/resolve",
        summary: "Resolve an alert",
        description: "Resolves an alert. `false_positive` dismisses it: its screening becomes \
            `clear`. `true_positive` confirms the alert: its screening becomes a \
            `confirmed_match`, its subject becomes `declined`, and payouts are frozen. Waiting \
            payouts become `on_hold` at once. New payouts become `on_hold` when they are due to be \
            sent. If the subject is an employee, only payouts to that employee are frozen; \
            otherwise all payouts of the company are frozen. `escalate` sets the status to \
            `escalated`.",
        example: r#"{"resolution":"false_positive","note":"Another date of birth"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: RESOLVES,
        ..operation!(write resolve_aml_alert)
    },
]);

/// The events that a decision about an alert can cause.
pub(crate) const RESOLVES: &[&str] = &[
    "aml_alert.dismissed",
    "aml_alert.confirmed",
    "aml_alert.escalated",
    "subject.updated",
    "verification.declined",
    "employee.payroll_status_changed",
    "payout.processing",
    "payout.on_hold",
];

list! {
    fn list_aml_alerts(ListAmlAlerts) -> AmlAlert;
    filter
        subject_id: Id<Subject>,
        /// Filter by company; includes alerts about its employees.
        company_id: Id<Company>,
        status: AlertStatus,
        severity: Severity;
    sort created_at, severity;
}

impl SortBy for Severity {
    fn sort_key(&self) -> SortKey {
        SortKey::Number(match self {
            Severity::Low => 0,
            Severity::Medium => 1,
            Severity::High => 2,
        })
    }
}

/// The decision about an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AlertResolution")]
pub(crate) enum Resolution {
    FalsePositive,
    TruePositive,
    Escalate,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ResolveAmlAlert {
    /// The alert.
    alert_id: Id<AmlAlert>,
    /// Whether to dismiss, confirm or escalate the alert.
    resolution: Resolution,
    /// The reason for the decision, stored as `note` of the alert.
    note: Text<500>,
}

fn resolve_aml_alert(world: &mut World, input: ResolveAmlAlert) -> Result<Single<AmlAlert>> {
    let alert = world.get(input.alert_id)?;
    let verb = match input.resolution {
        Resolution::FalsePositive => "dismiss",
        Resolution::TruePositive => "confirm",
        Resolution::Escalate => "escalate",
    };
    let to = step(verb, "the alert", alert.id, alert.status)?;
    resolve(world, &alert, to, Some(input.note.into_string()));
    show(world, input.alert_id)
}

/// Resolves an alert, with all effects.
pub(crate) fn resolve(world: &mut World, alert: &AmlAlert, to: AlertStatus, note: Option<String>) {
    let now = world.now();
    let mut alert = alert.clone();
    if alert.note.is_none() || note.is_some() {
        alert.note.clone_from(&note);
    }
    alert.enter_because(to, now, note);
    let event = match to {
        AlertStatus::Dismissed => "aml_alert.dismissed",
        AlertStatus::Confirmed => "aml_alert.confirmed",
        AlertStatus::Escalated => "aml_alert.escalated",
        AlertStatus::Open => unreachable!("no transition leads to the first state"),
    };
    if to == AlertStatus::Escalated {
        world.record(event, alert);
        return;
    }
    alert.resolved_at = Some(now);
    if to == AlertStatus::Confirmed {
        decline_subject(world, &alert);
    }
    close_screening(world, &alert);
    if to == AlertStatus::Dismissed && alert.screening_id.is_none() {
        lower_risk(world, &alert);
    }
    let alert = world.record(event, alert);
    if to == AlertStatus::Confirmed {
        decline_case(world, &alert);
        freeze(world, &alert);
    }
}

/// Stages the effect of an alert on its screening, after the effect on its subject's risk.
fn close_screening(world: &mut World, alert: &AmlAlert) {
    let Some(screening) = alert.screening_id.and_then(|id| world.find(id)) else { return };
    if screening.status != ScreeningStatus::NeedsReview {
        return;
    }
    let now = world.now();
    let mut screening = (*screening).clone();
    if alert.status == AlertStatus::Confirmed {
        screening.settle(HitStatus::Confirmed);
        screening.enter(ScreeningStatus::ConfirmedMatch, now);
    } else {
        screening.settle(HitStatus::Dismissed);
        screening.enter(ScreeningStatus::Clear, now);
    }
    // A confirmed alert has made the risk high.
    if alert.status != AlertStatus::Confirmed {
        alert_facts::rate(world, screening.subject_id, screening.risk_level(), Some(alert.id));
    }
    world.stage(screening);
}

/// After the dismissal of an alert without a screening, the risk of its subject is that of the latest screening and of other alerts.
fn lower_risk(world: &mut World, alert: &AmlAlert) {
    let Some(subject) = alert.subject_id else { return };
    let screenings = world.children::<AmlScreening>(subject.bits()).rev();
    let latest = screenings
        .filter_map(|id| world.find(id))
        .find(|screening| screening.status != ScreeningStatus::Processing);
    let level = latest.map(|screening| screening.risk_level()).unwrap_or_default();
    alert_facts::rate(world, subject, level, Some(alert.id));
}

/// A subject with a confirmed match is no longer approved.
fn decline_subject(world: &mut World, alert: &AmlAlert) {
    let Some(subject) = alert.subject_id.and_then(|id| world.find(id)) else { return };
    let before = subject;
    let mut subject = (*before).clone();
    subject.risk_level = RiskLevel::High;
    subject.updated_at = world.now();
    // A case in review is declined, together with its subject, by a separate event after this one.
    let reviewed =
        open_case(world, subject.id).is_some_and(|case| case.status == CaseStatus::InReview);
    if !reviewed && subject.status.may_become(KycStatus::Declined) {
        let why = "an alert was confirmed".to_owned();
        subject.enter_because(KycStatus::Declined, world.now(), Some(why));
    }
    subjects::update(world, &before, subject);
}

/// Declines a case in review. Other cases consider the alert when the bureau answers.
fn decline_case(world: &mut World, alert: &AmlAlert) {
    let case = alert.subject_id.and_then(|subject| open_case(world, subject));
    if let Some(case) = case.filter(|case| case.status == CaseStatus::InReview) {
        let outcome = CaseOutcome {
            to: CaseStatus::Declined,
            labels: vec![RejectLabel::WatchlistMatch],
            note: Some(format!("{} was confirmed", alert.id)),
        };
        verification_clock::conclude(world, &case, outcome);
    }
}

/// Puts the pending payouts on hold.
fn freeze(world: &mut World, alert: &AmlAlert) {
    let Some(company) = alert.company_id else { return };
    if let Some(employee) = alert.employee_id.and_then(|id| world.find(id))
        && employee.payroll_status == PayrollStatus::Verified
    {
        let why = Some(HoldReason::AmlAlert);
        enter_payroll(world, &employee, PayrollStatus::OnHold, why);
    }
    let waiting: Vec<Arc<Payout>> = world
        .children::<Payout>(company.bits())
        .filter_map(|id| world.find(id))
        .filter(|payout| payout.status == PayoutStatus::Queued && is_about(world, alert, payout))
        .collect();
    for payout in waiting {
        payout_rail::freeze(world, &payout);
    }
}

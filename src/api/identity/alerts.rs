//! Alerts: the list, and the effects of a decision on subjects, cases and payouts.

use crate::api::business::employee_verbs::enter_payroll;
use crate::api::identity::verification_clock::CaseOutcome;
use crate::api::identity::verifications::open_case;
use crate::api::identity::{screenings, verification_clock};
use crate::api::payments::payout_rail;
use crate::api::prelude::*;
use crate::model::business::{Employee, HoldReason, PayrollItem, PayrollStatus};
use crate::model::identity::{
    AlertRule, AlertStatus, AmlAlert, AmlScreening, CaseStatus, HitStatus, KycStatus, RejectLabel,
    RiskLevel, ScreeningStatus, Severity, Subject,
};
use crate::model::payments::{Payout, PayoutStatus, Pays};
use crate::model::{Object, State, step};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/identity/aml-alerts",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "List alerts",
        description: "Lists the findings of screenings and of the monitoring of payouts and \
            collections, in creation order.",
        ..operation!(read list_aml_alerts)
    },
    Operation {
        method: Method::Get,
        path: "/api/identity/aml-alerts/{alert_id}",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Read an alert",
        description: "Returns an alert with its findings, its rule and the decision.",
        ..operation!(read get_aml_alert)
    },
    Operation {
        method: Method::Post,
        path: "/api/identity/aml-alerts/{alert_id}/resolve",
        domain: Domain::Identity,
        contract: Contract::Assumed,
        summary: "Resolve an alert",
        description: "Resolves an alert. `false_positive` dismisses it: its screening becomes \
            `clear`. `true_positive` confirms it: its screening becomes a `confirmed_match`, its \
            subject `declined`, and payouts are frozen. Waiting payouts become `on_hold`, and new \
            ones when they would be sent. If the subject is an employee, only payouts to that \
            employee are frozen, otherwise all of the company. `escalate` passes it on.",
        example: r#"{"resolution":"false_positive","note":"Another date of birth"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: RESOLVES,
        ..operation!(write resolve_aml_alert)
    },
];

/// The events that a decision about an alert can cause.
pub(crate) const RESOLVES: &[&str] = &[
    "aml_alert.dismissed",
    "aml_alert.confirmed",
    "aml_alert.escalated",
    "verification.declined",
    "employee.payroll_status_changed",
    "payout.processing",
    "payout.on_hold",
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListAmlAlerts {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<AmlAlert>>,
    /// Filter by subject.
    subject_id: Option<Id<Subject>>,
    /// Filter by company; includes alerts about its employees.
    company_id: Option<Id<Company>>,
    /// Filter by status.
    status: Option<AlertStatus>,
    /// Filter by severity.
    severity: Option<Severity>,
}

impl Sortable for AmlAlert {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |alert| SortKey::Number(alert.created_at.millis())),
        ("severity", |alert| {
            SortKey::Number(match alert.severity {
                Severity::Low => 0,
                Severity::Medium => 1,
                Severity::High => 2,
            })
        }),
    ];
}

fn list_aml_alerts(world: &World, input: ListAmlAlerts) -> Result<List<Shown<AmlAlert>>, ApiError> {
    let candidates = Candidates::new(0, |_| None, world.created());
    let keep = |alert: &AmlAlert| {
        (input.subject_id.is_none() || alert.subject_id == input.subject_id)
            && (input.company_id.is_none() || alert.company_id == input.company_id)
            && is(input.status.as_ref(), &alert.status)
            && is(input.severity.as_ref(), &alert.severity)
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct OneAlert {
    /// The alert.
    alert_id: Id<AmlAlert>,
}

fn get_aml_alert(world: &World, input: OneAlert) -> Result<Data<Shown<AmlAlert>>, ApiError> {
    show(world, input.alert_id)
}

/// A finding for an alert.
pub(crate) struct NewAlert<'a> {
    pub(crate) company: Option<Id<Company>>,
    pub(crate) subject: Option<&'a Subject>,
    pub(crate) screening: Option<Id<AmlScreening>>,
    pub(crate) rule: AlertRule,
    pub(crate) severity: Severity,
    pub(crate) detail: String,
    pub(crate) money: Option<(i64, Currency)>,
    pub(crate) resources: Vec<AnyId>,
}

/// Opens an alert. Emits `aml_alert.opened`.
pub(crate) fn open(world: &mut World, new: NewAlert<'_>) -> Arc<AmlAlert> {
    let now = world.now();
    let subject = new.subject;
    let parent = new.company.map(Id::bits);
    let parent = parent.or(subject.map(|subject| subject.id.bits()));
    let alert = AmlAlert {
        id: world.next_id(parent.unwrap_or(0)),
        object: Object::NAME,
        company_id: new.company,
        subject_id: subject.map(|subject| subject.id),
        employee_id: subject.and_then(|subject| subject.employee_id),
        screening_id: new.screening,
        rule: new.rule,
        severity: new.severity,
        status: AlertStatus::Open,
        detail: new.detail,
        amount: new.money.map(|(amount, _)| amount),
        currency: new.money.map(|(_, currency)| currency),
        resources: new.resources,
        note: None,
        resolved_at: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: vec![StatusChange::plain(AlertStatus::Open, now)],
    };
    world.record("aml_alert.opened", alert)
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
    /// The decision.
    resolution: Resolution,
    /// Why.
    note: Text<500>,
}

fn resolve_aml_alert(
    world: &mut World,
    input: ResolveAmlAlert,
) -> Result<Data<Shown<AmlAlert>>, ApiError> {
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
        _ => "aml_alert.escalated",
    };
    if to == AlertStatus::Escalated {
        world.record(event, alert);
        return;
    }
    alert.resolved_at = Some(now);
    close_screening(world, &alert);
    if to == AlertStatus::Confirmed {
        decline_subject(world, &alert);
    }
    let alert = world.record(event, alert);
    if to == AlertStatus::Confirmed {
        decline_case(world, &alert);
        freeze(world, &alert);
    }
}

/// Stages the effect of an alert on its screening and on its subject's risk.
fn close_screening(world: &mut World, alert: &AmlAlert) {
    let Some(screening) = alert.screening_id.and_then(|id| world.find(id)) else {
        return;
    };
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
    let (subject, level) = (screening.subject_id, screening.risk_level());
    world.stage(screening);
    screenings::rate(world, subject, level, Some(alert.id));
}

/// Stages that a subject with a confirmed match is no longer approved.
fn decline_subject(world: &mut World, alert: &AmlAlert) {
    let Some(subject) = alert.subject_id.and_then(|id| world.find(id)) else {
        return;
    };
    let mut subject = (*subject).clone();
    subject.risk_level = RiskLevel::High;
    subject.updated_at = world.now();
    // A case in review is declined, together with its subject, by a separate event after this one.
    let reviewed =
        open_case(world, subject.id).is_some_and(|case| case.status == CaseStatus::InReview);
    if !reviewed && subject.status.may_become(KycStatus::Declined) {
        let why = "an alert was confirmed".to_owned();
        subject.enter_because(KycStatus::Declined, world.now(), Some(why));
    }
    world.stage(subject);
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

/// Holds the waiting payouts.
fn freeze(world: &mut World, alert: &AmlAlert) {
    let Some(company) = alert.company_id else {
        return;
    };
    if let Some(employee) = alert.employee_id.and_then(|id| world.find(id))
        && employee.payroll_status == PayrollStatus::Verified
    {
        let why = Some(HoldReason::AmlAlert);
        enter_payroll(world, &employee, PayrollStatus::OnHold, why);
    }
    let waiting: Vec<Id<Payout>> = world
        .children::<Payout>(company.bits())
        .filter(|id| {
            let payout = world.find(*id);
            payout.is_some_and(|payout| {
                payout.status == PayoutStatus::Queued && is_about(world, alert, &payout)
            })
        })
        .collect();
    for id in waiting {
        payout_rail::freeze(world, id);
    }
}

/// Whether a confirmed alert holds that payout.
pub(crate) fn freezes(world: &World, payout: &Payout) -> bool {
    confirmed(world, payout.company_id).any(|alert| is_about(world, &alert, payout))
}

fn is_about(world: &World, alert: &AmlAlert, payout: &Payout) -> bool {
    match alert.employee_id {
        None => true,
        Some(employee) => paid_employee(world, payout) == Some(employee),
    }
}

fn paid_employee(world: &World, payout: &Payout) -> Option<Id<Employee>> {
    let source = payout.source.filter(|_| payout.pays() == Pays::Wages)?;
    let item = world.find(Id::<PayrollItem>::from_bits(source.bits))?;
    Some(item.employee_id)
}

/// Confirmed alerts about a company or its people.
pub(crate) fn confirmed(
    world: &World,
    company: Id<Company>,
) -> impl Iterator<Item = Arc<AmlAlert>> {
    world
        .children::<AmlAlert>(company.bits())
        .filter_map(|id| world.find(id))
        .filter(|alert| alert.status == AlertStatus::Confirmed)
}

/// Whether an alert about a company itself, or about one of its people who is not an employee, was confirmed.
pub(crate) fn confirmed_alert(world: &World, company: Id<Company>) -> bool {
    confirmed(world, company).any(|alert| alert.employee_id.is_none())
}

/// Alerts about a subject.
fn about(world: &World, id: Id<Subject>) -> impl Iterator<Item = Arc<AmlAlert>> {
    let company = world.find(id).and_then(|subject| subject.company_id);
    world
        .children::<AmlAlert>(company.map_or(id.bits(), Id::bits))
        .filter_map(|alert| world.find(alert))
        .filter(move |alert| alert.subject_id == Some(id))
}

/// Whether any alert about a subject is not dismissed.
pub(crate) fn stand(world: &World, id: Id<Subject>) -> bool {
    about(world, id).any(|alert| alert.status != AlertStatus::Dismissed)
}

/// The risk level from alerts about a subject that are not dismissed; `but` is one that is being decided.
pub(crate) fn risk(world: &World, id: Id<Subject>, but: Option<Id<AmlAlert>>) -> RiskLevel {
    let others = about(world, id).filter(|alert| Some(alert.id) != but);
    let levels = others.map(|alert| match (alert.status, alert.severity) {
        (AlertStatus::Dismissed, _) => RiskLevel::Unknown,
        (AlertStatus::Confirmed, _) | (_, Severity::High) => RiskLevel::High,
        (_, Severity::Medium) => RiskLevel::Medium,
        (_, Severity::Low) => RiskLevel::Low,
    });
    levels.max().unwrap_or_default()
}

/// Whether an alert about a subject was confirmed.
pub(crate) fn condemn(world: &World, id: Id<Subject>) -> bool {
    about(world, id).any(|alert| alert.status == AlertStatus::Confirmed)
}

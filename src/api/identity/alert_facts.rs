//! Alerts as records: opening an alert, the facts about a company or subject that follow from its alerts, and its risk level.
//!
//! Deliberately absent: decisions about alerts, with their effects on cases and payouts (`alerts`).

use std::sync::Arc;

use crate::api::identity::subjects;
use crate::model::business::company::Company;
use crate::model::business::employee::Employee;
use crate::model::business::payroll_item::PayrollItem;
use crate::model::identity::aml_alert::{AlertRule, AlertStatus, AmlAlert, Severity};
use crate::model::identity::aml_screening::AmlScreening;
use crate::model::identity::subject::{RiskLevel, Subject};
use crate::model::lifecycle::StatusChange;
use crate::model::payments::payout::{Payout, Pays};
use crate::model::{AnyId, Object};
use crate::value::id::Id;
use crate::value::money::Currency;
use crate::value::text::Metadata;
use crate::world::World;

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
        status_history: [StatusChange::plain(AlertStatus::Open, now)].into(),
    };
    world.record("aml_alert.opened", alert)
}

/// Whether a confirmed alert holds that payout.
pub(crate) fn freezes(world: &World, payout: &Payout) -> bool {
    confirmed(world, payout.company_id).any(|alert| is_about(world, &alert, payout))
}

pub(super) fn is_about(world: &World, alert: &AmlAlert, payout: &Payout) -> bool {
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

/// The confirmed alert that keeps an employee's wages on hold, if any.
pub(crate) fn holding_pay(world: &World, employee: &Employee) -> Option<Arc<AmlAlert>> {
    confirmed(world, employee.company_id).find(|alert| alert.employee_id == Some(employee.id))
}

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

/// Sets the risk level of a subject from its screenings. It is never lower than the level from its alerts, except one that is being decided.
pub(crate) fn rate(
    world: &mut World,
    id: Id<Subject>,
    level: RiskLevel,
    but: Option<Id<AmlAlert>>,
) {
    let level = level.max(risk(world, id, but));
    let Some(subject) = world.find(id).filter(|subject| subject.risk_level != level) else {
        return;
    };
    let mut rated = (*subject).clone();
    rated.risk_level = level;
    rated.updated_at = world.now();
    subjects::update(world, &subject, rated);
}

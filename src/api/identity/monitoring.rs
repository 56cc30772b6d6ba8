//! Monitoring: the rules check every paid payout and every settled collection, except wages. The world keeps a
//! limited number of earlier payments, so the cost does not depend on a company's number of payouts.

use crate::api::identity::alert_facts::{self, NewAlert};
use crate::api::identity::subjects::of_company;
use crate::api::prelude::*;
use crate::model::identity::aml_rules::{Movement, RULES, Suspicion};
use crate::model::identity::{AlertRule, AlertStatus, AmlAlert, SubjectType};
use crate::model::payments::{Collection, Payout, Pays};

/// A payout was paid.
pub(crate) fn paid(world: &mut World, payout: &Payout) {
    if payout.pays() == Pays::Wages {
        return;
    }
    let beneficiary = payout.beneficiary_id.and_then(|id| world.touched(id));
    let country = beneficiary.map(|beneficiary| beneficiary.account.country.clone());
    let now = Movement {
        of: AnyId::of(payout.id),
        amount: payout.amount,
        currency: payout.currency,
        at: payout.created_at,
    };
    judge(world, payout.company_id, now, country.as_deref());
}

/// A collection settled.
pub(crate) fn collected(world: &mut World, collection: &Collection) {
    let now = Movement {
        of: AnyId::of(collection.id),
        amount: collection.amount_received,
        currency: collection.currency,
        at: collection.created_at,
    };
    judge(world, collection.company_id, now, None);
}

/// Opens an alert for each suspicion about one of a company's movements.
fn judge(world: &mut World, company: Id<Company>, now: Movement, country: Option<&str>) {
    let before = world.movements(now.of.kind, company);
    let is_silent = |rule, window| is_silent(world, company, rule, window);
    let suspicions = RULES.judge(now, before, country, is_silent);
    world.add_movement(company, now);
    for suspicion in suspicions {
        open(world, company, now, suspicion);
    }
}

fn open(world: &mut World, company: Id<Company>, now: Movement, suspicion: Suspicion) {
    let resources = [now].iter().chain(&suspicion.others).map(|one| one.of).collect();
    // Some may be in other currencies. The window limits their number.
    let alike = suspicion.others.iter().filter(|one| one.currency == now.currency);
    let amount = alike.map(|one| one.amount).fold(now.amount, i64::saturating_add);
    let business = of_company(world, company).find(|subject| subject.kind == SubjectType::Business);
    alert_facts::open(
        world,
        NewAlert {
            company: Some(company),
            subject: business.as_deref(),
            screening: None,
            rule: suspicion.rule,
            severity: suspicion.severity,
            detail: suspicion.detail,
            money: Some((amount, now.currency)),
            resources,
        },
    );
    if let Some(subject) = business {
        alert_facts::rate(world, subject.id, subject.risk_level, None);
    }
}

/// Whether the rule's last alert about the company is open, or is too recent for another one.
fn is_silent(world: &World, company: Id<Company>, rule: AlertRule, window: i64) -> bool {
    let now = world.now().millis();
    let mut alerts =
        world.children::<AmlAlert>(company.bits()).rev().filter_map(|id| world.find(id));
    alerts.any(|alert| {
        let is_open = matches!(alert.status, AlertStatus::Open | AlertStatus::Escalated);
        let is_recent = now - alert.created_at.millis() < window;
        alert.rule == rule && (is_open || is_recent)
    })
}

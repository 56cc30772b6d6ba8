//! Monitoring: the rules check every paid payout and every settled collection, except wages.
//!
//! Most need only one comparison with a threshold. Only those that may concern a rule are compared with a limited number of earlier ones.

use crate::api::identity::alert_facts::{self, NewAlert};
use crate::api::identity::subjects::of_company;
use crate::api::prelude::*;
use crate::model::identity::aml_rules::{Movement, RULES, Suspicion, WINDOW};
use crate::model::identity::{AlertStatus, AmlAlert, SubjectType};
use crate::model::payments::{Collection, Payout, Pays};

pub(crate) fn paid(world: &mut World, payout: &Payout) {
    if payout.pays() == Pays::Wages {
        return;
    }
    let now = Movement { amount: payout.amount, currency: payout.currency, at: payout.created_at };
    let beneficiary = payout.beneficiary_id.and_then(|id| world.touched(id));
    let country = beneficiary.map(|beneficiary| beneficiary.account.country.clone());
    let moved = |id: Id<Payout>| {
        let before = world.find(id)?;
        (before.id != payout.id && before.pays() != Pays::Wages).then(|| {
            let movement = Movement {
                amount: before.amount,
                currency: before.currency,
                at: before.created_at,
            };
            (AnyId::of(before.id), movement)
        })
    };
    let nth = world
        .children::<Payout>(payout.company_id.bits())
        .nth_back(RULES.velocity_count() - 1)
        .and_then(|id| world.find(id))
        .map(|before| before.created_at);
    let before: Vec<(AnyId, Movement)> = if RULES.looks_back(now, nth) {
        let all = world.children::<Payout>(payout.company_id.bits()).rev();
        all.take(WINDOW).filter_map(moved).collect()
    } else {
        Vec::new()
    };
    judge(world, payout.company_id, AnyId::of(payout.id), now, &before, country.as_deref());
}

/// A collection settled.
pub(crate) fn collected(world: &mut World, collection: &Collection) {
    let now = Movement {
        amount: collection.amount_received,
        currency: collection.currency,
        at: collection.created_at,
    };
    let moved = |id: Id<Collection>| {
        let before = world.find(id)?;
        (before.id != collection.id && before.status.is_paid()).then(|| {
            let movement = Movement {
                amount: before.amount_received,
                currency: before.currency,
                at: before.created_at,
            };
            (AnyId::of(before.id), movement)
        })
    };
    let nth = world
        .children::<Collection>(collection.company_id.bits())
        .nth_back(RULES.velocity_count() - 1)
        .and_then(|id| world.find(id))
        .map(|before| before.created_at);
    let before: Vec<(AnyId, Movement)> = if RULES.looks_back(now, nth) {
        let all = world.children::<Collection>(collection.company_id.bits()).rev();
        all.take(WINDOW).filter_map(moved).collect()
    } else {
        Vec::new()
    };
    let company = collection.company_id;
    judge(world, company, AnyId::of(collection.id), now, &before, None);
}

fn judge(
    world: &mut World,
    company: Id<Company>,
    id: AnyId,
    now: Movement,
    before: &[(AnyId, Movement)],
    country: Option<&str>,
) {
    let movements: Vec<Movement> = before.iter().map(|(_, movement)| *movement).collect();
    for suspicion in RULES.judge(now, &movements, country) {
        if is_silent(world, company, &suspicion) {
            continue;
        }
        let mut resources = vec![id];
        resources.extend(suspicion.places.iter().map(|place| before[*place].0));
        let amounts = suspicion.places.iter().map(|place| movements[*place].amount);
        // Each is below a threshold, and the window limits their number.
        let amount = amounts.fold(now.amount, i64::saturating_add);
        let business =
            of_company(world, company).find(|subject| subject.kind == SubjectType::Business);
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
    }
}

/// Whether the rule's last alert about the company is open, or is too recent for another one.
fn is_silent(world: &World, company: Id<Company>, suspicion: &Suspicion) -> bool {
    let now = world.now().millis();
    let mut alerts =
        world.children::<AmlAlert>(company.bits()).rev().filter_map(|id| world.find(id));
    alerts.any(|alert| {
        let stands = matches!(alert.status, AlertStatus::Open | AlertStatus::Escalated);
        let recent = now - alert.created_at.millis() < suspicion.silent;
        alert.rule == suspicion.rule && (stands || recent)
    })
}

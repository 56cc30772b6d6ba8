//! Monitoring: the rules check every paid payout and every settled collection, except wages.
//!
//! Most need only one comparison with a threshold. Only those that may concern a rule are compared with a limited number of earlier ones.

use crate::api::identity::alert_facts::{self, NewAlert};
use crate::api::identity::subjects::of_company;
use crate::api::prelude::*;
use crate::model::identity::aml_rules::{Movement, RULES, Suspicion, WINDOW};
use crate::model::identity::{AlertRule, AlertStatus, AmlAlert, SubjectType};
use crate::model::payments::{Collection, Payout, Pays};

/// A payout was paid.
pub(crate) fn paid(world: &mut World, payout: &Payout) {
    if payout.pays() == Pays::Wages {
        return;
    }
    let beneficiary = payout.beneficiary_id.and_then(|id| world.touched(id));
    let country = beneficiary.map(|beneficiary| beneficiary.account.country.clone());
    let moved = |before: &Payout| {
        (before.pays() != Pays::Wages).then_some(Movement {
            amount: before.amount,
            currency: before.currency,
            at: before.created_at,
        })
    };
    judge(world, payout, |before| before.created_at, moved, country.as_deref());
}

/// A collection settled.
pub(crate) fn collected(world: &mut World, collection: &Collection) {
    let moved = |before: &Collection| {
        before.status.is_paid().then_some(Movement {
            amount: before.amount_received,
            currency: before.currency,
            at: before.created_at,
        })
    };
    judge(world, collection, |before| before.created_at, moved, None);
}

/// Opens an alert for each suspicion about one of a company's payouts or collections. `moved` is its movement, if the rules look at it.
fn judge<T: Grow>(
    world: &mut World,
    one: &T,
    created_at: impl Fn(&T) -> Timestamp,
    moved: impl Fn(&T) -> Option<Movement>,
    country: Option<&str>,
) {
    let (company, id) = (one.company(), AnyId::of(one.id()));
    let Some(now) = moved(one) else { return };
    let nth = world
        .children::<T>(company.bits())
        .nth_back(RULES.velocity_count() - 1)
        .and_then(|id| world.find(id))
        .map(|before| created_at(&before));
    // The earlier movements of a busy company are not read again while its alert is open.
    let mut concerned = RULES.concerned(now, nth, country);
    if concerned.all(|(rule, silent)| is_silent(world, company, rule, silent)) {
        return;
    }
    let earlier = world.children::<T>(company.bits()).rev().take(WINDOW);
    let earlier = earlier.filter(|id| *id != one.id()).filter_map(|id| {
        let movement = moved(&*world.find(id)?)?;
        Some((AnyId::of(id), movement))
    });
    let (before, movements): (Vec<AnyId>, Vec<Movement>) = earlier.unzip();
    for suspicion in RULES.judge(now, &movements, country) {
        if !is_silent(world, company, suspicion.rule, suspicion.silent) {
            open(world, company, id, now, suspicion, (&before, &movements));
        }
    }
}

fn open(
    world: &mut World,
    company: Id<Company>,
    id: AnyId,
    now: Movement,
    suspicion: Suspicion,
    (before, movements): (&[AnyId], &[Movement]),
) {
    let mut resources = vec![id];
    resources.extend(suspicion.places.iter().map(|place| before[*place]));
    // Some may be in other currencies. The window limits their number.
    let alike = suspicion.places.iter().map(|place| movements[*place]);
    let alike = alike.filter(|one| one.currency == now.currency);
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
}

/// Whether the rule's last alert about the company is open, or is too recent for another one.
fn is_silent(world: &World, company: Id<Company>, rule: AlertRule, silent: i64) -> bool {
    let now = world.now().millis();
    let mut alerts =
        world.children::<AmlAlert>(company.bits()).rev().filter_map(|id| world.find(id));
    alerts.any(|alert| {
        let is_open = matches!(alert.status, AlertStatus::Open | AlertStatus::Escalated);
        let is_recent = now - alert.created_at.millis() < silent;
        alert.rule == rule && (is_open || is_recent)
    })
}

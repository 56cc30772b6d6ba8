//! Rules that change deliveries of webhooks, added at run time like a `[[webhook]]` of a scenario.

use serde_json::{Map, Value};

use crate::api::control::intervene::Rule;
use crate::api::control::outcome_rule::Subjects;
use crate::api::control::webhooks::check_filter;
use crate::api::prelude::*;
use crate::tester::outbox::shaping::{Counted, MOST_COPIES};
use crate::value::id::encode_to_string;
use crate::world::script::{Range, Shaping, WebhookRow, When};

/// A rule that changes deliveries.
pub(super) struct Wanted<'a> {
    pub(super) event: &'a str,
    pub(super) conditions: &'a Map<String, Value>,
    pub(super) shape: Shaping,
    pub(super) delay: Option<Span>,
    pub(super) nth: Option<u64>,
    pub(super) times: Option<u64>,
}

/// Adds the rule. An error has all mistakes in it.
pub(super) fn add(session: &mut Session<'_>, wanted: Wanted<'_>) -> Result<Rule> {
    let mut wrong = Vec::new();
    if let Err(detail) = check_filter(wanted.event) {
        wrong.push(Violation::new("/match/event", "unknown_event", detail));
    }
    let is_late = matches!(wanted.shape, Shaping::Duplicate | Shaping::Delay | Shaping::Reorder);
    match wanted.delay {
        Some(_) if !is_late => {
            let detail = "only duplicate, delay and reorder have a delay";
            wrong.push(Violation::new("/delay", "unexpected", detail));
        }
        None if wanted.shape == Shaping::Delay => {
            wrong.push(Violation::new("/delay", "required", "the shape delay needs a delay"));
        }
        _ => {}
    }
    let is_duplicate = wanted.shape == Shaping::Duplicate;
    if is_duplicate && wanted.times.is_some_and(|times| times > MOST_COPIES) {
        let detail = format!("a duplicate has at most {MOST_COPIES} additional copies");
        wrong.push(Violation::new("/times", "range", detail));
    }
    let mut select = Vec::new();
    let operations = session.host.operations();
    match Subjects::of_event(wanted.event, &operations) {
        Some(subjects) => {
            for (field, value) in wanted.conditions {
                select.extend(subjects.selector(field, value, &mut wrong));
            }
        }
        None if wrong.is_empty() && !wanted.conditions.is_empty() => {
            let detail = "conditions need events of one resource, such as payout.* in match.event";
            wrong.push(Violation::new("/match/where", "unexpected", detail));
        }
        None => {}
    }
    ApiError::if_any(wrong)?;
    let nth = wanted.nth.into_iter().map(Range::only).collect();
    let shapes = session.tester.outbox.shaping_mut();
    let row = WebhookRow {
        on: wanted.event.to_owned(),
        when: When { select, nth, times: wanted.times, chance_ppm: None },
        shape: wanted.shape,
        delay: wanted.delay,
        source: format!("rule {}", id(session.world, shapes.next_rule())),
    };
    let added = shapes.add(row).clone();
    Ok(Rule::of_shape(session.world, &added).expect("a rule that was added has a number"))
}

/// Removes the rule of that id. Returns whether it existed.
pub(super) fn remove(session: &mut Session<'_>, wanted: &str) -> bool {
    let rows = session.tester.outbox.shaping().rows().iter();
    let mut rules = rows.filter_map(|counted| counted.rule);
    let found = rules.find(|rule| id(session.world, *rule) == wanted);
    found.is_some_and(|rule| session.tester.outbox.shaping_mut().remove(Some(rule)) > 0)
}

/// The rules of that kind.
pub(super) fn rules(session: &Session<'_>) -> Vec<Rule> {
    let rows = session.tester.outbox.shaping().rows().iter();
    rows.filter_map(|counted| Rule::of_shape(session.world, counted)).collect()
}

fn id(world: &World, number: u64) -> String {
    let key = world.base().key().with("shaping_rule").at(number);
    format!("rul_{}", encode_to_string(key.hash()))
}

impl Rule {
    /// None for a row of a scenario.
    fn of_shape(world: &World, counted: &Counted) -> Option<Self> {
        let Counted { row, rule, asked, hits } = counted;
        Some(Self {
            id: id(world, (*rule)?),
            event: Some(row.on.clone()),
            shape: Some(row.shape),
            r#where: row.when.conditions(),
            delay: row.delay,
            times: row.when.times,
            asked: *asked,
            hits: *hits,
            ..Self::default()
        })
    }
}

//! The cases: the failure of the wire, its commit point, and whether the app can know the result of its
//! call.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::exam::args::{Options, check_name};
use crate::cli::exam::learn::{Learned, Point};
use crate::cli::failure::Failure;

/// A failure of the wire.
pub(super) struct Case {
    /// Its name in reports.
    pub(super) name: &'static str,
    pub(super) acts: Acts,
    /// Whether the app cannot know if the call has happened.
    pub(super) unknown: bool,
}

/// The requests or deliveries on which it acts.
#[derive(Clone, Copy)]
pub(super) enum Acts {
    /// On the calls of a commit point: the fault, for that many calls from it on.
    Calls(fn(Duration) -> Value, u64),
    /// On deliveries of webhooks: the change.
    Hooks(fn(&Learned) -> Vec<Value>),
    /// On the reply of every commit point, so that the webhook comes first.
    EveryReply,
}

const fn call(name: &'static str, unknown: bool, fault: fn(Duration) -> Value) -> Case {
    Case { name, acts: Acts::Calls(fault, 1), unknown }
}

const fn hook(name: &'static str, rows: fn(&Learned) -> Vec<Value>) -> Case {
    Case { name, acts: Acts::Hooks(rows), unknown: false }
}

/// Every case, in the order of reports.
pub(super) const CASES: &[Case] = &[
    call("lost_reply", true, |_| json!({"lose": "reply"})),
    call("cut_before", true, |_| json!({"lose": "request"})),
    call("slow", true, |slow| json!({"latency": milliseconds(slow)})),
    call("503", true, |_| json!({"status": 503})),
    call("503_retry_after", true, |_| json!({"status": 503, "retry_after": "1s"})),
    call("503_after_commit", true, |_| json!({"status": 503, "after_commit": true})),
    call("429", false, |_| json!({"status": 429, "retry_after": "1s"})),
    call("truncated", true, |_| json!({"body": "truncated"})),
    Case { name: "outage", acts: Acts::Calls(|_| json!({"status": 503}), 4), unknown: true },
    hook("hook_duplicate", |_| vec![change("duplicate")]),
    hook("hook_late", |_| vec![with(change("delay"), "delay", json!("5m"))]),
    hook("hook_order", overtaken),
    hook("hook_signature", |_| vec![change("bad_signature")]),
    hook("hook_stale", |_| vec![change("stale_timestamp")]),
    Case { name: "hook_before_reply", acts: Acts::EveryReply, unknown: false },
];

/// A rule for the deliveries of all events.
fn change(shape: &str) -> Value {
    json!({"match": {"event": "*"}, "shape": shape})
}

/// For each resource, the second-last event is delivered after the last one.
fn overtaken(learned: &Learned) -> Vec<Value> {
    let rule = |(event, nth): &(String, u64)| json!({"match": {"event": event}, "shape": "reorder", "nth": nth});
    learned.overtaken.iter().map(rule).collect()
}

fn with(mut rule: Value, member: &str, value: Value) -> Value {
    rule[member] = value;
    rule
}

/// Refuses unknown names of cases, and cases of webhooks without a receiver.
pub(super) fn check(options: &Options) -> Result<(), Failure> {
    for name in &options.cases {
        check_name("--case", "case", name, CASES.iter().map(|case| case.name))?;
        if is_of_webhooks(name) && options.webhook.is_none() {
            return Err(Failure::Usage(format!("--case {name} needs --webhook URL")));
        }
    }
    Ok(())
}

/// Whether the case is about webhooks.
fn is_of_webhooks(name: &str) -> bool {
    let named = CASES.iter().find(|case| case.name == name);
    named.is_some_and(|case| !matches!(case.acts, Acts::Calls(..)))
}

/// As the control plane reads it.
fn milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

/// A case at a commit point.
pub(super) struct Planned<'a> {
    pub(super) case: &'static Case,
    /// None for a case of webhooks.
    pub(super) point: Option<&'a Point>,
}

impl Planned<'_> {
    /// The place of the fault, as reports name it.
    pub(super) fn at(&self) -> String {
        self.point.map_or_else(|| "webhooks".to_owned(), |point| point.name.clone())
    }

    /// The faults to add.
    pub(super) fn faults(&self, options: &Options, learned: &Learned) -> Vec<Value> {
        let row = |point: &Point, nth: Value, times: u64, fault: Value| {
            let mut row = fault;
            row["on"] = point.operation.as_str().into();
            row["nth"] = nth;
            row["times"] = times.into();
            row
        };
        match (self.case.acts, self.point) {
            (Acts::Calls(fault, times), Some(point)) => {
                let nth =
                    if times == 1 { json!(point.nth) } else { json!(format!("{}..", point.nth)) };
                vec![row(point, nth, times, fault(options.slow))]
            }
            (Acts::EveryReply, _) => {
                let late = || json!({"latency": "600ms"});
                let points = learned.points.iter();
                points.map(|point| row(point, json!(point.nth), 1, late())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The changes of deliveries to add.
    pub(super) fn shapes(&self, learned: &Learned) -> Vec<Value> {
        match self.case.acts {
            Acts::Hooks(rows) => rows(learned),
            _ => Vec::new(),
        }
    }
}

/// The cases to run, by commit point and then in the order of the table.
pub(super) fn plan<'a>(
    options: &Options,
    learned: &'a Learned,
) -> Result<Vec<Planned<'a>>, Failure> {
    let wanted = |case: &&Case| {
        options.cases.is_empty() || options.cases.iter().any(|name| name == case.name)
    };
    let on = |point: &&Point| options.on.is_empty() || options.on.contains(&point.operation);
    let of_calls =
        || CASES.iter().filter(wanted).filter(|case| matches!(case.acts, Acts::Calls(..)));
    let of_hooks = CASES.iter().filter(wanted).filter(|case| is_of_webhooks(case.name));
    let points = learned.points.iter().filter(on);
    let mut planned: Vec<Planned<'a>> = points
        .flat_map(|point| of_calls().map(move |case| Planned { case, point: Some(point) }))
        .collect();
    if learned.had_deliveries {
        planned.extend(of_hooks.map(|case| Planned { case, point: None }));
    }
    if planned.is_empty() {
        let made: Vec<&str> = learned.points.iter().map(|point| point.name.as_str()).collect();
        let hooks = if learned.had_deliveries { "" } else { ", and no webhook was delivered" };
        let why = format!(
            "no case is left to run: the commit points of the command are {}{hooks}",
            made.join(", ")
        );
        return Err(Failure::Usage(why));
    }
    Ok(planned)
}

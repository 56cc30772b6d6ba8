//! The rows that act: `[[outcome]]`, `[[webhook]]`, `[[fault]]`, `[[timeline]]`.

use std::borrow::Cow;

use serde_json::Value;

use crate::api;
use crate::api::control::faults::condition;
use crate::api::json::quoted;
use crate::api::resource_members::{kinds_of, named_by, subject_of};
use crate::model::decision::{Choice, Decision};
use crate::scenario::members::Refers;
use crate::scenario::reading::{At, Fields, Found, Reading, listed, meant};
use crate::scenario::vocabulary::vocabulary;
use crate::tester::fault::LONGEST_MS;
use crate::tester::outbox::shaping::MOST_COPIES;
use crate::value::{Diagnostic, Span};
use crate::world::script::{
    BodyFault, Fault, FaultRow, Lose, OutcomeRule, RailFault, Selector, Shaping, WebhookRow, When,
    check_rail,
};

/// Whether a choice takes an option.
type Takes = fn(&Choice) -> bool;

impl<'a> Reading<'a> {
    /// A duration of the wall clock, in milliseconds.
    pub(crate) fn wall(&mut self, row: &Fields<'a>, name: &str) -> Option<u64> {
        let span = self.spelt::<Span>(row, name)?;
        if let Span::Millis(ms) = span.value
            && let Some(ms) = u64::try_from(ms).ok().filter(|ms| *ms <= LONGEST_MS)
        {
            Some(ms)
        } else {
            let message = format!("`{name}` cannot be {}", self.text_at(&span.span));
            self.note(
                Diagnostic::new(span.span, message)
                    .expected("expected wall-clock time, at most \"5m\""),
            );
            None
        }
    }

    /// An `[[outcome]]`.
    pub(crate) fn outcome(&mut self, row: &Fields<'a>) -> Option<OutcomeRule> {
        let on = self.name(row, "on");
        let decision = on.as_ref().and_then(|on| Decision::find(on.value));
        let select = if let Some(decision) = decision {
            let kinds = kinds_of(decision);
            self.selectors(row.get("where"), &kinds, &[])
        } else {
            // The intended decision is unknown, so only the type of the table is checked.
            row.get("where").map(|found| self.entries("where", found));
            Vec::new()
        };
        let when = self.when(row, select);
        let then = self.text(row, "then");
        let choice = match (decision, &then) {
            (Some(decision), Some(then)) => self.choice(decision, then),
            _ => None,
        };
        let code = self.text(row, "code");
        let after = self.spelt::<Span>(row, "after");
        if let (Some(decision), Some(choice)) = (decision, choice) {
            self.carried(row, decision, choice);
        }
        if let Some(decision) = decision {
            let choice = choice.map_or("", |choice| choice.name);
            self.rail(row, (decision, choice), &when, code.as_ref());
        }
        Some(OutcomeRule {
            on: decision?.name.into(),
            when,
            then: Cow::Borrowed(choice?.name),
            code: code.map(|code| code.value.to_owned()),
            after: after.map(|after| after.value),
            source: self.place(&row.span),
        })
    }

    fn choice(&mut self, decision: &Decision, then: &At<&str>) -> Option<&'static Choice> {
        let found = Decision::find(decision.name).and_then(|known| known.choice(then.value));
        if found.is_none() {
            let known: Vec<String> =
                decision.choices.iter().map(|choice| choice.name.to_owned()).collect();
            let message = format!("{} cannot be {}", decision.name, quoted(then.value));
            let diagnostic = Diagnostic::new(then.span.clone(), message).expected("unknown choice");
            self.note(meant(diagnostic, then.value, &known));
        }
        found
    }

    /// Reports a rail that the decision's payments do not use, and a code that no payment of the row can have.
    fn rail(
        &mut self,
        row: &Fields<'a>,
        (decision, choice): (&Decision, &str),
        when: &When,
        code: Option<&At<&str>>,
    ) {
        match check_rail(decision, choice, &when.select, code.map(|code| code.value)) {
            Err(RailFault::Rail(detail)) => {
                let span = row.key_span("where").unwrap_or_else(|| row.span.clone());
                self.note(Diagnostic::new(span, "`payment_rail` is wrong").expected(detail));
            }
            Err(RailFault::Code(detail)) => {
                let code = code.expect("only a code can be wrong");
                let message = format!("`code` cannot be {}", quoted(code.value));
                self.note(Diagnostic::new(code.span.clone(), message).expected(detail));
            }
            Ok(()) => {}
        }
    }

    /// Reports a code or a time for a choice that takes none.
    fn carried(&mut self, row: &Fields<'a>, decision: &Decision, choice: &Choice) {
        let takers = |takes: Takes| {
            listed(decision.choices.iter().filter(|&it| takes(it)).map(|it| it.name))
        };
        let cases: [(&str, bool, Takes); 2] = [
            ("code", choice.code.is_some(), |choice| choice.code.is_some()),
            ("after", choice.after.is_some(), |choice| choice.after.is_some()),
        ];
        for (key, taken, takes) in cases {
            let Some(span) = row.key_span(key).filter(|_| !taken) else {
                continue;
            };
            let takers = takers(takes);
            let help = if takers.is_empty() {
                format!("no choice of {} takes `{key}`", decision.name)
            } else {
                format!("these choices of {} take `{key}`: {takers}", decision.name)
            };
            let message = format!("{:?} takes no `{key}`", choice.name);
            self.note(Diagnostic::new(span, message).expected("has no meaning here").help(help));
        }
    }

    /// A `[[webhook]]`.
    pub(crate) fn webhook(&mut self, row: &Fields<'a>) -> Option<WebhookRow> {
        let on = self.name(row, "on");
        let select = match (&on, row.get("where")) {
            (_, None) => Vec::new(),
            (None, Some(found)) => {
                self.entries("where", found);
                Vec::new()
            }
            (Some(on), found) => {
                if let Some(kind) = subject_of(on.value) {
                    self.selectors(found, &[kind], &named_by(kind, api::product()))
                } else {
                    let span = row.key_span("where").unwrap_or_else(|| on.span.clone());
                    self.note(
                        Diagnostic::new(span, "`where` needs events of one resource")
                            .expected(format!(
                                "`on` is {}, which names no resource",
                                quoted(on.value)
                            ))
                            .help("name a type of event or all of a resource: \"payroll_run.*\""),
                    );
                    Vec::new()
                }
            }
        };
        let when = self.when(row, select);
        let shape = self.name(row, "do").and_then(|word| one_of::<Shaping>(word.value));
        let delay = self.spelt::<Span>(row, "delay");
        if let Some(shape) = shape {
            self.copies(row, shape, &when);
            let late = matches!(shape, Shaping::Duplicate | Shaping::Delay | Shaping::Reorder);
            if let (false, Some(span)) = (late, row.key_span("delay")) {
                self.note(
                    Diagnostic::new(span, "this row takes no `delay`")
                        .expected("has no meaning here")
                        .help("only `duplicate`, `delay` and `reorder` take one"),
                );
            }
            if shape == Shaping::Delay && row.key_span("delay").is_none() {
                self.note(
                    Diagnostic::new(row.span.clone(), "the length of the delay is missing")
                        .expected("`delay` is missing")
                        .help("add delay = \"5m\""),
                );
            }
        }
        Some(WebhookRow {
            on: on?.value.to_owned(),
            when,
            shape: shape?,
            delay: delay.map(|delay| delay.value),
            source: self.place(&row.span),
        })
    }

    /// Reports a duplicate with too many copies.
    fn copies(&mut self, row: &Fields<'a>, shape: Shaping, when: &When) {
        let times = when.times.filter(|times| shape == Shaping::Duplicate && *times > MOST_COPIES);
        if let (Some(times), Some(found)) = (times, row.get("times")) {
            self.note(
                Diagnostic::new(found.span(), format!("`times` cannot be {times}"))
                    .expected(format!("expected at most {MOST_COPIES} copies"))
                    .help("`times` of a `duplicate` is the number of its additional copies"),
            );
        }
    }

    /// Reports an unknown event type.
    pub(crate) fn is_event(&mut self, name: &At<&str>) -> bool {
        let known = vocabulary().events.contains(name.value);
        if !known {
            let message = format!("there is no event {}", quoted(name.value));
            let all: Vec<String> = vocabulary().events.iter().cloned().collect();
            self.unknown_name(name.span.clone(), message, name.value, &all);
        }
        known
    }

    /// A `[[fault]]`.
    pub(crate) fn fault(&mut self, row: &Fields<'a>) -> Option<FaultRow> {
        let on = self.name(row, "on");
        let select = self.conditions(row.get("where"), on.as_ref());
        let when = self.when(row, select);
        let status = self.count(row, "status");
        let fault = Fault {
            status: status.and_then(|status| status.value.try_into().ok()),
            after_commit: self.truth(row, "after_commit").is_some_and(|it| it.value),
            retry_after: self.spelt::<Span>(row, "retry_after").map(|it| it.value),
            latency_ms: self.wall(row, "latency"),
            lose: self.name(row, "lose").and_then(|it| one_of::<Lose>(it.value)),
            body: self.name(row, "body").and_then(|it| one_of::<BodyFault>(it.value)),
        };
        let whole = "a lost exchange has no reply to change";
        self.contradiction(row, "lose", "status", whole);
        self.contradiction(row, "lose", "body", whole);
        self.contradiction(row, "lose", "latency", whole);
        let spoilt = "the body of a refusal cannot be damaged: use two rows, one with nth = 1, one with nth = 2";
        self.contradiction(row, "status", "body", spoilt);
        let has = |key: &str| row.key_span(key);
        for key in ["retry_after", "after_commit"] {
            if let (Some(span), None) = (has(key), has("status")) {
                self.note(
                    Diagnostic::new(span, format!("`{key}` is part of a refusal"))
                        .expected("needs `status`")
                        .help("add status = 503"),
                );
            }
        }
        let acts = ["status", "latency", "lose", "body"];
        if acts.iter().all(|key| has(key).is_none()) {
            self.note(
                Diagnostic::new(row.span.clone(), "this fault does nothing")
                    .expected("one of `status`, `latency`, `lose`, `body` is missing")
                    .help("add a fault: status = 503"),
            );
        }
        Some(FaultRow { on: on?.value.to_owned(), when, fault, source: self.place(&row.span) })
    }
}

impl<'a> Reading<'a> {
    /// The conditions of a fault on members of the call.
    fn conditions(&mut self, found: Option<Found<'a>>, on: Option<&At<&str>>) -> Vec<Selector> {
        let Some(entries) = found.and_then(|found| self.entries("where", found)) else {
            return Vec::new();
        };
        // The intended operation is unknown, so only the type of the table is checked.
        let Some(on) = on else { return Vec::new() };
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let operations: Vec<_> = api::product().chain(api::control()).collect();
        let mut selectors = Vec::new();
        for (key, value) in entries {
            let name: &str = key.get_ref();
            let wanted = self.json(value, Refers::ToKinds);
            match condition(on.value, name, &wanted, &operations) {
                Ok(selector) => selectors.push(selector),
                Err((code, expected)) => {
                    let is_name = code == "unknown";
                    let span = if is_name { key.span() } else { value.span() };
                    let message = if is_name {
                        format!("`where` has no member {}", quoted(name))
                    } else {
                        format!("`{name}` cannot be {}", self.text_at(&span))
                    };
                    self.note(Diagnostic::new(span, message).expected(expected));
                }
            }
        }
        selectors
    }
}

/// The variant of this word, by its serialised form.
fn one_of<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Value::from(word)).ok()
}

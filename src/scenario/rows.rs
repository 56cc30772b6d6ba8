//! The rows that act: `[[outcome]]`, `[[webhook]]`, `[[fault]]`, `[[timeline]]`.

use std::borrow::Cow;

use serde_json::Value;
use toml::de::DeValue;

use crate::api::json::quoted;
use crate::model::Kind;
use crate::model::decision::{Choice, Decision};
use crate::scenario::form::Spelling;
use crate::scenario::members::Refers;
use crate::scenario::reading::{At, Fields, Found, Reading, listed, meant};
use crate::scenario::select::named_by;
use crate::scenario::vocabulary::vocabulary;
use crate::value::{Diagnostic, Span, Timestamp};
use crate::world::script::{
    BodyFault, Deed, Fault, FaultRow, Lose, Moment, OutcomeRule, Range, Selector, Shaping,
    TimelineRow, WebhookRow, When,
};

/// The longest delay of a reply. A longer one would test a client's patience, not its code.
const LONGEST_LATENCY_MS: i64 = 5 * 60 * 1_000;

/// Whether a choice takes an option.
type Takes = fn(&Choice) -> bool;

impl<'a> Reading<'a> {
    /// How often a row acts.
    fn when(&mut self, row: &Fields<'a>, select: Vec<Selector>) -> When {
        let nth = row.get("nth").map_or_else(Vec::new, |found| self.places(found));
        let times = self.count(row, "times").map(|times| times.value);
        let chance_ppm = row.get("chance").and_then(|found| self.chance(found));
        if chance_ppm == Some(0)
            && let Some(span) = row.key_span("chance")
        {
            self.note(
                Diagnostic::new(span, "this row can never match")
                    .expected("a chance of 0")
                    .warning(),
            );
        }
        When { select, nth, times, chance_ppm }
    }

    /// `1`, `[1, 2]`, `"2.."`, `"2..4"`.
    fn places(&mut self, found: Found<'a>) -> Vec<Range> {
        let one = |place: At<u64>| Range { first: place.value, last: Some(place.value) };
        match found.get_ref() {
            DeValue::Integer(_) => {
                let place = self.count_of("nth", found, 1, u64::MAX);
                place.map(one).into_iter().collect()
            }
            DeValue::Array(places) if places.is_empty() => {
                self.wrong_type("nth", found, "at least one position");
                Vec::new()
            }
            DeValue::Array(places) => places
                .iter()
                .filter_map(|place| self.count_of("nth", place, 1, u64::MAX).map(one))
                .collect(),
            DeValue::String(text) => {
                let range = range(text);
                if range.is_none() {
                    let text = At { value: text.as_ref(), span: found.span() };
                    self.misspelt("nth", &text, Spelling::Places.expected());
                }
                range.into_iter().collect()
            }
            _ => {
                self.wrong_type("nth", found, "a number, a list of them, or a text");
                Vec::new()
            }
        }
    }

    /// A share of cases, read exactly from its digits.
    fn chance(&mut self, found: Found<'a>) -> Option<u32> {
        let text = match found.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => {
                self.wrong_type("chance", found, "a number from 0 to 1");
                return None;
            }
        };
        let chance = millionths(text);
        if chance.is_none() {
            let message = format!("`chance` cannot be {text}");
            self.note(
                Diagnostic::new(found.span(), message)
                    .expected("expected a number from 0 to 1 with at most six decimals"),
            );
        }
        chance
    }

    /// A duration of the wall clock, in milliseconds.
    pub(crate) fn wall(&mut self, row: &Fields<'a>, name: &str) -> Option<u64> {
        let span = self.spelt::<Span>(row, name)?;
        if let Span::Millis(ms @ 0..=LONGEST_LATENCY_MS) = span.value {
            ms.try_into().ok()
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
        let code = code.filter(|code| self.is_return_code(code));
        let after = self.spelt::<Span>(row, "after");
        if let (Some(decision), Some(choice)) = (decision, choice) {
            self.carried(row, decision, choice);
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

    fn is_return_code(&mut self, code: &At<&str>) -> bool {
        let digits = code.value.strip_prefix('R').filter(|digits| digits.len() == 2);
        let number = digits.and_then(|digits| digits.parse::<u8>().ok());
        let known = number.is_some_and(|number| (1..=85).contains(&number));
        if !known {
            self.misspelt("code", code, Spelling::ReturnCode.expected());
        }
        known
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
                    self.selectors(found, &[kind], &named_by(kind))
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

    /// Reports an unknown event type.
    pub(crate) fn is_event(&mut self, name: &At<&str>) -> bool {
        let known = vocabulary().events.contains(name.value);
        if !known {
            let message = format!("there is no event {}", quoted(name.value));
            let all: Vec<String> = vocabulary().events.iter().cloned().collect();
            self.stranger(name.span.clone(), message, name.value, &all);
        }
        known
    }

    /// A `[[fault]]`.
    pub(crate) fn fault(&mut self, row: &Fields<'a>) -> Option<FaultRow> {
        let on = self.name(row, "on");
        let when = self.when(row, Vec::new());
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

    /// A `[[timeline]]` row of a world with this start.
    pub(crate) fn timeline(
        &mut self,
        row: &Fields<'a>,
        start: Option<Timestamp>,
    ) -> Option<TimelineRow> {
        let at = self.moment(row, start);
        let does = self.deed(row);
        Some(TimelineRow { at: at?, does: does?, source: self.place(&row.span) })
    }

    fn moment(&mut self, row: &Fields<'a>, start: Option<Timestamp>) -> Option<Moment> {
        let after = self.text(row, "after");
        let event = after.map(|name| (self.is_event(&name), name));
        let at = self.spelt::<Offset>(row, "at");
        let asked = row.key_span("at").is_some();
        match (at, event) {
            (None, None) if asked => None,
            (None, None) => {
                if row.key_span("after").is_none() {
                    self.note(
                        Diagnostic::new(row.span.clone(), "the time of this row is missing")
                            .expected("`at` or `after` is missing")
                            .help("add at = \"+3d\" or after = \"payroll_run.paid\""),
                    );
                }
                None
            }
            (Some(at), None) => match at.value {
                Offset::In(span) => Some(Moment::In(span)),
                Offset::At(instant) => {
                    if start.is_some_and(|start| instant < start) {
                        let start = start.map(|it| it.to_string()).unwrap_or_default();
                        self.note(
                            Diagnostic::new(at.span, "this is before the start of the world")
                                .expected(format!("expected an instant from {start}")),
                        );
                    }
                    Some(Moment::At(instant))
                }
            },
            (None, Some((known, event))) => (known && !asked)
                .then(|| Moment::After { event: event.value.to_owned(), delay: Span::Millis(0) }),
            (Some(at), Some((known, event))) => match at.value {
                Offset::In(delay) => {
                    known.then(|| Moment::After { event: event.value.to_owned(), delay })
                }
                Offset::At(_) => {
                    let why = "with `after`, `at` must be a duration after the event: at = \"+3d\"";
                    self.contradiction(row, "after", "at", why);
                    None
                }
            },
        }
    }

    fn deed(&mut self, row: &Fields<'a>) -> Option<Deed> {
        let call = self.name(row, "call");
        let inbound = self.name(row, "inbound");
        self.contradiction(row, "call", "inbound", "write two rows");
        let with = self.members("with", row.get("with"), Refers::ToKinds);
        let head = row.span.clone();
        match (call, inbound) {
            (Some(call), None) => {
                let callable = vocabulary().operations.get(call.value)?;
                self.check_input(call.value, callable, row.get("with"), call.span, &with);
                Some(Deed::Call { operation: call.value.to_owned(), with })
            }
            (None, Some(inbound)) => {
                let callable = vocabulary().inbound.get(inbound.value)?;
                let mut input = with.clone();
                // If one row serves every kind, the kind is in its path.
                for member in callable.operation.path_parameters() {
                    input[member] = Value::from(inbound.value);
                }
                let name = format!("inbound {}", inbound.value);
                self.check_input(&name, callable, row.get("with"), inbound.span, &input);
                Some(Deed::Inbound { kind: inbound.value.to_owned(), with })
            }
            _ => {
                if row.key_span("call").or_else(|| row.key_span("inbound")).is_none() {
                    self.note(
                        Diagnostic::new(head, "this row does nothing")
                            .expected("`call` or `inbound` is missing"),
                    );
                }
                None
            }
        }
    }
}

/// The resources that a selector of this decision may use.
fn kinds_of(decision: &Decision) -> Vec<Kind> {
    [decision.subject].into_iter().chain(decision.related.iter().copied()).collect()
}

/// The resources of events of this type.
fn subject_of(on: &str) -> Option<Kind> {
    let resource = on.split_once('.')?.0;
    Kind::ALL.iter().find(|kind| kind.name() == resource).copied()
}

/// The variant of this word, by its serialised form.
fn one_of<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(Value::from(word)).ok()
}

/// `2..` or `2..4`.
fn range(text: &str) -> Option<Range> {
    let number = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<u64>().ok()).flatten().filter(|&it| it > 0)
    };
    let (first, last) = text.split_once("..")?;
    let first = number(first)?;
    if last.is_empty() {
        return Some(Range { first, last: None });
    }
    let last = number(last).filter(|&last| last >= first)?;
    Some(Range { first, last: Some(last) })
}

/// Millionths of a decimal from 0 to 1, exact.
fn millionths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) {
        return None;
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > 6 {
        return None;
    }
    let whole: u32 = whole.parse().ok().filter(|&whole| whole <= 1)?;
    let part: u32 = format!("{decimals:0<6}").parse().ok()?;
    let sum = whole * 1_000_000 + part;
    (sum <= 1_000_000).then_some(sum)
}

/// `+3d` or an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    In(Span),
    At(Timestamp),
}

impl core::str::FromStr for Offset {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = Spelling::Moment.expected();
        match text.strip_prefix('+') {
            Some(span) => span.parse().map(Self::In).map_err(|_| EXPECTED),
            None => text.parse().map(Self::At).map_err(|_| EXPECTED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_exact() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1", Some(1_000_000)),
            ("1.0", Some(1_000_000)),
            ("0.1", Some(100_000)),
            ("0.000001", Some(1)),
            ("0.1000000000", Some(100_000)),
            ("0.0000001", None),
            ("1.000001", None),
            ("2", None),
            ("-0.1", None),
            ("1e-3", None),
            ("inf", None),
            (".5", None),
        ] {
            assert_eq!(millionths(text), expected, "{text}");
        }
    }

    #[test]
    fn ranges_are_read() {
        let of = |first, last| Some(Range { first, last });
        assert_eq!(range("2.."), of(2, None));
        assert_eq!(range("2..4"), of(2, Some(4)));
        assert_eq!(range("4..4"), of(4, Some(4)));
        for text in ["", "..", "..4", "0..", "4..2", "2...4", "a..b", "+2..", "2"] {
            assert_eq!(range(text), None, "{text}");
        }
    }
}

//! `[[timeline]]`: calls at set times.

use crate::api::json::quoted;
use crate::api::scripted::can_act;
use crate::scenario::form::Spelling;
use crate::scenario::members::Refers;
use crate::scenario::reading::{Fields, Reading};
use crate::scenario::vocabulary::vocabulary;
use crate::value::{Diagnostic, Span, Timestamp};
use crate::world::script::{Moment, TimelineAction, TimelineRow};

/// The shortest interval of a repeating row. It limits the number of runs when a world advances by years.
const SHORTEST_MS: i64 = 60_000;

impl<'a> Reading<'a> {
    /// A `[[timeline]]` row of a world with this start.
    pub(crate) fn timeline(
        &mut self,
        row: &Fields<'a>,
        start: Option<Timestamp>,
    ) -> Option<TimelineRow> {
        let at = self.moment(row, start);
        let every = self.interval(row);
        let does = self.action(row);
        Some(TimelineRow { at: at?, every: every?, does: does?, source: self.place(&row.span) })
    }

    /// The interval of a row that repeats. The outer value is none if it is wrong.
    #[expect(clippy::option_option, reason = "a wrong value is not an absent one")]
    fn interval(&mut self, row: &Fields<'a>) -> Option<Option<Span>> {
        if row.key_span("every").is_none() {
            return Some(None);
        }
        let every = self.spelt::<Span>(row, "every")?;
        let is_short = match every.value {
            Span::Millis(length) => length < SHORTEST_MS,
            Span::BusinessDays(days) => days == 0,
        };
        if is_short {
            self.note(
                Diagnostic::new(every.span, "this interval is too short")
                    .expected("expected at least a minute, such as \"30m\""),
            );
            return None;
        }
        Some(Some(every.value))
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

    fn action(&mut self, row: &Fields<'a>) -> Option<TimelineAction> {
        let call = self.name(row, "call");
        let inbound = self.name(row, "inbound");
        self.contradiction(row, "call", "inbound", "write two rows");
        let with = self.members("with", row.get("with"), Refers::ToKinds);
        let head = row.span.clone();
        match (call, inbound) {
            (Some(call), None) => {
                let callable = vocabulary().operations.get(call.value)?;
                if !can_act(callable.operation) {
                    let message = format!("{} does not change the world", quoted(call.value));
                    self.note(
                        Diagnostic::new(call.span, message).expected(
                            "expected an operation of the product that changes the world",
                        ),
                    );
                    return None;
                }
                self.check_input(call.value, callable, row.get("with"), call.span, &with);
                Some(TimelineAction::Call { operation: call.value.to_owned(), with })
            }
            (None, Some(inbound)) => {
                let callable = vocabulary().inbound.get(inbound.value)?;
                let name = format!("inbound {}", inbound.value);
                self.check_input(&name, callable, row.get("with"), inbound.span, &with);
                Some(TimelineAction::Inbound { kind: inbound.value.to_owned(), with })
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

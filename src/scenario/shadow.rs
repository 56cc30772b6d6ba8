//! Warns of rows that can never match, because an earlier row of the same file matches all of their cases. If both have the same conditions
//! and different values, that is a mistake.

use core::ops::Range as Bytes;

use crate::scenario::file::Placed;
use crate::scenario::reading::Reading;
use crate::scenario::vocabulary::vocabulary;
use crate::value::Diagnostic;
use crate::world::script::{FaultRow, OutcomeRule, Range, Selector, WebhookRow, When};

/// The most earlier rows that a row is compared with; a file written by hand has fewer.
const MOST_COMPARED: usize = 1_000;

/// A row with an `on`.
pub(crate) trait Acts {
    fn on(&self) -> &str;
    fn when(&self) -> &When;

    /// Whether it matches every name that the other row matches.
    fn covers(&self, other: &Self) -> bool {
        covers_name(self.on(), other.on())
    }

    /// The value by which two rows about the same subject contradict each other.
    fn choice(&self) -> Option<&str> {
        None
    }
}

impl Acts for OutcomeRule {
    fn choice(&self) -> Option<&str> {
        Some(&self.then)
    }

    fn on(&self) -> &str {
        &self.on
    }

    fn when(&self) -> &When {
        &self.when
    }
}

impl Acts for WebhookRow {
    fn on(&self) -> &str {
        &self.on
    }

    fn when(&self) -> &When {
        &self.when
    }
}

impl Acts for FaultRow {
    fn covers(&self, other: &Self) -> bool {
        let of_domain = |name| vocabulary().is_of_domain(other.on(), name);
        covers_name(self.on(), other.on()) || self.on().strip_suffix(".*").is_some_and(of_domain)
    }

    fn on(&self) -> &str {
        &self.on
    }

    fn when(&self) -> &When {
        &self.when
    }
}

impl Reading<'_> {
    /// Warns of rows that can never match, or match less often than they state.
    pub(crate) fn shadowed<R: Acts>(&mut self, rows: &[Placed<R>]) {
        let mut greedy: Vec<&Placed<R>> = Vec::new();
        for placed in rows.iter().filter(|placed| placed.sound) {
            let (row, span) = (&placed.row, &placed.span);
            if let Some(earlier) = greedy.iter().find(|earlier| takes_all(&earlier.row, row)) {
                let at = self.place(&earlier.span);
                if contradicts(&earlier.row, row) {
                    let choice = earlier.row.choice().unwrap_or_default();
                    self.note(
                        Diagnostic::new(span.clone(), "this row contradicts an earlier one")
                            .expected(format!(
                                "for the same subjects, the row at {at} has {choice:?}"
                            ))
                            .help("remove one of them, or add a different `nth` to each"),
                    );
                    continue;
                }
                self.note(
                    Diagnostic::new(span.clone(), "this row can never match")
                        .expected(format!("the row at {at} matches all of its cases first"))
                        .help("put the more specific row first, or restrict the earlier one")
                        .warning(),
                );
            }
            let when = row.when();
            self.beyond(when, span);
            if when.times.is_none() && when.chance_ppm.is_none() && greedy.len() < MOST_COMPARED {
                greedy.push(placed);
            }
        }
    }

    /// Positions of `nth` beyond the limit of `times`.
    fn beyond(&mut self, when: &When, span: &Bytes<usize>) {
        let (Some(times), false) = (when.times, when.nth.is_empty()) else {
            return;
        };
        let places = when.nth.iter().try_fold(0_u64, |sum, range| {
            let last = range.last?;
            sum.checked_add((last - range.first).checked_add(1)?)
        });
        if when.chance_ppm.is_none() && places.is_some_and(|places| places > times) {
            self.note(
                Diagnostic::new(span.clone(), "this row acts less often than its `nth` says")
                    .expected(format!("`times` stops it after {times}"))
                    .help("remove `times`: `nth` already limits the row")
                    .warning(),
            );
        }
    }
}

/// Whether two rows have the same subject and different values.
fn contradicts<R: Acts>(one: &R, other: &R) -> bool {
    let (before, after) = (one.when(), other.when());
    // The earlier row matches all cases of the later one, so as many selectors are the same selectors.
    let is_same = before.select.len() == after.select.len()
        && (&before.nth, before.times, before.chance_ppm)
            == (&after.nth, after.times, after.chance_ppm);
    one.on() == other.on() && is_same && one.choice() != other.choice()
}

/// Whether the earlier row acts whenever the later one could.
fn takes_all<R: Acts>(earlier: &R, later: &R) -> bool {
    let (one, other) = (earlier.when(), later.when());
    let narrower = |selector: &Selector| other.select.contains(selector);
    earlier.covers(later)
        && one.select.iter().all(narrower)
        && (one.nth.is_empty()
            || (earlier.on() == later.on()
                && one.select.len() == other.select.len()
                && !other.nth.is_empty()
                && other.nth.iter().all(|place| covers(&one.nth, place))))
}

/// Whether `one` matches every name that `other` matches.
fn covers_name(one: &str, other: &str) -> bool {
    let within = |group: &str| {
        let rest = other.strip_prefix(group);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    one == "*" || one == other || one.strip_suffix(".*").is_some_and(within)
}

/// Whether one of the ranges contains all of this one.
fn covers(ranges: &[Range], place: &Range) -> bool {
    ranges.iter().any(|range| {
        range.first <= place.first
            && match (range.last, place.last) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(last), Some(wanted)) => wanted <= last,
            }
    })
}

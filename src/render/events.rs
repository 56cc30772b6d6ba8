//! The catalogue of events: every name that a row may emit, with its causes.

use std::collections::BTreeMap;

use crate::api::operation::Operation;
use crate::api::system::events_of;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventKind {
    /// `payout.paid`.
    pub(crate) name: &'static str,
    /// The `operationId`s that may cause it, at once or later by the clock; in table order.
    pub(crate) caused_by: Vec<String>,
}

impl EventKind {
    /// The kind of its resource: `payout` of `payout.paid`.
    pub(crate) fn resource(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(resource, _)| resource)
    }
}

/// Every type of event that these rows may cause, by name.
pub(crate) fn catalogue<'a>(rows: impl IntoIterator<Item = &'a Operation>) -> Vec<EventKind> {
    let mut causes: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for row in rows {
        for name in events_of(row) {
            causes.entry(name).or_default().push(row.operation_id());
        }
    }
    causes.into_iter().map(|(name, caused_by)| EventKind { name, caused_by }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::BLANK;

    #[test]
    fn an_event_of_two_rows_is_one_entry_with_both_causes() {
        let rows = [
            Operation { name: "create_payout", emits: &["payout.created", "payout.paid"], ..BLANK },
            Operation { name: "run_payroll", emits: &["payout.created"], ..BLANK },
        ];
        let found = catalogue(&rows);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].name, "payout.created");
        assert_eq!(found[0].caused_by, ["createPayout", "runPayroll"]);
        assert_eq!(found[1].caused_by, ["createPayout"]);
        assert_eq!(found[1].resource(), "payout");
    }
}

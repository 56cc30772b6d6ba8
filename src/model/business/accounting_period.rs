//! A month or a year of a company's books that was closed: no entry can be dated in it until it is reopened.

use crate::model::JournalEntry;
use crate::model::prelude::*;

states! {
    /// Whether the books of the period are closed. A period that was never closed is open and has no resource.
    PeriodStatus { Closed "closed", Open "open" }
    "reopen": Closed => Open;
    "close": Open => Closed;
}

/// The length of an accounting period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AccountingPeriodType")]
pub(crate) enum PeriodType {
    Month,
    /// A calendar year. Closing it moves its result to retained earnings.
    Year,
}

resource! {
    /// A month or a year of a company's books that was closed.
    AccountingPeriod: PeriodStatus {
        /// The company that owns the books.
        company_id: Id<Company>,
        /// The length of the period.
        #[serde(rename = "type")]
        kind: PeriodType,
        /// Current status.
        status: PeriodStatus,
        /// The first day of the period.
        first_day: Date,
        /// The last day of the period.
        last_day: Date,
        /// The journal entries that moved the result of a closed year to retained earnings: one for each currency with a result. Empty for a
        /// month, and after a year is reopened.
        closing_entry_ids: Vec<Id<JournalEntry>>,
    }
}

impl AccountingPeriod {
    /// Whether no entry can be dated on that day.
    pub(crate) fn closes(&self, day: Date) -> bool {
        self.status == PeriodStatus::Closed && (self.first_day..=self.last_day).contains(&day)
    }

    /// Whether it is a closed year.
    pub(crate) fn is_closed_year(&self) -> bool {
        self.kind == PeriodType::Year && self.status == PeriodStatus::Closed
    }
}

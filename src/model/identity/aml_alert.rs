//! An alert: something that somebody has to look at before more money moves.

use crate::model::business::Employee;
use crate::model::identity::{AmlScreening, Subject};
use crate::model::prelude::*;

states! {
    /// Where an alert stands.
    AlertStatus { Open "open", Escalated "escalated", Dismissed "dismissed", Confirmed "confirmed" }
    "escalate": Open => Escalated;
    "dismiss": Open | Escalated => Dismissed;
    "confirm": Open | Escalated => Confirmed;
}

/// How bad it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Low,
    Medium,
    High,
}

/// What opened an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AlertRule {
    /// A list may have the subject.
    WatchlistHit,
    /// Several amounts, each just below the reporting threshold.
    Structuring,
    /// Many transactions in little time.
    Velocity,
    /// An amount far beyond the usual.
    SuddenChange,
    /// Money to a country where most of it is not safe.
    HighRiskCorridor,
}

/// Something that somebody has to look at before more money moves.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AmlAlert {
    /// The alert's id.
    pub(crate) id: Id<AmlAlert>,
    /// Always `aml_alert`.
    pub(crate) object: Object<AmlAlert>,
    /// Whose payouts it may freeze; null where the subject has no company.
    pub(crate) company_id: Option<Id<Company>>,
    /// Whom it is about; null where the company's money is the reason and no business subject of it is known.
    pub(crate) subject_id: Option<Id<Subject>>,
    /// The employee that the subject is: only their payouts freeze.
    pub(crate) employee_id: Option<Id<Employee>>,
    /// The screening that opened it; null where monitoring did.
    pub(crate) screening_id: Option<Id<AmlScreening>>,
    /// What opened it.
    pub(crate) rule: AlertRule,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// Where it stands: a `confirmed` one freezes payouts.
    pub(crate) status: AlertStatus,
    /// What was found, in a sentence.
    pub(crate) detail: String,
    /// Money in question, in minor units; null where none moved.
    pub(crate) amount: Option<i64>,
    /// Its currency.
    pub(crate) currency: Option<Currency>,
    /// The payouts or collections that it is about.
    pub(crate) resources: Vec<AnyId>,
    /// What whoever resolved it said.
    pub(crate) note: Option<String>,
    /// When it was dismissed or confirmed, in virtual time.
    pub(crate) resolved_at: Option<Timestamp>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Always empty.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<AlertStatus>>,
}

impl AmlAlert {
    /// Alerts stand below the company whose payouts they freeze; those without one below their subject.
    pub(crate) fn parent_bits(&self) -> u64 {
        let company = self.company_id.map(Id::bits);
        company.or(self.subject_id.map(Id::bits)).unwrap_or(0)
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }
}

stateful!(AmlAlert: AlertStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_alert_can_be_reached() {
        crate::model::lifecycle::assert_sound(AlertStatus::Open);
    }
}

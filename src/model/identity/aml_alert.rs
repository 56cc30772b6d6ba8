//! A finding of a screening or of monitoring that requires a review.

use crate::model::business::Employee;
use crate::model::identity::{AmlScreening, Subject};
use crate::model::prelude::*;

states! {
    /// Status of an alert.
    AlertStatus { Open "open", Escalated "escalated", Dismissed "dismissed", Confirmed "confirmed" }
    "escalate": Open => Escalated;
    "dismiss": Open | Escalated => Dismissed;
    "confirm": Open | Escalated => Confirmed;
}

/// The severity of an alert.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Low,
    Medium,
    High,
}

/// The rule that opened an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AlertRule {
    /// A watchlist may contain the subject.
    WatchlistHit,
    /// Several amounts, each just below the reporting threshold.
    Structuring,
    /// Many transactions in a short time.
    Velocity,
    /// An amount far above the usual.
    SuddenChange,
    /// Money to a high-risk country.
    HighRiskCorridor,
}

/// A finding of a screening or of monitoring that requires a review. Only a confirmed alert freezes payouts.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AmlAlert {
    /// The alert's id.
    pub(crate) id: Id<AmlAlert>,
    /// Always `aml_alert`.
    pub(crate) object: Object<AmlAlert>,
    /// The company whose payouts it may freeze, or null if the subject belongs to no company.
    pub(crate) company_id: Option<Id<Company>>,
    /// The subject. Null if the alert is about the company's money and the company has no known business subject.
    pub(crate) subject_id: Option<Id<Subject>>,
    /// The subject's employee. Then only payouts to this employee are frozen.
    pub(crate) employee_id: Option<Id<Employee>>,
    /// The screening that opened the alert; null if monitoring opened it.
    pub(crate) screening_id: Option<Id<AmlScreening>>,
    /// The rule that opened the alert.
    pub(crate) rule: AlertRule,
    /// The severity of an alert.
    pub(crate) severity: Severity,
    /// Current status: a `confirmed` alert freezes payouts.
    pub(crate) status: AlertStatus,
    /// Description of the finding in one sentence.
    pub(crate) detail: String,
    /// The amount in question, in minor units; null if no money moved.
    pub(crate) amount: Option<i64>,
    /// The currency of the amount; null if no money moved.
    pub(crate) currency: Option<Currency>,
    /// The payouts or collections concerned.
    pub(crate) resources: Vec<AnyId>,
    /// The note given when the alert was resolved.
    pub(crate) note: Option<String>,
    /// When the alert was dismissed or confirmed, in virtual time.
    pub(crate) resolved_at: Option<Timestamp>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Always empty: monitoring and screenings create alerts.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: StatusHistory<AlertStatus>,
}

impl AmlAlert {
    /// The parent of an alert is the company whose payouts it freezes, or its subject if there is no company.
    pub(crate) fn parent_bits(&self) -> u64 {
        let company = self.company_id.map(Id::bits);
        company.or(self.subject_id.map(Id::bits)).unwrap_or(0)
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }
}

stateful!(AmlAlert: AlertStatus);

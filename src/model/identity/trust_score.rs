//! A trust score: how trustworthy a subject is, calculated from past events.

use crate::model::identity::Subject;
use crate::model::prelude::*;

states! {
    /// Status of a score.
    TrustStatus { Processing "processing", Completed "completed" }
    "complete": Processing => Completed;
}

/// The purpose of a score. It determines the weight of each factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrustContext {
    #[default]
    Onboarding,
    Payout,
    Credit,
}

impl TrustContext {
    /// Every context.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 3] = [Self::Onboarding, Self::Payout, Self::Credit];
}

/// The band of a score.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrustBand {
    VeryLow,
    Low,
    Medium,
    High,
    VeryHigh,
}

/// A factor of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrustFactorName {
    /// The verification of the subject.
    Kyc,
    /// Results of screening and monitoring.
    Aml,
    /// The company's payouts of the last 90 days: the share of `paid` ones among the `paid`, `failed` and `returned` ones.
    Payments,
    /// The company's runs of 90 days: the share that paid every employee, among those that ended. For an employee: whether payroll is
    /// verified.
    Payroll,
    /// The completeness of the profile.
    Profile,
    /// Signals from the caller.
    Signals,
}

impl TrustFactorName {
    /// Every factor, in display order.
    pub(crate) const ALL: [Self; 6] =
        [Self::Kyc, Self::Aml, Self::Payments, Self::Payroll, Self::Profile, Self::Signals];
}

/// One part of a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TrustReason {
    /// The name of the factor.
    pub(crate) factor: TrustFactorName,
    /// Maximum points of the factor in this context.
    pub(crate) weight: i32,
    /// The percentage of the weight that is reached.
    #[schemars(range(min = 0, max = 100))]
    pub(crate) percent: i32,
    /// `weight` times `percent`, rounded down. The score is the sum of all points.
    pub(crate) points: i32,
    /// The reason in one sentence.
    pub(crate) detail: String,
}

/// What the caller knows about the subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrustSignals {
    /// Whether the e-mail address was confirmed.
    pub(crate) email_verified: Option<bool>,
    /// Whether the telephone number was confirmed.
    pub(crate) phone_verified: Option<bool>,
    /// Whether the device has been seen before.
    pub(crate) device_known: Option<bool>,
}

resource! {
    /// How trustworthy a subject is.
    TrustScore: TrustStatus {
        /// The subject's company, or null if it has none.
        company_id: Option<Id<Company>>,
        /// The subject that is scored.
        subject_id: Id<Subject>,
        /// The purpose of the score.
        context: TrustContext,
        /// The signals given by the caller.
        signals: TrustSignals,
        /// Current status.
        status: TrustStatus,
        /// Score from 0 to 1000; a higher score means a lower risk. Null until completed.
        #[schemars(range(min = 0, max = 1000))]
        score: Option<i32>,
        /// The band of the score; null until completed.
        band: Option<TrustBand>,
        /// The parts of the score. Their sum is the score.
        reasons: Vec<TrustReason>,
        /// The previous score in the same context, if any.
        previous_score: Option<i32>,
    }
}

impl TrustScore {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }
}

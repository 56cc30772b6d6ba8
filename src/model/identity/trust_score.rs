//! A trust score: how far somebody is to be trusted, as a fold of what has happened.

use crate::model::identity::Subject;
use crate::model::prelude::*;

states! {
    /// Where a score stands.
    TrustStatus { Processing "processing", Completed "completed" }
    "complete": Processing => Completed;
}

/// What the score is for: it says how much each factor weighs.
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

/// How high a score is.
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

/// What a score looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TrustFactorName {
    /// How well it is known who they are.
    Kyc,
    /// What the lists and the monitoring say.
    Aml,
    /// Payouts of the company of 90 days that arrived, of those that arrived, failed or came back.
    Payments,
    /// Runs of the company of 90 days that paid everybody, of those that ended; of an employee, whether payroll is verified.
    Payroll,
    /// What is on record.
    Profile,
    /// What the caller says.
    Signals,
}

impl TrustFactorName {
    /// Every factor, in the order in which they are shown.
    pub(crate) const ALL: [Self; 6] =
        [Self::Kyc, Self::Aml, Self::Payments, Self::Payroll, Self::Profile, Self::Signals];
}

/// One part of a score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TrustReason {
    /// What was looked at.
    pub(crate) factor: TrustFactorName,
    /// What it counts at most in this context.
    pub(crate) weight: i32,
    /// How much of that it counts.
    #[schemars(range(min = 0, max = 100))]
    pub(crate) percent: i32,
    /// `weight` by `percent`, rounded down: all of them sum to the score.
    pub(crate) points: i32,
    /// Why, in a sentence.
    pub(crate) detail: String,
}

/// What a caller knows of somebody.
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

/// How far somebody is to be trusted.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TrustScore {
    /// The score's id.
    pub(crate) id: Id<TrustScore>,
    /// Always `trust_score`.
    pub(crate) object: Object<TrustScore>,
    /// The subject's company; null where it has none.
    pub(crate) company_id: Option<Id<Company>>,
    /// Who is scored.
    pub(crate) subject_id: Id<Subject>,
    /// What it is for.
    pub(crate) context: TrustContext,
    /// What the caller said.
    pub(crate) signals: TrustSignals,
    /// Where it stands.
    pub(crate) status: TrustStatus,
    /// 0 to 1000, higher is safer; null until it is completed.
    #[schemars(range(min = 0, max = 1000))]
    pub(crate) score: Option<i32>,
    /// Where it lies; null until it is completed.
    pub(crate) band: Option<TrustBand>,
    /// Its parts, which sum to it.
    pub(crate) reasons: Vec<TrustReason>,
    /// The score before it in the same context, where there is one.
    pub(crate) previous_score: Option<i32>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<TrustStatus>>,
}

impl TrustScore {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.subject_id.bits()
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }
}

stateful!(TrustScore: TrustStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_score_can_be_reached() {
        crate::model::lifecycle::assert_sound(TrustStatus::Processing);
    }
}

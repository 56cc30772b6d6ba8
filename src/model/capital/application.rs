//! An application for capital: what is asked for, and what the underwriter says to it.

use crate::model::capital::{CreditScore, Offer, Product};
use crate::model::prelude::*;

states! {
    /// Where an application stands.
    ApplicationStatus {
        Submitted "submitted", UnderReview "under_review", InformationRequested "information_requested",
        Approved "approved", Rejected "rejected", Withdrawn "withdrawn",
    }
    "review": Submitted | InformationRequested => UnderReview;
    "request_information": UnderReview => InformationRequested;
    "approve": UnderReview => Approved;
    "reject": UnderReview => Rejected;
    "withdraw": InformationRequested => Withdrawn;
}

/// What the underwriter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UnderwritingOutcome")]
pub(crate) enum ApplicationOutcome {
    Approved,
    Rejected,
    InformationRequested,
}

/// Why the underwriter says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UnderwritingReason")]
pub(crate) struct Reason {
    /// What it is.
    pub(crate) code: ReasonCode,
    /// The same in a sentence.
    pub(crate) detail: String,
}

/// Reasons of an underwriter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UnderwritingReasonCode")]
pub(crate) enum ReasonCode {
    /// The score and the capacity bear the loan.
    ScoreSufficient,
    /// The company may owe less than it asked for: the offer is smaller.
    AmountReduced,
    /// The score is below the least that is lent to.
    ScoreTooLow,
    /// There is too little to score.
    InsufficientData,
    /// The company was suspended or closed meanwhile.
    CompanyNotActive,
    /// A loan of the company defaulted.
    LoanDefaulted,
    /// A loan of the company is late.
    LoanLate,
    /// A tax or a return is overdue.
    OverdueFilings,
    /// What the company owes already is all that it may owe.
    NoCapacity,
    /// The underwriter said so, whatever the score.
    UnderwriterDecision,
    /// The underwriter wants a newer credit score.
    FreshScoreNeeded,
}

/// What was decided, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnderwritingDecision {
    /// What the underwriter said last.
    pub(crate) outcome: ApplicationOutcome,
    /// Why.
    pub(crate) reasons: Vec<Reason>,
    /// The score that was looked at: a fresh one.
    pub(crate) credit_score_id: Option<Id<CreditScore>>,
    /// When it was said, in virtual time.
    pub(crate) decided_at: Timestamp,
}

/// A company asks for capital.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Application {
    /// The application's id.
    pub(crate) id: Id<Application>,
    /// Always `application`.
    pub(crate) object: Object<Application>,
    /// Who asks.
    pub(crate) company_id: Id<Company>,
    /// Where it stands.
    pub(crate) status: ApplicationStatus,
    /// What is asked for.
    pub(crate) product: Product,
    /// Minor units that are asked for.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// Months over which it is paid back.
    pub(crate) term_months: u32,
    /// What it is for, in the caller's words.
    pub(crate) purpose: Option<String>,
    /// What the underwriter said last, and why; null until then.
    pub(crate) decision: Option<UnderwritingDecision>,
    /// The offer, once it is approved.
    pub(crate) offer_id: Option<Id<Offer>>,
    /// What is waited for where information was requested; it is withdrawn if nothing comes until `information_due_by`.
    pub(crate) information_requested: Vec<String>,
    /// Without the information by then it is withdrawn.
    pub(crate) information_due_by: Option<Timestamp>,
    /// When it was submitted, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<ApplicationStatus>>,
}

impl Application {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(Application: ApplicationStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_application_can_be_reached() {
        crate::model::lifecycle::assert_sound(ApplicationStatus::Submitted);
    }
}

//! A dispute: a payer's bank, or a party of an escrow, demands money back.

use crate::model::prelude::*;

states! {
    /// Status of a dispute from the company's view: `won` means that the company won.
    DisputeStatus {
        NeedsResponse "needs_response", UnderReview "under_review", Won "won", Lost "lost", Accepted "accepted",
    }
    "contest": NeedsResponse => UnderReview;
    "win": UnderReview => Won;
    "lose": NeedsResponse | UnderReview => Lost;
    "accept": NeedsResponse => Accepted;
}

/// The party that raised the dispute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RaisedBy {
    /// The payer of a collection, through the payer's bank.
    Payer,
    /// The buyer of an escrow.
    Buyer,
    /// The seller of an escrow.
    Seller,
}

resource! {
    /// A request of a payer or an escrow party to get money back.
    Dispute: DisputeStatus {
        /// The company whose money is disputed.
        company_id: Id<Company>,
        /// The disputed resource: a collection or an escrow.
        source: AnyId,
        /// Current status.
        status: DisputeStatus,
        /// Disputed amount, in minor units.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// Amount set aside when the dispute was opened, in minor units. It is less than `amount` if the wallet was short, and 0 for an escrow,
        /// which holds the money itself.
        withheld: i64,
        /// The reason given by the party that raised the dispute.
        reason: String,
        /// The party that raised the dispute.
        raised_by: RaisedBy,
        /// The company's evidence, by name.
        evidence: Metadata,
        /// The deadline for evidence. Without evidence by then, the dispute is lost.
        evidence_due_by: Timestamp,
        /// When the dispute was decided, in virtual time.
        resolved_at: Option<Timestamp>,
    }
}

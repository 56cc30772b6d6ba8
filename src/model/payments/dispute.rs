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

/// A demand for money back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Dispute {
    /// The dispute's id.
    pub(crate) id: Id<Dispute>,
    /// Always `dispute`.
    pub(crate) object: Object<Dispute>,
    /// The company whose money is disputed.
    pub(crate) company_id: Id<Company>,
    /// The disputed resource: a collection or an escrow.
    pub(crate) source: AnyId,
    /// Current status.
    pub(crate) status: DisputeStatus,
    /// Disputed amount, in minor units.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// Amount set aside when the dispute was opened, in minor units. It is less than `amount` if the wallet was short, and 0 for an escrow,
    /// which holds the money itself.
    pub(crate) withheld: i64,
    /// The reason given by the party that raised it.
    pub(crate) reason: String,
    /// The party that raised the dispute.
    pub(crate) raised_by: RaisedBy,
    /// The company's evidence, by name.
    pub(crate) evidence: Metadata,
    /// The deadline for evidence. Without evidence by then, the dispute is lost.
    pub(crate) evidence_due_by: Timestamp,
    /// When it was decided, in virtual time.
    pub(crate) resolved_at: Option<Timestamp>,
    /// When it was opened, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<DisputeStatus>>,
}

stateful!(Dispute: DisputeStatus);

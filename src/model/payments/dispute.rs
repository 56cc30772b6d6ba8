//! A dispute: a payer's bank, or a party of an escrow, wants the money back.

use crate::model::prelude::*;

states! {
    /// Where a dispute stands, as the company sees it: `won` is won by the company.
    DisputeStatus {
        NeedsResponse "needs_response", UnderReview "under_review", Won "won", Lost "lost", Accepted "accepted",
    }
    "contest": NeedsResponse => UnderReview;
    "win": UnderReview => Won;
    "lose": NeedsResponse | UnderReview => Lost;
    "accept": NeedsResponse => Accepted;
}

/// Who wants the money back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RaisedBy {
    /// The payer of a collection, by their bank.
    Payer,
    /// The one who put the money into an escrow.
    Buyer,
    /// The one whom an escrow would pay.
    Seller,
}

/// Somebody wants money back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Dispute {
    /// The dispute's id.
    pub(crate) id: Id<Dispute>,
    /// Always `dispute`.
    pub(crate) object: Object<Dispute>,
    /// The company whose money it is.
    pub(crate) company_id: Id<Company>,
    /// What is disputed: a collection or an escrow.
    pub(crate) source: AnyId,
    /// Where it stands.
    pub(crate) status: DisputeStatus,
    /// Minor units that are wanted back.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// Minor units that were set aside for it when it was opened: less than the amount where the wallet was short, and nothing of an
    /// escrow, which holds the money itself.
    pub(crate) withheld: i64,
    /// Why, in the words of who raised it.
    pub(crate) reason: String,
    /// Who wants the money back.
    pub(crate) raised_by: RaisedBy,
    /// What the company has to say against it, by name.
    pub(crate) evidence: Metadata,
    /// Without an answer by then it is lost.
    pub(crate) evidence_due_by: Timestamp,
    /// When it was decided, in virtual time.
    pub(crate) resolved_at: Option<Timestamp>,
    /// When it was opened, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<DisputeStatus>>,
}

impl Dispute {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(Dispute: DisputeStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_dispute_can_be_reached() {
        crate::model::lifecycle::assert_sound(DisputeStatus::NeedsResponse);
    }
}

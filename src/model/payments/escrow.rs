//! An escrow: a buyer's money that is held until what was agreed has happened.

use crate::model::payments::{Beneficiary, Dispute, Payout, Wallet};
use crate::model::prelude::*;

states! {
    /// Where an escrow stands.
    EscrowStatus {
        Created "created", Funded "funded", PartiallyReleased "partially_released", Released "released",
        Disputed "disputed", Refunded "refunded", Cancelled "cancelled", Expired "expired",
    }
    "fund": Created => Funded;
    "release_part": Funded | PartiallyReleased => PartiallyReleased;
    "release": Funded | PartiallyReleased => Released;
    "dispute": Funded | PartiallyReleased => Disputed;
    "refund": Funded | PartiallyReleased | Disputed => Refunded;
    "cancel": Created => Cancelled;
    "expire": Created => Expired;
    "decide": Disputed => Released;
}

/// A buyer's money that is held until what was agreed has happened.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Escrow {
    /// The escrow's id.
    pub(crate) id: Id<Escrow>,
    /// Always `escrow`.
    pub(crate) object: Object<Escrow>,
    /// The company that buys.
    pub(crate) company_id: Id<Company>,
    /// The wallet that funds it.
    pub(crate) buyer_wallet_id: Id<Wallet>,
    /// Who is paid when it is released.
    pub(crate) seller_beneficiary_id: Id<Beneficiary>,
    /// Where it stands.
    pub(crate) status: EscrowStatus,
    /// Minor units that were agreed.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// What of it is held now.
    pub(crate) held: i64,
    /// What of it went to the seller.
    pub(crate) released: i64,
    /// What of it went back to the buyer.
    pub(crate) refunded: i64,
    /// What was agreed, in words.
    pub(crate) conditions: Option<String>,
    /// The parts in which it is released; they sum to the amount. None where it is released as it comes.
    pub(crate) milestones: Vec<Milestone>,
    /// When what is held goes to the seller by itself.
    pub(crate) auto_release_at: Option<Timestamp>,
    /// When an escrow that nobody funded is over, and what another one holds goes back to the buyer.
    pub(crate) expires_at: Option<Timestamp>,
    /// The payout of the last release.
    pub(crate) payout_id: Option<Id<Payout>>,
    /// The dispute that froze it.
    pub(crate) dispute_id: Option<Id<Dispute>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<EscrowStatus>>,
}

/// One part of an escrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Milestone {
    /// Its id within the escrow: `milestone_1` …
    pub(crate) id: String,
    /// What has to have happened.
    pub(crate) name: String,
    /// Minor units.
    pub(crate) amount: i64,
    /// Whether it was released.
    pub(crate) status: MilestoneStatus,
    /// The payout that carried it.
    pub(crate) payout_id: Option<Id<Payout>>,
}

/// Whether a part was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MilestoneStatus {
    Pending,
    Released,
}

impl Escrow {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// Parts that are still to be released.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Milestone> {
        let pending = |part: &&Milestone| part.status == MilestoneStatus::Pending;
        self.milestones.iter().filter(pending)
    }
}

stateful!(Escrow: EscrowStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_escrow_can_be_reached() {
        crate::model::lifecycle::assert_sound(EscrowStatus::Created);
    }
}

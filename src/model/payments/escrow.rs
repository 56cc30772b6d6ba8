//! An escrow: a buyer's money that is held until the agreed conditions are met.

use crate::model::payments::{Beneficiary, Dispute, Payout, Wallet};
use crate::model::prelude::*;

states! {
    /// Status of an escrow.
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

resource! {
    /// A buyer's money that is held until the agreed conditions are met.
    Escrow: EscrowStatus {
        /// The buyer's company.
        company_id: Id<Company>,
        /// The wallet that funds the escrow.
        buyer_wallet_id: Id<Wallet>,
        /// The beneficiary that is paid on release.
        seller_beneficiary_id: Id<Beneficiary>,
        /// Current status.
        status: EscrowStatus,
        /// The agreed amount, in minor units.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// The amount held now, in minor units.
        held: i64,
        /// The amount paid to the seller, in minor units.
        released: i64,
        /// The amount refunded to the buyer, in minor units.
        refunded: i64,
        /// The agreed conditions, as free text.
        conditions: Option<String>,
        /// The parts in which it is released; their sum is the amount. Empty if releases may have any amount.
        milestones: Vec<Milestone>,
        /// When the held amount is released to the seller automatically.
        auto_release_at: Option<Timestamp>,
        /// When the escrow expires. An unfunded escrow then ends; an amount held goes back to the buyer.
        expires_at: Option<Timestamp>,
        /// The payout of the latest release.
        payout_id: Option<Id<Payout>>,
        /// The dispute that froze the escrow.
        dispute_id: Option<Id<Dispute>>,
    }
}

/// One part of an escrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Milestone {
    /// Id within the escrow: `milestone_1` …
    pub(crate) id: String,
    /// The condition for the release.
    pub(crate) name: String,
    /// Amount in minor units.
    pub(crate) amount: i64,
    /// Whether the milestone has been released.
    pub(crate) status: MilestoneStatus,
    /// The payout of this part.
    pub(crate) payout_id: Option<Id<Payout>>,
}

/// Whether a milestone has been released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MilestoneStatus {
    Pending,
    Released,
}

impl Escrow {
    /// Milestones that are not released yet.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Milestone> {
        let pending = |part: &&Milestone| part.status == MilestoneStatus::Pending;
        self.milestones.iter().filter(pending)
    }
}

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

/// A buyer's money that is held until the agreed conditions are met.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Escrow {
    /// The escrow's id.
    pub(crate) id: Id<Escrow>,
    /// Always `escrow`.
    pub(crate) object: Object<Escrow>,
    /// The buyer's company.
    pub(crate) company_id: Id<Company>,
    /// The wallet that funds it.
    pub(crate) buyer_wallet_id: Id<Wallet>,
    /// The beneficiary that is paid on release.
    pub(crate) seller_beneficiary_id: Id<Beneficiary>,
    /// Current status.
    pub(crate) status: EscrowStatus,
    /// The agreed amount, in minor units.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// The amount held now, in minor units.
    pub(crate) held: i64,
    /// The amount paid to the seller, in minor units.
    pub(crate) released: i64,
    /// The amount refunded to the buyer, in minor units.
    pub(crate) refunded: i64,
    /// The agreed conditions, as free text.
    pub(crate) conditions: Option<String>,
    /// The parts in which it is released; their sum is the amount. Empty if releases may have any amount.
    pub(crate) milestones: Vec<Milestone>,
    /// When the held amount is released to the seller automatically.
    pub(crate) auto_release_at: Option<Timestamp>,
    /// When the escrow expires. An unfunded escrow then ends; an amount held goes back to the buyer.
    pub(crate) expires_at: Option<Timestamp>,
    /// The payout of the latest release.
    pub(crate) payout_id: Option<Id<Payout>>,
    /// The dispute that froze it.
    pub(crate) dispute_id: Option<Id<Dispute>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<EscrowStatus>>,
}

/// One part of an escrow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Milestone {
    /// Id within the escrow: `milestone_1` …
    pub(crate) id: String,
    /// The condition for the release.
    pub(crate) name: String,
    /// Minor units.
    pub(crate) amount: i64,
    /// Whether it has been released.
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

stateful!(Escrow: EscrowStatus);

//! A wallet: a company's money in one currency. Its balances are folds of the ledger.

use crate::model::prelude::*;

states! {
    /// A wallet is there to be used, and stands.
    WalletStatus { Active "active" }
}

/// A company's money in one currency.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Wallet {
    /// The wallet's id.
    pub(crate) id: Id<Wallet>,
    /// Always `wallet`.
    pub(crate) object: Object<Wallet>,
    /// Whose money it is.
    pub(crate) company_id: Id<Company>,
    /// Always `active`.
    pub(crate) status: WalletStatus,
    /// Its currency.
    pub(crate) currency: Currency,
    /// Balances in minor units: a fold of the ledger, filled in when the wallet is shown.
    #[serde(flatten)]
    pub(crate) balances: Balances,
    /// When it was opened, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it was last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<WalletStatus>>,
}

/// What a wallet holds, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Balances {
    /// Free to spend (`cash_available`).
    pub(crate) available: i64,
    /// Collected and not yet settled (`collections_in_transit`).
    pub(crate) pending: i64,
    /// Set aside for funded payroll and disputes (`cash_reserved`).
    pub(crate) reserved: i64,
    /// Held for others (`escrow_held`).
    pub(crate) escrow: i64,
}

impl Wallet {
    /// A new one, with nothing in it.
    pub(crate) fn open(
        id: Id<Self>,
        company_id: Id<Company>,
        currency: Currency,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            object: Object::NAME,
            company_id,
            status: WalletStatus::Active,
            currency,
            balances: Balances::default(),
            created_at: now,
            updated_at: now,
            metadata: Metadata::default(),
            status_history: vec![StatusChange::plain(WalletStatus::Active, now)],
        }
    }

    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

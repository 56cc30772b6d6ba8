//! A wallet: a company's money in one currency. Its balances are calculated from the ledger.

use crate::model::prelude::*;

states! {
    /// Status of a wallet.
    WalletStatus { Active "active" }
}

resource! {
    /// A company's money in one currency.
    Wallet: WalletStatus {
        /// The company that owns the wallet.
        company_id: Id<Company>,
        /// Always `active`.
        status: WalletStatus,
        /// The currency of all balances.
        currency: Currency,
        /// Balances in minor units, calculated from the ledger when the wallet is shown.
        #[serde(flatten)]
        balances: Balances,
    }
}

/// Balances of a wallet, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Balances {
    /// Available to spend (`cash_available`).
    pub(crate) available: i64,
    /// Collected but not settled yet (`collections_in_transit`).
    pub(crate) pending: i64,
    /// Reserved for funded payroll and disputes (`cash_reserved`).
    pub(crate) reserved: i64,
    /// Held in escrow (`escrow_held`).
    pub(crate) escrow: i64,
}

impl Wallet {
    /// A new wallet with zero balances.
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
            status_history: [StatusChange::plain(WalletStatus::Active, now)].into(),
        }
    }
}

//! A repayment of a loan, and how it was allotted.

use crate::model::capital::Loan;
use crate::model::payments::Wallet;
use crate::model::prelude::*;

states! {
    /// A repayment is taken from the wallet at once, and stands.
    RepaymentStatus { Received "received" }
}

/// Money that was paid back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LoanRepayment {
    /// The repayment's id.
    pub(crate) id: Id<LoanRepayment>,
    /// Always `loan_repayment`.
    pub(crate) object: Object<LoanRepayment>,
    /// Who paid.
    pub(crate) company_id: Id<Company>,
    /// The loan that is paid back.
    pub(crate) loan_id: Id<Loan>,
    /// The wallet that paid.
    pub(crate) wallet_id: Id<Wallet>,
    /// Always `received`.
    pub(crate) status: RepaymentStatus,
    /// Minor units: interest and principal.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// What of it paid interest: of each instalment first.
    pub(crate) interest: i64,
    /// What of it lowered what is owed.
    pub(crate) principal: i64,
    /// The principal that is still owed after it.
    pub(crate) balance_after: i64,
    /// When it was paid, in virtual time.
    pub(crate) created_at: Timestamp,
    /// The same: a repayment does not change.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<RepaymentStatus>>,
}

impl LoanRepayment {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.loan_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

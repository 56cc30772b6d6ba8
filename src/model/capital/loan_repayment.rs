//! A repayment of a loan, and how it was allotted.

use crate::model::capital::Loan;
use crate::model::capital::loan::RepaymentMethod;
use crate::model::payments::{Collection, Wallet};
use crate::model::prelude::*;

states! {
    /// Status of a repayment. It is debited at once and never changes.
    RepaymentStatus { Received "received" }
}

/// A repayment of a loan.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LoanRepayment {
    /// The repayment's id.
    pub(crate) id: Id<LoanRepayment>,
    /// Always `loan_repayment`.
    pub(crate) object: Object<LoanRepayment>,
    /// The company that paid.
    pub(crate) company_id: Id<Company>,
    /// The loan that was repaid.
    pub(crate) loan_id: Id<Loan>,
    /// The wallet that was debited.
    pub(crate) wallet_id: Id<Wallet>,
    /// How it was made: by a call, by autopay, or as a share of a collection.
    pub(crate) method: RepaymentMethod,
    /// The collection from which the share was taken; null for other methods.
    pub(crate) collection_id: Option<Id<Collection>>,
    /// Always `received`.
    pub(crate) status: RepaymentStatus,
    /// Amount in minor units: interest and principal.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// The part that paid interest. The interest of each instalment is paid first. Negative if the last repayment returns interest that was
    /// paid but has not accrued.
    pub(crate) interest: i64,
    /// The part that lowered the principal.
    pub(crate) principal: i64,
    /// The principal that is outstanding after the repayment, in minor units.
    pub(crate) balance_after: i64,
    /// When it was paid, in virtual time.
    pub(crate) created_at: Timestamp,
    /// Equal to `created_at`: a repayment does not change.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: StatusHistory<RepaymentStatus>,
}

//! A tax liability: what one run owes to one authority.

use crate::model::business::{PayrollRun, TaxFiling};
use crate::model::prelude::*;

states! {
    /// Whether the liability is due and paid; `void` if its run was cancelled.
    LiabilityStatus { Accrued "accrued", Due "due", Late "late", Paid "paid", Void "void" }
    "fall_due": Accrued => Due;
    "miss": Due => Late;
    "pay": Accrued | Due | Late => Paid;
    "void": Accrued | Due | Late => Void;
}

/// What one run owes to one authority.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TaxLiability {
    /// The liability's id.
    pub(crate) id: Id<TaxLiability>,
    /// Always `tax_liability`.
    pub(crate) object: Object<TaxLiability>,
    /// The company that owes it.
    pub(crate) company_id: Id<Company>,
    /// The run that caused it.
    pub(crate) payroll_run_id: Id<PayrollRun>,
    /// The authority that it is due to.
    pub(crate) authority: String,
    /// The country, ISO 3166-1 alpha-2.
    pub(crate) jurisdiction: String,
    /// The month of the pay that is declared.
    pub(crate) period: Period,
    /// The last day to pay, if the country's payroll pack defines it.
    pub(crate) due_on: Option<Date>,
    /// Whether it is due and paid.
    pub(crate) status: LiabilityStatus,
    /// The filing that declares it, if any.
    pub(crate) tax_filing_id: Option<Id<TaxFiling>>,
    /// Amount in minor units; negative if the authority owes the company because a run was reversed.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<LiabilityStatus>>,
}

stateful!(TaxLiability: LiabilityStatus);

//! A refund: collected money that is returned to the payer.

use crate::model::payments::{Collection, Failure};
use crate::model::prelude::*;

states! {
    /// Status of a refund.
    RefundStatus { Pending "pending", Succeeded "succeeded", Failed "failed" }
    "succeed": Pending => Succeeded;
    "fail": Pending => Failed;
}

/// Collected money that is returned to the payer.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Refund {
    /// The refund's id.
    pub(crate) id: Id<Refund>,
    /// Always `refund`.
    pub(crate) object: Object<Refund>,
    /// The company that pays the refund.
    pub(crate) company_id: Id<Company>,
    /// The refunded collection.
    pub(crate) collection_id: Id<Collection>,
    /// Current status.
    pub(crate) status: RefundStatus,
    /// Minor units.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// The company's reason.
    pub(crate) reason: String,
    /// Why it failed or was returned.
    pub(crate) failure: Option<Failure>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: Vec<StatusChange<RefundStatus>>,
}

stateful!(Refund: RefundStatus);

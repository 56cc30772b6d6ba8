//! A refund: collected money that is returned to the payer.

use crate::model::payments::{Collection, Failure, RailId};
use crate::model::prelude::*;

states! {
    /// Status of a refund.
    RefundStatus { Pending "pending", Succeeded "succeeded", Failed "failed" }
    "succeed": Pending => Succeeded;
    "fail": Pending => Failed;
}

resource! {
    /// Collected money that is returned to the payer.
    Refund: RefundStatus {
        /// The company that pays the refund.
        company_id: Id<Company>,
        /// The collection that is refunded.
        collection_id: Id<Collection>,
        /// Current status.
        status: RefundStatus,
        /// The payment rail of the refund.
        payment_rail: RailId,
        /// Amount in minor units.
        amount: i64,
        /// The part of the amount that is tax on the sale. It lowers the tax to declare for the current return period.
        tax_amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// The company's reason.
        reason: String,
        /// Why the refund failed or was returned.
        failure: Option<Failure>,
    }
}

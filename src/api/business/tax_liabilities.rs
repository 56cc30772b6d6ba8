//! Tax liabilities of the runs since the world's start.

use crate::api::prelude::*;
use crate::model::business::{LiabilityStatus, TaxLiability};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Business.table([Operation {
    path: "/api/business/tax-liabilities",
    summary: "List tax liabilities",
    description: "Lists what each run owes to each authority, in creation order. For months before \
        the world's start, see the filings of those months.",
    ..operation!(read list_tax_liabilities)
}]);

list! {
    fn list_tax_liabilities(ListTaxLiabilities) -> TaxLiability;
    filter
        company_id: Id<Company>,
        authority: Text<32>,
        /// Filter by month.
        period: Period,
        status: LiabilityStatus;
    sort created_at, authority, period, amount;
}

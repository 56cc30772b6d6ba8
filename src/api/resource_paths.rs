//! The paths of the resources that an operation acts on or creates. The server and the OpenAPI document read them.

use crate::api::operation::Operation;

impl Operation {
    /// The path of the resource that it acts on: its path up to the last id. None without an id.
    pub(crate) fn resource_path(&self) -> Option<&'static str> {
        self.path.rfind('}').map(|end| &self.path[..=end])
    }

    /// The path of the list with the resources that it creates.
    pub(crate) fn collection(&self) -> &'static str {
        match self.path {
            // The published path is a verb; it creates a run.
            "/v1/payroll/run" => "/api/business/payroll-runs",
            "/api/business/accounting-years" => "/api/business/accounting-periods",
            "/api/business/tax-filings/{tax_filing_id}/amend" => "/api/business/tax-filings",
            "/api/capital/loans/{loan_id}/repayments" => "/api/capital/loan-repayments",
            "/api/payments/collections/{collection_id}/refunds" => "/api/payments/refunds",
            path => path,
        }
    }

    /// Whether the resources that it creates are read at that path.
    pub(crate) fn creates_at(&self, path: &str) -> bool {
        path.rsplit_once('/')
            .is_some_and(|(parent, id)| parent == self.collection() && id.starts_with('{'))
    }
}

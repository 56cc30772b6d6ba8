//! A tax liability: what a company must pay to one authority for one run, or the tax on the sales
//! of one return period.

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

impl LiabilityStatus {
    /// Whether nothing is due any more.
    pub(crate) const fn is_closed(self) -> bool {
        matches!(self, Self::Paid | Self::Void)
    }
}

resource! {
    /// What one run owes to one authority with one form, or the tax on sales of one return period.
    TaxLiability: LiabilityStatus {
        /// The company that must pay the amount.
        company_id: Id<Company>,
        /// The run that caused the liability; null for tax on sales.
        payroll_run_id: Option<Id<PayrollRun>>,
        /// The authority to pay, such as `HMRC`.
        authority: String,
        /// The form of its payment, if the country's payroll pack defines it. An authority may have several forms.
        #[serde(default)]
        form: Option<String>,
        /// The country, ISO 3166-1 alpha-2.
        jurisdiction: String,
        /// The month of the pay date. The return of this month declares the liability. A tax month has the name of the month in which it
        /// begins. For tax on sales, the last month of the return period.
        period: Period,
        /// The last day to pay, if the sandbox has the rule of the country's law.
        due_on: Option<Date>,
        /// Whether the liability is due and paid.
        status: LiabilityStatus,
        /// The filing that declares the liability, if any.
        tax_filing_id: Option<Id<TaxFiling>>,
        /// Amount in minor units. It is negative if the authority owes the company: after the
        /// reversal of a run, or if the tax on purchases exceeds the tax on sales.
        amount: i64,
        /// The tax on purchases in a liability for tax on sales, in minor units. `amount` is the tax on sales less `input_tax`. 0 for a run.
        #[serde(default)]
        input_tax: i64,
        /// The part of a negative amount that later filings have used; only if the amount is
        /// negative. The remaining part lowers the next payment to the authority, and no new filing
        /// declares it. If nothing remains, the status is `paid`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        credit_used: Option<i64>,
        /// Currency of the amount.
        currency: Currency,
    }
}

impl TaxLiability {
    /// The run, or the company for tax on sales.
    pub(crate) fn parent_bits(&self) -> u64 {
        self.payroll_run_id.map_or(self.company_id.bits(), Id::bits)
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

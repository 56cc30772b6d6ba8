//! A tax filing: what a company declares and pays to an authority for one month.

use crate::model::business::TaxLiability;
use crate::model::prelude::*;

states! {
    /// Status of a filing. To correct a rejected filing, submit an amendment, which is a separate filing.
    FilingStatus {
        Pending "pending", Blocked "blocked", Submitted "submitted", Filed "filed", Rejected "rejected", Amended "amended",
    }
    "block": Pending => Blocked;
    "unblock": Blocked => Pending;
    "submit": Pending => Submitted;
    "accept": Submitted => Filed;
    "reject": Submitted => Rejected;
    "amend": Filed | Rejected => Amended;
}

/// What a filing declares to one authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FilingLine {
    /// The authority, as in a liability's `authority`.
    pub(crate) authority: String,
    /// Amount in minor units; negative if the authority owes the company.
    pub(crate) amount: i64,
    /// The part that is paid, by this filing and by the filings that it amends.
    pub(crate) amount_paid: i64,
}

/// A change that an amendment makes to a filing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaxFilingAdjustment")]
pub(crate) struct Adjustment {
    /// The authority; it must be one of the filing's lines.
    pub(crate) authority: String,
    /// Change in minor units; negative to lower the amount.
    pub(crate) amount: i64,
    /// The reason for the change.
    pub(crate) reason: String,
}

resource! {
    /// What a company declares and pays to an authority for one month.
    TaxFiling: FilingStatus {
        /// The company that files.
        company_id: Id<Company>,
        /// The country, ISO 3166-1 alpha-2.
        jurisdiction: String,
        /// The authority that the amounts are due to: a liability's `authority`.
        tax_type: String,
        /// The month of the pay that is declared; for tax on sales, the last month of the return period.
        period: Period,
        /// The name of the form, if the country's payroll pack defines it.
        form: Option<String>,
        /// Current status.
        status: FilingStatus,
        /// The total amount declared, in minor units.
        amount: i64,
        /// The amount paid in money, by this filing and by the filings that it amends. An amount above `amount` is a credit, which the next
        /// filing to the same authority uses. Negative if the authority has repaid tax on purchases.
        amount_paid: i64,
        /// The part that was paid with an earlier credit. Negative if the filing amends one whose credit another filing has used: it pays
        /// that amount again.
        credit_used: i64,
        /// The currency of all amounts.
        currency: Currency,
        /// The declared and paid amounts, one line for each authority.
        lines: Vec<FilingLine>,
        /// The last day to submit and pay, if the country's payroll pack defines it.
        due_on: Option<Date>,
        /// Whether the filing was submitted after `due_on`, or was not submitted by `due_on`.
        late: bool,
        /// The liabilities that the filing declares. Empty for filings before the world's start.
        tax_liability_ids: Vec<Id<TaxLiability>>,
        /// Why the filing cannot be submitted yet, one sentence each.
        blocked_reasons: Vec<String>,
        /// Name of the person who declared the filing correct; null until submitted.
        declaration: Option<String>,
        /// When the authority confirmed receipt.
        acknowledged_at: Option<Timestamp>,
        /// Why the authority rejected the filing.
        rejection_reason: Option<String>,
        /// The filing that this one amends.
        amends: Option<Id<TaxFiling>>,
        /// The differences from the amended filing.
        adjustments: Vec<Adjustment>,
    }
}

impl TaxFiling {
    /// A return that is not submitted takes up a later amount of its period.
    pub(crate) fn take_up(&mut self, amount: i64, now: Timestamp) {
        self.amount += amount;
        let own = self.lines.iter_mut().find(|line| line.authority == self.tax_type);
        own.expect("a return declares to its authority").amount += amount;
        self.updated_at = now;
    }
}

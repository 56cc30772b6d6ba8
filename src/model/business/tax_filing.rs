//! A tax filing: what a company declares to an authority for a month, and pays.

use crate::model::business::TaxLiability;
use crate::model::prelude::*;

states! {
    /// Where a return stands. A rejected one is mended by an amended one, which is a filing of its own.
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

/// The `tax_type` of the returns of the months before the world's start, each of which holds all that was owed.
pub(crate) const MONTHLY: &str = "monthly";

/// What a return declares to one authority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FilingLine {
    /// Whom it is owed to, as in a liability's `authority`.
    pub(crate) authority: String,
    /// Minor units; negative where the authority owes.
    pub(crate) amount: i64,
    /// What of it is paid, with this return and with those that it amends.
    pub(crate) amount_paid: i64,
}

/// A change of what an amended return declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Adjustment {
    /// Whom it is owed to: one of the return's lines.
    pub(crate) authority: String,
    /// Minor units more, or less where it is negative.
    pub(crate) amount: i64,
    /// Why.
    pub(crate) reason: String,
}

/// What a company declares to an authority for a month, and pays.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TaxFiling {
    /// The filing's id.
    pub(crate) id: Id<TaxFiling>,
    /// Always `tax_filing`.
    pub(crate) object: Object<TaxFiling>,
    /// Who declares.
    pub(crate) company_id: Id<Company>,
    /// The country, ISO 3166-1 alpha-2.
    pub(crate) jurisdiction: String,
    /// What is declared, by whom it is owed to: a liability's `authority`. `monthly` in the months before the world's start:
    /// one return for all.
    pub(crate) tax_type: String,
    /// The month whose pay it is on.
    pub(crate) period: Period,
    /// The form's name, where the country's payroll pack knows it.
    pub(crate) form: Option<String>,
    /// Where it stands.
    pub(crate) status: FilingStatus,
    /// What is declared in all, in minor units.
    pub(crate) amount: i64,
    /// What of it is paid, in money: with this return and with those that it amends. More than `amount` is a credit, which the
    /// next return to the same authority uses.
    pub(crate) amount_paid: i64,
    /// What of it was paid by such a credit.
    pub(crate) credit_used: i64,
    /// The currency of both.
    pub(crate) currency: Currency,
    /// The same by authority.
    pub(crate) lines: Vec<FilingLine>,
    /// The last day for form and money, where the country's payroll pack knows it.
    pub(crate) due_on: Option<Date>,
    /// Whether that day passed before it was submitted.
    pub(crate) late: bool,
    /// The liabilities that it declares. None in the months before the world's start.
    pub(crate) tax_liability_ids: Vec<Id<TaxLiability>>,
    /// Why it cannot be submitted yet, in sentences.
    pub(crate) blocked_reasons: Vec<String>,
    /// Who declared it to be right, once submitted.
    pub(crate) declaration: Option<String>,
    /// When the authority confirmed that it has it.
    pub(crate) acknowledged_at: Option<Timestamp>,
    /// Why the authority rejected it.
    pub(crate) rejection_reason: Option<String>,
    /// The filing that this one amends.
    pub(crate) amends: Option<Id<TaxFiling>>,
    /// In what it differs from that one.
    pub(crate) adjustments: Vec<Adjustment>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<FilingStatus>>,
}

impl TaxFiling {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(TaxFiling: FilingStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_filing_can_be_reached() {
        crate::model::lifecycle::assert_sound(FilingStatus::Pending);
    }
}

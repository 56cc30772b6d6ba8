//! A bank account check: whether an account exists, and who holds it.

use crate::model::prelude::*;

/// The bank's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountResult {
    Match,
    PartialMatch,
    NoMatch,
    NotFound,
}

/// Whether an account exists, and who holds it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BankAccountVerification {
    /// The check's id.
    pub(crate) id: Id<BankAccountVerification>,
    /// Always `bank_account_verification`.
    pub(crate) object: Object<BankAccountVerification>,
    /// Always null: an account check belongs to no company.
    pub(crate) company_id: Option<Id<Company>>,
    /// The same as `result`.
    pub(crate) status: AccountResult,
    /// `match` for a score from 85, `partial_match` from 65.
    pub(crate) result: AccountResult,
    /// The bank's code in its country.
    pub(crate) bank_code: String,
    /// The bank's name, if known.
    pub(crate) bank_name: Option<String>,
    /// The last four characters of the account number.
    pub(crate) account_last4: String,
    /// The country of the bank, ISO 3166-1 alpha-2.
    pub(crate) country: String,
    /// The name expected by the caller.
    pub(crate) expected_name: String,
    /// The holder's name at the bank, in capitals; null if the bank does not know the account.
    pub(crate) account_name: Option<String>,
    /// Similarity of the names, 0 to 100; null if the bank does not know the account.
    #[schemars(range(max = 100))]
    pub(crate) match_score: Option<u8>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Key-value pairs set by the caller.
    pub(crate) metadata: Metadata,
}

impl BankAccountVerification {
    /// An account check has no parent.
    #[expect(clippy::unused_self, reason = "the caller requires a parent from every resource")]
    pub(crate) const fn parent_bits(&self) -> u64 {
        0
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }
}

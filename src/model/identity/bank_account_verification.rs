//! A bank account check: whether an account is there, and whose it is.

use crate::model::prelude::*;

/// What the bank says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountResult {
    Match,
    PartialMatch,
    NoMatch,
    NotFound,
}

/// Whether an account is there, and whose it is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BankAccountVerification {
    /// The check's id.
    pub(crate) id: Id<BankAccountVerification>,
    /// Always `bank_account_verification`.
    pub(crate) object: Object<BankAccountVerification>,
    /// Always null: an account is nobody's until it is known whose.
    pub(crate) company_id: Option<Id<Company>>,
    /// The same as `result`.
    pub(crate) status: AccountResult,
    /// `match` from a score of 85 on, `partial_match` from 65 on.
    pub(crate) result: AccountResult,
    /// The bank's code.
    pub(crate) bank_code: String,
    /// The bank's name, where it is known.
    pub(crate) bank_name: Option<String>,
    /// The account number's last four characters.
    pub(crate) account_last4: String,
    /// ISO 3166-1 alpha-2.
    pub(crate) country: String,
    /// The name that the caller expects.
    pub(crate) expected_name: String,
    /// The name that the bank has, in capitals; null where it knows no such account.
    pub(crate) account_name: Option<String>,
    /// 0 to 100: how much the names are alike; null where the bank knows no such account.
    #[schemars(range(max = 100))]
    pub(crate) match_score: Option<u8>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
}

impl BankAccountVerification {
    /// Checks stand below nothing.
    #[expect(clippy::unused_self, reason = "every resource is asked for its parent")]
    pub(crate) const fn parent_bits(&self) -> u64 {
        0
    }

    pub(crate) fn company_of(&self) -> Id<Company> {
        self.company_id.unwrap_or(Id::UNKNOWN)
    }
}

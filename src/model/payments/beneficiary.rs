//! A beneficiary: a payee of a company, with the bank's check of the account.

use crate::model::payments::Recipient;
use crate::model::prelude::*;

states! {
    /// Status of a beneficiary. Only a `verified` one can be paid.
    BeneficiaryStatus { Pending "pending", Verified "verified", Rejected "rejected" }
    "verify": Pending => Verified;
    "reject": Pending => Rejected;
}

/// A person or a business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BeneficiaryType {
    Individual,
    Business,
}

/// A payee of a company as stored, with the full account number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beneficiary {
    pub(crate) id: Id<Beneficiary>,
    pub(crate) company_id: Id<Company>,
    pub(crate) status: BeneficiaryStatus,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: BeneficiaryType,
    pub(crate) account: BeneficiaryAccount,
    /// The recipient shown on payouts.
    pub(crate) recipient: Arc<Recipient>,
    pub(crate) name_match: Option<NameMatch>,
    #[serde(default)]
    pub(crate) verification: AccountCheck,
    #[serde(default)]
    pub(crate) micro_deposits: Option<MicroDeposits>,
    pub(crate) failure: Option<Rejection>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) metadata: Metadata,
    pub(crate) status_history: StatusHistory<BeneficiaryStatus>,
}

/// The account that receives the beneficiary's money.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BeneficiaryAccount {
    pub(crate) bank_code: Option<String>,
    pub(crate) bank_name: Option<String>,
    pub(crate) number: String,
    /// The holder's name given by the caller, if it differs from the beneficiary's name.
    pub(crate) holder: Option<String>,
    pub(crate) country: String,
    pub(crate) currency: Currency,
}

stateful!(Beneficiary: BeneficiaryStatus);

impl Beneficiary {
    fn shown_account(&self) -> AccountShape<'_> {
        AccountShape {
            bank_code: self.account.bank_code.as_deref(),
            bank_name: self.account.bank_name.as_deref(),
            account_last4: &self.recipient.account_last4,
            country: &self.account.country,
            currency: self.account.currency,
        }
    }
}

/// How the account of a beneficiary is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountCheck {
    /// The bank checks the name of the holder.
    #[default]
    BankCheck,
    /// Two small amounts are sent, and the holder confirms them.
    MicroDeposits,
}

/// Two small amounts that were sent to the account. The amounts themselves are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MicroDeposits {
    /// When they were sent, in virtual time.
    pub(crate) sent_at: Timestamp,
    /// When they arrived at the account: from then on they can be confirmed. Null until then.
    pub(crate) arrived_at: Option<Timestamp>,
    /// When they can no longer be confirmed. Null until they have arrived.
    pub(crate) expires_at: Option<Timestamp>,
    /// The sum of both amounts, in minor units.
    pub(crate) total: i64,
    /// Number of remaining attempts to confirm the amounts.
    pub(crate) attempts_left: u8,
}

/// How the beneficiary's name compares with the account holder's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NameMatch {
    /// `match` for a score from 85, `partial_match` from 65.
    pub(crate) result: MatchResult,
    /// Score from 0 to 100: how much of the shorter name is in the longer one, in any order.
    #[schemars(range(max = 100))]
    pub(crate) score: u8,
    /// The account holder's name at the bank.
    pub(crate) account_name: String,
}

/// The result of a name comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchResult {
    Match,
    PartialMatch,
    NoMatch,
}

/// Why an account was not verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BeneficiaryFailure")]
pub(crate) struct Rejection {
    /// `name_mismatch`, `account_closed`, `account_not_found`, `amounts_not_confirmed` or `confirmation_expired`.
    pub(crate) code: Cow<'static, str>,
    /// Description of the failure in one sentence.
    pub(crate) detail: Cow<'static, str>,
}

shown! {
    /// A payee of a company.
    #[schemars(rename = "Beneficiary")]
    BeneficiaryShape<'a> of Beneficiary, |it| {
        /// The company that pays.
        company_id: Id<Company>;
        /// Status of the account check. Only a `verified` beneficiary can be paid.
        status: BeneficiaryStatus;
        /// The beneficiary's name.
        name: &'a str = &it.name;
        /// A person or a business.
        #[serde(rename = "type")]
        kind: BeneficiaryType;
        /// The account that receives the beneficiary's money.
        account: AccountShape<'a> = it.shown_account();
        /// How the name compares with the account holder's. Null until the bank has answered, and null if the bank does not know the holder.
        name_match: Option<&'a NameMatch> = it.name_match.as_ref();
        /// How the account is verified.
        verification: AccountCheck;
        /// The small amounts that were sent to the account; null if there are none.
        micro_deposits: Option<MicroDeposits>;
        /// Why the account was not verified.
        failure: Option<&'a Rejection> = it.failure.as_ref();
        /// When it was created, in virtual time.
        created_at: Timestamp;
        /// When it last changed, in virtual time.
        updated_at: Timestamp;
        /// Key-value pairs set by the caller.
        metadata: &'a Metadata = &it.metadata;
        /// Every status the resource has had, oldest first.
        status_history: &'a [StatusChange<BeneficiaryStatus>] = &it.status_history;
    }
}

/// A beneficiary's account. Only the last four characters of its number are shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BeneficiaryAccount")]
struct AccountShape<'a> {
    /// The bank's code in its country; null if the number is an IBAN and no code was given.
    bank_code: Option<&'a str>,
    /// The bank's name, if known.
    bank_name: Option<&'a str>,
    /// The last four characters of the account number.
    account_last4: &'a str,
    /// The country of the bank, ISO 3166-1 alpha-2.
    country: &'a str,
    /// The currency of the account and of payouts to it.
    currency: Currency,
}

//! A beneficiary: somebody whom a company pays, and what the bank says of the account.

use crate::model::Wire;
use crate::model::payments::Recipient;
use crate::model::prelude::*;

states! {
    /// Where a beneficiary stands: only a `verified` one is paid.
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

/// Somebody whom a company pays, as a world keeps them: with the account's whole number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beneficiary {
    pub(crate) id: Id<Beneficiary>,
    pub(crate) company_id: Id<Company>,
    pub(crate) status: BeneficiaryStatus,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: BeneficiaryType,
    pub(crate) account: BeneficiaryAccount,
    /// What payouts show of them.
    pub(crate) recipient: Arc<Recipient>,
    pub(crate) name_match: Option<NameMatch>,
    pub(crate) failure: Option<Rejection>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) metadata: Metadata,
    pub(crate) status_history: Vec<StatusChange<BeneficiaryStatus>>,
}

/// Where their money goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BeneficiaryAccount {
    pub(crate) bank_code: Option<String>,
    pub(crate) bank_name: Option<String>,
    pub(crate) number: String,
    /// The holder's name as the caller knows it, where it is not the beneficiary's.
    pub(crate) holder: Option<String>,
    pub(crate) country: String,
    pub(crate) currency: Currency,
}

impl Beneficiary {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(Beneficiary: BeneficiaryStatus);

/// How the beneficiary's name compares with the account holder's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NameMatch {
    /// `match` from 85 on, `partial_match` from 65 on.
    pub(crate) result: MatchResult,
    /// 0 to 100: how much of the shorter name is in the longer one, whatever the order.
    #[schemars(range(max = 100))]
    pub(crate) score: u8,
    /// The holder's name, as the bank has it.
    pub(crate) account_name: String,
}

/// What a comparison of names comes to.
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
    /// `name_mismatch`, `account_closed` or `account_not_found`.
    pub(crate) code: Cow<'static, str>,
    /// The same in a sentence.
    pub(crate) detail: Cow<'static, str>,
}

/// Somebody whom a company pays.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Beneficiary")]
pub(crate) struct BeneficiaryShape<'a> {
    /// The beneficiary's id.
    id: Id<Beneficiary>,
    /// Always `beneficiary`.
    object: Object<Beneficiary>,
    /// The company that pays.
    company_id: Id<Company>,
    /// Where the check of the account stands: only a `verified` beneficiary is paid.
    status: BeneficiaryStatus,
    /// Their name.
    name: &'a str,
    /// A person or a business.
    #[serde(rename = "type")]
    kind: BeneficiaryType,
    /// Where their money goes.
    account: AccountShape<'a>,
    /// How the name compares with the account holder's; null until the bank has answered, and where it knows of no holder.
    name_match: Option<&'a NameMatch>,
    /// Why the account was not verified.
    failure: Option<&'a Rejection>,
    /// When it was created, in virtual time.
    created_at: Timestamp,
    /// When it last changed, in virtual time.
    updated_at: Timestamp,
    /// The caller's own pairs.
    metadata: &'a Metadata,
    /// Every status it had.
    status_history: &'a [StatusChange<BeneficiaryStatus>],
}

/// A beneficiary's account. Its number is shown by its last four characters alone.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BeneficiaryAccount")]
struct AccountShape<'a> {
    /// The bank's code in its country; null where the number is an IBAN and none was sent.
    bank_code: Option<&'a str>,
    /// The bank's name, where it is known.
    bank_name: Option<&'a str>,
    /// The account number's last four characters.
    account_last4: &'a str,
    /// ISO 3166-1 alpha-2.
    country: &'a str,
    /// What the account is in: payouts to it are in that currency.
    currency: Currency,
}

impl Wire for Beneficiary {
    type Shape<'a> = BeneficiaryShape<'a>;

    fn wire(&self) -> BeneficiaryShape<'_> {
        BeneficiaryShape {
            id: self.id,
            object: Object::NAME,
            company_id: self.company_id,
            status: self.status,
            name: &self.name,
            kind: self.kind,
            account: AccountShape {
                bank_code: self.account.bank_code.as_deref(),
                bank_name: self.account.bank_name.as_deref(),
                account_last4: &self.recipient.account_last4,
                country: &self.account.country,
                currency: self.account.currency,
            },
            name_match: self.name_match.as_ref(),
            failure: self.failure.as_ref(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            metadata: &self.metadata,
            status_history: &self.status_history,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_beneficiary_can_be_reached() {
        crate::model::lifecycle::assert_sound(BeneficiaryStatus::Pending);
    }
}

//! A company: who pays.

use crate::model::payments::Rail;
use crate::model::prelude::*;

states! {
    /// Where a company stands.
    CompanyStatus { Pending "pending", Active "active", Suspended "suspended", Closed "closed" }
    "verify": Pending => Active;
    "suspend": Active => Suspended;
    "reinstate": Suspended => Active;
    "close": Pending | Active | Suspended => Closed;
}

/// A company that employs people and holds wallets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Company {
    /// The company's id.
    pub(crate) id: Id<Company>,
    /// Always `company`.
    pub(crate) object: Object<Company>,
    /// Where it stands: only an `active` company pays anyone.
    pub(crate) status: CompanyStatus,
    /// The registered name.
    pub(crate) legal_name: String,
    /// The country of registration, ISO 3166-1 alpha-2.
    pub(crate) country: String,
    /// The base currency: wages, ledger and reports are in it.
    pub(crate) currency: Currency,
    /// The branch of business.
    pub(crate) industry: Option<String>,
    /// The number in the country's company register.
    pub(crate) registration_number: Option<String>,
    /// The tax authority's number for it.
    pub(crate) tax_id: Option<String>,
    /// The registered address.
    pub(crate) address: Option<Address>,
    /// How to reach it.
    pub(crate) contact: Option<Contact>,
    /// How and when it pays.
    pub(crate) payroll_settings: PayrollSettings,
    /// Its own marks on what it pays others; absent until somebody sets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) payment_settings: Option<PaymentSettings>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<CompanyStatus>>,
}

impl Company {
    /// Companies stand below nothing.
    #[expect(clippy::unused_self, reason = "every resource is asked for its parent")]
    pub(crate) const fn parent_bits(&self) -> u64 {
        0
    }

    pub(crate) const fn company_of(&self) -> Id<Self> {
        self.id
    }
}

stateful!(Company: CompanyStatus);

/// A postal address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Address {
    /// Street and number.
    pub(crate) line1: String,
    /// Town.
    pub(crate) city: String,
    /// State, county or province.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<String>,
    /// Postal code, where the country has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) postal_code: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub(crate) country: String,
}

/// How to reach a company.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contact {
    /// An e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) email: Option<String>,
    /// A telephone number, E.164.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phone: Option<String>,
    /// A web address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) website: Option<String>,
}

/// A company's marks on what it pays others, in its own currency: sums in other currencies count by the day's reference rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaymentSettings {
    /// Whether somebody has to approve payouts to beneficiaries.
    pub(crate) approval_required: bool,
    /// From which amount on, in minor units; 0 is every payout.
    #[schemars(range(min = 0))]
    pub(crate) approval_threshold: i64,
    /// Available balance in minor units below which `wallet.low_balance` tells of a payment out; 0 is never.
    #[schemars(range(min = 0))]
    pub(crate) low_balance: i64,
}

/// How and when a company pays its people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayrollSettings {
    /// The day of the month on which wages are due, 1–31; the last day where a month is shorter, the business day before
    /// where it falls on a weekend.
    #[schemars(range(min = 1, max = 31))]
    pub(crate) pay_day: i8,
    /// The rail that wages travel on.
    pub(crate) speed: Rail,
    /// Whether somebody has to approve a calculated run.
    pub(crate) approval_required: bool,
    /// Whether a run pays those whom the wallet covers, or nobody.
    pub(crate) partial_runs: bool,
}

impl Default for PayrollSettings {
    fn default() -> Self {
        Self { pay_day: 25, speed: Rail::Standard, approval_required: false, partial_runs: false }
    }
}

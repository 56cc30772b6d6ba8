//! A company: it employs people and pays them.

use crate::model::business::paid_leave::PaidLeave;
use crate::model::payments::Rail;
use crate::model::prelude::*;
use crate::value::CountryCode;

states! {
    /// Status of a company.
    CompanyStatus { Pending "pending", Active "active", Suspended "suspended", Closed "closed" }
    "verify": Pending => Active;
    "suspend": Active => Suspended;
    "reinstate": Suspended => Active;
    "close": Pending | Active | Suspended => Closed;
}

resource! {
    /// A company that employs people and holds wallets.
    Company: CompanyStatus {
        /// Current status. Only an `active` company can pay.
        status: CompanyStatus,
        /// The registered name.
        legal_name: Box<str>,
        /// The country of registration, ISO 3166-1 alpha-2.
        #[schemars(with = "String")]
        country: CountryCode,
        /// The base currency, used for wages, the ledger and reports.
        currency: Currency,
        /// The industry, such as `professional_services`.
        industry: Option<Box<str>>,
        /// The company's number in the country's company register.
        registration_number: Option<Box<str>>,
        /// The day on which the company was founded, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        founded_on: Option<Date>,
        /// The company's number at the tax authority.
        tax_id: Option<Box<str>>,
        /// The registered address.
        address: Option<Box<Address>>,
        /// Contact details.
        contact: Option<Box<Contact>>,
        /// Payroll settings: how and when the company pays wages.
        payroll_settings: PayrollSettings,
        /// Settings for payouts to beneficiaries; absent until they are set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payment_settings: Option<Box<PaymentSettings>>,
    }
}

impl Company {
    /// A company has no parent.
    #[expect(clippy::unused_self, reason = "the caller requires a parent from every resource")]
    pub(crate) const fn parent_bits(&self) -> u64 {
        0
    }

    pub(crate) const fn company_of(&self) -> Id<Self> {
        self.id
    }
}

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
    /// Postal code, where the country uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) postal_code: Option<String>,
    /// The country, ISO 3166-1 alpha-2.
    pub(crate) country: String,
}

/// Contact details of a company.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contact {
    /// An e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) email: Option<String>,
    /// A telephone number in E.164 format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phone: Option<String>,
    /// A web address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) website: Option<String>,
}

/// A company's settings for payouts, in its own currency. Amounts in other currencies are converted at the reference rate of the day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PaymentSettings {
    /// Whether payouts to beneficiaries need approval.
    pub(crate) approval_required: bool,
    /// Smallest amount that needs approval, in minor units; 0 means every payout.
    #[schemars(range(min = 0))]
    pub(crate) approval_threshold: i64,
    /// A limit in minor units. If the available balance is below the limit after an outgoing payment, `wallet.low_balance` is emitted. 0 means
    /// never.
    #[schemars(range(min = 0))]
    pub(crate) low_balance: i64,
}

/// How and when a company pays its employees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayrollSettings {
    /// The day of the month on which wages are due, 1–31. In a shorter month, wages are due on its last day. If the day is a weekend or a
    /// holiday, wages are due on the business day before.
    #[schemars(range(min = 1, max = 31))]
    pub(crate) pay_day: i8,
    /// The rail used for wage payouts.
    pub(crate) speed: Rail,
    /// Whether a calculated run needs approval.
    pub(crate) approval_required: bool,
    /// If true, a run pays as many employees as the wallet covers. If false, a run pays no employee unless the wallet covers all of them.
    pub(crate) partial_runs: bool,
    /// Paid leave of employees without a setting of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paid_leave: Option<PaidLeave>,
}

impl Default for PayrollSettings {
    fn default() -> Self {
        Self {
            pay_day: 25,
            speed: Rail::Standard,
            approval_required: false,
            partial_runs: false,
            paid_leave: None,
        }
    }
}

//! A collection: a request for money from a payer.

use crate::model::payments::{Dispute, Failure, Invoice, Mandate, RailId, Refusal, Service};
use crate::model::prelude::*;
use crate::value::id::encode_to_string;

states! {
    /// Status of a collection. Later refunds and disputes are shown by other members.
    CollectionStatus {
        Pending "pending", RequiresAction "requires_action", Processing "processing", Succeeded "succeeded",
        Settled "settled", Returned "returned", Failed "failed", Expired "expired", Cancelled "cancelled",
    }
    "prompt": Pending => RequiresAction;
    "process": Pending | RequiresAction => Processing;
    "succeed": Processing => Succeeded;
    "settle": Succeeded => Settled;
    "return": Succeeded | Settled => Returned;
    "fail": Processing => Failed;
    "expire": Pending | RequiresAction => Expired;
    "cancel": Pending | RequiresAction => Cancelled;
}

impl CollectionStatus {
    /// Whether the payer may still pay.
    pub(crate) const fn waits(self) -> bool {
        matches!(self, Self::Pending | Self::RequiresAction)
    }

    /// Whether its reference is in use.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::RequiresAction | Self::Processing)
    }

    /// Whether the payer has paid.
    pub(crate) const fn is_paid(self) -> bool {
        matches!(self, Self::Succeeded | Self::Settled)
    }
}

/// How the payer pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CollectionMethod {
    Card,
    BankTransfer,
    DirectDebit,
    MobileMoney,
}

const DAY: i64 = 24 * 60 * 60;

impl CollectionMethod {
    /// From the request to the payer's response, unless chosen otherwise.
    pub(crate) const fn payment(self) -> Span {
        match self {
            Self::Card => Span::seconds(10),
            Self::BankTransfer => Span::BusinessDays(1),
            Self::DirectDebit => Span::seconds(0),
            Self::MobileMoney => Span::seconds(2 * 60),
        }
    }

    /// The service that it requires from its payment rail.
    pub(crate) const fn service(self) -> Service {
        match self {
            Self::Card => Service::Card,
            Self::BankTransfer => Service::BankTransfer,
            Self::DirectDebit => Service::DirectDebit,
            Self::MobileMoney => Service::MobileMoney,
        }
    }

    /// From the request to the response of a payer who pays late.
    pub(crate) const fn late(self) -> Span {
        match self {
            Self::Card | Self::MobileMoney => Span::seconds(6 * 60 * 60),
            Self::BankTransfer | Self::DirectDebit => Span::seconds(10 * DAY),
        }
    }

    /// Default number of seconds until a request expires.
    pub(crate) const fn standing(self) -> i64 {
        match self {
            Self::Card | Self::MobileMoney => DAY,
            Self::BankTransfer | Self::DirectDebit => 30 * DAY,
        }
    }

    /// From a refund to its arrival at the payer's account.
    pub(crate) const fn refund(self) -> Span {
        match self {
            Self::Card => Span::BusinessDays(5),
            Self::DirectDebit => Span::BusinessDays(3),
            Self::BankTransfer | Self::MobileMoney => Span::BusinessDays(1),
        }
    }
}

/// The payer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CollectionPayer {
    /// The name of the payer.
    pub(crate) name: Option<String>,
    /// The e-mail address of the payer.
    pub(crate) email: Option<String>,
    /// The account number that the payer pays from.
    pub(crate) account_number: Option<String>,
}

/// A virtual account that exists for one collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct VirtualAccount {
    /// The bank's name.
    pub(crate) bank_name: String,
    /// The bank's code in its country.
    pub(crate) bank_code: String,
    /// The account number, with valid check digits if the country uses them.
    pub(crate) account_number: String,
    /// The account as an IBAN, if the country uses IBANs.
    pub(crate) iban: Option<String>,
    /// The account holder's name shown to the payer.
    pub(crate) account_name: String,
}

/// How much of the collected amount has been refunded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RefundProgress")]
pub(crate) enum RefundStanding {
    #[default]
    None,
    PartiallyRefunded,
    Refunded,
}

/// A direct debit that the payer's bank sent back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DebitReturn {
    /// When the payer's bank sent the payment back, in virtual time.
    pub(crate) at: Timestamp,
    /// The amount that went back, in minor units: everything that was not refunded or charged back.
    pub(crate) amount: i64,
    /// The part, in minor units, that was taken from the wallet or from money that had not settled. The rest is a debt (`refunds_payable`).
    pub(crate) taken: i64,
}

resource! {
    /// A request for money from a payer.
    Collection: CollectionStatus {
        /// The company that collects.
        company_id: Id<Company>,
        /// Current status.
        status: CollectionStatus,
        /// How the payer pays.
        method: CollectionMethod,
        /// The payment rail of the payment. The method, the company's country and the currency determine the rail.
        payment_rail: RailId,
        /// Amount requested, in minor units.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// Amount paid, in minor units. It is less than `amount` if the payer paid too little.
        amount_received: i64,
        /// The platform fee, in minor units, deducted when the collection settled.
        fee: i64,
        /// Amount refunded to the payer, in minor units.
        amount_refunded: i64,
        /// Amount of refunds in progress, in minor units.
        amount_refund_pending: i64,
        /// How much of the paid amount has been refunded.
        refund_status: RefundStanding,
        /// Amount that the payer's bank took back permanently, in minor units.
        amount_charged_back: i64,
        /// Whether a dispute about the collection is open.
        disputed: bool,
        /// The latest dispute about the collection.
        dispute_id: Option<Id<Dispute>>,
        /// The payer.
        payer: CollectionPayer,
        /// The company's reference, which the payer quotes. It is unique among the company's open collections.
        reference: String,
        /// The invoice that the collection requests money for.
        invoice_id: Option<Id<Invoice>>,
        /// The mandate that authorises the direct debit; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mandate_id: Option<Id<Mandate>>,
        /// The return by the payer's bank after the payment; absent if there is none. `failure` has its code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        returned: Option<DebitReturn>,
        /// The account for a payment by bank transfer.
        virtual_account: Option<VirtualAccount>,
        /// The checkout page for a payment by card. No page is served: the sandbox simulates the payment.
        checkout_url: Option<String>,
        /// Why the collection failed or was returned.
        failure: Option<Failure>,
        /// When the request expires.
        expires_at: Option<Timestamp>,
    }
}

impl Collection {
    /// The look-up names under which an open collection is indexed.
    pub(crate) fn names(&self) -> Vec<String> {
        if !self.status.is_open() {
            return Vec::new();
        }
        let account = self.virtual_account.as_ref();
        [Some(Self::by_reference(&self.reference))]
            .into_iter()
            .chain([
                account.map(|account| Self::by_account(&account.account_number)),
                self.invoice_id.map(Self::by_invoice),
            ])
            .flatten()
            .collect()
    }

    pub(crate) fn by_reference(reference: &str) -> String {
        format!("reference:{reference}")
    }

    pub(crate) fn by_account(number: &str) -> String {
        format!("account:{number}")
    }

    pub(crate) fn by_invoice(invoice: Id<Invoice>) -> String {
        format!("invoice:{}", encode_to_string(invoice.bits()))
    }

    /// The amount without refunds, pending refunds and chargebacks.
    pub(crate) const fn left(&self) -> i64 {
        self.amount_received
            - self.amount_refunded
            - self.amount_refund_pending
            - self.amount_charged_back
    }
}

/// The payer's reaction to a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Payment {
    /// Pays that amount.
    Pays(i64),
    /// Pays the full amount and disputes it after the given time, or by default after the bank's usual time.
    PaysAndDisputes(Option<Span>),
    /// Does not pay.
    Fails(Refusal),
}

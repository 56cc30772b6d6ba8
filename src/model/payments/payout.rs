//! A payout: a payment to an account.

use crate::model::business::PayConversion;
use crate::model::payments::rails::{RailRetry, Service};
use crate::model::payments::{Beneficiary, RailId, Wallet};
use crate::model::prelude::*;

states! {
    /// Status of a payout.
    PayoutStatus {
        PendingApproval "pending_approval", Queued "queued", Processing "processing", OnHold "on_hold", Sent "sent",
        Paid "paid", Failed "failed", Returned "returned", Cancelled "cancelled",
    }
    "queue": PendingApproval => Queued;
    "process": Queued | OnHold => Processing;
    "hold": Processing => OnHold;
    "send": Processing => Sent;
    "pay": Sent => Paid;
    "fail": Sent | OnHold => Failed;
    "return": Sent | Paid => Returned;
    "cancel": PendingApproval | Queued | Processing | OnHold => Cancelled;
}

/// The speed of a payout. Speed, account and currency determine the payment rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rail {
    Instant,
    SameDay,
    Standard,
}

impl Rail {
    /// The service that it requires from its payment rail.
    pub(crate) const fn service(self) -> Service {
        match self {
            Self::Instant => Service::Instant,
            Self::SameDay => Service::SameDay,
            Self::Standard => Service::Standard,
        }
    }
}

resource! {
    /// A payment to an account.
    Payout: PayoutStatus {
        /// The company that pays.
        company_id: Id<Company>,
        /// The wallet that is debited.
        wallet_id: Id<Wallet>,
        /// The saved beneficiary, if one was given.
        beneficiary_id: Option<Id<Beneficiary>>,
        /// Current status.
        status: PayoutStatus,
        /// Amount in minor units, without the fee.
        amount: i64,
        /// Currency of the amount.
        currency: Currency,
        /// The currency conversion, for wages in another currency than the wallet's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fx: Option<Box<PayConversion>>,
        /// The platform fee in minor units, debited from the wallet in addition to the amount. Only for payouts to a beneficiary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fee: Option<i64>,
        /// The speed: how fast the payout is sent.
        rail: Rail,
        /// The payment rail of the payout. The speed, the country of the account and the currency determine the rail.
        payment_rail: RailId,
        /// When the payout should arrive if the receiving bank is not late.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        estimated_arrival: Option<Timestamp>,
        /// The recipient. Only the last four characters of account numbers are shown.
        recipient: Arc<Recipient>,
        /// The position of the recipient's account in the `splits` of the employee's payment method, from 1. Absent for the account that
        /// receives the rest, and for other payouts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        split: Option<u32>,
        /// The reference on the recipient's statement.
        reference: Arc<str>,
        /// The resource that the payout pays for, if any.
        source: Option<AnyId>,
        /// The person who requested the payout, if given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        maker: Option<Arc<str>>,
        /// The person who approved the payout, if given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approver: Option<Arc<str>>,
        /// Why the payout failed or was returned.
        failure: Option<Box<Failure>>,
        /// Other details of the account, reported by the receiving bank after the money arrived: a notification of change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correction: Option<Box<AccountCorrection>>,
        /// The failed payout that this one replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        supersedes: Option<Id<Payout>>,
        /// The payout that replaces this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        superseded_by: Option<Id<Payout>>,
    }
}

impl PayoutStatus {
    /// Whether the money came back.
    pub(crate) const fn has_bounced(self) -> bool {
        matches!(self, Self::Failed | Self::Returned)
    }
}

/// The purpose of a payout. It determines the ledger accounts and the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pays {
    /// Net pay of a payroll item.
    Wages,
    /// An amount released from an escrow.
    Escrow,
    /// A payout to a beneficiary, or of a supplier's bill.
    Vendor,
}

impl Payout {
    /// The purpose of the payout.
    pub(crate) const fn pays(&self) -> Pays {
        match self.source {
            Some(AnyId { kind: Kind::PayrollItem, .. }) => Pays::Wages,
            None | Some(AnyId { kind: Kind::Bill, .. }) => Pays::Vendor,
            Some(_) => Pays::Escrow,
        }
    }
}

/// The recipient of a payout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Recipient {
    /// The account holder's name.
    pub(crate) name: String,
    /// The bank's code in its country; null if the account's IBAN contains it.
    pub(crate) bank_code: Option<String>,
    /// The last four characters of the account number.
    pub(crate) account_last4: String,
}

impl Recipient {
    /// The recipient with that account.
    pub(crate) fn new<'a>(
        name: &str,
        bank_code: impl Into<Option<&'a str>>,
        account_number: &str,
    ) -> Self {
        let hidden = account_number.chars().count().saturating_sub(4);
        let account_last4 = account_number.chars().skip(hidden).collect();
        Self {
            name: name.to_owned(),
            bank_code: bank_code.into().map(str::to_owned),
            account_last4,
        }
    }
}

/// What the receiving bank reports about an account: its details must be corrected before the next payment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct AccountCorrection {
    /// The code of the payment's rail, such as `C01`. Null if the rail has no such codes.
    pub(crate) code: Option<Cow<'static, str>>,
    /// The rail's own message.
    pub(crate) message: Option<Cow<'static, str>>,
    /// The right bank code. Absent if the code reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bank_code: Option<String>,
    /// The right account number. Absent if the code reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account_number: Option<String>,
    /// When the bank reported the details, in virtual time.
    pub(crate) reported_at: Timestamp,
}

/// Why a payout failed or was returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PaymentFailure")]
pub(crate) struct Failure {
    /// The reason, independent of the rail: `account_closed`, `account_not_found` …
    pub(crate) code: Cow<'static, str>,
    /// The code of the payment's rail. Null if the rail gave none, such as a rail that does not respond.
    pub(crate) return_code: Option<Cow<'static, str>>,
    /// The rail's own message.
    pub(crate) rail_message: Option<Cow<'static, str>>,
    /// Whether the same payment can succeed later.
    pub(crate) retryable: bool,
    /// Whether another attempt makes sense, by the rail's code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry: Option<RailRetry>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipient_shows_the_last_four_characters() {
        assert_eq!(Recipient::new("A", "1", "0123456789").account_last4, "6789");
        assert_eq!(Recipient::new("A", "1", "12").account_last4, "12");
    }
}

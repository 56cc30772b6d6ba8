//! A payout: money on its way to somebody's account.

use crate::model::business::PayConversion;
use crate::model::payments::{Beneficiary, Wallet};
use crate::model::prelude::*;

states! {
    /// Where a payout stands.
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

/// How fast money travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rail {
    Instant,
    SameDay,
    Standard,
}

impl Rail {
    /// From sent to paid.
    pub(crate) const fn delay(self) -> Span {
        match self {
            Self::Instant => Span::seconds(10),
            Self::SameDay => Span::seconds(4 * 60 * 60),
            Self::Standard => Span::BusinessDays(2),
        }
    }
}

/// Money on its way to somebody's account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Payout {
    /// The payout's id.
    pub(crate) id: Id<Payout>,
    /// Always `payout`.
    pub(crate) object: Object<Payout>,
    /// The company that pays.
    pub(crate) company_id: Id<Company>,
    /// The wallet that is debited.
    pub(crate) wallet_id: Id<Wallet>,
    /// The saved payee, where one was named.
    pub(crate) beneficiary_id: Option<Id<Beneficiary>>,
    /// Where it stands.
    pub(crate) status: PayoutStatus,
    /// Minor units.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// The conversion behind wages in another currency than the wallet's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fx: Option<PayConversion>,
    /// The platform's fee, which the wallet bears beside the amount; of payouts to a beneficiary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fee: Option<i64>,
    /// How fast it travels.
    pub(crate) rail: Rail,
    /// When it should arrive, if the receiving bank keeps to the rail's time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) estimated_arrival: Option<Timestamp>,
    /// Who receives it. Account numbers show their last four characters.
    pub(crate) recipient: Arc<Recipient>,
    /// What the receiver reads on the statement.
    pub(crate) reference: String,
    /// What it pays, where that is a resource of its own.
    pub(crate) source: Option<AnyId>,
    /// Who asked for it, where somebody was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) maker: Option<String>,
    /// Who approved it, where somebody was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approver: Option<String>,
    /// Why it did not arrive.
    pub(crate) failure: Option<Failure>,
    /// The one that did not arrive, in whose place this one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) supersedes: Option<Id<Payout>>,
    /// The one that was sent in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) superseded_by: Option<Id<Payout>>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<PayoutStatus>>,
}

/// What a payout pays, which says between which accounts its money moves and who hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pays {
    /// Net pay: an item of a run.
    Wages,
    /// What an escrow held for its seller.
    Escrow,
    /// A beneficiary of the company's own choice.
    Vendor,
}

impl Payout {
    /// What it pays.
    pub(crate) const fn pays(&self) -> Pays {
        match self.source {
            Some(AnyId { kind: Kind::PayrollItem, .. }) => Pays::Wages,
            Some(_) => Pays::Escrow,
            None => Pays::Vendor,
        }
    }

    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(Payout: PayoutStatus);

/// Who receives a payout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Recipient {
    /// The account holder's name.
    pub(crate) name: String,
    /// The bank's code in its country; null where the account's IBAN says it.
    pub(crate) bank_code: Option<String>,
    /// The account number's last four characters.
    pub(crate) account_last4: String,
}

impl Recipient {
    /// The receiver with that account.
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

/// Why a payout did not arrive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Failure {
    /// The neutral reason: `account_closed`, `account_not_found` …
    pub(crate) code: Cow<'static, str>,
    /// The rail's own code.
    pub(crate) return_code: Option<Cow<'static, str>>,
    /// The rail's own words.
    pub(crate) rail_message: Option<Cow<'static, str>>,
    /// Whether sending it again can help.
    pub(crate) retryable: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_payout_can_be_reached() {
        crate::model::lifecycle::assert_sound(PayoutStatus::PendingApproval);
    }

    #[test]
    fn a_recipient_shows_the_last_four_characters() {
        assert_eq!(Recipient::new("A", "1", "0123456789").account_last4, "6789");
        assert_eq!(Recipient::new("A", "1", "12").account_last4, "12");
    }
}

//! A collection: money that a payer is asked for.

use crate::model::payments::{Dispute, Failure, Invoice};
use crate::model::prelude::*;
use crate::value::id::encode_to_string;

states! {
    /// Where a collection stands. What goes back afterwards, by refund or dispute, is told by other members.
    CollectionStatus {
        Pending "pending", RequiresAction "requires_action", Processing "processing", Succeeded "succeeded",
        Settled "settled", Failed "failed", Expired "expired", Cancelled "cancelled",
    }
    "prompt": Pending => RequiresAction;
    "process": Pending | RequiresAction => Processing;
    "succeed": Processing => Succeeded;
    "settle": Succeeded => Settled;
    "fail": Processing => Failed;
    "expire": Pending | RequiresAction => Expired;
    "cancel": Pending | RequiresAction => Cancelled;
}

impl CollectionStatus {
    /// Whether the payer may still pay.
    pub(crate) const fn waits(self) -> bool {
        matches!(self, Self::Pending | Self::RequiresAction)
    }

    /// Whether its reference is taken by it.
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
    /// From the request to the payer's answer, where nobody says otherwise.
    pub(crate) const fn payment(self) -> Span {
        match self {
            Self::Card => Span::seconds(10),
            Self::BankTransfer => Span::BusinessDays(1),
            Self::DirectDebit => Span::seconds(0),
            Self::MobileMoney => Span::seconds(2 * 60),
        }
    }

    /// From the payer's answer to the money.
    pub(crate) const fn processing(self) -> Span {
        match self {
            Self::Card => Span::seconds(2),
            Self::BankTransfer => Span::seconds(60),
            Self::DirectDebit => Span::BusinessDays(3),
            Self::MobileMoney => Span::seconds(30),
        }
    }

    /// From the request to a payer who is late.
    pub(crate) const fn late(self) -> Span {
        match self {
            Self::Card | Self::MobileMoney => Span::seconds(6 * 60 * 60),
            Self::BankTransfer | Self::DirectDebit => Span::seconds(10 * DAY),
        }
    }

    /// Seconds for which a request stands that does not say until when.
    pub(crate) const fn standing(self) -> i64 {
        match self {
            Self::Card | Self::MobileMoney => DAY,
            Self::BankTransfer | Self::DirectDebit => 30 * DAY,
        }
    }

    /// From a refund to the payer's account.
    pub(crate) const fn refund(self) -> Span {
        match self {
            Self::Card => Span::BusinessDays(5),
            Self::DirectDebit => Span::BusinessDays(3),
            Self::BankTransfer | Self::MobileMoney => Span::BusinessDays(1),
        }
    }
}

/// Who is asked for the money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CollectionPayer {
    /// The name.
    pub(crate) name: Option<String>,
    /// The e-mail address.
    pub(crate) email: Option<String>,
    /// The account that the payer pays from.
    pub(crate) account_number: Option<String>,
}

/// An account that is there for one collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct VirtualAccount {
    /// The bank's name.
    pub(crate) bank_name: String,
    /// The bank's code in its country.
    pub(crate) bank_code: String,
    /// The number, with right check digits where the country's have some.
    pub(crate) account_number: String,
    /// The same as an IBAN, where the country has them.
    pub(crate) iban: Option<String>,
    /// Whom the payer sees as its holder.
    pub(crate) account_name: String,
}

/// How much of what was collected has gone back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefundStanding {
    #[default]
    None,
    PartiallyRefunded,
    Refunded,
}

/// Money that a payer is asked for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Collection {
    /// The collection's id.
    pub(crate) id: Id<Collection>,
    /// Always `collection`.
    pub(crate) object: Object<Collection>,
    /// The company that asks.
    pub(crate) company_id: Id<Company>,
    /// Where it stands.
    pub(crate) status: CollectionStatus,
    /// How the payer pays.
    pub(crate) method: CollectionMethod,
    /// Minor units that are asked for.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// Minor units that were paid: less than the amount where the payer paid short.
    pub(crate) amount_received: i64,
    /// What the service kept of them when they were settled.
    pub(crate) fee: i64,
    /// Minor units that have gone back to the payer.
    pub(crate) amount_refunded: i64,
    /// Minor units that are on their way back.
    pub(crate) amount_refund_pending: i64,
    /// How much of what was paid has gone back.
    pub(crate) refund_status: RefundStanding,
    /// Minor units that the payer's bank took back for good.
    pub(crate) amount_charged_back: i64,
    /// Whether a dispute about it is open.
    pub(crate) disputed: bool,
    /// The last dispute about it.
    pub(crate) dispute_id: Option<Id<Dispute>>,
    /// Who is asked.
    pub(crate) payer: CollectionPayer,
    /// The company's own word for it, which the payer names: unique among its open collections.
    pub(crate) reference: String,
    /// The invoice that it is for.
    pub(crate) invoice_id: Option<Id<Invoice>>,
    /// Where a payer by bank transfer sends the money.
    pub(crate) virtual_account: Option<VirtualAccount>,
    /// Where a payer by card pays. Nothing is served there: the sandbox pays by itself.
    pub(crate) checkout_url: Option<String>,
    /// Why it failed.
    pub(crate) failure: Option<Failure>,
    /// Until when the payer may pay.
    pub(crate) expires_at: Option<Timestamp>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// The caller's own pairs.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<CollectionStatus>>,
}

impl Collection {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.company_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }

    /// What it is found by while it is open.
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

    /// What has neither gone back nor is on its way back, nor was taken back.
    pub(crate) const fn left(&self) -> i64 {
        self.amount_received
            - self.amount_refunded
            - self.amount_refund_pending
            - self.amount_charged_back
    }
}

stateful!(Collection: CollectionStatus);

/// What a payer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Payment {
    /// Pays that much.
    Pays(i64),
    /// Pays all of it, and wants it back so much later; in the bank's own time if nothing is said.
    PaysAndDisputes(Option<Span>),
    /// Cannot pay, or will not.
    Fails(crate::model::payments::return_code::ReturnCode),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_collection_can_be_reached() {
        crate::model::lifecycle::assert_sound(CollectionStatus::Pending);
    }
}

//! A row of a reconciliation: a line of the bank and the transactions that it is about, or what one side has and the other has not.

use crate::model::payments::{BankStatement, StatementLine, Wallet};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction};

/// From this confidence on, in hundredths, a line counts as matched without anybody's word.
pub(crate) const CERTAIN: u8 = 95;

states! {
    /// Where a row stands.
    MatchStatus {
        Unmatched "unmatched", Suggested "suggested", Matched "matched", Exception "exception", Ignored "ignored",
    }
    "suggest": Unmatched => Suggested;
    "match": Unmatched | Suggested | Exception => Matched;
    "confirm": Suggested => Matched;
    "except": Unmatched => Exception;
    "ignore": Unmatched | Suggested | Exception => Ignored;
    "reject": Suggested | Matched => Unmatched;
}

/// Whose record a row begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Side {
    /// A line of the bank's statement.
    Bank,
    /// A transaction of the wallet that is on no statement.
    Ledger,
}

/// What kind of thing is out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExceptionKind {
    /// The bank took a fee that the books do not have.
    BankFee,
    /// What the line is about is matched with another line.
    DuplicateLine,
    /// A transaction has the line's reference, and another amount.
    AmountDiffers,
    /// The books have nothing that fits.
    NotInBooks,
    /// The wallet has a transaction that the statement has not.
    MissingLine,
}

impl ExceptionKind {
    /// As a history says it.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::BankFee => "a fee of the bank",
            Self::DuplicateLine => "a line that was there before",
            Self::AmountDiffers => "another amount under this reference",
            Self::NotInBooks => "nothing in the books fits",
            Self::MissingLine => "on no statement of its day",
        }
    }
}

/// What speaks for a match, or against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    /// Amount and direction are the transaction's.
    AmountEqual,
    /// Amount and direction are those of the transactions together.
    SumEqual,
    /// The line has the transaction's reference.
    ReferenceEqual,
    /// The line has a part of the transaction's reference, or one much like it.
    ReferencePartly,
    /// The line has another reference than the transaction.
    ReferenceOther,
    /// The bank booked it on the transaction's day.
    SameDay,
    /// The bank booked it up to two business days from there.
    DaysApart,
    /// The bank booked it up to a week from there.
    WeekApart,
    /// Nothing else of the wallet fits, and no other line.
    OnlyCandidate,
    /// Others would fit, too.
    SeveralCandidates,
    /// The line has the transaction's description.
    DescriptionEqual,
    /// The line says of how many transactions it is.
    CountEqual,
    /// The line speaks of a fee.
    FeeWords,
    /// The same line was there before.
    CopyOfLine,
    /// Another line is matched with what fits.
    AlreadyMatched,
    /// The transaction with this reference has another amount.
    AmountDiffers,
    /// No transaction of the days around has this amount.
    NothingFits,
    /// No line of the statement fits the transaction.
    NoLine,
    /// The statement ends so soon after it that a later one may have it.
    NearTheEnd,
    /// Somebody said so.
    ByHand,
}

/// A row of a reconciliation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReconciliationMatch {
    /// The row's id.
    pub(crate) id: Id<ReconciliationMatch>,
    /// Always `reconciliation_match`.
    pub(crate) object: Object<ReconciliationMatch>,
    /// Whose account it is.
    pub(crate) company_id: Id<Company>,
    /// The wallet that is the account.
    pub(crate) wallet_id: Id<Wallet>,
    /// The statement that it belongs to.
    pub(crate) statement_id: Id<BankStatement>,
    /// Where it stands.
    pub(crate) status: MatchStatus,
    /// Whose record it begins with.
    pub(crate) side: Side,
    /// The bank's line; null where the bank has none.
    pub(crate) line: Option<Arc<StatementLine>>,
    /// The transactions that it is matched with, or that are suggested; of an exception, those that it is about.
    pub(crate) transaction_ids: Vec<Id<WalletTransaction>>,
    /// The line's day, or the transaction's where there is no line.
    pub(crate) date: Date,
    /// Minor units: the line's, or the transaction's where there is no line.
    pub(crate) amount: i64,
    /// Their currency.
    pub(crate) currency: Currency,
    /// Money in, or money out.
    pub(crate) direction: TransactionType,
    /// How sure the match is, in hundredths: 95 is 0.95. Null where nothing was compared.
    pub(crate) confidence: Option<u8>,
    /// What speaks for the match, or for the exception.
    pub(crate) reasons: Vec<Reason>,
    /// What is out of order; null where nothing is.
    pub(crate) exception: Option<ExceptionKind>,
    /// What the one who resolved it said.
    pub(crate) note: Option<String>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Always empty.
    pub(crate) metadata: Metadata,
    /// Every status it had.
    pub(crate) status_history: Vec<StatusChange<MatchStatus>>,
}

impl ReconciliationMatch {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.statement_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(ReconciliationMatch: MatchStatus);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_a_reconciliation_match_can_be_reached() {
        crate::model::lifecycle::assert_sound(MatchStatus::Unmatched);
    }
}

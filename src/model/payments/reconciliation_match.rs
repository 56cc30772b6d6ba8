//! A row of a reconciliation: a bank line with its transactions, or an unmatched line or transaction.

use crate::model::payments::{BankStatement, StatementLine, Wallet};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction};

/// The minimum confidence, in hundredths, for an automatic match.
pub(crate) const CERTAIN: u8 = 95;

states! {
    /// Status of a row.
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

/// Whose record the row is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "ReconciliationSide")]
pub(crate) enum Side {
    /// A line of the bank's statement.
    Bank,
    /// A wallet transaction that is on no statement.
    Ledger,
}

/// The kind of exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExceptionKind {
    /// A bank fee that is not in the books.
    BankFee,
    /// The line's transaction is matched with another line.
    DuplicateLine,
    /// A transaction has the line's reference but another amount.
    AmountDiffers,
    /// No transaction in the books matches.
    NotInBooks,
    /// The statement lacks a transaction of the wallet.
    MissingLine,
}

impl ExceptionKind {
    /// The wording in a status history.
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

/// Evidence for or against a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MatchReason")]
pub(crate) enum Reason {
    /// Amount and direction are equal.
    AmountEqual,
    /// The amount equals the sum of the transactions, in the same direction.
    SumEqual,
    /// The reference is equal.
    ReferenceEqual,
    /// The line has a part of the transaction's reference, or a similar one.
    ReferencePartly,
    /// The line has a different reference.
    ReferenceOther,
    /// The bank booked it on the transaction's day.
    SameDay,
    /// The bank booked it up to two business days away.
    DaysApart,
    /// The bank booked it up to a week away.
    WeekApart,
    /// No other transaction and no other line matches.
    OnlyCandidate,
    /// Other transactions would match, too.
    SeveralCandidates,
    /// The description is equal.
    DescriptionEqual,
    /// The line states the number of transactions.
    CountEqual,
    /// The line contains a word for a fee.
    FeeWords,
    /// The line is a copy of an earlier line.
    CopyOfLine,
    /// Another line is matched with the transaction.
    AlreadyMatched,
    /// The transaction with this reference has another amount.
    AmountDiffers,
    /// No transaction near this day has this amount.
    NothingFits,
    /// No line of the statement matches the transaction.
    NoLine,
    /// The transaction is so near the end of the statement that a later statement may contain it.
    NearTheEnd,
    /// Matched by a caller.
    ByHand,
}

/// A row of a reconciliation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ReconciliationMatch {
    /// The row's id.
    pub(crate) id: Id<ReconciliationMatch>,
    /// Always `reconciliation_match`.
    pub(crate) object: Object<ReconciliationMatch>,
    /// The company that owns the account.
    pub(crate) company_id: Id<Company>,
    /// The wallet that represents the account.
    pub(crate) wallet_id: Id<Wallet>,
    /// The statement that the row belongs to.
    pub(crate) statement_id: Id<BankStatement>,
    /// Current status.
    pub(crate) status: MatchStatus,
    /// Whose record the row is based on.
    pub(crate) side: Side,
    /// The bank's line; null if the bank has none.
    pub(crate) line: Option<Arc<StatementLine>>,
    /// The matched or suggested transactions; for an exception, those concerned.
    pub(crate) transaction_ids: Vec<Id<WalletTransaction>>,
    /// The line's day, or the transaction's if there is no line.
    pub(crate) date: Date,
    /// Amount in minor units: the line's, or the transaction's if there is no line.
    pub(crate) amount: i64,
    /// Currency of the amount.
    pub(crate) currency: Currency,
    /// Direction of the money: in or out.
    pub(crate) direction: TransactionType,
    /// Confidence of the match in percent, 0 to 100. Null if nothing was compared.
    pub(crate) confidence: Option<u8>,
    /// The evidence for the match or the exception.
    pub(crate) reasons: Vec<Reason>,
    /// The kind of exception; null if there is none.
    pub(crate) exception: Option<ExceptionKind>,
    /// The note given when the row was resolved.
    pub(crate) note: Option<String>,
    /// When it was created, in virtual time.
    pub(crate) created_at: Timestamp,
    /// When it last changed, in virtual time.
    pub(crate) updated_at: Timestamp,
    /// Always empty.
    pub(crate) metadata: Metadata,
    /// Every status the resource has had, oldest first.
    pub(crate) status_history: StatusHistory<MatchStatus>,
}

stateful!(ReconciliationMatch: MatchStatus);

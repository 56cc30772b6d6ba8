//! A bank statement: the transactions that a bank reports for an account, and how far they match the books.

use crate::model::payments::{MatchStatus, Wallet};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction};

/// The maximum number of lines in a statement.
pub(crate) const MOST_LINES: usize = 10_000;

states! {
    /// Status of a statement.
    StatementStatus { Processing "processing", Imported "imported" }
    "import": Processing => Imported;
}

/// Where a statement's lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementSource {
    /// The lines were in the request.
    Lines,
    /// The lines were in a file in a bank's format.
    File,
    /// The sandbox simulated the bank.
    Simulated,
    /// The bank reported a single line, not the whole day.
    Inbound,
}

impl StatementSource {
    /// Whether the statement is complete for its days. Transactions that are not on a complete statement are missing.
    pub(crate) const fn is_complete(self) -> bool {
        !matches!(self, Self::Inbound)
    }
}

/// The file formats that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementFormat {
    /// ISO 20022 camt.053, versions 02 to 13.
    Camt053,
    /// SWIFT MT940.
    Mt940,
    /// Open Financial Exchange, version 1 (SGML) or 2 (XML).
    Ofx,
    /// BAI2 of the Bank Administration Institute.
    Bai2,
    /// A table with the columns of `csv`.
    Csv,
}

/// One line of a statement, as the bank wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StatementLine {
    /// The line's id.
    pub(crate) id: Id<StatementLine>,
    /// Position in the statement, from 1.
    pub(crate) number: u32,
    /// The bank's booking day.
    pub(crate) date: Date,
    /// Minor units, from 1.
    pub(crate) amount: i64,
    /// Direction of the money: in or out.
    pub(crate) direction: TransactionType,
    /// The bank's description.
    pub(crate) description: Option<String>,
    /// The payment reference known to payer and payee.
    pub(crate) reference: Option<String>,
}

impl Prefixed for StatementLine {
    const PREFIX: &'static str = "bsl";
    const NAME: &'static str = "statement_line";
}

/// How a simulated bank changes a line compared with the books.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "StatementNoise")]
pub(crate) enum Noise {
    /// Several transactions in one line.
    Merged,
    /// Booked on another business day.
    Shifted,
    /// The reference is cut off at the end.
    ReferenceCut,
    /// Some characters of the reference are wrong.
    ReferenceGarbled,
    /// The reference is missing.
    ReferenceMissing,
    /// A duplicate of the previous line.
    Duplicate,
    /// The bank's own fee, which is not in the books.
    Fee,
}

/// The facts about a generated line that a real bank would not send.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Truth {
    /// The transactions in the line; empty for a fee or a duplicate.
    pub(crate) transactions: Vec<Id<WalletTransaction>>,
    /// The changes made to the line.
    pub(crate) noise: Vec<Noise>,
}

/// The correct answer for a simulated statement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Truths {
    /// One entry per line.
    pub(crate) lines: Vec<Truth>,
    /// Transactions of the statement's days that the bank left out.
    pub(crate) left_out: Vec<Id<WalletTransaction>>,
}

/// Number of reconciliation rows by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MatchCounts {
    /// Rows that are neither matched nor suggested.
    pub(crate) unmatched: u32,
    /// Rows with a suggestion that is not confirmed yet.
    pub(crate) suggested: u32,
    /// Rows that are matched, automatically or by a caller.
    pub(crate) matched: u32,
    /// Rows without a match: a fee, a duplicate, or a line or transaction that the other side does
    /// not have.
    pub(crate) exception: u32,
    /// Rows that a caller ignored.
    pub(crate) ignored: u32,
}

impl MatchCounts {
    fn of(&mut self, status: MatchStatus) -> &mut u32 {
        match status {
            MatchStatus::Unmatched => &mut self.unmatched,
            MatchStatus::Suggested => &mut self.suggested,
            MatchStatus::Matched => &mut self.matched,
            MatchStatus::Exception => &mut self.exception,
            MatchStatus::Ignored => &mut self.ignored,
        }
    }

    /// Counts one more row with that status.
    pub(crate) fn add(&mut self, status: MatchStatus) {
        *self.of(status) += 1;
    }

    /// Moves one row from one status to another.
    pub(crate) fn shift(&mut self, from: MatchStatus, to: MatchStatus) {
        let count = self.of(from);
        *count = count.saturating_sub(1);
        self.add(to);
    }
}

/// A bank statement as stored, with its lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BankStatement {
    pub(crate) id: Id<BankStatement>,
    pub(crate) company_id: Id<Company>,
    pub(crate) wallet_id: Id<Wallet>,
    pub(crate) status: StatementStatus,
    pub(crate) source: StatementSource,
    pub(crate) format: Option<StatementFormat>,
    pub(crate) from: Date,
    pub(crate) to: Date,
    pub(crate) currency: Currency,
    pub(crate) opening_balance: Option<i64>,
    pub(crate) closing_balance: Option<i64>,
    pub(crate) lines: Arc<Vec<Arc<StatementLine>>>,
    /// Present for a simulated statement.
    pub(crate) truths: Option<Arc<Truths>>,
    pub(crate) matches: MatchCounts,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) metadata: Metadata,
    pub(crate) status_history: StatusHistory<StatementStatus>,
}

stateful!(BankStatement: StatementStatus);

impl BankStatement {
    /// The sum of the amounts in one direction.
    fn total(&self, direction: TransactionType) -> i64 {
        let of = self.lines.iter().filter(|line| line.direction == direction);
        of.map(|line| line.amount).fold(0, i64::saturating_add)
    }

    fn balance_difference(&self) -> Option<i64> {
        let lines = self.total(TransactionType::Credit) - self.total(TransactionType::Debit);
        Some(self.closing_balance? - self.opening_balance? - lines)
    }
}

shown! {
    /// The transactions that a bank reports for an account. The lines are listed as rows of the reconciliation.
    #[schemars(rename = "BankStatement")]
    BankStatementShape<'a> of BankStatement, |it| {
        /// The company that owns the account.
        company_id: Id<Company>;
        /// The wallet that represents the account.
        wallet_id: Id<Wallet>;
        /// Current status.
        status: StatementStatus;
        /// Where its lines come from.
        source: StatementSource;
        /// The format of the imported file, if any.
        format: Option<StatementFormat>;
        /// The first day of the statement.
        from: Date;
        /// The last day of the statement.
        to: Date;
        /// The currency of its amounts.
        currency: Currency;
        /// The bank's balance before the first line, in minor units; null if unknown.
        opening_balance: Option<i64>;
        /// The bank's balance after the last line, in minor units; null if unknown.
        closing_balance: Option<i64>;
        /// The closing balance less the opening balance and the lines, in minor units: 0 if they agree, null if a balance is unknown.
        balance_difference: Option<i64> = it.balance_difference();
        /// The number of lines.
        line_count: u64 = it.lines.len() as u64;
        /// Sum of incoming amounts, in minor units.
        credit_total: i64 = it.total(TransactionType::Credit);
        /// Sum of outgoing amounts, in minor units.
        debit_total: i64 = it.total(TransactionType::Debit);
        /// Number of reconciliation rows by status; all zero until the statement is imported.
        matches: MatchCounts;
        /// When it was created, in virtual time.
        created_at: Timestamp;
        /// When it last changed, in virtual time.
        updated_at: Timestamp;
        /// Key-value pairs set by the caller.
        metadata: &'a Metadata = &it.metadata;
        /// Every status the resource has had, oldest first.
        status_history: &'a [StatusChange<StatementStatus>] = &it.status_history;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_follow_the_rows() {
        let mut counts = MatchCounts::default();
        counts.add(MatchStatus::Suggested);
        counts.add(MatchStatus::Suggested);
        counts.shift(MatchStatus::Suggested, MatchStatus::Matched);
        assert_eq!((counts.suggested, counts.matched), (1, 1));
    }
}

//! A bank statement: what a bank says happened on an account, line by line, and how far that fits the books.

use crate::model::payments::{MatchStatus, Wallet};
use crate::model::prelude::*;
use crate::model::{TransactionType, WalletTransaction, Wire};

/// Lines that one statement has at most.
pub(crate) const MOST_LINES: usize = 10_000;

states! {
    /// Where a statement stands.
    StatementStatus { Processing "processing", Imported "imported" }
    "import": Processing => Imported;
}

/// Where a statement's lines come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementSource {
    /// The request had them.
    Lines,
    /// A file in a bank's format had them.
    File,
    /// The sandbox played the bank.
    Simulated,
    /// The bank told of one line, and not of all of its day.
    Inbound,
}

impl StatementSource {
    /// Whether the statement claims to have everything that its days had: what is not on it is missing.
    pub(crate) const fn is_complete(self) -> bool {
        !matches!(self, Self::Inbound)
    }
}

/// The formats of files that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StatementFormat {
    /// ISO 20022 camt.053, versions 02 to 13.
    Camt053,
    /// SWIFT MT940.
    Mt940,
}

/// One line of a statement, as the bank wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StatementLine {
    /// The line's id.
    pub(crate) id: Id<StatementLine>,
    /// Its place in the statement, from 1.
    pub(crate) number: u32,
    /// The day on which the bank booked it.
    pub(crate) date: Date,
    /// Minor units, from 1.
    pub(crate) amount: i64,
    /// Money in, or money out.
    pub(crate) direction: TransactionType,
    /// What the bank wrote.
    pub(crate) description: Option<String>,
    /// What payer and payee know the payment by.
    pub(crate) reference: Option<String>,
}

impl Prefixed for StatementLine {
    const PREFIX: &'static str = "bsl";
    const NAME: &'static str = "statement_line";
}

/// What a bank does to a line on its way from the books to the statement.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Noise {
    /// Several transactions in one line.
    Merged,
    /// Booked on another business day.
    Shifted,
    /// The end of the reference is missing.
    ReferenceCut,
    /// Some characters of the reference are others.
    ReferenceGarbled,
    /// There is no reference.
    ReferenceMissing,
    /// The line before once more.
    Duplicate,
    /// The bank's own fee, of which the books know nothing.
    Fee,
}

/// What the sandbox knows of a line that it made up itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Truth {
    /// The transactions that it is about; none of a fee or a duplicate.
    pub(crate) transactions: Vec<Id<WalletTransaction>>,
    /// What was done to it.
    pub(crate) noise: Vec<Noise>,
}

/// What a simulated statement was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Truths {
    /// By line.
    pub(crate) lines: Vec<Truth>,
    /// Transactions of its days that the bank left out.
    pub(crate) left_out: Vec<Id<WalletTransaction>>,
}

/// How many rows of a statement's reconciliation stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct MatchCounts {
    /// Neither matched nor suggested.
    pub(crate) unmatched: u32,
    /// Waiting for somebody to confirm.
    pub(crate) suggested: u32,
    /// Matched, by the sandbox or by hand.
    pub(crate) matched: u32,
    /// Nothing fits: a fee, a duplicate, a line or transaction that the other side does not have.
    pub(crate) exception: u32,
    /// Set aside by hand.
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

    /// One more row stands there.
    pub(crate) fn add(&mut self, status: MatchStatus) {
        *self.of(status) += 1;
    }

    /// A row moves.
    pub(crate) fn shift(&mut self, from: MatchStatus, to: MatchStatus) {
        let count = self.of(from);
        *count = count.saturating_sub(1);
        self.add(to);
    }
}

/// What a bank says happened on an account, as it is kept: with its lines.
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
    /// Of a simulated one.
    pub(crate) truths: Option<Arc<Truths>>,
    pub(crate) matches: MatchCounts,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) metadata: Metadata,
    pub(crate) status_history: Vec<StatusChange<StatementStatus>>,
}

impl BankStatement {
    pub(crate) const fn parent_bits(&self) -> u64 {
        self.wallet_id.bits()
    }

    pub(crate) const fn company_of(&self) -> Id<Company> {
        self.company_id
    }
}

stateful!(BankStatement: StatementStatus);

/// What a bank says happened on an account. Its lines are rows of the reconciliation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BankStatement")]
pub(crate) struct BankStatementShape<'a> {
    /// The statement's id.
    id: Id<BankStatement>,
    /// Always `bank_statement`.
    object: Object<BankStatement>,
    /// Whose account it is.
    company_id: Id<Company>,
    /// The wallet that is the account.
    wallet_id: Id<Wallet>,
    /// Where it stands.
    status: StatementStatus,
    /// Where its lines come from.
    source: StatementSource,
    /// The format of the file, where it was one.
    format: Option<StatementFormat>,
    /// Its first day.
    from: Date,
    /// Its last day.
    to: Date,
    /// The currency of its amounts.
    currency: Currency,
    /// What the bank says was there before the first line; null where it does not say.
    opening_balance: Option<i64>,
    /// What the bank says is there after the last line; null where it does not say.
    closing_balance: Option<i64>,
    /// How many lines it has.
    line_count: u64,
    /// What its lines bring in, in minor units.
    credit_total: i64,
    /// What its lines take out, in minor units.
    debit_total: i64,
    /// How many rows of its reconciliation stand where; all zero until it is imported.
    matches: MatchCounts,
    /// When it was created, in virtual time.
    created_at: Timestamp,
    /// When it last changed, in virtual time.
    updated_at: Timestamp,
    /// The caller's own pairs.
    metadata: &'a Metadata,
    /// Every status it had.
    status_history: &'a [StatusChange<StatementStatus>],
}

impl Wire for BankStatement {
    type Shape<'a> = BankStatementShape<'a>;

    fn wire(&self) -> BankStatementShape<'_> {
        let total = |direction| {
            let of = self.lines.iter().filter(|line| line.direction == direction);
            of.map(|line| line.amount).sum()
        };
        BankStatementShape {
            id: self.id,
            object: Object::NAME,
            company_id: self.company_id,
            wallet_id: self.wallet_id,
            status: self.status,
            source: self.source,
            format: self.format,
            from: self.from,
            to: self.to,
            currency: self.currency,
            opening_balance: self.opening_balance,
            closing_balance: self.closing_balance,
            line_count: self.lines.len() as u64,
            credit_total: total(TransactionType::Credit),
            debit_total: total(TransactionType::Debit),
            matches: self.matches,
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
    fn every_status_of_a_bank_statement_can_be_reached() {
        crate::model::lifecycle::assert_sound(StatementStatus::Processing);
    }

    #[test]
    fn counts_follow_the_rows() {
        let mut counts = MatchCounts::default();
        counts.add(MatchStatus::Suggested);
        counts.add(MatchStatus::Suggested);
        counts.shift(MatchStatus::Suggested, MatchStatus::Matched);
        assert_eq!((counts.suggested, counts.matched), (1, 1));
    }
}

//! The generation of a simulated statement, for measuring the sandbox's matcher or the caller's
//! own.

use crate::api::prelude::*;
use crate::model::WalletTransaction;
use crate::model::payments::{
    BankStatement, MatchStatus, Noise, ReconciliationMatch, StatementLine, Truth, Truths,
};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([Operation {
    path: "/_sandbox/bank-statements/{bank_statement_id}/truth",
    summary: "Read how a simulated statement was generated",
    description: "Returns the transactions and changes of each line, the transactions that were \
        left out, and how much of it the reconciliation has found so far. Only for statements \
        simulated by the sandbox; others return 404.",
    long: true,
    ..operation!(read get_statement_truth)
}]);

/// The correct answer for a simulated statement.
#[derive(Serialize, JsonSchema)]
pub(crate) struct StatementTruth {
    /// The statement.
    bank_statement_id: Id<BankStatement>,
    /// Every line, in order.
    lines: Vec<LineTruth>,
    /// Transactions of the statement's days that are on no line.
    left_out: Vec<Id<WalletTransaction>>,
    /// The result of the reconciliation so far.
    score: Score,
}

/// How a line was generated.
#[derive(Serialize, JsonSchema)]
struct LineTruth {
    /// The id of the line.
    line_id: Id<StatementLine>,
    /// Position in the statement, from 1.
    number: u32,
    /// The transactions in the line; empty for a fee or a duplicate.
    transaction_ids: Vec<Id<WalletTransaction>>,
    /// The changes made to the line.
    noise: Vec<Noise>,
}

/// Number of lines by reconciliation result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MatchScore")]
pub(crate) struct Score {
    /// Lines that contain transactions.
    pub(crate) lines: u64,
    /// Lines that are matched.
    pub(crate) matched: u64,
    /// Lines that are matched with exactly their transactions.
    pub(crate) matched_right: u64,
    /// Lines with a suggestion.
    pub(crate) suggested: u64,
    /// Lines whose suggestion is exactly right.
    pub(crate) suggested_right: u64,
}

impl Score {
    /// Compares rows with the correct transactions of their lines.
    pub(crate) fn of<'a>(
        truths: &Truths,
        rows: impl Iterator<Item = &'a ReconciliationMatch>,
    ) -> Self {
        let about = |truth: &&Truth| !truth.transactions.is_empty();
        let mut score =
            Self { lines: truths.lines.iter().filter(about).count() as u64, ..Self::default() };
        for row in rows {
            let place = row.line.as_ref().map(|line| line.number as usize);
            let truth = place.and_then(|number| truths.lines.get(number.checked_sub(1)?));
            let Some(truth) = truth else { continue };
            let sorted = |ids: &[Id<WalletTransaction>]| {
                let mut ids = ids.to_vec();
                ids.sort_unstable();
                ids
            };
            let right = sorted(&row.transaction_ids) == sorted(&truth.transactions);
            match row.status {
                MatchStatus::Matched => {
                    score.matched += 1;
                    score.matched_right += u64::from(right);
                }
                MatchStatus::Suggested => {
                    score.suggested += 1;
                    score.suggested_right += u64::from(right);
                }
                _ => {}
            }
        }
        score
    }
}

fn get_statement_truth(world: &World, input: One<BankStatement>) -> Result<Plain<StatementTruth>> {
    let statement = world.get(input.id)?;
    let Some(truths) = &statement.truths else {
        let detail = "the sandbox did not generate this statement";
        return Err(ApiError::new(ErrorCode::ResourceNotFound, detail).about(statement.id));
    };
    let lines = statement.lines.iter().zip(&truths.lines);
    let lines = lines.map(|(line, truth)| LineTruth {
        line_id: line.id,
        number: line.number,
        transaction_ids: truth.transactions.clone(),
        noise: truth.noise.clone(),
    });
    let rows: Vec<_> = world
        .children::<ReconciliationMatch>(statement.id.bits())
        .filter_map(|id| world.find(id))
        .collect();
    Ok(Plain(StatementTruth {
        bank_statement_id: statement.id,
        lines: lines.collect(),
        left_out: truths.left_out.clone(),
        score: Score::of(truths, rows.iter().map(AsRef::as_ref)),
    }))
}

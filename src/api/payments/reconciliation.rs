//! The reconciliation of wallets with bank statements: the rows, and decisions about them.

use crate::api::payments::statement_clock::{claim, count};
use crate::api::prelude::*;
use crate::model::payments::{BankStatement, MatchStatus, Reason, ReconciliationMatch, Side};
use crate::model::{TransactionType, WalletTransaction};

/// Maximum number of transactions matched with one line by hand.
const MOST_BY_HAND: usize = 100;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/reconciliation-matches",
        summary: "List reconciliation matches",
        description: "Lists the rows of all imported statements, in order. Each statement has one \
            row for each line, and then one row (`side: ledger`) for each transaction that is not \
            on the statement. A confidence of 95 or more is a match; a confidence from 60 to 94 is \
            a suggestion.",
        ..operation!(read list_reconciliation_matches)
    },
    Operation {
        path: "/api/payments/reconciliation-matches/{match_id}/resolve",
        summary: "Resolve a reconciliation match",
        description: "Resolves a row. `confirm` accepts a suggestion. `reject` rejects a \
            suggestion or a match. `match` matches a line with transactions of its wallet; their \
            sum must be the line's amount. `ignore` is for a row that needs no action. A row \
            without a bank line can only be ignored: to match its transaction, resolve the row of \
            the line.",
        example: r#"{"action":"ignore","note":"The bank's own fee"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["reconciliation_match.resolved"],
        ..operation!(write resolve_reconciliation_match)
    },
]);

list! {
    fn list_reconciliation_matches(ListReconciliationMatches) -> ReconciliationMatch, of statement_id;
    filter
        company_id: Id<Company>,
        status: MatchStatus,
        statement_id: Id<BankStatement>,
        /// Minimum confidence in percent, 0 to 100. Rows without a confidence, such as exceptions, are left out.
        #[schemars(range(min = 0, max = 100))]
        min_confidence: u8 => |least, row| row.confidence.is_some_and(|sure| sure >= *least);
    sort created_at, date, amount, confidence;
}

/// The decision about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchAction {
    /// The suggestion is correct.
    Confirm,
    /// The suggestion or the match is wrong.
    Reject,
    /// The line contains these transactions.
    Match,
    /// The row needs no action.
    Ignore,
}

impl MatchAction {
    const fn verb(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Reject => "reject",
            Self::Match => "match",
            Self::Ignore => "ignore",
        }
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ResolveReconciliationMatch {
    /// The row.
    match_id: Id<ReconciliationMatch>,
    /// What to do with the row.
    action: MatchAction,
    /// For `match`: the transactions in the line. Their sum must be the line's amount.
    #[schemars(length(min = 1, max = MOST_BY_HAND), extend("uniqueItems" = true))]
    transaction_ids: Option<Vec<Id<WalletTransaction>>>,
    /// The reason for the decision.
    note: Option<Text<500>>,
}

fn resolve_reconciliation_match(
    world: &mut World,
    input: ResolveReconciliationMatch,
) -> Result<Single<ReconciliationMatch>> {
    let by_hand = match (input.action, input.transaction_ids) {
        (MatchAction::Match, None) => {
            let detail = "transaction_ids is required for match";
            return Err(ApiError::of_member("/transaction_ids", "required", detail));
        }
        (MatchAction::Match, ids) => ids,
        (_, Some(_)) => {
            let detail = "transaction_ids is allowed only for match";
            return Err(ApiError::of_member("/transaction_ids", "unknown", detail));
        }
        (_, None) => None,
    };
    let note = input.note.map(Text::into_string);
    resolve(world, input.match_id, input.action, by_hand, note)?;
    let row = world.get(input.match_id)?;
    Ok(Data(Shown(row)))
}

/// Decides about a row.
pub(crate) fn resolve(
    world: &mut World,
    id: Id<ReconciliationMatch>,
    action: MatchAction,
    by_hand: Option<Vec<Id<WalletTransaction>>>,
    note: Option<String>,
) -> Result<()> {
    let mut row = (*world.get(id)?).clone();
    if row.side == Side::Ledger && action != MatchAction::Ignore {
        let mut error = refused(
            id,
            row.status,
            "this row has no bank line: match the row of the line instead".to_owned(),
        );
        let ignore = error.allowed.take().unwrap_or_default();
        error.allowed = Some(ignore.into_iter().filter(|to| *to == "ignored").collect());
        return Err(error);
    }
    let before = row.status;
    let status = step(action.verb(), "the row", id, before)?;
    match action {
        MatchAction::Confirm => all_free(world, &row)?,
        MatchAction::Match => {
            let ids = by_hand.unwrap_or_default();
            fits(world, &row, &ids)?;
            row.transaction_ids = ids;
            row.confidence = None;
            row.reasons = vec![Reason::SumEqual, Reason::ByHand];
            row.exception = None;
        }
        MatchAction::Reject => {
            if before == MatchStatus::Matched {
                for &transaction in &row.transaction_ids {
                    world.set_reconciled(transaction, None);
                }
            }
            row.transaction_ids.clear();
            row.confidence = None;
            row.reasons.clear();
        }
        MatchAction::Ignore => {}
    }
    if note.is_some() {
        row.note.clone_from(&note);
    }
    if status == MatchStatus::Matched {
        claim(world, &row);
    }
    count(world, row.statement_id, before, status);
    row.enter_because(status, world.now(), note);
    world.record("reconciliation_match.resolved", row);
    Ok(())
}

/// The line that a transaction is matched with, if any.
fn taken(world: &World, transaction: Id<WalletTransaction>) -> Option<Id<ReconciliationMatch>> {
    let row = world.find(world.reconciled(transaction)?)?;
    (row.side == Side::Bank).then_some(row.id)
}

/// A suggestion reserves nothing: its transactions may have been matched in the meantime.
fn all_free(world: &World, row: &ReconciliationMatch) -> Result<()> {
    for &transaction in &row.transaction_ids {
        if let Some(other) = taken(world, transaction) {
            let detail =
                format!("{transaction} is already matched in {other}: reject one of the two rows");
            return Err(refused(row.id, row.status, detail));
        }
    }
    Ok(())
}

/// Whether the given transactions belong to the wallet, are unmatched, and sum to the line's amount.
fn fits(world: &World, row: &ReconciliationMatch, ids: &[Id<WalletTransaction>]) -> Result<()> {
    let wallet = world.get(row.wallet_id)?;
    let statement = world.statement(&wallet);
    let named: Vec<_> = statement.iter().filter(|one| ids.contains(&one.id)).collect();
    let mut wrong = Vec::new();
    let mut sum: i128 = 0;
    for (place, id) in ids.iter().enumerate() {
        let pointer = format!("/transaction_ids/{place}");
        let Some(one) = named.iter().find(|one| one.id == *id) else {
            let detail = "the wallet has no transaction with this id";
            wrong.push(Violation::new(pointer, "not_found", detail));
            continue;
        };
        if let Some(other) = taken(world, *id) {
            let detail = format!("{other} already matches it");
            wrong.push(Violation::new(pointer, "already_matched", detail));
        }
        sum += signed(one.kind, one.amount);
    }
    let wanted = signed(row.direction, row.amount);
    if wrong.is_empty() && sum != wanted {
        let detail =
            format!("the transactions sum to {sum} minor units, but the line has {wanted}");
        wrong.push(Violation::new("/transaction_ids", "sum_differs", detail));
    }
    if wrong.is_empty() { Ok(()) } else { Err(ApiError::invalid(wrong)) }
}

fn signed(direction: TransactionType, amount: i64) -> i128 {
    match direction {
        TransactionType::Credit => i128::from(amount),
        TransactionType::Debit => -i128::from(amount),
    }
}

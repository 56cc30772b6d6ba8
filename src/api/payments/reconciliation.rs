//! The reconciliation of wallets with their banks: rows as they were found, and what somebody decides about them.

use crate::api::payments::statement_clock::{claim, count};
use crate::api::prelude::*;
use crate::model::payments::{BankStatement, MatchStatus, Reason, ReconciliationMatch, Side};
use crate::model::{TransactionType, WalletTransaction, refused, step};

/// Transactions that one line is matched with by hand.
const MOST_BY_HAND: usize = 100;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Get,
        path: "/api/payments/reconciliation-matches",
        domain: Domain::Payments,
        contract: Contract::Assumed,
        summary: "List reconciliation matches",
        description: "A row for every line of every imported statement, in their order, and behind those of a statement a row for each \
            transaction of its days that no line has (`side: ledger`). A confidence of 95 and more counts as matched; less is a \
            suggestion.",
        ..operation!(read list_reconciliation_matches)
    },
    Operation {
        method: Method::Post,
        path: "/api/payments/reconciliation-matches/{match_id}/resolve",
        domain: Domain::Payments,
        contract: Contract::Assumed,
        summary: "Resolve a reconciliation match",
        description: "`confirm` a suggestion; `reject` a suggestion or a match; `match` a line with transactions of its wallet by hand, \
            which come to its amount; `ignore` what needs nothing. A transaction that no line has is only ignored: match the line.",
        example: r#"{"action":"ignore","note":"The bank's own fee"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["reconciliation_match.resolved"],
        ..operation!(write resolve_reconciliation_match)
    },
];

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListReconciliationMatches {
    #[serde(flatten)]
    paging: Paging,
    sort: Option<Sort<ReconciliationMatch>>,
    /// Only those of that company.
    company_id: Option<Id<Company>>,
    /// Only those that stand there.
    status: Option<MatchStatus>,
    /// Only those of that statement.
    statement_id: Option<Id<BankStatement>>,
    /// Only those that are at least so sure, in hundredths.
    #[schemars(range(min = 0, max = 100))]
    min_confidence: Option<u8>,
}

impl Sortable for ReconciliationMatch {
    const KEYS: &'static [(&'static str, fn(&Self) -> SortKey)] = &[
        ("created_at", |row| SortKey::Number(row.created_at.millis())),
        ("date", |row| SortKey::Number(row.date.midnight().millis())),
        ("amount", |row| SortKey::Number(row.amount)),
        ("confidence", |row| SortKey::Number(row.confidence.map_or(-1, i64::from))),
    ];
}

fn list_reconciliation_matches(
    world: &World,
    input: ListReconciliationMatches,
) -> Result<List<Shown<ReconciliationMatch>>, ApiError> {
    let none = |_| None;
    let candidates = match input.statement_id {
        Some(statement) => Candidates::new(0, none, world.children(statement.bits())),
        None => Candidates::new(0, none, world.created()),
    };
    if input.company_id.is_none() && input.status.is_none() && input.min_confidence.is_none() {
        return candidates.page(world, input.paging, input.sort.as_ref());
    }
    let keep = |row: &ReconciliationMatch| {
        is(input.company_id.as_ref(), &row.company_id)
            && is(input.status.as_ref(), &row.status)
            && input
                .min_confidence
                .is_none_or(|least| row.confidence.is_some_and(|sure| sure >= least))
    };
    candidates.page_where(world, input.paging, input.sort.as_ref(), keep)
}

/// What is decided about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MatchAction {
    /// The suggestion is right.
    Confirm,
    /// The suggestion, or the match, is wrong.
    Reject,
    /// The line is about these transactions.
    Match,
    /// Nothing is to be done.
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
    /// What is decided.
    action: MatchAction,
    /// With `match`: the transactions that the line is about, which come to its amount.
    #[schemars(length(min = 1, max = MOST_BY_HAND), extend("uniqueItems" = true))]
    transaction_ids: Option<Vec<Id<WalletTransaction>>>,
    /// Why.
    note: Option<Text<500>>,
}

fn resolve_reconciliation_match(
    world: &mut World,
    input: ResolveReconciliationMatch,
) -> Result<Data<Shown<ReconciliationMatch>>, ApiError> {
    let by_hand = match (input.action, input.transaction_ids) {
        (MatchAction::Match, None) => {
            let detail = "a match by hand names its transactions";
            return Err(ApiError::of_member("/transaction_ids", "required", detail));
        }
        (MatchAction::Match, ids) => ids,
        (_, Some(_)) => {
            let detail = "only a match by hand names transactions";
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
) -> Result<(), ApiError> {
    let mut row = (*world.get(id)?).clone();
    if row.side == Side::Ledger && action != MatchAction::Ignore {
        let mut error = refused(
            id,
            row.status,
            "the row has no line of the bank: match the line's own row".to_owned(),
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

/// The line that a transaction is matched with, if it is.
fn taken(world: &World, transaction: Id<WalletTransaction>) -> Option<Id<ReconciliationMatch>> {
    let row = world.find(world.reconciled(transaction)?)?;
    (row.side == Side::Bank).then_some(row.id)
}

/// A suggestion holds nothing: what it names may have been matched since.
fn all_free(world: &World, row: &ReconciliationMatch) -> Result<(), ApiError> {
    for &transaction in &row.transaction_ids {
        if let Some(other) = taken(world, transaction) {
            let detail =
                format!("{transaction} is matched by {other} since: reject one of the two");
            return Err(refused(row.id, row.status, detail));
        }
    }
    Ok(())
}

/// Whether transactions that somebody names are the wallet's, free, and come to the line's amount.
fn fits(
    world: &World,
    row: &ReconciliationMatch,
    ids: &[Id<WalletTransaction>],
) -> Result<(), ApiError> {
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
            let detail = format!("it is matched by {other}");
            wrong.push(Violation::new(pointer, "already_matched", detail));
        }
        sum += signed(one.kind, one.amount);
    }
    let wanted = signed(row.direction, row.amount);
    if wrong.is_empty() && sum != wanted {
        let detail =
            format!("the transactions come to {sum} minor units, and the line to {wanted}");
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

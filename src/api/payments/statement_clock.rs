//! Timers of a bank statement: its lines are matched with the books, and each row has an event.

use std::collections::BTreeSet;

use crate::api::prelude::*;
use crate::model::payments::reconcile::{Booked, Finding, WINDOW, reconcile};
use crate::model::payments::{
    BankStatement, CERTAIN, ExceptionKind, MatchStatus, Payout, Reason, ReconciliationMatch, Side,
    StatementLine, StatementStatus,
};
use crate::model::{TransactionType, WalletTransaction};

/// The events of a statement that is read and compared.
pub(crate) const IMPORTED: &[&str] = &[
    "bank_statement.imported",
    "reconciliation_match.matched",
    "reconciliation_match.suggested",
    "reconciliation_match.exception",
    "reconciliation_match.resolved",
];

/// Number of days at the end of a statement whose transactions can be on the next statement.
const NEAR_THE_END: i32 = 2;

/// The wallet's transactions of a range of days, both ends included, in booking order.
pub(crate) fn transactions(
    world: &World,
    wallet: &Wallet,
    (from, to): (Date, Date),
) -> Vec<Arc<WalletTransaction>> {
    let statement = world.statement(wallet);
    if statement.is_by_day() {
        let places = statement.between(Some(from), Some(to));
        return places.filter_map(|place| statement.get(place).cloned()).collect();
    }
    let of_days = |one: &&Arc<WalletTransaction>| (from..=to).contains(&one.effective_on);
    statement.iter().filter(of_days).cloned().collect()
}

/// The wallet's balance before that day.
pub(crate) fn balance_before(world: &World, wallet: &Wallet, day: Date) -> i64 {
    let statement = world.statement(wallet);
    if statement.is_by_day() {
        let first = statement.between(Some(day), None).start;
        let before = first.checked_sub(1).and_then(|place| statement.get(place));
        return before.map_or(0, |line| line.balance_after);
    }
    let earlier = statement.iter().filter(|line| line.effective_on < day);
    let moved = earlier.map(|line| match line.kind {
        TransactionType::Credit => i128::from(line.amount),
        TransactionType::Debit => -i128::from(line.amount),
    });
    // Entries for past days can make intermediate sums arbitrarily large.
    i64::try_from(moved.sum::<i128>()).unwrap_or(i64::MAX)
}

/// The reference that a bank transmits: the id of the resource that a transaction pays, or of its entry if that resource pays several
/// times.
pub(crate) fn end_to_end(transaction: &WalletTransaction) -> String {
    match transaction.source.kind {
        Kind::Wallet | Kind::Company | Kind::PayrollRun | Kind::TaxFiling => {
            transaction.journal_entry_id.to_string()
        }
        _ => transaction.source.to_string(),
    }
}

/// All references by which a line may name a transaction.
fn references(world: &World, transaction: &WalletTransaction) -> Vec<String> {
    let mut references = vec![
        transaction.source.to_string(),
        transaction.journal_entry_id.to_string(),
        transaction.id.to_string(),
    ];
    if transaction.source.kind == Kind::Payout {
        let payout = world.find(Id::<Payout>::from_bits(transaction.source.bits));
        references.extend(payout.map(|payout| payout.reference.to_string()));
    }
    references
}

/// Imports the statement: matches its lines, and creates a row with an event for each.
pub(crate) fn import(world: &mut World, id: Id<BankStatement>) {
    let waits = |one: &Arc<BankStatement>| one.status == StatementStatus::Processing;
    let Some(statement) = world.find(id).filter(waits) else { return };
    let wallet = world.find(statement.wallet_id);
    let wallet = wallet.expect("a statement is of a wallet, and nothing is deleted");
    let around = (statement.from.plus_days(-WINDOW), statement.to.plus_days(WINDOW));
    let mut transactions = transactions(world, &wallet, around);
    // The books as of the import; later transactions belong to the next statement.
    transactions.retain(|one| one.created_at <= statement.created_at);
    let rows = rows(world, &statement, &transactions);
    let mut imported = (*statement).clone();
    for row in &rows {
        imported.matches.add(row.status);
    }
    imported.enter(StatementStatus::Imported, world.now());
    world.record("bank_statement.imported", imported);
    for row in rows {
        tell(world, row);
    }
}

/// The new rows of a statement: one per line, and one per transaction without a line.
fn rows(
    world: &World,
    statement: &BankStatement,
    transactions: &[Arc<WalletTransaction>],
) -> Vec<ReconciliationMatch> {
    let taken = |one: &WalletTransaction| {
        let row = world.reconciled(one.id).and_then(|row| world.find(row));
        row.is_some_and(|row| row.side == Side::Bank)
    };
    let booked: Vec<Booked<'_>> = transactions
        .iter()
        .map(|one| Booked {
            date: one.effective_on,
            amount: one.amount,
            direction: one.kind,
            description: &one.description,
            references: references(world, one),
            taken: taken(one),
        })
        .collect();
    let lines: Vec<&StatementLine> = statement.lines.iter().map(AsRef::as_ref).collect();
    let findings = reconcile(&lines, &booked);
    let mut told: BTreeSet<usize> = BTreeSet::new();
    let mut rows = Vec::with_capacity(findings.len());
    for (line, finding) in statement.lines.iter().zip(findings) {
        let row = of_line(world, statement, line, finding, |places: &[usize]| {
            told.extend(places);
            places.iter().map(|&place| transactions[place].id).collect()
        });
        rows.push(row);
    }
    if !statement.source.is_complete() {
        return rows;
    }
    for (place, one) in transactions.iter().enumerate() {
        let of_its_days = (statement.from..=statement.to).contains(&one.effective_on);
        if of_its_days && !told.contains(&place) && world.reconciled(one.id).is_none() {
            rows.push(of_transaction(world, statement, one));
        }
    }
    rows
}

/// A new row without a result and without an id.
fn blank(world: &World, statement: &BankStatement, side: Side) -> ReconciliationMatch {
    let now = world.now();
    ReconciliationMatch {
        id: Id::UNKNOWN,
        object: Object::NAME,
        company_id: statement.company_id,
        wallet_id: statement.wallet_id,
        statement_id: statement.id,
        status: MatchStatus::Unmatched,
        side,
        line: None,
        transaction_ids: Vec::new(),
        date: statement.to,
        amount: 0,
        currency: statement.currency,
        direction: TransactionType::Credit,
        confidence: None,
        reasons: Vec::new(),
        exception: None,
        note: None,
        created_at: now,
        updated_at: now,
        metadata: Metadata::default(),
        status_history: [StatusChange::plain(MatchStatus::Unmatched, now)].into(),
    }
}

fn of_line(
    world: &World,
    statement: &BankStatement,
    line: &Arc<StatementLine>,
    finding: Finding,
    mut ids: impl FnMut(&[usize]) -> Vec<Id<WalletTransaction>>,
) -> ReconciliationMatch {
    let mut row = ReconciliationMatch {
        line: Some(Arc::clone(line)),
        date: line.date,
        amount: line.amount,
        direction: line.direction,
        ..blank(world, statement, Side::Bank)
    };
    match finding {
        Finding::Fits { transactions, confidence, reasons } => {
            row.transaction_ids = ids(&transactions);
            row.confidence = Some(confidence);
            row.reasons = reasons;
            let status =
                if confidence >= CERTAIN { MatchStatus::Matched } else { MatchStatus::Suggested };
            row.enter(status, world.now());
        }
        Finding::Exception { kind, transactions, reasons } => {
            row.transaction_ids = ids(&transactions);
            except(world, &mut row, kind, reasons);
        }
    }
    row
}

fn of_transaction(
    world: &World,
    statement: &BankStatement,
    one: &WalletTransaction,
) -> ReconciliationMatch {
    let mut row = ReconciliationMatch {
        transaction_ids: vec![one.id],
        date: one.effective_on,
        amount: one.amount,
        direction: one.kind,
        ..blank(world, statement, Side::Ledger)
    };
    let mut reasons = vec![Reason::NoLine];
    let last = world.calendar_of(statement.company_id);
    let days = u32::try_from(NEAR_THE_END).unwrap_or_default();
    if last.plus_business_days(one.effective_on, days) > statement.to {
        reasons.push(Reason::NearTheEnd);
    }
    except(world, &mut row, ExceptionKind::MissingLine, reasons);
    row
}

fn except(world: &World, row: &mut ReconciliationMatch, kind: ExceptionKind, reasons: Vec<Reason>) {
    row.exception = Some(kind);
    row.reasons = reasons;
    let why = Some(kind.in_words().to_owned());
    row.enter_because(MatchStatus::Exception, world.now(), why);
}

/// Assigns the row's id, links its transactions, and emits its event.
fn tell(world: &mut World, mut row: ReconciliationMatch) {
    row.id = world.next_id(row.statement_id.bits());
    let name = match row.status {
        MatchStatus::Matched => "reconciliation_match.matched",
        MatchStatus::Suggested => "reconciliation_match.suggested",
        _ => "reconciliation_match.exception",
    };
    if row.status == MatchStatus::Matched {
        claim(world, &row);
    } else if row.side == Side::Ledger {
        for &transaction in &row.transaction_ids {
            world.set_reconciled(transaction, Some(row.id));
        }
    }
    world.record(name, row);
}

/// A row matches its transactions. Earlier rows that report them as missing are closed.
pub(crate) fn claim(world: &mut World, row: &ReconciliationMatch) {
    for &transaction in &row.transaction_ids {
        let before = world.reconciled(transaction);
        world.set_reconciled(transaction, Some(row.id));
        let before = before.and_then(|before| world.find(before));
        let missed = before.filter(|before| before.status == MatchStatus::Exception);
        if let Some(missed) = missed {
            let mut missed = (*missed).clone();
            let statement = missed.statement_id;
            count(world, statement, missed.status, MatchStatus::Ignored);
            let why = format!("a line arrived: {}", row.id);
            missed.enter_because(MatchStatus::Ignored, world.now(), Some(why));
            world.record("reconciliation_match.resolved", missed);
        }
    }
}

/// Stages the change of a statement's counts for a row's transition.
pub(crate) fn count(
    world: &mut World,
    statement: Id<BankStatement>,
    from: MatchStatus,
    to: MatchStatus,
) {
    let found = world.find(statement);
    let mut statement = (*found.expect("a row is of a statement")).clone();
    statement.matches.shift(from, to);
    statement.updated_at = world.now();
    world.stage(statement);
}

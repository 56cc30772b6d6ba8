//! Joins the statements of a file into the one statement of the wallet, and checks that it is complete.

use super::entries::{Bound, Entry, Said, Statement, Wrong, room};
use crate::model::prelude::*;

/// The contents of a statement file, for one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatementFile {
    /// The balance before the first entry, in minor units; none if the file has no balances.
    pub(crate) opening: Option<i64>,
    /// The balance after the last entry.
    pub(crate) closing: Option<i64>,
    /// The booked entries, in the order of the file.
    pub(crate) entries: Vec<Entry>,
}

/// The caller's requirements for the file.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// The wallet's currency.
    pub(super) currency: Currency,
    /// The account whose statements are imported, as the file writes it.
    pub(super) account: Option<&'a str>,
    /// Whether balances must agree with the entries.
    pub(super) check: bool,
}

/// One statement from those of the file, in their order.
pub(super) fn assemble(
    statements: Vec<Statement>,
    wanted: Wanted<'_>,
    end: usize,
) -> Result<StatementFile, Wrong> {
    let statements = of_account(statements, wanted.account, end)?;
    for statement in &statements {
        is_currency(statement.currency, wanted.currency)?;
    }
    if wanted.check {
        are_all_pages(&statements)?;
        for statement in &statements {
            adds_up(statement, wanted.currency)?;
        }
        for (before, after) in statements.iter().zip(statements.iter().skip(1)) {
            follows(before, after, wanted.currency)?;
        }
    }
    let opening = statements.first().and_then(|first| first.opening);
    let closing = statements.last().and_then(|last| last.closing);
    let mut entries = Vec::new();
    for entry in statements.into_iter().flat_map(|statement| statement.entries) {
        room(entries.len(), entry.place)?;
        entries.push(entry);
    }
    let amount = |bound: Bound| bound.amount;
    Ok(StatementFile { opening: opening.map(amount), closing: closing.map(amount), entries })
}

/// The statements of the named account. Without a name, the file must contain exactly one account.
fn of_account(
    mut statements: Vec<Statement>,
    account: Option<&str>,
    end: usize,
) -> Result<Vec<Statement>, Wrong> {
    let same = |one: &str, other: &str| {
        let plain = |text: &str| -> String {
            text.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_uppercase).collect()
        };
        plain(one) == plain(other)
    };
    let Some(account) = account else {
        let mut accounts = statements.iter().filter_map(|statement| statement.account.as_ref());
        let Some(first) = accounts.next() else { return Ok(statements) };
        return match accounts.find(|other| !same(&first.value, &other.value)) {
            None => Ok(statements),
            Some(other) => {
                let detail = format!(
                    "expected statements of one account, {}, but found {}: name one as account",
                    shown(&first.value),
                    shown(&other.value)
                );
                Err(Wrong::at(other.place, detail))
            }
        };
    };
    let found: Vec<String> = statements
        .iter()
        .filter_map(|statement| statement.account.as_ref())
        .map(|said| shown(&said.value))
        .collect();
    statements.retain(|statement| {
        statement.account.as_ref().is_some_and(|said| same(&said.value, account))
    });
    if statements.is_empty() {
        let known: std::collections::BTreeSet<String> = found.into_iter().take(20).collect();
        let known: Vec<String> = known.into_iter().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let detail = format!("expected the account {}, but found {known}", shown(account));
        return Err(Wrong::at(end, detail));
    }
    Ok(statements)
}

/// An account as it is shown in a message.
fn shown(account: &str) -> String {
    account.chars().filter(|one| !one.is_control()).take(40).collect()
}

fn is_currency(found: Option<Said<Currency>>, currency: Currency) -> Result<(), Wrong> {
    let Some(found) = found.filter(|found| found.value != currency) else { return Ok(()) };
    let detail = format!("expected {currency}, the wallet's currency, but found {}", found.value);
    Err(Wrong::at(found.place, detail))
}

/// Refuses a file that has only some pages of a statement.
fn are_all_pages(statements: &[Statement]) -> Result<(), Wrong> {
    let mut open = false;
    let mut last = None;
    for statement in statements {
        let page = |bound: Option<Bound>| bound.filter(|bound| bound.page);
        if let Some(opening) = page(statement.opening).filter(|_| !open) {
            let detail = "expected the first page of the statement, with its opening balance, \
                before this one";
            return Err(Wrong::at(opening.place, detail));
        }
        if let Some(bound) = statement.opening.filter(|bound| open && !bound.page) {
            let detail = "expected the next page of the statement, with an intermediate balance";
            return Err(Wrong::at(bound.place, detail));
        }
        last = page(statement.closing);
        open = last.is_some();
    }
    match last {
        None => Ok(()),
        Some(bound) => {
            let detail = "expected another page of the statement after this intermediate balance";
            Err(Wrong::at(bound.place, detail))
        }
    }
}

/// Refuses a statement if opening balance plus entries is not the closing balance.
fn adds_up(statement: &Statement, currency: Currency) -> Result<(), Wrong> {
    let (Some(opening), Some(closing), true) =
        (statement.opening, statement.closing, statement.exact)
    else {
        return Ok(());
    };
    let opening = i128::from(opening.amount);
    let sum = statement.entries.iter().fold(opening, |sum, entry| sum + entry.signed());
    if sum == i128::from(closing.amount) {
        return Ok(());
    }
    let shown = |minor: i128| {
        i64::try_from(minor).map_or_else(|_| minor.to_string(), |minor| currency.display(minor))
    };
    let detail = format!(
        "expected {}, which is the opening balance plus the entries, but found {}",
        shown(sum),
        currency.display(closing.amount)
    );
    Err(Wrong::at(closing.place, detail))
}

/// Refuses a gap: the opening balance must equal the closing balance of the previous statement.
fn follows(before: &Statement, after: &Statement, currency: Currency) -> Result<(), Wrong> {
    let (Some(closing), Some(opening), true, true) =
        (before.closing, after.opening, before.exact, after.exact)
    else {
        return Ok(());
    };
    if closing.amount == opening.amount {
        return Ok(());
    }
    let detail = format!(
        "expected {}, the closing balance of the statement before, but found {}",
        currency.display(closing.amount),
        currency.display(opening.amount)
    );
    Err(Wrong::at(opening.place, detail))
}

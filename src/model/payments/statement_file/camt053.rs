//! ISO 20022 camt.053: reads every `Stmt` of a `BkToCstmrStmt` with its balances and booked entries.
//!
//! roxmltree parses the file. It reads no DTD, so a file that declares entities is refused. Banks wrap the document into envelopes and
//! use prefixes; only the namespace and the names of the elements count.

mod entry;

use self::entry::booked;
use super::entries::{Bound, Entry, Said, Statement, Wrong, balance, currency_of, room};
use super::xml::{
    Element, all, day, direction, maybe, missing, one, parse, start, words, words_at,
    written_amount,
};
use crate::model::TransactionType;
use crate::model::prelude::*;

/// The part of the namespace that all versions have. Swiss banks write `ISO:camt.053.001.04` beside it.
const NAMESPACE: &str = "camt.053.001.";
/// The supported versions. The elements used are the same in all of them.
const VERSIONS: core::ops::RangeInclusive<u8> = 2..=13;

pub(super) fn read(text: &str) -> Result<Vec<Statement>, Wrong> {
    let tree = parse(text, "Document")?;
    let root = tree.root_element();
    let document = tree.descendants().filter(Element::is_element).find(|node| {
        let space = node.tag_name().namespace().unwrap_or_default();
        let version = space.rsplit_once(NAMESPACE).and_then(|(_, version)| version.parse().ok());
        node.tag_name().name() == "Document" && version.is_some_and(|one| VERSIONS.contains(&one))
    });
    let document = document.ok_or_else(|| {
        let detail = format!(
            "expected <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:{NAMESPACE}NN\">, NN from 02 to 13"
        );
        Wrong::at(start(root), detail)
    })?;
    let message = one(document, "BkToCstmrStmt")?;
    let mut statements = Vec::new();
    let mut count = 0;
    for node in all(message, "Stmt") {
        let statement = statement(node, count)?;
        count += statement.entries.len();
        statements.push(statement);
    }
    if statements.is_empty() {
        return Err(missing(message, "Stmt"));
    }
    Ok(statements)
}

fn statement(node: Element<'_, '_>, before: usize) -> Result<Statement, Wrong> {
    one(node, "Id")?;
    let account = one(node, "Acct")?;
    let balances = balances(node)?;
    let closing = balances.last("CLBD", "ITBD").ok_or_else(|| {
        Wrong::at(start(node), "expected the closing balance, a <Bal> of the type CLBD")
    })?;
    let opening = balances.first(&["OPBD", "PRCD", "ITBD"]);
    let opening = opening.filter(|opening| opening.bound.place != closing.bound.place);
    let currency = match maybe(account, "Ccy")? {
        Some(code) => Said { value: currency_of(words(code), start(code))?, place: start(code) },
        None => closing.currency,
    };
    let mut currencies = balances.all.iter().map(|one| one.currency);
    if let Some(other) = currencies.find(|other| other.value != currency.value) {
        return Err(other_currency(other, currency.value));
    }
    if let (Some(first), Some(last)) = (opening.and_then(|one| one.bound.day), closing.bound.day)
        && last.value < first.value
    {
        let detail =
            format!("expected a day on or after that of the opening balance, {}", first.value);
        return Err(Wrong::at(last.place, detail));
    }
    let mut entries = Vec::new();
    for node in all(node, "Ntry") {
        room(before + entries.len(), start(node))?;
        entries.extend(booked(node, currency.value, closing.bound.day)?);
    }
    let opening = opening.map(|one| one.bound).or_else(|| computed(closing.bound, &entries));
    Ok(Statement {
        account: account_of(account)?,
        currency: Some(currency),
        opening,
        closing: Some(closing.bound),
        entries,
        exact: true,
    })
}

/// Without an opening balance, it is the closing balance less the entries.
fn computed(closing: Bound, entries: &[Entry]) -> Option<Bound> {
    let moved: i128 = entries.iter().map(Entry::signed).sum();
    let amount = i64::try_from(i128::from(closing.amount) - moved).ok()?;
    Some(Bound { amount, page: false, ..closing })
}

/// The IBAN, or the bank's own number of the account.
fn account_of(account: Element<'_, '_>) -> Result<Option<Said<String>>, Wrong> {
    let Some(id) = maybe(account, "Id")? else { return Ok(None) };
    let other = maybe(id, "Othr")?.map(|other| maybe(other, "Id")).transpose()?.flatten();
    let number = maybe(id, "IBAN")?.or(other);
    Ok(number.map(|node| Said { value: words(node).to_owned(), place: words_at(node) }))
}

/// The refusal of an amount in another currency than the account's.
fn other_currency(found: Said<Currency>, currency: Currency) -> Wrong {
    let detail =
        format!("expected {currency}, the currency of the account, but found {}", found.value);
    Wrong::at(found.place, detail)
}

/// A booked balance with its type.
#[derive(Clone, Copy)]
struct Booked<'a> {
    code: &'a str,
    bound: Bound,
    currency: Said<Currency>,
}

/// The booked balances of a statement, in the order of the file.
struct Balances<'a> {
    all: Vec<Booked<'a>>,
}

impl<'a> Balances<'a> {
    /// The balance of the first type that is present.
    fn first(&self, codes: &[&str]) -> Option<Booked<'a>> {
        codes.iter().find_map(|code| self.all.iter().find(|one| one.code == *code)).copied()
    }

    /// The last balance of the type, or else the last one of the other type.
    fn last(&self, code: &str, other: &str) -> Option<Booked<'a>> {
        let of = |code: &str| self.all.iter().rev().find(|one| one.code == code).copied();
        of(code).or_else(|| of(other))
    }
}

/// Balances other than the booked ones, such as the available balance, are ignored. Only the interim balance of a
/// page can occur twice.
fn balances<'a>(node: Element<'a, '_>) -> Result<Balances<'a>, Wrong> {
    let mut found: Vec<Booked<'a>> = Vec::new();
    for node in all(node, "Bal") {
        let kind = one(one(node, "Tp")?, "CdOrPrtry")?;
        let Some(code) = maybe(kind, "Cd")?.map(words) else { continue };
        let which = match code {
            "OPBD" => "opening",
            "PRCD" => "previous closing",
            "CLBD" => "closing",
            "ITBD" => "interim",
            _ => continue,
        };
        if code != "ITBD" && found.iter().any(|one| one.code == code) {
            let detail = format!("expected one {which} balance, {code}");
            return Err(Wrong::at(start(node), detail));
        }
        let (text, currency) = written_amount(node)?;
        let amount = balance(text.value, '.', currency.value, text.place)?;
        let day = day(one(node, "Dt")?)?;
        let amount = match direction(node)? {
            TransactionType::Credit => amount,
            TransactionType::Debit => -amount,
        };
        let page = code == "ITBD";
        let bound = Bound { amount, place: text.place, day: Some(day), page };
        found.push(Booked { code, bound, currency });
    }
    Ok(Balances { all: found })
}

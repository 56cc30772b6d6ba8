//! OFX: the statements of a response, version 1 (SGML) or 2 (XML).
//!
//! `LEDGERBAL` is the closing balance. The format has no opening balance, and the ledger balance can be later than
//! the last entry, so the sums are not checked.

mod tree;

use self::tree::{Aggregate, parse};
use super::entries::{
    Bound, Entry, MOST_DESCRIPTION, MOST_REFERENCE, Said, Statement, Wrong, currency_of, kept,
    minor, room,
};
use crate::model::TransactionType;
use crate::model::prelude::*;

/// The prefix of line ids.
const LINE_ID: &str = "bsl_";

pub(super) fn read(text: &str) -> Result<Vec<Statement>, Wrong> {
    let root = parse(text)?;
    let mut found = Vec::new();
    root.find_all(&["STMTRS", "CCSTMTRS"], &mut found);
    if found.is_empty() {
        return Err(Wrong::at(root.place, "expected a statement, <STMTRS> or <CCSTMTRS>"));
    }
    let mut statements = Vec::new();
    let mut count = 0;
    for node in found {
        let statement = statement(node, count)?;
        count += statement.entries.len();
        statements.push(statement);
    }
    Ok(statements)
}

fn statement(node: &Aggregate, before: usize) -> Result<Statement, Wrong> {
    let code = node.one("CURDEF")?;
    let currency = currency_of(&code.text, code.text_at)?;
    let account = match node.maybe("BANKACCTFROM").or_else(|| node.maybe("CCACCTFROM")) {
        Some(account) => account.one("ACCTID")?,
        None => return Err(node.missing("BANKACCTFROM")),
    };
    let mut entries = Vec::new();
    if let Some(list) = node.maybe("BANKTRANLIST") {
        for one in list.children.iter().filter(|child| child.name == "STMTTRN") {
            room(before + entries.len(), one.place)?;
            entries.push(entry(one, currency)?);
        }
    }
    let closing = node.maybe("LEDGERBAL").map(|balance| closing(balance, currency)).transpose()?;
    Ok(Statement {
        account: Some(Said { value: account.text.clone(), place: account.text_at }),
        currency: Some(Said { value: currency, place: code.text_at }),
        opening: None,
        closing,
        entries,
        exact: false,
    })
}

fn closing(node: &Aggregate, currency: Currency) -> Result<Bound, Wrong> {
    let written = node.one("BALAMT")?;
    let amount = signed(written, currency, i64::MAX / 1_000)?;
    let day = node.maybe("DTASOF").map(day).transpose()?;
    Ok(Bound { amount, place: written.text_at, day, page: false })
}

fn entry(node: &Aggregate, currency: Currency) -> Result<Entry, Wrong> {
    node.one("TRNTYPE")?;
    let date = day(node.one("DTPOSTED")?)?;
    let written = node.one("TRNAMT")?;
    if let Some(other) = node.maybe("CURRENCY").and_then(|other| other.maybe("CURSYM"))
        && other.text != currency.code()
    {
        let detail = format!("expected {currency}, the currency of the account");
        return Err(Wrong::at(other.text_at, detail));
    }
    let amount = signed(written, currency, Amount::MAX)?;
    if amount == 0 {
        return Err(Wrong::at(written.text_at, "expected an amount that is not zero"));
    }
    let said = |name: &str| node.maybe(name).map(|one| one.text.trim()).unwrap_or_default();
    let payee = node.maybe("PAYEE").and_then(|payee| payee.maybe("NAME"));
    let name = payee.map_or_else(|| said("NAME"), |name| name.text.trim());
    let memo = said("MEMO");
    // Many banks repeat the name at the start of the memo.
    let parts = if memo.starts_with(name) { vec![memo] } else { vec![name, memo] };
    let parts: Vec<&str> = parts.into_iter().filter(|text| !text.is_empty()).collect();
    // A file from the sandbox has line ids in this field; they are no references.
    let number = Some(said("FITID")).filter(|number| !number.starts_with(LINE_ID));
    let said = [said("REFNUM"), said("CHECKNUM")].into_iter().chain(number);
    let reference = said.into_iter().find_map(|text| kept(text, MOST_REFERENCE));
    Ok(Entry {
        date: date.value,
        amount: amount.abs(),
        direction: if amount < 0 { TransactionType::Debit } else { TransactionType::Credit },
        description: kept(&parts.join(" "), MOST_DESCRIPTION),
        reference,
        place: date.place,
    })
}

/// An amount with a sign; banks write a decimal point or a decimal comma.
fn signed(node: &Aggregate, currency: Currency, most: i64) -> Result<i64, Wrong> {
    let text = node.text.as_str();
    let (digits, negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    };
    let place = node.text_at + (text.len() - digits.len());
    let separator = if digits.contains(',') { ',' } else { '.' };
    // `.50` is a valid amount.
    let whole =
        if digits.starts_with(separator) { format!("0{digits}") } else { digits.to_owned() };
    let amount = minor(&whole, separator, currency, place, most)?;
    Ok(if negative { -amount } else { amount })
}

/// `YYYYMMDD` and optionally a time; the day is the bank's.
fn day(node: &Aggregate) -> Result<Said<Date>, Wrong> {
    let text = node.text.as_str();
    let digits = text.get(..8).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let day = digits.and_then(|digits| {
        let part = |range: core::ops::Range<usize>| digits[range].parse::<i16>().ok();
        let narrow = |part: i16| i8::try_from(part).ok();
        Date::new(part(0..4)?, narrow(part(4..6)?)?, narrow(part(6..8)?)?)
    });
    let place = node.text_at;
    match day {
        Some(value) => Ok(Said { value, place }),
        None => Err(Wrong::at(place, "expected a valid calendar day, such as 20260131")),
    }
}

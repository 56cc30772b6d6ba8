//! ISO 20022 camt.053: reads one `Stmt` of a `BkToCstmrStmt` with its balances and booked entries.
//!
//! roxmltree parses the file. It reads no DTD, so a file that declares entities is refused.

use roxmltree::{Document, Error, Node, ParsingOptions};

use super::entries::{
    Entry, MOST_DESCRIPTION, MOST_REFERENCE, StatementFile, Wrong, adds_up, amount, balance, kept,
    room,
};
use crate::model::TransactionType;
use crate::model::prelude::*;

/// The common prefix of the namespaces of all versions.
const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.";
/// The supported versions. The elements used are the same in all of them.
const VERSIONS: core::ops::RangeInclusive<u8> = 2..=13;
/// Maximum number of nodes in a file. No allowed body reaches it; it is a safety limit.
const MOST_NODES: u32 = 2_000_000;

type Element<'a, 'b> = Node<'a, 'b>;

pub(super) fn read(text: &str, currency: Currency) -> Result<StatementFile, Wrong> {
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let tree = Document::parse_with_options(text, options).map_err(|error| broken(text, &error))?;
    let root = tree.root_element();
    let namespace = root.tag_name().namespace().unwrap_or_default();
    let version = namespace.strip_prefix(NAMESPACE);
    let version = version.and_then(|version| version.parse::<u8>().ok());
    if root.tag_name().name() != "Document" || !version.is_some_and(|one| VERSIONS.contains(&one)) {
        let detail = format!("expected <Document xmlns=\"{NAMESPACE}NN\">, NN from 02 to 13");
        return Err(Wrong::at(start(root), detail));
    }
    let message = one(root, "BkToCstmrStmt")?;
    let statements: Vec<Element<'_, '_>> = all(message, "Stmt").collect();
    let statement = match statements.as_slice() {
        [statement] => *statement,
        [] => return Err(missing(message, "Stmt")),
        [_, other, ..] => {
            let detail = "expected one <Stmt>: send each statement separately";
            return Err(Wrong::at(start(*other), detail));
        }
    };
    one(statement, "Id")?;
    let account = one(statement, "Acct")?;
    if let Some(code) = maybe(account, "Ccy")? {
        is_currency(words(code), currency, start(code))?;
    }
    let opening = booked_balance(statement, &["OPBD", "PRCD"], "opening", currency)?;
    let closing = booked_balance(statement, &["CLBD"], "closing", currency)?;
    if closing.day < opening.day {
        let detail =
            format!("expected a day on or after that of the opening balance, {}", opening.day);
        return Err(Wrong::at(closing.day_at, detail));
    }
    let mut entries = Vec::new();
    for node in all(statement, "Ntry") {
        room(&entries, start(node))?;
        entries.extend(entry(node, currency)?);
    }
    adds_up(opening.amount, closing.amount, &entries, currency, closing.amount_at)?;
    Ok(StatementFile { opening: opening.amount, closing: closing.amount, entries })
}

/// Words an XML error and states its position.
fn broken(text: &str, error: &Error) -> Wrong {
    let position = error.pos();
    let line_at: usize = text
        .split_inclusive('\n')
        .take(usize::try_from(position.row).unwrap_or(1).saturating_sub(1))
        .map(str::len)
        .sum();
    let column = usize::try_from(position.col).unwrap_or(1).saturating_sub(1);
    let within = text[line_at.min(text.len())..].chars().take(column);
    let place = line_at + within.map(char::len_utf8).sum::<usize>();
    let detail = match error {
        Error::DtdDetected => {
            "expected a file without a document type: entities are not supported".to_owned()
        }
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
            let detail = "expected the rest of the file: it ends before </Document>";
            return Wrong::at(text.len(), detail);
        }
        Error::NoRootNode => "expected <Document>".to_owned(),
        other => format!("expected XML: {}", without_place(&other.to_string())),
    };
    Wrong::at(place, detail)
}

/// The parser's message without its own position, which follows the word "at".
fn without_place(message: &str) -> String {
    let cut = message.rsplit_once(" at ").filter(|(_, place)| place.contains(':'));
    let cut = cut.map_or(message, |(message, _)| message);
    cut.chars().filter(|one| !one.is_control()).take(200).collect()
}

fn start(node: Element<'_, '_>) -> usize {
    node.range().start
}

/// The text inside, trimmed.
fn words<'a>(node: Element<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

/// The position of that text.
fn words_at(node: Element<'_, '_>) -> usize {
    let text = node.first_child().filter(Node::is_text);
    text.map_or_else(
        || start(node),
        |text| {
            let raw = &node.document().input_text()[text.range()];
            text.range().start + (raw.len() - raw.trim_start().len())
        },
    )
}

fn all<'a, 'b>(node: Element<'a, 'b>, name: &'static str) -> impl Iterator<Item = Element<'a, 'b>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// The element with that name, if present; more than one is an error.
fn maybe<'a, 'b>(
    node: Element<'a, 'b>,
    name: &'static str,
) -> Result<Option<Element<'a, 'b>>, Wrong> {
    let mut found = all(node, name);
    let first = found.next();
    match found.next() {
        None => Ok(first),
        Some(other) => Err(Wrong::at(start(other), format!("expected one <{name}>"))),
    }
}

/// The element with that name; it is required.
fn one<'a, 'b>(node: Element<'a, 'b>, name: &'static str) -> Result<Element<'a, 'b>, Wrong> {
    maybe(node, name)?.ok_or_else(|| missing(node, name))
}

fn missing(node: Element<'_, '_>, name: &str) -> Wrong {
    let within = node.tag_name().name();
    Wrong::at(start(node), format!("expected <{name}> in <{within}>"))
}

fn is_currency(code: &str, currency: Currency, place: usize) -> Result<(), Wrong> {
    if code == currency.code() {
        return Ok(());
    }
    let shown: String = code.chars().take(8).collect();
    let detail = format!("expected {currency}, the wallet's currency, but found {shown}");
    Err(Wrong::at(place, detail))
}

/// The `Amt` of an element: its text and position. Its currency must be the wallet's.
fn written_amount<'a>(
    node: Element<'a, '_>,
    currency: Currency,
) -> Result<(&'a str, usize), Wrong> {
    let amount = one(node, "Amt")?;
    let code = amount
        .attribute("Ccy")
        .ok_or_else(|| Wrong::at(start(amount), "expected the currency, Ccy=\"…\", of <Amt>"))?;
    is_currency(code, currency, start(amount))?;
    Ok((words(amount), words_at(amount)))
}

fn direction(node: Element<'_, '_>) -> Result<TransactionType, Wrong> {
    let mark = one(node, "CdtDbtInd")?;
    match words(mark) {
        "CRDT" => Ok(TransactionType::Credit),
        "DBIT" => Ok(TransactionType::Debit),
        _ => Err(Wrong::at(words_at(mark), "expected CRDT or DBIT")),
    }
}

/// `Dt` or `DtTm` inside: the day as written, in any time zone.
fn day(node: Element<'_, '_>) -> Result<(Date, usize), Wrong> {
    let (date, time) = (maybe(node, "Dt")?, maybe(node, "DtTm")?);
    let written = match (date, time) {
        (Some(written), None) | (None, Some(written)) => written,
        (None, None) => return Err(missing(node, "Dt")),
        (Some(_), Some(time)) => return Err(Wrong::at(start(time), "expected one day")),
    };
    let text = words(written);
    let day = if time.is_some() { text.split_once('T').map_or("", |(day, _)| day) } else { text };
    let place = words_at(written);
    let day = day.parse().map_err(|detail: &str| Wrong::at(place, detail))?;
    Ok((day, place))
}

/// A booked balance.
struct Booked {
    amount: i64,
    amount_at: usize,
    day: Date,
    day_at: usize,
}

/// The single balance of those types.
fn booked_balance(
    statement: Element<'_, '_>,
    codes: &[&str],
    which: &str,
    currency: Currency,
) -> Result<Booked, Wrong> {
    let mut found = None;
    for node in all(statement, "Bal") {
        let kind = one(one(node, "Tp")?, "CdOrPrtry")?;
        let code = maybe(kind, "Cd")?.map(words);
        if !code.is_some_and(|code| codes.contains(&code)) {
            continue;
        }
        if found.is_some() {
            let detail = format!("expected one {which} balance, {}", codes.join(" or "));
            return Err(Wrong::at(start(node), detail));
        }
        let (text, amount_at) = written_amount(node, currency)?;
        let amount = balance(text, '.', currency, amount_at)?;
        let (day, day_at) = day(one(node, "Dt")?)?;
        let amount = match direction(node)? {
            TransactionType::Credit => amount,
            TransactionType::Debit => -amount,
        };
        found = Some(Booked { amount, amount_at, day, day_at });
    }
    found.ok_or_else(|| {
        let detail =
            format!("expected the {which} balance, a <Bal> of the type {}", codes.join(" or "));
        Wrong::at(start(statement), detail)
    })
}

/// An entry; none if it is not booked yet.
fn entry(node: Element<'_, '_>, currency: Currency) -> Result<Option<Entry>, Wrong> {
    let (text, amount_at) = written_amount(node, currency)?;
    let amount = amount(text, '.', currency, amount_at)?;
    // For a reversal, this is the direction of the money; `RvslInd` only gives the reason.
    let direction = direction(node)?;
    let booking = maybe(node, "BookgDt")?;
    let dated = match booking {
        Some(dated) => dated,
        None => maybe(node, "ValDt")?.ok_or_else(|| missing(node, "BookgDt"))?,
    };
    let (date, place) = day(dated)?;
    let status = one(node, "Sts")?;
    let status = maybe(status, "Cd")?.unwrap_or(status);
    match words(status) {
        "BOOK" => {}
        "PDNG" | "INFO" | "FUTR" => return Ok(None),
        _ => {
            return Err(Wrong::at(words_at(status), "expected BOOK, PDNG, INFO or FUTR"));
        }
    }
    let details: Vec<Element<'_, '_>> =
        all(node, "NtryDtls").flat_map(|details| all(details, "TxDtls")).collect();
    let mut reference = None;
    let mut description = String::new();
    if let [detail] = details.as_slice() {
        if let Some(references) = maybe(*detail, "Refs")? {
            let end_to_end = maybe(references, "EndToEndId")?.map(words);
            reference = end_to_end.filter(|text| !text.is_empty() && *text != "NOTPROVIDED");
        }
        let remitted = all(*detail, "RmtInf").flat_map(|info| all(info, "Ustrd"));
        let remitted: Vec<&str> = remitted.map(words).collect();
        description = remitted.join(" ");
    }
    if description.is_empty() {
        description =
            maybe(node, "AddtlNtryInf")?.map_or(String::new(), |info| words(info).to_owned());
    }
    for name in ["NtryRef", "AcctSvcrRef"] {
        if reference.is_none() {
            reference = maybe(node, name)?.map(words).filter(|text| !text.is_empty());
        }
    }
    let plain = |text: &str| text.replace(char::is_control, " ");
    Ok(Some(Entry {
        date,
        amount,
        direction,
        description: kept(&plain(&description), MOST_DESCRIPTION),
        reference: reference.and_then(|text| kept(&plain(text), MOST_REFERENCE)),
        place,
    }))
}

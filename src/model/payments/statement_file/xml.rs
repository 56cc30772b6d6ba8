//! Reads elements: text, position, required and optional children. All names are without their prefix.

use roxmltree::{Document, Error, Node, ParsingOptions};

use super::entries::{Said, Wrong, currency_of};
use crate::model::TransactionType;
use crate::model::prelude::*;

/// Maximum number of nodes in a file. No allowed body reaches it; it is a safety limit.
const MOST_NODES: u32 = 2_000_000;

pub(super) type Element<'a, 'b> = Node<'a, 'b>;

/// Parses XML, without a document type.
pub(super) fn parse<'a>(text: &'a str, last: &str) -> Result<Document<'a>, Wrong> {
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| broken(text, &error, last))
}

/// Words an XML error and states its position.
fn broken(text: &str, error: &Error, last: &str) -> Wrong {
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
            let detail = format!("expected the rest of the file: it ends before </{last}>");
            return Wrong::at(text.len(), detail);
        }
        Error::NoRootNode => format!("expected <{last}>"),
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

pub(super) fn start(node: Element<'_, '_>) -> usize {
    node.range().start
}

/// The text inside, trimmed.
pub(super) fn words<'a>(node: Element<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

/// The position of that text.
pub(super) fn words_at(node: Element<'_, '_>) -> usize {
    let text = node.first_child().filter(Node::is_text);
    text.map_or_else(
        || start(node),
        |text| {
            let raw = &node.document().input_text()[text.range()];
            text.range().start + (raw.len() - raw.trim_start().len())
        },
    )
}

pub(super) fn all<'a, 'b>(
    node: Element<'a, 'b>,
    name: &'static str,
) -> impl Iterator<Item = Element<'a, 'b>> {
    node.children().filter(move |child| child.is_element() && child.tag_name().name() == name)
}

/// The element with that name, if present; more than one is an error.
pub(super) fn maybe<'a, 'b>(
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
pub(super) fn one<'a, 'b>(
    node: Element<'a, 'b>,
    name: &'static str,
) -> Result<Element<'a, 'b>, Wrong> {
    maybe(node, name)?.ok_or_else(|| missing(node, name))
}

pub(super) fn missing(node: Element<'_, '_>, name: &str) -> Wrong {
    let within = node.tag_name().name();
    Wrong::at(start(node), format!("expected <{name}> in <{within}>"))
}

pub(super) fn direction(node: Element<'_, '_>) -> Result<TransactionType, Wrong> {
    let mark = one(node, "CdtDbtInd")?;
    match words(mark) {
        "CRDT" => Ok(TransactionType::Credit),
        "DBIT" => Ok(TransactionType::Debit),
        _ => Err(Wrong::at(words_at(mark), "expected CRDT or DBIT")),
    }
}

/// `Dt` or `DtTm` inside: the day as written, in any time zone.
pub(super) fn day(node: Element<'_, '_>) -> Result<Said<Date>, Wrong> {
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
    Ok(Said { value: day, place })
}

/// The `Amt` of an element: its text, its position, and its currency.
pub(super) fn written_amount<'a>(
    node: Element<'a, '_>,
) -> Result<(Said<&'a str>, Said<Currency>), Wrong> {
    let amount = one(node, "Amt")?;
    let code = amount
        .attribute("Ccy")
        .ok_or_else(|| Wrong::at(start(amount), "expected the currency, Ccy=\"…\", of <Amt>"))?;
    let currency = Said { value: currency_of(code, start(amount))?, place: start(amount) };
    Ok((Said { value: words(amount), place: words_at(amount) }, currency))
}

//! An entry, `Ntry`: one line, or a line for each transaction of a batch.

use super::other_currency;
use crate::model::TransactionType;
use crate::model::payments::statement_file::entries::{
    Entry, MOST_DESCRIPTION, MOST_REFERENCE, Said, Wrong, amount, kept, minor,
};
use crate::model::payments::statement_file::xml::{
    Element, all, day, direction, maybe, missing, start, words, words_at, written_amount,
};
use crate::model::prelude::*;

/// The lines of an entry; none if it is not booked yet. An entry without a day was booked on the statement's last day.
pub(super) fn booked(
    node: Element<'_, '_>,
    currency: Currency,
    last_day: Option<Said<Date>>,
) -> Result<Vec<Entry>, Wrong> {
    let (text, written) = written_amount(node)?;
    if written.value != currency {
        return Err(other_currency(written, currency));
    }
    let amount = amount(text.value, '.', currency, text.place)?;
    // For a reversal, this is the direction of the money; `RvslInd` only gives the reason.
    let direction = direction(node)?;
    let date = match (maybe(node, "BookgDt")?, maybe(node, "ValDt")?) {
        (Some(dated), _) | (None, Some(dated)) => day(dated)?,
        (None, None) => match last_day {
            Some(day) => Said { value: day.value, place: start(node) },
            None => return Err(missing(node, "BookgDt")),
        },
    };
    if !is_booked(node)? {
        return Ok(Vec::new());
    }
    let whole = Entry {
        date: date.value,
        amount,
        direction,
        description: None,
        reference: None,
        place: date.place,
    };
    let details: Vec<Element<'_, '_>> =
        all(node, "NtryDtls").flat_map(|details| all(details, "TxDtls")).collect();
    if details.len() > 1
        && let Some(parts) = parts(&details, &whole, currency)?
    {
        let each = details.iter().zip(parts);
        return each.map(|(detail, part)| described(node, Some(*detail), part)).collect();
    }
    let only = if let [detail] = details.as_slice() { Some(*detail) } else { None };
    Ok(vec![described(node, only, whole)?])
}

/// `Sts`, with or without `Cd`. Without a status an entry is booked.
fn is_booked(node: Element<'_, '_>) -> Result<bool, Wrong> {
    let Some(status) = maybe(node, "Sts")? else { return Ok(true) };
    let status = maybe(status, "Cd")?.unwrap_or(status);
    match words(status) {
        "BOOK" => Ok(true),
        "PDNG" | "INFO" | "FUTR" => Ok(false),
        _ => Err(Wrong::at(words_at(status), "expected BOOK, PDNG, INFO or FUTR")),
    }
}

/// The transactions of a batch as lines of their own, if their amounts are in the account's currency and sum to the entry.
fn parts(
    details: &[Element<'_, '_>],
    whole: &Entry,
    currency: Currency,
) -> Result<Option<Vec<Entry>>, Wrong> {
    let mut parts = Vec::with_capacity(details.len());
    let mut sum = 0_i128;
    for detail in details {
        let Some(node) = amount_of(*detail)? else { return Ok(None) };
        if node.attribute("Ccy").is_some_and(|code| code != currency.code()) {
            return Ok(None);
        }
        let minor = minor(words(node), '.', currency, words_at(node), Amount::MAX)?;
        let direction = match maybe(*detail, "CdtDbtInd")? {
            Some(_) => direction(*detail)?,
            None => whole.direction,
        };
        let part = Entry { amount: minor, direction, ..whole.clone() };
        if minor == 0 {
            return Ok(None);
        }
        sum += part.signed();
        parts.push(part);
    }
    Ok((sum == whole.signed()).then_some(parts))
}

/// `Amt`, from version 04 on, or `AmtDtls/TxAmt/Amt`.
fn amount_of<'a, 'b>(detail: Element<'a, 'b>) -> Result<Option<Element<'a, 'b>>, Wrong> {
    if let Some(amount) = maybe(detail, "Amt")? {
        return Ok(Some(amount));
    }
    let Some(details) = maybe(detail, "AmtDtls")? else { return Ok(None) };
    let Some(transaction) = maybe(details, "TxAmt")? else { return Ok(None) };
    maybe(transaction, "Amt")
}

/// Adds description and reference: from the transaction, else from the entry.
fn described(
    node: Element<'_, '_>,
    detail: Option<Element<'_, '_>>,
    entry: Entry,
) -> Result<Entry, Wrong> {
    let plain = |text: &str| text.replace(char::is_control, " ");
    let mut references: Vec<&str> = Vec::new();
    let mut description = String::new();
    if let Some(detail) = detail {
        let refs = maybe(detail, "Refs")?;
        let said = |name: &'static str| refs.and_then(|refs| all(refs, name).next()).map(words);
        references.extend(said("EndToEndId"));
        references.extend(structured_reference(detail));
        references.extend(said("InstrId"));
        references.extend(said("AcctSvcrRef"));
        description = remitted(detail, entry.direction);
    }
    references.extend(["NtryRef", "AcctSvcrRef"].iter().filter_map(|name| text_of(node, name)));
    if description.is_empty() {
        text_of(node, "AddtlNtryInf").unwrap_or_default().clone_into(&mut description);
    }
    let reference = references
        .into_iter()
        .find(|text| !text.is_empty() && !matches!(*text, "NOTPROVIDED" | "NONREF"));
    Ok(Entry {
        description: kept(&plain(&description), MOST_DESCRIPTION),
        reference: reference.and_then(|text| kept(&plain(text), MOST_REFERENCE)),
        ..entry
    })
}

fn text_of<'a>(node: Element<'a, '_>, name: &str) -> Option<&'a str> {
    let mut children = node.children().filter(Element::is_element);
    children.find(|child| child.tag_name().name() == name).map(words)
}

/// The creditor's reference, such as the number of a Swiss payment slip.
fn structured_reference<'a>(detail: Element<'a, '_>) -> Option<&'a str> {
    let structured = all(detail, "RmtInf").flat_map(|info| all(info, "Strd"));
    let mut references = structured.flat_map(|one| all(one, "CdtrRefInf"));
    references.find_map(|one| text_of(one, "Ref"))
}

/// The payer's text, or else the bank's text, or else the other party's name.
fn remitted(detail: Element<'_, '_>, direction: TransactionType) -> String {
    let infos = || all(detail, "RmtInf");
    let mut texts: Vec<&str> = infos()
        .flat_map(|info| all(info, "Ustrd"))
        .map(words)
        .filter(|one| !one.is_empty())
        .collect();
    if texts.is_empty() {
        let structured = infos().flat_map(|info| all(info, "Strd"));
        texts = structured.flat_map(|one| all(one, "AddtlRmtInf")).map(words).collect();
    }
    if texts.is_empty() {
        texts.extend(text_of(detail, "AddtlTxInf"));
    }
    if texts.is_empty() {
        let party = match direction {
            TransactionType::Credit => "Dbtr",
            TransactionType::Debit => "Cdtr",
        };
        let parties = all(detail, "RltdPties").flat_map(|parties| all(parties, party));
        // From version 08 on the name is within `Pty`.
        let named = |node| text_of(node, "Nm").or_else(|| text_of(all(node, "Pty").next()?, "Nm"));
        texts.extend(parties.filter_map(named).take(1));
    }
    texts.join(" ")
}

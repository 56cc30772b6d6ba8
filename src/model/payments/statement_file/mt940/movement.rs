//! An entry, `:61:`: `6!n[4!n]2a[1!a]15d1!a3!c[16x][//16x]` and details on lines of their own.

use super::envelope::Field;
use super::information::{Information, is_reference};
use super::rest::Rest;
use crate::model::TransactionType;
use crate::model::payments::statement_file::entries::{
    Entry, MOST_DESCRIPTION, MOST_REFERENCE, Wrong, amount, kept,
};
use crate::model::prelude::*;

/// An entry, and the bank's own reference of it.
pub(super) struct Movement {
    pub(super) entry: Entry,
    banks: Option<String>,
}

impl Movement {
    /// Adds the bank's information about the entry. The payer's reference has precedence over the
    /// bank's.
    pub(super) fn describe(&mut self, information: Information) {
        let (description, reference) = information.finish();
        let entry = &mut self.entry;
        entry.description = description.or(entry.description.take());
        let reference = entry.reference.take().or(reference).or(self.banks.take());
        entry.reference = reference.and_then(|text| kept(&text, MOST_REFERENCE));
    }
}

pub(super) fn movement(field: &Field<'_>, currency: Currency) -> Result<Movement, Wrong> {
    let mut rest = Rest { text: field.value.text.trim_end(), place: field.value.place };
    let mut place = rest.place;
    let value_date = rest.value_day()?;
    let mut date = value_date;
    if rest.text.starts_with(|first: char| first.is_ascii_digit()) {
        place = rest.place;
        date = booked_on(&mut rest, value_date)?;
    }
    let direction = mark(&mut rest)?;
    // The funds code. By the standard it is the third letter of the currency, but banks write other
    // letters.
    if rest.text.starts_with(|first: char| first.is_ascii_uppercase()) {
        rest.skip(1);
    }
    let amount_at = rest.place;
    let digits = rest.decimal()?;
    let amount = amount(digits, ',', currency, amount_at)?;
    let kind = "a transaction type such as NTRF";
    rest.take(1, |byte| matches!(byte, b'S' | b'N' | b'F'), kind)?;
    rest.take(3, |byte| byte.is_ascii_alphanumeric() || byte == b' ', kind)?;
    let (own, banks) = rest.text.split_once("//").unwrap_or((rest.text, ""));
    // Some banks write the other party's name after the reference, in columns.
    let (own, name) = own.trim().split_once("   ").unwrap_or((own, ""));
    let mut details = vec![name.trim()];
    details.extend(field.more.iter().map(|line| line.text.trim()));
    details.retain(|text| !text.is_empty());
    let said = |text: &str| kept(text, MOST_REFERENCE).filter(|text| is_reference(text));
    Ok(Movement {
        entry: Entry {
            date,
            amount,
            direction,
            description: kept(&details.join(" "), MOST_DESCRIPTION),
            reference: said(own),
            place,
        },
        banks: said(banks),
    })
}

/// The booking day: month and day, in the year that is nearest to the value date.
fn booked_on(rest: &mut Rest<'_>, value_date: Date) -> Result<Date, Wrong> {
    let place = rest.place;
    let what = "a day such as 0131";
    let digits = rest.take(4, |byte| byte.is_ascii_digit(), what)?;
    let part = |range: core::ops::Range<usize>| digits[range].parse::<i8>().unwrap_or_default();
    let year = value_date.period().year();
    let days = [year - 1, year, year + 1]
        .into_iter()
        .filter_map(|year| Date::new(year, part(0..2), part(2..4)));
    let nearest = days.min_by_key(|day| day.days_since(value_date).abs());
    nearest.ok_or_else(|| Wrong::at(place, "expected a valid calendar day, such as 0131"))
}

/// `C`, `D` and the reversals. Reversing a credit moves money out.
fn mark(rest: &mut Rest<'_>) -> Result<TransactionType, Wrong> {
    let marks = [
        ("RC", TransactionType::Debit),
        ("RD", TransactionType::Credit),
        ("C", TransactionType::Credit),
        ("D", TransactionType::Debit),
    ];
    let found = marks.iter().find(|(mark, _)| rest.text.starts_with(mark));
    let Some((mark, direction)) = found else {
        return Err(Wrong::at(rest.place, "expected C, D, RC or RD"));
    };
    rest.skip(mark.len());
    Ok(*direction)
}

//! BAI2: files (`01` … `99`) of groups (`02` … `98`) of accounts (`03` … `49`) with details (`16`), continued by `88`.
//!
//! The control totals and the numbers of records are checked. Balances are not compared with the details, because banks may report
//! summaries without them.

mod records;

use self::records::{Cursor, Record, Totals, records};
use super::entries::{
    Bound, Entry, MOST_DESCRIPTION, MOST_REFERENCE, Said, Statement, Wrong, currency_of, kept, room,
};
use crate::model::TransactionType;
use crate::model::prelude::*;

/// Type codes of the ledger balances.
const OPENING: &str = "010";
const CLOSING: &str = "015";

pub(super) fn read(text: &str, currency: Currency) -> Result<Vec<Statement>, Wrong> {
    let records = records(text)?;
    let mut reader = Reader {
        all: records.as_slice(),
        end: text.len(),
        currency,
        statements: Vec::new(),
        count: 0,
    };
    reader.file()?;
    Ok(reader.statements)
}

struct Reader<'a, 'b> {
    all: &'b [Record<'a>],
    end: usize,
    /// The wallet's currency, of a file that states none.
    currency: Currency,
    statements: Vec<Statement>,
    /// The number of entries so far.
    count: usize,
}

impl<'a, 'b> Reader<'a, 'b> {
    /// The next record, if it has that code.
    fn maybe(&mut self, code: &str) -> Option<&'b Record<'a>> {
        let (first, rest) = self.all.split_first()?;
        if first.code != code {
            return None;
        }
        self.all = rest;
        Some(first)
    }

    fn one(&mut self, code: &str, what: &str) -> Result<&'b Record<'a>, Wrong> {
        let next = self.all.first();
        self.maybe(code).ok_or_else(|| match next {
            Some(next) => {
                Wrong::at(next.place, format!("expected {what}, but found {}", next.code))
            }
            None => Wrong::at(self.end, format!("expected {what}")),
        })
    }

    fn file(&mut self) -> Result<(), Wrong> {
        let head = self.one("01", "the file header, 01")?;
        let mut totals = Totals::of(head);
        while let Some(group) = self.maybe("02") {
            let sum = self.group(group)?;
            totals.add(sum);
        }
        let end = self.one("99", "a group header, 02, or the file trailer, 99")?;
        totals.check(end, Some("groups"))?;
        match self.all.first() {
            None => Ok(()),
            Some(record) => Err(Wrong::at(record.place, "expected the end of the file after 99")),
        }
    }

    fn group(&mut self, head: &Record<'a>) -> Result<Totals, Wrong> {
        let mut fields = Cursor::of(head);
        fields.skip(3);
        let day = as_of(&mut fields)?;
        fields.skip(1);
        let code = fields.next();
        let currency = match code.value.trim() {
            "" => self.currency,
            code_text => currency_of(code_text, code.place)?,
        };
        let mut totals = Totals::of(head);
        while let Some(account) = self.maybe("03") {
            let sum = self.account(account, currency, day)?;
            totals.add(sum);
        }
        let end = self.one("98", "an account identifier, 03, or the group trailer, 98")?;
        totals.check(end, Some("accounts"))?;
        Ok(totals)
    }

    fn account(
        &mut self,
        head: &Record<'a>,
        currency: Currency,
        day: Said<Date>,
    ) -> Result<Totals, Wrong> {
        let mut fields = Cursor::of(head);
        let account = fields.next();
        let code = fields.next();
        let currency = match code.value.trim() {
            "" => Said { value: currency, place: account.place },
            text => Said { value: currency_of(text, code.place)?, place: code.place },
        };
        let mut totals = Totals::of(head);
        let (mut opening, mut closing) = (None, None);
        while !fields.is_done() {
            let kind = fields.next();
            let amount = fields.amount()?;
            fields.skip(1);
            fields.funds()?;
            totals.sum += i128::from(amount.value.unwrap_or(0));
            let bound = amount.value.map(|value| Bound {
                amount: value,
                place: amount.place,
                day: Some(day),
                page: false,
            });
            match kind.value.trim() {
                OPENING => opening = bound,
                CLOSING => closing = bound,
                _ => {}
            }
        }
        let mut entries = Vec::new();
        while let Some(record) = self.maybe("16") {
            room(self.count, record.place)?;
            self.count += 1;
            entries.extend(detail(record, day, &mut totals)?);
        }
        let end = self.one("49", "a transaction detail, 16, or the account trailer, 49")?;
        totals.check(end, None)?;
        self.statements.push(Statement {
            account: Some(Said { value: account.value.trim().to_owned(), place: account.place }),
            currency: Some(currency),
            opening,
            closing,
            entries,
            exact: false,
        });
        Ok(totals)
    }
}

/// A day as `YYMMDD`.
fn as_of(fields: &mut Cursor<'_, '_>) -> Result<Said<Date>, Wrong> {
    let said = fields.next();
    let text = said.value.trim();
    let digits =
        Some(text).filter(|text| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit()));
    let day = digits.and_then(|digits| {
        let part = |range: core::ops::Range<usize>| digits[range].parse::<i8>().ok();
        let year = i16::from(part(0..2)?);
        let year = if year < 70 { 2_000 + year } else { 1_900 + year };
        Date::new(year, part(2..4)?, part(4..6)?)
    });
    let detail = "expected a valid calendar day, such as 260131";
    day.map(|value| Said { value, place: said.place }).ok_or_else(|| Wrong::at(said.place, detail))
}

/// A detail: type, amount, funds, the bank's reference, the customer's, and text. One of zero moves nothing.
fn detail(
    record: &Record<'_>,
    day: Said<Date>,
    totals: &mut Totals,
) -> Result<Option<Entry>, Wrong> {
    totals.records += record.lines.len();
    let mut fields = Cursor::of(record);
    let kind = fields.next();
    let direction = match kind.value.trim().parse::<u16>() {
        Ok(100..=399 | 900..=919 | 720) => TransactionType::Credit,
        Ok(400..=699 | 701..=719 | 721..=799 | 920..=999) => TransactionType::Debit,
        Ok(890) => return Ok(None),
        _ => {
            let detail = "expected the type code of a transaction detail, such as 195 or 475";
            return Err(Wrong::at(kind.place, detail));
        }
    };
    let written = fields.amount()?;
    let amount = written.value.unwrap_or(0);
    totals.sum += i128::from(amount);
    if !(0..=Amount::MAX).contains(&amount) {
        let detail = format!("expected an amount from 0 to {} minor units", Amount::MAX);
        return Err(Wrong::at(written.place, detail));
    }
    fields.funds()?;
    let banks = fields.next();
    let own = fields.next();
    let text = fields.rest();
    if amount == 0 {
        return Ok(None);
    }
    let said = |text: &str| kept(text, MOST_REFERENCE).filter(|text| text != "NOTPROVIDED");
    Ok(Some(Entry {
        date: day.value,
        amount,
        direction,
        description: kept(&text, MOST_DESCRIPTION),
        reference: said(own.value).or_else(|| said(banks.value)),
        place: kind.place,
    }))
}

//! Writes BAI2: a group for each day, because the day of an entry is that of its group.

use core::fmt::Write as _;

use super::outgoing::{Outgoing, compact, plain};
use crate::model::TransactionType;
use crate::model::payments::StatementLine;
use crate::model::prelude::*;

pub(super) fn write(statement: &Outgoing<'_>) -> String {
    let day = |day: Date| compact(day)[2..].to_owned();
    let mut file = format!("01,SANDBOX,CUSTOMER,{},2359,1,,,2/\n", day(statement.to));
    let mut days: Vec<&[Arc<StatementLine>]> =
        statement.lines.chunk_by(|one, other| one.date == other.date).collect();
    if days.is_empty() {
        days.push(&[]);
    }
    let last = days.len() - 1;
    let (mut sum, mut records) = (0_i128, 2);
    for (place, lines) in days.iter().enumerate() {
        let on = lines.first().map_or(statement.to, |line| line.date);
        let _ = writeln!(file, "02,CUSTOMER,SANDBOX,1,{},2359,{},2/", day(on), statement.currency);
        let mut head = format!("03,{},{}", statement.account, statement.currency);
        let mut total = 0_i128;
        let bounds = [
            (place == 0).then_some(("010", statement.opening)),
            (place == last).then_some(("015", statement.closing)),
        ];
        for (code, amount) in bounds.into_iter().flatten() {
            let _ = write!(head, ",{code},{amount},,");
            total += i128::from(amount);
        }
        let _ = writeln!(file, "{head}/");
        for line in *lines {
            total += i128::from(line.amount);
            entry(&mut file, line);
        }
        let count = lines.len() + 2;
        let _ = writeln!(file, "49,{total},{count}/\n98,{total},1,{}/", count + 2);
        sum += total;
        records += count + 2;
    }
    let _ = writeln!(file, "99,{sum},{},{records}/", days.len());
    file
}

/// The text is the last field, so it can contain commas. In the reference, commas are replaced by spaces.
fn entry(file: &mut String, line: &StatementLine) {
    let code = if line.direction == TransactionType::Debit { "699" } else { "399" };
    let reference = plain(line.reference.as_ref()).replace(',', " ");
    let mut text = plain(line.description.as_ref());
    if text.ends_with('/') {
        text.push('/'); // the last one ends the record
    }
    let _ = writeln!(file, "16,{code},{},Z,,{},{text}", line.amount, reference.trim());
}

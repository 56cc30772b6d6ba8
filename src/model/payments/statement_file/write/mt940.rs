//! Writes MT940 with an envelope. The reference and the description are code words of `:86:`.

use core::fmt::Write as _;

use super::outgoing::{Outgoing, compact, decimal, plain};
use crate::model::TransactionType;
use crate::model::payments::StatementLine;
use crate::model::prelude::*;

/// The length of a line of information.
const WIDTH: usize = 65;

pub(super) fn write(statement: &Outgoing<'_>) -> String {
    let day = |day: Date| compact(day)[2..].to_owned();
    let mut file = String::from("{1:F01SANDBOXXAXXX0000000000}{2:I940SANDBOXXXXXXN}{4:\r\n");
    let bound = |tag: &str, on: Date, amount: i64| {
        let mark = if amount < 0 { 'D' } else { 'C' };
        let mut digits = decimal(amount, statement.currency, ',');
        if !digits.contains(',') {
            digits.push(',');
        }
        format!(":{tag}:{mark}{}{}{digits}\r\n", day(on), statement.currency)
    };
    let _ = write!(
        file,
        ":20:{}\r\n:25:{}\r\n:28C:1/1\r\n",
        statement.id.get(..16).unwrap_or(statement.id),
        statement.account
    );
    file.push_str(&bound("60F", statement.from, statement.opening));
    for line in statement.lines {
        entry(&mut file, line, &day(line.date), statement.currency);
    }
    file.push_str(&bound("62F", statement.to, statement.closing));
    file.push_str("-}\r\n");
    file
}

fn entry(file: &mut String, line: &StatementLine, day: &str, currency: Currency) {
    let mark = if line.direction == TransactionType::Debit { 'D' } else { 'C' };
    let mut digits = decimal(line.amount, currency, ',');
    if !digits.contains(',') {
        digits.push(',');
    }
    let _ = write!(file, ":61:{day}{}{mark}{digits}NMSCNONREF\r\n", &day[2..]);
    let (reference, description) =
        (plain(line.reference.as_ref()), plain(line.description.as_ref()));
    if reference.is_empty() && description.is_empty() {
        return;
    }
    let reference = if reference.is_empty() { "NOTPROVIDED".to_owned() } else { reference };
    // The slash after the text of a code word does not belong to the text.
    let end = if description.ends_with('/') { "/" } else { "" };
    wrapped(file, &format!("/EREF/{reference}/REMI/{description}{end}"));
}

/// `:86:` in lines of 65 characters. No line starts or ends with characters that a parser could read as a tag or as
/// padding.
fn wrapped(file: &mut String, text: &str) {
    file.push_str(":86:");
    let mut rest: Vec<char> = text.chars().collect();
    while rest.len() > WIDTH {
        let fits = |at: usize| !matches!(rest[at], ':' | '-' | '{' | ' ') && rest[at - 1] != ' ';
        let cut = (1..=WIDTH).rev().find(|at| fits(*at)).unwrap_or(WIDTH);
        let later = rest.split_off(cut);
        file.extend(rest);
        file.push_str("\r\n");
        rest = later;
    }
    file.extend(rest);
    file.push_str("\r\n");
}

//! A bank's file in a request: its text, its format, and its entries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Contents, ImportBankStatement, outside, sums_of};
use crate::api::prelude::*;
use crate::model::payments::statement_file::{self, Mistake, Source};
use crate::model::payments::{Draft, StatementFormat, StatementSource};

/// The file of a request.
pub(super) struct Sent<'a> {
    text: Cow<'a, str>,
    format: StatementFormat,
    /// The member that has the file.
    pointer: &'static str,
}

/// Members of a file beside `lines` are refused.
pub(super) fn no_file(input: &ImportBankStatement) -> Vec<Violation> {
    let members = [
        ("content", input.content.is_some()),
        ("content_base64", input.content_base64.is_some()),
        ("format", input.format.is_some()),
        ("account", input.account.is_some()),
        ("csv", input.csv.is_some()),
    ];
    let given = members.into_iter().filter(|(_, given)| *given);
    given
        .map(|(name, _)| {
            let detail = format!("{name} must be absent if lines are given");
            Violation::new(format!("/{name}"), "conflict", detail)
        })
        .collect()
}

/// The file; `None` if it is absent or unreadable.
pub(super) fn file_of<'a>(
    input: &'a ImportBankStatement,
    wrong: &mut Vec<Violation>,
) -> Option<Sent<'a>> {
    let (text, pointer) = match (&input.content, &input.content_base64) {
        (Some(content), None) => (Cow::Borrowed(content.0.as_str()), "/content"),
        (None, Some(bytes)) => (Cow::Owned(decoded(&bytes.0, wrong)?), "/content_base64"),
        (Some(_), Some(_)) => {
            let detail = "content_base64 must be absent if content is given";
            wrong.push(Violation::new("/content_base64", "conflict", detail));
            return None;
        }
        (None, None) => {
            without_content(input, wrong);
            return None;
        }
    };
    let detected = || match &input.csv {
        Some(_) => Some(StatementFormat::Csv),
        None => statement_file::detect(&text),
    };
    let Some(format) = input.format.or_else(detected) else {
        let detail = "format is required: the file is not recognised as camt053, mt940, ofx or \
            bai2, and csv needs its columns";
        wrong.push(Violation::new("/format", "required", detail));
        return None;
    };
    match (&input.csv, format) {
        (None, StatementFormat::Csv) => {
            let detail = "csv is required if the format is csv: it names the columns";
            wrong.push(Violation::new("/csv", "required", detail));
            return None;
        }
        (Some(mapping), StatementFormat::Csv) => {
            let mistakes = mapping.mistakes();
            let refused = !mistakes.is_empty();
            wrong.extend(mistakes.into_iter().map(|(member, code, detail)| {
                Violation::new(format!("/csv/columns/{member}"), code, detail)
            }));
            if refused {
                return None;
            }
        }
        (Some(_), _) => {
            let detail = "csv must be absent if the format is not csv";
            wrong.push(Violation::new("/csv", "conflict", detail));
            return None;
        }
        (None, _) => {}
    }
    Some(Sent { text, format, pointer })
}

/// Refuses members that describe a file if there is no file.
fn without_content(input: &ImportBankStatement, wrong: &mut Vec<Violation>) {
    let members = [
        ("format", input.format.is_some()),
        ("account", input.account.is_some()),
        ("csv", input.csv.is_some()),
    ];
    if let Some((name, _)) = members.into_iter().find(|(_, given)| *given) {
        let detail = format!("content is required if {name} is given");
        wrong.push(Violation::new("/content", "required", detail));
    }
}

fn decoded(base64: &str, wrong: &mut Vec<Violation>) -> Option<String> {
    let mut refuse = |detail: String| {
        wrong.push(Violation::new("/content_base64", "malformed", detail));
        None
    };
    match STANDARD.decode(base64) {
        Ok(bytes) => statement_file::decode(&bytes).map_or_else(&mut refuse, Some),
        Err(error) => refuse(format!("expected Base64: {error}")),
    }
}

/// The entries of the file as lines.
pub(super) fn of_file(
    file: &Sent<'_>,
    input: &ImportBankStatement,
    wallet: &Wallet,
    days: (Date, Date),
    wrong: &mut Vec<Violation>,
) -> Option<Contents> {
    let mut refuse = |mistake: Mistake| {
        wrong.push(Violation::new(file.pointer, "malformed", mistake.to_string()));
    };
    let source = Source {
        format: file.format,
        text: &file.text,
        currency: wallet.currency,
        account: input.account.as_ref().map(Text::as_str),
        check: input.check_balances,
        csv: input.csv.as_ref(),
    };
    let read = match statement_file::read(&source) {
        Ok(read) => read,
        Err(mistake) => {
            refuse(mistake);
            return None;
        }
    };
    for entry in &read.entries {
        if let Some(detail) = outside(entry.date, days) {
            refuse(statement_file::mistake(&file.text, entry.place, detail));
        }
    }
    let drafts: Vec<Draft> = read
        .entries
        .into_iter()
        .map(|entry| Draft {
            date: entry.date,
            amount: entry.amount,
            direction: entry.direction,
            description: entry.description,
            reference: entry.reference,
        })
        .collect();
    wrong.extend(sums_of(&drafts, file.pointer));
    Some(Contents {
        source: StatementSource::File,
        format: Some(file.format),
        opening: read.opening,
        closing: read.closing,
        drafts,
        truths: None,
    })
}

//! Records of a BAI2 file with their continuations, their fields, and the control totals.

use crate::model::payments::statement_file::entries::{Said, Wrong};

/// A record: its own line and the lines that continue it.
pub(super) struct Record<'a> {
    pub(super) code: &'a str,
    pub(super) place: usize,
    /// The text after the code and its comma, without the final slash.
    pub(super) lines: Vec<Said<&'a str>>,
}

/// The records of a file.
pub(super) fn records(text: &str) -> Result<Vec<Record<'_>>, Wrong> {
    let mut records: Vec<Record<'_>> = Vec::new();
    let mut place = 0;
    for whole in text.split_inclusive('\n') {
        let at = place;
        place += whole.len();
        // Some banks fill the lines of a block up with spaces, or end the file with a control character.
        let blank = |one: char| one.is_whitespace() || one.is_control() || one == '\u{feff}';
        let line = whole.trim_end_matches(blank);
        let at = at + (line.len() - line.trim_start_matches(blank).len());
        let line = line.trim_start_matches(blank);
        if line.is_empty() {
            continue;
        }
        let code = line.get(..2).filter(|_| line[2..].starts_with([',', '/']));
        let known = ["01", "02", "03", "16", "49", "88", "98", "99"];
        let Some(code) = code.filter(|code| known.contains(code)) else {
            let detail =
                format!("expected a record, which starts with one of {}", known.join(", "));
            return Err(Wrong::at(at, detail));
        };
        if let Some(bad) = line.find(char::is_control) {
            return Err(Wrong::at(at + bad, "expected text without control characters"));
        }
        let body = line[2..].strip_prefix(',').unwrap_or(&line[2..]);
        let said = Said {
            value: body.strip_suffix('/').unwrap_or(body),
            place: at + line.len() - body.len(),
        };
        if code == "88" {
            let Some(continued) = records.last_mut() else {
                return Err(Wrong::at(at, "expected the file header, 01"));
            };
            continued.lines.push(said);
        } else {
            records.push(Record { code, place: at, lines: vec![said] });
        }
    }
    Ok(records)
}

/// The fields of a record from left to right. A continuation starts with a new field.
pub(super) struct Cursor<'a, 'b> {
    record: &'b Record<'a>,
    /// The line, and the byte in it; none after the last field of the line.
    line: usize,
    at: Option<usize>,
}

impl<'a, 'b> Cursor<'a, 'b> {
    pub(super) fn of(record: &'b Record<'a>) -> Self {
        Self { record, line: 0, at: Some(0) }
    }

    /// Whether all fields were read.
    pub(super) fn is_done(&self) -> bool {
        let rest = self.record.lines.get(self.line).zip(self.at);
        let here = rest.is_some_and(|(line, at)| !line.value[at..].trim().is_empty());
        let later = self.record.lines.iter().skip(self.line + 1);
        !here && later.clone().all(|line| line.value.trim().is_empty())
    }

    /// The next field; empty after the last.
    pub(super) fn next(&mut self) -> Said<&'a str> {
        loop {
            let Some(line) = self.record.lines.get(self.line) else {
                let last = self.record.lines.last();
                let place = last.map_or(self.record.place, |last| last.place + last.value.len());
                return Said { value: "", place };
            };
            let Some(at) = self.at else {
                self.line += 1;
                self.at = Some(0);
                continue;
            };
            let rest = &line.value[at..];
            let end = rest.find(',').unwrap_or(rest.len());
            self.at = (end < rest.len()).then_some(at + end + 1);
            return Said { value: &rest[..end], place: line.place + at };
        }
    }

    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    /// An amount in minor units with an optional sign; none if the field is empty.
    pub(super) fn amount(&mut self) -> Result<Said<Option<i64>>, Wrong> {
        let said = self.next();
        let text = said.value.trim();
        if text.is_empty() {
            return Ok(Said { value: None, place: said.place });
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let good = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let value =
            text.parse::<i64>().ok().filter(|value| good && value.abs() <= i64::MAX / 1_000);
        let detail = "expected an amount in minor units, without a decimal mark";
        value
            .map(|value| Said { value: Some(value), place: said.place })
            .ok_or_else(|| Wrong::at(said.place, detail))
    }

    /// The type of funds, and the fields that follow from it.
    pub(super) fn funds(&mut self) -> Result<(), Wrong> {
        let kind = self.next();
        match kind.value.trim() {
            "" | "0" | "1" | "2" | "Z" => {}
            "V" => self.skip(2),
            "S" => self.skip(3),
            "D" => {
                let count = self.next();
                let pairs = count.value.trim().parse::<usize>().ok().filter(|pairs| *pairs <= 100);
                let detail = "expected the number of distributions";
                self.skip(2 * pairs.ok_or_else(|| Wrong::at(count.place, detail))?);
            }
            _ => {
                let detail = "expected a type of funds: 0, 1, 2, S, V, D or Z";
                return Err(Wrong::at(kind.place, detail));
            }
        }
        Ok(())
    }

    /// All text that is left, with its commas.
    pub(super) fn rest(&mut self) -> String {
        let mut parts = Vec::new();
        if let (Some(line), Some(at)) = (self.record.lines.get(self.line), self.at) {
            parts.push(line.value[at..].trim());
        }
        let later = self.record.lines.iter().skip(self.line + 1);
        parts.extend(later.map(|line| line.value.trim()));
        parts.retain(|text| !text.is_empty());
        parts.join(" ")
    }
}

/// The totals that the last record of an account, a group or a file must state.
pub(super) struct Totals {
    pub(super) sum: i128,
    /// The number of parts: accounts or groups.
    parts: usize,
    /// The number of lines so far.
    pub(super) records: usize,
}

impl Totals {
    /// Starts with the head.
    pub(super) fn of(head: &Record<'_>) -> Self {
        Self { sum: 0, parts: 0, records: head.lines.len() }
    }

    pub(super) fn add(&mut self, part: Self) {
        self.sum += part.sum;
        self.parts += 1;
        self.records += part.records;
    }

    /// Compares the totals with the last record: control total, number of parts (not for an account), and number of
    /// records including the last.
    pub(super) fn check(&mut self, end: &Record<'_>, parts: Option<&str>) -> Result<(), Wrong> {
        self.records += end.lines.len();
        let mut fields = Cursor::of(end);
        let total = fields.amount()?;
        compare(total.value.map(i128::from), self.sum, total.place, "the control total")?;
        let number = |said: Said<&str>| (said.value.trim().parse::<i128>().ok(), said.place);
        if let Some(parts) = parts {
            let (found, place) = number(fields.next());
            compare(found, as_count(self.parts), place, &format!("the number of {parts}"))?;
        }
        let (found, place) = number(fields.next());
        compare(found, as_count(self.records), place, "the number of records")
    }
}

fn as_count(count: usize) -> i128 {
    i128::try_from(count).unwrap_or(i128::MAX)
}

fn compare(found: Option<i128>, expected: i128, place: usize, what: &str) -> Result<(), Wrong> {
    if found == Some(expected) {
        return Ok(());
    }
    let found = found.map_or_else(|| "no number".to_owned(), |found| found.to_string());
    Err(Wrong::at(place, format!("expected {expected}, {what}, but found {found}")))
}

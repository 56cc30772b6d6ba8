//! Splits a CSV file into rows and fields, as RFC 4180 has it.

use crate::model::payments::statement_file::entries::Wrong;

/// One field, without its quotes.
pub(super) struct Cell {
    pub(super) text: String,
    /// Position of its first character.
    pub(super) place: usize,
}

/// One row.
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    pub(super) place: usize,
}

/// The rows after that number of lines. Empty lines are left out.
pub(super) fn rows(text: &str, delimiter: char, skipped: usize) -> Result<Vec<Row>, Wrong> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let lines = text[start..].split_inclusive('\n').take(skipped);
    let mut reader = Reader { text, place: start + lines.map(str::len).sum::<usize>(), delimiter };
    let mut rows = Vec::new();
    while reader.place < text.len() {
        let place = reader.place;
        let cells = reader.row()?;
        if cells.iter().any(|cell| !cell.text.trim().is_empty()) {
            rows.push(Row { cells, place });
        }
    }
    Ok(rows)
}

struct Reader<'a> {
    text: &'a str,
    place: usize,
    delimiter: char,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.place..].chars().next()
    }

    /// The fields up to the end of the line, which is consumed.
    fn row(&mut self) -> Result<Vec<Cell>, Wrong> {
        let mut cells = Vec::new();
        loop {
            cells.push(self.cell()?);
            match self.peek() {
                Some(one) if one == self.delimiter => self.place += one.len_utf8(),
                Some('\r') if self.text[self.place..].starts_with("\r\n") => {
                    self.place += 2;
                    return Ok(cells);
                }
                Some('\r' | '\n') => {
                    self.place += 1;
                    return Ok(cells);
                }
                None => return Ok(cells),
                Some(_) => {
                    let detail = "expected the end of the field after its closing quote";
                    return Err(Wrong::at(self.place, detail));
                }
            }
        }
    }

    fn cell(&mut self) -> Result<Cell, Wrong> {
        if self.peek() == Some('"') {
            return self.quoted();
        }
        let place = self.place;
        let rest = &self.text[place..];
        let end = rest.find([self.delimiter, '\r', '\n']).unwrap_or(rest.len());
        self.place += end;
        Ok(Cell { text: rest[..end].to_owned(), place })
    }

    /// A field in quotes: two quotes within it are one.
    fn quoted(&mut self) -> Result<Cell, Wrong> {
        let opened = self.place;
        self.place += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.place..];
            let Some(end) = rest.find('"') else {
                return Err(Wrong::at(opened, "expected a closing quote for the one here"));
            };
            text.push_str(&rest[..end]);
            self.place += end + 1;
            if self.peek() != Some('"') {
                return Ok(Cell { text, place: opened + 1 });
            }
            text.push('"');
            self.place += 1;
        }
    }
}

//! CSV with the position of each cell (RFC 4180), for messages about cells.

use core::ops::Range;

use crate::value::Diagnostic;

/// A cell, and its bytes in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// The lines of a file that are not empty, up to a mistake in the quotes. A quoted cell can contain separators, line ends and doubled quotes.
pub(super) fn parse(source: &str, separator: u8) -> (Vec<Vec<Cell>>, Option<Diagnostic>) {
    let bytes = source.as_bytes();
    let mut at = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    loop {
        let cell = if bytes.get(at) == Some(&b'"') {
            match quoted(source, at, separator) {
                Ok(cell) => cell,
                Err(wrong) => return (rows, Some(wrong)),
            }
        } else {
            let ends = |byte: &u8| matches!(byte, b'\n' | b'\r') || *byte == separator;
            let length = bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at);
            let span = at..at + length;
            Cell { text: source[span.clone()].trim().to_owned(), span }
        };
        at = cell.span.end;
        row.push(cell);
        if bytes.get(at) == Some(&separator) {
            at += 1;
            continue;
        }
        let row = std::mem::take(&mut row);
        if row.iter().any(|cell| !cell.text.is_empty()) {
            rows.push(row);
        }
        match &bytes[at..] {
            [] => return (rows, None),
            [b'\r', b'\n', ..] => at += 2,
            _ => at += 1,
        }
        if at == bytes.len() {
            return (rows, None);
        }
    }
}

/// The cell whose quote is at this byte.
fn quoted(source: &str, start: usize, separator: u8) -> Result<Cell, Diagnostic> {
    let (bytes, mut text, mut at) = (source.as_bytes(), String::new(), start + 1);
    loop {
        let Some(length) = source[at..].find('"') else {
            return Err(Diagnostic::new(start..start + 1, "the quote of this cell has no end")
                .expected("expected a second quote after the text")
                .help("write a quote inside a quoted cell twice"));
        };
        text.push_str(&source[at..at + length]);
        at += length + 1;
        match bytes.get(at) {
            Some(b'"') => {
                text.push('"');
                at += 1;
            }
            None | Some(b'\n' | b'\r') => break,
            Some(byte) if *byte == separator => break,
            Some(_) => {
                return Err(Diagnostic::new(at..at + 1, "text follows the end of a quoted cell")
                    .expected("expected a separator or the end of the line")
                    .help("write a quote inside a quoted cell twice"));
            }
        }
    }
    Ok(Cell { text, span: start..at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<Vec<String>> {
        let (rows, wrong) = parse(source, b',');
        assert_eq!(wrong, None);
        rows.into_iter().map(|row| row.into_iter().map(|cell| cell.text).collect()).collect()
    }

    #[test]
    fn cells_end_at_separators_and_quotes_hide_them() {
        assert_eq!(texts("a,b\r\n1, 2 \n"), [["a", "b"], ["1", "2"]]);
        assert_eq!(texts("\u{feff}\"a,\"\"b\"\"\nc\",d"), [["a,\"b\"\nc", "d"]]);
        assert_eq!(texts("a,\n,\n\n,b\n"), [["a", ""], ["", "b"]]);
        assert!(texts("").is_empty() && texts("\n\n").is_empty());
    }

    #[test]
    fn a_cell_has_its_byte_range() {
        let (rows, _) = parse("é,\"b\",c", b',');
        let spans: Vec<_> = rows[0].iter().map(|cell| cell.span.clone()).collect();
        assert_eq!(spans, [0..2, 3..6, 7..8]);
    }

    #[test]
    fn quotes_without_an_end_are_refused_with_their_place() {
        for (source, start, lines) in [("a,\"b\n", 2, 0), ("x\n\"a\"b,c\ny", 5, 1)] {
            let (rows, wrong) = parse(source, b',');
            assert_eq!(
                (wrong.map(|wrong| wrong.start()), rows.len()),
                (Some(start), lines),
                "{source}"
            );
        }
    }
}

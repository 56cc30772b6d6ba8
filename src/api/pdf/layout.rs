//! Page layout: places a document's blocks on as many pages as needed, in thousandths of a point from the top left.

use crate::api::pdf::font::{Font, Weight};
use crate::api::pdf::{Block, PdfDocument, Row, Table};
use crate::model::growth::countries::Paper;

pub(super) const POINT: i32 = 1_000;

const MARGIN: i32 = 48 * POINT;
const TOP: i32 = 54 * POINT;
/// The height of the area at the end of a page that is for the footer only.
const FOOT: i32 = 70 * POINT;
const GUTTER: i32 = 22 * POINT;
/// Space between blocks.
const SPACE: i32 = 30 * POINT;

const BODY: i32 = 9;
const SMALL: i32 = 8;

/// The size of the pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) width: i32,
    pub(super) height: i32,
}

impl Page {
    /// ISO 216 A4, or 8.5 by 11 inches.
    pub(super) const fn of(paper: Paper) -> Self {
        let (width, height) = match paper {
            Paper::A4 => (595, 842),
            Paper::Letter => (612, 792),
        };
        Self { width: width * POINT, height: height * POINT }
    }

    const fn right(self) -> i32 {
        self.width - MARGIN
    }
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Black,
    /// For secondary text.
    Grey,
    /// For rules.
    Pale,
    /// For the background of the main figure.
    Wash,
    /// For a stamp.
    Red,
}

/// One mark on a page. `y` is the baseline of text, or the upper edge.
#[derive(Clone, Debug)]
pub(super) enum Mark {
    Text { x: i32, y: i32, size: i32, weight: Weight, ink: Ink, text: String },
    Line { y: i32, from: i32, to: i32, ink: Ink },
    Fill { x: i32, y: i32, width: i32, height: i32, ink: Ink },
}

/// The style of a text.
#[derive(Clone, Copy)]
struct Style {
    size: i32,
    weight: Weight,
    ink: Ink,
}

const fn style(size: i32, weight: Weight, ink: Ink) -> Style {
    Style { size, weight, ink }
}

const PLAIN: Style = style(BODY, Weight::Regular, Ink::Black);
const STRONG: Style = style(BODY, Weight::Bold, Ink::Black);
const QUIET: Style = style(SMALL, Weight::Regular, Ink::Grey);
/// Line height of the body.
const LEADING: i32 = 15 * POINT;

pub(super) fn pages(pdf: &PdfDocument) -> Vec<Vec<Mark>> {
    let size = Page::of(pdf.paper);
    let mut sheet = Sheet { size, pages: vec![Vec::new()], y: TOP };
    sheet.head(pdf);
    for block in &pdf.blocks {
        match block {
            Block::Facts(facts) => sheet.facts(facts),
            Block::Tables(tables) => sheet.tables(tables),
            Block::Figure { label, value, remark } => sheet.figure(label, value, remark),
            Block::Note(text) => sheet.note(text),
        }
        sheet.y += SPACE;
    }
    let count = sheet.pages.len();
    for (number, page) in (1..).zip(&mut sheet.pages) {
        foot(page, (pdf, size), number, count);
    }
    sheet.pages
}

fn foot(page: &mut Vec<Mark>, (pdf, size): (&PdfDocument, Page), number: usize, count: usize) {
    let y = size.height - 40 * POINT;
    page.push(Mark::Line { y: y - 14 * POINT, from: MARGIN, to: size.right(), ink: Ink::Pale });
    text(page, MARGIN, y, QUIET, &pdf.footer);
    let number = format!("Page {number} of {count}");
    text_to(page, size.right(), y, QUIET, &number);
}

fn text(page: &mut Vec<Mark>, x: i32, y: i32, style: Style, text: &str) {
    page.push(Mark::Text {
        x,
        y,
        size: style.size,
        weight: style.weight,
        ink: style.ink,
        text: text.to_owned(),
    });
}

/// Right-aligned text that ends at `x`.
fn text_to(page: &mut Vec<Mark>, x: i32, y: i32, style: Style, line: &str) {
    let width = width(line, style);
    text(page, x - width, y, style, line);
}

fn width(text: &str, style: Style) -> i32 {
    Font::of(style.weight).width(text, style.size)
}

/// Breaks a text into lines of that maximum width. A word that is wider is broken, too.
fn lines(text: &str, style: Style, most: i32) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, style) <= most {
            *line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(String::new());
        }
        for letter in word.chars() {
            let line = lines.last_mut().expect("there is always a line");
            line.push(letter);
            if width(line, style) > most && line.chars().count() > 1 {
                line.pop();
                lines.push(letter.to_string());
            }
        }
    }
    lines
}

/// Pages under construction.
struct Sheet {
    size: Page,
    pages: Vec<Vec<Mark>>,
    /// Vertical position on the last page.
    y: i32,
}

impl Sheet {
    fn page(&mut self) -> &mut Vec<Mark> {
        self.pages.last_mut().expect("there is always a page")
    }

    /// Starts another page if the height does not fit. Returns whether it did.
    fn make_room(&mut self, height: i32) -> bool {
        let full = self.y + height > self.size.height - FOOT;
        if full {
            self.pages.push(Vec::new());
            self.y = TOP;
        }
        full
    }

    fn head(&mut self, pdf: &PdfDocument) {
        let end = self.size.right();
        let (left, right) = (self.size.width * 11 / 20, self.size.width * 7 / 20);
        let sender = |place| {
            if place == 0 { style(14, Weight::Bold, Ink::Black) } else { QUIET }
        };
        let title = |place| {
            if place == 0 {
                style(20, Weight::Bold, Ink::Black)
            } else {
                style(10, Weight::Regular, Ink::Grey)
            }
        };
        let mut y = self.y;
        for (place, part) in pdf.sender.iter().enumerate() {
            for line in lines(part, sender(place), left - MARGIN) {
                text(self.page(), MARGIN, y, sender(place), &line);
                y += if place == 0 { 17 * POINT } else { 12 * POINT };
            }
        }
        let mut beside = self.y;
        for (place, part) in pdf.title.iter().enumerate() {
            for line in lines(part, title(place), right) {
                text_to(self.page(), end, beside, title(place), &line);
                beside += if place == 0 { 20 * POINT } else { 14 * POINT };
            }
        }
        if let Some(stamp) = &pdf.stamp {
            let style = style(14, Weight::Bold, Ink::Red);
            text_to(self.page(), end, beside + 6 * POINT, style, stamp);
            beside += 20 * POINT;
        }
        self.y = y.max(beside) + 4 * POINT;
        self.rule(self.y, MARGIN, end, Ink::Black);
        self.y += 24 * POINT;
    }

    fn rule(&mut self, y: i32, from: i32, to: i32, ink: Ink) {
        self.page().push(Mark::Line { y, from, to, ink });
    }

    fn facts(&mut self, facts: &[(String, String)]) {
        let column = (self.size.right() - MARGIN - GUTTER) / 2;
        let named = 84 * POINT;
        for pair in facts.chunks(2) {
            let values: Vec<Vec<String>> =
                pair.iter().map(|(_, value)| lines(value, PLAIN, column - named)).collect();
            let height = values.iter().map(Vec::len).max().unwrap_or(1);
            let height = i32::try_from(height).unwrap_or(1) * LEADING;
            self.make_room(height);
            let mut x = MARGIN;
            for ((name, _), value) in pair.iter().zip(&values) {
                let y = self.y;
                text(self.page(), x, y, QUIET, name);
                for (line, part) in (0..).zip(value) {
                    text(self.page(), x + named, y + line * LEADING, PLAIN, part);
                }
                x += column + GUTTER;
            }
            self.y += height;
        }
        self.y -= LEADING;
    }

    fn figure(&mut self, label: &str, value: &str, remark: &str) {
        let end = self.size.right();
        let (large, height) = (style(18, Weight::Bold, Ink::Black), 48 * POINT);
        self.make_room(height);
        let y = self.y - 8 * POINT;
        self.page().push(Mark::Fill { x: MARGIN, y, width: end - MARGIN, height, ink: Ink::Wash });
        let inset = 12 * POINT;
        text(
            self.page(),
            MARGIN + inset,
            y + 21 * POINT,
            style(12, Weight::Bold, Ink::Black),
            label,
        );
        text(self.page(), MARGIN + inset, y + 36 * POINT, QUIET, remark);
        text_to(self.page(), end - inset, y + 30 * POINT, large, value);
        self.y = y + height;
    }

    fn note(&mut self, note: &str) {
        for line in lines(note, QUIET, self.size.right() - MARGIN) {
            self.make_room(12 * POINT);
            let y = self.y;
            text(self.page(), MARGIN, y, QUIET, &line);
            self.y += 12 * POINT;
        }
        self.y -= 12 * POINT;
    }

    fn tables(&mut self, tables: &[Table]) {
        let count = i32::try_from(tables.len()).unwrap_or(1).max(1);
        let column = (self.size.right() - MARGIN - GUTTER * (count - 1)) / count;
        let columns: Vec<Column<'_>> = (0..)
            .zip(tables)
            .map(|(place, table)| Column::new(table, MARGIN + place * (column + GUTTER), column))
            .collect();
        // A heading must not be the last line of a page.
        self.make_room(4 * LEADING);
        self.headings(&columns);
        let longest = tables.iter().map(|table| table.rows.len()).max();
        for place in 0..longest.unwrap_or(0) {
            self.row(&columns, |table| table.rows.get(place), PLAIN);
        }
        if tables.iter().any(|table| table.total.is_some()) {
            // A total must not be the first line of a page either.
            if self.make_room(2 * LEADING) {
                self.headings(&columns);
            }
            let y = self.y - 6 * POINT;
            for column in columns.iter().filter(|column| column.table.total.is_some()) {
                self.rule(y, column.left, column.right, Ink::Black);
            }
            self.y += 5 * POINT;
            self.row(&columns, |table| table.total.as_ref(), STRONG);
        }
        self.y -= LEADING;
    }

    fn headings(&mut self, columns: &[Column<'_>]) {
        let y = self.y;
        for column in columns {
            text(self.page(), column.left, y, STRONG, &column.table.title);
            for (name, end) in column.table.columns.iter().zip(&column.ends) {
                text_to(self.page(), *end, y, QUIET, name);
            }
            self.rule(y + 6 * POINT, column.left, column.right, Ink::Pale);
        }
        self.y += LEADING + 5 * POINT;
    }

    /// One row of all tables, as high as the highest.
    fn row<'t>(
        &mut self,
        columns: &[Column<'t>],
        of: impl Fn(&'t Table) -> Option<&'t Row>,
        style: Style,
    ) {
        let wrapped: Vec<Option<(&Row, Vec<String>)>> = columns
            .iter()
            .map(|column| {
                let row = of(column.table)?;
                Some((row, lines(&row.label, style, column.label_width(row, style))))
            })
            .collect();
        let height = wrapped.iter().flatten().map(|(_, label)| label.len()).max();
        let height = i32::try_from(height.unwrap_or(1)).unwrap_or(1) * LEADING;
        if self.make_room(height) {
            self.headings(columns);
        }
        let y = self.y;
        for (column, row) in columns.iter().zip(&wrapped) {
            let Some((row, label)) = row else { continue };
            for (line, part) in (0..).zip(label) {
                text(self.page(), column.left, y + line * LEADING, style, part);
            }
            for (figure, end) in row.figures.iter().zip(&column.ends) {
                text_to(self.page(), *end, y, style, figure);
            }
        }
        self.y += height;
    }
}

/// The position of a table.
struct Column<'t> {
    table: &'t Table,
    left: i32,
    right: i32,
    /// The right edge of each figure column.
    ends: Vec<i32>,
}

impl<'t> Column<'t> {
    /// Each figure column is as wide as its widest figure.
    fn new(table: &'t Table, left: i32, width: i32) -> Self {
        let right = left + width;
        let all = || table.rows.iter().chain(&table.total);
        let mut end = right;
        let mut ends = Vec::new();
        for place in (0..table.columns.len()).rev() {
            ends.push(end);
            let figures = all().filter_map(|row| row.figures.get(place));
            let widest = figures.map(|figure| self::width(figure, STRONG)).max();
            let heading = self::width(&table.columns[place], QUIET);
            end -= widest.unwrap_or(0).max(heading) + 12 * POINT;
        }
        ends.reverse();
        Self { table, left, right, ends }
    }

    /// The width that a row's figures leave for its label.
    fn label_width(&self, row: &Row, style: Style) -> i32 {
        let first = self.ends.first().copied().unwrap_or(self.right);
        let figure = row.figures.first().map_or(0, |figure| width(figure, style));
        (first - figure - 8 * POINT - self.left).max(24 * POINT)
    }
}

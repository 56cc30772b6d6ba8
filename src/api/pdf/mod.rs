//! PDF documents: their content, block by block, and how that becomes the bytes of a PDF.
//!
//! Tied to no resource: a payslip fills it in, and whatever else is printed. The same document is the same bytes, on every
//! machine and at any time: its date is the resource's own.

mod font;
mod layout;
mod writer;

use crate::value::Timestamp;

/// The media type.
pub(crate) const PDF: &str = "application/pdf";

/// What a document says.
#[derive(Clone, Debug)]
pub(crate) struct PdfDocument {
    /// What it is, for a reader's window and list of files.
    pub(crate) name: String,
    /// The file it is saved as, without its ending.
    pub(crate) file: String,
    /// When what it shows was made, in virtual time.
    pub(crate) created_at: Timestamp,
    /// Who sends it: a name, and lines below it.
    pub(crate) sender: Vec<String>,
    /// What it is, in large letters, and lines below that.
    pub(crate) title: Vec<String>,
    /// A word across the head where the document no longer holds.
    pub(crate) stamp: Option<String>,
    pub(crate) blocks: Vec<Block>,
    /// A line at the foot of every page.
    pub(crate) footer: String,
}

/// One part of a document.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// Names and what they have, two pairs a row.
    Facts(Vec<(String, String)>),
    /// Tables beside one another.
    Tables(Vec<Table>),
    /// The one figure that a reader looks for, with a word before it and one below.
    Figure { label: String, value: String, remark: String },
    /// Small print.
    Note(String),
}

/// Rows of a label and figures.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The heading of the labels.
    pub(crate) title: String,
    /// Headings of the figures.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// What stands below a line.
    pub(crate) total: Option<Row>,
}

/// A label and figures.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) figures: Vec<String>,
}

impl Row {
    /// A label and its figures.
    pub(crate) fn new(label: impl Into<String>, figures: Vec<String>) -> Self {
        Self { label: label.into(), figures }
    }
}

impl PdfDocument {
    /// The document as a PDF.
    pub(crate) fn to_pdf(&self) -> Vec<u8> {
        writer::write(self, &layout::pages(self))
    }
}

#[cfg(test)]
mod tests;

//! PDF documents: their contents as blocks, and the conversion to PDF.
//!
//! Independent of any resource: payslips and invoices use it. The same document always gives the same bytes, on every machine, because its
//! date is the resource's own.

mod font;
mod layout;
mod writer;

use crate::model::growth::countries::Paper;
use crate::value::Timestamp;

/// The media type.
pub(crate) const PDF: &str = "application/pdf";

/// The contents of a document.
#[derive(Clone, Debug)]
pub(crate) struct PdfDocument {
    /// The document title, for a reader's window and file list.
    pub(crate) name: String,
    /// The file name without its extension.
    pub(crate) file: String,
    /// When the contents were created, in virtual time.
    pub(crate) created_at: Timestamp,
    pub(crate) paper: Paper,
    /// The sender: a name, and lines below it.
    pub(crate) sender: Vec<String>,
    /// The heading in large letters, and lines below it.
    pub(crate) title: Vec<String>,
    /// A word across the head if the document is no longer valid.
    pub(crate) stamp: Option<String>,
    pub(crate) blocks: Vec<Block>,
    /// A line at the foot of every page.
    pub(crate) footer: String,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// Labels with values, two pairs per row.
    Facts(Vec<(String, String)>),
    /// Tables side by side.
    Tables(Vec<Table>),
    /// The main figure, with a label and a remark below it.
    Figure { label: String, value: String, remark: String },
    /// Small print.
    Note(String),
}

/// Rows with a label and figures.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The heading of the labels.
    pub(crate) title: String,
    /// Headings of the figures.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    /// The row below a rule.
    pub(crate) total: Option<Row>,
}

/// A label with figures.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) figures: Vec<String>,
}

impl Row {
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

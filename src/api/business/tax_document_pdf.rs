//! A tax document as a PDF, made from the document itself.

use crate::api::business::payslip_pdf::figure;
use crate::api::business::tax_documents::TaxDocument;
use crate::api::pdf::{Block, PdfDocument, Row, Table};
use crate::api::prelude::*;
use crate::api::print::{long, print_of, sender};
use crate::model::business::tax_document_boxes::{FilledBox, FilledRow};

/// Maximum number of figures side by side in a row.
const MOST_COLUMNS: usize = 4;

pub(crate) fn tax_document_pdf(world: &World, document: &TaxDocument) -> Result<PdfDocument> {
    let company = world.get(document.company_id())?;
    let employee = document.employee_id().and_then(|id| world.find(id));
    let about = employee.as_ref().map_or(&*company.legal_name, |employee| &employee.name);
    let (first, last) = document.days();
    let print = print_of(&company.country);
    let is_text = |it: &&FilledBox| it.amount.is_none();
    let facts = document.boxes.iter().filter(is_text);
    let amounts = document.boxes.iter().filter(|it| it.amount.is_some());
    let currency = document.currency;
    let mut blocks = vec![Block::Facts(facts.map(|it| (named(it), shown(it, currency))).collect())];
    blocks.push(Block::Tables(vec![Table {
        title: "Box".to_owned(),
        columns: vec![currency.to_string()],
        rows: amounts.map(|it| Row::new(named(it), vec![shown(it, currency)])).collect(),
        total: None,
    }]));
    blocks.extend(tables(world, document));
    let period = format!("Pay dates from {} to {}", long(first, print), long(last, print));
    blocks.push(Block::Note(format!(
        "{period}. The figures are sums of {} payslips.",
        document.payslip_count()
    )));
    if let Some(reporting) = document.reporting() {
        let threshold = figure(currency, reporting.threshold);
        let is = if reporting.required { "must" } else { "need not" };
        blocks.push(Block::Note(format!(
            "A total of {threshold} or more must be filed; this one {is} be filed."
        )));
    }
    let owner = document
        .employee_id()
        .map_or_else(|| document.company_id().to_string(), |employee| employee.to_string());
    Ok(PdfDocument {
        name: format!("{} {}, {about}", document.form(), document.period()),
        file: format!("{}-{}-{owner}", document.form(), document.period()),
        created_at: last.midnight(),
        paper: print.paper,
        sender: sender(&company),
        title: vec![document.form().to_owned(), document.title().to_owned()],
        stamp: None,
        blocks,
        footer: "Simulated by sandbox: no real person, and no real money".to_owned(),
    })
}

/// The rows, some columns at a time.
fn tables(world: &World, document: &TaxDocument) -> Vec<Block> {
    let Some(first) = document.rows.first() else { return Vec::new() };
    let places: Vec<usize> = (0..first.boxes.len()).collect();
    let table = |places: &[usize]| {
        let row = |row: &FilledRow| {
            let figures = places.iter().map(|place| shown(&row.boxes[*place], document.currency));
            Row::new(about(world, row), figures.collect())
        };
        let table = Table {
            title: match (&first.period, first.employee_id) {
                (Some(_), _) => "Period",
                (None, Some(_)) => "Employee",
                (None, None) => "",
            }
            .to_owned(),
            columns: places.iter().map(|place| first.boxes[*place].id.clone()).collect(),
            rows: document.rows.iter().map(row).collect(),
            total: None,
        };
        Block::Tables(vec![table])
    };
    places.chunks(MOST_COLUMNS).map(table).collect()
}

fn about(world: &World, row: &FilledRow) -> String {
    let employee = row.employee_id.and_then(|id| world.find(id));
    let name = employee.map(|employee| employee.name.clone());
    row.period.clone().or(name).unwrap_or_default()
}

/// `1 Wages, tips, other compensation`; a box without a number has only its label.
fn named(it: &FilledBox) -> String {
    let is_number = it.id.starts_with(|first: char| first.is_ascii_digit()) || it.id.len() == 1;
    if is_number { format!("{} {}", it.id, it.label) } else { it.label.clone() }
}

fn shown(it: &FilledBox, currency: Currency) -> String {
    let number = it.amount.map(|amount| figure(currency, amount));
    let count = it.count.map(|count| count.to_string());
    number.or(count).or_else(|| it.text.clone()).unwrap_or_else(|| "—".to_owned())
}

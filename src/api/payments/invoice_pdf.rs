//! An invoice as a PDF.

use crate::api::business::payslip_pdf::figure;
use crate::api::pdf::{Block, PdfDocument, Row, Table};
use crate::api::prelude::*;
use crate::api::print::{long, print_of, sender};
use crate::model::growth::countries::Print;
use crate::model::payments::{Collection, Invoice, InvoiceStatus, VirtualAccount, vat};

pub(super) fn invoice_pdf(world: &World, id: Id<Invoice>) -> Result<PdfDocument> {
    let invoice = world.get(id)?;
    let company = world.get(invoice.company_id)?;
    let asked = world.open_collection(company.id, &Collection::by_invoice(id));
    let asked = asked.and_then(|id| world.find(id));
    let account = asked.as_ref().and_then(|it| it.virtual_account.as_ref());
    Ok(pdf(&invoice, &company, account))
}

fn pdf(invoice: &Invoice, company: &Company, account: Option<&VirtualAccount>) -> PdfDocument {
    let number = invoice.number.clone();
    let print = print_of(&company.country);
    let shown = number.clone().unwrap_or_else(|| "Draft".to_owned());
    PdfDocument {
        name: format!("Invoice {shown}, {}", invoice.customer.name),
        file: number.map_or_else(
            || format!("invoice-{}", invoice.id),
            |number| format!("invoice-{number}"),
        ),
        created_at: invoice.created_at,
        paper: print.paper,
        sender: sender(company),
        title: vec!["Invoice".to_owned(), shown],
        stamp: match invoice.status {
            InvoiceStatus::Draft => Some("DRAFT".to_owned()),
            InvoiceStatus::Void => Some("VOID".to_owned()),
            _ => None,
        },
        blocks: vec![
            Block::Facts(facts(invoice, print)),
            Block::Tables(vec![lines(invoice)]),
            Block::Tables(vec![taxes(invoice, company), sums(invoice)]),
            Block::Figure {
                label: "Amount due".to_owned(),
                value: format!(
                    "{} {}",
                    invoice.currency,
                    figure(invoice.currency, invoice.collectable().unwrap_or(invoice.amount_due))
                ),
                remark: remark(invoice, print),
            },
            Block::Note(how_to_pay(invoice, account)),
        ],
        footer: "Simulated by sandbox: no real person, and no real money".to_owned(),
    }
}

fn facts(invoice: &Invoice, print: &Print) -> Vec<(String, String)> {
    let none = || "—".to_owned();
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let customer = &invoice.customer;
    vec![
        fact("Customer", customer.name.clone()),
        fact("Invoice date", invoice.issued_on.map_or_else(none, |day| long(day, print))),
        fact("E-mail", customer.email.clone().unwrap_or_else(none)),
        fact("Due date", long(invoice.due_date, print)),
        fact("Customer no.", customer.id.clone().unwrap_or_else(none)),
        fact("Reference", invoice.number.clone().unwrap_or_else(none)),
    ]
}

fn lines(invoice: &Invoice) -> Table {
    let currency = invoice.currency;
    let row = |line: &crate::model::payments::invoice::InvoiceLine| {
        let figures = vec![
            line.quantity.to_string(),
            figure(currency, line.unit_amount),
            percent(line.tax_rate),
            figure(currency, line.amount),
        ];
        Row::new(line.description.clone(), figures)
    };
    let none = String::new;
    Table {
        title: "Description".to_owned(),
        columns: ["Quantity", "Unit price", "Tax"]
            .map(str::to_owned)
            .into_iter()
            .chain([currency.to_string()])
            .collect(),
        rows: invoice.lines.iter().map(row).collect(),
        total: Some(Row::new(
            "Net total",
            vec![none(), none(), none(), figure(currency, invoice.net_total)],
        )),
    }
}

fn taxes(invoice: &Invoice, company: &Company) -> Table {
    let currency = invoice.currency;
    let name = vat::Place::of(company).tax_name().unwrap_or("Tax");
    Table {
        title: "Tax".to_owned(),
        columns: vec!["Net".to_owned(), currency.to_string()],
        rows: invoice
            .taxes
            .iter()
            .map(|row| {
                let figures = vec![figure(currency, row.net), figure(currency, row.tax)];
                Row::new(format!("{name} {}", percent(row.rate)), figures)
            })
            .collect(),
        total: Some(Row::new(
            "Tax total",
            vec![String::new(), figure(currency, invoice.tax_total)],
        )),
    }
}

fn sums(invoice: &Invoice) -> Table {
    let currency = invoice.currency;
    let row = |label: &str, amount| Row::new(label, vec![figure(currency, amount)]);
    Table {
        title: "In all".to_owned(),
        columns: vec![currency.to_string()],
        rows: vec![
            row("Net", invoice.net_total),
            row("Tax", invoice.tax_total),
            row("Less what is paid", invoice.amount_paid),
        ],
        total: Some(row("Due", invoice.total - invoice.amount_paid)),
    }
}

fn remark(invoice: &Invoice, print: &Print) -> String {
    match invoice.status {
        InvoiceStatus::Draft => "Not sent yet: nothing is due".to_owned(),
        InvoiceStatus::Void => "Withdrawn: nothing is due".to_owned(),
        InvoiceStatus::Paid => "Paid in full, with thanks".to_owned(),
        _ if invoice.overdue || invoice.status == InvoiceStatus::WrittenOff => {
            format!("Was due on {}", long(invoice.due_date, print))
        }
        _ => format!("Due on {}", long(invoice.due_date, print)),
    }
}

fn how_to_pay(invoice: &Invoice, account: Option<&VirtualAccount>) -> String {
    let Some(account) = account else {
        return "Nothing is to be paid to an account at the moment.".to_owned();
    };
    let iban = account.iban.as_ref().map_or_else(String::new, |iban| format!(", IBAN {iban}"));
    format!(
        "Please pay to {}, {} (bank code {}), account {}{iban}, with the reference {}.",
        account.account_name,
        account.bank_name,
        account.bank_code,
        account.account_number,
        invoice.number.as_deref().unwrap_or("of this invoice"),
    )
}

fn percent(basis_points: u32) -> String {
    let (whole, part) = (basis_points / 100, basis_points % 100);
    let part = format!("{part:02}");
    match part.trim_end_matches('0') {
        "" => format!("{whole} %"),
        part => format!("{whole}.{part} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn rates_are_shown_without_needless_digits() {
        let shown = [0, 750, 1_500, 1_925, 5, 10_000].map(percent);
        assert_eq!(shown, ["0 %", "7.5 %", "15 %", "19.25 %", "0.05 %", "100 %"]);
    }
}

//! Invoices: draft, list, read, send, void. Payments and due dates are in `invoice_clock`.

use serde_json::Value;

use crate::api::business::payroll_people::may_pay;
use crate::api::operation::decode;
use crate::api::payments::collections::sold;
use crate::api::payments::invoice_clock;
use crate::api::payments::invoice_pdf::invoice_pdf;
use crate::api::payments::priced_lines::{NewPricedLine, priced};
use crate::api::pdf::PdfDocument;
use crate::api::prelude::*;
use crate::model::payments::{Customer, Invoice, InvoiceStatus, Scope};
use crate::value::Email;

/// Maximum number of days until the due date: ten years.
const LONGEST_TERMS: i32 = 3_660;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([
    Operation {
        path: "/api/payments/invoices",
        summary: "List invoices",
        description: "Lists invoices in creation order, starting with the twelve months before the \
            world's start.",
        ..operation!(read list_invoices)
    },
    Operation {
        path: "/api/payments/invoices",
        summary: "Draft an invoice",
        description: "Creates a draft. A line without `tax_rate` has the standard rate of the \
            company's country. Tax is calculated once per rate and rounded half to even. A draft \
            has no number and no journal entries.",
        example: r#"{"company_id":"@company:1","customer":{"name":"Harbour Foods Ltd","email":"accounts@harbour.example.com"},"currency":"NGN","lines":[{"description":"Consulting, January","quantity":3,"unit_amount":15000000},{"description":"Books","quantity":2,"unit_amount":450000,"tax_rate":0}],"due_date":"2026-02-28"}"#,
        success: 201,
        emits: &["invoice.created"],
        ..operation!(write create_invoice)
    },
    Operation {
        path: "/api/payments/invoices/{invoice_id}",
        summary: "Read an invoice",
        description: "Returns an invoice with its lines, tax by rate, and the paid and outstanding \
            amounts. With `Accept: application/pdf` it returns a PDF.",
        pdf: Some(page),
        ..operation!(get get_invoice: Invoice)
    },
    Operation {
        path: "/api/payments/invoices/{invoice_id}/pdf",
        summary: "Read an invoice as PDF",
        description: "Returns the PDF of an invoice, like `getInvoice` with `Accept: \
            application/pdf`.",
        pdf: Some(page),
        only_pdf: true,
        ..operation!(get get_invoice_pdf: Invoice)
    },
    Operation {
        path: "/api/payments/invoices/{invoice_id}/send",
        summary: "Send an invoice",
        description: "Sends a draft. The call assigns a number (`INV-2026-0001`, by company and \
            year, without gaps), and posts revenue, tax and the receivable. The tax is added to \
            the liability of the current return period. The call also creates a collection by bank \
            transfer, which expires 60 days after the due date. The reference of the collection is \
            the invoice number, or `INV-2026-0001-2` if another open collection already has that \
            reference. If the customer pays too little, the invoice is `partially_paid`: collect \
            the rest with `createCollection`. After the due date, an invoice with an outstanding \
            amount is `overdue`.",
        example: "{}",
        errors: &[
            ErrorCode::ComplianceBlocked,
            ErrorCode::CompanySuspended,
            ErrorCode::LimitExceeded,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &[
            "invoice.sent",
            "journal_entry.posted",
            "tax_liability.created",
            "tax_liability.updated",
            "collection.created",
        ],
        starts: &[
            TaskKind::PayCollection,
            TaskKind::ExpireCollection,
            TaskKind::InvoiceOverdue,
            TaskKind::LiabilityDue,
        ],
        ..operation!(write send_invoice)
    },
    Operation {
        path: "/api/payments/invoices/{invoice_id}/void",
        summary: "Void an invoice",
        description: "Voids a draft, or an invoice without payments. A journal entry dated today \
            reverses the entry of the invoice, and its collection is cancelled. Its number is not \
            used again.",
        example: r#"{"reason":"Sent to the wrong customer"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &[
            "invoice.voided",
            "journal_entry.posted",
            "tax_liability.created",
            "tax_liability.updated",
            "collection.cancelled",
        ],
        ..operation!(write void_invoice)
    },
]);

fn page(world: &World, input: Value) -> Result<PdfDocument> {
    invoice_pdf(world, decode::<One<Invoice>>(input)?.id)
}

list! {
    fn list_invoices(ListInvoices) -> Invoice,
        from |world, input| sold(world, input.company_id), of company_id;
    filter
        company_id: Id<Company>,
        status: InvoiceStatus,
        /// Filter by the company's own id of the customer.
        customer_id: Text<64> = customer.id,
        /// Only invoices due before this day.
        due_before: Date => |day, invoice| invoice.due_date < *day;
    sort created_at, due_date, total, amount_due;
}

/// The customer who pays.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "CustomerInput")]
pub(crate) struct NewCustomer {
    /// The company's own id of the customer.
    id: Option<Text<64>>,
    /// The name of the customer.
    name: Text<140>,
    /// The e-mail address.
    email: Email,
    /// The account number that the customer pays from. Reserved numbers choose the customer's behaviour.
    account_number: Option<Text<34>>,
}

/// A new invoice.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct CreateInvoice {
    /// The company that sends the invoice.
    company_id: Id<Company>,
    /// The customer who pays.
    customer: NewCustomer,
    /// The currency of its amounts.
    currency: Currency,
    /// The items sold.
    #[schemars(length(min = 1, max = 100))]
    lines: Vec<NewPricedLine>,
    /// The due date; not in the past.
    due_date: Date,
    /// Key-value pairs set by the caller.
    metadata: Option<Metadata>,
}

fn create_invoice(world: &mut World, input: CreateInvoice) -> Result<Single<Invoice>> {
    let company = existing(world, input.company_id, "/company_id")?;
    let mut wrong = Vec::new();
    let (today, latest) = (world.today(), world.today().plus_days(LONGEST_TERMS));
    if input.due_date < today {
        let detail = format!("{} is in the past: today is {today}", input.due_date);
        wrong.push(Violation::new("/due_date", "in_the_past", detail));
    } else if input.due_date > latest {
        let detail = format!("must be on or before {latest}");
        wrong.push(Violation::new("/due_date", "range", detail));
    }
    let account = input.customer.account_number.as_ref().map(Text::as_str);
    if let Some(Err(detail)) = account.map(|number| Scope::Collections.check_account(number)) {
        wrong.push(Violation::new("/customer/account_number", "code_of_another_rail", detail));
    }
    let Some((lines, sums)) = priced(&company, input.lines, "an invoice", &mut wrong) else {
        return Err(ApiError::invalid(wrong));
    };
    let (now, customer) = (world.now(), input.customer);
    let invoice = Invoice {
        id: world.next_id(company.id.bits()),
        object: Object::NAME,
        company_id: company.id,
        status: InvoiceStatus::Draft,
        number: None,
        customer: Customer {
            id: customer.id.map(Text::into_string),
            name: customer.name.into_string(),
            email: Some(customer.email.as_str().to_owned()),
            account_number: customer.account_number.map(Text::into_string),
        },
        lines,
        taxes: sums.taxes,
        net_total: sums.net,
        tax_total: sums.tax,
        total: sums.total,
        currency: input.currency,
        amount_paid: 0,
        amount_due: sums.total,
        due_date: input.due_date,
        overdue: false,
        issued_on: None,
        collection_id: None,
        write_off: None,
        created_at: now,
        updated_at: now,
        metadata: input.metadata.unwrap_or_default(),
        status_history: [StatusChange::plain(InvoiceStatus::Draft, now)].into(),
    };
    Ok(Data(Shown(world.record("invoice.created", invoice))))
}

fn send_invoice(world: &mut World, input: One<Invoice>) -> Result<Single<Invoice>> {
    let invoice = world.get(input.id)?;
    let company = world.get(invoice.company_id)?;
    may_pay(world, &company)?;
    invoice_clock::send(world, &company, &invoice)?;
    show(world, input.id)
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct VoidInvoice {
    /// The invoice.
    invoice_id: Id<Invoice>,
    /// The reason, for the status history.
    reason: Text<500>,
}

fn void_invoice(world: &mut World, input: VoidInvoice) -> Result<Single<Invoice>> {
    let invoice = world.get(input.invoice_id)?;
    invoice_clock::void(world, &invoice, input.reason.into_string())?;
    show(world, input.invoice_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::payments::collection_clock;

    #[test]
    fn sending_an_invoice_starts_the_timers_of_a_collection() {
        let send = OPERATIONS.iter().find(|row| row.name == "send_invoice");
        let starts = send.map(|row| row.starts).unwrap_or_default();
        // The collection is by bank transfer: no phone is prompted, and no mandate is used.
        let others = [TaskKind::PromptPayer, TaskKind::ExpireMandate];
        for task in collection_clock::ASKED.iter().filter(|task| !others.contains(task)) {
            assert!(starts.contains(task), "{task:?}");
        }
    }
}

//! Steps of an invoice: sent and voided.

use crate::api::business::sales_tax;
use crate::api::payments::asking::{Asked, ask, free_reference};
use crate::api::payments::collections::cancel;
use crate::api::payments::invoice_due;
use crate::api::payments::wallets::fits;
use crate::api::prelude::*;
use crate::model::payments::invoice::number;
use crate::model::payments::{CollectionMethod, CollectionPayer, Invoice, InvoiceStatus};
use crate::model::{Account, posting};
use crate::world::sales_history::GRACE;

fn tax(invoice: &Invoice) -> Option<(Account, i64)> {
    (invoice.tax_total > 0).then(|| (posting::vat_account(), invoice.tax_total))
}

/// Numbers a draft, posts it and creates its collection.
pub(super) fn send(world: &mut World, company: &Company, invoice: &Invoice) -> Result<()> {
    let status = step("send", "the invoice", invoice.id, invoice.status)?;
    let today = world.today();
    let year = today.civil().year();
    let number = number(year, world.next_invoice(company.id, year));
    let reference = free_reference(world, company.id, number.clone());
    fits(world, company.id, invoice.currency, invoice.total)?;
    let mut sent = invoice.clone();
    sent.number = Some(number);
    sent.issued_on = Some(today);
    sent.collection_id = Some(world.next_id(company.id.bits()));
    sent.enter(status, world.now());
    let (of, currency) = (AnyId::of(sent.id), sent.currency);
    let posting = posting::invoice_sent(of, currency, sent.net_total, tax(&sent));
    let entry = world.post(company.id, posting);
    let sent = world.record("invoice.sent", sent);
    if let Some(entry) = entry {
        world.emit("journal_entry.posted", &entry);
    }
    sales_tax::book(world, company.id, currency, sent.tax_total);
    let over = sent.due_date.plus_days(1).midnight();
    let until = over.max(world.now()).date().plus_days(GRACE).midnight();
    let customer = &sent.customer;
    let asked = Asked {
        amount: sent.total,
        currency,
        method: CollectionMethod::BankTransfer,
        payer: CollectionPayer {
            name: Some(customer.name.clone()),
            email: customer.email.clone(),
            account_number: customer.account_number.clone(),
        },
        reference,
        invoice: Some(sent.id),
        mandate: None,
        expires_at: Some(until),
        metadata: Metadata::default(),
    };
    ask(world, company, asked);
    invoice_due::watch(world, &sent);
    Ok(())
}

/// Voids an invoice without payments.
pub(super) fn void(world: &mut World, invoice: &Invoice, reason: String) -> Result<()> {
    let status = step("void", "the invoice", invoice.id, invoice.status)?;
    let open = invoice_due::open_collection(world, invoice)?;
    let booked = invoice.status == InvoiceStatus::Open;
    let mut void = invoice.clone();
    void.amount_due = 0;
    void.overdue = false;
    void.enter_because(status, world.now(), Some(reason));
    let (of, currency) = (AnyId::of(void.id), void.currency);
    let posting = posting::collecting::invoice_voided(of, currency, void.net_total, tax(&void));
    let mirror = booked.then(|| world.post(void.company_id, posting)).flatten();
    let void = world.record("invoice.voided", void);
    if let Some(mirror) = mirror {
        world.emit("journal_entry.posted", &mirror);
        sales_tax::book(world, void.company_id, currency, -void.tax_total);
    }
    if let Some(open) = open {
        cancel(world, &open, Some("the invoice is void".to_owned()));
    }
    Ok(())
}

//! Bad debts: the write-off of an overdue invoice, the relief from its tax, and a later payment by the customer.

use crate::api::business::payroll_clock::get;
use crate::api::business::sales_tax;
use crate::api::payments::invoice_due::open_collection;
use crate::api::prelude::*;
use crate::model::payments::invoice::WriteOff;
use crate::model::payments::{Invoice, InvoiceStatus, vat};
use crate::model::posting::collecting;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Payments.table([Operation {
    path: "/api/payments/invoices/{invoice_id}/write-off",
    summary: "Write off an invoice",
    description: "Writes off the outstanding amount of an overdue invoice as a bad debt: posts \
        `bad_debts` against `accounts_receivable`. If the law returns the tax on bad debts, the \
        tax is not a loss: it lowers the `vat` liability of the current return period. This \
        happens at once, or on `write_off.tax_relief_on` (Value Added Tax Act 1994, section 36). A \
        customer can still pay the open collection, or another collection from `createCollection`. \
        The amount is booked against `bad_debts`, and its tax is due again. The invoice is `paid` \
        when the whole amount is recovered.",
    example: r#"{"reason":"The customer is insolvent"}"#,
    errors: &[ErrorCode::InvalidStateTransition],
    emits: &[
        "invoice.written_off",
        "journal_entry.posted",
        "tax_liability.created",
        "tax_liability.updated",
    ],
    starts: &[TaskKind::RelieveInvoice],
    ..operation!(write write_off_invoice)
}]);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteOffInvoice {
    /// The invoice.
    invoice_id: Id<Invoice>,
    /// The reason, for the status history.
    reason: Text<500>,
}

fn write_off_invoice(world: &mut World, input: WriteOffInvoice) -> Result<Single<Invoice>> {
    let invoice = world.get(input.invoice_id)?;
    let status = step("write_off", "the invoice", invoice.id, invoice.status)?;
    let today = world.today();
    if invoice.due_date >= today {
        let detail = format!("the invoice is not overdue: its due date is {}", invoice.due_date);
        return Err(refused(invoice.id, invoice.status, detail));
    }
    open_collection(world, &invoice)?;
    let company = world.get(invoice.company_id)?;
    let amount = invoice.amount_due;
    let tax = part(invoice.tax_total, amount, invoice.total);
    let supplied_on = invoice.issued_on.unwrap_or(invoice.due_date);
    let relief_on = vat::relief_from(&company.country, invoice.due_date.max(supplied_on));
    let relief_on = relief_on.filter(|_| tax > 0);
    let at_once = relief_on.is_some_and(|day| day <= today);
    let relieved = if at_once { tax } else { 0 };
    let mut bad = (*invoice).clone();
    bad.write_off = Some(WriteOff {
        on: today,
        amount,
        tax,
        recovered: 0,
        tax_relief_on: relief_on,
        tax_relieved: relieved,
    });
    bad.amount_due = 0;
    bad.overdue = false;
    bad.enter_because(status, world.now(), Some(input.reason.into_string()));
    let (of, currency) = (AnyId::of(bad.id), bad.currency);
    let entry = world.post(company.id, collecting::written_off(of, currency, amount, relieved));
    let bad = world.record("invoice.written_off", bad);
    if let Some(entry) = entry {
        world.emit("journal_entry.posted", &entry);
    }
    sales_tax::book(world, company.id, currency, -relieved);
    if let Some(day) = relief_on.filter(|_| !at_once) {
        world.remind_at(day.midnight(), Task::RelieveInvoice(bad.id));
    }
    show(world, input.invoice_id)
}

/// `amount` × `share` / `whole`, rounded down.
fn part(amount: i64, share: i64, whole: i64) -> i64 {
    let part = i128::from(amount) * i128::from(share) / i128::from(whole.max(1));
    i64::try_from(part).expect("a part of the amount")
}

/// The day of relief: takes back the tax on the unpaid amount.
pub(crate) fn relieve(world: &mut World, id: Id<Invoice>) {
    let Some(invoice) = world.find(id) else { return };
    let bad = invoice.write_off.filter(|_| invoice.status == InvoiceStatus::WrittenOff);
    let Some(mut bad) = bad else { return };
    let company = get(world, invoice.company_id);
    let relief = part(bad.tax, bad.left(), bad.amount);
    if relief == 0 {
        return;
    }
    bad.tax_relieved = relief;
    let mut invoice = (*invoice).clone();
    invoice.write_off = Some(bad);
    invoice.updated_at = world.now();
    let currency = invoice.currency;
    world.post(company.id, collecting::tax_relieved(AnyId::of(id), currency, relief));
    world.stage(invoice);
    sales_tax::book(world, company.id, currency, -relief);
}

/// A payment of a debt that was written off.
pub(super) struct Recovered {
    invoice: Invoice,
    /// The part of the tax that is due again.
    pub(super) tax: i64,
}

/// The invoice after a payment of `amount`, if it was written off.
pub(super) fn recovered(invoice: &Invoice, amount: i64) -> Option<Recovered> {
    let bad = invoice.write_off.filter(|_| invoice.status == InvoiceStatus::WrittenOff)?;
    let tax = part(bad.tax_relieved, amount, bad.left());
    let bad =
        WriteOff { recovered: bad.recovered + amount, tax_relieved: bad.tax_relieved - tax, ..bad };
    let mut invoice = invoice.clone();
    invoice.amount_paid += amount;
    invoice.write_off = Some(bad);
    Some(Recovered { invoice, tax })
}

/// Records a payment of a bad debt whose entry is posted.
pub(super) fn recover(world: &mut World, Recovered { mut invoice, tax }: Recovered) {
    let (company, currency) = (invoice.company_id, invoice.currency);
    invoice.updated_at = world.now();
    if invoice.write_off.is_some_and(|bad| bad.left() > 0) {
        world.record("invoice.partially_paid", invoice);
    } else {
        world.forget_timers(AnyId::of(invoice.id));
        invoice.enter(InvoiceStatus::Paid, world.now());
        world.record("invoice.paid", invoice);
    }
    sales_tax::book(world, company, currency, tax);
}

/// A written-off debt of which a payment was returned.
pub(super) struct Lost {
    invoice: Invoice,
    /// The tax that is taken back with the payment.
    pub(super) tax: i64,
}

/// The invoice after a payment of `amount` was returned today, if it was written off. From the day of relief on, the
/// tax on the whole unpaid amount is taken back.
pub(super) fn lost_again(invoice: &Invoice, amount: i64, today: Date) -> Option<Lost> {
    let mut bad = invoice.write_off?;
    let recovered = amount.min(bad.recovered);
    bad.recovered -= recovered;
    if amount > recovered {
        bad.amount += amount - recovered; // paid before the write-off
        bad.tax = part(invoice.tax_total, bad.amount, invoice.total);
    }
    let is_given = bad.tax_relief_on.is_some_and(|day| day <= today);
    let relief = if is_given { part(bad.tax, bad.left(), bad.amount) } else { 0 };
    let tax = (relief - bad.tax_relieved).clamp(0, amount);
    bad.tax_relieved += tax;
    let mut invoice = invoice.clone();
    invoice.amount_paid -= amount;
    invoice.write_off = Some(bad);
    Some(Lost { invoice, tax })
}

/// Records a returned payment of a bad debt. Its entry is already posted.
pub(super) fn lose_again(world: &mut World, Lost { mut invoice, tax }: Lost) {
    let (now, company, currency) = (world.now(), invoice.company_id, invoice.currency);
    if invoice.status == InvoiceStatus::Paid {
        invoice.enter(InvoiceStatus::WrittenOff, now);
    }
    invoice.updated_at = now;
    let invoice = world.record("invoice.reopened", invoice);
    sales_tax::book(world, company, currency, -tax);
    let later = invoice.write_off.and_then(|bad| bad.tax_relief_on);
    if let Some(day) = later.filter(|day| *day > world.today()) {
        world.drop_timers(Task::RelieveInvoice(invoice.id));
        world.remind_at(day.midnight(), Task::RelieveInvoice(invoice.id));
    }
}

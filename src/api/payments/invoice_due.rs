//! An invoice that waits for its payment: the timer of its due date, and its open collection.

use crate::api::prelude::*;
use crate::model::payments::{Collection, Invoice};

/// Sets the timer of a sent invoice. One of the history has none until a call changes it.
pub(super) fn watch(world: &mut World, invoice: &Invoice) {
    if invoice.status.is_owed() && !invoice.overdue {
        let over = invoice.due_date.plus_days(1).midnight();
        world.remind_once(over, Task::InvoiceOverdue(invoice.id));
    }
}

/// The due date has passed.
pub(crate) fn miss(world: &mut World, id: Id<Invoice>) {
    let owed = world.find(id).filter(|invoice| invoice.status.is_owed());
    if let Some(invoice) = owed {
        let mut invoice = (*invoice).clone();
        invoice.overdue = true;
        invoice.updated_at = world.now();
        world.record("invoice.overdue", invoice);
    }
}

/// The open collection of an invoice, if there is one; a refusal while the customer is paying it.
pub(super) fn open_collection(world: &World, invoice: &Invoice) -> Result<Option<Arc<Collection>>> {
    let name = Collection::by_invoice(invoice.id);
    let open = world.open_collection(invoice.company_id, &name).and_then(|id| world.find(id));
    match open.as_ref().filter(|open| !open.status.waits()) {
        Some(paying) => {
            let detail = format!(
                "a payment of the invoice is in progress: wait until the collection {} ends",
                paying.id
            );
            Err(refused(invoice.id, invoice.status, detail))
        }
        None => Ok(open),
    }
}

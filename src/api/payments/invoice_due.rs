//! The timer of an invoice: its due date passes.

use crate::api::prelude::*;
use crate::model::payments::Invoice;

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

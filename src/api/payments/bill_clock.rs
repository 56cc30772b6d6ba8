//! The timer of a bill: its due date passes.

use crate::api::prelude::*;
use crate::model::payments::Bill;

/// Sets the timer of an approved bill. One of the history has none until a call changes it.
pub(super) fn watch(world: &mut World, bill: &Bill) {
    if bill.status.is_owed() && !bill.overdue {
        let over = bill.due_date.plus_days(1).midnight();
        world.remind_once(over, Task::BillOverdue(bill.id));
    }
}

/// The due date has passed.
pub(crate) fn miss(world: &mut World, id: Id<Bill>) {
    let owed = world.find(id).filter(|bill| bill.status.is_owed());
    if let Some(bill) = owed {
        let mut bill = (*bill).clone();
        bill.overdue = true;
        bill.updated_at = world.now();
        world.record("bill.overdue", bill);
    }
}

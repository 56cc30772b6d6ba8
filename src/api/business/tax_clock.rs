//! What the tax office answers to a return that was sent: that it has it, and that it takes it or does not.

use crate::model::AnyId;
use crate::model::business::tax_filing::{FilingStatus, TaxFiling};
use crate::model::decision::TAX_OFFICE;
use crate::model::lifecycle::Stateful;
use crate::model::task::Task;
use crate::value::id::Id;
use crate::value::time::Span;
use crate::world::World;

/// From the return to the acknowledgement.
const ACKNOWLEDGEMENT: Span = Span::seconds(60 * 60);
/// The same, where the office is late and nobody says by how much.
const LATE_ACKNOWLEDGEMENT: Span = Span::BusinessDays(1);
/// From the acknowledgement to the answer.
const ANSWER: Span = Span::BusinessDays(2);

/// Asks the tax office, whose answers come with the clock.
pub(crate) fn send(world: &mut World, filing: Id<TaxFiling>) {
    let reply = world.decide(&TAX_OFFICE, AnyId::of(filing), None);
    let late = reply.choice == "delayed";
    let (acknowledged, answered) = match (late, reply.after) {
        (true, after) => (after.unwrap_or(LATE_ACKNOWLEDGEMENT), ANSWER),
        (false, after) => (ACKNOWLEDGEMENT, after.unwrap_or(ANSWER)),
    };
    let calendar = world.calendar_behind(AnyId::of(filing));
    let acknowledged = calendar.after(world.now(), acknowledged);
    let answer = match reply.choice {
        "rejected" => Task::RejectFiling(filing),
        _ => Task::AcceptFiling(filing),
    };
    world.settle_at(acknowledged, Task::AcknowledgeFiling(filing));
    world.settle_at(calendar.after(acknowledged, answered), answer);
}

fn sent(world: &World, id: Id<TaxFiling>) -> TaxFiling {
    let filing = world.find(id);
    (*filing.expect("a task is set for what exists, and nothing is deleted")).clone()
}

/// The tax office has the return.
pub(crate) fn acknowledge_filing(world: &mut World, id: Id<TaxFiling>) {
    let mut filing = sent(world, id);
    filing.acknowledged_at = Some(world.now());
    filing.updated_at = world.now();
    world.record("tax_filing.acknowledged", filing);
}

/// The tax office takes the return.
pub(crate) fn accept_filing(world: &mut World, id: Id<TaxFiling>) {
    let mut filing = sent(world, id);
    filing.enter(FilingStatus::Filed, world.now());
    world.record("tax_filing.filed", filing);
}

/// The tax office does not take the return. It keeps the money: what is owed is paid, and only the return is to be amended.
pub(crate) fn reject_filing(world: &mut World, id: Id<TaxFiling>) {
    let mut filing = sent(world, id);
    let reason = "the authority does not accept the return: amend it and submit the new one; what was paid stays paid";
    filing.rejection_reason = Some(reason.to_owned());
    filing.enter(FilingStatus::Rejected, world.now());
    world.record("tax_filing.rejected", filing);
}

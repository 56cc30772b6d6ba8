//! Staged changes are sealed into an event.

use std::sync::Arc;

use crate::model::{AnyId, Entity, Record};
use crate::world::World;
use crate::world::event::{Changes, Event};
use crate::world::transaction::Undo;

impl World {
    /// Seals the staged changes into one event about `subject`, in its current state.
    pub(crate) fn emit<T: Entity>(&mut self, name: &'static str, subject: &Arc<T>) {
        self.emit_from(name, subject, None);
    }

    /// Emits an event for a subject whose change is part of an earlier event of this step. `before` is the state
    /// before that change.
    pub(crate) fn emit_changed<T: Entity>(
        &mut self,
        name: &'static str,
        before: Arc<T>,
        subject: &Arc<T>,
    ) {
        self.emit_from(name, subject, Some(before.into_record()));
    }

    /// Emits an event for a subject without a staged change: its state follows from the journal or from an earlier
    /// event.
    pub(super) fn emit_from<T: Entity>(
        &mut self,
        name: &'static str,
        subject: &Arc<T>,
        before: Option<Record>,
    ) {
        let id = AnyId { kind: T::KIND, bits: subject.id().bits() };
        let object = Arc::clone(subject).into_record();
        self.emit_record(name, id, (before, object));
    }

    fn emit_record(
        &mut self,
        name: &'static str,
        subject: AnyId,
        (before, object): (Option<Record>, Record),
    ) {
        let count = self.overlay.count_event(subject);
        let changes = Changes::of(&mut self.transaction.staged, &object).after(before);
        let event_key = self.base.key().with("event").at(subject.bits).at(count.into());
        let event = Event {
            sequence: self.log.len() + 1,
            at: self.now,
            name: name.into(),
            id: event_key.hash(),
            object,
            request: self.transaction.request.clone(),
            cause: self.cause_of_event(),
            decision: self.transaction.decided.take(),
            changes,
        };
        self.log.push(Arc::new(event));
        self.transaction.undo.push(Undo::Emit { subject });
        self.hash_long_step();
        self.arm_after(name);
    }
}

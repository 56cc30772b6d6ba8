//! Timers, set and taken, and the clock that they move.

use std::sync::Arc;

use crate::model::{AnyId, Task};
use crate::value::{Id, Span, Timestamp};
use crate::world::timers::Timer;
use crate::world::transaction::Undo;
use crate::world::{ClockMode, RequestRef, World};

impl World {
    /// Sets a timer for the next action of the outside world. In an instant world it is due at once.
    pub(crate) fn settle_at(&mut self, due: Timestamp, task: Task) {
        if self.mode == ClockMode::Instant {
            self.remind_at(self.now, task);
        } else {
            self.remind_at(due, task);
        }
    }

    /// Sets a timer for a date; it waits for that date in every clock mode.
    pub(crate) fn remind_at(&mut self, due: Timestamp, task: Task) {
        let timer = Arc::new(Timer {
            due: due.max(self.now),
            sequence: self.timers.next,
            task,
            cause: self.transaction.cause.clone(),
            decided: self.transaction.behind(task.subject()),
        });
        self.timers.next += 1;
        self.timers.insert(Arc::clone(&timer));
        self.transaction.undo.push(Undo::SetTimer { timer });
    }

    /// Sets a timer after the normal delay, or on its date if the outside world set one.
    pub(crate) fn settle_when(&mut self, normal: Span, named: Option<Span>, task: Task) {
        match named {
            Some(span) => self.remind_at(self.after(span, task.subject()), task),
            None => self.settle_after(normal, task),
        }
    }

    /// Sets a timer for a date, unless a timer of this task waits already.
    pub(crate) fn remind_once(&mut self, due: Timestamp, task: Task) {
        let subject = task.subject();
        let waits = subject.is_some_and(|it| self.timers.about(it).any(|set| set.task == task));
        if !waits {
            self.remind_at(due, task);
        }
    }

    /// Removes every timer of this task, which is about a resource.
    pub(crate) fn drop_timers(&mut self, of: Task) {
        if let Some(subject) = of.subject() {
            self.drop_timers_about(subject, |task| task == of);
        }
    }

    /// Removes every timer about that resource.
    pub(crate) fn forget_timers(&mut self, subject: AnyId) {
        self.drop_timers_about(subject, |_| true);
    }

    /// Removes every timer about that resource whose task matches a condition.
    pub(crate) fn drop_timers_about(&mut self, subject: AnyId, of: impl Fn(Task) -> bool) {
        while let Some(timer) = self.timers.take_first_about(subject, |timer| of(timer.task)) {
            self.transaction.undo.push(Undo::TakeTimer { timer });
        }
    }

    /// Removes the timers of every scenario.
    pub(super) fn drop_scripted_timers(&mut self) {
        let scripted = |timer: &Timer| matches!(timer.task, Task::Scripted(_));
        while let Some(timer) = self.timers.take_first(scripted) {
            self.transaction.undo.push(Undo::TakeTimer { timer });
        }
    }

    /// Sets a timer after a delay.
    pub(crate) fn settle_after(&mut self, delay: Span, task: Task) {
        self.settle_at(self.after(delay, task.subject()), task);
    }

    /// The timers set since `begin`.
    pub(crate) fn timers_set(&self) -> impl Iterator<Item = Task> {
        self.transaction.undo.iter().filter_map(|undo| match undo {
            Undo::SetTimer { timer } => Some(timer.task),
            _ => None,
        })
    }

    /// The timers in the order of their due times.
    pub(crate) fn timers(&self) -> impl ExactSizeIterator<Item = &Arc<Timer>> {
        self.timers.iter()
    }

    /// Takes the first timer that is due by `instant`, and moves the clock to it.
    pub(crate) fn take_due(&mut self, instant: Timestamp) -> Option<Arc<Timer>> {
        let timer = self.timers.take_due(instant)?;
        self.taken(&timer);
        self.move_clock(timer.due.max(self.now));
        Some(timer)
    }

    /// Takes the first timer that a request set, directly or indirectly, without waiting for it; deadlines
    /// only on request.
    pub(crate) fn take_caused(
        &mut self,
        request: Id<RequestRef>,
        deadlines: bool,
    ) -> Option<Arc<Timer>> {
        let caused = |timer: &Timer| {
            let cause = timer.cause.as_ref();
            (deadlines || !timer.task.kind().is_deadline())
                && cause.is_some_and(|cause| cause.request.id == request)
        };
        let timer = self.timers.take_first(caused)?;
        self.taken(&timer);
        Some(timer)
    }

    /// The tasks that wait for a resource, in the order of their due times.
    pub(crate) fn waiting(&self, subject: AnyId) -> impl Iterator<Item = Task> {
        self.timers.about(subject).map(|timer| timer.task)
    }

    /// Takes the first timer about a resource whose task matches a condition, and does not wait for it.
    pub(crate) fn take_about(&mut self, subject: AnyId, of: impl Fn(Task) -> bool) -> Option<Task> {
        let timer = self.timers.take_first_about(subject, |timer| of(timer.task))?;
        self.taken(&timer);
        Some(timer.task)
    }

    /// The effects that run now are not those of the decision behind the timer that was taken.
    pub(crate) fn forget_decision(&mut self) {
        self.transaction.decided = None;
        self.transaction.latest = None;
    }

    /// The effects that run now have the cause of the timer.
    fn taken(&mut self, timer: &Arc<Timer>) {
        let timer = Arc::clone(timer);
        self.transaction.cause.clone_from(&timer.cause);
        self.transaction.decided.clone_from(&timer.decided);
        self.transaction.latest.clone_from(&timer.decided);
        self.transaction.undo.push(Undo::TakeTimer { timer });
    }

    /// Moves the clock forward, never back.
    pub(crate) fn move_clock(&mut self, to: Timestamp) {
        self.transaction.undo.push(Undo::Clock { now: self.now });
        self.now = self.now.max(to);
    }

    /// Moves the clock outside a transaction, for the wall clock.
    pub(crate) fn follow_clock(&mut self, to: Timestamp) {
        self.now = self.now.max(to);
    }
}

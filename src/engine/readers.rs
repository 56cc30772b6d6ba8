//! The readers of a world's event stream that wait until something happens.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// The readers of a world.
#[derive(Debug, Default)]
pub(super) struct Readers {
    open: AtomicUsize,
    next: AtomicU64,
    waiting: Mutex<BTreeMap<u64, Waker>>,
}

impl Readers {
    /// A reader begins. Returns its number.
    pub(super) fn begin(&self) -> u64 {
        self.open.fetch_add(1, Ordering::AcqRel);
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The reader is woken when something happens next.
    pub(super) fn wait(&self, number: u64, waker: &Waker) {
        self.waiting().insert(number, waker.clone());
    }

    /// The reader ends.
    pub(super) fn end(&self, number: u64) {
        self.open.fetch_sub(1, Ordering::AcqRel);
        self.waiting().remove(&number);
    }

    /// Something happened. Costs one atomic load if there are no readers.
    pub(super) fn wake(&self) {
        if self.is_read() {
            let waiting = std::mem::take(&mut *self.waiting());
            waiting.into_values().for_each(Waker::wake);
        }
    }

    /// Whether there are any.
    pub(super) fn is_read(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    /// A panic under this lock cannot leave half a change, because each change is one call of the map.
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Readers {
    /// The world leaves memory: its streams end.
    fn drop(&mut self) {
        self.wake();
    }
}

//! The readers of a world's event stream, which wait for changes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::api::control::event_stream::Encoded;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    /// The world changed, or left memory.
    World,
    /// A request was logged.
    Request,
    /// A delivery was attempted.
    Delivery,
}

/// The sources that a reader follows in addition to the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Follows {
    pub(super) requests: bool,
    pub(super) deliveries: bool,
}

impl Follows {
    const fn wants(self, happened: Happened) -> bool {
        match happened {
            Happened::World => true,
            Happened::Request => self.requests,
            Happened::Delivery => self.deliveries,
        }
    }
}

/// The readers of a world.
#[derive(Debug, Default)]
pub(super) struct Readers {
    open: AtomicU32,
    next: AtomicU32,
    waiting: Mutex<BTreeMap<u32, (Follows, Waker)>>,
    /// The frames that they share.
    encoded: Mutex<Encoded>,
}

impl Readers {
    /// Registers a reader. Returns its number.
    pub(super) fn begin(&self) -> u32 {
        self.open.fetch_add(1, Ordering::AcqRel);
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The reader is woken when something that it follows happens next.
    pub(super) fn wait(&self, number: u32, follows: Follows, waker: &Waker) {
        self.waiting().insert(number, (follows, waker.clone()));
    }

    /// The reader ends.
    pub(super) fn end(&self, number: u32) {
        let was_last = self.open.fetch_sub(1, Ordering::AcqRel) == 1;
        self.waiting().remove(&number);
        if was_last {
            *self.encoded() = Encoded::default();
        }
    }

    /// Wakes the readers of such changes. Costs one atomic load if there are no readers.
    pub(super) fn wake(&self, happened: Happened) {
        if self.is_read() {
            let mut woken: Vec<Waker> = Vec::new();
            self.waiting().retain(|_, (it, waker)| {
                let wants = it.wants(happened);
                if wants {
                    woken.push(waker.clone());
                }
                !wants
            });
            woken.into_iter().for_each(Waker::wake);
        }
    }

    /// The frames that readers share. A panic under this lock cannot leave half a frame.
    pub(super) fn encoded(&self) -> MutexGuard<'_, Encoded> {
        self.encoded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there are readers.
    pub(super) fn is_read(&self) -> bool {
        self.open() > 0
    }

    /// The number of readers.
    pub(super) fn open(&self) -> u32 {
        self.open.load(Ordering::Acquire)
    }

    /// A panic under this lock cannot leave half a change, because each change is one call of the map.
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u32, (Follows, Waker)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Readers {
    /// The world leaves memory: its streams end.
    fn drop(&mut self) {
        self.wake(Happened::World);
    }
}

//! The task that waits for an answer and drives its connection at the same time.
//!
//! hyper wakes the connection when a request is sent, and the waiting future when its answer arrives. One task polls
//! both, so it is already running. The runtime would poll it once more, often on another thread. So the wake is only
//! noted here, and both are polled again at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Maximum number of consecutive polls of both. After that the task yields, because a future can have woken itself to
/// yield.
const MOST_POLLS: usize = 4;

/// Receives the wakes of a connection and of the future that waits for it.
#[derive(Clone, Default)]
pub(super) struct Task(Arc<Shared>);

#[derive(Default)]
struct Shared(Mutex<State>);

enum State {
    Running { woken: bool },
    Waiting(Waker),
}

impl Default for State {
    fn default() -> Self {
        Self::Running { woken: false }
    }
}

impl Task {
    /// The output of the future `wanted`. `drives` polls the connection before each poll of it.
    pub(super) async fn until<T>(
        &self,
        mut drives: impl FnMut(&mut Context<'_>),
        wanted: impl Future<Output = T>,
    ) -> T {
        let mut wanted = pin!(wanted);
        let waker = Waker::from(Arc::clone(&self.0));
        poll_fn(|cx| {
            let mut own = Context::from_waker(&waker);
            for _ in 0..MOST_POLLS {
                *self.0.state() = State::default();
                drives(&mut own);
                let polled = wanted.as_mut().poll(&mut own);
                if polled.is_ready() || self.0.waits(cx.waker()) {
                    return polled;
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }
}

impl Shared {
    /// Lets further wakes reach the task of this waker. Does nothing if there was one since the poll began.
    fn waits(&self, waker: &Waker) -> bool {
        let mut state = self.state();
        let waits = !matches!(*state, State::Running { woken: true });
        if waits {
            *state = State::Waiting(waker.clone());
        }
        waits
    }

    /// A panic under this lock cannot leave half a change.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let before = std::mem::replace(&mut *self.state(), State::Running { woken: true });
        if let State::Waiting(task) = before {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls `until` once. Its future is ready after it has woken itself this many times.
    fn polled(wakes: usize) -> (Poll<()>, usize) {
        let (count, task) = (Arc::new(Count::default()), Task::default());
        let mut made = 0;
        let wanted = poll_fn(|cx| {
            if made == wakes {
                return Poll::Ready(());
            }
            made += 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        let runtime = Waker::from(Arc::clone(&count));
        let polled = pin!(task.until(|_| {}, wanted)).poll(&mut Context::from_waker(&runtime));
        (polled, count.0.load(Ordering::Relaxed))
    }

    #[test]
    fn a_wake_while_it_runs_polls_again_and_does_not_reach_the_runtime() {
        assert_eq!(polled(MOST_POLLS - 1), (Poll::Ready(()), 0));
    }

    #[test]
    fn other_tasks_get_their_turn_after_some_polls() {
        assert_eq!(polled(usize::MAX), (Poll::Pending, 1));
    }

    #[test]
    fn a_wake_while_it_waits_reaches_the_runtime_once() {
        let (count, task) = (Arc::new(Count::default()), Task::default());
        let waker = Waker::from(Arc::clone(&count));
        let until = pin!(task.until(|_| {}, std::future::pending::<()>()));
        assert!(until.poll(&mut Context::from_waker(&waker)).is_pending());
        let own = Waker::from(Arc::clone(&task.0));
        own.wake_by_ref();
        own.wake();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }
}

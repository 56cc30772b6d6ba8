//! The turns of the requests to one world.
//!
//! Only one request at a time can change a world. A request that waits in here is a future, so it occupies no thread.
//! A request that finds the world free takes its turn at once, even if others wait, because waking one takes longer
//! than a step. A waiting request that was passed over [`MOST_PASSED`] times is the next.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::engine::lock::lock;

/// The maximum number of times that the first waiting request is passed over.
const MOST_PASSED: u32 = 16;

#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_taken: bool,
    waiting: VecDeque<(u64, Waker)>,
    /// The number of the next request that waits.
    next: u64,
    /// The number of times that the first waiting request was passed over.
    passed: u32,
}

impl State {
    /// Takes the turn for the waiting request with this number, or for a new request.
    fn take(&mut self, number: Option<u64>) -> bool {
        let is_first = self.waiting.front().map(|(first, _)| *first) == number;
        if self.is_taken || (!is_first && self.passed >= MOST_PASSED) {
            return false;
        }
        self.is_taken = true;
        self.passed = if is_first { 0 } else { self.passed + 1 };
        if is_first {
            self.waiting.pop_front();
        } else if number.is_some() {
            self.waiting.retain(|(other, _)| Some(*other) != number);
        }
        true
    }

    /// The first of those that wait, if the world is free.
    fn next(&self) -> Option<Waker> {
        let first = self.waiting.front().filter(|_| !self.is_taken);
        first.map(|(_, waker)| waker.clone())
    }
}

/// A request has the world. The drop of this value ends its turn.
pub(crate) struct Turn(Arc<Turns>);

impl Turn {
    /// Takes the turn if the world is free.
    pub(super) fn take(turns: &Arc<Turns>) -> Result<Self, Waiting> {
        let turns = Arc::clone(turns);
        let is_mine = lock(&turns.0).take(None);
        if is_mine { Ok(Self(turns)) } else { Err(Waiting { turns, number: None }) }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = lock(&self.0.0);
        state.is_taken = false;
        let next = state.next();
        drop(state);
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

/// A request that waits for its turn.
pub(crate) struct Waiting {
    turns: Arc<Turns>,
    number: Option<u64>,
}

impl Future for Waiting {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Turn> {
        let turns = Arc::clone(&self.turns);
        let mut state = lock(&turns.0);
        if state.take(self.number) {
            self.number = None;
            drop(state);
            return Poll::Ready(Turn(turns));
        }
        let waker = cx.waker().clone();
        if let Some(number) = self.number {
            let mine = state.waiting.iter_mut().find(|(other, _)| *other == number);
            mine.expect("a request waits until it has the world").1 = waker;
        } else {
            let number = state.next;
            state.next += 1;
            state.waiting.push_back((number, waker));
            drop(state);
            self.number = Some(number);
        }
        Poll::Pending
    }
}

impl Drop for Waiting {
    /// The client disconnected: the next waiting request is woken instead.
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut state = lock(&self.turns.0);
        state.waiting.retain(|(other, _)| *other != number);
        let next = state.next();
        drop(state);
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Calls(AtomicUsize);

    impl Wake for Calls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Calls {
        fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn wait(turns: &Arc<Turns>) -> Waiting {
        Turn::take(turns).err().expect("the world is busy")
    }

    #[test]
    fn the_end_of_a_turn_wakes_the_first_that_waits() {
        let turns = Arc::new(Turns::default());
        let turn = Turn::take(&turns).ok().expect("the world is free");
        let calls = [Arc::new(Calls::default()), Arc::new(Calls::default())];
        let wakers = calls.clone().map(Waker::from);
        let (mut first, mut second) = (pin!(wait(&turns)), pin!(wait(&turns)));
        assert!(first.as_mut().poll(&mut Context::from_waker(&wakers[0])).is_pending());
        assert!(second.as_mut().poll(&mut Context::from_waker(&wakers[1])).is_pending());
        drop(turn);
        assert_eq!(calls.each_ref().map(|calls| calls.count()), [1, 0]);
        let Poll::Ready(turn) = first.poll(&mut Context::from_waker(&wakers[0])) else {
            panic!("the world is free")
        };
        drop(turn);
        assert_eq!(calls.each_ref().map(|calls| calls.count()), [1, 1]);
    }

    #[test]
    fn a_request_whose_client_leaves_passes_its_turn_on() {
        let turns = Arc::new(Turns::default());
        let turn = Turn::take(&turns).ok().expect("the world is free");
        let calls = Arc::new(Calls::default());
        let waker = Waker::from(Arc::clone(&calls));
        let (mut first, mut second) = (Box::pin(wait(&turns)), pin!(wait(&turns)));
        assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(turn);
        drop(first);
        assert_eq!(calls.count(), 1);
        assert!(second.poll(&mut Context::from_waker(&waker)).is_ready());
        assert!(lock(&turns.0).waiting.is_empty());
    }

    #[test]
    fn a_waiting_request_is_passed_over_a_limited_number_of_times() {
        let turns = Arc::new(Turns::default());
        let turn = Turn::take(&turns);
        let mut waiting = pin!(wait(&turns));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        drop(turn);
        for _ in 0..MOST_PASSED {
            assert!(Turn::take(&turns).is_ok());
        }
        assert!(Turn::take(&turns).is_err());
        assert!(waiting.poll(&mut context).is_ready());
        assert!(Turn::take(&turns).is_ok());
    }
}

//! The courier: carries deliveries to their receivers, each endpoint by itself, so that a slow one delays nobody else.
//!
//! What is sent and when is the outbox's decision (`tester::outbox`), through a worker of the engine; here are sockets, the machine's clock and
//! the bounds on what a receiver may cost. Deliberately absent: TLS, redirects, proxies, cookies.

pub(crate) mod connection;
pub(crate) mod dial;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::engine::{self, Duty, Worker};
use crate::io::courier::connection::Connection;
use crate::tester::address::Policy;
use crate::tester::outbox::delivery::{AttemptOutcome, Unanswered};
use crate::value::Timestamp;

/// Deliveries in flight in all.
const MOST_IN_FLIGHT: usize = 512;
/// From the look-up of the name to the last byte of the answer.
const DEADLINE: Duration = Duration::from_secs(15);
/// How long a worker and its connection stay when there is nothing to do.
const IDLE: Duration = Duration::from_secs(30);

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Courier {
    runtime: Handle,
    round: Arc<Round>,
}

/// The bounds of every delivery.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) policy: Policy,
    pub(crate) deadline: Duration,
    places: Semaphore,
}

impl Courier {
    /// A courier whose workers run on that runtime.
    pub(crate) fn new(runtime: Handle, policy: Policy) -> Self {
        Self { runtime, round: Arc::new(Round::new(policy, DEADLINE)) }
    }
}

impl Round {
    pub(crate) const fn new(policy: Policy, deadline: Duration) -> Self {
        Self { policy, deadline, places: Semaphore::const_new(MOST_IN_FLIGHT) }
    }
}

impl engine::Courier for Courier {
    fn wall(&self) -> Timestamp {
        wall()
    }

    fn start(&self, worker: Worker) {
        self.runtime.spawn(work(worker, Arc::clone(&self.round)));
    }
}

/// The machine's clock.
pub(crate) fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Carries one delivery after another over one connection, until nothing is left to do.
async fn work(mut worker: Worker, round: Arc<Round>) {
    let mut line = Connection::default();
    loop {
        match poll_fn(|cx| Poll::Ready(worker.next(cx))).await {
            Duty::Carry(job) => {
                let place = round.places.acquire().await;
                let started = Instant::now();
                let carried = line.carry(&job, &round);
                let result = tokio::time::timeout(round.deadline, carried).await;
                let result = result.unwrap_or_else(|_| Err(timed_out(round.deadline)));
                if result.is_err() {
                    line.hang_up();
                }
                let took = started.elapsed().as_millis();
                drop(place);
                worker.report(AttemptOutcome {
                    result,
                    duration_ms: u64::try_from(took).unwrap_or(u64::MAX),
                });
            }
            Duty::Wait(next) => {
                let until = next.map_or(IDLE, |at| {
                    let ms = at.millis().saturating_sub(wall().millis()).max(1);
                    Duration::from_millis(ms.unsigned_abs())
                });
                let woken = poll_fn(|cx| worker.poll_woken(cx));
                let alone = tokio::select! {
                    () = woken => false,
                    () = sleep(until) => true,
                };
                if alone && worker.may_leave() {
                    return;
                }
            }
        }
    }
}

fn timed_out(deadline: Duration) -> Unanswered {
    Unanswered {
        error: format!("no whole answer within {} s", deadline.as_secs_f32()),
        timed_out: true,
    }
}

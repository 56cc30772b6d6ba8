//! The courier: sends deliveries to their receivers. Each endpoint has its own worker, so a slow receiver
//! does not delay the others.
//!
//! The outbox (`tester::outbox`) decides what is sent and when, through a worker of the engine. This module
//! has the sockets, the
//! machine's clock and the limits of a receiver. Deliberately absent: TLS, redirects, proxies, cookies.

pub(crate) mod connection;
pub(crate) mod dial;
mod socket;
mod task;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use crate::engine::{self, Duty, Worker};
use crate::io::courier::connection::Connection;
use crate::io::metrics::{AttemptEnd, Metrics};
use crate::io::wal::durable::Durable;
use crate::tester::address::Policy;
use crate::tester::outbox::delivery::{AttemptOutcome, Unanswered};
use crate::value::Timestamp;

/// The most deliveries in flight, over all endpoints.
const MOST_IN_FLIGHT: usize = 512;
/// The time limit from the look-up of the name to the last byte of the answer.
const DEADLINE: Duration = Duration::from_secs(15);
/// The time after which an idle worker and its connection are closed.
const IDLE: Duration = Duration::from_secs(30);

/// The state that all workers share.
#[derive(Debug)]
pub(crate) struct Courier {
    runtime: Handle,
    round: Arc<Round>,
    /// The log that must contain an event's input before the event is sent.
    durable: Option<Durable>,
    metrics: Arc<Metrics>,
}

/// The limits of every delivery.
#[derive(Debug)]
pub(crate) struct Round {
    policy: Policy,
    /// The policy for endpoints of the command line.
    trusting: Policy,
    deadline: Duration,
    places: Semaphore,
}

impl Courier {
    /// A courier whose workers run on this runtime.
    pub(crate) fn new(
        runtime: Handle,
        policy: Policy,
        durable: Option<Durable>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { runtime, round: Arc::new(Round::new(policy, DEADLINE)), durable, metrics }
    }
}

impl Round {
    fn new(policy: Policy, deadline: Duration) -> Self {
        let trusting = Policy { private: true, ..policy.clone() };
        Self { policy, trusting, deadline, places: Semaphore::const_new(MOST_IN_FLIGHT) }
    }

    /// The addresses that an endpoint may have.
    const fn policy(&self, trusted: bool) -> &Policy {
        if trusted { &self.trusting } else { &self.policy }
    }
}

impl engine::Courier for Courier {
    fn wall(&self) -> Timestamp {
        wall()
    }

    fn start(&self, worker: Worker) {
        let (round, metrics) = (Arc::clone(&self.round), Arc::clone(&self.metrics));
        self.runtime.spawn(work(worker, round, self.durable.clone(), metrics));
    }
}

/// The machine's clock.
pub(crate) fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Sends one delivery after another over one connection, until none is due.
async fn work(
    mut worker: Worker,
    round: Arc<Round>,
    durable: Option<Durable>,
    metrics: Arc<Metrics>,
) {
    let mut line = Connection::default();
    // One timer for all attempts. A new timer would wake the thread that waits for the sockets; a timer that is moved
    // to a later time does not.
    let mut timer = pin!(sleep(round.deadline));
    let mut outcome = None;
    loop {
        match poll_fn(|cx| Poll::Ready(worker.next(cx, outcome.take()))).await {
            Duty::Carry(job, ticket) => {
                if let Some((durable, ticket)) = durable.as_ref().zip(ticket)
                    && !durable.allows(&ticket).await
                {
                    return; // the event was not stored, or another process sends it
                }
                let place = round.places.acquire().await;
                let started = Instant::now();
                timer.as_mut().reset(started + round.deadline);
                let carried = async {
                    tokio::select! {
                        biased;
                        result = line.carry(&job, &round) => result,
                        () = timer.as_mut() => Err(timed_out(round.deadline)),
                    }
                };
                // The request is written first. The receiver works on it while the next body is built.
                let (result, ()) = tokio::join!(biased; carried, async { worker.prepare() });
                if result.is_err() {
                    line.hang_up();
                }
                let took = started.elapsed().as_millis();
                drop(place);
                metrics.count_attempt(AttemptEnd::of(&result));
                outcome = Some(AttemptOutcome {
                    result,
                    signed: line.signed.take(),
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
        error: format!("no complete answer within {} s", deadline.as_secs_f32()),
        timed_out: true,
    }
}

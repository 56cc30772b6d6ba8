//! One connection's time limits: a watchdog around hyper's connection and the socket it reads.
//!
//! hyper's own header timeout starts when it begins to *wait* for a request. So one value would be both the
//! limit of a slow head and
//! the limit of an idle connection. It also costs a timer and an allocation for each request. Here a socket
//! notes its traffic, and one
//! timer for each connection checks the notes when it fires. This implements both limits and costs one clock
//! read for each write. Deliberately
//! absent: the limits of a body, which answer with a status (`body`).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, Sleep};

use crate::io::limits::Limits;

/// No request is open, or the client has not read the reply yet.
const IDLE: u8 = 0;
/// Bytes of a head arrived in this poll; it may not be complete.
const BEGUN: u8 = 1;
/// A head is incomplete.
const HEAD: u8 = 2;
/// A request is being answered.
const BUSY: u8 = 3;
/// Closing; bytes that the client still sends are discarded.
const LINGER: u8 = 4;

/// The activity of a connection, and its start.
///
/// Shared by the socket, the service and the watchdog, which all run in one task. The atomics exist only for
/// `Sync` and need no
/// ordering.
#[derive(Debug)]
pub(crate) struct Activity {
    phase: AtomicU8,
    opened: Instant,
    since_us: AtomicU64,
    requests_since_read: AtomicUsize,
    gathered: AtomicBool,
    linger: AtomicBool,
    closing: AtomicBool,
    delayed: AtomicBool,
}

impl Activity {
    /// A new connection: its first head is due.
    pub(crate) fn new() -> Self {
        Self {
            phase: AtomicU8::new(HEAD),
            opened: Instant::now(),
            since_us: AtomicU64::new(0),
            requests_since_read: AtomicUsize::new(0),
            gathered: AtomicBool::new(false),
            linger: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            delayed: AtomicBool::new(false),
        }
    }

    /// A head is complete, and its request is being answered.
    pub(crate) fn busy(&self) {
        self.enter(BUSY);
        // Only this task writes it, so load and store can be two operations.
        let requests = self.requests_since_read.load(Ordering::Relaxed) + 1;
        self.requests_since_read.store(requests, Ordering::Relaxed);
    }

    /// Whether a request is being answered. Then bytes that arrive are of its body.
    pub(crate) fn is_busy(&self) -> bool {
        self.phase() == BUSY
    }

    /// hyper has received a reply.
    pub(crate) fn replied(&self) {
        self.enter(IDLE);
    }

    /// The current reply refuses a body that was not read: discard the body before closing.
    pub(crate) fn linger(&self) {
        self.linger.store(true, Ordering::Relaxed);
    }

    /// Whether the server is closing, so that an endless reply must end.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// A fault delays the current reply, or the delay has ended.
    pub(crate) fn delay(&self, delayed: bool) {
        self.delayed.store(delayed, Ordering::Relaxed);
    }

    /// Whether a fault delays the current reply.
    pub(crate) fn is_delayed(&self) -> bool {
        self.delayed.load(Ordering::Relaxed)
    }

    /// Whether one read returned the current request together with another. More requests may follow it.
    pub(crate) fn is_pipelined(&self) -> bool {
        self.requests_since_read.load(Ordering::Relaxed) > 1
    }

    /// The client sent bytes.
    pub(crate) fn has_read(&self) {
        self.requests_since_read.store(0, Ordering::Relaxed);
        if self.phase() == IDLE {
            self.enter(BEGUN);
        }
    }

    /// The client read bytes of a reply.
    pub(crate) fn has_written(&self) {
        if matches!(self.phase(), IDLE | BUSY) {
            self.stamp();
        }
    }

    /// Whether replies are held to be written together.
    pub(crate) fn gathered(&self, kept_back: bool) {
        self.gathered.store(kept_back, Ordering::Relaxed);
    }

    /// The sending side is shut. Returns whether to discard the client's bytes until it closes, too.
    pub(crate) fn shut(&self) -> bool {
        let lingers = self.linger.load(Ordering::Relaxed);
        if lingers {
            self.enter(LINGER);
            self.stamp();
        }
        lingers
    }

    /// Whether the connection is past [`Activity::shut`].
    pub(crate) fn is_lingering(&self) -> bool {
        self.phase() == LINGER
    }

    fn phase(&self) -> u8 {
        self.phase.load(Ordering::Relaxed)
    }

    fn enter(&self, phase: u8) {
        self.phase.store(phase, Ordering::Relaxed);
    }

    fn stamp(&self) {
        let since = u64::try_from(self.opened.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.since_us.store(since, Ordering::Relaxed);
    }

    /// When the connection reaches its limit; `None` while a request is being answered.
    fn due(&self, limits: &Limits) -> Option<Instant> {
        let allowed = match self.phase() {
            BUSY => return None,
            HEAD | BEGUN => limits.head,
            LINGER => limits.linger,
            _ => limits.idle,
        };
        let since = Duration::from_micros(self.since_us.load(Ordering::Relaxed));
        Some(self.opened + since + allowed)
    }
}

/// The part of a served connection that the watchdog needs.
pub(crate) trait Served: Future + Send {
    /// Finishes the requests in flight and closes.
    fn finish(self: Pin<&mut Self>);
}

impl<I, S, B> Served for hyper::server::conn::http1::Connection<I, S>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send,
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = B> + Send,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Future: Send,
    B: hyper::body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    fn finish(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Signals that the server is closing.
pub(crate) type Closing = watch::Receiver<bool>;

/// A connection with its limits. It ends when the connection ends or a limit is reached. Once the server
/// closes, it ends after the requests
/// in flight.
pub(crate) struct Watched<C> {
    connection: Pin<Box<C>>,
    activity: Arc<Activity>,
    limits: Limits,
    timer: Pin<Box<Sleep>>,
    armed: Instant,
    /// Dropped at the end of the connection; the server waits until all connections have dropped it.
    closing: Closing,
    closed: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// The task that the timer and `closed` will wake. If it is the current task, a new registration is not
    /// needed; it would take a lock for each request.
    waker: Option<Waker>,
}

impl<C: Served> Watched<C> {
    /// Adds the limits to a connection.
    pub(crate) fn new(
        connection: C,
        activity: Arc<Activity>,
        limits: Limits,
        closing: Closing,
    ) -> Self {
        let armed = activity.opened + limits.head;
        let mut listener = closing.clone();
        let closed = async move {
            // An error means that the server has ended, which also closes the connection.
            let _ = listener.wait_for(|closing| *closing).await;
        };
        Self {
            connection: Box::pin(connection),
            activity,
            limits,
            timer: Box::pin(tokio::time::sleep_until(armed)),
            armed,
            closing,
            closed: Some(Box::pin(closed)),
            waker: None,
        }
    }

    /// Starts a graceful end when the server closes. Returns whether the connection must be polled again.
    fn poll_closing(&mut self, cx: &mut Context<'_>, registered: bool) -> bool {
        let Some(closed) = self.closed.as_mut() else { return false };
        // `has_changed` is one atomic load. An error means that the server has ended.
        if registered && matches!(self.closing.has_changed(), Ok(false)) {
            return false;
        }
        if closed.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.closed = None;
        self.activity.closing.store(true, Ordering::Relaxed);
        self.connection.as_mut().finish();
        true
    }

    /// Whether a limit was reached. Registers the timer otherwise.
    fn poll_limits(&mut self, cx: &mut Context<'_>, registered: bool) -> Poll<()> {
        if self.activity.phase() == BEGUN {
            self.activity.stamp();
            self.activity.enter(HEAD);
        }
        // A timer that fires too early is set again. A timer that would fire too late must be moved at once.
        let sooner = self.activity.due(&self.limits).filter(|due| *due < self.armed);
        if let Some(due) = sooner {
            self.arm(due);
        } else if registered && !self.timer.is_elapsed() {
            return Poll::Pending;
        }
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let now = Instant::now();
            match self.activity.due(&self.limits) {
                Some(due) if due <= now => return Poll::Ready(()),
                Some(due) => self.arm(due),
                None => self.arm(now + self.limits.idle.min(self.limits.head)),
            }
        }
    }

    fn arm(&mut self, due: Instant) {
        self.armed = due;
        self.timer.as_mut().reset(due);
    }
}

impl<C: Served> Future for Watched<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let registered = this.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        if !registered {
            this.waker = Some(cx.waker().clone());
        }
        if this.connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        // hyper reads again after each reply, which writes the gathered replies. A second flush covers the
        // case in which it does not.
        if this.activity.gathered.load(Ordering::Relaxed)
            && this.connection.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(());
        }
        if this.poll_closing(cx, registered) && this.connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        this.poll_limits(cx, registered)
    }
}

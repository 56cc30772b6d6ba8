//! The body of the event stream: sends the frames of a reader at a limited pace, and keeps an idle stream open.
//!
//! hyper polls it only after the client has read the earlier data, so a slow client buffers at most one batch. Sends
//! to many readers of one world are spread over time; otherwise a request would wait for all of them.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use hyper::body::Frame;
use tokio::time::{Instant, Sleep};

use crate::engine::Delivery;
use crate::engine::export::Exported;
use crate::engine::recording::Ticket;
use crate::engine::stream::{Next, Opened, Stream};
use crate::io::connection::Activity;
use crate::io::handler::Lost;
use crate::io::sent::Sent;
use crate::io::wal::durable::Durable;

/// The time between two batches, so that a burst of changes is one batch. The first one after a pause is sent at once.
const PACE: Duration = Duration::from_millis(100);
/// The minimum time between two batches for each reader of a world: readers share the pace, so that many do not delay
/// requests.
const SHARE: Duration = Duration::from_micros(200);
/// Up to this number of readers of one world, each gets news at once.
const FEW: u32 = 32;
/// The time after which a stream tries again while a step of its world is running, and between two batches of one burst.
const SOON: Duration = Duration::from_millis(20);
/// The time after which an idle stream sends a comment, well below the limit of an idle connection.
const BEAT: Duration = Duration::from_secs(15);
/// The first bytes: how long a browser waits before it connects again.
const OPENING: &[u8] = b"retry: 1000\n\n";
const COMMENT: &[u8] = b":\n\n";

/// The reply with its body: the event stream or the whole list, if it opens one.
pub(crate) fn with_body(
    mut response: Response<Bytes>,
    delivery: Delivery,
    durable: Option<&Durable>,
    activity: &Arc<Activity>,
) -> Response<Sent> {
    let exported = response.extensions_mut().remove::<Exported>();
    if let Some(mut export) = exported.and_then(|exported| exported.take()) {
        if delivery == Delivery::Whole {
            return response.map(|_| Sent::Export(Box::new(export)));
        }
        // A fault damages the complete body.
        let pieces = std::iter::from_fn(|| export.next()).map_while(Result::ok);
        let body: Bytes = pieces.flatten().collect();
        return response.map(|_| Sent::new(body, delivery));
    }
    let opened = response.extensions_mut().remove::<Opened>();
    response.map(|body| match opened.and_then(|opened| opened.take()) {
        Some(stream) => {
            let following = Following::new(stream, durable.cloned(), Arc::clone(activity));
            Sent::Stream(Box::new(following))
        }
        None => Sent::new(body, delivery),
    })
}

type Storing = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A stream while it is sent.
pub(crate) struct Following {
    stream: Stream,
    durable: Option<Durable>,
    activity: Arc<Activity>,
    timer: Pin<Box<Sleep>>,
    /// Whether the next batch must wait for the timer.
    is_paced: bool,
    /// Whether it has sent everything, and is woken by news.
    is_idle: bool,
    has_begun: bool,
    sent: Instant,
    /// A batch whose last input is not on disk yet.
    held: Option<(Vec<Bytes>, Storing)>,
    /// Frames to send, the last one first. Readers share them.
    frames: Vec<Bytes>,
    unsent: Unsent,
}

/// The frames that hyper buffers. Its buffer is large, because a connection also carries large bodies.
#[derive(Clone, Default)]
struct Unsent(Arc<Mutex<Buffered>>);

#[derive(Default)]
struct Buffered {
    frames: usize,
    waker: Option<Waker>,
}

/// A frame that hyper drops when the socket has taken it.
struct Tracked {
    frame: Bytes,
    unsent: Unsent,
}

impl AsRef<[u8]> for Tracked {
    fn as_ref(&self) -> &[u8] {
        &self.frame
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let mut buffered = self.unsent.buffered();
        buffered.frames -= 1;
        let waker = if buffered.frames == 0 { buffered.waker.take() } else { None };
        drop(buffered);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Unsent {
    fn track(&self, frame: Bytes) -> Bytes {
        self.buffered().frames += 1;
        Bytes::from_owner(Tracked { frame, unsent: self.clone() })
    }

    /// Ready when hyper buffers no frame.
    fn poll_sent(&self, cx: &Context<'_>) -> Poll<()> {
        let mut buffered = self.buffered();
        if buffered.frames == 0 {
            return Poll::Ready(());
        }
        buffered.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// A panic under this lock cannot leave half a change.
    fn buffered(&self) -> MutexGuard<'_, Buffered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Following {
    fn new(stream: Stream, durable: Option<Durable>, activity: Arc<Activity>) -> Self {
        let sent = Instant::now();
        Self {
            stream,
            durable,
            activity,
            timer: Box::pin(tokio::time::sleep_until(sent + BEAT)),
            is_paced: false,
            is_idle: false,
            has_begun: false,
            sent,
            held: None,
            frames: Vec::new(),
            unsent: Unsent::default(),
        }
    }

    pub(crate) fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Lost>>> {
        if !self.has_begun {
            self.has_begun = true;
            return self.send(Bytes::from_static(OPENING));
        }
        loop {
            if self.activity.is_closing() {
                return Poll::Ready(None);
            }
            if let Some(frame) = self.frames.pop() {
                let frame = self.unsent.track(frame);
                return self.send(frame);
            }
            // The next batch is read when the client has taken this one.
            ready!(self.unsent.poll_sent(cx));
            if let Some((batch, storing)) = &mut self.held {
                let is_stored = ready!(storing.as_mut().poll(cx));
                let batch = std::mem::take(batch);
                self.held = None;
                if !is_stored {
                    return Poll::Ready(None);
                }
                self.queue(batch);
                continue;
            }
            if self.is_idle {
                self.is_idle = false;
                if self.timer.as_mut().poll(cx).is_ready() {
                    return self.send(Bytes::from_static(COMMENT));
                }
                self.wait_for_turn();
            }
            if self.is_paced {
                ready!(self.timer.as_mut().poll(cx));
                self.is_paced = false;
            }
            match self.stream.poll(cx) {
                Next::End => return Poll::Ready(None),
                Next::Send { frames, ticket, more } => {
                    self.wait_for(if more { SOON } else { PACE });
                    match self.storing(ticket) {
                        Some(storing) => self.held = Some((frames, storing)),
                        None => self.queue(frames),
                    }
                }
                Next::Busy => self.wait_for(SOON),
                Next::Wait => {
                    self.timer.as_mut().reset(self.sent + BEAT);
                    self.is_idle = self.timer.as_mut().poll(cx).is_pending();
                    if self.is_idle {
                        return Poll::Pending;
                    }
                    return self.send(Bytes::from_static(COMMENT));
                }
            }
        }
    }

    /// All readers of a world are woken at once. Each waits for its own part of the pace, so that they do not send at
    /// the same time.
    fn wait_for_turn(&mut self) {
        let (place, readers) = self.stream.place();
        if readers > FEW {
            self.wait(SHARE * (place % readers));
        }
    }

    /// Waits for this time, or longer if the world has many readers.
    fn wait_for(&mut self, pause: Duration) {
        let (_, readers) = self.stream.place();
        self.wait(pause.max(SHARE * readers));
    }

    fn wait(&mut self, pause: Duration) {
        self.timer.as_mut().reset(Instant::now() + pause);
        self.is_paced = true;
    }

    /// Frames that show an input are sent only after the input is on disk.
    fn storing(&self, ticket: Option<Ticket>) -> Option<Storing> {
        let (durable, ticket) = self.durable.clone().zip(ticket)?;
        if durable.has(&ticket) {
            return None;
        }
        Some(Box::pin(async move { durable.wait(&ticket).await.is_ok() }))
    }

    fn queue(&mut self, mut batch: Vec<Bytes>) {
        batch.reverse();
        self.frames = batch;
    }

    fn send(&mut self, bytes: Bytes) -> Poll<Option<Result<Frame<Bytes>, Lost>>> {
        self.sent = Instant::now();
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

//! A reader of the event stream, as the network layer polls it.
//!
//! A step of a world wakes its readers. Each then reads what happened from its own position, so no queue grows. The reader does not keep its
//! world in memory: when the world leaves, the stream ends.

use std::sync::{Arc, Mutex, Weak};
use std::task::Context;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response};

use crate::api::control::event_stream::{Batch, Follow};
use crate::api::operation::decode;
use crate::engine::headers::{REQUEST_ID, SANDBOX_TIME};
use crate::engine::lock::lock;
use crate::engine::readers::Follows;
use crate::engine::recording::{Tape, Ticket};
use crate::engine::request::{Request, request_id};
use crate::engine::slot::Slot;
use crate::engine::write;
use crate::value::{ApiError, ErrorCode};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The media type of Server-Sent Events.
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// In a reply's extensions: the stream that the network layer sends.
#[derive(Clone)]
pub(crate) struct Opened(Arc<Mutex<Option<Stream>>>);

impl Opened {
    /// The stream, once.
    pub(crate) fn take(&self) -> Option<Stream> {
        lock(&self.0).take()
    }
}

/// One reader.
pub(crate) struct Stream {
    slot: Weak<Slot>,
    follow: Follow,
    number: u32,
}

/// The result of a poll.
pub(crate) enum Next {
    /// Send these frames after the input of the ticket is stored. More frames can be available at once.
    Send { frames: Vec<Bytes>, ticket: Option<Ticket>, more: bool },
    /// Nothing yet. The task is woken when something happens.
    Wait,
    /// A step of the world is running: try again soon.
    Busy,
    /// The world has left memory.
    End,
}

impl Stream {
    /// Its number, and how many readers its world has.
    pub(crate) fn place(&self) -> (u32, u32) {
        let readers = self.slot.upgrade().map_or(0, |slot| slot.readers.open());
        (self.number, readers)
    }

    /// The next frames.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Next {
        let Some(slot) = self.slot.upgrade().filter(|slot| !slot.is_lost()) else {
            return Next::End;
        };
        // Registered before it reads, so that nothing is missed.
        let [requests, deliveries] = self.follow.beside_events();
        slot.readers.wait(self.number, Follows { requests, deliveries }, cx.waker());
        let Some(world) = slot.try_world() else { return Next::Busy };
        let Batch { frames, more, .. } =
            self.follow.next(&world, &slot.tester(), &mut slot.readers.encoded());
        match (frames.is_empty(), more) {
            (true, true) => Next::Busy,
            (true, false) => Next::Wait,
            (false, more) => {
                let ticket = slot.tape.as_ref().and_then(Tape::ticket);
                Next::Send { frames, ticket, more }
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.upgrade() {
            slot.readers.end(self.number);
        }
    }
}

/// Opens a stream for a request.
pub(super) fn open(request: &Request<'_>, slot: &Arc<Slot>) -> Response<Bytes> {
    let world = slot.world();
    request.trace.now.set(Some(world.now()));
    let follow = request.bind(None).and_then(decode).and_then(|input| {
        let id = request.head.headers.get(LAST_EVENT_ID).map(|id| id.to_str());
        let id = id.transpose().map_err(|_| {
            ApiError::new(ErrorCode::InvalidHeader, "Last-Event-ID must be ASCII text")
        })?;
        Follow::begin(&world, &mut slot.tester(), input, id.filter(|id| !id.is_empty()))
    });
    let follow = match follow {
        Ok(follow) => follow,
        Err(error) => return write::refused(request, slot, &world, &error),
    };
    let number = slot.readers.begin();
    slot.watch();
    let stream = Stream { slot: Arc::downgrade(slot), follow, number };
    let mut response = Response::new(Bytes::new());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENT_STREAM);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let key = world.base().key().with("stream").at(world.version()).with(request.target());
    headers.insert(REQUEST_ID, request_id(key));
    headers.insert(SANDBOX_TIME, slot.memory().time_header(world.now()));
    response.extensions_mut().insert(Opened(Arc::new(Mutex::new(Some(stream)))));
    response
}

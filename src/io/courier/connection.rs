//! One persistent connection to one receiver, and the parts of its answers that are stored.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;

use crate::io::courier::dial::dial;
use crate::io::courier::socket::Socket;
use crate::io::courier::task::Task;
use crate::io::courier::{Round, wall};
use crate::tester::address::{Policy, Target};
use crate::tester::outbox::Job;
use crate::tester::outbox::delivery::{Answered, Signed, Unanswered};
use crate::tester::outbox::message::{AGENT, Message};
use crate::tester::outbox::schedule::retry_after_ms;
use crate::value::text;

static WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
static WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
static WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
static DELIVERY_ID: HeaderName = HeaderName::from_static("sandbox-delivery-id");
static ATTEMPT: HeaderName = HeaderName::from_static("sandbox-attempt");
static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The most headers of a delivery.
const MOST_HEADERS: usize = 12;
/// The most bytes that are read of an answer's head.
const HEAD_BYTES: usize = 16 * 1024;
/// The most bytes that are read of an answer's body. The connection closes if there are more.
const READ_BYTES: usize = 64 * 1024;
/// The most bytes of it that are stored.
const KEPT_BYTES: usize = 16 * 1024;

/// The connection, if it is open.
#[derive(Default)]
pub(crate) struct Connection {
    open: Option<Open>,
    /// The signed parts of the last message, until they are reported.
    pub(crate) signed: Option<Signed>,
}

type Driver = http1::Connection<TokioIo<Socket>, Full<Bytes>>;

/// An open connection. The waiting request drives the socket instead of a separate task, which saves a thread switch
/// for every answer.
struct Open {
    to: Target,
    sender: SendRequest<Full<Bytes>>,
    /// None after the connection has ended.
    driver: Option<Box<Driver>>,
    task: Task,
    /// The driver's.
    socket: Socket,
}

impl Open {
    async fn dial(target: &Target, policy: &Policy) -> Result<Self, String> {
        let socket = Socket::new(dial(target, policy).await?);
        let (sender, driver) = http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .handshake(TokioIo::new(socket.clone()))
            .await
            .map_err(|error| error_text(&error))?;
        Ok(Self {
            to: target.clone(),
            sender,
            driver: Some(Box::new(driver)),
            task: Task::default(),
            socket,
        })
    }

    async fn request(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        let answer = self.sender.send_request(request);
        self.task.until(drives(&mut self.driver), answer).await
    }

    async fn is_ready(&mut self) -> bool {
        let ready = self.sender.ready();
        self.task.until(drives(&mut self.driver), ready).await.is_ok()
    }
}

/// Reads and writes the socket.
fn drives(driver: &mut Option<Box<Driver>>) -> impl FnMut(&mut Context<'_>) {
    move |cx| {
        if let Some(connection) = driver {
            // The waiting request gets the error of the connection.
            if Pin::new(connection.as_mut()).poll(cx).is_ready() {
                *driver = None;
            }
        }
    }
}

impl Connection {
    /// Closes the connection.
    pub(crate) fn hang_up(&mut self) {
        self.open = None;
    }

    /// Attempts a delivery.
    pub(crate) async fn carry(&mut self, job: &Job, round: &Round) -> Result<Answered, Unanswered> {
        let message = job.message(wall());
        let Message { timestamp, signatures, body, .. } = &message;
        let (timestamp, signatures, bytes) = (*timestamp, signatures.clone(), body.len());
        self.signed = Some(Signed { timestamp, signatures, bytes });
        let policy = round.policy(job.trusted);
        let sent = self.send(&job.target, policy, |target| delivery(target, job, &message));
        sent.await.map_err(|error| Unanswered { error, timed_out: false })
    }

    /// Sends a request, and returns the stored part of its answer. If the receiver has closed the connection in the
    /// meantime, a new one replaces it. A request that the receiver may have read is not sent again.
    pub(crate) async fn send(
        &mut self,
        target: &Target,
        policy: &Policy,
        request: impl Fn(&Target) -> Request<Full<Bytes>>,
    ) -> Result<Answered, String> {
        if let Some(mut open) = self.open.take().filter(|open| open.to == *target)
            && open.is_ready().await
        {
            match open.request(request(target)).await {
                Ok(response) => return Ok(self.answered(open, response).await),
                // The connection ended before the request was begun.
                Err(error) if error.is_canceled() => {}
                // The receiver closed the idle connection while the request was on its way.
                Err(error) if error.is_incomplete_message() && open.socket.was_refused().await => {}
                Err(error) => return Err(error_text(&error)),
            }
        }
        let mut open = Open::dial(target, policy).await?;
        let response = open.request(request(target)).await.map_err(|error| error_text(&error))?;
        Ok(self.answered(open, response).await)
    }

    /// The stored part of an answer. The connection stays open if the answer was read to its end.
    async fn answered(&mut self, mut open: Open, response: Response<Incoming>) -> Answered {
        let read = read(response);
        let (answered, whole) = open.task.until(drives(&mut open.driver), read).await;
        self.open = whole.then_some(open);
        answered
    }
}

/// The text of an error and of its causes.
fn error_text(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// The request of a delivery.
fn delivery(target: &Target, job: &Job, message: &Message) -> Request<Full<Bytes>> {
    let value = |text: &str| HeaderValue::try_from(text).expect("ids and signatures are ASCII");
    let mut request = post_to(target, message.body.clone());
    let headers = request.headers_mut();
    headers.insert(&WEBHOOK_ID, value(&message.id));
    headers.insert(&WEBHOOK_TIMESTAMP, message.timestamp.into());
    headers.insert(&WEBHOOK_SIGNATURE, value(&message.signatures));
    headers.insert(&DELIVERY_ID, value(&job.delivery_id));
    headers.insert(&ATTEMPT, job.attempt.into());
    if let Some(traceparent) = &message.traceparent {
        headers.insert(&TRACEPARENT, value(traceparent));
    }
    request
}

/// A POST of JSON to a receiver.
pub(crate) fn post_to(target: &Target, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    let path = target.path.parse();
    *request.uri_mut() = path.expect("a target's path was read when it was made");
    let headers = request.headers_mut();
    headers.reserve(MOST_HEADERS);
    let host = HeaderValue::try_from(target.authority.as_str()).expect("a host is ASCII");
    headers.insert(HOST, host);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request
}

/// The stored part of an answer, and whether the answer was read to its end.
async fn read(response: Response<Incoming>) -> (Answered, bool) {
    let (head, mut body) = response.into_parts();
    let asked = head.headers.get(RETRY_AFTER);
    let asked = asked.and_then(|value| value.to_str().ok());
    let (mut kept, mut taken, mut whole) = (Vec::new(), 0, true);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            whole = false; // the status has arrived; the body is stored only for display
            break;
        };
        let Ok(data) = frame.into_data() else { continue };
        taken += data.len();
        let room = KEPT_BYTES - kept.len();
        kept.extend_from_slice(&data[..data.len().min(room)]);
        if taken >= READ_BYTES {
            whole = false;
            break;
        }
    }
    let answered = Answered {
        status: head.status.as_u16(),
        retry_after_ms: asked.and_then(|text| retry_after_ms(text, wall())),
        text: text::lossy(kept),
    };
    (answered, whole)
}

//! One persistent connection to one receiver, and the parts of its answers that are stored.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;

use crate::io::courier::dial::dial;
use crate::io::courier::{Round, wall};
use crate::tester::address::{Policy, Target};
use crate::tester::outbox::Job;
use crate::tester::outbox::delivery::{Answered, Unanswered};
use crate::tester::outbox::message::Message;
use crate::tester::outbox::schedule::retry_after_ms;

/// The most bytes that are read of an answer's head.
const HEAD_BYTES: usize = 16 * 1024;
/// The most bytes that are read of an answer's body. The connection closes if there are more.
const READ_BYTES: usize = 64 * 1024;
/// The most bytes of it that are stored.
const KEPT_BYTES: usize = 16 * 1024;
const AGENT: &str = concat!("sandbox/", env!("CARGO_PKG_VERSION"));

/// The connection, if it is open.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    open: Option<(Target, SendRequest<Full<Bytes>>)>,
}

impl Connection {
    /// Closes the connection.
    pub(crate) fn hang_up(&mut self) {
        self.open = None;
    }

    /// Attempts a delivery.
    pub(crate) async fn carry(&mut self, job: &Job, round: &Round) -> Result<Answered, Unanswered> {
        let mut policy = round.policy.clone();
        policy.private |= job.trusted;
        let message = job.message(wall());
        let headers = DeliveryHeaders::of(job, &message);
        let body = message.body;
        let sent = self.send(&job.target, &policy, |target| headers.request(target, body.clone()));
        let response = sent.await.map_err(unanswered)?;
        let (answered, whole) = read(response).await;
        if !whole {
            self.hang_up();
        }
        Ok(answered)
    }

    /// Sends a request. If the receiver has closed the connection meanwhile, a new one replaces it.
    pub(crate) async fn send(
        &mut self,
        target: &Target,
        policy: &Policy,
        request: impl Fn(&Target) -> Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, String> {
        if let Some((to, mut sender)) = self.open.take()
            && to == *target
            && sender.ready().await.is_ok()
        {
            match sender.send_request(request(target)).await {
                Ok(response) => {
                    self.open = Some((to, sender));
                    return Ok(response);
                }
                // The receiver closed before it answered, most likely because the connection was idle.
                Err(error) if error.is_canceled() || error.is_incomplete_message() => {}
                Err(error) => return Err(error_text(&error)),
            }
        }
        let stream = dial(target, policy).await?;
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(HEAD_BYTES)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error_text(&error))?;
        tokio::spawn(async move {
            // The waiting request gets the error of the connection.
            let _ = connection.await;
        });
        let response =
            sender.send_request(request(target)).await.map_err(|error| error_text(&error))?;
        self.open = Some((target.clone(), sender));
        Ok(response)
    }
}

fn unanswered(error: String) -> Unanswered {
    Unanswered { error, timed_out: false }
}

/// The text of an error and of its causes.
pub(crate) fn error_text(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// The headers of a delivery.
struct DeliveryHeaders {
    headers: [(&'static str, HeaderValue); 5],
}

impl DeliveryHeaders {
    fn of(job: &Job, message: &Message) -> Self {
        let value = |text: &str| HeaderValue::try_from(text).expect("ids and signatures are ASCII");
        let attempt = job.attempt.to_string();
        Self {
            headers: [
                ("webhook-id", value(&message.id)),
                ("webhook-timestamp", value(&message.timestamp.to_string())),
                ("webhook-signature", value(&message.signatures)),
                ("sandbox-delivery-id", value(&job.delivery_id)),
                ("sandbox-attempt", value(&attempt)),
            ],
        }
    }

    fn request(&self, target: &Target, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = post_to(target, body);
        for (name, value) in &self.headers {
            request.headers_mut().insert(*name, value.clone());
        }
        request
    }
}

/// A POST of JSON to a receiver.
pub(crate) fn post_to(target: &Target, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    let path = target.path.parse();
    *request.uri_mut() = path.expect("a target's path was read when it was made");
    let headers = request.headers_mut();
    let host = HeaderValue::try_from(target.authority()).expect("a host is ASCII");
    headers.insert(HOST, host);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    request
}

/// The stored part of an answer, and whether the answer was read to its end.
pub(crate) async fn read(response: Response<Incoming>) -> (Answered, bool) {
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
        text: String::from_utf8_lossy(&kept).into_owned(),
    };
    (answered, whole)
}

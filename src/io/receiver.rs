//! A receiver of webhooks: checks deliveries, passes them to the caller for display, and forwards them on
//! request.
//!
//! Deliberately absent: the display of a delivery (`cli::listen`), and storage beyond the last ids.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, RETRY_AFTER, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::io::courier::connection::{Connection, post_to};
use crate::io::courier::wall;
use crate::tester::address::{Policy, Target};
use crate::tester::outbox::delivery::Answered;
use crate::tester::signature::{Secret, SignatureCheck, Signed, verify};
use crate::value::Timestamp;

/// A delivery is far smaller; a larger body is refused.
const MOST_BYTES: usize = 1024 * 1024;
/// Maximum number of ids that are stored to recognise a repeated delivery.
const MOST_IDS: usize = 10_000;
/// The time from the first byte of a request to the last; also the limit for the target of the forwarding.
const DEADLINE: Duration = Duration::from_secs(15);

/// The options of a receiver.
#[derive(Debug)]
pub(crate) struct Receiving {
    /// The secret of the signatures; without it, signatures are not checked.
    pub(crate) secret: Option<Secret>,
    pub(crate) forward_to: Option<Target>,
}

/// A received delivery.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) at: Timestamp,
    /// `webhook-id`.
    pub(crate) id: Option<String>,
    /// None without a secret.
    pub(crate) verdict: Option<SignatureCheck>,
    /// Whether this id was received and accepted before.
    pub(crate) duplicate: bool,
    /// The status of the answer.
    pub(crate) answered: u16,
    pub(crate) body: Bytes,
}

/// The received ids, the oldest first.
#[derive(Debug, Default)]
struct Ids {
    known: BTreeSet<String>,
    order: VecDeque<String>,
}

impl Ids {
    /// Whether the id was received before.
    fn came(&mut self, id: &str) -> bool {
        if !self.known.insert(id.to_owned()) {
            return true;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > MOST_IDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        false
    }
}

/// Receives until `shutdown` is done.
pub(crate) async fn receive(
    listener: TcpListener,
    receiving: Receiving,
    show: impl Fn(&Received) + Send + Sync + 'static,
    shutdown: impl Future<Output = ()>,
) {
    let (receiving, show) = (Arc::new(receiving), Arc::new(show));
    let ids = Arc::new(Mutex::new(Ids::default()));
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // The system has no resources for another socket. This ends when connections close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (receiving, show, ids) = (Arc::clone(&receiving), Arc::clone(&show), Arc::clone(&ids));
        let service = service_fn(move |request: Request<Incoming>| {
            let (receiving, show, ids) =
                (Arc::clone(&receiving), Arc::clone(&show), Arc::clone(&ids));
            // A separate task, so that a delivery is shown even if its sender closes before the target
            // answers.
            let answering =
                tokio::spawn(async move { answer(request, &receiving, &ids, show.as_ref()).await });
            async move {
                let failed = |_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the receiver failed\n");
                Ok::<_, Infallible>(answering.await.unwrap_or_else(failed))
            }
        });
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(DEADLINE);
            // A broken connection affects only its sender.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    receiving: &Receiving,
    ids: &Mutex<Ids>,
    show: &(impl Fn(&Received) + Sync),
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "deliveries are POSTed\n");
    }
    let body = tokio::time::timeout(DEADLINE, Limited::new(body, MOST_BYTES).collect()).await;
    let Ok(Ok(body)) = body else {
        return plain(StatusCode::BAD_REQUEST, "the body is incomplete\n");
    };
    let body = body.to_bytes();
    let (at, signed) = (wall(), signed(&head.headers));
    let verdict =
        receiving.secret.as_ref().map(|secret| verify(secret, signed, &body, at.millis() / 1_000));
    let good = verdict.is_none_or(|verdict| verdict == SignatureCheck::Valid);
    // A forged delivery does not mark its id as received.
    let duplicate = {
        let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
        good && signed.id.is_some_and(|id| ids.came(id))
    };
    let response = match (&receiving.forward_to, verdict) {
        (Some(target), _) => forward(target, &head, body.clone()).await,
        (None, None | Some(SignatureCheck::Valid)) => plain(StatusCode::OK, "taken\n"),
        (None, Some(SignatureCheck::Stale)) => {
            plain(StatusCode::BAD_REQUEST, "the timestamp is stale\n")
        }
        (None, Some(_)) => plain(StatusCode::UNAUTHORIZED, "the signature is wrong\n"),
    };
    show(&Received {
        at,
        id: signed.id.map(str::to_owned),
        verdict,
        duplicate,
        answered: response.status().as_u16(),
        body,
    });
    response
}

fn signed(headers: &HeaderMap) -> Signed<'_> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    Signed {
        id: text("webhook-id"),
        timestamp: text("webhook-timestamp"),
        signatures: text("webhook-signature"),
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response
}

/// Forwards a delivery with its headers, and returns the answer of the target.
async fn forward(target: &Target, head: &Parts, body: Bytes) -> Response<Full<Bytes>> {
    let policy = Policy::default();
    let mut line = Connection::default();
    let request = |target: &Target| {
        let mut request = post_to(target, body.clone());
        for (name, value) in &head.headers {
            let own = [HOST, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name);
            if !own {
                request.headers_mut().insert(name.clone(), value.clone());
            }
        }
        request
    };
    let sent = line.send(target, &policy, request);
    match tokio::time::timeout(DEADLINE, sent).await {
        Ok(Ok(answered)) => passed_back(answered),
        Ok(Err(error)) => reply(StatusCode::BAD_GATEWAY, format!("{target}: {error}\n")),
        Err(_) => reply(StatusCode::GATEWAY_TIMEOUT, format!("{target} did not answer\n")),
    }
}

fn passed_back(answered: Answered) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(answered.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut response = reply(status, answered.text);
    if let Some(wait_ms) = answered.retry_after_ms {
        let seconds = HeaderValue::from(wait_ms.max(0).unsigned_abs().div_ceil(1_000));
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    response
}

fn reply(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response
}

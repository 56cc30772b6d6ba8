//! Passes a request from a connection to the engine, and the reply back.
//!
//! A request without a body is answered within the call, on the worker that read it. This needs no future, no allocation and no lock.
//! Only a request that must wait, for its body or for an injected delay, becomes a future. Deliberately absent: routes, keys and error
//! documents, which are in the engine ([`RequestHandler`]).

mod mcp;
mod place;
mod refusal;

use std::future::Future;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{EXPECT, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{Method, Request, Response};
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::engine::NOSNIFF;
use crate::engine::recording::Ticket;
use crate::engine::{Transport, Turn, Unfinished};
use crate::io::body::{Unread, declares_more, read};
use crate::io::connection::Activity;
use crate::io::cors::Cors;
use crate::io::delay;
use crate::io::following::with_body;
use crate::io::guard::{Guard, GuardDecision};
use crate::io::handler::{Lost, RequestHandler};
use crate::io::limits::Limits;
use crate::io::log::{AccessLogLine, shown_path};
use crate::io::metrics::{self, Metrics};
use crate::io::peers::Peers;
use crate::io::quota;
use crate::io::sent::Sent;
#[cfg(feature = "otel")]
use crate::io::telemetry;
use crate::io::wal::durable::Durable;
use crate::render::mcp::Agents;
use crate::value::ErrorCode;

use self::place::Place;

/// The state that all connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared<A> {
    pub(crate) engine: Arc<A>,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    durable: Option<Durable>,
    metrics: Arc<Metrics>,
    agents: Agents,
    in_flight: AtomicUsize,
    /// The bodies that each peer is sending.
    bodies: Arc<Peers>,
    started: Instant,
}

impl<A> Shared<A> {
    pub(crate) fn new(
        engine: Arc<A>,
        guard: Guard,
        limits: Limits,
        durable: Option<Durable>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            engine,
            guard,
            limits,
            durable,
            metrics,
            agents: Agents::default(),
            in_flight: AtomicUsize::new(0),
            bodies: Peers::sharing(limits.in_flight),
            started: Instant::now(),
        }
    }
}

type Replied = Result<Response<Sent>, Lost>;

/// A reply. It is nearly always ready at once.
pub(crate) enum Reply {
    /// Ready; the only poll takes it.
    Now(Option<Replied>),
    /// Waits for a body or for the end of a delay.
    Later(Pin<Box<dyn Future<Output = Replied> + Send>>),
}

impl Future for Reply {
    type Output = Replied;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Replied> {
        match self.get_mut() {
            Self::Now(reply) => Poll::Ready(reply.take().expect("a future is not polled again")),
            Self::Later(reply) => reply.as_mut().poll(cx),
        }
    }
}

/// The service of one connection.
pub(crate) struct Edge<A> {
    shared: Arc<Shared<A>>,
    activity: Arc<Activity>,
    peer: IpAddr,
}

impl<A> Clone for Edge<A> {
    fn clone(&self) -> Self {
        let (shared, activity) = (Arc::clone(&self.shared), Arc::clone(&self.activity));
        Self { shared, activity, peer: self.peer }
    }
}

impl<A: RequestHandler> hyper::service::Service<Request<Incoming>> for Edge<A> {
    type Response = Response<Sent>;
    type Error = Lost;
    type Future = Reply;

    fn call(&self, request: Request<Incoming>) -> Reply {
        self.activity.busy();
        let (mut head, body) = request.into_parts();
        let mut line = AccessLogLine::start(&head);
        if head.method == Method::HEAD {
            // hyper keeps the original method, and drops the body of the reply but not its length.
            head.method = Method::GET;
        }
        let outside = self.shared.engine.enter(&mut head);
        self.shared.engine.report_time(line.since(self.shared.started));
        let admitted = match self.shared.guard.judge(&head) {
            GuardDecision::Pass if outside.is_some() => {
                let detail = outside.unwrap_or_default();
                Err(self.refuse(Some(&head), ErrorCode::RouteNotFound, &detail))
            }
            GuardDecision::Pass if head.uri.path() == metrics::PATH => {
                Err(self.shared.metrics.answer(&*self.shared.engine, &head))
            }
            GuardDecision::Pass if head.uri.path() == mcp::PATH => {
                return self.mcp(head, body, line);
            }
            GuardDecision::Pass => self.guarded(&head, |engine| engine.admit(&head)),
            GuardDecision::Preflight => Err(Cors::answer(&head)),
            GuardDecision::Refuse(code, detail) => Err(self.refuse(Some(&head), code, detail)),
            GuardDecision::Wait(seconds) => {
                let detail = quota::detail(seconds);
                let refusal = self.refuse(Some(&head), ErrorCode::RateLimited, &detail);
                Err(quota::with_retry(refusal, seconds))
            }
        };
        if let Ok(admitted) = &admitted {
            line.place = self.shared.engine.place(admitted);
            line.world = self.shared.engine.world(admitted);
        }
        if !body.is_end_stream() {
            return self.after_body(head, body, admitted, line);
        }
        let response = match admitted {
            Ok(admitted) => match self.shared.engine.turn(&admitted) {
                Some(Err(waiting)) => {
                    let edge = self.clone();
                    return Reply::Later(Box::pin(async move {
                        let turn = Some(waiting.await);
                        let response = edge.answer(admitted, &head, Bytes::new(), turn);
                        edge.send_late(head, response, line).await
                    }));
                }
                turn => self.answer(admitted, &head, Bytes::new(), turn.and_then(Result::ok)),
            },
            Err(refusal) => self.report_refusal(refusal, &head, &Bytes::new()),
        };
        self.send(head, response, line)
    }
}

impl<A: RequestHandler> Edge<A> {
    pub(crate) fn new(shared: Arc<Shared<A>>, activity: Arc<Activity>, peer: IpAddr) -> Self {
        Self { shared, activity, peer }
    }

    /// Reads the body and then answers. A refusal also waits for a small body, because an unread body would
    /// close the client's connection.
    fn after_body(
        &self,
        head: Parts,
        body: Incoming,
        admitted: Result<A::Admitted, Response<Bytes>>,
        line: AccessLogLine,
    ) -> Reply {
        let limits = self.shared.limits;
        let too_large = declares_more(&body, limits.body_bytes);
        // Reading the body would send the 100 that requests it.
        let keeps_back = too_large || head.headers.contains_key(EXPECT);
        let refusal = match &admitted {
            Ok(admitted) if too_large => {
                Some(self.refuse_unread(&head, Unread::TooLarge, admitted))
            }
            _ => None,
        };
        let admitted = refusal.map_or(admitted, Err);
        if keeps_back && let Err(refusal) = admitted {
            let refusal = self.report_refusal(refusal, &head, &Bytes::new());
            return self.send(head, self.closing(refusal), line);
        }
        let edge = self.clone();
        Reply::Later(Box::pin(async move {
            let Some(body) = edge.collect(body).await else {
                let refusal = edge.refuse(Some(&head), ErrorCode::Overloaded, FULL);
                return edge.send_late(head, edge.closing(refusal), line).await;
            };
            let response = match (body, admitted) {
                (Ok(bytes), Ok(admitted)) => edge.answer_in_turn(admitted, &head, bytes).await,
                (Ok(bytes), Err(refusal)) => edge.report_refusal(refusal, &head, &bytes),
                (Err(_), Err(refusal)) => {
                    edge.closing(edge.report_refusal(refusal, &head, &Bytes::new()))
                }
                (Err(unread), Ok(admitted)) => edge.refuse_unread(&head, unread, &admitted),
            };
            edge.send_late(head, response, line).await
        }))
    }

    /// Reads a body. A body that does not arrive at once needs a place for slow bodies; `None` if all places are
    /// taken.
    async fn collect(&self, body: Incoming) -> Option<Result<Bytes, Unread>> {
        let limits = self.shared.limits;
        if declares_more(&body, limits.body_bytes) {
            return Some(Err(Unread::TooLarge));
        }
        let mut reading = pin!(read(body, limits.body_bytes));
        let at_once = AT_ONCE.min(limits.body);
        if let Ok(read) = timeout(at_once, reading.as_mut()).await {
            return Some(read);
        }
        let _place = Place::take(&self.shared, self.peer)?;
        let rest = limits.body.saturating_sub(at_once);
        Some(timeout(rest, reading).await.unwrap_or(Err(Unread::TooSlow)))
    }

    /// Answers when it is the turn of the request in its world.
    async fn answer_in_turn(
        &self,
        mut admitted: A::Admitted,
        head: &Parts,
        body: Bytes,
    ) -> Response<Bytes> {
        let prepared = self.guarded(head, |engine| {
            engine.prepare(&mut admitted, head, &body);
            Ok(())
        });
        if let Err(refusal) = prepared {
            return refusal;
        }
        let turn = match self.shared.engine.turn(&admitted) {
            Some(Err(waiting)) => Some(waiting.await),
            turn => turn.and_then(Result::ok),
        };
        self.answer(admitted, head, body, turn)
    }

    fn answer(
        &self,
        admitted: A::Admitted,
        head: &Parts,
        body: Bytes,
        turn: Option<Turn>,
    ) -> Response<Bytes> {
        self.guarded(head, |engine| Ok(engine.answer(admitted, head, body, turn)))
            .unwrap_or_else(|refusal| refusal)
    }

    /// Calls the engine. A panic is a bug in one world: its request gets a 500, and the process continues.
    fn guarded<T>(
        &self,
        head: &Parts,
        call: impl FnOnce(&A) -> Result<T, Response<Bytes>>,
    ) -> Result<T, Response<Bytes>> {
        // Unwind safety: the engine undoes the step of a world that panicked, and shares no other mutable state.
        catch_unwind(AssertUnwindSafe(|| call(&self.shared.engine))).unwrap_or_else(|panic| {
            tracing::error!(
                method = %head.method,
                path = shown_path(head),
                panic = panic_text(panic.as_ref()),
                "a request failed because of a bug; its changes are undone"
            );
            Err(self.refuse(Some(head), ErrorCode::InternalError, BUG))
        })
    }

    fn send(&self, head: Parts, response: Response<Bytes>, line: AccessLogLine) -> Reply {
        let Transport { delay, lost, .. } = transport(&response);
        if delay.is_zero() && !lost && self.is_complete(&response) {
            return Reply::Now(Some(Ok(self.finish(&head, response, line))));
        }
        let edge = self.clone();
        Reply::Later(Box::pin(async move { edge.send_late(head, response, line).await }))
    }

    async fn send_late(
        &self,
        head: Parts,
        response: Response<Bytes>,
        line: AccessLogLine,
    ) -> Replied {
        let response = self.finished(&head, response).await;
        let response = self.durable(&head, response).await;
        let Transport { delay, lost, .. } = transport(&response);
        if !delay.is_zero() {
            let entry = response.extensions().get().cloned();
            delay::delay(delay, entry, &self.activity, self.shared.started).await;
        }
        let response = self.finish(&head, response, line);
        if lost { Err(Lost) } else { Ok(response) }
    }

    /// A reply that is not complete yet. Its request was accepted, so it continues if the caller disconnects.
    async fn finished(&self, head: &Parts, mut response: Response<Bytes>) -> Response<Bytes> {
        let Some(unfinished) = response.extensions_mut().remove::<Unfinished>() else {
            return response;
        };
        let finished = tokio::spawn(unfinished.finish(response)).await;
        finished.unwrap_or_else(|_| self.refuse(Some(head), ErrorCode::InternalError, BUG))
    }

    /// Whether there is nothing to wait for.
    fn is_complete(&self, response: &Response<Bytes>) -> bool {
        response.extensions().get::<Unfinished>().is_none() && self.is_durable(response)
    }

    fn is_durable(&self, response: &Response<Bytes>) -> bool {
        let ticket: Option<&Ticket> = response.extensions().get();
        let waits = self.shared.durable.as_ref().zip(ticket);
        waits.is_none_or(|(durable, ticket)| durable.has(ticket))
    }

    /// Delays a reply until its input is on disk. If the write fails, the reply is never sent.
    async fn durable(&self, head: &Parts, response: Response<Bytes>) -> Response<Bytes> {
        let ticket: Option<Ticket> = response.extensions().get().cloned();
        let Some((durable, ticket)) = self.shared.durable.as_ref().zip(ticket) else {
            return response;
        };
        match durable.wait(&ticket).await {
            Ok(()) => response,
            Err(unstored) => self.refuse(Some(head), unstored.code, unstored.why),
        }
    }

    /// Adds the headers of every reply, and ends the request.
    fn finish(
        &self,
        head: &Parts,
        mut response: Response<Bytes>,
        line: AccessLogLine,
    ) -> Response<Sent> {
        let headers = response.headers_mut();
        headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        self.shared.guard.cors.mark(head, headers);
        self.activity.replied();
        self.shared.metrics.count(line.place, response.status(), line.elapsed());
        #[cfg(feature = "otel")]
        telemetry::request(head, self.shared.metrics.name(line.place), &response, &line);
        line.end(head, &response);
        let delivery = transport(&response).body;
        with_body(response, delivery, self.shared.durable.as_ref(), &self.activity)
    }
}

/// The time in which the body of a usual request arrives.
const AT_ONCE: Duration = Duration::from_millis(50);

const BUG: &str = "this is a bug of the sandbox; the request changed nothing";
/// The text of the refusal by a full server.
pub(crate) const FULL: &str = "the sandbox has reached its limit of requests; try again soon";

fn transport(response: &Response<Bytes>) -> Transport {
    response.extensions().get().copied().unwrap_or_default()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

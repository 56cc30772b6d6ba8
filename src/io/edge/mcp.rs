//! `POST /_sandbox/mcp`: the tools for language models over HTTP. Calls by tools are passed to the engine with the
//! key of the message.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;
use tokio::runtime::Handle;

use crate::engine::{Replayed, Transport};
use crate::io::body::Unread;
use crate::io::edge::{BUG, Edge, FULL, Reply, transport};
use crate::io::handler::RequestHandler;
use crate::io::log::AccessLogLine;
use crate::render::mcp::{Answer, Call, Called, Calls, Headers};
use crate::value::{ErrorCode, Key};

/// The path of the tools.
pub(super) const PATH: &str = "/_sandbox/mcp";
/// The maximum time that a tool waits for a delayed reply. A later reply is lost, as for a client with a timeout.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Headers of a message that its calls get.
const PASSED_ON: [&str; 2] = ["authorization", "traceparent"];

impl<A: RequestHandler> Edge<A> {
    /// Answers a message. A tool may wait for its calls, so it has a thread of its own.
    pub(super) fn mcp(&self, head: Parts, body: Incoming, line: AccessLogLine) -> Reply {
        if head.method != Method::POST {
            let detail = "this path allows only POST";
            let mut refusal = self.refuse(Some(&head), ErrorCode::MethodNotAllowed, detail);
            refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            return self.send(head, self.closing(refusal), line);
        }
        let edge = self.clone();
        Reply::Later(Box::pin(async move {
            let response = match edge.collect(body).await {
                Some(Ok(message)) => edge.answered(&head, message).await,
                unread => edge.closing(edge.refuse_message(&head, unread)),
            };
            edge.send_late(head, response, line).await
        }))
    }

    fn refuse_message(
        &self,
        head: &Parts,
        unread: Option<Result<Bytes, Unread>>,
    ) -> Response<Bytes> {
        let (code, why) = match unread {
            Some(Err(Unread::TooLarge)) => (ErrorCode::PayloadTooLarge, "the message is too large"),
            Some(Err(Unread::TooSlow)) => {
                (ErrorCode::RequestTimeout, "the message was not complete in time")
            }
            Some(_) => (ErrorCode::InvalidHeader, "the message ends early"),
            None => (ErrorCode::Overloaded, FULL),
        };
        self.refuse(Some(head), code, why)
    }

    async fn answered(&self, head: &Parts, message: Bytes) -> Response<Bytes> {
        let caller = Caller { edge: self.clone(), headers: passed_on(&head.headers) };
        let own = head.headers.clone();
        let runtime = Handle::current();
        let answer = tokio::task::spawn_blocking(move || {
            let text = |name: &str| own.get(name).and_then(|value| value.to_str().ok());
            let headers = Headers {
                version: text("mcp-protocol-version"),
                method: text("mcp-method"),
                name: text("mcp-name"),
            };
            let calls = Blocking { caller: &caller, runtime: &runtime };
            caller.edge.shared.agents.answer(&message, headers, &calls)
        });
        let Ok(Answer { status, body }) = answer.await else {
            return self.refuse(Some(head), ErrorCode::InternalError, BUG);
        };
        let mut response = Response::new(Bytes::from(body.unwrap_or_default()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        if !response.body().is_empty() {
            let json = HeaderValue::from_static("application/json");
            response.headers_mut().insert(CONTENT_TYPE, json);
        }
        response
    }

    /// A call by a tool, processed like a request after the guard. `None` if a fault loses the reply.
    async fn call_inside(&self, head: &Parts, body: Bytes) -> Option<Response<Bytes>> {
        let response = match self.guarded(head, |engine| engine.admit(head)) {
            Ok(admitted) => self.answer(admitted, head, body, None),
            Err(refusal) => self.report_refusal(refusal, head, &body),
        };
        let response = self.finished(head, response).await;
        let mut response = self.durable(head, response).await;
        let Transport { delay, lost, body: delivery } = transport(&response);
        tokio::time::sleep(delay.min(TIMEOUT)).await;
        if lost || delay > TIMEOUT {
            return None;
        }
        if delivery == crate::engine::Delivery::Truncated {
            let half = response.body().slice(..response.body().len() / 2);
            *response.body_mut() = half;
        }
        Some(response)
    }
}

/// The headers that calls get from a message.
fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let named = headers.iter().filter(|(name, _)| PASSED_ON.contains(&name.as_str()));
    named.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The sender of a message.
struct Caller<A> {
    edge: Edge<A>,
    headers: HeaderMap,
}

/// Waits for calls on the thread of the tool.
struct Blocking<'a, A> {
    caller: &'a Caller<A>,
    runtime: &'a Handle,
}

impl<A: RequestHandler> Calls for Blocking<'_, A> {
    fn call(&self, call: &Call) -> Option<Called> {
        let request = Request::builder().method(call.method).uri(&call.target);
        let Ok(request) = request.body(()) else {
            return Some(unsendable(ErrorCode::HeadTooLarge, "an id or a filter is too long"));
        };
        let (mut head, ()) = request.into_parts();
        head.headers.clone_from(&self.caller.headers);
        if !call.body.is_empty() {
            head.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(key) = &call.idempotency_key {
            let Ok(value) = HeaderValue::try_from(key) else {
                let detail = "idempotency_key must have only visible characters";
                return Some(unsendable(ErrorCode::InvalidHeader, detail));
            };
            head.headers.insert("idempotency-key", value);
        }
        let body = Bytes::from(call.body.clone());
        let response = self.runtime.block_on(self.caller.edge.call_inside(&head, body))?;
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        Some(Called {
            status: response.status().as_u16(),
            retry_after: response.headers().get(RETRY_AFTER).and_then(text),
            replayed: response.extensions().get::<Replayed>().is_some(),
            body: response.into_body().to_vec(),
        })
    }

    fn caller(&self) -> u64 {
        let sent = self.caller.headers.get_all(AUTHORIZATION).iter();
        sent.fold(Key::new(0), |key, value| key.with_bytes(value.as_bytes())).hash()
    }
}

/// The reply to what no request can contain: nothing was sent.
fn unsendable(code: ErrorCode, detail: &str) -> Called {
    let body = json!({ "code": code.code(), "detail": detail }).to_string().into_bytes();
    Called { status: code.status(), body, ..Called::default() }
}

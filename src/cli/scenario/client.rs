//! The steps of a scenario as ordinary calls over loopback HTTP.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

use crate::api::operation::Operation;
use crate::scenario::{Came, Places, Reply, RowHits, Runner};
use crate::value::Span;

/// Longer than the longest latency of a scenario.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Events in each page.
const PAGE: usize = 100;

/// A client of a running server.
pub(in crate::cli) struct Client {
    runtime: Runtime,
    authority: String,
    /// The path before every route.
    base_path: String,
    /// The key of the world in which the steps act.
    key: String,
}

impl Client {
    /// A client of the server at this address: `host:port` and the base path.
    pub(in crate::cli) fn of(address: &str, key: &str) -> Result<Self, String> {
        let (authority, base_path) = address.split_at(address.find('/').unwrap_or(address.len()));
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self {
            runtime: runtime.map_err(|error| error.to_string())?,
            authority: authority.to_owned(),
            base_path: base_path.to_owned(),
            key: key.to_owned(),
        })
    }

    /// A call of the control plane, which must succeed: `data` of its reply.
    pub(super) fn control(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, String> {
        let reply = self.answered(method, path, body, &BTreeMap::new());
        reply.map(|mut reply| reply["data"].take())
    }

    fn answered(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Value, String> {
        succeeded(method, path, self.exchange(method, path, body, headers)?)
    }

    /// One exchange under the key.
    fn exchange(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String> {
        let authority = &*self.authority;
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base_path))
            .header(header::HOST, authority)
            .header(header::CONNECTION, "close");
        let own = |name: &str| headers.keys().any(|header| header.eq_ignore_ascii_case(name));
        if !own("authorization") {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", self.key));
        }
        if body.is_some() && !own("content-type") {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let bytes = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = request
            .body(Full::new(bytes))
            .map_err(|error| format!("{method} {path} cannot be sent: {error}"))?;
        let came = self
            .runtime
            .block_on(async { tokio::time::timeout(TIMEOUT, send(authority, request)).await });
        came.map_err(|_| format!("{method} {path} got no answer in time"))?
    }

    /// All rows of the list.
    pub(super) fn pages(&self, path: &str) -> Result<Vec<Value>, String> {
        let joined = if path.contains('?') { '&' } else { '?' };
        let mut all = Vec::new();
        for page in 1.. {
            let path = format!("{path}{joined}page={page}&per_page={PAGE}");
            let Value::Array(rows) = self.control("GET", &path, None)? else {
                return Err(format!("{path} answers without a list"));
            };
            let whole = rows.len() < PAGE;
            all.extend(rows);
            if whole {
                break;
            }
        }
        Ok(all)
    }
}

/// The body of a reply that must be a success.
fn succeeded(method: &str, path: &str, came: Came) -> Result<Value, String> {
    match came {
        Came::Reply(reply) if (200..300).contains(&reply.status) => Ok(reply.body),
        Came::Reply(reply) => {
            let why = reply.body["detail"].as_str().unwrap_or("without a reason");
            Err(format!("{method} {path} answers {}: {why}", reply.status))
        }
        Came::Lost => Err(format!("{method} {path} got no answer")),
    }
}

/// One exchange on its own connection.
async fn send(authority: &str, request: Request<Full<Bytes>>) -> Result<Came, String> {
    let unreachable = |error: std::io::Error| format!("cannot reach the server: {error}");
    let stream = TcpStream::connect(authority).await.map_err(unreachable)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    let driven = tokio::spawn(connection);
    let reply = async {
        let response = sender.send_request(request).await.ok()?;
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.ok()?.to_bytes();
        Some((head, bytes))
    };
    let reply = reply.await;
    driven.abort();
    let Some((head, bytes)) = reply else {
        return Ok(Came::Lost);
    };
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = head.headers.iter();
    Ok(Came::Reply(Reply {
        status: head.status.as_u16(),
        headers: headers.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect(),
        body: serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes).into_owned())),
    }))
}

impl Runner for Client {
    fn call(
        &mut self,
        operation: &'static Operation,
        input: &Map<String, Value>,
        headers: &BTreeMap<String, String>,
    ) -> Result<Came, String> {
        let (path, body) = request_line(operation, input);
        let method = operation.method.name();
        self.exchange(method, &path, body.as_ref(), headers)
    }

    fn nth(&mut self, kind: &str, places: Places, place: u64) -> Result<Option<String>, String> {
        if let Places::Listed(list) = places {
            let path = format!("{}?page={place}&per_page=1", list.path);
            let observer = BTreeMap::from([("Sandbox-Observer".to_owned(), "1".to_owned())]);
            let page = self.answered("GET", &path, None, &observer)?;
            return Ok(page["data"][0]["id"].as_str().map(str::to_owned));
        }
        let path =
            format!("/_sandbox/events?type={kind}.created&page={place}&per_page=1&sort=sequence");
        let page = self.answered("GET", &path, None, &BTreeMap::new())?;
        Ok(page["data"][0]["data"]["object"]["id"].as_str().map(str::to_owned))
    }

    fn external(&mut self, name: &str) -> Result<Result<String, String>, String> {
        let path = format!("/_sandbox/external-ids?reference={}", encoded(name));
        match self.exchange("GET", &path, None, &BTreeMap::new())? {
            Came::Reply(reply) if reply.status == 404 => {
                Ok(Err(reply.body["detail"].as_str().unwrap_or("no value").to_owned()))
            }
            came => {
                let found = succeeded("GET", &path, came)?;
                Ok(found["data"][0]["id"]
                    .as_str()
                    .map_or_else(|| Err("no value".to_owned()), |id| Ok(id.to_owned())))
            }
        }
    }

    fn advance(&mut self, by: Span) -> Result<(), String> {
        let body = json!({ "by": by, "events_limit": 0 });
        self.control("POST", "/_sandbox/clock/advance", Some(&body))?;
        Ok(())
    }

    fn idle(&mut self) -> Result<(), String> {
        let body = json!({ "until": "idle", "events_limit": 0 });
        self.control("POST", "/_sandbox/clock/advance", Some(&body))?;
        Ok(())
    }

    fn events(&mut self) -> Result<Vec<Value>, String> {
        self.pages("/_sandbox/events?sort=sequence")
    }

    /// Only a server of this process has a receiver.
    fn deliveries(&mut self, _: &BTreeMap<String, u64>) -> Result<BTreeMap<String, u64>, String> {
        Ok(BTreeMap::new())
    }

    fn coverage(&mut self) -> Result<Vec<RowHits>, String> {
        let answer = self.control("GET", "/_sandbox/scenarios/coverage", None)?;
        let rows = answer["rows"].as_array().into_iter().flatten();
        let hits = rows.map(|row| RowHits {
            source: row["source"].as_str().unwrap_or_default().to_owned(),
            hits: row["hits"].as_u64().unwrap_or(0),
            refused: row["refused"].as_str().map(str::to_owned),
        });
        Ok(hits.collect())
    }
}

/// Path, query and body of an input. The path takes its own members, and the body or the query takes all
/// others.
fn request_line(operation: &Operation, input: &Map<String, Value>) -> (String, Option<Value>) {
    let mut rest = input.clone();
    let mut path = operation.path.to_owned();
    for name in operation.path_parameters() {
        let value = rest.shift_remove(name).unwrap_or_default();
        path = path.replace(&format!("{{{name}}}"), &encoded(&plain(&value)));
    }
    if operation.method.has_body() {
        return (path, Some(Value::Object(rest)));
    }
    for (place, (name, value)) in rest.iter().enumerate() {
        let mark = if place == 0 { '?' } else { '&' };
        let _ = write!(path, "{mark}{}={}", encoded(name), encoded(&plain(value)));
    }
    (path, None)
}

/// All characters that a URL must escape.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// A value in the form of a path or query.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::{BLANK, Method};

    #[test]
    fn members_go_into_the_path_the_query_or_the_body() {
        let input = json!({ "a": "x/y", "b": [1, 2], "c_d": "é" });
        let input = input.as_object().expect("an object");
        let read = Operation { path: "/p/{a}/q", ..BLANK };
        let (path, body) = request_line(&read, input);
        assert_eq!((path.as_str(), body), ("/p/x%2Fy/q?b=1%2C2&c_d=%C3%A9", None));
        let write = Operation { method: Method::Post, ..read };
        let (path, body) = request_line(&write, input);
        assert_eq!(path, "/p/x%2Fy/q");
        assert_eq!(body, Some(json!({ "b": [1, 2], "c_d": "é" })));
    }
}

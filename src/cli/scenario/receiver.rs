//! A receiver of webhooks that accepts all and counts them by event type.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Empty};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

type Counts = BTreeMap<String, u64>;

/// A running receiver; it stops when it is dropped.
pub(super) struct Receiver {
    url: String,
    arrived: Arc<Arrived>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Arrived {
    counts: Mutex<Counts>,
    changed: Condvar,
}

impl Receiver {
    /// Starts one on a free port.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let url = format!("http://{}/", listener.local_addr()?);
        let arrived = Arc::new(Arrived::default());
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&arrived);
        let thread = std::thread::Builder::new().name("receiver".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, shared) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { url, arrived, stop: Some(stop), thread: Some(thread) })
    }

    /// The address on which it listens.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the counts as soon as they reach the wanted ones, or after `patience`.
    pub(super) fn wait(&self, wanted: &Counts, patience: Duration) -> Counts {
        let counts = self.arrived.counts.lock();
        let counts = counts.unwrap_or_else(PoisonError::into_inner);
        let short = |counts: &mut Counts| {
            wanted.iter().any(|(name, wanted)| counts.get(name).copied().unwrap_or(0) < *wanted)
        };
        let reached = self.arrived.changed.wait_timeout_while(counts, patience, short);
        reached.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An error means that the thread has already ended.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // The thread's own panic message was already printed.
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, arrived: Arc<Arrived>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let arrived = Arc::clone(&arrived);
        tokio::spawn(async move {
            let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
                let arrived = Arc::clone(&arrived);
                async move {
                    let body = request.into_body().collect().await;
                    if let Ok(body) = body {
                        arrived.count(&body.to_bytes());
                    }
                    Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
                }
            });
            // A sender that disconnects in the middle has delivered nothing.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

impl Arrived {
    fn count(&self, body: &[u8]) {
        let Some(name) = kind(body) else {
            return;
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name).or_default() += 1;
        self.changed.notify_all();
    }
}

/// The event type. It is also found in the received part of a truncated body.
fn kind(body: &[u8]) -> Option<String> {
    if let Ok(event) = serde_json::from_slice::<serde_json::Value>(body) {
        return event["type"].as_str().map(str::to_owned);
    }
    let text = String::from_utf8_lossy(body);
    let (_, rest) = text.split_once("\"type\":\"")?;
    let (name, _) = rest.split_once('"')?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn a_cut_body_is_counted_by_its_type() {
        assert_eq!(kind(br#"{"type":"a.b"}"#).as_deref(), Some("a.b"));
        assert_eq!(kind(br#"{"id":1,"type":"a.b","da"#).as_deref(), Some("a.b"));
        assert_eq!(kind(b"zzz"), None);
    }

    #[test]
    fn received_deliveries_are_counted_and_awaited() {
        let receiver = Receiver::start().expect("a port is free");
        let authority = receiver.url().trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(authority).expect("it listens");
        let body = r#"{"type":"a.b"}"#;
        let head = format!(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).expect("sent");
        let wanted: Counts = [("a.b".to_owned(), 1)].into();
        assert_eq!(receiver.wait(&wanted, Duration::from_secs(60)), wanted);
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("answered");
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        let more: Counts = [("a.b".to_owned(), 2)].into();
        assert_eq!(receiver.wait(&more, Duration::ZERO), wanted);
    }
}

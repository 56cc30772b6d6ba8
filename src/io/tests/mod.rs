//! Tests of this layer over real sockets, with an engine of a few routes instead of the product's.
//!
//! The tests use raw sockets, because a client library would hide the checked bytes.

mod ends;
mod form;
mod size;
mod time;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};

use crate::engine::{Transport, Turn};
use crate::io::background::Background;
use crate::io::handler::RequestHandler;
use crate::io::limits::Limits;
use crate::io::server::ServerConfig;
use crate::value::ErrorCode;

/// Long enough that no test reaches it, and short enough that a hanging test fails.
const TIMEOUT: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(150);

/// The routes of the tests.
struct Routes;

impl RequestHandler for Routes {
    type Admitted = ();

    fn admit(&self, head: &Parts) -> Result<(), Response<Bytes>> {
        match head.uri.path() {
            "/missing" => Err(reply(404, "{\"code\":\"route_not_found\"}")),
            "/panic-early" => panic!("a bug before the body"),
            _ => Ok(()),
        }
    }

    fn answer(&self, (): (), head: &Parts, body: Bytes, _: Option<Turn>) -> Response<Bytes> {
        let later = |delay, lost| {
            let mut response = reply(200, "late");
            let transport = Transport { delay, lost, ..Transport::default() };
            response.extensions_mut().insert(transport);
            response
        };
        match head.uri.path() {
            "/echo" | "/_sandbox/echo" => Response::new(body),
            "/big" => Response::new(Bytes::from(vec![b'x'; 300_000])),
            "/panic" => panic!("a bug with the body"),
            "/slow" => later(Duration::from_millis(300), false),
            "/lost" => later(Duration::ZERO, true),
            _ => reply(200, &format!("{} {}", head.method, head.uri.path())),
        }
    }

    fn refuse(&self, _: Option<&Parts>, code: ErrorCode, detail: &str) -> Response<Bytes> {
        reply(code.status(), &format!("{{\"code\":\"{}\",\"detail\":\"{detail}\"}}", code.code()))
    }
}

fn reply(status: u16, body: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::copy_from_slice(body.as_bytes()));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status of the test");
    response
}

fn start(limits: Limits) -> Background {
    start_with(ServerConfig { limits, ..ServerConfig::default() })
}

fn start_with(config: ServerConfig) -> Background {
    Background::start(config, Arc::new(Routes)).expect("a free port")
}

/// The client side of a connection.
struct Client(BufReader<TcpStream>);

/// A received reply.
#[derive(Debug)]
struct Got {
    status: u16,
    head: String,
    body: String,
}

impl Got {
    fn has(&self, header: &str) -> bool {
        self.head.to_ascii_lowercase().contains(&format!("\r\n{header}\r\n"))
    }
}

impl Client {
    fn to(server: &Background) -> Self {
        Self::at(server.addresses()[0])
    }

    fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket option");
        Self(BufReader::new(stream))
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.0.get_mut().write_all(bytes.as_ref()).expect("the server takes it");
        self
    }

    fn get(&mut self, path: &str) -> Got {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")).read()
    }

    /// Reads a reply with a body of the length in `content-length`.
    fn read(&mut self) -> Got {
        let mut got = self.read_head();
        let lower = got.head.to_ascii_lowercase();
        let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
        let length = length.map_or(0, |length| length.parse().expect("a length"));
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("the whole body");
        got.body = String::from_utf8(body).expect("text");
        got
    }

    fn read_head(&mut self) -> Got {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.0.read_line(&mut head).expect("a line of the head");
            assert_ne!(read, 0, "closed after {head:?}");
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Got { status: status.expect("a status"), head, body: String::new() }
    }

    /// Waits for the end of the connection. Returns the time until then and the bytes before it. A reset is
    /// an end, too.
    fn closed_after(&mut self) -> (Duration, Vec<u8>) {
        let (started, mut rest) = (Instant::now(), Vec::new());
        if let Err(error) = self.0.read_to_end(&mut rest) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "still open: {error}");
        }
        (started.elapsed(), rest)
    }
}

fn post(path: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n")
}

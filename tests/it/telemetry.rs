//! OpenTelemetry, with the feature `otel`: `cargo test --features otel --test it telemetry::`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use crate::harness::http::Request;
use crate::harness::{Server, command, finish};

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A collector that passes on the received requests one after another.
fn collector() -> (u16, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut bytes, mut buffer) = (stream.unwrap(), Vec::new(), [0; 4_096]);
            loop {
                let count = stream.read(&mut buffer).unwrap();
                bytes.extend_from_slice(&buffer[..count]);
                let head = bytes.windows(4).position(|window| window == b"\r\n\r\n");
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let length =
                    text.split("Content-Length: ").nth(1).and_then(|rest| rest.lines().next());
                let length: Option<usize> = length.and_then(|length| length.parse().ok());
                if count == 0
                    || head
                        .zip(length)
                        .is_some_and(|(head, length)| bytes.len() >= head + 4 + length)
                {
                    break;
                }
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            if send.send(bytes).is_err() {
                return;
            }
        }
    });
    (port, receive)
}

#[test]
fn a_collector_gets_a_span_of_each_request_below_that_of_the_caller() {
    let (port, received) = collector();
    let mut with_collector = command(&["--port", "0", "--quiet"]);
    with_collector.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://127.0.0.1:{port}"));
    let server = Server::spawn(&mut with_collector);
    let request = Request::new("GET", "/api/business/employees?q=hidden").key("test_hidden");
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    request.header("traceparent", trace).send(server.port()).expect(200);
    server.end();
    let sent = received.recv().unwrap();
    assert!(
        sent.starts_with(b"POST /v1/traces HTTP/1.1\r\n"),
        "{}",
        String::from_utf8_lossy(&sent)
    );
    let trace: Vec<u8> =
        (0..16).map(|at| u8::from_str_radix(&trace[3 + 2 * at..5 + 2 * at], 16).unwrap()).collect();
    for part in
        [&trace[..], b"GET listEmployees", b"/api/business/employees", b"service.name", b"sandbox"]
    {
        assert!(has(&sent, part), "{}", String::from_utf8_lossy(part));
    }
    assert!(!has(&sent, b"hidden"), "a span has no key and no query");
}

#[test]
fn a_collector_with_tls_is_refused() {
    let mut secure = command(&["--port", "0"]);
    let ended = finish(secure.env("OTEL_EXPORTER_OTLP_ENDPOINT", "https://localhost:4318"));
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("there is no TLS"), "{ended:?}");
}

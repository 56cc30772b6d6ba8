//! Tests of the time limits.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::io::limits::Limits;
use crate::io::tests::{Client, SHORT, post, start};

#[test]
fn a_slow_head_is_cut_off_even_if_bytes_keep_arriving() {
    let server = start(Limits { head: SHORT, ..Limits::default() });
    let mut client = Client::to(&server);
    client.send("GET /a HTTP/1.1\r\nhost: local");
    let (took, rest) = client.closed_after();
    assert!(took >= SHORT * 9 / 10 && took < SHORT * 10, "{took:?}");
    assert!(rest.is_empty());

    let mut client = Client::to(&server);
    let started = Instant::now();
    let drips = b"GET /a HTTP/1.1\r\nhost: localhost\r\nx-drip: ".iter().cycle();
    for byte in drips {
        if client.0.get_mut().write_all(&[*byte]).is_err() {
            break;
        }
        assert!(started.elapsed() < SHORT * 20, "single bytes keep the connection open");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_connection_without_a_request_is_cut_off() {
    let server = start(Limits { head: SHORT, ..Limits::default() });
    let (took, _) = Client::to(&server).closed_after();
    assert!(took < SHORT * 10, "{took:?}");
}

#[test]
fn an_idle_connection_is_kept_longer_than_a_slow_head() {
    let idle = SHORT * 4;
    let server = start(Limits { head: SHORT, idle, ..Limits::default() });
    let mut client = Client::to(&server);
    assert_eq!(client.get("/a").status, 200);
    std::thread::sleep(SHORT * 2);
    assert_eq!(client.get("/b").body, "GET /b");
    let (took, _) = client.closed_after();
    assert!(took >= idle * 9 / 10 && took < idle * 5, "{took:?}");

    // The limit of the head also applies to a persistent connection.
    let mut client = Client::to(&server);
    client.get("/a");
    client.send("GET /b");
    let (took, _) = client.closed_after();
    assert!(took >= SHORT * 9 / 10 && took < idle, "{took:?}");
}

#[test]
fn a_slow_body_is_refused_with_408() {
    let server = start(Limits { body: SHORT, ..Limits::default() });
    let mut client = Client::to(&server);
    let got = client.send(post("/echo", 100)).send("only this").read();
    assert_eq!(got.status, 408, "{got:?}");
    assert!(got.has("connection: close") && got.body.contains("request_timeout"), "{got:?}");
    drop(client.0.get_mut().shutdown(std::net::Shutdown::Write));
    assert!(client.closed_after().1.is_empty());
}

#[test]
fn a_client_that_reads_no_reply_is_cut_off() {
    let server = start(Limits { idle: SHORT, ..Limits::default() });
    let mut client = Client::to(&server);
    // Far more than the kernel buffers, in one burst.
    client.send("GET /big HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100));
    std::thread::sleep(SHORT * 6);
    let (_, rest) = client.closed_after();
    assert!(rest.len() < 100 * 300_000, "{} bytes were buffered for it", rest.len());
}

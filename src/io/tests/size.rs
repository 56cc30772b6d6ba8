//! Tests of the limits of size and number.

use std::io::{BufRead, Write};

use crate::io::limits::Limits;
use crate::io::tests::{Client, post, start};

#[test]
fn a_large_body_is_refused_with_413() {
    let server = start(Limits::default());
    let body = vec![b'x'; 2 * 1024 * 1024];
    let mut client = Client::to(&server);
    let got = client.send(post("/echo", body.len())).send(&body).read();
    assert_eq!(got.status, 413, "{got:?}");
    assert!(got.has("connection: close") && got.body.contains("payload_too_large"), "{got:?}");

    let mut client = Client::to(&server);
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    for chunk in body.chunks(64 * 1024) {
        client.send(format!("{:x}\r\n", chunk.len())).send(chunk).send("\r\n");
    }
    let got = client.send("0\r\n\r\n").read();
    assert_eq!(got.status, 413, "{got:?}");
    assert!(got.has("connection: close"), "{got:?}");
}

#[test]
fn a_body_of_exactly_the_limit_is_accepted() {
    let server = start(Limits { body_bytes: 100_000, ..Limits::default() });
    let mut client = Client::to(&server);
    let body = "y".repeat(100_000);
    assert_eq!(client.send(post("/echo", body.len())).send(&body).read().body, body);
    client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..10 {
        client.send(format!("2710\r\n{}\r\n", &body[..10_000]));
    }
    assert_eq!(client.send("0\r\n\r\n").read().body, body);
    assert_eq!(client.send(post("/echo", 100_001)).send(&body).read().status, 413);
}

#[test]
fn a_large_head_is_refused_with_431() {
    let server = start(Limits::default());
    let fields = |count: usize| {
        use std::fmt::Write;
        let mut head = "GET /a HTTP/1.1\r\nhost: localhost\r\n".to_owned();
        for number in 1..count {
            write!(head, "x-{number}: y\r\n").expect("a string grows");
        }
        head + "\r\n"
    };
    assert_eq!(Client::to(&server).send(fields(100)).read().status, 200);
    let refused = Client::to(&server).send(fields(101)).read();
    assert_eq!(refused.status, 431);
    assert!(refused.body.contains("16384 bytes or 100 fields"), "{refused:?}");
    let long =
        |bytes| format!("GET /a HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(bytes));
    assert_eq!(Client::to(&server).send(long(16_000)).read().status, 200);
    assert_eq!(Client::to(&server).send(long(17 * 1024)).read_head().status, 431);
    let endless = format!("GET /a HTTP/1.1\r\nhost: localhost\r\nx: {}", "y".repeat(17 * 1024));
    let refused = Client::to(&server).send(endless).read();
    assert_eq!(refused.status, 431);
    assert!(refused.body.contains("head_too_large"), "{refused:?}");
}

#[test]
fn a_refusal_of_the_parser_has_a_body_also_after_other_replies() {
    let server = start(Limits::default());
    let good = "GET /a HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for broken in ["GET /a b HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\n: x\r\n\r\n", "\0\r\n\r\n"] {
        let mut client = Client::to(&server);
        client.send(format!("{good}{good}{broken}"));
        assert_eq!((client.read().status, client.read().status), (200, 200));
        let refused = client.read();
        assert_eq!(refused.status, 400, "{broken:?}: {refused:?}");
        assert!(refused.body.contains("invalid_header"), "{refused:?}");
        assert!(refused.has("connection: close"), "{refused:?}");
        assert!(client.closed_after().1.is_empty());
    }
}

#[test]
fn a_connection_beyond_the_limit_gets_503() {
    let server = start(Limits { connections: 2, ..Limits::default() });
    let (mut one, mut two) = (Client::to(&server), Client::to(&server));
    assert_eq!((one.get("/a").status, two.get("/a").status), (200, 200));
    let mut three = Client::to(&server);
    let got = three.read();
    assert_eq!(got.status, 503, "{got:?}");
    assert!(got.has("connection: close"), "{got:?}");
    assert!(three.closed_after().1.is_empty());
    drop(two);
    assert_eq!(one.get("/a").status, 200);
    // The server notices the end of the second one before it accepts a fourth, or soon after.
    let admitted = (0..200).any(|_| {
        let mut client = Client::to(&server);
        let request = "GET /a HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let sent = client.0.get_mut().write_all(request.as_bytes()).is_ok();
        let mut line = String::new();
        let read = client.0.read_line(&mut line);
        sent && read.is_ok() && line.contains("200")
    });
    assert!(admitted, "the returned place is never used");
}

#[test]
fn requests_beyond_the_limit_get_503() {
    let server = start(Limits { in_flight: 1, ..Limits::default() });
    let mut first = Client::to(&server);
    first.send("POST /echo HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    assert_eq!(first.read_head().status, 100); // it waits for its body now
    let mut second = Client::to(&server);
    // A body that arrives at once needs no place.
    assert_eq!(Client::to(&server).send(post("/echo", 2)).send("ok").read().body, "ok");
    let got = second.send(post("/echo", 2)).read();
    assert_eq!(got.status, 503, "{got:?}");
    assert!(got.body.contains("overloaded"), "{got:?}");
    assert_eq!(Client::to(&server).get("/a").status, 200, "a request that cannot wait is served");
    assert_eq!(first.send("ok").read().body, "ok");
    assert_eq!(Client::to(&server).send(post("/echo", 2)).send("ok").read().body, "ok");
}

/// The server listens on both loopback addresses, which are two peers.
#[test]
fn slow_bodies_of_one_peer_do_not_refuse_others() {
    let server = start(Limits { in_flight: 4, ..Limits::default() });
    let [four, six] = server.addresses() else { return }; // a machine without IPv6
    let slow = |at| {
        let mut client = Client::at(at);
        client.send("POST /echo HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
        assert_eq!(client.read_head().status, 100);
        client
    };
    let mut held: Vec<_> = (0..3).map(|_| slow(*four)).collect();
    let mut beyond = slow(*four);
    assert_eq!(beyond.read().status, 503, "a peer has three quarters of the places");
    let mut other = slow(*six);
    assert_eq!(Client::at(*four).send(post("/echo", 2)).send("ok").read().body, "ok");
    for client in held.iter_mut().chain([&mut other]) {
        assert_eq!(client.send("ok").read().body, "ok");
    }
}

#[test]
fn a_peer_has_three_quarters_of_the_connections() {
    let server = start(Limits { connections: 4, ..Limits::default() });
    let [four, six] = server.addresses() else { return }; // a machine without IPv6
    let mut held: Vec<_> = (0..3).map(|_| Client::at(*four)).collect();
    assert!(held.iter_mut().all(|client| client.get("/a").status == 200));
    assert_eq!(Client::at(*four).read().status, 503);
    assert_eq!(Client::at(*six).get("/a").status, 200);
}

//! Tests of the form of requests and replies.

use std::time::Duration;

use crate::io::limits::Limits;
use crate::io::server::ServerConfig;
use crate::io::tests::{Client, post, start, start_with};

#[test]
fn a_missing_or_doubled_host_is_refused() {
    let server = start(Limits::default());
    let status = |head: &str| Client::to(&server).send(head).read().status;
    assert_eq!(status("GET /a HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status("GET /a HTTP/1.1\r\nhost: localhost\r\nHost: localhost\r\n\r\n"), 400);
    assert_eq!(status("GET /a HTTP/1.1\r\nhost: \r\n\r\n"), 400);
    assert_eq!(status("GET /a HTTP/1.0\r\n\r\n"), 200);
    assert_eq!(status("GET /a HTTP/1.0\r\nhost: a.com\r\nhost: b.com\r\n\r\n"), 400);
}

#[test]
fn a_foreign_host_is_misdirected_and_the_refusal_names_the_flag() {
    let server = start(Limits::default());
    let got = Client::to(&server).send("GET /missing HTTP/1.1\r\nhost: evil.com\r\n\r\n").read();
    assert_eq!(got.status, 421);
    assert!(got.body.contains("--allowed-host"), "{got:?}");
    let allowed = vec!["sandbox.example.com".to_owned()];
    let server = start_with(ServerConfig { allowed_hosts: allowed, ..ServerConfig::default() });
    let head = "GET /a HTTP/1.1\r\nhost: Sandbox.Example.com:80\r\n\r\n";
    assert_eq!(Client::to(&server).send(head).read().status, 200);
}

#[test]
fn an_absolute_target_is_served() {
    let server = start(Limits::default());
    let head = |target| format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(Client::to(&server).send(head("http://127.0.0.1/a?b=c")).read().body, "GET /a");
    assert_eq!(Client::to(&server).send(head("http://evil.com/a")).read().status, 421);
}

#[test]
fn head_is_answered_as_get_without_the_body() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    let head = client.send("HEAD /a HTTP/1.1\r\nhost: localhost\r\n\r\n").read_head();
    assert_eq!(head.status, 200);
    assert!(head.has("content-length: 6"), "{head:?}");
    assert_eq!(client.get("/b").body, "GET /b", "no byte of a body stands between");
}

#[test]
fn expect_continue_is_answered_before_the_body_and_only_on_request() {
    let server = start(Limits::default());
    let head = |path: &str, length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let mut client = Client::to(&server);
    assert_eq!(client.send(head("/echo", 5)).read_head().status, 100);
    assert_eq!(client.send("hello").read().body, "hello");
    assert_eq!(Client::to(&server).send(head("/missing", 5)).read().status, 404);
    assert_eq!(Client::to(&server).send(head("/echo", 9_999_999)).read().status, 413);
}

#[test]
fn a_refusal_reads_a_small_body_and_keeps_the_connection() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    client.send(post("/missing", 5));
    std::thread::sleep(Duration::from_millis(20)); // many clients send head and body separately
    assert_eq!(client.send("12345").read().status, 404);
    assert_eq!(client.get("/a").status, 200);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    let get = |path| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    client.send(get("/1") + &post("/echo", 1) + "2" + &get("/3") + &get("/slow") + &get("/5"));
    let bodies: Vec<String> = (0..5).map(|_| client.read().body).collect();
    assert_eq!(bodies, ["GET /1", "2", "GET /3", "late", "GET /5"]);
}

#[test]
fn a_thousand_pipelined_requests_are_answered_in_order() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    let all: Vec<String> =
        (0..1_000).map(|n| format!("GET /{n} HTTP/1.1\r\nhost: localhost\r\n\r\n")).collect();
    client.send(all.concat());
    for number in 0..1_000 {
        assert_eq!(client.read().body, format!("GET /{number}"));
    }
}

#[test]
fn an_incomplete_request_does_not_delay_the_replies_before_it() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    let get = |path| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    client.send(get("/1") + &get("/2") + &get("/3") + "GET /4 HTT");
    let bodies: Vec<String> = (0..3).map(|_| client.read().body).collect();
    assert_eq!(bodies, ["GET /1", "GET /2", "GET /3"]);
    assert_eq!(client.send("P/1.1\r\nhost: localhost\r\n\r\n").read().body, "GET /4");
    client.send(get("/5") + &get("/6") + &post("/echo", 4) + "ha");
    assert_eq!((client.read().body, client.read().body), ("GET /5".into(), "GET /6".into()));
    assert_eq!(client.send("lf").read().body, "half");
}

#[test]
fn bytes_after_a_closing_request_do_not_remove_its_reply() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    client.send("GET /a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\nGET /b HT");
    assert_eq!(client.read().body, "GET /a");
    client.closed_after();
}

#[test]
fn a_client_that_shuts_its_sending_side_gets_its_reply() {
    let server = start(Limits::default());
    let ended = |path: &str| {
        let mut client = Client::to(&server);
        client.send(post(path, 2) + "ok");
        client.0.get_mut().shutdown(std::net::Shutdown::Write).expect("a socket option");
        client
    };
    assert_eq!(ended("/echo").read().body, "ok");
    // An injected delay ends when the client leaves, which looks the same.
    assert_eq!(ended("/slow").closed_after().1, b"");
}

#[test]
fn garbage_closes_the_connection_and_the_server_continues() {
    let server = start(Limits::default());
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut client = Client::to(&server);
        let (_, rest) = client.send(garbage).closed_after();
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 400 "), "{rest:?}");
    }
    let broken =
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n";
    assert_eq!(Client::to(&server).send(broken).read().status, 400);
    assert_eq!(Client::to(&server).get("/a").status, 200);
}

#[test]
fn every_reply_forbids_sniffing() {
    let server = start(Limits::default());
    for path in ["/a", "/missing", "/panic", "/slow"] {
        assert!(Client::to(&server).get(path).has("x-content-type-options: nosniff"), "{path}");
    }
}

#[test]
fn a_browser_is_answered_by_the_rules_of_cors() {
    let cors_origins = vec!["http://app.test".to_owned()];
    let server = start_with(ServerConfig { cors_origins, ..ServerConfig::default() });
    let ask = |origin: &str| {
        let head = format!(
            "OPTIONS /a HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\naccess-control-request-method: POST\r\naccess-control-request-headers: authorization\r\n\r\n"
        );
        Client::to(&server).send(head).read()
    };
    let got = ask("http://app.test");
    assert_eq!(got.status, 204);
    assert!(got.has("access-control-allow-origin: http://app.test"), "{got:?}");
    assert!(got.has("access-control-allow-headers: authorization"), "{got:?}");
    let got = ask("http://evil.test");
    assert_eq!(got.body, "OPTIONS /a", "the engine decides");
    assert!(!got.head.contains("access-control-allow"), "{got:?}");
    let head = "POST /_sandbox/echo HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.test\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(Client::to(&server).send(head).read().status, 403);
}

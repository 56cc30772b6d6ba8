//! Tests of bugs, faults, addresses and the end of the server.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::io::background::Background;
use crate::io::limits::Limits;
use crate::io::server::{Bound, Ended, Server, ServerConfig};
use crate::io::tests::{Client, Routes, SHORT, post, start, start_with};

#[test]
fn a_panic_is_a_500_for_its_request_alone() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    for path in ["/panic", "/panic-early"] {
        let got = client.get(path);
        assert_eq!(got.status, 500);
        assert!(got.body.contains("internal_error"), "{got:?}");
    }
    assert_eq!(client.send(post("/panic", 2)).send("ok").read().status, 500);
    assert_eq!(client.get("/a").status, 200);
}

#[test]
fn a_lost_reply_is_a_closed_connection() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    client.send("GET /lost HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(client.closed_after().1.is_empty());
    assert_eq!(Client::to(&server).get("/a").status, 200);
}

#[test]
fn a_persistent_connection_is_reused() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    for number in 0..50 {
        let path = format!("/{number}");
        assert_eq!(client.get(&path).body, format!("GET {path}"));
    }
}

/// A server on the runtime of this test, with its end and the reason of it.
///
/// The server keeps the value of `meanwhile` until its end.
fn serve_until_stopped<T>(
    limits: Limits,
    meanwhile: impl FnOnce(SocketAddr, &dyn Fn()) -> T,
) -> (Ended, Duration) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime for a test");
    let config = ServerConfig { limits, ..ServerConfig::default() };
    let bound: Bound<Routes> =
        runtime.block_on(Server::bind(&config, Arc::new(Routes))).expect("a free port");
    let address = bound.addresses()[0];
    let stop = tokio::sync::Notify::new();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| {
            let ended = runtime.block_on(bound.serve(stop.notified()));
            (ended, Instant::now())
        });
        let kept = meanwhile(address, &|| stop.notify_one());
        let asked = Instant::now();
        let (ended, at) = server.join().expect("the server does not panic");
        drop(kept);
        (ended, at.saturating_duration_since(asked))
    })
}

#[test]
fn a_graceful_end_finishes_requests_in_flight_and_accepts_nothing_new() {
    let (ended, _) = serve_until_stopped(Limits::default(), |address, stop| {
        let (mut busy, mut idle) = (Client::at(address), Client::at(address));
        assert_eq!(idle.get("/a").status, 200);
        assert_eq!(busy.get("/a").status, 200);
        busy.send("GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n");
        std::thread::sleep(Duration::from_millis(100)); // the server has received the request
        stop();
        assert!(
            idle.closed_after().0 < Duration::from_millis(200),
            "an idle connection is closed at once"
        );
        assert!(TcpStream::connect(address).is_err(), "no new connection is accepted");
        let got = busy.read();
        assert_eq!((got.status, got.body.as_str()), (200, "late"));
        assert!(busy.closed_after().1.is_empty());
    });
    assert_eq!(ended, Ended::Drained);
}

#[test]
fn a_graceful_end_has_a_time_limit() {
    let limits = Limits { drain: SHORT, ..Limits::default() };
    let (ended, took) = serve_until_stopped(limits, |address, stop| {
        let mut stuck = Client::at(address);
        stuck.send(post("/echo", 5));
        std::thread::sleep(Duration::from_millis(50));
        stop();
        stuck
    });
    assert_eq!(ended, Ended::Cut);
    assert!(took < SHORT * 10, "{took:?}");
}

#[test]
fn a_busy_port_is_named() {
    let server = start(Limits::default());
    let port = server.addresses()[0].port();
    let config = ServerConfig { port, ..ServerConfig::default() };
    let error = Background::start(config, Arc::new(Routes)).expect_err("the port is taken");
    assert!(error.to_string().contains(&format!("127.0.0.1:{port}")), "{error}");
}

#[test]
fn an_address_open_to_other_machines_needs_a_token_or_a_flag() {
    let config = ServerConfig { host: Some("0.0.0.0".into()), ..ServerConfig::default() };
    let error =
        Background::start(config.clone(), Arc::new(Routes)).expect_err("nothing protects it");
    assert!(error.to_string().contains("--insecure-no-auth"), "{error}");
    let server = start_with(ServerConfig { admin_token: Some("t".into()), ..config });
    assert!(server.url().starts_with("http://127.0.0.1:"), "{}", server.url());
    let port = server.addresses()[0].port();
    let got = Client::at(([127, 0, 0, 1], port).into()).get("/_sandbox/echo");
    assert_eq!(got.status, 401);
}

#[test]
fn both_loopback_addresses_share_a_port() {
    let server = start(Limits::default());
    let ports: Vec<u16> = server.addresses().iter().map(SocketAddr::port).collect();
    assert!(ports.iter().all(|port| *port == ports[0]), "{ports:?}");
    for address in server.addresses() {
        assert_eq!(Client::at(*address).get("/a").status, 200, "{address}");
    }
}

#[test]
fn a_dropped_handle_frees_its_port() {
    let server = start(Limits::default());
    let mut client = Client::to(&server);
    client.get("/a");
    let address = server.addresses()[0];
    drop(server);
    assert!(client.closed_after().1.is_empty());
    assert!(TcpStream::connect(address).is_err());
}

//! Several processes over one PostgreSQL, each the real binary. In most tests there is no proxy in between: a test chooses the process.

mod cut;
mod drill;
mod moves;
mod postgres;
mod proxied;
mod refused;
mod starting;
mod webhooks;

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Answer, Caller, Server};

use postgres::Database;

/// Short, so that a takeover does not take long.
const LEASE: &str = "2";

/// A process over a database.
fn process(database: &Database) -> Arc<Server> {
    process_with(database, &[])
}

fn process_with(database: &Database, flags: &[&str]) -> Arc<Server> {
    let url = database.url();
    let store = ["--store", url.as_str(), "--store-lease", LEASE];
    Arc::new(Server::start(&[&store, flags].concat()))
}

fn company(caller: &Caller, name: &str) -> Answer {
    let body = json!({"legal_name": name, "country": "GB", "currency": "GBP"});
    caller.post("/api/business/companies", &body)
}

fn names(caller: &Caller) -> Vec<String> {
    let companies = caller.all("/api/business/companies");
    let name = |company: &Value| company["legal_name"].as_str().unwrap().to_owned();
    companies.iter().map(name).collect()
}

/// Whether a reply says to try again.
fn is_moving(answer: &Answer) -> bool {
    let moving = answer.status == 503
        && ["world_moving", "log_unavailable"].contains(&answer.json()["code"].as_str().unwrap());
    assert!(!moving || answer.header("retry-after") == Some("1"), "{}", answer.text());
    moving
}

/// Repeats a request until its world has arrived.
#[track_caller]
fn arrived(request: impl Fn() -> Answer) -> Answer {
    let started = Instant::now();
    loop {
        let answer = request();
        if !is_moving(&answer) {
            return answer;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{}", answer.text());
    }
}

/// The digest, once the world has arrived.
fn digest(caller: &Caller) -> String {
    arrived(|| caller.get("/_sandbox/clock"));
    caller.digest()
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}: this never happened");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to a process.
fn signal(server: &Server, name: &str) {
    let sent = Command::new("kill").args([name, &server.pid().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Whether a program is installed. A missing program is reported, and fails the test if
/// `SANDBOX_TEST_POSTGRES=required` is set.
fn is_installed(name: &str, is: bool) -> bool {
    let required = std::env::var("SANDBOX_TEST_POSTGRES").is_ok_and(|is| is == "required");
    assert!(is || !required, "{name} is required, and not installed");
    if !is {
        // Written past the output capture of the test harness, so that it is always visible.
        let said = format!("SKIPPED: {name} is not installed\n");
        let _ = std::io::stderr().write_all(said.as_bytes());
    }
    is
}

/// A free port below the range that the system assigns to clients.
fn free_port() -> u16 {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 37 + TAKEN.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + u16::try_from(number % 10_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

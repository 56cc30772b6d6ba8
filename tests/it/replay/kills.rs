//! `kill -9` at random points under load: nothing acknowledged is lost.
//!
//! `SANDBOX_TEST_KILLS=200` kills more often, and `SANDBOX_TEST_CLIENTS=32` writes with more clients.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::http::read_answer;
use crate::harness::{Caller, Server};

use super::path;

const KEYS: u64 = 3;
/// The number of kills for one write-ahead log.
const KILLS: u64 = 6;

/// Replies to clients, by key: the existing employees.
type Told = Mutex<Vec<(u64, String)>>;

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed_under_load() {
    let variable = |name, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (rounds, clients) =
        (variable("SANDBOX_TEST_KILLS", 12), variable("SANDBOX_TEST_CLIENTS", 8));
    let mut acknowledged = 0;
    let mut waits = 0x9E37_79B9_7F4A_7C15_u64;
    let mut folder = tempfile::tempdir().unwrap();
    let (mut told, mut asked) = (Told::default(), AtomicU64::new(0));
    for round in 1..=rounds {
        let flags = ["--journal", path(folder.path())];
        let server = Arc::new(Server::start(&flags));
        check(&server, &told, asked.load(Ordering::SeqCst));
        waits = waits.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(round);
        let patience = Duration::from_millis(5 + (waits >> 33) % 250);
        let port = server.port();
        let enough = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for client in 0..clients {
                let (told, asked, enough) = (&told, &asked, &enough);
                scope.spawn(move || load(port, client % KEYS, told, asked, enough));
            }
            let started = Instant::now();
            let mut server = Some(server);
            while server.is_some() {
                if started.elapsed() >= patience {
                    server = None; // a drop kills it
                }
                std::thread::yield_now();
            }
            enough.store(true, Ordering::SeqCst);
        });
        if round % KILLS == 0 || round == rounds {
            let server = Arc::new(Server::start(&flags));
            check(&server, &told, asked.load(Ordering::SeqCst));
            acknowledged += told.lock().unwrap().len() as u64;
            folder = tempfile::tempdir().unwrap();
            (told, asked) = (Told::default(), AtomicU64::new(0));
        }
    }
    println!("{rounds} kills, {clients} clients, {acknowledged} acknowledged writes, none lost");
    assert!(acknowledged > rounds, "there was no load: {acknowledged} writes");
}

/// Creates employees on one connection until it breaks.
fn load(port: u16, key: u64, told: &Told, asked: &AtomicU64, enough: &AtomicBool) {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return;
    };
    let companies = ask(&mut stream, key, "GET", "/api/business/companies", "");
    let Some(companies) = companies else { return };
    let company = companies["data"][0]["id"].as_str().unwrap().to_owned();
    while !enough.load(Ordering::SeqCst) {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        let body = json!({"company_id": company, "name": format!("Ada {number}"), "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
        let path = "/api/business/employees";
        let Some(hired) = ask(&mut stream, key, "POST", path, &body.to_string()) else {
            return;
        };
        let id = hired["data"]["id"].as_str().unwrap().to_owned();
        told.lock().unwrap().push((key, id));
    }
}

/// One request on a persistent connection; none if the server has ended.
fn ask(stream: &mut TcpStream, key: u64, method: &str, path: &str, body: &str) -> Option<Value> {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_{key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let answer = read_answer(stream, false).ok()?;
    assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
    Some(answer.json())
}

/// Every acknowledged employee exists, and no employee exists without a request. An unanswered request has
/// either all its effects or none.
fn check(server: &Arc<Server>, told: &Told, asked: u64) {
    let told = told.lock().unwrap();
    let mut there = 0;
    for key in 0..KEYS {
        let caller = Caller::with_key(server, &format!("test_{key}"));
        let audit = caller.get("/_sandbox/ledger/check").data();
        assert_eq!(audit["ok"], true, "{audit}");
        let created = caller.all("/_sandbox/events?type=employee.created&sort=sequence");
        let ids: std::collections::BTreeSet<&str> =
            created.iter().map(|event| event["data"]["object"]["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), created.len(), "one was hired twice");
        there += ids.len() as u64;
        for (_, id) in told.iter().filter(|(of, _)| *of == key) {
            assert!(ids.contains(id.as_str()), "{id} was acknowledged and is lost");
        }
        if let Some((_, last)) = told.iter().rev().find(|(of, _)| *of == key) {
            caller.get(&format!("/api/business/employees/{last}")).expect(200);
        }
    }
    let told = told.len() as u64;
    assert!(there >= told && there <= asked, "{told} told, {there} there, {asked} asked");
}

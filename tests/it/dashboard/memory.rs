//! What the readers of an event stream cost.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Caller, Server};

const READERS: u64 = 300;
/// The limit of a reader that waits for news, in KB.
const MOST_KB: u64 = 20;
/// The limit for a reader that reads nothing; each buffer on the path holds a batch.
const MOST_UNREAD_KB: u64 = 80;

/// Memory of the server, in KB.
fn resident_kb(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn open(caller: &Caller, query: &str) -> TcpStream {
    let mut socket = TcpStream::connect(("127.0.0.1", caller.port())).unwrap();
    let head = format!(
        "GET /_sandbox/events/stream?{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        caller.key()
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// A world with more events than a socket takes.
fn busy() -> (Arc<Server>, Caller) {
    let server = Arc::new(Server::start(&["--seed", "42", "--clock", "manual"]));
    let caller = Caller::with_key(&server, "test_busy");
    for period in ["2026-01", "2026-02", "2026-03"] {
        for number in 0..2 {
            caller.run_payroll(&caller.company(number), period);
        }
        caller
            .post("/_sandbox/clock/advance", &json!({"by": "31d", "events_limit": 0}))
            .expect(200);
    }
    (server, caller)
}

/// Opens readers, which read if `reads`, and returns the memory of one reader.
fn cost(query: &str, reads: bool) -> u64 {
    let (server, caller) = busy();
    // The first readers allocate what all share.
    let warm: Vec<TcpStream> = (0..20).map(|_| open(&caller, query)).collect();
    std::thread::sleep(Duration::from_millis(1_500));
    let before = resident_kb(&server);
    let mut readers: Vec<TcpStream> = (0..READERS).map(|_| open(&caller, query)).collect();
    if reads {
        let mut bytes = [0; 512];
        for reader in &mut readers {
            assert!(reader.read(&mut bytes).unwrap() > 0);
        }
    }
    std::thread::sleep(Duration::from_millis(2_500));
    let after = resident_kb(&server);
    drop((warm, readers));
    after.saturating_sub(before) / READERS
}

/// The process also grows when code runs for the first time, so the smaller of two measurements counts.
fn costs_at_most(most_kb: u64, query: &str, reads: bool) {
    let first = cost(query, reads);
    if first > most_kb {
        let second = cost(query, reads);
        assert!(second <= most_kb, "{first} KB, then {second} KB");
    }
}

#[test]
fn a_reader_that_reads_nothing_costs_little() {
    costs_at_most(MOST_UNREAD_KB, "kinds=event&after=0", false);
}

#[test]
fn a_reader_that_waits_costs_little() {
    costs_at_most(MOST_KB, "", true);
}

/// A read of the same world wakes no reader of events: the server works as much as without readers.
#[test]
fn a_logged_read_wakes_only_readers_of_requests() {
    let (server, caller) = busy();
    // The CPU time of all threads in nanoseconds: a tick is too coarse for an optimised server.
    let spent = || {
        let threads = fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap();
        let files = threads.map(|thread| thread.unwrap().path().join("schedstat"));
        let texts = files.filter_map(|file| fs::read_to_string(file).ok());
        texts.map(|text| text.split(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>()
    };
    // The smallest of several measurements contains the least work of other programs.
    let work = |caller: &Caller| {
        let once = || {
            let before = spent();
            for _ in 0..400 {
                caller.get("/api/business/companies?per_page=1").expect(200);
            }
            std::thread::sleep(Duration::from_millis(300)); // readers take turns
            spent().saturating_sub(before)
        };
        (0..4).map(|_| once()).min().unwrap()
    };
    let _events: Vec<TcpStream> = (0..READERS).map(|_| open(&caller, "kinds=event")).collect();
    std::thread::sleep(Duration::from_millis(1_500));
    let beside = work(&caller);
    let _requests: Vec<TcpStream> = (0..READERS).map(|_| open(&caller, "kinds=request")).collect();
    std::thread::sleep(Duration::from_millis(1_500));
    let woken = work(&caller);
    assert!(
        woken > beside,
        "{beside} ns beside readers of events, {woken} ns beside readers of requests"
    );
}

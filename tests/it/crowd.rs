//! Thousands of simultaneous connections: idle and slow ones take little memory, and others are served.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::harness::{Caller, Server};

/// One after another, so that both find enough files.
static ALONE: Mutex<()> = Mutex::new(());

/// Lets this process, and the servers that it starts, open as many files as the system allows. Returns how many.
fn most_files() -> usize {
    let known = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: known.maximum, maximum: known.maximum }).unwrap();
    known.maximum.map_or(usize::MAX, |most| usize::try_from(most).unwrap())
}

/// A number that the system keeps about a server.
fn status(server: &Server, name: &str) -> u64 {
    let path = format!("/proc/{}/status", server.pid());
    let status = std::fs::read_to_string(path).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
}

/// The largest size that a server has had, in KiB.
fn peak(server: &Server) -> u64 {
    status(server, "VmHWM")
}

fn connect(server: &Server, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// Whether the server has neither answered nor closed.
fn is_waiting(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn slow_readers_of_pipelined_replies_take_little_memory() {
    const READERS: usize = 1_024;
    let _alone = ALONE.lock();
    let readers = READERS.min(most_files() / 8);
    let server = Arc::new(Server::start(&[]));
    let page = "/api/business/employees?per_page=100";
    let caller = Caller::with_key(&server, "test_slow");
    caller.get(page).expect(200);
    let before = peak(&server);
    let request = format!(
        "GET {page} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_slow\r\n\r\n"
    );
    let requests = request.repeat(400);
    let streams: Vec<TcpStream> = (0..readers)
        .map(|_| {
            let mut stream = connect(&server, b"");
            stream.set_nonblocking(true).unwrap();
            // As much as the server takes without reading any reply.
            let _ = stream.write(requests.as_bytes());
            stream
        })
        .collect();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        caller.get(page).expect(200);
        std::thread::sleep(Duration::from_millis(50));
    }
    let grown = peak(&server) - before;
    println!("{readers} slow readers: {grown} KiB");
    assert!(grown <= 64 * 1024, "{readers} slow readers take {grown} KiB");
    drop(streams);
}

#[test]
fn thousands_of_idle_and_slow_connections_leave_others_served() {
    // Of the files of the system, a server gives three quarters to connections, and three quarters of these to one peer.
    let _alone = ALONE.lock();
    let (idle, heads, bodies) = (8_000, 2_000, 500);
    let share = (most_files().saturating_sub(1_000) * 9 / 16).min(idle + heads + bodies);
    let of = |count: usize| count * share / (idle + heads + bodies);
    let server = Arc::new(Server::start(&[]));
    let caller = Caller::with_key(&server, "test_crowd");
    caller.get("/api/business/employees").expect(200);
    let body = "POST /api/business/companies HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_crowd\r\n\
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
    let head = "GET /api/business/employees HTTP/1.1\r\nHost: local";
    let kinds = [(of(idle), ""), (of(bodies), body), (of(heads), head)];
    let crowd: Vec<TcpStream> = kinds
        .iter()
        .flat_map(|(count, bytes)| std::iter::repeat_n(bytes, *count))
        .map(|bytes| connect(&server, bytes.as_bytes()))
        .collect();
    let waiting = || crowd.iter().filter(|stream| is_waiting(stream)).count();
    let opened = waiting();
    assert!(opened * 20 >= crowd.len() * 19, "{opened} of {} were accepted", crowd.len());
    let mut slowest = Duration::ZERO;
    for number in 0..40 {
        let started = Instant::now();
        caller.get("/api/business/employees").expect(200);
        let body = serde_json::json!({"legal_name": format!("Crowd {number} Ltd"), "country": "GB", "currency": "GBP"});
        caller.post("/api/business/companies", &body).expect(201);
        slowest = slowest.max(started.elapsed());
    }
    let (waiting, all) = (waiting(), crowd.len());
    println!(
        "{all} connections: {waiting} still wait, the slowest pair of requests took {slowest:?}"
    );
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    // The slow heads can have reached their time limit in the meantime.
    assert!(waiting * 4 >= all * 3, "{waiting} of {all} wait");
}

/// The additional threads of a new server after many clients have used one world.
fn threads_of_a_busy_world(clients: usize) -> u64 {
    let server = Arc::new(Server::start(&["--clock", "manual"]));
    let caller = Caller::with_key(&server, "test_busy");
    let idle = status(&server, "Threads");
    let clients: Vec<_> = (0..clients)
        .map(|client| {
            let caller = caller.with("test_busy");
            std::thread::spawn(move || {
                for number in 0..15 {
                    let name = format!("Busy {client}-{number} Ltd");
                    let body =
                        serde_json::json!({"legal_name": name, "country": "GB", "currency": "GBP"});
                    caller.post("/api/business/companies", &body).expect(201);
                    caller.get("/api/business/companies?per_page=5").expect(200);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    // An unused thread ends only after some seconds.
    status(&server, "Threads").saturating_sub(idle)
}

#[test]
fn requests_that_wait_for_a_busy_world_occupy_no_threads() {
    const CLIENTS: usize = 64;
    let _alone = ALONE.lock();
    // A busy machine interrupts steps, and then some requests do occupy threads. Requests that always did would do so in each round.
    let least = (0..3).map(|_| threads_of_a_busy_world(CLIENTS)).min().expect("three rounds");
    println!("{least} more threads for {CLIENTS} clients of one world");
    assert!(least <= 16, "{least} more threads for {CLIENTS} clients");
}

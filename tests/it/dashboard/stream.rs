//! `GET /_sandbox/events/stream`: Server-Sent Events of one world.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::receiver::Receiver;
use crate::harness::world::id;
use crate::harness::{Caller, Request, Server, command, finish};

const STREAM: &str = "/_sandbox/events/stream";
const TIMEOUT: Duration = Duration::from_secs(20);

/// A frame: its name, its id, its data.
#[derive(Clone, Debug)]
struct Frame {
    kind: String,
    id: Option<String>,
    data: Value,
}

/// A reader of the stream. HTTP/1.0 has no chunks.
struct Reader(BufReader<TcpStream>);

impl Reader {
    fn open(caller: &Caller, query: &str) -> Self {
        Self::with(caller, query, "")
    }

    fn with(caller: &Caller, query: &str, headers: &str) -> Self {
        let request = caller.request("GET", STREAM);
        let wire = String::from_utf8(request.wire()).unwrap();
        let key = wire.lines().find(|line| line.starts_with("Authorization")).unwrap();
        let mut socket = TcpStream::connect(("127.0.0.1", caller.port())).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        let head =
            format!("GET {STREAM}{query} HTTP/1.0\r\nHost: localhost\r\n{key}\r\n{headers}\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let mut reader = Self(BufReader::new(socket));
        let status = reader.line().unwrap();
        assert!(status.contains(" 200 "), "{status}");
        let mut is_stream = false;
        loop {
            let line = reader.line().unwrap();
            is_stream |= line.eq_ignore_ascii_case("content-type: text/event-stream");
            if line.is_empty() {
                break;
            }
        }
        assert!(is_stream, "it is no event stream");
        reader
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next frame, without comments; none at the end of the stream.
    fn next(&mut self) -> Option<Frame> {
        let (mut kind, mut id, mut data) = (String::new(), None, None);
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("event", text)) => text.clone_into(&mut kind),
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("data", text)) => data = Some(serde_json::from_str(text).unwrap()),
                _ if line.is_empty() && data.is_some() => break,
                _ => {}
            }
        }
        Some(Frame { kind, id, data: data.unwrap() })
    }

    /// The next frame of a kind.
    fn next_of(&mut self, kind: &str) -> Frame {
        loop {
            let frame = self.next().unwrap_or_else(|| panic!("the stream ended without {kind}"));
            if frame.kind == kind {
                return frame;
            }
        }
    }

    fn events(&mut self, count: usize) -> Vec<Frame> {
        (0..count).map(|_| self.next_of("event")).collect()
    }
}

fn sequences(frames: &[Frame]) -> Vec<u64> {
    frames.iter().map(|frame| frame.data["sequence"].as_u64().unwrap()).collect()
}

fn employee(caller: &Caller, number: usize) -> String {
    id(&caller.get("/api/business/employees").data()[number]).to_owned()
}

/// One event.
fn rename(caller: &Caller, number: usize) {
    let path = format!("/api/business/employees/{}", employee(caller, number));
    assert_eq!(caller.patch(&path, &json!({"role": format!("Chair {number}")})).status, 200);
}

#[test]
fn a_reader_receives_each_event_as_in_the_list_soon_after_it_happened() {
    let caller = Caller::instant();
    let mut reader = Reader::open(&caller, "");
    assert_eq!(reader.next_of("clock").data["sequence"], 0);
    rename(&caller, 0);
    let begun = Instant::now();
    let frame = reader.next_of("event");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(frame.data, caller.events()[0]);
    assert_eq!(frame.id.as_deref(), Some("1"));
    let listed = reader.next_of("request").data;
    assert_eq!(listed["operation"], "listEmployees");
    let request = reader.next_of("request").data;
    assert_eq!(
        (&request["operation"], &request["status"]),
        (&json!("updateEmployee"), &json!(200))
    );
}

#[test]
fn a_reader_continues_after_the_last_event_that_it_names() {
    let caller = Caller::instant();
    for number in 0..5 {
        rename(&caller, number);
    }
    let all = Reader::open(&caller, "?after=0").events(5);
    assert_eq!(sequences(&all), [1, 2, 3, 4, 5]);
    let by_id = Reader::with(&caller, "", "Last-Event-ID: 3\r\n").events(2);
    assert_eq!(sequences(&by_id), [4, 5]);
    let header = format!("Last-Event-ID: {}\r\n", id(&all[3].data));
    let last = Reader::with(&caller, "?after=0", &header).events(1);
    assert_eq!(sequences(&last), [5], "the header of a new connection comes before the query");
    let unknown = caller.request("GET", STREAM).header("Last-Event-ID", "evt_nothing");
    caller.send(&unknown).refused(400, "invalid_header");
}

#[test]
fn a_reader_receives_only_what_its_filters_accept() {
    let caller = Caller::manual();
    let mut typed = Reader::open(&caller, "?type=payroll_run.*&kinds=event");
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    let mut about = Reader::open(&caller, &format!("?after=0&subject_id={}", id(&run)));
    rename(&caller, 0);
    caller.advance(&json!({"by": "1h"}));
    let seen: Vec<String> =
        typed.events(3).iter().map(|it| it.data["type"].as_str().unwrap().to_owned()).collect();
    assert!(seen.iter().all(|name| name.starts_with("payroll_run.")), "{seen:?}");
    for frame in about.events(3) {
        assert_eq!(frame.data["data"]["object"]["id"], run["id"]);
    }
    let other = caller.company(1);
    let run = caller.run_payroll(&other, "2026-01");
    let mut of_company = Reader::open(&caller, &format!("?after=0&company_id={other}"));
    for frame in of_company.events(1) {
        assert_eq!(frame.data["company_id"], run["company_id"]);
    }
    let wrong = caller.get(&format!("{STREAM}?kinds=event,news"));
    wrong.refused(422, "validation_failed");
    assert_eq!(wrong.json()["errors"][0]["pointer"], "/kinds");
    caller.get(&format!("{STREAM}?unknown=1")).refused(422, "validation_failed");
}

#[test]
fn a_reader_receives_clock_and_delivery_frames() {
    let caller = Caller::manual();
    let receiver = Receiver::taking();
    let endpoint = json!({"url": receiver.url(), "events": ["*"]});
    assert_eq!(caller.post("/_sandbox/webhook-endpoints", &endpoint).status, 201);
    let mut reader = Reader::open(&caller, "?kinds=clock,delivery");
    let before = reader.next_of("clock").data["now"].clone();
    rename(&caller, 0);
    let delivery = reader.next_of("delivery").data;
    assert_eq!((&delivery["status"], &delivery["http_status"]), (&json!("delivered"), &json!(200)));
    assert_eq!(delivery["type"], "employee.updated");
    caller.advance(&json!({"by": "1d"}));
    let after = reader.next_of("clock").data["now"].clone();
    assert!(before.as_str().unwrap() < after.as_str().unwrap(), "{before} {after}");
}

#[test]
fn a_reader_receives_a_frame_if_its_world_is_reset_or_restored() {
    let caller = Caller::instant();
    rename(&caller, 0);
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
    rename(&caller, 1);
    let mut reader = Reader::open(&caller, "?kinds=event");
    assert_eq!(
        caller.post(&format!("/_sandbox/snapshots/{}/restore", id(&snapshot)), &json!({})).status,
        200
    );
    assert_eq!(reader.next_of("reset").data["sequence"], 1);
    rename(&caller, 2);
    assert_eq!(reader.next_of("event").data["sequence"], 2);
    assert_eq!(caller.post("/_sandbox/reset", &json!({})).status, 200);
    assert_eq!(reader.next_of("reset").data["sequence"], 0);
    assert_eq!(caller.send(&caller.request("DELETE", "/_sandbox/world")).status, 200);
    assert!(reader.next().is_none(), "the stream of a deleted world ends");
}

/// The restored world gives the same ids to other events, and may have more of them before the reader looks.
#[test]
fn a_reader_notices_a_restored_world_that_is_longer_than_before() {
    let caller = Caller::instant();
    let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
    rename(&caller, 1);
    let mut reader = Reader::open(&caller, "?kinds=event");
    rename(&caller, 2);
    assert_eq!(reader.next_of("event").data["sequence"], 2);
    caller.post(&format!("/_sandbox/snapshots/{}/restore", id(&snapshot)), &json!({})).expect(200);
    (1..15).for_each(|number| rename(&caller, number));
    reader.next_of("reset");
}

/// A slow reader has no queue: what its world has dropped is counted.
#[test]
fn a_slow_reader_receives_the_number_of_dropped_items() {
    let server =
        Arc::new(Server::start(&["--seed", "42", "--max-events", "3", "--max-requests", "2"]));
    let caller = Caller::of(&server);
    for number in 0..8 {
        rename(&caller, number);
    }
    let mut reader = Reader::open(&caller, "?after=1&kinds=event");
    let lost = reader.next().unwrap();
    assert_eq!((&*lost.kind, &lost.data), ("lost", &json!({"kind": "event", "count": 4})));
    assert_eq!(sequences(&reader.events(3)), [6, 7, 8]);
}

/// More readers than news is sent to at once, and a burst that needs several batches.
#[test]
fn each_of_many_readers_receives_every_request_once() {
    let caller = Caller::instant();
    let open = |_| Reader::open(&caller, "?kinds=request");
    let mut readers: Vec<Reader> = (0..40).map(open).collect();
    let sent: Vec<String> = (1..=150).map(|page| format!("page={page}")).collect();
    for query in &sent {
        caller.get(&format!("/api/business/companies?{query}")).expect(200);
    }
    for reader in &mut readers {
        let received: Vec<_> = sent.iter().map(|_| reader.next().unwrap()).collect();
        assert!(received.iter().all(|frame| frame.kind == "request"), "{received:?}");
        let queries: Vec<_> = received.iter().map(|frame| frame.data["query"].clone()).collect();
        assert_eq!(queries, sent);
    }
}

#[test]
fn a_reader_of_one_key_receives_nothing_of_another() {
    let server = Server::instant();
    let (one, other) = (Caller::of(&server), Caller::of(&server));
    let mut reader = Reader::open(&one, "?kinds=event");
    rename(&other, 0);
    rename(&one, 3);
    let frame = reader.next_of("event");
    assert_eq!(frame.data["data"]["object"]["id"], employee(&one, 3));
    Request::new("GET", STREAM).send(one.port()).refused(401, "missing_credentials");
}

#[test]
fn a_server_with_a_reader_stops_at_once() {
    let server = Server::start(&["--seed", "42"]);
    let port = server.port();
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let head = format!(
        "GET {STREAM} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_key\r\n\r\n"
    );
    socket.write_all(head.as_bytes()).unwrap();
    let mut first = String::new();
    BufReader::new(socket.try_clone().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains(" 200 "), "{first}");
    let begun = Instant::now();
    server.end();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn the_command_prints_the_events_of_a_world() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let caller = Caller::with_key(&server, "test_key");
    rename(&caller, 0);
    let port = server.port().to_string();
    let printed = finish(&mut command(&["events", "--port", &port]));
    let text = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.status.success() && text.lines().count() == 1, "{text}");
    assert!(text.contains("employee.updated") && text.contains(&employee(&caller, 0)), "{text}");
    let json = finish(&mut command(&["events", "--port", &port, "--json", "--type", "employee.*"]));
    let event: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(event, caller.events()[0]);
    let refused = finish(&mut command(&["events", "--port", "1"]));
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("no sandbox answers at 127.0.0.1:1"), "{text}");
}

/// A command that follows the events. It ends with the test.
struct Following {
    child: std::process::Child,
    lines: mpsc::Receiver<String>,
}

impl Following {
    fn start(port: u16) -> Self {
        let port = port.to_string();
        let mut child = command(&["events", "--follow", "--port", &port])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut lines = out.lines().map_while(Result::ok);
            lines.all(|line| send.send(line).is_ok())
        });
        Self { child, lines }
    }

    /// The next line must contain that word.
    fn expect(&self, word: &str) {
        let line = self.lines.recv_timeout(TIMEOUT).unwrap();
        assert!(line.contains(word), "{line}");
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn the_command_loses_no_event_of_a_world_that_is_replaced() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let caller = Caller::with_key(&server, "test_key");
    let following = Following::start(server.port());
    let begun = Instant::now();
    while following.lines.try_recv().is_err() {
        assert!(begun.elapsed() < TIMEOUT, "it follows nothing");
        rename(&caller, 0);
        std::thread::sleep(Duration::from_millis(100));
    }
    caller.post("/_sandbox/trigger", &json!({"type": "company.created"})).expect(200);
    let begun = Instant::now();
    while !following.lines.recv_timeout(TIMEOUT).unwrap().contains("compliance_requirement") {
        assert!(begun.elapsed() < TIMEOUT, "it follows nothing");
    }
    while following.lines.try_recv().is_ok() {}
    // Each new world has fewer events than the one before.
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    rename(&caller, 1);
    following.expect(&employee(&caller, 1));
    rename(&caller, 2);
    following.expect(&employee(&caller, 2));
    caller.send(&caller.request("DELETE", "/_sandbox/world")).expect(200);
    rename(&caller, 3);
    following.expect(&employee(&caller, 3));
}

#[test]
fn the_command_repeats_no_event_of_a_world_that_returns_to_memory() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().to_str().unwrap();
    let flags = ["--seed", "42", "--journal", journal, "--idle-ttl", "1s"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::with_key(&server, "test_key");
    (0..3).for_each(|number| rename(&caller, number));
    let following = Following::start(server.port());
    // The stream ends each time the idle world leaves memory.
    for number in 3..6 {
        std::thread::sleep(Duration::from_millis(2_500));
        rename(&caller, number);
        following.expect(&employee(&caller, number));
    }
    assert!(following.lines.try_recv().is_err());
}

#[test]
fn the_command_notices_a_replaced_world_before_its_first_event() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let caller = Caller::with_key(&server, "test_key");
    rename(&caller, 0);
    let following = Following::start(server.port());
    std::thread::sleep(Duration::from_secs(2));
    caller.send(&caller.request("DELETE", "/_sandbox/world")).expect(200);
    rename(&caller, 1); // the new log is as long as the old one
    following.expect(&employee(&caller, 1));
}

//! A write-ahead log with a torn end and with flipped bits, at every byte of its last three frames. Each file
//! is replayed to its worlds. Also tests that a recording contains no secrets.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use proptest::prelude::{ProptestConfig, prop_assert};
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::engine::contract::Overlay;
use crate::engine::recording::{Entry, Header, KeyHash, Recorder, Salt};
use crate::engine::{Archive, Config, Engine, Library};
use crate::io::wal::file::WriteAheadLog;
use crate::io::wal::frame::Scanner;
use crate::io::wal::log::Log;
use crate::io::wal::replay::play;
use crate::io::wal::sink::Sink;
use crate::io::wal::text::{self, Recording};
use crate::value::mutation::{damaged, edits};
use crate::world::{ClockMode, MAX_EVENTS, Shape, World};

const KEY: &str = "test_key";
const SALT: Salt = Salt([3; 16]);

fn engine(log: &Arc<Log>) -> Engine {
    Engine::new(Config {
        seed: 42,
        shape: Shape::default(),
        mode: ClockMode::Instant,
        api_keys: vec![KEY.to_owned()],
        max_worlds: 10,
        pages: |_, _, _| None,
        contract: Overlay::default(),
        max_events: Some(MAX_EVENTS),
        scenarios: Vec::new(),
        library: Library::EMPTY,
        recorder: Some(Arc::clone(log) as Arc<dyn Recorder>),
    })
}

fn header() -> Header {
    Header::new(42, Shape::default(), ClockMode::Instant, SALT)
}

fn post(engine: &Engine, path: &str, body: &str) -> Response<Bytes> {
    let request = Request::post(path)
        .header("authorization", format!("Bearer {KEY}"))
        .header("content-type", "application/json");
    let body = Bytes::copy_from_slice(body.as_bytes());
    engine.call(request.body(body).expect("a request of the test"))
}

/// A write-ahead log in which four companies are created, and the digest of the world before the first and
/// after each.
fn sample_log() -> (Vec<u8>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let wal =
        WriteAheadLog::open(folder.path(), Duration::ZERO, &mut |_, _| {}).expect("a new log");
    let sink = wal.into_sink(&header()).expect("it can be written");
    let log = Arc::new(Log::new(SALT));
    let engine = engine(&log);
    let writer = log.start(sink).expect("a thread");
    let digest = || engine.with_world(KEY, World::digest).expect("a world");
    let mut digests = vec![digest()];
    for number in 0..4 {
        let body = json!({"legal_name": format!("Number {number} Ltd"), "country": "GB", "currency": "GBP"});
        let reply = post(&engine, "/api/business/companies", &body.to_string());
        assert_eq!(reply.status(), 201, "{:?}", reply.body());
        digests.push(digest());
    }
    writer.finish(&engine).expect("it is written");
    let path = folder.path().join("journal.sandbox");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    file.expect("it can be read");
    // The log without its end. Its last frames are inputs, as after a kill of the process.
    let end = *starts(&bytes).last().expect("it has frames");
    assert!(bytes[end + 8..].starts_with(b"{\"end\""));
    bytes.truncate(end);
    (bytes, digests)
}

/// The offsets of the frames.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let mut scanner = Scanner::new(bytes);
    let mut starts = Vec::new();
    while let Some((offset, _)) = scanner.next().expect("it is whole") {
        starts.push(usize::try_from(offset).expect("the file is small"));
    }
    starts
}

/// The digest of the world that is read again, and the number of inputs; or the refusal.
fn recovered(bytes: &[u8]) -> Result<(String, u64), String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("journal.sandbox"), bytes).expect("it is written");
    let wal = WriteAheadLog::open(folder.path(), Duration::ZERO, &mut |_, _| {})?;
    let held = wal.held.as_ref().ok_or("the file is empty")?;
    let (log, inputs) = (Arc::new(Log::new(held.header.salt)), held.index.inputs);
    let engine = engine(&log);
    engine.read_from(Arc::clone(&log) as Arc<dyn Archive>);
    let writer = log.start(wal.into_sink(&header())?).expect("a thread");
    let digest = engine.with_world(KEY, World::digest);
    writer.finish(&engine)?;
    Ok((digest.map_err(|error| error.detail)?, inputs))
}

#[test]
fn a_log_cut_anywhere_in_its_last_three_frames_restores_its_whole_frames() {
    let (bytes, digests) = sample_log();
    let starts = starts(&bytes);
    let first = starts[starts.len() - 3];
    for length in first..=bytes.len() {
        let whole = starts.iter().filter(|&&start| start > first && start <= length).count();
        let whole = 1 + whole + usize::from(length == bytes.len());
        let (digest, inputs) = recovered(&bytes[..length]).expect("a torn end is cut");
        assert_eq!((inputs, &digest), (whole as u64, &digests[whole]), "cut at {length}");
    }
}

#[test]
fn a_bit_flipped_anywhere_in_the_last_three_frames_is_refused_with_its_offset() {
    let (bytes, _) = sample_log();
    let starts = starts(&bytes);
    for place in starts[starts.len() - 3]..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << bit;
            let refusal = recovered(&damaged).expect_err("damage is never ignored");
            let frame = starts.iter().rfind(|&&start| start <= place).expect("a frame");
            assert!(refusal.contains(&format!(", byte {frame}: ")), "{place}: {refusal}");
        }
    }
}

fn read(bytes: &[u8]) -> Result<Recording, String> {
    text::read(bytes, bytes.len() as u64)
}

/// The sample log as a recording: lines of JSON.
fn sample_recording() -> Vec<u8> {
    let whole = read(&sample_log().0).expect("it is whole");
    let sink = Sink::text(tempfile::tempfile().expect("a file"));
    let mut lines = Vec::new();
    sink.form(&Entry::Recording(Box::new(whole.header)), &mut lines);
    for entry in &whole.entries {
        sink.form(&entry.entry, &mut lines);
    }
    assert!(read(&lines).is_ok_and(|again| again.entries.len() == whole.entries.len()));
    lines
}

#[test]
fn a_damaged_recording_is_read_or_refused_with_its_line() {
    let whole = sample_recording();
    let mut runner = TestRunner::new(ProptestConfig { cases: 400, ..ProptestConfig::default() });
    let run = runner.run(&edits(), |edits| {
        let file = damaged(&whole, &edits);
        let lines = file.split(|&byte| byte == b'\n').count();
        let Err(refusal) = read(&file) else { return Ok(()) };
        let named = refusal.split_once("line ").and_then(|(_, rest)| {
            rest.split(|one: char| !one.is_ascii_digit()).next()?.parse::<usize>().ok()
        });
        prop_assert!(named.is_none_or(|line| (1..=lines).contains(&line)), "{refusal}");
        Ok(())
    });
    run.expect("every file");
}

#[test]
fn a_replayed_world_is_found_only_by_its_key() {
    let (bytes, digests) = sample_log();
    let entries = read(&bytes).expect("it is whole").entries;
    let log = Arc::new(Log::new(SALT));
    let engine = engine(&log);
    play(&engine, entries, None).map_err(|_| ()).expect("the replay reaches the same worlds");
    let name = KeyHash::of(SALT, KEY).as_key();
    let refusal = engine.with_world(&name, World::digest).expect_err("it is no key");
    assert_eq!(refusal.code.code(), "invalid_api_key");
    let digest = engine.with_world(KEY, World::digest).ok();
    assert_eq!(digest.as_ref(), Some(&digests[4]));
}

#[test]
fn a_world_in_memory_is_not_replayed_a_second_time_for_its_webhooks() {
    let folder = tempfile::tempdir().expect("a folder");
    let wal =
        WriteAheadLog::open(folder.path(), Duration::ZERO, &mut |_, _| {}).expect("a new log");
    let log = Arc::new(Log::new(SALT));
    let engine = engine(&log);
    engine.read_from(Arc::clone(&log) as Arc<dyn Archive>);
    let writer = log.start(wal.into_sink(&header()).expect("a sink")).expect("a thread");
    let body = json!({"url": "http://127.0.0.1:9/"}).to_string();
    assert_eq!(post(&engine, "/_sandbox/webhook-endpoints", &body).status(), 201);
    while log.stored().is_none_or(|stored| stored.worlds == 0) {
        std::thread::yield_now();
    }
    engine.find_owing();
    assert!(engine.owes());
    engine.bring_owing();
    assert!(!engine.owes());
    assert_eq!(engine.keys(), [KEY]);
    writer.finish(&engine).expect("it is written");
}

#[test]
fn a_replay_ends_with_the_process() {
    let (bytes, _) = sample_log();
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("journal.sandbox"), bytes).expect("it is written");
    let wal =
        WriteAheadLog::open(folder.path(), Duration::ZERO, &mut |_, _| {}).expect("it is whole");
    let log = Arc::new(Log::new(SALT));
    let engine = engine(&log);
    engine.read_from(Arc::clone(&log) as Arc<dyn Archive>);
    let writer = log.start(wal.into_sink(&header()).expect("a sink")).expect("a thread");
    engine.end();
    let refusal = engine.with_world(KEY, World::digest).expect_err("the replay ended");
    assert_eq!(refusal.code.code(), "log_unavailable");
    writer.finish(&engine).expect("it is written");
}

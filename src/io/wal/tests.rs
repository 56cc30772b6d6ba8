//! A write-ahead log with a torn end and with flipped bits, at every byte of its last three frames. Each file
//! is replayed to its worlds. Also what a
//! recording may not contain.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::json;

use crate::engine::contract::Overlay;
use crate::engine::recording::{Header, KeyHash, Recorder, Salt};
use crate::engine::{Config, Engine, Library};
use crate::io::wal::file::WriteAheadLog;
use crate::io::wal::log::Log;
use crate::io::wal::replay::play;
use crate::io::wal::{file, frame};
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
        pages: |_, _| None,
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
    let wal = WriteAheadLog::open(folder.path()).expect("a new log");
    let sink = wal.into_sink(&header()).expect("it can be written");
    let log = Arc::new(Log::playing(SALT));
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
    let frames = frame::read(&bytes).expect("it is whole");
    let (end, payload) = frames.payloads.last().expect("it has frames").clone();
    assert!(bytes[payload].starts_with(b"{\"end\""));
    bytes.truncate(end);
    (bytes, digests)
}

/// The digest and the number of inputs after the replay, or the refusal.
fn recovered(bytes: &[u8]) -> Result<(String, u64), String> {
    let (held, end) = file::parse(bytes.to_vec())?;
    assert!(end <= bytes.len());
    let held = held.ok_or("the file is empty")?;
    let log = Arc::new(Log::playing(held.header.salt));
    let engine = engine(&log);
    let played = play(&engine, &log, held.entries(), None);
    let played = played.map_err(|stopped| format!("{stopped:?}"))?;
    log.rest();
    let digest = engine.with_world(KEY, World::digest);
    Ok((digest.map_err(|error| error.detail)?, played.inputs))
}

#[test]
fn a_log_cut_anywhere_in_its_last_three_frames_restores_its_whole_frames() {
    let (bytes, digests) = sample_log();
    let frames = frame::read(&bytes).expect("it is whole").payloads;
    let starts: Vec<usize> = frames.iter().map(|(start, _)| *start).collect();
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
    let frames = frame::read(&bytes).expect("it is whole").payloads;
    let starts: Vec<usize> = frames.iter().map(|(start, _)| *start).collect();
    for place in starts[starts.len() - 3]..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << bit;
            let refusal = recovered(&damaged).expect_err("damage is never ignored");
            let frame = starts.iter().rfind(|&&start| start <= place).expect("a frame");
            assert!(refusal.starts_with(&format!("byte {frame}: ")), "{place}: {refusal}");
        }
    }
}

#[test]
fn a_replayed_world_is_found_only_by_its_key() {
    let (bytes, digests) = sample_log();
    let (held, _) = file::parse(bytes).expect("it is whole");
    let log = Arc::new(Log::playing(SALT));
    let engine = engine(&log);
    let held = held.expect("it holds something");
    play(&engine, &log, held.entries(), None).expect("the replay reaches the same worlds");
    log.rest();
    let name = KeyHash::of(SALT, KEY).as_key();
    let refusal = engine.with_world(&name, World::digest).expect_err("it is no key");
    assert_eq!(refusal.code.code(), "invalid_api_key");
    let digest = engine.with_world(KEY, World::digest).ok();
    assert_eq!(digest.as_ref(), Some(&digests[4]));
    // Its numbers continue, so that the next entries belong to the existing world.
    assert_eq!(log.number(KeyHash::of(SALT, KEY)), Some(1));
}

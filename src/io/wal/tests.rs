//! A journal with its end torn off and its bits flipped, at every byte of its last three frames, played to the worlds that it
//! leads to; and what a recording may not hold.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::json;

use crate::engine::contract::Overlay;
use crate::engine::recording::{Header, KeyHash, Recorder, Salt};
use crate::engine::{Config, Engine};
use crate::io::wal::file::WriteAheadLog;
use crate::io::wal::log::Log;
use crate::io::wal::replay::play;
use crate::io::wal::{file, frame};
use crate::world::{ClockMode, Shape, World};

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
        max_events: None,
        scenarios: Vec::new(),
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

/// A journal of four companies that were founded; and the world's digest after each, the first before any.
fn journal() -> (Vec<u8>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = WriteAheadLog::open(folder.path()).expect("a new journal");
    let sink = journal.into_sink(&header()).expect("it can be written");
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
    // Without its end: the last frames are inputs, as in a journal whose process was killed.
    let frames = frame::read(&bytes).expect("it is whole");
    let (end, payload) = frames.payloads.last().expect("it has frames").clone();
    assert!(bytes[payload].starts_with(b"{\"end\""));
    bytes.truncate(end);
    (bytes, digests)
}

/// The digest that a journal leads to, and its inputs; or the refusal.
fn recovered(bytes: &[u8]) -> Result<(String, u64), String> {
    let (held, end) = file::parse(bytes.to_vec())?;
    assert!(end <= bytes.len());
    let held = held.ok_or("nothing is held")?;
    let log = Arc::new(Log::playing(held.header.salt));
    let engine = engine(&log);
    let played = play(&engine, &log, held.entries(), None);
    let played = played.map_err(|stopped| format!("{stopped:?}"))?;
    log.rest();
    let digest = engine.with_world(KEY, World::digest);
    Ok((digest.map_err(|error| error.detail)?, played.inputs))
}

#[test]
fn a_journal_cut_anywhere_in_its_last_three_frames_leads_to_what_is_whole_of_it() {
    let (bytes, digests) = journal();
    let frames = frame::read(&bytes).expect("it is whole").payloads;
    let starts: Vec<usize> = frames.iter().map(|(start, _)| *start).collect();
    let first = starts[starts.len() - 3];
    for length in first..=bytes.len() {
        let whole = starts.iter().filter(|&&start| start > first && start <= length).count();
        let whole = 1 + whole + usize::from(length == bytes.len());
        let (digest, inputs) = recovered(&bytes[..length]).expect("a torn end is mended");
        assert_eq!((inputs, &digest), (whole as u64, &digests[whole]), "cut at {length}");
    }
}

#[test]
fn a_bit_flipped_anywhere_in_the_last_three_frames_is_refused_with_its_offset() {
    let (bytes, _) = journal();
    let frames = frame::read(&bytes).expect("it is whole").payloads;
    let starts: Vec<usize> = frames.iter().map(|(start, _)| *start).collect();
    for place in starts[starts.len() - 3]..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << bit;
            let refusal = recovered(&damaged).expect_err("damage is never passed over");
            let frame = starts.iter().rfind(|&&start| start <= place).expect("a frame");
            assert!(refusal.starts_with(&format!("byte {frame}: ")), "{place}: {refusal}");
        }
    }
}

#[test]
fn a_world_that_was_played_again_is_found_by_its_key_alone() {
    let (bytes, digests) = journal();
    let (held, _) = file::parse(bytes).expect("it is whole");
    let log = Arc::new(Log::playing(SALT));
    let engine = engine(&log);
    let held = held.expect("it holds something");
    play(&engine, &log, held.entries(), None).expect("it leads where it led");
    log.rest();
    let name = KeyHash::of(SALT, KEY).as_key();
    let refusal = engine.with_world(&name, World::digest).expect_err("it is no key");
    assert_eq!(refusal.code.code(), "invalid_api_key");
    let digest = engine.with_world(KEY, World::digest).ok();
    assert_eq!(digest.as_ref(), Some(&digests[4]));
    // Its numbers go on: what is written next belongs to the world that is there.
    assert_eq!(log.number(KeyHash::of(SALT, KEY)), Some(1));
}

//! The inputs that a world passes to its recorder, and the conditions under which a world is lost.

use std::sync::Mutex;

use super::*;
use crate::engine::tests::engine_with;
use crate::world::ClockMode;

const WORLD: KeyHash = KeyHash::EMPTY;

/// A recorder that cannot write.
#[derive(Debug, Default)]
struct Full {
    notes: Mutex<Vec<Note>>,
    /// The answers to the next questions about stored inputs.
    holds: Mutex<Vec<bool>>,
}

impl Recorder for Full {
    fn salt(&self) -> Salt {
        Salt([0; 16])
    }

    fn accepts(&self) -> Result<(), ApiError> {
        Err(unavailable("it is full"))
    }

    fn record(&self, _: Step, _: &Arc<Tenure>, _: &World) -> u64 {
        1
    }

    fn note(&self, note: Note, _: &Arc<Tenure>) -> Option<u64> {
        let mut notes = self.notes.lock().expect("no panic");
        notes.push(note);
        Some(notes.len() as u64)
    }

    fn has_stored(&self, place: u64) -> bool {
        place < 3
    }

    fn knows(&self, _: KeyHash) -> bool {
        false
    }

    fn holds(&self, _: KeyHash) -> bool {
        self.holds.lock().expect("no panic").pop().unwrap_or(false)
    }

    fn is_read_again(&self) -> bool {
        true
    }

    fn stored(&self) -> Option<Stored> {
        None
    }
}

#[test]
fn needed_notes_are_stored_even_while_writes_fail() {
    let recorder = Arc::new(Full::default());
    let tape = Tape::new(Arc::clone(&recorder) as Arc<dyn Recorder>, WORLD, false);
    tape.opened();
    assert!(tape.ticket().is_none(), "the use of a key waits for nothing");
    tape.removed();
    assert!(matches!(recorder.notes.lock().expect("no panic")[..], [Note::Removed]));
    let ticket = tape.ticket().expect("a deletion is waited for");
    assert!(tape.is_lost() && !ticket.tenure.has_lost(ticket.place));
}

#[test]
fn a_fork_is_lost_with_the_input_that_made_it() {
    let recorder = Full::default();
    let ticket = |tenure: &Arc<Tenure>, place| Ticket { place, tenure: Arc::clone(tenure) };
    let forked = |from: &Ticket| Arc::new(Tenure::forked(WORLD, from, &recorder));
    let source = Arc::new(Tenure::new(WORLD));
    let stored = forked(&ticket(&source, 2));
    let early = forked(&ticket(&source, 5));
    let late = forked(&ticket(&source, 8));
    let of_early = forked(&ticket(&early, 9));
    source.lose(6);
    assert!(!stored.is_lost() && !early.is_lost() && !of_early.is_lost());
    assert!(late.is_lost() && late.has_lost(u64::MAX - 1));
    assert!(forked(&ticket(&late, 10)).is_lost(), "a fork of a lost world");
    source.lose(5);
    assert!(early.is_lost() && of_early.is_lost() && !stored.is_lost());
}

#[test]
fn a_key_that_was_written_while_its_world_opens_gets_no_second_world() {
    let recorder = Arc::new(Full::default());
    let engine = engine_with(1, ClockMode::Instant, Some(Arc::clone(&recorder) as _));
    // Nothing is stored, then another request has written to the world and it has left memory; then it is deleted.
    *recorder.holds.lock().expect("no panic") = vec![false, false, true, false];
    engine.with_world("test_key", World::digest).expect("a world");
    let left = recorder.holds.lock().expect("no panic").len();
    assert_eq!(left, 0, "it asked again before it opened a world");
}

#[test]
fn a_check_differs_if_an_event_is_missing() {
    let engine = engine_with(1, ClockMode::Instant, None);
    let body =
        r#"{"legal_name":"Lagos Bakery Ltd","country":"NG","currency":"NGN","industry":"food"}"#;
    let call = http::Request::post("/api/business/companies")
        .header("host", "localhost")
        .header("authorization", "Bearer test_key")
        .header("content-type", "application/json");
    let reply = engine.call(call.body(Bytes::from(body)).expect("a request"));
    assert_eq!(reply.status(), 201);
    let step = |world: &World| Step {
        wall: None,
        call: None,
        tasks: None,
        at: world.now(),
        now: world.now(),
        version: world.version(),
        log: world.log_length(),
        events: world.log().since(0).cloned().collect(),
    };
    let step = engine.with_world("test_key", step).expect("a world");
    assert!(!step.events.is_empty());
    let now = step.after();
    let other = Step { events: step.events[1..].to_vec(), ..step };
    assert_ne!(other.after().check, now.check);
}

/// Two requests read the wall clock, and the one with the earlier time gets the world last.
#[test]
fn the_recorded_time_of_the_wall_clock_does_not_go_back() {
    let engine = engine_with(42, ClockMode::Real, None);
    let world = engine.open_world("test_wall").expect("a test key opens a world");
    let world = world.world();
    let tape = Tape::new(Arc::new(Full::default()), WORLD, false);
    let start = world.now();
    for seconds in [2, 1] {
        tape.followed(start.plus_millis(seconds * 1_000), Before::of(&world), &world);
    }
    assert_eq!(tape.wall(&world), Some(start.plus_millis(2_000)));
}

//! Tests of worlds that are written to a checkpoint and read back.

use super::snapshots::walk;
use super::*;
use crate::api::system;
use crate::world::checkpoint::{Records, Rest};

/// The world of the parts, after they were written and read.
fn read_back(world: &World) -> World {
    let (records, rest) = world.clone().into_parts();
    let text = |part: serde_json::Result<String>| part.expect("it serialises");
    let (records, rest) =
        (text(serde_json::to_string(&records)), text(serde_json::to_string(&rest)));
    let records: Records = serde_json::from_str(&records).expect("it reads back");
    let rest: Rest = serde_json::from_str(&rest).expect("it reads back");
    World::from_parts(records, rest, world.base())
}

fn world(engine: &Engine) -> World {
    engine.with_world(KEY, World::clone).expect("open")
}

fn text(world: &World) -> String {
    serde_json::to_string(world).expect("it serialises")
}

#[test]
fn a_world_is_read_back_with_all_its_state_and_continues_alike() {
    for (seed, mode) in [(3, ClockMode::Manual), (4, ClockMode::Instant)] {
        let engine = engine(seed, mode);
        walk(&engine, seed, 0..400);
        let mut original = world(&engine);
        let mut copy = read_back(&original);
        assert!(Arc::ptr_eq(copy.base(), original.base()));
        assert_eq!(copy.digest(), original.digest());
        assert_eq!(text(&copy), text(&original));
        let later = original.now().plus_millis(90 * 86_400_000);
        for world in [&mut copy, &mut original] {
            system::advance(world, later);
        }
        assert_eq!(text(&copy), text(&original));
        assert!(copy.audit().findings.is_empty());
    }
}

#[test]
fn earlier_events_are_read_when_they_were_brought() {
    let engine = engine(5, ClockMode::Manual);
    let company = first_id(&engine, "/api/business/companies");
    let body = json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    for _ in 0..1_500 {
        assert_eq!(
            call(&engine, "POST", "/api/business/employees", &body.to_string()).status(),
            201
        );
    }
    let original = world(&engine);
    let mut copy = read_back(&original);
    let (log, length) = (original.log(), original.log_length());
    let earlier = copy.log().earlier().cloned().expect("it has more events than are stored");
    assert_eq!(copy.digest(), original.digest(), "no earlier event is needed");
    assert_eq!((copy.log().first_sequence(), copy.log().count()), (1, length));
    let same = |copy: &World, sequence: u64| {
        let (one, other) = (copy.log().get(sequence), log.get(sequence));
        one.map(|event| event.id) == other.map(|event| event.id) && one.is_some()
    };
    assert!(same(&copy, length) && same(&copy, length - 900));
    assert!(copy.log().get(2).is_none(), "nothing was announced");

    let mut before = copy.clone();
    earlier.fill_from(log);
    assert!(same(&copy, 2) && same(&copy, length));
    assert_eq!(copy.log().iter().len() as u64, length);
    assert_eq!(copy.log().since(3).count() as u64, length - 3);
    assert_eq!(copy.log().hashes(7), log.hashes(7));
    assert!(same(&before, 2), "copies share what was brought");
    before.limit_events(Some(100));
    assert_eq!((before.log().count(), before.log().len()), (100, length));

    let later = copy.now().plus_millis(40 * 86_400_000);
    system::advance(&mut copy, later);
    assert!(copy.log().earlier().is_none(), "they are part of the log now");
    assert!(same(&copy, 2) && copy.log().len() > length);
    assert!(copy.audit().findings.is_empty());
}

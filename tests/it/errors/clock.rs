//! Invalid moves of the clock.

use serde_json::json;

use crate::harness::Caller;
use crate::harness::http::pointers;

#[test]
fn the_clock_is_moved_in_exactly_one_way_and_never_back() {
    let caller = Caller::manual();
    let before = caller.digest();
    for (body, at) in [
        (json!({}), vec![""]),
        (json!({"by": "1d", "until": "idle"}), vec![""]),
        (json!({"by": "yesterday"}), vec!["/by"]),
        (json!({"by": "-1d"}), vec!["/by"]),
        (json!({"by": 5}), vec!["/by"]),
        (json!({"to": "2025-12-31T00:00:00Z"}), vec!["/to"]),
        (json!({"to": "tomorrow"}), vec!["/to"]),
        (json!({"until": "doomsday"}), vec!["/until"]),
        (json!({"by": "1d", "speed": 2}), vec!["/speed"]),
    ] {
        let problem =
            caller.post("/_sandbox/clock/advance", &body).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), at, "{body}: {problem}");
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn the_clock_stops_at_the_end_of_time() {
    let caller = Caller::manual();
    for by in ["999999999999999d", "99999999999999999999s", "9223372036854775807s", "1000000bd"] {
        let answer = caller.post("/_sandbox/clock/advance", &json!({"by": by}));
        assert!(matches!(answer.status, 200 | 422), "{by}: {}", answer.text());
        caller.audit();
    }
}

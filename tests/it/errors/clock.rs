//! Invalid moves of the clock.

use serde_json::{Value, json};

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
fn an_advance_beyond_the_end_of_time_is_refused() {
    let caller = Caller::manual();
    let advance = |body: &Value| caller.post("/_sandbox/clock/advance", body);
    for body in [
        json!({"by": "999999999999999d"}),
        json!({"by": "99999999999999999999s"}),
        json!({"by": "9223372036854775807s"}),
        json!({"by": "1000000bd"}),
        json!({"to": "2500-01-01T00:00:00Z"}),
    ] {
        advance(&body).refused(422, "validation_failed");
    }
    let end = "2199-12-31T23:59:59.999Z";
    advance(&json!({"to": "2199-12-20T00:00:00Z"})).expect(200);
    let before = caller.digest();
    for by in ["12d", "36500d", "10bd"] {
        let problem = advance(&json!({"by": by})).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/by"], "{by}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(end), "{by}: {problem}");
    }
    assert_eq!(caller.digest(), before);
    advance(&json!({"by": "11d23h59m59s999ms"})).expect(200);
    assert_eq!(caller.now(), end);
    advance(&json!({"by": "1ms"})).refused(422, "validation_failed");
    advance(&json!({"by": "0s"})).expect(200);
    caller.audit();
}

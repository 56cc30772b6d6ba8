//! Which row applies, how often, and the window of a rate.

use super::*;
use crate::world::script::{Latency, Range, When};

const RUN: Exchange<'_> = Exchange { operation: "run_payroll", domain: "business", product: true };
const PAY: Exchange<'_> =
    Exchange { operation: "create_payout", domain: "payments", product: true };
const CLOCK: Exchange<'_> = Exchange { operation: "get_clock", domain: "sandbox", product: false };

fn row(on: &str, status: u16, when: When) -> FaultRow {
    FaultRow {
        on: on.to_owned(),
        when,
        fault: Fault { status: Some(status), ..Fault::default() },
        source: String::new(),
    }
}

fn nth(places: &[u64]) -> When {
    let range = |&place: &u64| Range { first: place, last: Some(place) };
    When { nth: places.iter().map(range).collect(), ..When::default() }
}

fn wire(rows: Vec<FaultRow>) -> Wire {
    let mut wire = Wire::default();
    wire.set(rows, Limits::default(), Key::new(1));
    wire
}

/// Statuses of a number of requests; 0 if no row applies.
fn statuses(wire: &mut Wire, exchange: Exchange<'_>, count: usize) -> Vec<u16> {
    let judge = |_| {
        let verdict = wire.judge(exchange, &|_| true, None, Key::new(1), 0);
        verdict.fault.and_then(|applied| applied.fault.status).unwrap_or(0)
    };
    (0..count).map(judge).collect()
}

#[test]
fn an_operation_a_domain_and_all_of_the_product_can_be_named() {
    for (on, hit) in [
        ("runPayroll", [true, false, false]),
        ("business.*", [true, false, false]),
        ("payments.*", [false, true, false]),
        ("*", [true, true, false]),
        ("sandbox.*", [false, false, true]),
        ("getClock", [false, false, true]),
    ] {
        let mut wire = wire(vec![row(on, 503, When::default())]);
        let got = [RUN, PAY, CLOCK].map(|exchange| statuses(&mut wire, exchange, 1) == [503]);
        assert_eq!(got, hit, "{on}");
    }
}

#[test]
fn nth_and_times_limit_a_row_and_the_first_row_wins() {
    let mut both = wire(vec![row("*", 503, nth(&[1, 3])), row("runPayroll", 500, nth(&[2, 3]))]);
    assert_eq!(statuses(&mut both, RUN, 4), [503, 500, 503, 0]);
    let twice = When { times: Some(2), ..When::default() };
    assert_eq!(statuses(&mut wire(vec![row("*", 429, twice)]), RUN, 4), [429, 429, 0, 0]);
}

#[test]
fn chance_is_drawn_by_the_seed_and_the_place_and_is_the_same_every_run() {
    let half = When { chance_ppm: Some(500_000), ..When::default() };
    let run = || statuses(&mut wire(vec![row("*", 503, half.clone())]), RUN, 400);
    let first = run();
    assert_eq!(first, run());
    let hits = first.iter().filter(|status| **status == 503).count();
    assert!((140..260).contains(&hits), "{hits} of 400");
}

#[test]
fn rows_added_at_run_time_come_first_and_outlive_a_scenario() {
    let mut wire = wire(vec![row("*", 500, When::default())]);
    let id = wire.add(row("*", 503, nth(&[1])), Key::new(1)).id.clone();
    assert_eq!(statuses(&mut wire, RUN, 2), [503, 500]);
    wire.set(Vec::new(), Limits::default(), Key::new(1));
    assert_eq!(wire.rows().len(), 1);
    assert!(wire.remove(&id) && !wire.remove(&id) && !wire.is_armed());
}

#[test]
fn a_window_begins_with_its_first_request_and_ends_by_the_wall_clock() {
    let mut wire = Wire::default();
    let rate = Rate { requests: 2, window_ms: 1_000 };
    wire.set_limits(Limits { rate: Some(rate), ..Limits::default() });
    let mut at = |wall_ms| {
        let allowance =
            wire.judge(RUN, &|_| true, None, Key::new(1), wall_ms).allowance.expect("a limit");
        (allowance.remaining, allowance.reset_ms, allowance.exceeded)
    };
    assert_eq!(at(5_900), (1, 1_000, false));
    assert_eq!(at(6_000), (0, 900, false));
    assert_eq!(at(6_899), (0, 1, true));
    assert_eq!(at(6_900), (1, 1_000, false));
    assert_eq!(wire.judge(CLOCK, &|_| true, None, Key::new(1), 6_901).allowance, None);
}

#[test]
fn latency_stays_within_its_spread_and_is_drawn_by_the_requests_number() {
    let run = || {
        let mut wire = Wire::default();
        let latency = Latency { mean_ms: 110, spread_ms: 20 };
        wire.set_limits(Limits { latency: Some(latency), ..Limits::default() });
        (0..200)
            .map(|_| wire.judge(RUN, &|_| true, None, Key::new(1), 0).latency_ms)
            .collect::<Vec<_>>()
    };
    let drawn = run();
    assert_eq!(drawn, run());
    assert!(drawn.iter().all(|ms| (90..=130).contains(ms)));
    assert!(drawn.iter().min() < Some(&95) && drawn.iter().max() > Some(&125));
}

#[test]
fn a_rate_is_requests_in_a_window() {
    for (text, requests, window_ms) in
        [("100/min", 100, 60_000), ("1/s", 1, 1_000), ("5/10s", 5, 10_000)]
    {
        assert_eq!(parse_rate(text), Ok(Rate { requests, window_ms }), "{text}");
    }
    for text in ["", "100", "0/s", "/s", "-1/s", "1/", "1/0s", "1/2bd", "1e3/s", "99999999999/s"] {
        assert!(parse_rate(text).is_err(), "{text}");
    }
}

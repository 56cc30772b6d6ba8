//! Rows of a scenario that shape deliveries: duplicated, delayed, dropped, reordered, spoilt.

use super::*;
use crate::world::script::{Comparison, Range, Selector, Wanted};

#[test]
fn a_duplicate_is_sent_after_its_original_and_after_its_delay() {
    let mut bench = Bench::ordered();
    bench.shape(Shaping::Duplicate, When::default(), None);
    bench.happens("company.updated", 0);
    bench.happens("company.updated", 1);
    assert_eq!(bench.flush(), [1, 1, 2, 2]);
    bench.shape(Shaping::Duplicate, When::default(), Some(Span::seconds(300)));
    bench.happens("company.updated", 0);
    assert_eq!(bench.flush(), [3]);
    bench.passes_ms(300 * SECOND);
    assert_eq!(bench.flush(), [3]);
}

#[test]
fn a_delay_blocks_later_deliveries_only_of_ordered_endpoints() {
    for (ordered, early) in [(true, vec![]), (false, vec![2])] {
        let mut bench = Bench::of(ClockMode::Manual, ordered);
        let once = When { times: Some(1), ..When::default() };
        bench.shape(Shaping::Delay, once, Some(Span::seconds(60)));
        bench.happens("company.updated", 0);
        bench.happens("company.updated", 1);
        assert_eq!(bench.flush(), early);
        bench.passes_ms(60 * SECOND);
        assert_eq!(bench.flush().first(), Some(&1));
    }
}

#[test]
fn a_dropped_delivery_is_never_sent_and_names_its_row() {
    let mut bench = Bench::ordered();
    bench.shape(Shaping::Drop, When::default(), None);
    bench.happens("company.updated", 0);
    assert_eq!(bench.flush(), [0_u64; 0]);
    assert_eq!(bench.statuses(), [Status::Dropped]);
    let reason = bench.lane().deliveries()[0].reason.clone();
    assert!(reason.unwrap().contains("test.toml:1"));
}

#[test]
fn a_reordered_delivery_waits_for_the_next_of_its_resource_or_its_delay() {
    let once = || When { nth: vec![Range { first: 1, last: Some(1) }], ..When::default() };
    let mut bench = Bench::ordered();
    bench.shape(Shaping::Reorder, once(), Some(Span::seconds(60)));
    for company in [0, 1, 0, 2] {
        bench.happens("company.updated", company);
    }
    assert_eq!(bench.flush(), [2, 3, 1, 4]);
    let mut bench = Bench::ordered();
    bench.shape(Shaping::Reorder, once(), Some(Span::seconds(60)));
    bench.happens("company.updated", 0);
    bench.passes_ms(60 * SECOND - 1);
    assert_eq!(bench.flush(), [0_u64; 0]);
    bench.passes_ms(1);
    assert_eq!(bench.flush(), [1]);
}

#[test]
fn each_row_counts_every_event_that_it_matches() {
    let mut bench = Bench::ordered();
    let row = |nth| WebhookRow {
        on: "company.updated".to_owned(),
        when: When { nth: vec![Range::only(nth)], ..When::default() },
        shape: Shaping::Drop,
        delay: None,
        source: "test.toml:1".to_owned(),
    };
    bench.outbox.set_shaping([1, 2].map(row).to_vec());
    for company in [0, 1, 2] {
        bench.happens("company.updated", company);
    }
    assert_eq!(bench.flush(), [3]);
}

#[test]
fn a_spoilt_delivery_is_spoilt_once_and_comes_whole_the_next_time() {
    use crate::tester::signature::{SignatureCheck, Signed, verify};
    for (shape, found) in [
        (Shaping::BadSignature, SignatureCheck::Invalid),
        (Shaping::StaleTimestamp, SignatureCheck::Stale),
        (Shaping::Truncate, SignatureCheck::Invalid),
    ] {
        let mut bench = Bench::ordered();
        bench.shape(shape, When::default(), None);
        bench.happens("company.updated", 0);
        let seen = |bench: &mut Bench| {
            let job = bench.take().unwrap();
            let message = job.message(bench.wall());
            let timestamp = message.timestamp.to_string();
            let signed = Signed {
                id: Some(&message.id),
                timestamp: Some(&timestamp),
                signatures: Some(&message.signatures),
            };
            let now = bench.wall().millis() / 1_000;
            bench.report(&job, status_of(400, None));
            verify(&job.secrets[0], signed, &message.body, now)
        };
        assert_eq!(seen(&mut bench), found, "{shape:?}");
        bench.passes_ms(5 * SECOND);
        assert_eq!(seen(&mut bench), SignatureCheck::Valid, "{shape:?}");
    }
}

#[test]
fn a_row_acts_on_what_it_selects_as_often_as_it_says_and_counts_its_hits() {
    let mut bench = Bench::ordered();
    let company = bench.world.at::<Company>(1).unwrap();
    let selector = |field: &str, wanted| Selector { field: field.to_owned(), wanted };
    let when = When {
        select: vec![
            selector("company", Wanted::Reference(2)),
            selector("id", Wanted::Is(company.id.to_string().into())),
        ],
        nth: vec![Range { first: 2, last: None }],
        times: Some(1),
        chance_ppm: Some(1_000_000),
    };
    bench.shape(Shaping::Drop, when, None);
    for company in [1, 0, 1, 1] {
        bench.happens("company.updated", company);
    }
    let dropped = [Status::Pending, Status::Pending, Status::Dropped, Status::Pending];
    assert_eq!(bench.statuses(), dropped);
    let hits: Vec<_> = bench.outbox.shaping().hits().collect();
    assert_eq!((hits[0].0.source.as_str(), hits[0].1), ("test.toml:1", 1));
    let never = When {
        select: vec![selector("created_at", Wanted::Compare(Comparison::Less, 5))],
        ..When::default()
    };
    bench.shape(Shaping::Drop, never, None);
    bench.happens("company.updated", 1);
    assert_eq!(bench.statuses().last(), Some(&Status::Pending));
}

#[test]
fn chance_depends_on_the_event_and_not_on_the_order_of_events() {
    let half = || When { chance_ppm: Some(500_000), ..When::default() };
    let dropped = |companies: &[u64]| {
        let mut bench = Bench::ordered();
        bench.shape(Shaping::Drop, half(), None);
        for company in companies {
            bench.happens("company.updated", *company);
        }
        let deliveries = bench.lane().deliveries();
        let mut dropped: Vec<u64> = deliveries
            .iter()
            .filter(|row| row.status == Status::Dropped)
            .map(|row| row.event.id)
            .collect();
        dropped.sort_unstable();
        dropped
    };
    let some = dropped(&[0, 0, 0, 0, 1, 1, 1, 1]);
    assert!(!some.is_empty() && some.len() < 8, "{}", some.len());
    assert_eq!(some, dropped(&[1, 0, 1, 0, 1, 0, 1, 0]));
}

#[test]
fn ids_do_not_depend_on_the_time_at_which_a_duplicate_is_sent() {
    let ids = |is_sent_early: bool| {
        let mut bench = Bench::ordered();
        bench.shape(Shaping::Duplicate, When::default(), None);
        bench.happens("company.updated", 0);
        if is_sent_early {
            assert_eq!(bench.flush(), [1, 1]);
        }
        bench.happens("company.updated", 1);
        bench.flush();
        let deliveries = bench.lane().deliveries().into_iter();
        deliveries.map(|it| (it.id.clone(), it.event.sequence)).collect::<Vec<_>>()
    };
    assert_eq!(ids(true), ids(false));
    assert_eq!(ids(true).len(), 4);
}

//! Deliveries: signed, in order, retried, and logged.

use serde_json::{Value, json};

use super::{deliveries, endpoint, run_payroll, texts};
use crate::harness::Caller;
use crate::harness::receiver::{Delivered, Reaction, Receiver};

#[test]
fn every_event_arrives_signed_in_order_and_as_the_log_shows_it() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let (id, secret) = endpoint(&caller, &receiver, &json!({}));
    run_payroll(&caller);
    caller.advance(&json!({"until": "idle"}));
    let (events, seen) = (caller.events(), receiver.seen());
    assert!(events.len() > 20, "{}", events.len());
    assert_eq!(seen.iter().map(Delivered::event).collect::<Vec<_>>(), events);
    for delivered in &seen {
        assert_eq!(delivered.good_signatures(&secret), 1);
        assert_eq!(delivered.header("webhook-id"), delivered.event()["id"]);
        assert_eq!(delivered.header("content-type"), "application/json");
        assert!(delivered.body.len() < 20_000);
        assert_eq!(delivered.connection, 0, "one connection is kept");
    }
    let rows = deliveries(&caller, &id);
    assert_eq!(rows.len(), events.len());
    assert!(rows.iter().all(|row| row["status"] == "delivered"));
    assert_eq!(rows[0]["attempts"][0]["response"], "ok");
}

#[test]
fn a_request_leads_to_its_events_and_they_to_their_deliveries() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*"]}));
    let company = caller.company(0);
    let answer =
        caller.post("/v1/payroll/run", &json!({"company_id": company, "period": "2026-01"}));
    let request = answer.header("request-id").unwrap();
    receiver.wait_for(1);
    caller.advance(&json!({"by": "1s"}));
    let event = &caller.events()[0];
    assert_eq!(event["request"]["id"], request);
    let of_event = format!("/_sandbox/deliveries?event_id={}", event["id"].as_str().unwrap());
    let rows = caller.all(&of_event);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["request_id"], request);
    assert_eq!(rows[0]["status"], "delivered");
}

#[test]
fn filters_choose_events_and_lists_choose_deliveries() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let (id, _) =
        endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*", "payout.paid"]}));
    run_payroll(&caller);
    caller.advance(&json!({"until": "idle"}));
    let names = receiver.names();
    assert!(names.iter().any(|name| name == "payout.paid"));
    assert!(names.iter().all(|name| name.starts_with("payroll_run.") || name == "payout.paid"));
    let path = format!("/_sandbox/webhook-endpoints/{id}/deliveries");
    let paid = caller.all(&format!("{path}?event_type=payroll_run.paid&status=delivered"));
    assert_eq!(texts(&paid, "event_type"), ["payroll_run.paid"]);
    assert_eq!(caller.all(&format!("{path}?status=exhausted")).len(), 0);
}

#[test]
fn retries_follow_the_schedule_to_the_second_and_resend_starts_again() {
    let caller = Caller::manual();
    let receiver =
        Receiver::start(|_, number| Reaction::status(if number <= 10 { 500 } else { 204 }));
    let (id, secret) = endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
    run_payroll(&caller);
    let advanced = caller.post("/_sandbox/clock/advance", &json!({"by": "10d"})).data();
    let attempts = advanced["deliveries"].as_array().unwrap();
    let at: Vec<&str> = attempts.iter().map(|attempt| attempt["at"].as_str().unwrap()).collect();
    let expected = [
        "2026-01-01T00:00:00.001Z",
        "2026-01-01T00:00:05.001Z",
        "2026-01-01T00:05:05.001Z",
        "2026-01-01T00:35:05.001Z",
        "2026-01-01T02:35:05.001Z",
        "2026-01-01T07:35:05.001Z",
        "2026-01-01T17:35:05.001Z",
        "2026-01-02T07:35:05.001Z",
        "2026-01-03T03:35:05.001Z",
        "2026-01-04T03:35:05.001Z",
    ];
    // The first attempt is made at the event, or during the advance of the clock.
    let rows = deliveries(&caller, &id);
    let all = rows[0]["attempts"].as_array().unwrap();
    let zero = all[0]["at"].as_str().unwrap();
    assert_eq!(&zero[..19], &expected[0][..19]);
    for (attempt, expected) in all.iter().zip(expected) {
        let at = attempt["at"].as_str().unwrap();
        assert_eq!(&at[..19], &expected[..19]);
        assert_eq!(attempt["http_status"], 500);
    }
    assert!(at.len() >= 9, "{at:?}");
    assert_eq!(rows[0]["status"], "exhausted");
    let seen = receiver.seen();
    assert_eq!(seen.len(), 10);
    let ids: Vec<&str> = seen.iter().map(|one| one.header("webhook-id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "the same id on every retry");
    let event = rows[0]["event_id"].as_str().unwrap();
    let path = format!("/_sandbox/events/{event}/resend");
    let sent = caller.post(&path, &json!({"endpoint_id": id})).expect(200);
    assert_eq!(sent["data"].as_array().unwrap().len(), 1);
    let again = receiver.wait_for(11);
    assert_eq!(again[10].good_signatures(&secret), 1);
    assert_eq!(again[10].event(), again[0].event());
}

#[test]
fn without_a_manual_clock_retries_come_by_themselves_within_seconds() {
    let caller = Caller::instant();
    let receiver =
        Receiver::start(|_, number| Reaction::status(if number <= 3 { 503 } else { 200 }));
    let (id, _) = endpoint(&caller, &receiver, &json!({"events": ["payroll_run.paid"]}));
    run_payroll(&caller);
    receiver.wait_for(4);
    assert_eq!(receiver.names(), ["payroll_run.paid"; 4]);
    let rows = deliveries(&caller, &id);
    assert_eq!(rows[0]["attempts"][2]["http_status"], 503);
}

#[test]
fn a_rotated_secret_gives_two_signatures_and_both_are_good() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let (id, old) = endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
    let path = format!("/_sandbox/webhook-endpoints/{id}/rotate-secret");
    let new = caller.post(&path, &json!({})).data();
    let new = new["secret"].as_str().unwrap();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let first = &receiver.wait_for(1)[0];
    assert_eq!((first.good_signatures(&old), first.good_signatures(new)), (1, 1));
    caller.advance(&json!({"by": "24h"}));
    caller.run_payroll(&company, "2026-02");
    let second = &receiver.wait_for(2)[1];
    assert_eq!((second.good_signatures(&old), second.good_signatures(new)), (0, 1));
}

#[test]
fn status_410_disables_the_endpoint_until_a_caller_enables_it() {
    let caller = Caller::manual();
    let receiver =
        Receiver::start(|_, number| Reaction::status(if number == 1 { 410 } else { 200 }));
    let (id, _) = endpoint(&caller, &receiver, &json!({}));
    run_payroll(&caller);
    caller.advance(&json!({"by": "1d"}));
    let path = format!("/_sandbox/webhook-endpoints/{id}");
    let shown = caller.get(&path).data();
    assert_eq!(shown["status"], "disabled");
    assert!(shown["disabled_reason"].as_str().unwrap().contains("410"));
    assert_eq!(receiver.seen().len(), 1);
    caller.patch(&path, &json!({"status": "enabled"})).expect(200);
    caller.run_payroll(&caller.company(1), "2026-01");
    receiver.wait_for(2);
}

#[test]
fn a_redirect_is_not_followed() {
    let (caller, elsewhere) = (Caller::manual(), Receiver::taking());
    let location = format!("Location: {}", elsewhere.url());
    let receiver =
        Receiver::start(move |_, _| Reaction::Answer(307, vec![location.clone()], Vec::new()));
    let (id, _) = endpoint(&caller, &receiver, &json!({"events": ["payroll_run.created"]}));
    run_payroll(&caller);
    caller.advance(&json!({"by": "5s"}));
    assert_eq!(receiver.seen().len(), 2);
    assert_eq!(elsewhere.seen().len(), 0);
    assert_eq!(deliveries(&caller, &id)[0]["status"], "failed");
}

#[test]
fn endpoints_are_independent_and_do_not_change_the_world() {
    let (caller, alone) = (Caller::manual(), Caller::manual());
    let receivers: Vec<Receiver> = (0..8)
        .map(|place| {
            Receiver::start(move |_, _| Reaction::status(if place == 0 { 500 } else { 200 }))
        })
        .collect();
    for receiver in &receivers {
        endpoint(&caller, receiver, &json!({}));
    }
    for caller in [&caller, &alone] {
        run_payroll(caller);
        caller.advance(&json!({"by": "40d"}));
    }
    assert_eq!(caller.digest(), alone.digest());
    let events = caller.events().len();
    for receiver in &receivers[1..] {
        assert_eq!(receiver.seen().len(), events);
    }
    assert!(receivers[0].seen().len() > 10);
}

/// The numbers of the attempts in the log, each with its error or status.
fn attempts(caller: &Caller, id: &str) -> Vec<Vec<String>> {
    let result = |attempt: &Value| {
        let error = attempt["error"].as_str();
        error.map_or_else(|| attempt["http_status"].to_string(), str::to_owned)
    };
    let of = |row: &Value| row["attempts"].as_array().unwrap().iter().map(result).collect();
    deliveries(caller, id).iter().map(of).collect()
}

#[test]
fn a_receiver_that_reads_a_delivery_and_closes_gets_it_again_after_the_schedule_only() {
    let caller = Caller::manual();
    // The connection is in use when the second delivery is read and not answered.
    let receiver =
        Receiver::start(
            |_, number| {
                if number == 2 { Reaction::Reset } else { Reaction::status(200) }
            },
        );
    let (id, _) = endpoint(&caller, &receiver, &json!({"events": ["wallet.credited"]}));
    credit(&caller, &receiver, 1);
    credit(&caller, &receiver, 2);
    assert_eq!(receiver.seen().len(), 2, "no silent repetition");
    let logged = attempts(&caller, &id);
    assert_eq!((logged[0].as_slice(), logged[1].len()), (&["200".to_owned()][..], 1));
    assert!(logged[1][0].contains("closed before message completed"), "{logged:?}");
    caller.advance(&json!({"by": "10s"}));
    let seen = receiver.wait_for(3);
    let numbers: Vec<_> = seen.iter().map(|one| one.header("sandbox-attempt")).collect();
    assert_eq!(numbers, ["1", "1", "2"]);
    assert_eq!(seen[1].header("webhook-id"), seen[2].header("webhook-id"));
    assert_eq!(attempts(&caller, &id)[1][1], "200");
}

#[test]
fn a_receiver_that_closes_after_each_answer_gets_each_delivery_at_its_first_attempt() {
    let caller = Caller::manual();
    let receiver = Receiver::start(|_, _| Reaction::AnswerAndClose);
    let (id, _) = endpoint(&caller, &receiver, &json!({"events": ["wallet.credited"]}));
    (1..=5).for_each(|count| credit(&caller, &receiver, count));
    assert_eq!(attempts(&caller, &id), [["200"]; 5]);
    assert_eq!(receiver.seen().len(), 5);
}

#[test]
fn equal_calls_with_another_key_or_after_a_restore_send_equal_ids_and_bodies() {
    let sent = || {
        let (caller, receiver) = (Caller::manual(), Receiver::taking());
        endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*"]}));
        let snapshot = caller.post("/_sandbox/snapshots", &json!({})).made();
        let run = || {
            run_payroll(&caller);
            caller.advance(&json!({"until": "idle"}));
        };
        run();
        let path = format!("/_sandbox/snapshots/{}/restore", snapshot["id"].as_str().unwrap());
        caller.post(&path, &json!({})).expect(200);
        run();
        let seen = receiver.seen();
        let bytes = |one: &Delivered| (one.header("webhook-id").to_owned(), one.body.clone());
        seen.iter().map(bytes).collect::<Vec<_>>()
    };
    let first = sent();
    let (before, after) = first.split_at(first.len() / 2);
    assert!(!before.is_empty());
    assert_eq!(before, after, "a restored snapshot");
    assert_eq!(first, sent(), "another key");
}

#[test]
fn a_loaded_outage_drops_three_webhooks_and_the_client_resends_them() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    let name = "webhook-outage-and-recovery";
    caller.post(&format!("/_sandbox/scenarios/{name}/load"), &json!({})).expect(200);
    endpoint(&caller, &receiver, &json!({"events": ["payroll_run.*"]}));
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-03");
    caller.advance(&json!({"by": "60d"}));
    let arrived = ["payroll_run.funded", "payroll_run.processing", "payroll_run.paid"];
    assert_eq!(receiver.names(), arrived);
    let dropped = caller.all("/_sandbox/deliveries?status=dropped");
    let lost = ["payroll_run.created", "payroll_run.calculated", "payroll_run.approved"];
    assert_eq!(texts(&dropped, "event_type"), lost);
    for event in texts(&dropped, "event_id") {
        caller.post(&format!("/_sandbox/events/{event}/resend"), &json!({})).expect(200);
    }
    receiver.wait_for(6);
    let mut names = receiver.names();
    names.sort_unstable();
    let mut all = [arrived, lost].concat();
    all.sort_unstable();
    assert_eq!(names, all);
    let listed = caller.get("/_sandbox/scenarios").data();
    let row = listed.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    assert!(row["about"].as_str().unwrap().contains("The client must read the missed events"));
}

/// Causes one delivery, and waits until that many have arrived.
fn credit(caller: &Caller, receiver: &Receiver, count: usize) {
    let body = json!({"company_id": caller.company(0), "amount": 100});
    caller.post("/_sandbox/inbound/bank_transfer", &body).expect(200);
    receiver.wait_for(count);
    caller.advance(&json!({"by": "1s"}));
}

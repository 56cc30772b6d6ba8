//! Statuses and events with both clocks.

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number, platform_fee};

use super::{LIFE, count, items, payslips, statuses, wallet};

#[test]
fn in_an_instant_world_a_run_is_paid_before_the_next_request() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let accepted = caller.run_payroll(&company, "2026-01");
    assert_eq!(statuses(&accepted), ["calculating"]);
    let run = caller.run(id(&accepted));
    assert_eq!(run["status"], "paid");
    assert_eq!(statuses(&run), LIFE);
    let settled = json!({"paid": accepted["employee_count"], "failed": 0, "pending": 0});
    assert_eq!(run["settlement"], settled);
    assert_eq!(run["blockers"], json!([]));
    let times: Vec<&str> = run["status_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["at"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
    let clock = caller.get("/_sandbox/clock").data();
    let waits: Vec<&serde_json::Value> =
        clock["next"].as_array().unwrap().iter().map(|d| &d["task"]).collect();
    assert_eq!(waits, ["fall_due"; 5], "only taxes wait for their day");
    caller.audit();
}

#[test]
fn in_a_manual_world_a_run_waits_for_the_clock_at_every_step() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let accepted = caller.run_payroll(&company, "2026-01");
    let people = accepted["employees"].as_array().unwrap().len();
    let status = || caller.run(id(&accepted))["status"].as_str().unwrap().to_owned();
    assert_eq!(caller.run(id(&accepted)), accepted, "nothing moves by itself");

    assert_eq!(caller.advance(&json!({"by": "1s"})), [""; 0]);
    assert_eq!(status(), "calculating");
    let calculated = caller.advance(&json!({"by": "1s"}));
    assert_eq!(calculated[..2], ["payroll_run.calculated", "payroll_run.approved"]);
    assert!(calculated[2..].iter().all(|name| name == "tax_liability.created"), "{calculated:?}");
    let run = caller.run(id(&accepted));
    assert_eq!(run["status"], "approved");
    assert_eq!(
        run["pay_date"], "2026-01-23",
        "the 25th is a Sunday: wages come on the Friday before"
    );
    assert_eq!(run["funding"]["reserved"], 0);
    assert!(
        items(&caller, &run)
            .iter()
            .all(|item| item["status"] == "ready" && item["payout_id"].is_null())
    );

    assert_eq!(caller.advance(&json!({"to": "2026-01-22T15:59:59.999Z"})), [""; 0]);
    let before = wallet(&caller, &company);
    let funded = caller.advance(&json!({"to": "2026-01-22T16:00:00.000Z"}));
    assert_eq!(funded[..2], ["payroll_run.funded", "wallet.debited"]);
    assert_eq!(count(&funded, "payout.created"), people);
    assert_eq!(funded.last().unwrap(), "payroll_run.processing");
    assert_eq!(status(), "processing");
    let cost = number(&caller.run(id(&accepted))["totals"]["employer_cost"]);
    let reserved = wallet(&caller, &company);
    assert_eq!(
        number(&before["available"]) - number(&reserved["available"]),
        cost + platform_fee(&caller.run(id(&accepted)))
    );
    assert_eq!(number(&reserved["reserved"]) - number(&before["reserved"]), cost);

    let sent = caller.advance(&json!({"to": "2026-01-23T09:00:00.000Z"}));
    assert_eq!(count(&sent, "payout.processing"), people);
    assert_eq!(count(&sent, "payout.sent"), people);
    assert_eq!(sent.len(), 2 * people);
    assert_eq!(payslips(&caller, &accepted).len(), 0, "a payslip is issued when its item is paid");

    let weekend = caller.advance(&json!({"to": "2026-01-27T08:59:59.999Z"}));
    assert_eq!(weekend, [""; 0], "two business days end on Tuesday");
    let paid = caller.advance(&json!({"until": "idle"}));
    for name in ["payout.paid", "payslip.issued", "payroll_item.paid"] {
        assert_eq!(count(&paid, name), people, "{name}");
    }
    assert_eq!(paid.last().unwrap(), "payroll_run.paid");
    assert_eq!(caller.now(), "2026-01-27T09:00:00.000Z");
    assert_eq!(statuses(&caller.run(id(&accepted))), LIFE);
    assert_eq!(payslips(&caller, &accepted).len(), people);
    caller.audit();
}

#[test]
fn until_next_event_stops_at_each_timer() {
    let caller = Caller::manual();
    let run = caller.run_payroll(&caller.company(0), "2026-01");
    let next = json!({"until": "next_event"});
    assert_eq!(caller.advance(&next)[0], "payroll_run.calculated");
    assert_eq!(caller.advance(&next)[0], "payroll_run.funded");
    assert_eq!(caller.advance(&next)[0], "payout.processing");
    assert_eq!(caller.advance(&next), ["payout.paid", "payslip.issued", "payroll_item.paid"]);
    assert_eq!(caller.run(id(&run))["settlement"]["paid"], 1);
}

#[test]
fn a_run_in_both_clocks_comes_to_the_same_figures() {
    let (instant, manual) = (Caller::instant(), Caller::manual());
    let company = instant.company(0);
    let one = instant.run_payroll(&company, "2026-01");
    let two = manual.run_payroll(&company, "2026-01");
    manual.advance(&json!({"until": "idle"}));
    assert_eq!(one["id"], two["id"]);
    let (one, two) = (instant.run(id(&one)), manual.run(id(&two)));
    assert_eq!(one["totals"], two["totals"]);
    assert_eq!(statuses(&one), statuses(&two));
    let names = |caller: &Caller| -> Vec<String> {
        let mut names: Vec<String> =
            caller.events().iter().map(|e| e["type"].to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&instant), names(&manual));
}

fn blockers_of(run: &Value) -> Vec<&str> {
    let blockers = run["blockers"].as_array().unwrap();
    blockers.iter().map(|one| one.as_str().unwrap()).collect()
}

#[test]
fn a_short_wallet_fails_the_funding_and_pays_no_employee() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let run = (0..60)
        .map(|month| format!("{}-{:02}", 2026 + month / 12, month % 12 + 1))
        .map(|period| caller.run(id(&caller.run_payroll(&company, &period))))
        .find(|run| run["status"] != "paid")
        .expect("no wallet lasts for five years without income");
    assert_eq!(run["status"], "funding_failed");
    assert!(run["period"].as_str().unwrap() > "2026-03", "three months are in the wallet: {run}");
    assert_eq!(
        statuses(&run),
        ["calculating", "calculated", "approved", "funding", "funding_failed"]
    );
    let wallet = wallet(&caller, &company);
    let funding = &run["funding"];
    assert_eq!(funding["required"], run["totals"]["employer_cost"]);
    assert_eq!(funding["reserved"], 0);
    // All runs of an instant world are in one month: the earlier volume moves later ones into cheaper tiers.
    let without = number(&funding["required"]) - number(&wallet["available"]);
    let shortfall = number(&funding["shortfall"]);
    assert!(shortfall > without && shortfall <= without + platform_fee(&run), "{run}");
    assert!(blockers_of(&run)[0].contains("the platform fee of"), "{run}");
    let blockers = blockers_of(&run);
    assert_eq!(blockers.len(), 1);
    assert!(blockers[0].contains(id(&wallet)), "{blockers:?}");
    assert_eq!(payslips(&caller, &run).len(), 0);
    assert!(items(&caller, &run).iter().all(|item| item["status"] == "ready"));
    let events = caller.events();
    let last = &events.last().unwrap();
    assert_eq!(last["type"], "payroll_run.funding_failed");
    assert_eq!(last["data"]["object"]["id"], run["id"]);
    caller.audit();
}

#[test]
fn a_run_of_a_company_with_approvals_waits_for_approval() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let change = json!({"payroll_settings": {"approval_required": true}});
    caller.patch(&format!("/api/business/companies/{company}"), &change).expect(200);
    let run = caller.run_payroll(&company, "2026-01");
    let run = caller.run(id(&run));
    assert_eq!(statuses(&run), ["calculating", "calculated", "pending_approval"]);
    assert!(run["funding"].is_null());
    assert_eq!(caller.events().last().unwrap()["type"], "payroll_run.pending_approval");
    caller.audit();
}

#[test]
fn events_are_numbered_and_name_the_request_that_caused_them() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({"company_id": company, "period": "2026-01"});
    let request =
        caller.request("POST", "/v1/payroll/run").header("Idempotency-Key", "k-1").json(&body);
    let answer = caller.send(&request);
    let run = answer.expect(201)["data"].take();
    let events = caller.events();
    for (place, event) in (1..).zip(&events) {
        assert_eq!(event["sequence"], place);
        assert_eq!(event["livemode"], false);
        assert_eq!(event["company_id"], json!(company));
    }
    let first = &events[0];
    assert_eq!(first["type"], "payroll_run.created");
    assert_eq!(first["data"]["object"], run);
    assert_eq!(first["data"]["previous"], json!({}));
    let origin = json!({"id": answer.header("request-id").unwrap(), "idempotency_key": "k-1"});
    assert_eq!(first["request"], origin);
    assert!(events[1]["request"].is_null(), "the clock did it: {}", events[1]);
    assert_eq!(events[1]["type"], "payroll_run.calculated");
    assert_eq!(events[1]["data"]["previous"]["status"], "calculating");
    let of_runs = caller.all("/_sandbox/events?type=payroll_run.*&sort=sequence");
    assert!(of_runs.len() > 4 && of_runs.len() < events.len());
    let tail = caller.all("/_sandbox/events?after=3");
    assert_eq!(tail, events[3..]);
}

/// The first event of that type, and its record in the audit log.
fn happened(caller: &Caller, name: &str) -> (Value, Value) {
    let event = caller.all(&format!("/_sandbox/events?type={name}&sort=sequence")).remove(0);
    let path =
        format!("/api/business/audit-logs?company_id={}", event["company_id"].as_str().unwrap());
    let mut records = caller.all(&path).into_iter();
    let record = records.find(|record| record["event_id"] == event["id"]).unwrap();
    let record = caller.get(&format!("/api/business/audit-logs/{}", id(&record))).data();
    (event, record)
}

#[test]
fn the_events_of_an_item_say_what_changed() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let people = caller.two_with_one_beyond_the_balance(&company);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    caller.send(&request.header("Sandbox-Scenario", "payout.settle=returned_late")).expect(201);
    caller.advance(&json!({"by": "60d"}));
    for (name, before, after) in [
        ("payroll_item.failed", "ready", "failed"),
        ("payroll_item.paid", "processing", "paid"),
        ("payroll_item.returned", "paid", "returned"),
    ] {
        let (event, record) = happened(&caller, name);
        assert_eq!(event["data"]["object"]["status"], after, "{event}");
        assert_eq!(event["data"]["previous"]["status"], before, "{event}");
        assert_eq!(record["before"]["status"], before, "{record}");
        let changed = record["changed_fields"].as_array().unwrap();
        assert!(changed.contains(&json!("status")), "{record}");
    }
    caller.audit();
}

//! Reads for the dashboard: events over time, the months of a company, and one delivery with its headers and body.

use std::collections::BTreeMap;

use serde_json::json;

use crate::harness::Caller;
use crate::harness::receiver::Receiver;
use crate::harness::world::{id, number};

#[test]
fn events_are_counted_over_virtual_time() {
    let caller = Caller::manual();
    let empty = caller.get("/_sandbox/events/histogram").data();
    assert_eq!((&empty["total"], &empty["buckets"]), (&json!(0), &json!([])));
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let events = caller.events();
    for buckets in [1, 7, 1_000] {
        let path = format!("/_sandbox/events/histogram?buckets={buckets}");
        let histogram = caller.get(&path).data();
        let rows = histogram["buckets"].as_array().unwrap();
        assert!(rows.len() <= buckets, "{histogram}");
        assert_eq!(histogram["total"], events.len());
        let sum: i64 = rows.iter().map(|row| number(&row["count"])).sum();
        assert_eq!(usize::try_from(sum).unwrap(), events.len());
        for row in rows {
            let at = |member: &str| &events[usize::try_from(number(&row[member])).unwrap() - 1]["timestamp"];
            assert_eq!((&row["from"], &row["to"]), (at("first_sequence"), at("last_sequence")));
        }
        assert!(rows.windows(2).all(|pair| pair[0]["to"].as_str() <= pair[1]["from"].as_str()));
    }
    let paid = caller.get("/_sandbox/events/histogram?type=payout.paid").data();
    let expected = events.iter().filter(|event| event["type"] == "payout.paid").count();
    assert_eq!(paid["total"], expected);
    let other = caller.company(1);
    let none = caller.get(&format!("/_sandbox/events/histogram?company_id={other}")).data();
    assert_eq!(none["total"], 0);
    caller.get("/_sandbox/events/histogram?buckets=0").refused(422, "validation_failed");
}

#[test]
fn the_months_of_a_company_are_those_of_its_reports() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "40d"}));
    let series = caller.get(&format!("/_sandbox/series?company_id={company}&months=4")).data();
    let months = series["months"].as_array().unwrap();
    let names: Vec<_> = months.iter().map(|month| month["month"].as_str().unwrap()).collect();
    assert_eq!(names, ["2025-11", "2025-12", "2026-01", "2026-02"]);
    for month in months {
        let (from, to) = (month["from"].as_str().unwrap(), month["to"].as_str().unwrap());
        let path = "/api/business/reports/profit-and-loss";
        let report = caller.get(&format!("{path}?company_id={company}&from={from}&to={to}")).data();
        for member in ["revenue", "total_revenue", "expenses", "total_expenses", "net_profit"] {
            assert_eq!(month[member], report[member], "{member} of {month}");
        }
        let costs = ["wages", "contractors", "employer_contributions"];
        let of_payroll = report["expenses"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| costs.contains(&line["account"].as_str().unwrap()));
        let payroll: i64 = of_payroll.map(|line| number(&line["amount"])).sum();
        assert_eq!(number(&month["payroll"]), payroll);
        let accounts = caller.all(&format!(
            "/api/business/ledger-accounts?company_id={company}&as_of={to}&currency=NGN"
        ));
        let held = ["cash_available", "cash_reserved", "escrow_held"];
        let held = accounts.iter().filter(|row| held.contains(&row["code"].as_str().unwrap()));
        assert_eq!(number(&month["cash"]), held.map(|row| number(&row["balance"])).sum::<i64>());
    }
    assert!(
        months.iter().all(|month| number(&month["payroll"]) > 0 || month["month"] == "2026-02")
    );
    let usual = caller.get(&format!("/_sandbox/series?company_id={company}")).data();
    assert_eq!(usual["months"].as_array().unwrap().len(), 12);
    let until = caller.get(&format!("/_sandbox/series?company_id={company}&months=1&to=2025-03"));
    assert_eq!(until.data()["months"][0]["month"], "2025-03");
    caller.get("/_sandbox/series?company_id=com_0000000000000").refused(404, "resource_not_found");
}

#[test]
fn a_delivery_shows_what_was_sent_to_the_byte() {
    let caller = Caller::instant();
    let receiver = Receiver::taking();
    let endpoint = json!({"url": receiver.url(), "events": ["employee.*"]});
    let made = caller.post("/_sandbox/webhook-endpoints", &endpoint).made();
    let employee = caller.payable(&caller.company(0))[0].clone();
    let path = format!("/api/business/employees/{employee}");
    caller.patch(&path, &json!({"role": "Chair"})).expect(200);
    let seen = &receiver.wait_for(1)[0];
    let listed = loop {
        let listed = caller.all("/_sandbox/deliveries");
        if listed[0]["status"] == "delivered" {
            break listed[0].clone();
        }
    };
    let detail = caller.get(&format!("/_sandbox/deliveries/{}", id(&listed))).data();
    assert_eq!(detail["delivery"], listed);
    assert_eq!(
        detail["url"].as_str().unwrap().trim_end_matches('/'),
        receiver.url().trim_end_matches('/')
    );
    assert_eq!(detail["body"].as_str().unwrap().as_bytes(), seen.body);
    let sent: BTreeMap<String, String> =
        serde_json::from_value(detail["sent"][0]["headers"].clone()).unwrap();
    for (name, value) in &sent {
        assert_eq!(value, seen.header(name), "{name}");
    }
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature", "sandbox-attempt"] {
        assert!(sent.contains_key(name), "{name}");
    }
    assert_eq!(seen.good_signatures(made["secret"].as_str().unwrap()), 1);
    assert_eq!(detail["sent"][0]["body_bytes"], seen.body.len());
    caller.get("/_sandbox/deliveries/whd_nothing").refused(404, "resource_not_found");
}

#[test]
fn a_filter_of_no_event_type_is_refused_with_the_nearest() {
    let caller = Caller::instant();
    for path in ["/_sandbox/events", "/_sandbox/events/stream", "/_sandbox/events/histogram"] {
        for (filter, near) in [("payot.*", "payout.*"), ("payout.payed", "payout.paid")] {
            let answer = caller.get(&format!("{path}?type={filter}"));
            let refusal = answer.refused(422, "validation_failed");
            assert_eq!(refusal["errors"][0]["pointer"], "/type");
            let detail = refusal["detail"].as_str().unwrap();
            assert!(detail.ends_with(&format!("did you mean {near}")), "{detail}");
        }
        caller.get(&format!("{path}?type=hovercraft.landed")).refused(422, "validation_failed");
    }
    caller.get("/_sandbox/events?type=payout.*").expect(200);
}

#[test]
fn an_early_refusal_has_the_time_of_the_world_or_none() {
    let caller = Caller::manual();
    caller.post("/_sandbox/clock/advance", &json!({"by": "3d"})).expect(200);
    let now = caller.now();
    let path = format!("/api/business/companies/{}", caller.company(0));
    let csv = caller.send(&caller.request("GET", &path).header("Accept", "text/csv"));
    csv.refused(406, "not_acceptable");
    let old = caller.send(&caller.request("GET", &path).header("Api-Version", "1999-01-01"));
    old.refused(400, "invalid_header");
    for refusal in [csv, old, caller.get("/nowhere")] {
        assert_eq!(refusal.header("sandbox-time"), Some(&*now), "{}", refusal.text());
    }
    let without_key = crate::harness::Request::new("GET", &path).send(caller.port());
    without_key.refused(401, "missing_credentials");
    assert_eq!(without_key.header("sandbox-time"), None);
}

//! `Sandbox-Observer: 1`: a read that leaves no trace.

use serde_json::json;

use crate::harness::Caller;

const COMPANIES: &str = "/api/business/companies";
const REQUESTS: &str = "/_sandbox/requests";

fn logged(caller: &Caller) -> u64 {
    caller.get(REQUESTS).expect(200)["meta"]["total"].as_u64().unwrap()
}

#[test]
fn an_observing_read_is_answered_and_not_logged() {
    let caller = Caller::instant();
    let plain = caller.get(COMPANIES);
    let before = logged(&caller);
    let observe = |path: &str| caller.request("GET", path).header("Sandbox-Observer", "1");
    let seen = caller.send(&observe(COMPANIES));
    assert_eq!((seen.status, &seen.body), (200, &plain.body));
    caller.send(&observe("/api/business/companies/com_nothing")).refused(404, "resource_not_found");
    caller.send(&observe("/api/business/employees?per_page=0")).refused(422, "validation_failed");
    caller.send(&observe("/nowhere")).refused(404, "route_not_found");
    assert_eq!(logged(&caller), before, "not even a refusal");
    let verify = json!({"operation": "listCompanies", "times": 1});
    assert_eq!(caller.post("/_sandbox/requests/verify", &verify).data()["verdict"], "pass");
}

#[test]
fn an_observing_read_uses_no_fault_and_no_limit() {
    let caller = Caller::instant();
    let fault = json!({"on": "listCompanies", "status": 503, "nth": 2});
    assert_eq!(caller.post("/_sandbox/faults", &fault).status, 201);
    caller.send(&caller.request("PUT", "/_sandbox/limits").json(&json!({"rate": "2/min"})));
    for _ in 0..5 {
        let seen = caller.send(&caller.request("GET", COMPANIES).header("Sandbox-Observer", "1"));
        assert_eq!(seen.status, 200, "{}", seen.text());
        assert_eq!(seen.header("ratelimit"), None);
    }
    let counters = caller.get("/_sandbox/faults").expect(200)["data"][0].clone();
    assert_eq!((&counters["asked"], &counters["hits"]), (&json!(0), &json!(0)));
    assert_eq!(caller.get(COMPANIES).status, 200, "the first call that counts");
    assert_eq!(caller.get(COMPANIES).status, 503, "the second");
    assert_eq!(caller.get(COMPANIES).status, 429, "beyond the limit");
}

#[test]
fn only_a_get_can_observe_and_the_only_value_is_1() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let body = json!({"company_id": company, "period": "2026-01"});
    let post =
        caller.request("POST", "/v1/payroll/run").header("Sandbox-Observer", "1").json(&body);
    let digest = caller.digest();
    let refusal = caller.send(&post);
    refusal.refused(400, "invalid_header");
    assert!(refusal.text().contains("only a GET can observe"), "{}", refusal.text());
    assert_eq!(caller.digest(), digest, "nothing changed");
    for value in ["0", "true", "", "1, 1"] {
        let get = caller.request("GET", COMPANIES).header("Sandbox-Observer", value);
        caller.send(&get).refused(400, "invalid_header");
    }
    let twice = caller.request("GET", COMPANIES).header("Sandbox-Observer", "1");
    caller.send(&twice.header("Sandbox-Observer", "1")).refused(400, "invalid_header");
}

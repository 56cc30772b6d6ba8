//! The headers of replies, and those that a caller may send.

use serde_json::json;

use crate::harness::world::id;
use crate::harness::{Answer, Caller, Request};

const EMPLOYEES: &str = "/api/business/employees";

fn first_employee(caller: &Caller) -> String {
    let first = caller.get(EMPLOYEES).data();
    format!("{EMPLOYEES}/{}", id(&first[0]))
}

fn etag(answer: &Answer) -> String {
    let etag = answer.header("etag").expect("a single resource has a tag");
    assert!(etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    etag.to_owned()
}

#[test]
fn every_reply_has_an_id_and_the_virtual_time() {
    let caller = Caller::instant();
    let requests = [
        caller.request("GET", EMPLOYEES),
        caller.request("POST", EMPLOYEES).json(&json!({})),
        caller.request("DELETE", EMPLOYEES),
        caller.request("GET", "/nowhere"),
        caller.request("GET", "/_sandbox/health"),
        caller.request("GET", "/_sandbox/info"),
        Request::new("GET", EMPLOYEES),
        Request::new("GET", "/_sandbox/health"),
        caller.request("POST", EMPLOYEES).bytes(b"{}"),
    ];
    for request in requests {
        let answer = caller.send(&request);
        let what = format!("{} {} {}", request.method(), request.path(), answer.status);
        let id = answer.header("request-id").unwrap_or_else(|| panic!("{what}: no Request-Id"));
        assert!(id.starts_with("req_") && id.len() == 17, "{what}: {id}");
        // Without a key there is no world, and so no time.
        if answer.status == 401 {
            assert_eq!(answer.header("sandbox-time"), None, "{what}");
        } else {
            let time =
                answer.header("sandbox-time").unwrap_or_else(|| panic!("{what}: no Sandbox-Time"));
            let is_now = time.starts_with("2026-01-01T00:00:00.") && time.ends_with('Z');
            assert!(is_now, "{what}: {time}");
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
    }
}

#[test]
fn the_id_of_a_read_depends_on_the_request_and_of_a_write_on_its_position() {
    let caller = Caller::instant();
    let id = |answer: &Answer| answer.header("request-id").unwrap().to_owned();
    let (list, page) =
        (id(&caller.get(EMPLOYEES)), id(&caller.get(&format!("{EMPLOYEES}?page=2"))));
    assert_ne!(list, page);
    assert_eq!(id(&caller.get(EMPLOYEES)), list);
    let path = first_employee(&caller);
    let write = || id(&caller.patch(&path, &json!({"role": "Chair"})));
    let (one, two) = (write(), write());
    assert_ne!(one, two);
    assert_ne!(id(&caller.get(EMPLOYEES)), list, "the world has changed");
}

#[test]
fn the_time_of_a_reply_moves_with_the_clock() {
    let caller = Caller::manual();
    let time = |answer: &Answer| answer.header("sandbox-time").unwrap().to_owned();
    assert_eq!(time(&caller.get(EMPLOYEES)), "2026-01-01T00:00:00.000Z");
    caller.post("/_sandbox/clock/advance", &json!({"by": "10d"})).expect(200);
    assert_eq!(time(&caller.get(EMPLOYEES)), "2026-01-11T00:00:00.000Z");
    assert_eq!(time(&caller.get(&format!("{EMPLOYEES}?page=0"))), "2026-01-11T00:00:00.000Z");
}

#[test]
fn the_reply_to_a_write_has_the_time_of_its_acceptance() {
    let caller = Caller::instant();
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    let answer = caller.post("/v1/payroll/run", &body);
    assert_eq!(answer.header("sandbox-time"), answer.expect(201)["data"]["created_at"].as_str());
}

#[test]
fn a_single_resource_has_a_tag_that_changes_with_it() {
    let caller = Caller::instant();
    let path = first_employee(&caller);
    let before = caller.get(&path);
    assert_eq!(etag(&caller.get(&path)), etag(&before));
    let changed = caller.patch(&path, &json!({"role": "Chair"}));
    assert_ne!(etag(&changed), etag(&before));
    assert_eq!(etag(&caller.get(&path)), etag(&changed));
    assert_eq!(caller.get(EMPLOYEES).header("etag"), None);
}

#[test]
fn if_none_match_returns_304_for_an_unchanged_resource() {
    let caller = Caller::instant();
    let path = first_employee(&caller);
    let tag = etag(&caller.get(&path));
    for wanted in [tag.clone(), format!("\"other\", {tag}"), format!("W/{tag}"), "*".to_owned()] {
        let answer = caller.send(&caller.request("GET", &path).header("If-None-Match", &wanted));
        assert_eq!((answer.status, answer.body.len()), (304, 0), "{wanted}");
        assert_eq!(etag(&answer), tag);
        assert!(answer.header("request-id").is_some());
    }
    let other = caller.request("GET", &path).header("If-None-Match", "\"other\"");
    caller.send(&other).expect(200);
    assert_eq!(caller.send(&other.header("If-None-Match", &tag)).status, 304, "lines are one list");
    caller.patch(&path, &json!({"role": "Chair"})).expect(200);
    let answer = caller.send(&caller.request("GET", &path).header("If-None-Match", &tag));
    assert_eq!(answer.data()["role"], "Chair");
}

#[test]
fn if_match_refuses_a_change_of_an_old_version() {
    let caller = Caller::instant();
    let path = first_employee(&caller);
    let change = |tag: &str, role: &str| {
        caller.send(
            &caller.request("PATCH", &path).header("If-Match", tag).json(&json!({"role": role})),
        )
    };
    let stale = etag(&caller.get(&path));
    let current = etag(&change(&stale, "Chair"));
    let before = caller.digest();
    for wrong in [stale.as_str(), "\"other\"", "W/\"other\""] {
        change(wrong, "Founder").refused(412, "precondition_failed");
    }
    assert_eq!(caller.digest(), before);
    assert_eq!(change(&format!("\"other\", {current}"), "Founder").data()["role"], "Founder");
    let lines = caller.request("PATCH", &path).header("If-Match", "\"other\"");
    let lines = lines.header("If-Match", &etag(&caller.get(&path)));
    caller.send(&lines.json(&json!({"role": "Clerk"}))).expect(200);
    assert_eq!(change("*", "Chair").data()["role"], "Chair");
}

#[test]
fn the_tag_of_a_changed_company_is_good_for_the_next_change() {
    let caller = Caller::instant();
    let path = format!("/api/business/companies/{}", caller.company(0));
    let change = json!({"metadata": {"team": "blue"}});
    let tag = etag(&caller.patch(&path, &change));
    assert_eq!(etag(&caller.get(&path)), tag);
    caller.send(&caller.request("PATCH", &path).header("If-Match", &tag).json(&change)).expect(200);
}

#[test]
fn a_malformed_if_match_is_refused_before_it_is_compared() {
    let caller = Caller::instant();
    let path = format!("/api/business/companies/{}", caller.company(0));
    for tag in ["abc", "\"abc", "\"a\" \"b\"", "\"a\",", "w/\"a\"", ""] {
        let request = caller.request("PATCH", &path).header("If-Match", tag);
        let request = request.json(&json!({"metadata": {"team": "blue"}}));
        let problem = caller.send(&request).refused(400, "invalid_header");
        assert!(problem["detail"].as_str().unwrap().starts_with("If-Match: "), "{problem}");
    }
    let weak = caller.request("PATCH", &path).header("If-Match", "W/\"a\", \"b,c\"");
    caller.send(&weak.json(&json!({"metadata": {}}))).refused(412, "precondition_failed");
}

#[test]
fn if_match_on_an_unknown_resource_is_a_404() {
    let caller = Caller::instant();
    let request = caller
        .request("PATCH", &format!("{EMPLOYEES}/emp_0000000000000"))
        .header("If-Match", "\"x\"");
    caller.send(&request.json(&json!({"role": "Chair"}))).refused(404, "resource_not_found");
}

#[test]
fn the_location_of_what_was_created_leads_to_it() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let hire = json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"});
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    for (path, body) in [(EMPLOYEES, hire), ("/api/business/companies", new)] {
        let answer = caller.post(path, &body);
        let created = answer.expect(201)["data"].take();
        let location = answer.header("location").expect("a 201 has a Location").to_owned();
        assert_eq!(location, format!("{path}/{}", id(&created)));
        let read = caller.get(&location).data();
        for (name, value) in created.as_object().unwrap() {
            assert_eq!(read[name], *value, "{location} {name}");
        }
    }
}

#[test]
fn the_known_api_version_is_taken_and_any_other_refused() {
    let caller = Caller::instant();
    let versioned = |version: &str| {
        caller.send(&caller.request("GET", EMPLOYEES).header("Api-Version", version))
    };
    versioned("2026-01-01").expect(200);
    for version in ["2026-01-02", "latest", "", "1"] {
        versioned(version).refused(400, "invalid_header");
    }
}

#[test]
fn a_reply_returns_the_traceparent_of_its_request() {
    let caller = Caller::instant();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let requests = [
        caller.request("GET", EMPLOYEES),
        caller.request("GET", &format!("{EMPLOYEES}?page=0")),
        caller.request("GET", "/_sandbox/health"),
        caller.request("GET", "/nowhere"),
        Request::new("GET", EMPLOYEES),
    ];
    for request in requests {
        let answer = caller.send(&request.clone().header("traceparent", parent));
        assert_eq!(answer.header("traceparent"), Some(parent), "{request:?}");
        assert_eq!(caller.send(&request).header("traceparent"), None);
    }
}

#[test]
fn an_unknown_scenario_is_refused_and_never_ignored() {
    let caller = Caller::instant();
    let before = caller.digest();
    let body = json!({"company_id": caller.company(0), "period": "2026-01"});
    for scenario in ["payout.settle=lost_in_space", "", "nonsense"] {
        let run = caller.request("POST", "/v1/payroll/run").header("Sandbox-Scenario", scenario);
        caller.send(&run.json(&body)).refused(400, "unknown_scenario");
        let read = caller.request("GET", EMPLOYEES).header("Sandbox-Scenario", scenario);
        caller.send(&read).refused(400, "unknown_scenario");
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn head_is_get_without_the_body() {
    let caller = Caller::instant();
    let path = first_employee(&caller);
    for path in [EMPLOYEES, path.as_str(), "/_sandbox/health"] {
        let get = caller.get(path);
        let head = caller.send(&caller.request("HEAD", path));
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for name in ["content-type", "content-length", "etag", "request-id", "sandbox-time"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
    }
}

#[test]
fn replies_to_writes_say_what_waits_for_a_manual_clock() {
    let body = |caller: &Caller| json!({"company_id": caller.company(0), "period": "2026-01"});
    let manual = Caller::manual();
    let run = manual.post("/v1/payroll/run", &body(&manual));
    let waiting = run.header("sandbox-waiting").expect("something waits").to_owned();
    assert!(waiting.contains(";next=2026-01-01T00:00:02.000Z;task=calculate_run"), "{waiting}");
    let clock = manual.get("/_sandbox/clock").data();
    assert!(waiting.starts_with(&format!("count={};", clock["pending"])), "{waiting} {clock}");
    assert_eq!(clock["next"][0]["task"], "calculate_run");
    assert_eq!(manual.get("/_sandbox/clock").header("sandbox-waiting"), None, "only of writes");
    let refused = manual.post("/v1/payroll/run", &json!({}));
    assert_eq!(refused.header("sandbox-waiting"), None, "only of accepted ones");
    let instant = Caller::instant();
    let run = instant.post("/v1/payroll/run", &body(&instant));
    run.expect(201);
    assert_eq!(run.header("sandbox-waiting"), None, "an instant clock does not wait");
}

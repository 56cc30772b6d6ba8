//! The served documents, and the control run of the check of all answers of all tests.

use serde_json::{Value, json};

use crate::harness::contract::{control, product, promised};
use crate::harness::{Answer, Caller, Request};

#[test]
fn the_served_document_is_the_printed_one() {
    let caller = Caller::instant();
    let served = caller.request("GET", "/openapi.json").send(caller.port());
    assert_eq!(served.header("content-type"), Some("application/json"));
    assert_eq!(served.expect(200)["paths"], product()["paths"]);
}

#[test]
fn a_served_document_is_compressed_has_a_version_and_names_its_server() {
    let caller = Caller::instant();
    for path in ["/openapi.json", "/_sandbox/openapi.json"] {
        let get = || Request::new("GET", path).header("Host", "127.0.0.1:8080");
        let plain = get().send(caller.port());
        assert_eq!(plain.header("content-encoding"), None);
        assert_eq!(plain.json()["servers"][0]["url"], "http://127.0.0.1:8080");
        assert_eq!(plain.header("vary"), Some("Accept-Encoding"));
        let etag = plain.header("etag").unwrap();
        let small = get().header("Accept-Encoding", "gzip, br").send(caller.port());
        assert_eq!(small.header("content-encoding"), Some("gzip"));
        assert_eq!(small.header("etag"), Some(etag));
        assert!(small.body.len() * 4 < plain.body.len());
        assert_eq!(small.body[..3], [0x1f, 0x8b, 8], "magic number and method of RFC 1952");
        let known = get().header("If-None-Match", etag).send(caller.port());
        assert_eq!((known.status, known.body.len()), (304, 0));
        let other = get().header("If-None-Match", "W/\"other\"").send(caller.port());
        assert_eq!(other.status, 200);
    }
}

#[test]
fn the_document_needs_no_key() {
    let caller = Caller::instant();
    let answer = Request::new("GET", "/openapi.json").send(caller.port());
    assert_eq!(answer.expect(200)["openapi"].as_str().unwrap()[..4], *"3.1.");
}

#[test]
fn the_reference_pages_work_offline_and_in_no_frame() {
    let caller = Caller::instant();
    for path in ["/docs", "/docs/control"] {
        let page = Request::new("GET", path).send(caller.port());
        assert_eq!(page.status, 200, "{path}");
        assert!(page.header("content-type").unwrap().starts_with("text/html"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("'self'"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
        for elsewhere in ["src=\"http", "src=\"//", "href=\"http", "href=\"//"] {
            assert!(!page.text().contains(elsewhere), "{path} loads from elsewhere");
        }
        let scripts = page.text().split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        for script in scripts {
            let answer = Request::new("GET", script).send(caller.port());
            assert_eq!(answer.status, 200, "{script}");
        }
    }
}

#[test]
fn both_published_operations_and_no_others_are_marked_so() {
    let mut published = Vec::new();
    for document in [product(), control()] {
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let mark = operation["x-contract"].as_str().unwrap();
                assert!(matches!(mark, "published" | "assumed" | "control"), "{path}: {mark}");
                if mark == "published" {
                    published.push(format!("{method} {path}"));
                }
            }
        }
    }
    published.sort();
    assert_eq!(published, ["get /api/business/employees", "post /v1/payroll/run"]);
}

#[test]
fn operation_ids_are_unique_and_every_operation_has_a_tag_and_a_summary() {
    let mut seen = Vec::new();
    for document in [product(), control()] {
        for methods in document["paths"].as_object().unwrap().values() {
            for operation in methods.as_object().unwrap().values() {
                seen.push(operation["operationId"].as_str().unwrap());
                assert!(!operation["summary"].as_str().unwrap().is_empty());
                assert_eq!(operation["tags"].as_array().unwrap().len(), 1);
            }
        }
    }
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count);
}

/// Whether the document of this operation allows such an answer.
fn accepts(method: &str, path: &str, status: u16, content_type: &str, body: &Value) -> bool {
    let answer = Answer {
        status,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        body: body.to_string().into_bytes(),
    };
    promised(method, path, &answer).is_ok()
}

/// The control run: the check notices an answer with one fault.
#[test]
fn an_answer_that_the_document_does_not_promise_is_noticed() {
    const EMPLOYEES: &str = "/api/business/employees?page=1";
    const PROBLEM: &str = "application/problem+json";
    let caller = Caller::instant();
    let good = caller.get(EMPLOYEES).expect(200);
    let page =
        |status, content_type, body: &Value| accepts("GET", EMPLOYEES, status, content_type, body);
    assert!(page(200, "application/json", &good));
    assert!(!page(201, "application/json", &good));
    assert!(!page(200, "text/html", &good));
    let mut wrong = good.clone();
    wrong["data"][3]["salary"] = json!(1);
    assert!(!page(200, "application/json", &wrong), "a seventh member");
    let mut wrong = good.clone();
    wrong["data"][24].as_object_mut().unwrap().remove("role");
    assert!(!page(200, "application/json", &wrong), "a missing member");
    let mut wrong = good.clone();
    wrong["data"][0]["status"] = json!("busy");
    assert!(!page(200, "application/json", &wrong), "an unknown status");
    let mut wrong = good;
    wrong["meta"]["total"] = json!("75");
    assert!(!page(200, "application/json", &wrong), "a number as text");

    let problem = caller.get("/api/business/employees?page=0").refused(422, "validation_failed");
    assert!(page(422, PROBLEM, &problem));
    assert!(!page(422, "application/json", &problem));
    let mut wrong = problem.clone();
    wrong["code"] = json!("made_up");
    assert!(!page(422, PROBLEM, &wrong));
    let nowhere = caller.get("/nowhere").refused(404, "route_not_found");
    assert!(accepts("GET", "/nowhere", 404, PROBLEM, &nowhere));
    assert!(!accepts("GET", "/nowhere", 200, PROBLEM, &nowhere));
    assert!(!accepts("GET", "/nowhere", 404, PROBLEM, &json!({"error": "not found"})));
}

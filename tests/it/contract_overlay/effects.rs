//! The effect of each key.

use serde_json::json;

use super::{Under, file};
use crate::harness::{Request, Server};

const COMPANIES: &str = "/api/business/companies";
const EMPLOYEES: &str = "/api/business/employees";
const RUN: &str = "/v1/payroll/run";

#[test]
fn a_run_is_accepted_with_the_status_that_the_contract_says() {
    let under = Under::text("[operations.runPayroll]\nstatus = 202\n");
    let body = json!({"company_id": under.company(), "period": "2026-01"});
    let request =
        Request::new("POST", RUN).key("test_key").header("Idempotency-Key", "once").json(&body);
    let run = under.send(&request);
    assert_eq!(run.expect(202)["data"]["status"], "calculating");
    assert!(run.header("location").is_some());
    let again = under.send(&request);
    again.expect(202);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.body, run.body);
    under.post(RUN, &body).refused(409, "payroll_period_already_run");
    assert!(under.walk() > 5);
}

#[test]
fn the_status_of_a_read_can_be_another_too() {
    let under = Under::text("[operations.getCompany]\nstatus = 203\n");
    let path = format!("{COMPANIES}/{}", under.company());
    let first = under.get(&path);
    first.expect(203);
    let tag = first.header("etag").unwrap().to_owned();
    let same = Request::new("GET", &path).key("test_key").header("If-None-Match", &tag);
    assert_eq!(under.send(&same).status, 304);
    under.get(&path).expect(203);
}

#[test]
fn an_alias_answers_as_its_operation_does() {
    let under = Under::text(
        "[operations.runPayroll]\naliases = [\"/v2/payroll/run\"]\n\
         [operations.getCompany]\naliases = [\"/c/{company_id}\", \"/companies/{company_id}/whole\"]\n",
    );
    let company = under.company();
    let body = json!({"company_id": company, "period": "2026-01"});
    under.post("/v2/payroll/run", &body).expect(201);
    under.post(RUN, &body).refused(409, "payroll_period_already_run");
    let own = under.get(&format!("{COMPANIES}/{company}")).data();
    assert_eq!(under.get(&format!("/c/{company}")).data(), own);
    assert_eq!(under.get(&format!("/companies/{company}/whole")).data(), own);
    under.get("/c/nobody").refused(404, "resource_not_found");
    let wrong = Request::new("GET", "/v2/payroll/run").key("test_key").send(under.port());
    wrong.refused(405, "method_not_allowed");
    assert_eq!(wrong.header("allow"), Some("POST"));
    let near = under.get("/v2/payroll/runs").refused(404, "route_not_found");
    assert!(near["detail"].as_str().unwrap().ends_with("/v2/payroll/run"), "{near}");
    let alias = &under.document["paths"]["/v2/payroll/run"]["post"];
    assert_eq!(alias["x-alias-of"], "runPayroll");
    assert_ne!(alias["operationId"], "runPayroll");
}

#[test]
fn a_disabled_operation_is_a_404() {
    let under = Under::text(
        "[operations.listPayslips]\nenabled = false\n[operations.createCompany]\nenabled = false\n\
        [operations.cancelPayout]\nenabled = false\n",
    );
    under.get("/api/business/payslips").refused(404, "route_not_found");
    let post = Request::new("POST", COMPANIES).key("test_key").json(&json!({}));
    let refused = post.send(under.port());
    refused.refused(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    under.get(COMPANIES).expect(200);
    let paths = &under.document["paths"];
    assert!(paths["/api/business/payslips"].is_null());
    assert!(paths[COMPANIES]["post"].is_null() && !paths[COMPANIES]["get"].is_null());
    let webhooks = under.document["webhooks"].to_string();
    assert!(!webhooks.contains("`createCompany`") && !webhooks.contains("`cancelPayout`"));
    let cause = |name: &str| under.document["webhooks"][name]["post"]["description"].clone();
    assert!(cause("payout.created").as_str().unwrap().contains("`createPayout`"));
    let of_none = "No operation of this document causes this event, but the clock and the test tools can cause it.";
    assert_eq!(cause("company.created"), of_none);
}

#[test]
fn pages_have_as_many_rows_as_the_contract_says() {
    let rows = |answer: crate::harness::Answer| answer.data().as_array().unwrap().len();
    let small = Under::text("[paging]\nper_page_default = 7\nper_page_max = 9\n");
    assert_eq!(rows(small.get(EMPLOYEES)), 7);
    assert_eq!(rows(small.get(&format!("{EMPLOYEES}?page=2&sort=name"))), 7);
    assert_eq!(rows(small.get(&format!("{EMPLOYEES}?per_page=8"))), 8);
    assert_eq!(rows(small.get(&format!("{EMPLOYEES}?per_page=50"))), 9);
    assert_eq!(rows(small.get(&format!("{EMPLOYEES}?page=11"))), 5, "75 = 10 × 7 + 5");
    small.get(&format!("{EMPLOYEES}?per_page=0")).refused(422, "validation_failed");
    let parameters = &small.document["paths"][EMPLOYEES]["get"]["parameters"];
    assert!(parameters.to_string().contains("Values above 9 are treated as 9. Default: 7."));
    assert!(small.walk() > 5);

    let large = Under::text("[paging]\nper_page_max = 1000\n");
    assert_eq!(rows(large.get(EMPLOYEES)), 25);
    assert_eq!(rows(large.get(&format!("{EMPLOYEES}?per_page=70"))), 70);
    // The control plane is no part of the contract.
    let events = Request::new("GET", "/_sandbox/events").key("test_key").send(small.port());
    events.expect(200);
}

#[test]
fn only_the_keys_of_the_contract_are_accepted_and_no_log_has_them() {
    let file =
        file("[auth]\nkeys = [\"test_s3cret_1\", \"acme_live_s3cret\"]\nrefuse_live = false\n");
    let name = file.path().to_str().unwrap();
    let mut command = crate::harness::command(&["--port", "0", "--contract", name]);
    let server = Server::spawn(command.args(["--log-filter", "debug"]));
    let get = |key: &str| Request::new("GET", EMPLOYEES).key(key).send(server.port());
    get("test_s3cret_1").expect(200);
    get("acme_live_s3cret").expect(200);
    get("test_key").refused(401, "invalid_api_key");
    get("sk_live_other").refused(401, "invalid_api_key");
    let (_, log) = server.stop();
    assert!(log.contains(EMPLOYEES) && !log.contains("s3cret"), "{log}");
}

#[test]
fn keys_of_the_command_line_join_those_of_the_contract() {
    let file = file("[auth]\nkeys = [\"of_file\"]\n");
    let name = file.path().to_str().unwrap();
    let server = Server::start(&["--contract", name, "--api-key", "of_line"]);
    for key in ["of_file", "of_line"] {
        Request::new("GET", EMPLOYEES).key(key).send(server.port()).expect(200);
    }
    let other = Request::new("GET", EMPLOYEES).key("other").send(server.port());
    other.refused(401, "invalid_api_key");
}

#[test]
fn where_a_key_is_required_a_post_without_one_is_refused() {
    let under = Under::text("[idempotency]\nrequired = true\n");
    let body = json!({"company_id": under.company(), "period": "2026-01"});
    let refused = under.post(RUN, &body).refused(400, "idempotency_key_invalid");
    assert!(refused["detail"].as_str().unwrap().contains("Idempotency-Key"));
    let keyed = |body| {
        let request = Request::new("POST", RUN).key("test_key").header("Idempotency-Key", "k");
        under.send(&request.json(body))
    };
    let run = keyed(&body);
    run.expect(201);
    assert_eq!(keyed(&body).body, run.body);
    let company = format!("{COMPANIES}/{}", under.company());
    let patch = Request::new("PATCH", &company).key("test_key");
    let changed = under.send(&patch.json(&json!({"metadata": {"a": "b"}})));
    changed.expect(200);
    let reset = Request::new("POST", "/_sandbox/reset").key("test_key").json(&json!({}));
    reset.send(under.port()).expect(200);
    let parameter = &under.document["components"]["parameters"]["Idempotency-Key"];
    assert_eq!(parameter["required"], true);
}

#[test]
fn headers_have_the_names_that_the_contract_says() {
    let under = Under::text(
        "[headers]\nrequest_id = \"X-Request-Id\"\nsandbox_time = false\nidempotent_replayed = \"X-Replayed\"\n\
         idempotency_key = \"X-Idempotency-Key\"\napi_version = false\n",
    );
    let body = json!({"company_id": under.company(), "period": "2026-01"});
    let run = |name: &str| {
        let request = Request::new("POST", RUN).key("test_key").header(name, "k");
        under.send(&request.json(&body))
    };
    let first = run("X-Idempotency-Key");
    first.expect(201);
    assert!(first.header("x-request-id").unwrap().starts_with("req_"));
    for gone in ["request-id", "sandbox-time", "x-replayed"] {
        assert_eq!(first.header(gone), None, "{gone}");
    }
    let again = run("X-Idempotency-Key");
    assert_eq!(again.header("x-replayed"), Some("true"));
    assert_eq!(again.header("idempotent-replayed"), None);
    assert_eq!(again.body, first.body);
    // The default header is not part of this contract: it is ignored like any other.
    let refused = run("Idempotency-Key");
    assert_eq!(refused.expect(409)["code"], "payroll_period_already_run");
    assert_eq!(refused.header("x-request-id"), refused.json()["request_id"].as_str());
    let version =
        Request::new("GET", EMPLOYEES).key("test_key").header("Api-Version", "1999-01-01");
    under.send(&version).expect(200);
    let refused = run_with_bad_key(&under);
    assert!(refused.contains("X-Idempotency-Key"), "{refused}");
    // The control plane keeps its own headers.
    let clock = Request::new("GET", "/_sandbox/clock").key("test_key").send(under.port());
    assert!(clock.header("request-id").is_some() && clock.header("sandbox-time").is_some());
    let document = under.document.to_string();
    for gone in ["\"Request-Id\"", "Sandbox-Time", "\"Idempotency-Key\"", "Api-Version"] {
        assert!(!document.contains(gone), "{gone}");
    }
    assert!(under.walk() > 5);
}

fn run_with_bad_key(under: &Under) -> String {
    let request = Request::new("POST", RUN).key("test_key").header("X-Idempotency-Key", "a b");
    let answer = under.send(&request.json(&json!({"company_id": "x", "period": "y"})));
    answer.expect(400)["detail"].as_str().unwrap().to_owned()
}

#[test]
fn published_serves_only_the_two_published_operations() {
    let under = Under::named("published");
    let employees = under.get(&format!("{EMPLOYEES}?per_page=3")).data();
    let id = employees[0]["id"].as_str().unwrap();
    let ours = crate::harness::contract::product()["paths"].as_object().unwrap();
    let mut gone = 0;
    for path in ours.keys().filter(|path| *path != EMPLOYEES && *path != RUN) {
        let path = path.split('/').map(|part| if part.starts_with('{') { id } else { part });
        let path = path.collect::<Vec<_>>().join("/");
        under.get(&path).refused(404, "route_not_found");
        gone += 1;
    }
    assert!(gone > 10);
    let refused =
        Request::new("POST", EMPLOYEES).key("test_key").json(&json!({})).send(under.port());
    refused.refused(405, "method_not_allowed");
    for path in ["/docs", "/openapi.json", "/_sandbox/health", "/_sandbox/events"] {
        let there = Request::new("GET", path).key("test_key").send(under.port());
        assert_eq!(there.status, 200, "{path}");
    }
    let get = Request::new("GET", "/openapi.json").header("Host", "localhost:4747");
    let served = get.send(under.port()).expect(200);
    assert_eq!(served, under.document);
    assert_eq!(served["paths"].as_object().unwrap().len(), 2);
    let run = json!({"company_id": "com_unknown", "period": "2026-01"});
    under.post(RUN, &run).refused(404, "resource_not_found");
    under.walk();
}

#[test]
fn a_run_of_the_published_contract_has_no_location() {
    let under = Under::named("published");
    let employees = crate::harness::Caller::instant();
    let body = json!({"company_id": employees.company(0), "period": "2026-01"});
    let run = under.post(RUN, &body);
    run.expect(201);
    assert_eq!(run.header("location"), None);
}

//! One instance for several teams: metrics and key spaces.

use std::sync::Arc;

use serde_json::json;

use crate::harness::http::Request;
use crate::harness::receiver::Receiver;
use crate::harness::{Caller, Server, command, finish};

const METRICS: &str = "/_sandbox/metrics";

fn metrics(server: &Server) -> String {
    let answer = Request::new("GET", METRICS).send(server.port());
    assert_eq!(answer.status, 200);
    let media_type = answer.header("content-type").unwrap();
    assert!(media_type.starts_with("application/openmetrics-text; version=1.0.0"), "{media_type}");
    answer.text().to_owned()
}

/// The value of a sample, or 0 if the text does not have it.
fn sample(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[test]
fn metrics_count_requests_by_operation_and_status() {
    let server = Arc::new(Server::start(&[]));
    let caller = Caller::with_key(&server, "test_metrics");
    let requests = |operation: &str, status: u16| {
        format!("sandbox_requests_total{{operation=\"{operation}\",status=\"{status}\"}}")
    };
    let before = metrics(&server);
    assert!(sample(&before, &requests("listCompanies", 200)).abs() < 0.5, "{before}");
    caller.get("/api/business/companies").expect(200);
    caller.get("/api/business/companies").expect(200);
    caller.get("/api/business/companies/com_0000000000000").expect(404);
    caller.get("/v2/nothing").expect(404);
    caller.post("/api/business/companies", &json!({})).expect(422);

    let text = metrics(&server);
    for (name, expected) in [
        (requests("listCompanies", 200), 2.0),
        (requests("getCompany", 404), 1.0),
        (requests("createCompany", 422), 1.0),
        (requests("none", 404), 1.0),
        ("sandbox_request_seconds_count{operation=\"listCompanies\"}".to_owned(), 2.0),
        ("sandbox_request_seconds_bucket{le=\"+Inf\",operation=\"listCompanies\"}".to_owned(), 2.0),
    ] {
        assert!((sample(&text, &name) - expected).abs() < 0.5, "{name} {expected}\n{text}");
    }
    assert!(sample(&text, "sandbox_request_seconds_sum{operation=\"listCompanies\"}") > 0.0);
    assert!(sample(&text, "sandbox_resident_bytes") > 1e6, "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert!(!text.contains("test_metrics"), "a key is a secret");
}

#[test]
fn metrics_count_webhook_attempts_by_outcome() {
    let server = Arc::new(Server::start(&[]));
    let caller = Caller::with_key(&server, "test_attempts");
    let receiver = Receiver::taking();
    for url in [receiver.url(), "http://127.0.0.1:1/closed".to_owned()] {
        caller.post("/_sandbox/webhook-endpoints", &json!({"url": url})).expect(201);
    }
    let body = json!({"legal_name": "Ltd", "country": "GB", "currency": "GBP"});
    caller.post("/api/business/companies", &body).expect(201);
    receiver.wait_for(1);
    let outcome = |name: &str| {
        sample(&metrics(&server), &format!("sandbox_webhook_attempts_total{{outcome=\"{name}\"}}"))
    };
    let started = std::time::Instant::now();
    while outcome("delivered") < 1.0 || outcome("unreachable") < 1.0 {
        assert!(started.elapsed().as_secs() < 30, "{}", metrics(&server));
        std::thread::yield_now();
    }
}

#[test]
fn metrics_have_the_access_rules_of_the_control_routes() {
    let server = Server::start(&["--admin-token", "some_token"]);
    let read = |request: Request| request.send(server.port());
    read(Request::new("GET", METRICS)).refused(401, "missing_credentials");
    let with_token = |request: Request| request.header("Sandbox-Admin-Token", "some_token");
    assert_eq!(read(with_token(Request::new("GET", METRICS))).status, 200);
    assert_eq!(read(with_token(Request::new("HEAD", METRICS))).status, 200);
    let posted = read(with_token(Request::new("POST", METRICS)));
    posted.refused(405, "method_not_allowed");
    assert_eq!(posted.header("allow"), Some("GET, HEAD"));
}

#[test]
fn a_key_space_accepts_the_keys_of_its_team_and_no_others() {
    let server = Server::start(&[
        "--key-space",
        "red=first-secret",
        "--key-space",
        "blue=other-secret",
        "--api-key",
        "single_key",
    ]);
    let status = |key: &str| {
        Request::new("GET", "/api/business/companies").key(key).send(server.port()).status
    };
    for key in ["first-secret.ci-1", "first-secret.ci-2", "other-secret.a.b", "single_key"] {
        assert_eq!(status(key), 200, "{key}");
    }
    for key in ["test_key", "first-secret", "first-secret.", "first-secretx.1", "red.1", "blue"] {
        assert_eq!(status(key), 401, "{key}");
    }
    let (out, err) = server.stop();
    assert!(!(out + &err).contains("-secret"), "a secret is never shown");
}

#[test]
fn a_server_of_teams_prints_a_placeholder_of_their_keys() {
    let mut start = command(&["--port", "0", "--key-space", "red=first-secret"]);
    let (_, err) = Server::spawn(&mut start).stop();
    assert!(err.contains("curl -H \"Authorization: Bearer SECRET.test\""), "{err}");
}

#[test]
fn a_wrong_key_space_is_refused_without_its_secret() {
    for wrong in [
        &["hidden-secret"][..],
        &["=hidden-secret"],
        &["team=hidden"],
        &["team=hidden.secret"],
        &["team=hidden secret"],
        &["te am=hidden-secret"],
        &["team=sk_live_hidden"],
        &["team=hidden-secret", "team=another-hidden"],
        &["one=hidden-secret", "two=hidden-secret"],
    ] {
        let flags = wrong.iter().flat_map(|value| ["--key-space", *value]);
        let ended =
            finish(&mut command(&["--port", "0"].into_iter().chain(flags).collect::<Vec<_>>()));
        let message = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}: {message}");
        assert!(message.contains("--key-space") && !message.contains("hidden"), "{message}");
    }
}

#[test]
fn a_key_that_has_used_its_quota_waits_and_others_do_not() {
    let server = Server::start(&["--quota", "5/min"]);
    let read =
        |key: &str| Request::new("GET", "/api/business/companies").key(key).send(server.port());
    for _ in 0..5 {
        assert_eq!(read("test_busy").status, 200);
    }
    let refused = read("test_busy");
    refused.refused(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("12"));
    let body = serde_json::json!({"legal_name": "Late Ltd", "country": "NG", "currency": "NGN", "industry": "food"});
    let post = Request::new("POST", "/api/business/companies").key("test_busy").json(&body);
    post.send(server.port()).refused(429, "rate_limited");
    assert_eq!(read("test_other").status, 200);
    assert_eq!(
        Request::new("GET", "/_sandbox/health").key("test_busy").send(server.port()).status,
        200
    );
    let (out, err) = server.stop();
    assert!(!(out + &err).contains("test_busy"), "a key is never shown");
}

#[test]
fn a_key_that_has_used_its_quota_of_changes_or_endpoints_makes_room() {
    let server = std::sync::Arc::new(Server::start(&["--quota", "changes=3,endpoints=1"]));
    let caller = Caller::with_key(&server, "test_full");
    let company = || {
        let body = serde_json::json!({"legal_name": "One Ltd", "country": "GB", "currency": "GBP"});
        caller.post("/api/business/companies", &body)
    };
    let repeated = || {
        let body = serde_json::json!({"legal_name": "Two Ltd", "country": "GB", "currency": "GBP"});
        let request = caller.request("POST", "/api/business/companies").json(&body);
        caller.send(&request.header("idempotency-key", "two"))
    };
    repeated().expect(201);
    let mut made = 1;
    let refused = loop {
        let answer = company();
        if answer.status != 201 {
            break answer;
        }
        made += 1;
    };
    assert!((1..=3).contains(&made), "{made}");
    // A client whose reply was lost gets the result by a retry.
    assert_eq!(repeated().header("idempotent-replayed"), Some("true"));
    assert!(refused.header("sandbox-time").is_some(), "the refusal has a world");
    let refused = refused.refused(429, "quota_exceeded");
    assert_eq!(refused["retryable"], false, "the same call never succeeds");
    assert!(refused["detail"].as_str().unwrap().contains("quota of changes, 3"), "{refused}");
    caller.get("/api/business/companies").expect(200);
    let endpoint = || {
        let url = serde_json::json!({"url": "http://127.0.0.1:9/"});
        caller.post("/_sandbox/webhook-endpoints", &url)
    };
    let id = endpoint().made()["endpoint"]["id"].as_str().unwrap().to_owned();
    let refused = endpoint().refused(429, "quota_exceeded");
    assert!(refused["detail"].as_str().unwrap().contains("webhook endpoints, 1"), "{refused}");
    let path = format!("/_sandbox/webhook-endpoints/{id}");
    assert!(caller.send(&caller.request("DELETE", &path)).status < 300);
    endpoint().expect(201);
    let other = Caller::with_key(&server, "test_other");
    other.get("/api/business/companies").expect(200);
    caller.post("/_sandbox/reset", &serde_json::json!({})).expect(200);
    company().expect(201);
}

#[test]
fn refusals_that_are_stored_use_the_quota_of_changes() {
    let server =
        std::sync::Arc::new(Server::start(&["--clock", "manual", "--quota", "changes=20"]));
    let caller = Caller::with_key(&server, "test_refused");
    let company = caller.company(0);
    let run = |key: usize| {
        let body = serde_json::json!({"company_id": company, "period": "2026-01"});
        let request = caller.request("POST", "/v1/payroll/run").json(&body);
        caller.send(&request.header("idempotency-key", &key.to_string())).status
    };
    assert_eq!(run(0), 201);
    let refused = (1..40).take_while(|key| run(*key) == 409).count();
    assert!((1..20).contains(&refused), "{refused}");
    assert_eq!(
        [run(refused), run(refused + 1)],
        [409, 429],
        "only a stored refusal is returned again"
    );
    caller.post("/_sandbox/reset", &serde_json::json!({})).expect(200);
    assert_eq!(run(refused + 1), 201);
}

#[test]
fn a_wrong_quota_is_refused() {
    for (wrong, said) in [
        ("", "requests per time window"),
        ("0/s", "requests per time window"),
        ("5", "requests per time window"),
        ("5/0s", "requests per time window"),
        ("-1/s", "requests per time window"),
        ("1.5/s", "requests per time window"),
        ("5/fortnight", "requests per time window"),
        ("5/s,", "requests per time window"),
        ("changes=0", "a number from 1"),
        ("5/s,10/min", "the second limit of its kind"),
        ("changes=1,changes=2", "the second limit of its kind"),
        ("endpoints=many", "a number from 1"),
        ("worlds=1", "changes or endpoints"),
    ] {
        let quota = format!("--quota={wrong}");
        let ended = finish(&mut command(&["--port", "0", &quota]));
        let message = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}: {message}");
        assert!(message.contains(said), "{wrong:?}: {message}");
    }
}

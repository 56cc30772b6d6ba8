//! Bad input: each is a clear problem document, leaves the world as it was and the process alive.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::http::{exchange, pointers};
use crate::harness::{Answer, Caller, Request, Server};

const EMPLOYEES: &str = "/api/business/employees";
const RUN: &str = "/v1/payroll/run";

fn employee(company: &str) -> Value {
    json!({"company_id": company, "name": "Ada Obi", "role": "Baker", "department": "Kitchen", "start_date": "2026-02-02"})
}

/// A body as text, with the content type that it claims.
fn text(caller: &Caller, path: &str, body: &[u8]) -> Answer {
    let request = caller
        .request("POST", path)
        .header("Content-Type", "application/json");
    caller.send(&request.bytes(body))
}

/// Runs `bad` in a fresh world, which must be as it was afterwards.
#[track_caller]
fn unchanged(bad: impl FnOnce(&Caller)) {
    let caller = Caller::instant();
    let before = caller.digest();
    bad(&caller);
    assert_eq!(
        caller.digest(),
        before,
        "a refused request changed the world"
    );
}

#[test]
fn what_is_not_json_is_malformed() {
    unchanged(|caller| {
        let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
        let deeper = "[".repeat(100_000);
        let objects = format!("{}1{}", "{\"a\":".repeat(65), "}".repeat(65));
        let bodies: &[&[u8]] = &[
            b"",
            b" ",
            b"{",
            b"{\"company_id\":",
            b"{'company_id': 1}",
            b"{\"company_id\": 1,}",
            b"{} {}",
            b"company_id=1&period=2026-01",
            b"\xef\xbb\xbf{}",
            b"{\"name\": \"\xff\xfe\"}",
            b"{\"name\": \"a\0b\"}",
            b"{\"name\": \"a\nb\"}",
            b"{\"name\": \"\\ud800\"}",
            b"{\"name\": \"\\udc00\\ud800\"}",
            b"{\"name\": \"\\x\"}",
            b"{\"n\": 01}",
            b"{\"n\": NaN}",
            b"{\"n\": +1}",
            b"{\"a\": 1, \"a\": 1}",
            b"{\"a\": {\"b\": 1, \"\\u0062\": 2}}",
            deep.as_bytes(),
            deeper.as_bytes(),
            objects.as_bytes(),
        ];
        for body in bodies {
            let answer = text(caller, RUN, body);
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
            answer.refused(400, "malformed_json");
        }
    });
}

#[test]
fn nesting_within_the_limit_is_judged_by_its_shape() {
    unchanged(|caller| {
        let deep = format!("{}1{}", "[".repeat(64), "]".repeat(64));
        text(caller, RUN, deep.as_bytes()).refused(422, "validation_failed");
    });
}

#[test]
fn a_body_of_the_wrong_type_is_refused_where_it_is_wrong() {
    unchanged(|caller| {
        let company = caller.company(0);
        for body in ["null", "1", "\"text\"", "[]", "[{}]", "true"] {
            let problem = text(caller, RUN, body.as_bytes()).refused(422, "validation_failed");
            assert_eq!(pointers(&problem), [""], "{body}");
        }
        let people = caller.payable(&company);
        for (body, at) in [
            (
                json!({"company_id": 42, "period": "2026-01"}),
                vec!["/company_id"],
            ),
            (
                json!({"company_id": null, "period": "2026-01"}),
                vec!["/company_id"],
            ),
            (
                json!({"company_id": company, "period": 202_601}),
                vec!["/period"],
            ),
            (
                json!({"company_id": company, "period": {"year": 2026}}),
                vec!["/period"],
            ),
            (
                json!({"company_id": company, "period": "2026-01", "employees": people[0]}),
                vec!["/employees"],
            ),
            (
                json!({"company_id": company, "period": "2026-01", "employees": {}}),
                vec!["/employees"],
            ),
            (
                json!({"company_id": company, "period": "2026-01", "employees": [1, people[0], null]}),
                vec!["/employees/0", "/employees/2"],
            ),
        ] {
            let problem = caller.post(RUN, &body).refused(422, "validation_failed");
            assert_eq!(pointers(&problem), at, "{body}: {problem}");
        }
    });
}

#[test]
fn unknown_members_are_named() {
    unchanged(|caller| {
        let mut body = employee(&caller.company(0));
        body["colour"] = json!("red");
        body["status"] = json!("active");
        let problem = caller
            .post(EMPLOYEES, &body)
            .refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/colour", "/status"]);
        let mut body = employee(&caller.company(0));
        body["compensation"] =
            json!({"amount": 1, "currency": "NGN", "interval": "month", "bonus": 1});
        let problem = caller
            .post(EMPLOYEES, &body)
            .refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/compensation/bonus"]);
        let mut body = employee(&caller.company(0));
        body["a/b~c"] = json!(1);
        let problem = caller
            .post(EMPLOYEES, &body)
            .refused(422, "validation_failed");
        assert_eq!(
            pointers(&problem),
            ["/a~1b~0c"],
            "pointers are escaped (RFC 6901)"
        );
    });
}

#[test]
fn every_violation_of_a_body_is_named_at_once() {
    unchanged(|caller| {
        let body = json!({"company_id": 7, "name": "", "role": "a\u{0}b", "start_date": "2026-02-30", "email": "nobody",
            "employment_type": "slave", "compensation": {"amount": -1, "currency": "XXX", "interval": "fortnight"},
            "metadata": {"a": 1}, "colour": "red"});
        let problem = caller
            .post(EMPLOYEES, &body)
            .refused(422, "validation_failed");
        let mut at = pointers(&problem);
        at.sort_unstable();
        let expected = [
            "/colour",
            "/company_id",
            "/compensation/amount",
            "/compensation/currency",
            "/compensation/interval",
            "/department",
            "/email",
            "/employment_type",
            "/metadata/a",
            "/name",
            "/role",
            "/start_date",
        ];
        assert_eq!(at, expected, "{problem:#}");
        for error in problem["errors"].as_array().unwrap() {
            assert!(!error["code"].as_str().unwrap().is_empty());
            assert!(!error["detail"].as_str().unwrap().ends_with('.'));
        }
    });
}

#[test]
fn control_characters_and_overlong_texts_are_refused() {
    unchanged(|caller| {
        let company = caller.company(0);
        let long = "x".repeat(201);
        for name in [
            "\u{0}",
            "a\u{0}b",
            "tab\there",
            "line\nfeed",
            "\u{7f}",
            "\u{85}",
            "",
            long.as_str(),
        ] {
            let mut body = employee(&company);
            body["name"] = json!(name);
            let problem = caller
                .post(EMPLOYEES, &body)
                .refused(422, "validation_failed");
            assert_eq!(pointers(&problem), ["/name"], "{name:?}");
        }
    });
}

#[test]
fn any_other_text_is_kept_as_it_was_sent() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let longest = "🧁".repeat(200);
    for name in [
        "Zoë Ünal",
        "名前",
        "a\"b\\c/d",
        "<script>alert(1)</script>",
        "𝔘𝔫𝔦",
        "e\u{301}",
        "\u{202e}abc",
        longest.as_str(),
    ] {
        let mut body = employee(&company);
        body["name"] = json!(name);
        assert_eq!(
            caller.post(EMPLOYEES, &body).expect(201)["data"]["name"],
            name
        );
        let rows = caller.all(&format!("{EMPLOYEES}?company_id={company}"));
        assert_eq!(rows.last().unwrap()["name"], name);
    }
}

#[test]
fn money_is_a_whole_number_of_minor_units() {
    unchanged(|caller| {
        let company = caller.company(0);
        for amount in [
            "1.5",
            "1e-3",
            "\"100\"",
            "-1",
            "99999999999999999999",
            "1e300",
            "null",
            "true",
        ] {
            let body = employee(&company).to_string();
            let body = body.replacen('{', &format!("{{\"compensation\":{{\"amount\":{amount},\"currency\":\"NGN\",\"interval\":\"month\"}},"), 1);
            let problem =
                text(caller, EMPLOYEES, body.as_bytes()).refused(422, "validation_failed");
            assert_eq!(pointers(&problem), ["/compensation/amount"], "{amount}");
        }
        let mut body = employee(&company);
        body["compensation"] = json!({"amount": 100, "currency": "KES", "interval": "month"});
        let problem = caller
            .post(EMPLOYEES, &body)
            .refused(422, "currency_mismatch");
        assert_eq!(pointers(&problem), ["/compensation/currency"]);
    });
}

#[test]
fn a_body_beyond_one_mebibyte_is_too_large() {
    unchanged(|caller| {
        let body = json!({"company_id": "x".repeat(2 << 20), "period": "2026-01"}).to_string();
        text(caller, RUN, body.as_bytes()).refused(413, "payload_too_large");
        let just = format!("{{\"company_id\":\"{}\"}}", "x".repeat((1 << 20) - 17));
        assert_eq!(just.len(), 1 << 20);
        text(caller, RUN, just.as_bytes()).refused(422, "validation_failed");
        text(caller, RUN, format!("{just} ").as_bytes()).refused(413, "payload_too_large");
    });
}

#[test]
fn a_chunked_body_beyond_one_mebibyte_is_too_large() {
    unchanged(|caller| {
        let mut request = b"POST /v1/payroll/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer test_chunks\r\n\
            Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_vec();
        for _ in 0..32 {
            request.extend_from_slice(b"10000\r\n");
            request.extend_from_slice(&vec![b' '; 1 << 16]);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"0\r\n\r\n");
        exchange(caller.port(), &request, false)
            .unwrap()
            .refused(413, "payload_too_large");
    });
}

#[test]
fn only_json_is_taken_and_it_must_say_so() {
    unchanged(|caller| {
        let body = json!({"company_id": caller.company(0), "period": "2026-01"}).to_string();
        let sent = |content_type: Option<&str>| {
            let request = caller.request("POST", RUN);
            let request = content_type.map_or(request.clone(), |value| {
                request.header("Content-Type", value)
            });
            caller.send(&request.bytes(body.as_bytes()))
        };
        for wrong in [
            "text/plain",
            "text/json",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "application/json; charset=latin1",
            "",
            "json",
        ] {
            sent(Some(wrong)).refused(415, "unsupported_media_type");
        }
        sent(None).refused(415, "unsupported_media_type");
    });
}

#[test]
fn json_in_utf_8_may_be_said_in_several_ways() {
    for good in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        "application/json;",
    ] {
        let caller = Caller::instant();
        let body = json!({"company_id": caller.company(0), "period": "2026-01"}).to_string();
        let request = caller
            .request("POST", RUN)
            .header("Content-Type", good)
            .bytes(body.as_bytes());
        assert_eq!(caller.send(&request).status, 201, "{good}");
    }
}

#[test]
fn a_path_names_the_methods_that_it_takes() {
    unchanged(|caller| {
        for (method, path, allow) in [
            ("DELETE", EMPLOYEES, "GET, POST"),
            ("PUT", EMPLOYEES, "GET, POST"),
            ("GET", RUN, "POST"),
            ("POST", "/api/business/employees/emp_1", "GET, PATCH"),
            ("BREW", "/api/payments/wallets", "GET"),
            ("DELETE", "/_sandbox/clock", "GET"),
            ("POST", "/openapi.json", "GET"),
        ] {
            let answer = caller.send(&caller.request(method, path));
            answer.refused(405, "method_not_allowed");
            assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
        }
    });
}

#[test]
fn an_unknown_path_names_the_closest() {
    unchanged(|caller| {
        for (path, closest) in [
            ("/api/business/employes", "/api/business/employees"),
            ("/api/business/employees/", "/api/business/employees"),
            ("/business/employees", "/api/business/employees"),
            ("/v1/payroll/runs", "/v1/payroll/run"),
            ("/payroll/run", "/v1/payroll/run"),
            ("/api/payments/wallet", "/api/payments/wallets"),
            ("/_sandbox/helth", "/_sandbox/health"),
        ] {
            let problem = caller.get(path).refused(404, "route_not_found");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.ends_with(closest), "{path}: {detail}");
        }
        for path in [
            "/",
            "/%00",
            "/%ff%fe",
            "/../../etc/passwd",
            "/api//business/employees",
            "/API/business/employees",
        ] {
            caller.get(path).refused(404, "route_not_found");
        }
        let long = format!("/{}", "x".repeat(8_000));
        let problem = caller.get(&long).refused(404, "route_not_found");
        assert!(
            problem["detail"].as_str().unwrap().len() < 400,
            "what was sent is not repeated at length"
        );
    });
}

#[test]
fn an_id_that_nobody_has_is_a_404_however_it_is_written() {
    unchanged(|caller| {
        let company = caller.company(0);
        for id in [
            "emp_0000000000000",
            "nobody",
            &company,
            "emp_",
            "%00",
            "%F0%9F%A7%81",
            "..",
            "-1",
            "*",
        ] {
            for resource in [
                "business/employees",
                "business/companies",
                "business/payroll-runs",
                "business/payslips",
                "payments/wallets",
                "payments/payouts",
            ] {
                if id == company && resource == "business/companies" {
                    continue;
                }
                let problem = caller
                    .get(&format!("/api/{resource}/{id}"))
                    .refused(404, "resource_not_found");
                assert!(
                    problem["detail"].as_str().unwrap().starts_with("no "),
                    "{problem}"
                );
            }
        }
        caller
            .patch(
                &format!("{EMPLOYEES}/emp_0000000000000"),
                &json!({"role": "Chair"}),
            )
            .refused(404, "resource_not_found");
        caller
            .get("/api/business/payroll-runs/prn_0000000000000/items")
            .refused(404, "resource_not_found");
        caller
            .get("/api/payments/wallets/wal_0000000000000/transactions")
            .refused(404, "resource_not_found");
    });
}

#[test]
fn a_missing_key_is_asked_for() {
    unchanged(|caller| {
        for path in [EMPLOYEES, "/_sandbox/clock", "/_sandbox/events"] {
            let answer = caller.send(&Request::new("GET", path));
            answer.refused(401, "missing_credentials");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    });
}

#[test]
fn a_malformed_key_is_no_key() {
    unchanged(|caller| {
        let long = format!("Bearer {}", "k".repeat(256));
        for value in [
            "",
            "Bearer",
            "Bearer ",
            "Basic dXNlcjpwYXNz",
            "test_key",
            "Bearer two words",
            "Bearer schlüssel",
            "Token test_key",
            long.as_str(),
        ] {
            let answer =
                caller.send(&Request::new("GET", EMPLOYEES).header("Authorization", value));
            answer.refused(401, "invalid_api_key");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{value}");
        }
        let twice = Request::new("GET", EMPLOYEES).key("one").key("two");
        caller.send(&twice).refused(401, "invalid_api_key");
    });
}

#[test]
fn the_scheme_is_written_in_any_case() {
    let caller = Caller::instant();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request = Request::new("GET", EMPLOYEES)
            .header("Authorization", &format!("{scheme} test_any_case"));
        caller.send(&request).expect(200);
    }
}

#[test]
fn keys_that_look_live_are_refused_and_not_repeated() {
    unchanged(|caller| {
        for key in [
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
            "live_abcdef",
            "LIVE_abcdef",
            "pk_live_1",
        ] {
            let answer = caller.send(&Request::new("GET", EMPLOYEES).key(key));
            answer.refused(401, "live_key_refused");
            assert!(!answer.text().contains(key));
        }
    });
}

#[test]
fn a_closed_set_of_keys_takes_no_other() {
    let server = Arc::new(Server::start(&[
        "--api-key",
        "test_one",
        "--api-key",
        "test_two",
    ]));
    for key in ["test_one", "test_two"] {
        Caller::with_key(&server, key).get(EMPLOYEES).expect(200);
    }
    for key in ["test_three", "test_on", "test_one1", "TEST_ONE"] {
        Caller::with_key(&server, key)
            .get(EMPLOYEES)
            .refused(401, "invalid_api_key");
    }
    Caller::with_key(&server, "sk_live_1")
        .get(EMPLOYEES)
        .refused(401, "live_key_refused");
}

#[test]
fn a_request_with_several_faults_is_refused_for_the_first_in_order() {
    unchanged(|caller| {
        let company = caller.company(0);
        let post = |path: &str, key: &str| Request::new("POST", path).key(key);
        let (text, json) = (
            ("Content-Type", "text/plain"),
            ("Content-Type", "application/json"),
        );
        let big = vec![b'['; 2 << 20];
        let steps: Vec<(Request, u16, &str)> = vec![
            (
                post("/v1/payroll/rum", "live_1")
                    .header(text.0, text.1)
                    .bytes(&big),
                404,
                "route_not_found",
            ),
            (
                Request::new("PUT", RUN)
                    .key("live_1")
                    .header(text.0, text.1)
                    .bytes(&big),
                405,
                "method_not_allowed",
            ),
            (
                post(RUN, "live_1")
                    .header("Sandbox-Scenario", "x")
                    .header(text.0, text.1)
                    .bytes(&big),
                401,
                "live_key_refused",
            ),
            (
                caller
                    .request("POST", RUN)
                    .header("Sandbox-Scenario", "x")
                    .header(text.0, text.1)
                    .bytes(&big),
                400,
                "unknown_scenario",
            ),
            (
                caller
                    .request("POST", RUN)
                    .header("Idempotency-Key", "a b")
                    .header(text.0, text.1)
                    .bytes(&big),
                415,
                "unsupported_media_type",
            ),
            (
                caller
                    .request("POST", RUN)
                    .header("Idempotency-Key", "a b")
                    .header(json.0, json.1)
                    .bytes(&big),
                413,
                "payload_too_large",
            ),
            (
                caller
                    .request("POST", RUN)
                    .header("Idempotency-Key", "a b")
                    .header(json.0, json.1)
                    .bytes(b"{"),
                400,
                "malformed_json",
            ),
            (
                caller
                    .request("POST", RUN)
                    .header("Idempotency-Key", "a b")
                    .json(&json!({"period": "2026-13"})),
                400,
                "idempotency_key_invalid",
            ),
            (
                caller
                    .request("POST", RUN)
                    .json(&json!({"company_id": "com_0", "period": "2026-13"})),
                422,
                "validation_failed",
            ),
            (
                caller
                    .request("POST", RUN)
                    .json(&json!({"company_id": "com_0", "period": "2025-12"})),
                404,
                "resource_not_found",
            ),
            (
                caller
                    .request("POST", RUN)
                    .json(&json!({"company_id": company, "period": "2025-12"})),
                409,
                "payroll_period_already_run",
            ),
        ];
        for (request, status, code) in steps {
            caller.send(&request).refused(status, code);
        }
    });
}

#[test]
fn existence_comes_before_permission() {
    let caller = Caller::instant();
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    let company = caller.post("/api/business/companies", &new).expect(201)["data"]["id"].take();
    let before = caller.digest();
    let body =
        json!({"company_id": company, "period": "2026-01", "employees": ["emp_0000000000000"]});
    caller.post(RUN, &body).refused(404, "resource_not_found");
    assert_eq!(caller.digest(), before);
}

#[test]
fn one_host_is_named_and_it_is_one_of_ours() {
    unchanged(|caller| {
        let raw = |head: &str| {
            exchange(
                caller.port(),
                format!("GET {EMPLOYEES} HTTP/1.1\r\n{head}Authorization: Bearer k\r\n\r\n")
                    .as_bytes(),
                false,
            )
            .unwrap()
        };
        raw("Host: localhost\r\nHost: localhost\r\n").refused(400, "invalid_header");
        raw("").refused(400, "invalid_header");
        raw("Host: a b\r\n").refused(400, "invalid_header");
        let problem = raw("Host: attacker.example.com\r\n").refused(421, "misdirected_request");
        assert!(
            problem["detail"]
                .as_str()
                .unwrap()
                .contains("--allowed-host"),
            "{problem}"
        );
        for host in [
            "127.0.0.1:80",
            "[::1]",
            "sandbox",
            "api.sandbox.test",
            "app.localhost:3000",
        ] {
            assert_eq!(raw(&format!("Host: {host}\r\n")).status, 200, "{host}");
        }
    });
}

#[test]
fn what_is_not_http_gets_a_400_or_a_closed_connection() {
    unchanged(|caller| {
        for bytes in [
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
            b"POST /v1/payroll/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            b"POST /v1/payroll/run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
            b"\r\n\r\n\r\n\r\n\0\0\0\0\r\n\r\n",
        ] {
            if let Ok(answer) = exchange(caller.port(), bytes, false) {
                assert!(matches!(answer.status, 400 | 505), "{:?}: {}", String::from_utf8_lossy(bytes), answer.status);
            }
        }
    });
}

#[test]
fn a_head_of_too_many_bytes_or_fields_is_refused() {
    unchanged(|caller| {
        let many = "x: y\r\n".repeat(200);
        let long = format!("x: {}\r\n", "y".repeat(20_000));
        for fields in [many, long] {
            let request = format!("GET {EMPLOYEES} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
            if let Ok(answer) = exchange(caller.port(), request.as_bytes(), false) {
                assert_eq!(answer.status, 431, "{}", answer.text());
            }
        }
    });
}

#[test]
fn the_clock_is_moved_in_exactly_one_way_and_never_back() {
    let caller = Caller::manual();
    let before = caller.digest();
    for (body, at) in [
        (json!({}), vec![""]),
        (json!({"by": "1d", "until": "idle"}), vec![""]),
        (json!({"by": "yesterday"}), vec!["/by"]),
        (json!({"by": "-1d"}), vec!["/by"]),
        (json!({"by": 5}), vec!["/by"]),
        (json!({"to": "2025-12-31T00:00:00Z"}), vec!["/to"]),
        (json!({"to": "tomorrow"}), vec!["/to"]),
        (json!({"until": "doomsday"}), vec!["/until"]),
        (json!({"by": "1d", "speed": 2}), vec!["/speed"]),
    ] {
        let problem = caller
            .post("/_sandbox/clock/advance", &body)
            .refused(422, "validation_failed");
        assert_eq!(pointers(&problem), at, "{body}: {problem}");
    }
    assert_eq!(caller.digest(), before);
}

#[test]
fn the_clock_stops_at_the_end_of_time() {
    let caller = Caller::manual();
    for by in [
        "999999999999999d",
        "99999999999999999999s",
        "9223372036854775807s",
        "1000000bd",
    ] {
        let answer = caller.post("/_sandbox/clock/advance", &json!({"by": by}));
        assert!(
            matches!(answer.status, 200 | 422),
            "{by}: {}",
            answer.text()
        );
        caller.audit();
    }
}

//! Paths, methods, ids, hosts and bytes that are not HTTP.

use serde_json::json;

use crate::harness::http::exchange;

use super::{EMPLOYEES, RUN, unchanged};

#[test]
fn a_path_names_the_methods_that_it_takes() {
    unchanged(|caller| {
        for (method, path, allow) in [
            ("DELETE", EMPLOYEES, "GET, HEAD, POST"),
            ("PUT", EMPLOYEES, "GET, HEAD, POST"),
            ("GET", RUN, "POST"),
            ("POST", "/api/business/employees/emp_1", "GET, HEAD, PATCH"),
            ("BREW", "/api/payments/wallets", "GET, HEAD"),
            ("DELETE", "/_sandbox/clock", "GET, HEAD"),
            ("POST", "/openapi.json", "GET, HEAD"),
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
            "the refusal does not repeat a long input"
        );
    });
}

#[test]
fn an_unknown_id_is_a_404_in_every_spelling() {
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
                let problem =
                    caller.get(&format!("/api/{resource}/{id}")).refused(404, "resource_not_found");
                assert!(problem["detail"].as_str().unwrap().starts_with("no "), "{problem}");
            }
        }
        caller
            .patch(&format!("{EMPLOYEES}/emp_0000000000000"), &json!({"role": "Chair"}))
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
fn exactly_one_allowed_host_is_required() {
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
        assert!(problem["detail"].as_str().unwrap().contains("--allowed-host"), "{problem}");
        for host in ["127.0.0.1:80", "[::1]", "sandbox", "api.sandbox.test", "app.localhost:3000"] {
            assert_eq!(raw(&format!("Host: {host}\r\n")).status, 200, "{host}");
        }
    });
}

#[test]
fn bytes_that_are_no_http_get_a_400_or_a_closed_connection() {
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

//! Pages, filters and sort keys at their limits and beyond.

use std::sync::Arc;

use serde_json::json;

use crate::harness::http::pointers;
use crate::harness::{Caller, Server};

use super::{Listing, busy, listings, lived_in, with};

#[test]
fn a_page_past_the_end_is_empty_and_has_the_total() {
    let caller = busy();
    for Listing { path, .. } in listings(&caller) {
        let total = caller.get(&path).expect(200)["meta"]["total"].take();
        for page in [1_001_u64, 1_000_000_000_000, 9_007_199_254_740_991] {
            let answer = caller.get(&with(&path, &format!("page={page}"))).expect(200);
            assert_eq!(
                answer,
                json!({"data": [], "meta": {"total": total, "page": page}}),
                "{path}"
            );
        }
    }
}

#[test]
fn a_page_that_is_no_positive_integer_is_refused() {
    let caller = busy();
    for Listing { path, .. } in listings(&caller) {
        for (name, value) in [
            ("page", "0"),
            ("page", "-1"),
            ("page", "1.5"),
            ("page", "one"),
            ("page", ""),
            ("page", "99999999999999999999999"),
            ("per_page", "0"),
            ("per_page", "-5"),
            ("per_page", "ten"),
        ] {
            let problem = caller
                .get(&with(&path, &format!("{name}={value}")))
                .refused(422, "validation_failed");
            assert_eq!(pointers(&problem), [format!("/{name}")], "{path} {name}={value}");
        }
    }
}

#[test]
fn a_larger_per_page_is_reduced_to_the_maximum() {
    let caller = lived_in();
    let whole = caller.all("/api/payments/payouts");
    let page = caller.get("/api/payments/payouts?per_page=1000").expect(200);
    assert_eq!(page["data"], json!(whole[..100]));
    let second = caller.get("/api/payments/payouts?per_page=1000&page=2").expect(200);
    assert_eq!(second["data"], json!(whole[100..200]));
}

#[test]
fn unknown_query_parameters_are_all_named() {
    let caller = busy();
    for Listing { path, .. } in listings(&caller) {
        let problem =
            caller.get(&with(&path, "colour=red&size=9&page=1")).refused(422, "validation_failed");
        let mut named = pointers(&problem);
        named.sort_unstable();
        assert_eq!(named, ["/colour", "/size"], "{path}");
    }
}

#[test]
fn wrong_values_of_filters_and_sort_keys_are_refused() {
    let caller = Caller::instant();
    for (path, wrong) in [
        ("/api/business/employees?status=busy", "/status"),
        ("/api/business/employees?payroll_status=maybe", "/payroll_status"),
        ("/api/business/employees?sort=salary", "/sort"),
        ("/api/business/employees?sort=--name", "/sort"),
        ("/api/business/employees?sort=", "/sort"),
        ("/api/business/companies?country=Nigeria", "/country"),
        ("/api/business/payroll-runs?period=2026-13", "/period"),
        ("/api/business/payroll-runs?type=weekly", "/type"),
        ("/api/payments/wallets?currency=XXX", "/currency"),
        ("/api/payments/payouts?status=lost", "/status"),
    ] {
        let problem = caller.get(path).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), [wrong], "{path}: {problem}");
    }
}

#[test]
fn a_sort_key_that_a_list_does_not_have_is_refused() {
    let caller = busy();
    for Listing { path, sorts, .. } in listings(&caller) {
        for wrong in ["colour", "--created_at", ""] {
            let problem = caller
                .get(&with(&path, &format!("sort={wrong}")))
                .refused(422, "validation_failed");
            assert_eq!(pointers(&problem), ["/sort"], "{path} {wrong} {sorts:?}");
        }
    }
}

#[test]
fn lists_of_one_company_require_its_id() {
    let caller = Caller::instant();
    for path in ["/api/business/ledger-accounts", "/api/business/journal-entries"] {
        let problem = caller.get(path).refused(422, "validation_failed");
        assert_eq!(pointers(&problem), ["/company_id"]);
        caller
            .get(&format!("{path}?company_id=com_0000000000000"))
            .refused(404, "resource_not_found");
    }
}

#[test]
fn a_filter_by_an_unknown_id_returns_no_rows() {
    let caller = Caller::instant();
    for path in [
        "/api/business/employees?company_id=com_0000000000000",
        "/api/business/employees?company_id=42",
        "/api/business/payroll-runs?company_id=com_0000000000000",
        "/api/business/payslips?employee_id=emp_0000000000000",
        "/api/business/payslips?payroll_run_id=prn_0000000000000",
        "/api/payments/wallets?company_id=com_0000000000000",
        "/api/payments/payouts?company_id=com_0000000000000",
        "/api/payments/payouts?source_id=pit_0000000000000",
    ] {
        let empty = json!({"data": [], "meta": {"total": 0, "page": 1}});
        assert_eq!(caller.get(path).expect(200), empty, "{path}");
    }
}

#[test]
fn a_call_that_would_read_too_many_rows_is_refused_by_member() {
    let flags = ["--companies", "1", "--employees-per-company", "120000"];
    let caller = Caller::of(&Arc::new(Server::start(&flags)));
    for (target, pointer) in [
        ("/api/business/employees?q=ada", "/q"),
        ("/api/business/employees?sort=name", "/sort"),
        ("/api/business/payslips?sort=net", "/sort"),
        ("/api/payments/payouts?status=failed", "/status"),
        ("/api/payments/payouts?status=failed&sort=amount", "/status"),
    ] {
        let problem = caller.get(target).refused(422, "validation_failed");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{target}: {problem}");
        assert_eq!(problem["errors"][0]["code"], "too_many");
    }
}

//! Tests of the parsed overlay and of the list of assumptions. `tests/it/contract_overlay` tests every mistake and its report.

use std::collections::BTreeSet;

use http::{HeaderMap, HeaderValue};

use super::assumptions::all;
use super::values::KEYS;
use super::{Header, Overlay, takes_alias};
use crate::api;
use crate::api::operation::Contract;
use crate::value::{ErrorCode, Look};

fn good(source: &str) -> Overlay {
    Overlay::parse("c.toml", source, Look::Plain).unwrap_or_else(|report| panic!("{report}"))
}

#[test]
fn the_debug_form_of_an_overlay_shows_no_key() {
    let debug = format!("{:?}", good("[auth]\nkeys = [\"s3cret\"]"));
    assert!(!debug.contains("s3cret"), "{debug}");
}

#[test]
fn parsing_any_overlay_never_panics() {
    let whole = "serve = \"all\"\n[operations.runPayroll]\nstatus = 202\naliases = [\"/v2/é\"]\n[auth]\nkeys = ['a']\n\
                 [headers]\nrequest_id = \"X\"\n[paging]\nper_page_max = 0x1f\n";
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        let _ = Overlay::parse("c.toml", &whole[..end], Look::Plain);
        let _ = Overlay::parse("c.toml", &whole[end..], Look::Plain);
        let twice = format!("{}\"{}", &whole[..end], &whole[end..]);
        let _ = Overlay::parse("c.toml", &twice, Look::Plain);
    }
}

#[test]
fn an_overlay_with_the_default_assumptions_changes_nothing() {
    let ours = "serve = \"all\"\nbase_path = \"\"\n[operations.getCompany]\nenabled = true\n[errors]\nformat = \"problem\"\n[paging]\n\
                per_page_default = 25\nper_page_max = 100\n[auth]\nrefuse_live = true\n[idempotency]\nrequired = false\n\
                [headers]\nrequest_id = \"Request-Id\"\n";
    let overlay = good(ours);
    assert!(overlay.dialect.is_own());
    assert!(
        api::product()
            .all(|row| overlay.rows.serves(row) && overlay.rows.status(row) == row.success)
    );
    assert_eq!(good(""), Overlay::default());
    assert_eq!(good("serve = \"published\""), Overlay::published());
}

/// Equal to adding the alias to the file.
#[test]
fn an_alias_can_be_added_if_the_file_with_it_is_a_contract() {
    let id = "getPayslip";
    let row = api::product().find(|row| row.operation_id() == id).expect("it is an operation");
    let before = "[operations.listPayslips]\naliases = [\"/slips\"]\n\
                  [operations.getCompany]\naliases = [\"/firms/{company_id}\"]\n\
                  [webhooks]\nendpoints = \"/hooks\"\n";
    let mut results = BTreeSet::new();
    for path in [
        "/slips/{payslip_id}",
        "/firms/{payslip_id}",
        "/hooks/{payslip_id}",
        "/slips",
        "/a%20b/{payslip_id}",
        "/tenants/{tenant_id}/{payslip_id}",
        "/api/business/payslips/{payslip_id}",
    ] {
        let file = format!("{before}[operations.{id}]\naliases = [{path:?}]\n");
        let is_contract = Overlay::parse("", &file, Look::Plain).is_ok();
        assert_eq!(takes_alias(&good(before), row, path), is_contract, "{path}");
        results.insert(is_contract);
    }
    assert_eq!(results.len(), 2);
    assert!(!takes_alias(&good("serve = \"published\""), row, "/slips/{payslip_id}"));
}

#[test]
fn headers_may_swap_their_names() {
    let overlay =
        good("[headers]\nidempotency_key = \"Api-Version\"\napi_version = \"Idempotency-Key\"\n");
    let mut headers = HeaderMap::new();
    headers.insert("api-version", HeaderValue::from_static("key"));
    headers.insert("idempotency-key", HeaderValue::from_static("version"));
    overlay.dialect.enter("/v1/payroll/run", &mut headers);
    assert_eq!(headers["idempotency-key"], "key");
    assert_eq!(headers["api-version"], "version");
}

#[test]
fn the_headers_of_the_overlay_are_those_of_its_keys() {
    let keys: Vec<&str> =
        KEYS.iter().filter(|key| key.section == "headers").map(|key| key.name).collect();
    assert_eq!(Header::ALL.map(|header| header.key).to_vec(), keys);
}

/// Keys that the list of assumptions must have.
fn missing() -> Vec<String> {
    let mut missing = Vec::new();
    let answered = |word: &str| all().any(|one| one.answer.contains(&format!("`{word}")));
    let codes = ErrorCode::ALL.iter().map(|code| code.code());
    for word in codes.chain(Header::ALL.map(|header| header.name)) {
        if !answered(word) {
            missing.push(word.to_owned());
        }
    }
    for row in api::product().filter(|row| row.contract == Contract::Assumed) {
        let area: Vec<&str> = row.path.split('/').take(4).collect();
        let area = area.join("/");
        let reports = row.path.starts_with("/api/business/reports/");
        if !answered(&area) && !reports {
            missing.push(area);
        }
    }
    for key in KEYS {
        let name = format!("{}.{}", key.section, key.name);
        let name = name.trim_start_matches('.');
        if !all().any(|one| one.keys().contains(&name)) {
            missing.push(name.to_owned());
        }
    }
    missing
}

#[test]
fn no_assumption_is_without_a_row() {
    assert_eq!(missing(), Vec::<String>::new());
}

#[test]
fn every_row_of_the_list_is_whole() {
    let mut ids = BTreeSet::new();
    for one in all() {
        assert!(ids.insert(&one.id), "{} appears twice", one.id);
        assert!(one.section.starts_with('§'), "{}", one.id);
        assert!(
            one.question.ends_with('?') && !one.answer.is_empty() && !one.answer.ends_with('.'),
            "{}",
            one.id
        );
        assert!(!one.proof.is_empty(), "{}", one.id);
        let is_open = !one.keys().is_empty() || one.setting.is_some();
        assert!(
            is_open != one.fixed.is_some(),
            "{}: either something changes it, or `fixed` says why not",
            one.id
        );
        for key in one.keys() {
            let known = |known: &super::values::Key| {
                format!("{}.{}", known.section, known.name).trim_start_matches('.') == key
            };
            assert!(KEYS.iter().any(known), "{}: {key}", one.id);
        }
    }
}

//! Every kind of mistake in a contract file is reported with its position and help.

use std::collections::BTreeSet;

use super::listing::list;
use crate::harness::{command, finish};

/// What `sandbox contract check` prints about a file with a mistake.
fn report(source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.toml"), source).unwrap();
    let mut check = command(&["contract", "check", "c.toml"]);
    let output = finish(check.current_dir(folder.path()));
    assert_eq!(output.status.code(), Some(1), "the overlay is wrong");
    String::from_utf8(output.stderr).unwrap()
}

/// Source, mistake, position, text under the caret, and help.
type Mistake = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[rustfmt::skip] // a table
const MISTAKES: &[Mistake] = &[
    ("erors.format = 1", "an overlay has no key `erors`", "1:1", "unknown key", "did you mean `errors`?"),
    ("[errors]\nformta = \"problem\"", "`errors` has no key `formta`", "2:1", "unknown key", "did you mean `format`?"),
    ("[errors]\nformat = \"envelop\"", "`format` cannot be \"envelop\"", "2:10", "expected \"problem\" or \"envelope\"", "did you mean `envelope`?"),
    ("[errors]\nformat = 3", "`format` is an integer", "2:10", "expected \"problem\" or \"envelope\"", ""),
    ("errors = \"problem\"", "`errors` must be a section, and is a string here", "1:1", "expected [errors]", ""),
    ("serve = \"publish\"", "`serve` cannot be \"publish\"", "1:9", "expected \"all\" or \"published\"", "did you mean `published`?"),
    ("operations = 1", "`operations` must be a section, and is an integer here", "1:1", "expected [operations.runPayroll]", ""),
    ("[operations.runPayrol]\nstatus = 202", "there is no operation `runPayrol`", "1:13", "expected an operationId of the product", "did you mean `runPayroll`?"),
    ("[operations.zzzzzzzzz]", "there is no operation `zzzzzzzzz`", "1:13", "expected an operationId of the product", "`sandbox openapi` lists every operationId"),
    ("[operations.getClock]\nstatus = 202", "there is no operation `getClock`", "1:13", "expected an operationId of the product", "operations of the control plane cannot be changed"),
    ("[operations]\nrunPayroll = 202", "`operations.runPayroll` is an integer", "2:1", "expected [operations.runPayroll]", ""),
    ("[operations.runPayroll]\nstats = 202", "`operations.runPayroll` has no key `stats`", "2:1", "unknown key", "did you mean `status`?"),
    ("[operations.runPayroll]\nstatus = 302", "302 is not a success status", "2:10", "expected a status from 200 to 299", ""),
    ("[operations.runPayroll]\nstatus = -1", "-1 is not a success status", "2:10", "expected a status from 200 to 299", ""),
    ("[operations.runPayroll]\nstatus = 204", "`runPayroll` returns a complete body", "2:10", "this status has no body", ""),
    ("[operations.listEmployees]\nstatus = 203", "the status of `listEmployees` is published", "2:10", "the specification, §4.2, shows 200 OK", ""),
    ("[operations.runPayroll]\nstatus = \"202\"", "`status` is a string", "2:10", "expected a status from 200 to 299", ""),
    ("[operations.runPayroll]\nenabled = false", "`runPayroll` cannot be disabled", "2:11", "the \
        specification publishes this operation, §4", ""),
    ("[operations.getCompany]\nstatus = 203\nenabled = false", "`getCompany` is disabled and configured at the same time", "3:11", "off here", ""),
    ("[operations.runPayroll]\naliases = \"/v2\"", "`aliases` is a string", "2:11", "expected a list of paths", ""),
    ("[operations.runPayroll]\naliases = [2]", "`aliases` is an integer", "2:12", "expected a list of paths", ""),
    ("[operations.runPayroll]\naliases = [\"v2/run\"]", "an alias must be a path", "2:12", "expected a path such as \"/v2/payroll/run\"", ""),
    ("[operations.runPayroll]\naliases = [\"/v2/run/\"]", "an alias must be a path", "2:12", "expected a path such as", ""),
    ("[operations.runPayroll]\naliases = [\"/v2/r?n\"]", "`r?n` is not a valid part of a path", "2:12", "expected letters, digits", ""),
    ("[operations.runPayroll]\naliases = [\"/v2/{*x}\"]", "`{*x}` is not a valid part of a path", "2:12", "expected letters, digits", ""),
    ("[operations.runPayroll]\naliases = [\"/v2/{id}\"]", "an alias must have the parameters of its operation, /v1/payroll/run", "2:12", "expected a path without parameters", ""),
    ("[operations.getCompany]\naliases = [\"/c/{id}\"]", "an alias must have the parameters of its operation", "2:12", "expected exactly {company_id}", ""),
    ("[operations.runPayroll]\naliases = [\"/_sandbox/run\"]", "/_sandbox is reserved for the sandbox", "2:12", "expected another path", ""),
    ("[operations.runPayroll]\naliases = [\"/docs\"]", "/docs is reserved for the sandbox", "2:12", "expected another path", ""),
    ("[operations.runPayroll]\naliases = [\"/api/business/companies\"]", "/api/business/companies is already a path", "2:12", "POST /api/business/companies is createCompany", ""),
    ("[operations.getCompany]\naliases = [\"/x/{company_id}\"]\n[operations.getPayslip]\naliases = [\"/x/{payslip_id}\"]", "is the alias of two operations", "4:12", "here for getPayslip", ""),
    ("[operations.updateCompany]\naliases = [\"/api/business/employees/{company_id}\"]", "is already a path", "2:12", "updateEmployee", ""),
    ("[operations.updateCompany]\naliases = [\"/api/business/payslips/{company_id}\"]", "/api/business/payslips/{company_id} has other parameter names than /api/business/payslips/{payslip_id}", "2:12", "expected \"/api/business/payslips/{payslip_id}\"", ""),
    ("serve = \"published\"\n[operations.getCompany]\nstatus = 203", "`getCompany` is not served", "2:13", "excluded by serve = \"published\"", ""),
    ("base_path = \"sandbox/\"", "this cannot be the base path", "1:13", "expected a path such as /sandbox", ""),
    ("base_path = 1", "`base_path` is an integer", "1:13", "expected a path such as \"/sandbox\"", ""),
    ("[webhooks]\nendpoints = \"/api/business/companies\"", "/api/business/companies is already the path of other operations", "2:13", "is one of them", ""),
    ("[webhooks]\nendpoints = \"/api\"", "/api is already the path of other operations", "2:13", "is one of them", ""),
    ("[operations.runPayroll]\naliases = [\"/hooks/run\"]\n[webhooks]\nendpoints = \"/hooks\"", "/hooks is already the path of other operations", "4:13", "/hooks/run is one of them", ""),
    ("[webhooks]\nendpoints = \"/docs\"", "/docs is reserved for the sandbox", "2:13", "expected another path", ""),
    ("[webhooks]\nendpoints = \"hooks\"", "the path of webhook endpoints must be a path", "2:13", "expected a path such as", ""),
    ("[webhooks]\nendpoints = \"/{id}/hooks\"", "the path of webhook endpoints has a parameter", "2:13", "expected a path without parameters", ""),
    ("[webhooks]\nendpoint = \"/hooks\"", "`webhooks` has no key `endpoint`", "2:1", "unknown key", "did you mean `endpoints`?"),
    ("[paging]\nper_page_max = 0", "0 is not a possible number of rows per page", "2:16", "expected an integer from 1 to 1000", ""),
    ("[paging]\nper_page_max = 1001", "1001 is not a possible number of rows per page", "2:16", "expected an integer from 1 to 1000", ""),
    ("[paging]\nper_page_default = 1.5", "`per_page_default` is a number with a fraction", "2:20", "expected an integer from 1 to 1000", ""),
    ("[paging]\nper_page_default = 50\nper_page_max = 20", "the default number of rows of a page exceeds the maximum", "2:20", "default 50", ""),
    ("[paging]\nper_page_default = 200", "the default number of rows of a page exceeds the maximum", "2:20", "200 by default, and 100 at most", "set `per_page_max`, too"),
    ("[paging]\nper_page_max = 10", "the default number of rows of a page exceeds the maximum", "2:16", "10 at most, and 25 by default", "set `per_page_default`, too"),
    ("[auth]\nkeys = []", "no key could open a world", "2:8", "expected at least one key", "leave `keys` out to accept any test key"),
    ("[auth]\nkeys = \"a\"", "`keys` is a string", "2:8", "expected a list of keys", ""),
    ("[auth]\nkeys = [\"a b\"]", "no request can send this key", "2:9", "expected 1 to 255 visible ASCII characters", ""),
    ("[auth]\nkeys = [\"\"]", "no request can send this key", "2:9", "expected 1 to 255 visible ASCII characters", ""),
    ("[auth]\nkeys = [\"sk_live_a\"]", "this key looks like a key of a live system", "2:9", "expected a test key", "set `refuse_live = false`"),
    ("[auth]\nkeys = [\"a\", \"a\"]", "a key is listed twice", "2:14", "again here", ""),
    ("[auth]\nrefuse_live = \"no\"", "`refuse_live` is a string", "2:15", "expected true or false", ""),
    ("[idempotency]\nrequired = 1", "`required` is an integer", "2:12", "expected true or false", ""),
    ("[idempotency]\nrequired = true\n[headers]\nidempotency_key = false", "an idempotency key is required, but its header is off", "2:12", "required here", ""),
    ("[headers]\nrequest_id = \"a b\"", "\"a b\" cannot be the name of this header", "2:14", "expected letters, digits and hyphens", ""),
    ("[headers]\nrequest_id = \"Content-Length\"", "\"Content-Length\" cannot be the name of this header", "2:14", "expected letters, digits and hyphens", ""),
    ("[headers]\nrequest_id = 3", "`request_id` is an integer", "2:14", "expected a header's name, or false", ""),
    ("[headers]\nrequest_id = true", "`request_id` is true", "2:14", "expected a header's name, or false", ""),
    ("[headers]\nrequest_id = \"Sandbox-Time\"", "request_id and sandbox_time have the same name", "2:14", "taken", ""),
    ("[headers]\nrequest_id = \"X\"\nsandbox_time = \"x\"", "request_id and sandbox_time have the same name", "3:16", "taken", ""),
    ("[headers]\nrequst_id = \"X\"", "`headers` has no key `requst_id`", "2:1", "unknown key", "did you mean `request_id`?"),
    ("[errors]\nformat = \"problem", "this is not valid TOML", "2:", "", ""),
    ("[errors]\nformat = \"problem\"\nformat = \"problem\"", "this is not valid TOML", "3:1", "duplicate key", ""),
];

#[test]
fn every_kind_of_mistake_is_shown_with_its_position_and_help() {
    let mut wrong = Vec::new();
    for (source, message, place, label, help) in MISTAKES {
        let report = report(source);
        for expected in
            [&format!("error: {message}"), &format!("--> c.toml:{place}"), *label, *help]
                as [&str; 4]
        {
            let expected =
                expected.trim_start_matches("error: is").trim_start_matches("error: calls");
            if !report.contains(expected) {
                wrong.push(format!("{source}\n{expected}\n{report}"));
            }
        }
        assert!(report.ends_with("1 mistake in c.toml\n"), "{report}");
        assert!(report.contains('^'), "{report}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_key_of_the_overlay_has_a_mistake_of_its_own() {
    let list = list();
    let keys = list.iter().flat_map(|row| row["overridden_by"].as_array().unwrap());
    let keys: BTreeSet<&str> = keys.map(|key| key.as_str().unwrap()).collect();
    assert!(keys.len() > 10, "{keys:?}");
    for key in keys {
        let name = key.rsplit('.').next().unwrap();
        let general = ["sandbox_time", "sandbox_decision", "idempotent_replayed", "api_version"];
        let meant = if general.contains(&name) { "request_id" } else { name };
        assert!(MISTAKES.iter().any(|(source, ..)| source.contains(meant)), "{key}");
    }
}

#[test]
fn every_mistake_of_a_file_is_shown_in_one_go() {
    let source = "[erors]\nformat = 1\n[paging]\nper_page_max = 0\nper_page_default = \"x\"\n\
                  [operations.nope]\n[operations.runPayroll]\nstatus = 500\naliases = [\"x\", 3]\n";
    assert_eq!(
        report(source),
        "error: an overlay has no key `erors`
 --> c.toml:1:2
  |
1 | [erors]
  |  ^^^^^ unknown key
  |
  = help: did you mean `errors`?

error: 0 is not a possible number of rows per page
 --> c.toml:4:16
  |
4 | per_page_max = 0
  |                ^ expected an integer from 1 to 1000

error: `per_page_default` is a string
 --> c.toml:5:20
  |
5 | per_page_default = \"x\"
  |                    ^^^ expected an integer from 1 to 1000

error: there is no operation `nope`
 --> c.toml:6:13
  |
6 | [operations.nope]
  |             ^^^^ expected an operationId of the product
  |
  = help: `sandbox openapi` lists every operationId

error: 500 is not a success status
 --> c.toml:8:10
  |
8 | status = 500
  |          ^^^ expected a status from 200 to 299

error: an alias must be a path
 --> c.toml:9:12
  |
9 | aliases = [\"x\", 3]
  |            ^^^ expected a path such as \"/v2/payroll/run\"

error: `aliases` is an integer
 --> c.toml:9:17
  |
9 | aliases = [\"x\", 3]
  |                 ^ expected a list of paths

7 mistakes in c.toml
"
    );
}

#[test]
fn a_toml_mistake_hides_no_other() {
    let report = report("[errors]\nformat = \n[paging]\nper_page_max = 0\n");
    assert!(report.contains("this is not valid TOML"), "{report}");
    assert!(report.contains("0 is not a possible number of rows per page"), "{report}");
    assert!(report.ends_with("2 mistakes in c.toml\n"), "{report}");
}

#[test]
fn no_report_shows_a_key() {
    for source in [
        "[auth]\nkeys = [\"s3cret value\"]",
        "[auth]\nkeys = [\"sk_live_s3cret\", \"s3cret\", \"s3cret\"]",
        "[auth]\nkeys = \"s3cret\"",
        "[auth]\nkey = \"s3cret\"",
        "[auht]\nkeys = [\"s3cret\"]",
        "[auth]\nkeys = [\"s3cret\n",
        "[auth]\nkeys = [\"s3cret\"]\nkeys = [\"s3cret\"]",
        "[auth]\nkeys = s3cret",
        "[auth]\nkeys = [s3cret]\n[errors]\nformat = 1",
        "auth = [\"s3cret\"]",
        "[auth]\ns3cret = true",
        "[auth.keys]\ns3cret = true",
    ] {
        let report = report(source);
        assert!(!report.contains("s3cret"), "{source}\n{report}");
    }
}

//! `sandbox contract learn` with files that no sandbox would write: traffic of browsers and proxies, refusals, other
//! servers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::learning::{learn, put, read};
use crate::harness::contract::product;

const COMPANIES: &str = "https://real.example/api/business/companies";

/// A successful call of a URL, with an empty list.
fn call(url: &str) -> Value {
    let body = json!({ "data": [], "meta": { "total": 0, "page": 1 } }).to_string();
    json!({
        "request": { "method": "GET", "url": url, "headers": [] },
        "response": {
            "status": 200,
            "headers": [{ "name": "Request-Id", "value": "req_1" }],
            "content": { "text": body },
        },
    })
}

/// A call with other members in its reply.
fn replied(url: &str, status: i64, body: &Value) -> Value {
    let mut call = call(url);
    call["response"]["status"] = status.into();
    call["response"]["content"]["text"] = body.to_string().into();
    call
}

/// Learns from these entries. Returns the exit code and the report, or the error.
fn of_entries(folder: &TempDir, entries: &[Value]) -> (i32, String) {
    put(folder, "real.har", &json!({ "log": { "entries": entries } }).to_string());
    let (code, out, err) = learn(folder, &["real.har"]);
    (code, out + &err)
}

/// The whole product, with the successes of all operations.
fn document(change: impl Fn(&str) -> String) -> Value {
    let own = product();
    let mut paths = json!({});
    for (path, item) in own["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            let Some(operation) = item.get(method) else { continue };
            paths[change(path)][method]["operationId"] = operation["operationId"].clone();
            let mut statuses = operation["responses"].as_object().unwrap().keys();
            let success = statuses.find(|status| status.starts_with('2')).unwrap();
            paths[change(path)][method]["responses"] = json!({ success: {} });
        }
    }
    json!({ "openapi": "3.1.0", "paths": paths })
}

/// Learns from a document and writes the contract, which is valid.
fn of_document(folder: &TempDir, document: &Value) -> (i32, String, String) {
    put(folder, "api.json", &document.to_string());
    let (code, out, err) = learn(folder, &["api.json", "--out", "real.toml"]);
    assert_eq!(err, "");
    let contract = read(folder, "real.toml");
    let (_, _, err) = learn(folder, &["api.json", "--contract", "real.toml"]);
    assert_eq!(err, "", "{contract}");
    std::fs::remove_file(folder.path().join("real.toml")).unwrap();
    (code, out, contract)
}

#[test]
fn a_schema_that_contains_itself_three_times_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let node = json!({ "$ref": "#/components/schemas/Node" });
    let children = json!({ "data": node, "left": node, "right": node });
    let content = json!({ "application/json": { "schema": node } });
    let list = json!({ "get": { "responses": { "200": { "content": content } } } });
    let schemas = json!({ "Node": { "type": "object", "properties": children } });
    let document = json!({
        "openapi": "3.0.0",
        "paths": { "/api/business/companies": list },
        "components": { "schemas": schemas },
    });
    let (code, out, _) = of_document(&folder, &document);
    assert_eq!(code, 1);
    assert!(out.contains("service:  a list is not in `data`"), "{out}");
}

#[test]
fn refused_calls_confirm_nothing_about_their_operations() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |status: i64| json!({ "code": "nope", "title": "Nope", "status": status });
    let other = "https://real.example/v2/companies";
    let refused = [404, 401, 501, 503]
        .map(|status| [COMPANIES, other].map(|url| replied(url, status, &problem(status))));
    let (code, out) = of_entries(&folder, refused.as_flattened());
    assert!(out.contains("confirmed: error-format, request-id\n"), "{out}");
    assert!(!out.contains("contract: operations") && !out.contains("/v2"), "{out}");
    assert_eq!(code, 1, "the codes differ");
    // Only an existing operation can refuse in this way.
    let (_, out) = of_entries(&folder, &[replied(COMPANIES, 409, &problem(409))]);
    assert!(out.contains("confirmed: base-path, companies, error-format, request-id\n"), "{out}");
    // An alias of a successful call also names the refused ones.
    let (_, out) = of_entries(&folder, &[replied(other, 404, &problem(404)), call(other)]);
    assert!(out.contains("2 calls read, 2 compared"), "{out}");
    assert!(
        out.contains("(real.har, entry 2)\n  contract: operations.listCompanies.aliases"),
        "{out}"
    );
}

#[test]
fn values_of_traffic_that_no_contract_can_have_are_reported_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Value> = (0..1_500).map(|_| json!({})).collect();
    let page = json!({ "data": rows, "meta": { "total": 3_000, "page": 1 } });
    let tenant = "https://real.example/v1/tenants/com:1/companies";
    let cases = [
        (replied(COMPANIES, 200, &page), "a page has 1500 rows without `per_page`"),
        (call(tenant), "`GET /v1/tenants/com:1/companies` is listCompanies"),
    ];
    for (entry, expected) in cases {
        let (code, out) = of_entries(&folder, &[entry]);
        let expected = format!("service:  {expected} (real.har, entry 1)\n  contract: no key");
        assert!(code == 1 && out.contains(&expected), "{out}");
    }
}

#[test]
fn promises_that_no_contract_can_have_are_reported_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = document(str::to_owned);
    let page = |schema: Value| json!([{ "name": "per_page", "in": "query", "schema": schema }]);
    let mut lists = |schema: Value| {
        pages["paths"]["/api/business/companies"]["get"]["parameters"] = page(schema);
        of_document(&folder, &pages)
    };
    let (code, out, contract) = lists(json!({ "default": 0 }));
    assert!(code == 1 && contract.starts_with("# The assumed contract"), "{contract}");
    assert!(out.contains("a page has 0 rows without `per_page`"), "{out}");
    let (code, _, contract) = lists(json!({ "default": 50, "maximum": 20 }));
    assert_eq!((code, &*contract), (1, "[paging]\nper_page_default = 20\nper_page_max = 20\n"));

    let (code, out, contract) = of_document(
        &folder,
        &document(|path| path.replace("/api/business/companies", "/tenants/{tenant_id}/companies")),
    );
    assert!(code == 1 && contract.starts_with("# The assumed contract"), "{contract}");
    assert!(out.contains("`GET /tenants/{tenant_id}/companies` is listCompanies"), "{out}");

    let mut headers = document(str::to_owned);
    for item in headers["paths"].as_object_mut().unwrap().values_mut() {
        for operation in item.as_object_mut().unwrap().values_mut() {
            for response in operation["responses"].as_object_mut().unwrap().values_mut() {
                response["headers"] = json!({ "X-Request-Id-Replay": {} });
            }
        }
    }
    let (code, out, contract) = of_document(&folder, &headers);
    assert_eq!((code, &*contract), (1, "[headers]\nrequest_id = \"X-Request-Id-Replay\"\n"));
    assert!(out.contains("cover 1 of 2 differences"), "{out}");
}

#[test]
fn a_contract_that_changes_an_absent_operation_stays_valid() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "old.toml", "[operations.getPayslip]\nstatus = 202\n");
    let mut own = document(str::to_owned);
    own["paths"].as_object_mut().unwrap().remove("/api/business/payslips/{payslip_id}");
    put(&folder, "api.json", &own.to_string());
    let arguments = ["api.json", "--contract", "old.toml", "--out", "real.toml"];
    let (code, out, err) = learn(&folder, &arguments);
    assert_eq!((code, err.as_str()), (1, ""), "{out}");
    assert!(out.contains("there is no getPayslip"), "{out}");
    assert_eq!(read(&folder, "real.toml"), read(&folder, "old.toml"));
}

#[test]
fn entries_without_a_url_of_http_or_a_reply_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let others =
        ["data:image/png;base64,iVBORw0KGgo=", "blob:https://real.example/1", "https://a b/"];
    let mut entries = others.map(call).to_vec();
    entries.extend([-1, 0].map(|status| replied(COMPANIES, status, &json!({}))));
    let (code, out) = of_entries(&folder, &[&entries[..], &[call(COMPANIES)]].concat());
    assert_eq!(code, 0, "{out}");
    assert!(
        out.starts_with("1 call read, 1 compared") && out.contains("\n5 entries left out"),
        "{out}"
    );
    let (code, out) = of_entries(&folder, &entries);
    assert!(code == 1 && out.contains("none of the 0 calls"), "{out}");
    let mut null = call("https://cdn.example/x");
    null["response"]["content"]["text"] = Value::Null;
    let (code, out) = of_entries(&folder, &[null, call(COMPANIES)]);
    assert!(code == 0 && out.starts_with("2 calls read, 1 compared"), "{out}");
}

#[test]
fn a_body_in_base64_is_compared_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut entry = call(COMPANIES);
    let text = STANDARD.encode(json!({ "items": [] }).to_string());
    entry["response"]["content"] = json!({ "text": text, "encoding": "base64" });
    let (code, out) = of_entries(&folder, &[entry]);
    assert!(code == 1 && out.contains("service:  a list is not in `data`"), "{out}");
}

#[test]
fn a_default_header_is_confirmed_among_headers_of_proxies_and_browsers() {
    let folder = tempfile::tempdir().unwrap();
    let mut entry = call(COMPANIES);
    let header = |name: &str| json!({ "name": name, "value": "15.0.0" });
    entry["request"]["headers"] = json!([header("sec-ch-ua-platform-version")]);
    entry["response"]["headers"].as_array_mut().unwrap().push(header("Apigw-Requestid"));
    let (code, out) = of_entries(&folder, &[entry]);
    assert!(code == 0 && out.contains("companies, request-id\n"), "{out}");
}

#[test]
fn the_base_path_of_a_server_with_variables_is_learned() {
    let folder = tempfile::tempdir().unwrap();
    let mut own = document(str::to_owned);
    let variables = json!({ "region": { "default": "eu" }, "plan": { "default": "test" } });
    for (url, expected) in [
        ("https://{region}.bank.example/{plan}/v9/", "base_path = \"/test/v9\"\n"),
        ("/{plan}", "base_path = \"/test\"\n"),
    ] {
        own["servers"] = json!([{ "url": url, "variables": variables }]);
        let (code, out, contract) = of_document(&folder, &own);
        assert_eq!((code, &*contract), (0, expected), "{out}");
    }
    own["servers"] = json!([{ "url": "https://bank.example/{unknown}" }]);
    let (code, out, _) = of_document(&folder, &own);
    assert!(code == 1 && out.contains("paths begin with /{unknown}"), "{out}");
}

#[test]
fn a_mistake_is_named_without_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let secret = json!("Authorization: Bearer SECRET");
    for (part, member, expected) in [
        ("request", "headers", "`request.headers` must be a list"),
        ("request", "postData", "`request.postData` must be an object"),
        ("response", "headers", "`response.headers` must be a list"),
        ("response", "content", "`response.content` must be an object"),
        ("response", "status", "`response.status` must be a whole number"),
    ] {
        let mut entry = call(COMPANIES);
        entry[part][member] = secret.clone();
        let (code, out) = of_entries(&folder, &[entry]);
        assert!(code == 1 && out.contains(expected) && !out.contains("SECRET"), "{out}");
    }
    put(&folder, "own.rec", &json!({ "recording": secret }).to_string());
    let (code, _, err) = learn(&folder, &["own.rec"]);
    assert!(code == 1 && err.contains("expected struct Header"), "{err}");
    assert!(!err.contains("SECRET"), "{err}");
}

#[test]
fn text_of_a_service_does_not_control_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let error = json!({ "error": { "code": "\u{1b}[2Jx\nfake", "message": "m" } });
    let (_, out) = of_entries(&folder, &[replied(COMPANIES, 404, &error)]);
    assert!(out.contains("has the code `\u{fffd}[2Jx\u{fffd}fake`"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out}");
}

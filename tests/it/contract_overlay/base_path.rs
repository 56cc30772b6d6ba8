//! A service whose base URL has a path.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::contract::printed;
use crate::harness::{Answer, Request, Server, command, finish};

const BASE: &str = "/sandbox";
const FLAGS: [&str; 4] = ["--seed", "42", "--base-path", BASE];

fn get(server: &Server, path: &str) -> Answer {
    Request::new("GET", path).key("test_key").send(server.port())
}

fn below(path: &str) -> String {
    format!("{BASE}{path}")
}

#[test]
fn every_route_is_below_the_base_path_and_no_other_is_served() {
    let server = Server::start(&FLAGS);
    assert!(server.ready_line().trim_end().ends_with(BASE), "{}", server.ready_line());
    for path in [
        "/api/business/employees",
        "/_sandbox/health",
        "/_sandbox/metrics",
        "/openapi.json",
        "/_sandbox/openapi.json",
        "/docs",
        "/docs/control",
        "/docs/rapidoc.js",
        "/llms.txt",
        "/dashboard/api.js",
        "/",
        "",
        "?key=1",
    ] {
        assert_eq!(get(&server, &below(path)).status, 200, "{path}");
        if path.starts_with('/') {
            let outside = get(&server, path).refused(404, "route_not_found");
            let detail = outside["detail"].as_str().unwrap();
            assert!(detail.ends_with("every path of this server begins with /sandbox"), "{detail}");
        }
    }
    for outside in ["/sandboxes/api/business/employees", "/Sandbox/docs", "/x/sandbox/docs"] {
        get(&server, outside).refused(404, "route_not_found");
    }
    let near = get(&server, &below("/api/business/employes")).refused(404, "route_not_found");
    assert!(near["detail"].as_str().unwrap().ends_with("/api/business/employees"), "{near}");
}

#[test]
fn links_lead_below_the_base_path() {
    let server = Server::start(&FLAGS);
    let company = get(&server, &below("/api/business/companies")).data()[0]["id"].clone();
    let run = Request::new("POST", &below("/v1/payroll/run"))
        .key("test_key")
        .json(&json!({"company_id": company, "period": "2026-01"}))
        .send(server.port());
    let location = run.header("location").unwrap();
    assert!(location.starts_with("/sandbox/api/business/payroll-runs/prn_"), "{location}");
    assert_eq!(get(&server, location).data()["id"], run.expect(201)["data"]["id"]);

    for document in ["/openapi.json", "/_sandbox/openapi.json"] {
        let document = get(&server, &below(document)).expect(200);
        assert_eq!(document["servers"][0]["url"], "http://localhost/sandbox");
        assert!(document["paths"].as_object().unwrap().keys().all(|path| !path.starts_with(BASE)));
    }
    // Each page loads only existing files.
    for page in ["/", "/docs", "/docs/control", "/llms.txt"] {
        let page = get(&server, &below(page));
        let text = page.text().to_owned();
        let targets = ["=\"/", "](/"].iter().flat_map(|mark| text.split(mark).skip(1));
        let targets: BTreeSet<&str> =
            targets.filter_map(|rest| rest.split(['"', ')']).next()).collect();
        assert!(targets.len() >= 3, "{targets:?}");
        for target in targets {
            let target = format!("/{target}");
            assert!(target.starts_with("/sandbox/"), "{target}");
            assert_eq!(get(&server, &target).status, 200, "{target}");
        }
    }
}

#[test]
fn commands_reach_a_sandbox_with_a_base_path() {
    let server = Server::start(&FLAGS);
    let port = server.port().to_string();
    let url = format!("http://127.0.0.1:{port}/sandbox/");
    let run = |arguments: &[&str]| finish(&mut command(arguments));
    let place = ["--port", &port, "--base-path", BASE];
    for arguments in
        [&["healthcheck"][..], &["trigger", "payroll_run.created"], &["events"], &["share"]]
    {
        let output = run(&[arguments, &place].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {error}");
    }
    assert_eq!(run(&["healthcheck", "--port", &port]).status.code(), Some(1));
    let mut by_variable = command(&["healthcheck", "--port", &port]);
    assert!(finish(by_variable.env("SANDBOX_BASE_PATH", BASE)).status.success());
    let folder = tempfile::tempdir().unwrap();
    let mut explore = command(&["explore", "--url", &url, "--key", "test_key", "--budget", "1"]);
    explore
        .args(["--", "sh", "-c", "printf %s \"$SANDBOX_URL\" > seen"])
        .current_dir(folder.path());
    let explored = finish(&mut explore);
    let error = String::from_utf8_lossy(&explored.stderr).into_owned();
    assert!(error.contains("there is nothing to explore"), "{error}");
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    assert_eq!(format!("{seen}/"), url);
}

#[test]
fn a_bad_base_path_is_refused_and_no_server_starts() {
    for bad in ["/", "sandbox", "/sandbox/", "/a//b", "/a b", "/..", "/_sandbox/x", "http://h/x"] {
        let output = finish(&mut command(&["--port", "0", "--base-path", bad]));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(
            error.contains("--base-path") && error.contains("base path")
                || error.contains("expected a path such as /sandbox"),
            "{error}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn the_contract_may_name_the_base_path_and_the_flag_overrides_it() {
    let file = super::file("base_path = \"/api\"\n");
    let name = file.path().to_str().unwrap();
    let document: Value = printed(&["openapi", "--contract", name]);
    assert_eq!(document["servers"][0]["url"], "http://localhost:4747/api");
    let server = Server::start(&["--contract", name]);
    get(&server, "/api/api/business/companies").expect(200);
    let server = Server::start(&["--contract", name, "--base-path", "/v9"]);
    get(&server, "/v9/api/business/companies").expect(200);
    get(&server, "/api/api/business/companies").refused(404, "route_not_found");
}

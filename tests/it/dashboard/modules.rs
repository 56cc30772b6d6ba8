//! What modules of the dashboard calculate and send.

use std::process::Command;

use crate::harness::{Caller, Request};

/// Without `node` this test does nothing but say so; `.ci/dashboard.sh` runs the page in a browser.
#[test]
fn amounts_refusals_and_keys_are_those_of_the_server() {
    let caller = Caller::instant();
    let folder = tempfile::tempdir().unwrap();
    for name in ["format.js", "api.js"] {
        let script = Request::new("GET", &format!("/dashboard/{name}")).send(caller.port());
        std::fs::write(folder.path().join(name), script.text()).unwrap();
    }
    std::fs::write(folder.path().join("package.json"), "{\"type\": \"module\"}").unwrap();
    let checks = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/dashboard/modules.mjs");
    let Ok(ran) = Command::new("node").arg(checks).arg(folder.path()).output() else {
        eprintln!("not run: node is not installed");
        return;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_filter_of_deliveries_offers_each_state() {
    let caller = Caller::instant();
    let document = Request::new("GET", "/_sandbox/openapi.json").send(caller.port()).json();
    let listed = &document["paths"]["/_sandbox/deliveries"]["get"]["parameters"];
    let filter = listed.as_array().unwrap().iter().find(|row| row["name"] == "status").unwrap();
    let schema = filter["schema"]["$ref"].as_str().map(|name| name.trim_start_matches('#'));
    let schema = schema.map_or(&filter["schema"], |name| document.pointer(name).unwrap());
    let states = schema["enum"].as_array().unwrap();
    assert!(states.len() >= 6, "{filter}");
    let script = Request::new("GET", "/dashboard/screens/webhooks.js").send(caller.port());
    let script = script.text();
    let (_, rest) = script.split_once("All states</option>${[").unwrap();
    let offered = rest.split(']').next().unwrap();
    for state in states {
        assert!(offered.contains(&format!("'{}'", state.as_str().unwrap())), "{state}: {offered}");
    }
}

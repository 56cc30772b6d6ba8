//! A write-ahead log under contract files: a replay does not depend on them.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::harness::{Answer, Caller, Server};

use super::{path, serve};

const RENAMED: &str = r#"
[operations.createCompany]
status = 202
aliases = ["/v9/firms"]

[operations.updateEmployee]
aliases = ["/v9/staff/{employee_id}"]

[headers]
idempotency_key = "X-Idem"
"#;

/// Refuses a POST without a key, and does not serve the operation with the alias.
const STRICT: &str = r"
[operations.createCompany]
enabled = false

[idempotency]
required = true
";

/// A server over the log, with this contract.
fn start(folder: &Path, contract: Option<&str>) -> (Arc<Server>, Caller) {
    let file = folder.join("contract.toml");
    let mut flags = vec!["--journal", path(folder)];
    if let Some(contract) = contract {
        std::fs::write(&file, contract).unwrap();
        flags.extend(["--contract", path(&file)]);
    }
    serve(&flags, "test_contracts")
}

fn create(caller: &Caller, path: &str, header: &str) -> Answer {
    let body = json!({"legal_name": "Alias Ltd", "country": "GB", "currency": "GBP"});
    let request = caller.request("POST", path).json(&body).header(header, "first");
    request.send(caller.port()) // the document of the harness has no aliases
}

#[test]
fn a_log_is_replayed_under_every_contract() {
    let folder = tempfile::tempdir().unwrap();
    let (server, caller) = start(folder.path(), Some(RENAMED));
    let made = create(&caller, "/v9/firms", "X-Idem").expect(202);
    let employee = caller.payable(&caller.company(0)).remove(0);
    let patch = caller.request("PATCH", &format!("/v9/staff/{employee}"));
    patch.json(&json!({"role": "Director"})).send(caller.port()).expect(200);
    let digest = caller.digest();
    drop((server, caller));

    for contract in [Some(RENAMED), None, Some(STRICT), Some("serve = \"published\"")] {
        let (_server, caller) = start(folder.path(), contract);
        assert_eq!(caller.digest(), digest, "{contract:?}");
    }
    // The reply is stored under the key, for the path and its aliases, in the form of each contract.
    let (server, caller) = start(folder.path(), Some(RENAMED));
    for path in ["/v9/firms", "/api/business/companies"] {
        assert_eq!(create(&caller, path, "X-Idem").expect(202), made, "{path}");
    }
    drop((server, caller));
    let (_server, caller) = start(folder.path(), None);
    assert_eq!(create(&caller, "/api/business/companies", "Idempotency-Key").expect(201), made);
    assert_eq!(caller.digest(), digest, "a stored reply changes nothing");
}

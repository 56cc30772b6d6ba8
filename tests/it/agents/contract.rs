//! Tools of a sandbox whose contract differs.

use std::sync::Arc;

use serde_json::json;

use super::{done, purchase, tool};
use crate::harness::{Caller, Server};

fn caller(contract: &str) -> Caller {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("contract.toml");
    std::fs::write(&file, contract).unwrap();
    Caller::of(&Arc::new(Server::start(&["--contract", &file.display().to_string()])))
}

#[test]
fn a_replay_is_marked_whatever_the_contract_calls_its_header() {
    for (name, key) in [("\"X-Replayed\"", "\"X-Key\""), ("false", "\"X-Key\"")] {
        let headers = format!("[headers]\nidempotent_replayed = {name}\nidempotency_key = {key}\n");
        let caller = caller(&headers);
        let pay = json!({"operation": "createPayout", "input": purchase(&caller), "idempotency_key": "k"});
        let [first, second] = [(); 2].map(|()| done(&caller, "call_operation", &pay));
        assert_eq!(second["body"]["data"]["id"], first["body"]["data"]["id"]);
        assert!(first.get("replayed").is_none(), "{name}: {first}");
        assert_eq!(second["replayed"], true, "{name}: {second}");
        let info = caller.get("/_sandbox/info").data();
        assert_eq!(info["idempotency_key_header"], "X-Key");
    }
}

#[test]
fn only_operations_that_the_contract_serves_are_found() {
    let caller = caller("serve = \"published\"\n");
    let find = |query: &str| tool(&caller, "find_operation", &json!({"query": query}));
    let (found, _) = find("run a payroll");
    assert_eq!(found["operations"][0]["operation"], "runPayroll", "{found}");
    let (found, _) = find("pay a supplier");
    assert!(!found.to_string().contains("createPayout"), "{found}");
    for row in found["operations"].as_array().into_iter().flatten() {
        let (shown, is_error) =
            tool(&caller, "describe_operation", &json!({"operation": row["operation"]}));
        assert!(!is_error, "{shown}");
    }
}

//! Messages of both families of revisions, and the rules of the control plane.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{PATH, message, send};
use crate::harness::{Caller, Server};

const STATELESS: &str = "2026-07-28";

fn meta() -> Value {
    json!({"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS}})
}

fn published() -> Value {
    let text = include_str!("../../../fixtures/mcp-tools.json");
    serde_json::from_str::<Value>(text).unwrap()["tools"].take()
}

#[test]
fn the_tools_are_listed_with_and_without_initialize() {
    let caller = Caller::instant();
    for version in ["2025-11-25", "2025-06-18", "1999-01-01"] {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = send(&caller, &message(&caller, "initialize", &params));
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let result = answer.json()["result"].take();
        let wanted = if version.starts_with("1999") { "2025-11-25" } else { version };
        assert_eq!(result["protocolVersion"], wanted);
        assert!(result["instructions"].as_str().unwrap().contains("never an instruction"));
    }
    let listed = send(&caller, &message(&caller, "tools/list", &json!({}))).json();
    assert_eq!(listed["result"]["tools"], published());
    assert!(published().as_array().unwrap().len() <= 12);

    let list = message(&caller, "tools/list", &meta());
    let headers = list.header("MCP-Protocol-Version", STATELESS).header("Mcp-Method", "tools/list");
    assert_eq!(send(&caller, &headers).json()["result"], listed["result"]);
    let discover = message(&caller, "server/discover", &meta());
    let headers =
        discover.header("MCP-Protocol-Version", STATELESS).header("Mcp-Method", "server/discover");
    let found = send(&caller, &headers).json()["result"].take();
    assert_eq!(found["supportedVersions"][0], STATELESS);
    assert_eq!(found["capabilities"], json!({"tools": {}}));
}

#[test]
fn headers_that_contradict_the_message_are_refused() {
    let caller = Caller::instant();
    let mut params = meta();
    params["name"] = "verify".into();
    params["arguments"] = json!({"about": "ledger"});
    let call = || message(&caller, "tools/call", &params);
    let good = call()
        .header("MCP-Protocol-Version", STATELESS)
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "verify");
    assert_eq!(send(&caller, &good).json()["result"]["isError"], false);
    let wrong = [
        call(),
        call().header("MCP-Protocol-Version", STATELESS).header("Mcp-Method", "tools/call"),
        call()
            .header("MCP-Protocol-Version", "2025-11-25")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", "verify"),
        call()
            .header("MCP-Protocol-Version", STATELESS)
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", "reset"),
    ];
    for request in wrong {
        let answer = send(&caller, &request);
        assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32020)));
    }
    let unknown = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}});
    let answer = send(&caller, &message(&caller, "tools/list", &unknown));
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32022)));
    assert_eq!(answer.json()["error"]["data"]["supported"][0], STATELESS);
    let old = message(&caller, "ping", &json!({})).header("MCP-Protocol-Version", "2031-01-01");
    assert_eq!(send(&caller, &old).json()["error"]["code"], -32022);
}

#[test]
fn broken_messages_get_errors_of_the_protocol() {
    let caller = Caller::instant();
    let post = |body: &str| caller.request("POST", PATH).bytes(body.as_bytes());
    let deep = format!("{}{}", "[".repeat(80), "]".repeat(80));
    let rows = [
        ("", 400, -32700),
        ("{", 400, -32700),
        (deep.as_str(), 400, -32700),
        ("[]", 400, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, 200, -32602),
    ];
    for (body, status, code) in rows {
        let answer = send(&caller, &post(body));
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert_eq!(answer.json()["error"]["code"], code, "{body}: {}", answer.text());
    }
    for (body, why) in [
        ("null", "a message is one JSON object"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "the member method is missing"),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, "the member method must be a text"),
    ] {
        assert_eq!(send(&caller, &post(body)).json()["error"]["message"], why, "{body}");
    }
    let quiet = [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
    ];
    for body in quiet {
        let answer = send(&caller, &post(body));
        assert_eq!((answer.status, answer.body.len()), (202, 0));
    }
}

#[test]
fn a_list_of_messages_is_answered_in_the_revisions_that_have_it() {
    let caller = Caller::instant();
    let list = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},7,{"jsonrpc":"2.0","id":"a","method":"tools/list"}]"#;
    let post = |body: &str| caller.request("POST", PATH).bytes(body.as_bytes());
    for request in [post(list), post(list).header("MCP-Protocol-Version", "2025-03-26")] {
        let answer = send(&caller, &request);
        assert_eq!(answer.status, 200);
        let answers = answer.json();
        let answers = answers.as_array().unwrap();
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(1), &Value::Null, &json!("a")]);
        assert_eq!(answers[1]["error"]["code"], -32600);
        assert_eq!(answers[2]["result"]["tools"], published());
    }
    let quiet = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    assert_eq!(send(&caller, &post(quiet)).status, 202);
    let long = format!("[{}7]", "7,".repeat(100));
    for (body, version, why) in [
        (
            list,
            "2025-06-18",
            "a message is one JSON object; this revision has no lists of messages",
        ),
        (
            list,
            "2025-11-25",
            "a message is one JSON object; this revision has no lists of messages",
        ),
        ("[]", "2025-03-26", "a list must have 1 to 100 messages"),
        (long.as_str(), "2024-11-05", "a list must have 1 to 100 messages"),
    ] {
        let answer = send(&caller, &post(body).header("MCP-Protocol-Version", version));
        assert_eq!((answer.status, answer.json()["error"]["message"].as_str()), (400, Some(why)));
    }
}

#[test]
fn the_route_has_the_rules_of_the_control_plane() {
    let caller = Caller::instant();
    for method in ["GET", "DELETE", "PUT"] {
        let answer = send(&caller, &caller.request(method, PATH));
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
    let ping = || message(&caller, "ping", &json!({}));
    assert_eq!(send(&caller, &ping().header("Origin", "http://evil.example")).status, 403);
    assert_eq!(send(&caller, &ping().header("Host", "evil.example")).status, 421);
    let large = caller.request("POST", PATH).bytes(&vec![b' '; (1 << 20) + 1]);
    assert_eq!(send(&caller, &large).status, 413);

    let server = Arc::new(Server::start(&["--admin-token", "token-of-a-test"]));
    let guarded = Caller::of(&server);
    let ping = || message(&guarded, "ping", &json!({}));
    assert_eq!(send(&guarded, &ping()).status, 401);
    assert_eq!(
        send(&guarded, &ping().header("Sandbox-Admin-Token", "token-of-a-test")).status,
        200
    );
}

#[test]
fn a_refused_key_is_an_answer_that_the_model_can_read() {
    let caller = Caller::instant();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "verify", "arguments": {"about": "ledger"}}});
    let request = crate::harness::Request::new("POST", PATH).json(&call);
    let result = request.send(caller.port()).json()["result"].take();
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("missing_credentials"));
}

#[test]
fn a_ping_has_the_answer_of_its_revision() {
    let caller = Caller::instant();
    let old = message(&caller, "ping", &json!({})).header("MCP-Protocol-Version", "2025-06-18");
    assert_eq!(send(&caller, &old).json()["result"], json!({}));
    let new = message(&caller, "ping", &meta()).header("MCP-Protocol-Version", STATELESS);
    let answer = send(&caller, &new.header("Mcp-Method", "ping"));
    assert_eq!(answer.json()["result"], json!({"resultType": "complete"}));
}

#[test]
fn an_unknown_decision_is_answered_with_all_of_them() {
    let caller = Caller::instant();
    let rule = json!({"name": "set_rule", "arguments": {"action": "add", "decision": "payout.settl", "then": "failed"}});
    let result = send(&caller, &message(&caller, "tools/call", &rule)).json()["result"].take();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("decision must be one of ") && text.contains(", payout.settle"),
        "{text}"
    );
}

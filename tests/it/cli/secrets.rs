//! Keys and tokens appear in no output.

use serde_json::Value;

use crate::harness::{Request, Server, command, finish};

use super::ended;

#[test]
fn keys_and_tokens_are_in_no_log() {
    for format in ["json", "human"] {
        let (key, live, token) = ("test_secret_key_1", "sk_live_secret_2", "secret_token_3");
        let server = Server::start(&[
            "--log",
            format,
            "--log-filter",
            "debug",
            "--api-key",
            key,
            "--admin-token",
            token,
        ]);
        let port = server.port();
        let get = |path: &str| Request::new("GET", path);
        get("/api/business/employees").key(key).send(port).expect(200);
        get("/api/business/employees").key(live).send(port).refused(401, "live_key_refused");
        get("/api/business/employees")
            .key("test_unknown_secret")
            .send(port)
            .refused(401, "invalid_api_key");
        get("/api/business/employees")
            .header("Authorization", "Basic secret")
            .send(port)
            .refused(401, "invalid_api_key");
        get("/_sandbox/clock").key(key).header("Sandbox-Admin-Token", token).send(port).expect(200);
        get("/_sandbox/clock").key(key).header("Sandbox-Admin-Token", "wrong_secret").send(port);
        get("/nowhere").key(key).send(port).refused(404, "route_not_found");
        let body = serde_json::json!({"period": "2026-13"});
        Request::new("POST", "/v1/payroll/run")
            .key(key)
            .header("Idempotency-Key", "idem")
            .json(&body)
            .send(port)
            .refused(422, "validation_failed");
        let (out, log) = server.stop();
        assert_eq!(out, "");
        assert!(log.lines().count() >= 7, "the log has a line a request: {log}");
        assert!(log.contains("/api/business/employees") && log.contains("422"), "{log}");
        assert!(!log.contains("secret"), "{log}");
        if format == "json" {
            assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
        }
    }
}

#[test]
fn keys_are_in_neither_the_banner_nor_the_help() {
    let server = Server::spawn(&mut command(&["--port", "0", "--api-key", "test_secret_1"]));
    let (_, banner) = server.stop();
    assert!(banner.contains("curl") && !banner.contains("secret"), "{banner}");
    let mut help = command(&["--help"]);
    help.envs([
        ("SANDBOX_API_KEY", "test_secret_1"),
        ("SANDBOX_ADMIN_TOKEN", "secret_2"),
        ("SANDBOX_WEBHOOK_SECRET", "secret_3"),
    ]);
    let (code, out, _) = ended(&finish(&mut help));
    assert!(code == 0 && !out.contains("secret_"), "{out}");
}

//! Paths through whole domains, as a downstream product uses them. Each path runs twice and must return the
//! same bytes.

mod business;
mod payments;
mod whole;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::http::Request;
use crate::harness::world::id;
use crate::harness::{Caller, Server};

/// A path with all its answers.
struct Path {
    caller: Caller,
    answers: Vec<String>,
}

impl Path {
    /// A separate world with a manual clock.
    fn begin() -> Self {
        Self::with(&[])
    }

    /// A path under a scenario with these rows.
    fn ruined(rows: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ruin.toml");
        std::fs::write(&file, format!("title = \"Ruin\"\n\n{rows}\n")).unwrap();
        Self::with(&["--scenario", file.to_str().unwrap()])
    }

    fn with(flags: &[&str]) -> Self {
        let flags = [&["--seed", "42", "--clock", "manual"], flags].concat();
        let server = Arc::new(Server::start(&flags));
        Self { caller: Caller::with_key(&server, "test_golden"), answers: Vec::new() }
    }

    /// A new company, verified and funded.
    fn company(&mut self) -> Value {
        let company = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
        let company = self.post(201, "/api/business/companies", &company);
        assert_eq!(company["status"], "pending");
        let run = json!({"company_id": company["id"], "period": "2026-01"});
        self.caller.post("/v1/payroll/run", &run).refused(403, "compliance_blocked");
        let blocker = id(&company["blockers"][0]).to_owned();
        let resolve = format!("/api/business/compliance-requirements/{blocker}/resolve");
        self.post(200, &resolve, &json!({"evidence": {"value": "RC 1234567"}}));
        let company = self.get(&format!("/api/business/companies/{}", id(&company)));
        assert_eq!(company["status"], "active");
        let money = json!({"company_id": company["id"], "amount": 500_000_000, "from": "owner"});
        self.post(200, "/_sandbox/inbound/bank_transfer", &money);
        company
    }

    /// Advances the clock.
    fn advance(&mut self, by: &str) {
        self.caller.advance(&json!({"by": by}));
    }

    fn send(&mut self, status: u16, request: &Request) -> Value {
        let answer = self.caller.send(request);
        let body = answer.expect(status);
        self.answers.push(answer.text().to_owned());
        body["data"].clone()
    }

    fn post(&mut self, status: u16, path: &str, body: &Value) -> Value {
        let request = self.caller.request("POST", path).json(body);
        self.send(status, &request)
    }

    fn get(&mut self, path: &str) -> Value {
        let request = self.caller.request("GET", path);
        self.send(200, &request)
    }
}

/// Runs the walk twice, and compares answers, events and worlds.
fn twice(walk: fn() -> Path) {
    let (first, second) = (walk(), walk());
    assert_eq!(first.answers, second.answers);
    assert_eq!(first.caller.events(), second.caller.events());
    assert_eq!(first.caller.digest(), second.caller.digest());
}

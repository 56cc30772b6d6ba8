//! A caller with its own key, and so with its own world. Every answer is checked against the served contract.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::contract;
use super::http::{Answer, Request};
use super::server::Server;

/// A caller with a key.
#[derive(Clone)]
pub(crate) struct Caller {
    server: Arc<Server>,
    key: String,
}

impl Caller {
    /// A fresh world with an instant clock.
    pub(crate) fn instant() -> Self {
        Self::of(&Server::instant())
    }

    /// A fresh world with a manual clock.
    pub(crate) fn manual() -> Self {
        Self::of(&Server::manual())
    }

    /// A fresh world of this server.
    pub(crate) fn of(server: &Arc<Server>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self::with_key(server, &format!("test_{number}"))
    }

    /// The world of this key.
    pub(crate) fn with_key(server: &Arc<Server>, key: &str) -> Self {
        Self { server: Arc::clone(server), key: key.to_owned() }
    }

    /// The caller of another key of the same server.
    pub(crate) fn with(&self, key: &str) -> Self {
        Self::with_key(&self.server, key)
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.port()
    }

    /// A request with this caller's key.
    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        Request::new(method, path).key(&self.key)
    }

    /// Sends a request and checks its answer against the contract.
    pub(crate) fn send(&self, request: &Request) -> Answer {
        let answer = request.send(self.server.port());
        contract::check(request.method(), request.path(), &answer);
        answer
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&self.request("GET", path))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(&self.request("POST", path).json(body))
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(&self.request("PATCH", path).json(body))
    }

    /// Every row of a list, page by page.
    pub(crate) fn all(&self, path: &str) -> Vec<Value> {
        let join = if path.contains('?') { '&' } else { '?' };
        let mut rows = Vec::new();
        for page in 1.. {
            let answer = self.get(&format!("{path}{join}per_page=100&page={page}"));
            let body = answer.expect(200);
            let data = body["data"].as_array().unwrap();
            rows.extend(data.iter().cloned());
            if data.is_empty() || body["meta"]["total"] == rows.len() {
                assert_eq!(body["meta"]["total"], rows.len(), "{path}");
                break;
            }
        }
        rows
    }

    /// The id of the grown company with this number, from 0.
    pub(crate) fn company(&self, number: usize) -> String {
        let companies = self.get("/api/business/companies").data();
        companies[number]["id"].as_str().unwrap().to_owned()
    }

    /// The employees of a company whom a run may include, in the list's order.
    pub(crate) fn payable(&self, company: &str) -> Vec<String> {
        let employees = self.all(&format!("/api/business/employees?company_id={company}"));
        let payable = |employee: &&Value| {
            matches!(employee["status"].as_str(), Some("active" | "on_leave"))
                && employee["payroll_status"] == "verified"
        };
        let id = |employee: &Value| employee["id"].as_str().unwrap().to_owned();
        employees.iter().filter(payable).map(id).collect()
    }

    /// Two payable people of a company with partial runs. The pay of the second is beyond the balance of the wallet.
    pub(crate) fn two_with_one_beyond_the_balance(&self, company: &str) -> Vec<String> {
        let people = self.payable(company)[..2].to_vec();
        let settings = json!({"payroll_settings": {"partial_runs": true}});
        self.patch(&format!("/api/business/companies/{company}"), &settings).expect(200);
        let path = format!("/api/business/employees/{}/compensation", people[1]);
        let pay = json!({"amount": 100_000_000_000_i64, "currency": "NGN", "interval": "month"});
        self.send(&self.request("PUT", &path).json(&pay)).expect(200);
        people
    }

    /// Runs the payroll of all payable employees, which must succeed, and returns the run of the 201.
    pub(crate) fn run_payroll(&self, company: &str, period: &str) -> Value {
        let body = json!({"company_id": company, "period": period});
        self.post("/v1/payroll/run", &body).expect(201)["data"].take()
    }

    /// Changes a company with biweekly pay to monthly pay from January 2026.
    pub(crate) fn pay_monthly(&self, company: &str) {
        let path = "/api/business/pay-schedules";
        if !self.all(&format!("{path}?company_id={company}")).is_empty() {
            let body = json!({
                "company_id": company, "frequency": "monthly", "first_day": "2026-01-01",
                "pay_days_after": 0,
            });
            self.post(path, &body).expect(201);
        }
    }

    /// The current state of a run.
    pub(crate) fn run(&self, id: &str) -> Value {
        self.get(&format!("/api/business/payroll-runs/{id}")).data()
    }

    /// Advances a manual clock and returns the names of the events, in order.
    pub(crate) fn advance(&self, how: &Value) -> Vec<String> {
        let mut how = how.clone();
        how["events_limit"] = 100_000.into();
        let answer = self.post("/_sandbox/clock/advance", &how).data();
        assert_eq!(answer["events_after"], Value::Null, "all events are shown");
        let events = answer["events"].as_array().unwrap();
        let name = |event: &Value| event["type"].as_str().unwrap().to_owned();
        events.iter().map(name).collect()
    }

    /// One hash of this caller's world.
    pub(crate) fn digest(&self) -> String {
        let info = self.get("/_sandbox/info").data();
        info["world"]["digest"].as_str().unwrap().to_owned()
    }

    /// Virtual time.
    pub(crate) fn now(&self) -> String {
        let clock = self.get("/_sandbox/clock").data();
        clock["now"].as_str().unwrap().to_owned()
    }

    /// Asserts that the auditor has no findings in this caller's world.
    #[track_caller]
    pub(crate) fn audit(&self) {
        let check = self.get("/_sandbox/ledger/check").data();
        assert_eq!(check["ok"], true, "{check}");
    }

    /// Every event of the world, oldest first.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.all("/_sandbox/events?sort=sequence")
    }
}

/// The id of a resource.
pub(crate) fn id(resource: &Value) -> &str {
    resource["id"].as_str().expect("a resource has an id")
}

/// An amount, count or other whole number.
#[track_caller]
pub(crate) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// The platform fee for a run of the Nigerian company, if it is the first volume of its month:
/// `docs/payments.md`.
pub(crate) fn platform_fee(run: &Value) -> i64 {
    let net = i128::from(number(&run["totals"]["net"]));
    let ends = [10_000_000_000, 50_000_000_000, 200_000_000_000, 1_000_000_000_000, i128::MAX];
    let (mut from, mut points) = (0, 0);
    for (end, rate) in ends.into_iter().zip([150, 125, 100, 75, 50]) {
        points += (net.min(end) - from).max(0) * rate;
        from = end;
    }
    let (fee, rest) = (points / 10_000, points % 10_000);
    let up = rest > 5_000 || (rest == 5_000 && fee % 2 == 1);
    i64::try_from(fee + i128::from(up)).unwrap()
}

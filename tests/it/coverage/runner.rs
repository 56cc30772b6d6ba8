//! Runs the steps of one source over HTTP, one after the other, with the prober after each.

use std::collections::BTreeMap;

use sandbox::{ClockMode, Sandbox};
use serde_json::{Map, Value, json};

use super::library::{Source, Step};
use super::prober::{Probed, Prober};
use super::seen::Seen;
use crate::harness::contract::{control, product};
use crate::harness::http::{Answer, Request};

/// The key of the steps.
pub(super) const KEY: &str = "test_coverage";

/// Maximum number of moves of the clock to the next event until a situation has shown its events.
const MOST_EVENTS: u32 = 400;

/// One key of a running server.
pub(super) struct Client {
    pub(super) sandbox: Sandbox,
    port: u16,
}

/// A source that runs.
pub(super) struct Run {
    client: Client,
    /// For a story the same world without faults and limits: `@employee:2` is found there, so that no look-up counts as a call.
    plain: Option<Client>,
    saves: BTreeMap<String, Value>,
    /// Events before the own steps of a situation.
    began: u64,
    prober: Option<Prober>,
}

impl Client {
    fn start(text: &str) -> Self {
        let builder = Sandbox::builder().clock(ClockMode::Manual);
        let builder = builder.scenario_text("coverage", text).unwrap();
        let sandbox = builder.start().unwrap();
        let port = sandbox.url().rsplit_once(':').unwrap().1.parse().unwrap();
        Self { sandbox, port }
    }

    /// The reply to a call; none if the exchange was lost.
    pub(super) fn call(
        &self,
        key: &str,
        method: &str,
        path: &str,
        headers: &Map<String, Value>,
        body: Option<&Value>,
    ) -> Option<Answer> {
        let mut request = Request::new(method, path).key(key);
        for (name, value) in headers {
            request = request.header(name, value.as_str().unwrap());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        request.try_send(self.port).ok()
    }

    /// The body of a successful call of the control plane.
    pub(super) fn control(&self, path: &str, body: &Value) -> Value {
        let answer = self.call(KEY, "POST", path, &Map::new(), Some(body)).unwrap();
        assert!(answer.status < 300, "{path}: {}", answer.text());
        answer.json()
    }

    /// The data of a GET.
    pub(super) fn read(&self, path: &str) -> Value {
        let answer = self.call(KEY, "GET", path, &Map::new(), None).unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// Every row of a list.
    pub(super) fn all(&self, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        for page in 1.. {
            let read = self.read(&format!("{path}?per_page=100&page={page}"));
            let data = read["data"].as_array().unwrap();
            rows.extend(data.iter().cloned());
            if data.len() < 100 {
                break;
            }
        }
        rows
    }

    /// The events after that place in the log.
    pub(super) fn events(&self, after: u64) -> Vec<Value> {
        let (mut events, mut after) = (Vec::new(), after);
        loop {
            let path = format!("/_sandbox/events?per_page=100&after={after}");
            let page = self.read(&path)["data"].as_array().unwrap().clone();
            let Some(last) = page.last() else {
                return events;
            };
            after = last["sequence"].as_u64().unwrap();
            events.extend(page);
        }
    }
}

impl Run {
    pub(super) fn of(source: &Source, is_probed: bool) -> Self {
        let text = source.text.as_deref().unwrap_or_default();
        let client = Client::start(text);
        Self {
            client,
            plain: source.is_story().then(|| Client::start(&source.world)),
            saves: BTreeMap::new(),
            began: 0,
            prober: is_probed.then(|| Prober::new(source.is_story())),
        }
    }

    /// The coverage of the source, and the digest of its world.
    pub(super) fn end(self) -> (Seen, Probed, String) {
        let digest = self.client.sandbox.digest(KEY).unwrap();
        // So that no fault or limit of the scenario affects the reads.
        self.client.call(KEY, "DELETE", "/_sandbox/scenarios/current", &Map::new(), None);
        let seen = Seen::of(&self.client, self.began);
        (seen, self.prober.map(Prober::end).unwrap_or_default(), digest)
    }

    /// Runs every step, and returns the differences from the expectations.
    pub(super) fn steps(&mut self, source: &Source) -> Vec<String> {
        let mut wrong = Vec::new();
        for (place, step) in source.steps.iter().enumerate() {
            if place == source.own {
                self.began = self.client.events(0).len() as u64;
            }
            wrong.extend(self.step(step, source.is_story()));
            self.probe();
        }
        if source.is_story() {
            wrong.extend(self.idle_rows());
            return wrong;
        }
        for _ in 0..MOST_EVENTS {
            let events = self.client.events(self.began);
            let has = |name: &String| events.iter().any(|event| event["type"] == **name);
            if source.events.iter().all(has) {
                return wrong;
            }
            self.advance(&json!({ "until": "next_event" }));
            self.probe();
        }
        wrong.push(format!("not all of {} happened", source.events.join(", ")));
        wrong
    }

    /// Rows of the scenario that never acted, or whose call was refused. No webhook is sent here: `scenario` tests these rows.
    fn idle_rows(&self) -> Vec<String> {
        let coverage = self.client.read("/_sandbox/scenarios/coverage")["data"].take();
        let rows = coverage["rows"].as_array().unwrap().iter();
        let rows = rows.filter(|row| row["kind"] != "webhook");
        let idle = rows.filter(|row| row["hits"] == 0 || row["refused"].is_string());
        idle.map(|row| format!("a row did nothing: {row}")).collect()
    }

    fn probe(&mut self) {
        if let Some(prober) = &mut self.prober {
            prober.probe(&self.client);
        }
    }

    fn advance(&self, how: &Value) {
        self.client.control("/_sandbox/clock/advance", how);
    }

    fn step(&mut self, step: &Step, is_story: bool) -> Vec<String> {
        let does = &step.does;
        if does["idle"] == true {
            self.advance(&json!({ "until": "idle" }));
        } else if !does["advance"].is_null() {
            self.advance(&json!({ "by": does["advance"] }));
        } else {
            for outcome in &step.outcomes {
                self.client.control("/_sandbox/rules", &rule(outcome));
            }
            let wrong = self.call(does);
            if !is_story {
                self.probe();
                // Waits for the effects of the call, but not for deadlines.
                self.advance(&json!({ "until": "idle" }));
                if !step.outcomes.is_empty() {
                    self.client.call(KEY, "DELETE", "/_sandbox/rules", &Map::new(), None);
                }
            }
            return wrong;
        }
        Vec::new()
    }

    fn call(&mut self, step: &Value) -> Vec<String> {
        let name = step["call"].as_str().unwrap();
        let input = self.resolved(&step["with"]);
        let (method, path, body) = request_line(name, &input);
        let headers = step["headers"].as_object().cloned().unwrap_or_default();
        let expected = &step["expect"];
        let Some(answer) = self.client.call(KEY, &method, &path, &headers, body.as_ref()) else {
            return if expected["lost"] == true {
                Vec::new()
            } else {
                vec![format!("{name} is lost")]
            };
        };
        let mut wrong = Vec::new();
        if expected["status"].as_u64().is_none_or(|status| status < 400)
            && (answer.status >= 300
                || expected["status"].as_u64().is_some_and(|it| it != u64::from(answer.status)))
            || expected["status"]
                .as_u64()
                .is_some_and(|it| it >= 400 && it != u64::from(answer.status))
        {
            wrong.push(format!("{name}: {} {}", answer.status, answer.text()));
        }
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        compare(&self.resolved(&expected["body"]), &body, name, &mut wrong);
        if let Some(name) = step["save"].as_str() {
            self.saves.insert(name.to_owned(), body);
        }
        wrong
    }

    fn resolved(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.resolved(item)).collect(),
            Value::Object(members) => {
                let resolved =
                    members.iter().map(|(name, value)| (name.clone(), self.resolved(value)));
                Value::Object(resolved.collect())
            }
            Value::String(text) => match text.strip_prefix('@') {
                Some(literal) if literal.starts_with('@') => literal.into(),
                Some(reference) => self.referred(reference),
                None => value.clone(),
            },
            _ => value.clone(),
        }
    }

    fn referred(&self, reference: &str) -> Value {
        if let Some((kind, place)) = reference.split_once(':') {
            return self.nth(kind, place.parse().unwrap()).into();
        }
        let mut parts = reference.split('.');
        let name = parts.next().unwrap();
        let mut value = match name {
            "world" => self.of_world(parts.next().unwrap()),
            name => self.saves.get(name).cloned().unwrap_or_else(|| panic!("{name} was not saved")),
        };
        for part in parts {
            value = match part.parse::<usize>() {
                Ok(place) => value[place].take(),
                Err(_) => value[part].take(),
            };
        }
        assert!(!value.is_null(), "@{reference} is nothing: {:?}", self.saves.get(name));
        value
    }

    /// The id of the resource at that place of its kind, from 1: first grown resources, then created ones.
    pub(super) fn nth(&self, kind: &str, place: u64) -> String {
        let list = match kind {
            "company" => "/api/business/companies",
            "employee" => "/api/business/employees",
            "wallet" => "/api/payments/wallets",
            _ => "",
        };
        let mut place = place;
        if !list.is_empty() {
            let grown = self.plain.as_ref().unwrap_or(&self.client);
            let page = grown.read(&format!("{list}?per_page=1&page={place}"));
            if let Some(id) = page["data"][0]["id"].as_str() {
                return id.to_owned();
            }
            place -= page["meta"]["total"].as_u64().unwrap();
        }
        let path =
            format!("/_sandbox/events?type={kind}.created&page={place}&per_page=1&sort=sequence");
        let id = &self.client.read(&path)["data"][0]["data"]["object"]["id"];
        id.as_str().unwrap_or_else(|| panic!("there is no {kind} {place}")).to_owned()
    }

    /// A value of the world by the name that situations use.
    fn of_world(&self, name: &str) -> Value {
        let now =
            || self.client.read("/_sandbox/clock")["data"]["now"].as_str().unwrap().to_owned();
        let count = || self.client.events(0).len().to_string();
        let company = || self.client.read("/api/business/companies?per_page=1")["data"][0].take();
        let employees = || {
            let path = format!(
                "/api/business/employees?per_page=2&status=active&payroll_status=verified&company_id={}",
                company()["id"].as_str().unwrap()
            );
            self.client.read(&path)["data"].take()
        };
        match name {
            "today" => now()[..10].into(),
            "month" => now()[..7].into(),
            "open_month" => {
                let first: jiff::civil::Date = format!("{}-01", &now()[..7]).parse().unwrap();
                first.yesterday().unwrap().strftime("%Y-%m").to_string().into()
            }
            "count" => count().into(),
            "reference" => format!("TRIGGERED-{}", count()).into(),
            // Situations run in separate worlds, so any future day is free.
            "free_day" => format!("{}-28", &now()[..7]).into(),
            "currency" => "GBP".into(),
            "foreign_currency" => if company()["currency"] == "EUR" { "USD" } else { "EUR" }.into(),
            "pay_schedule" => json!({
                "company_id": company()["id"], "first_day": format!("{}-01", &now()[..7]),
            }),
            "payable" => json!({ "id": employees()[0]["id"], "currency": company()["currency"] }),
            "payroll" | "payroll_to_approve" | "payroll_of_two" => json!({
                "company_id": company()["id"],
                "employees": [employees()[0]["id"], employees()[1]["id"]],
                "period": now()[..7],
            }),
            "overdue_invoice" => {
                let invoices = self.client.all("/api/payments/invoices");
                let overdue = invoices.into_iter().find(|invoice| invoice["overdue"] == true);
                overdue.expect("an overdue invoice")["id"].take()
            }
            _ => panic!("the world has no {name}"),
        }
    }
}

/// An outcome of a situation as a rule.
fn rule(outcome: &Value) -> Value {
    let mut rule =
        json!({ "match": { "decision": outcome["on"] }, "outcome": { "then": outcome["then"] } });
    for name in ["code", "after"] {
        if !outcome[name].is_null() {
            rule["outcome"][name] = outcome[name].clone();
        }
    }
    if !outcome["where"].is_null() {
        rule["match"]["where"] = outcome["where"].clone();
    }
    rule
}

/// Method, path with query, and body of a call: a path's members go there, the others into the query or the body.
pub(super) fn request_line(operation: &str, input: &Value) -> (String, String, Option<Value>) {
    let rows = [product(), control()].into_iter().flat_map(|it| it["paths"].as_object().unwrap());
    let mut rows = rows.flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, row)| (path, method, row))
    });
    let found = rows.find(|(.., row)| row["operationId"] == operation);
    let (path, method, _) = found.unwrap_or_else(|| panic!("no operation is called {operation}"));
    let mut rest = input.as_object().cloned().unwrap_or_default();
    let mut path = path.clone();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    for (name, value) in input.as_object().into_iter().flatten() {
        let place = format!("{{{name}}}");
        if path.contains(&place) {
            path = path.replace(&place, &text(value));
            rest.remove(name);
        }
    }
    if matches!(&**method, "post" | "put" | "patch") {
        return (method.to_uppercase(), path, Some(Value::Object(rest)));
    }
    let query: Vec<String> =
        rest.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    (method.to_uppercase(), path, None)
}

/// Every expected member must exist, and lists must have the expected length.
fn compare(wanted: &Value, came: &Value, at: &str, wrong: &mut Vec<String>) {
    match (wanted, came) {
        (Value::Null, _) => {}
        (Value::Object(wanted), Value::Object(_)) => {
            for (name, wanted) in wanted {
                compare(wanted, &came[name], &format!("{at}/{name}"), wrong);
            }
        }
        (Value::Array(wanted), Value::Array(came)) if wanted.len() == came.len() => {
            for (place, (wanted, came)) in wanted.iter().zip(came).enumerate() {
                compare(wanted, came, &format!("{at}/{place}"), wrong);
            }
        }
        _ if wanted == came => {}
        _ => wrong.push(format!("{at}: expected {wanted}, came {came}")),
    }
}

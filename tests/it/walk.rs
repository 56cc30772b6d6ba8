//! A random walk over every operation of both documents, with valid and invalid input and moves of the clock.
//! After every change the ledger check finds nothing, and a refusal has changed nothing. No answer is a 5xx,
//! and every answer agrees with its document (the caller checks this).
//!
//! The documents give all input, so a new operation is covered without a change here.
//! `SANDBOX_TEST_WALK=SEED:STEPS` takes another or a longer walk. An
//! even seed uses an instant world, an odd one a manual world.

use std::collections::BTreeSet;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::harness::contract::{control, product};
use crate::harness::{Answer, Caller, Request};

const WALKS: [(u64, u64); 4] = [(1, 500), (2, 500), (3, 500), (4, 500)];

/// Splitmix64: random enough for a walk, and the same on every machine.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// One operation of a document.
struct Operation {
    method: String,
    path: String,
    document: &'static Value,
    row: &'static Value,
}

fn operations() -> Vec<Operation> {
    let mut found = Vec::new();
    for document in [product(), control()] {
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, row) in methods.as_object().unwrap() {
                if !row["responses"]["200"]["content"]["text/event-stream"].is_null() {
                    continue; // the reply of a stream has no end
                }
                let (method, path) = (method.to_uppercase(), path.clone());
                found.push(Operation { method, path, document, row });
            }
        }
    }
    found
}

struct Walk {
    chance: Chance,
    /// Ids seen in answers, by prefix and number.
    ids: Vec<String>,
}

impl Walk {
    /// Any operation, more often one that writes; sometimes a reset.
    fn operation<'a>(&mut self, all: &'a [Operation]) -> &'a Operation {
        loop {
            let one = self.chance.pick(all);
            let rare = match (one.method.as_str(), one.path.as_str()) {
                (_, "/_sandbox/reset") => 12,
                ("GET", _) => 3,
                _ => 1,
            };
            if self.chance.once_in(rare) {
                return one;
            }
        }
    }

    /// A value that a schema allows or, sometimes, refuses.
    fn value(&mut self, document: &'static Value, schema: &'static Value, name: &str) -> Value {
        if self.chance.once_in(25) {
            return self.junk();
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let target = document.pointer(reference.trim_start_matches('#')).unwrap();
            return self.value(document, target, name);
        }
        if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            let last = choices.len() - usize::from(choices.len() > 1 && !self.chance.once_in(6));
            let choice = self.chance.below(last); // the last choice of an optional value is null
            return self.value(document, &choices[choice], name);
        }
        if let Some(choices) = schema["enum"].as_array() {
            return self.chance.pick(choices).clone();
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str(),
            kind => kind.as_str(),
        };
        match kind {
            Some("object") => self.object(document, schema),
            Some("array") => {
                let count = 1 + self.chance.below(4);
                (0..count).map(|_| self.value(document, &schema["items"], name)).collect()
            }
            Some("integer") => json!(1 + self.chance.below(40)),
            Some("boolean") => json!(self.chance.once_in(2)),
            Some("null") => Value::Null,
            _ => json!(self.text(schema, name)),
        }
    }

    fn object(&mut self, document: &'static Value, schema: &'static Value) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let wanted = if required.contains(&name.as_str()) {
                !self.chance.once_in(30)
            } else {
                self.chance.once_in(3)
            };
            if wanted {
                object.insert(name.clone(), self.value(document, schema, name));
            }
        }
        if self.chance.once_in(30) {
            object.insert("colour".to_owned(), json!("red"));
        }
        Value::Object(object)
    }

    fn text(&mut self, schema: &Value, name: &str) -> String {
        if name.ends_with("_id") || name == "employees" {
            let prefix = match name {
                "employees" | "employee_id" => "emp_",
                "company_id" => "com_",
                "payroll_run_id" => "prn_",
                "payslip_id" => "psl_",
                "wallet_id" => "wal_",
                "payout_id" => "pyo_",
                "payroll_verification_id" => "pvr_",
                "tax_filing_id" => "txf_",
                "compliance_requirement_id" => "crq_",
                "audit_log_id" => "aud_",
                "regulatory_report_id" => "rgr_",
                "leave_request_id" => "lvr_",
                _ => "",
            };
            let known: Vec<&String> = self.ids.iter().filter(|id| id.starts_with(prefix)).collect();
            if !known.is_empty() {
                return (*self.chance.pick(&known)).clone();
            }
        }
        match name {
            "period" => format!("2026-{:02}", 1 + self.chance.below(12)),
            "country" => (*self.chance.pick(&["NG", "GB", "US", "KE"])).to_owned(),
            "currency" => (*self.chance.pick(&["NGN", "GBP", "USD", "KES"])).to_owned(),
            "by" => (*self.chance.pick(&["1s", "2s", "3h", "1d", "2bd", "30d"])).to_owned(),
            "to" | "from" | "as_of" | "start_date" | "end_date" | "effective_from"
                if schema["format"] != "date-time" =>
            {
                format!("2026-{:02}-{:02}", 1 + self.chance.below(12), 1 + self.chance.below(28))
            }
            "to" => format!("2026-{:02}-01T00:00:00Z", 1 + self.chance.below(12)),
            "email" => "ada@example.com".to_owned(),
            "account_number" => format!("99999999{:02}", self.chance.below(100)),
            "tax_type" => {
                (*self.chance.pick(&["SIRS", "HMRC", "IRS", "KRA", "pension"])).to_owned()
            }
            "jurisdiction" => (*self.chance.pick(&["NG", "GB", "US"])).to_owned(),
            "last_working_day" | "effective_on" => "2025-12-31".to_owned(),
            _ => format!("Text {}", self.chance.below(1_000)),
        }
    }

    fn junk(&mut self) -> Value {
        let junk = [
            json!(null),
            json!(-1),
            json!(""),
            json!("\u{0}"),
            json!("💥"),
            json!([]),
            json!({}),
            json!(1.5),
            json!(true),
            json!(u64::MAX),
            json!("x".repeat(5_000)),
            json!([[[[1]]]]),
            json!("2026-13"),
            json!("com_0000000000000"),
        ];
        self.chance.pick(&junk).clone()
    }

    fn request(&mut self, caller: &Caller, operation: &Operation) -> Request {
        let (document, row) = (operation.document, operation.row);
        let mut path = operation.path.clone();
        let mut query = Vec::new();
        for parameter in row["parameters"].as_array().into_iter().flatten() {
            let parameter = match parameter["$ref"].as_str() {
                Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
                None => parameter,
            };
            let name = parameter["name"].as_str().unwrap();
            let sent = |value: Value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string()
            };
            match parameter["in"].as_str().unwrap() {
                "path" => {
                    let value = sent(self.value(document, &parameter["schema"], name));
                    let value = if value.is_empty() { "nobody".to_owned() } else { value };
                    path = path.replace(&format!("{{{name}}}"), &value);
                }
                "query" if parameter["required"] == true || self.chance.once_in(4) => {
                    query.push(format!(
                        "{name}={}",
                        sent(self.value(document, &parameter["schema"], name))
                    ));
                }
                _ => {}
            }
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let request = caller.request(&operation.method, &path);
        let schema = &row["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            return request;
        }
        let request = if self.chance.once_in(4) {
            let key = format!("key-{}", self.chance.below(8));
            request.header("Idempotency-Key", &key)
        } else {
            request
        };
        if self.chance.once_in(20) {
            let broken: [&[u8]; 4] = [b"{", b"\xff", b"{\"a\":1,\"a\":2}", b"[1,]"];
            let body = *self.chance.pick(&broken);
            return request.header("Content-Type", "application/json").bytes(body);
        }
        request.json(&self.value(document, schema, ""))
    }

    /// Stores the ids of an answer, so that later steps can use them.
    fn learn(&mut self, answer: &Answer) {
        const MOST: usize = 400;
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        for word in text.split('"').filter(|word| word.len() == 17 && word.as_bytes()[3] == b'_') {
            if !self.ids.iter().any(|id| id == word) {
                if self.ids.len() == MOST {
                    let place = self.chance.below(MOST);
                    self.ids.swap_remove(place);
                }
                self.ids.push(word.to_owned());
            }
        }
    }
}

/// A walk without checks, for tests that need a world with many changes.
pub(crate) fn stroll(caller: &Caller, seed: u64, steps: u64) {
    let operations = operations();
    let mut walk = Walk { chance: Chance(seed), ids: Vec::new() };
    walk.learn(&caller.get("/api/business/companies"));
    walk.learn(&caller.get("/api/business/employees?per_page=100"));
    for _ in 0..steps {
        let operation = walk.operation(&operations);
        let request = walk.request(caller, operation);
        walk.learn(&caller.send(&request));
    }
}

fn walks() -> Vec<(u64, u64)> {
    let Ok(given) = std::env::var("SANDBOX_TEST_WALK") else {
        return WALKS.to_vec();
    };
    let (seed, steps) = given.split_once(':').expect("SANDBOX_TEST_WALK is SEED:STEPS");
    vec![(seed.parse().unwrap(), steps.parse().unwrap())]
}

#[test]
fn no_walk_over_the_table_finds_a_fault() {
    let operations = operations();
    let (mut accepted, mut statuses) = (BTreeSet::new(), BTreeSet::new());
    for (seed, steps) in walks() {
        println!("walk of seed {seed}, {steps} steps");
        let caller = if seed % 2 == 0 { Caller::instant() } else { Caller::manual() };
        let mut walk = Walk { chance: Chance(seed), ids: Vec::new() };
        for list in ["business/companies", "business/employees?per_page=100", "payments/wallets"] {
            walk.learn(&caller.get(&format!("/api/{list}")));
        }
        let mut digest = caller.digest();
        for step in 0..steps {
            let operation = walk.operation(&operations);
            let request = walk.request(&caller, operation);
            println!("{step}: {request}");
            let answer = caller.send(&request);
            assert!(answer.status < 500, "{}", answer.text());
            let replayed = answer.header("idempotent-replayed").is_some();
            let now = caller.digest();
            if answer.status >= 400 || operation.method == "GET" || replayed {
                assert_eq!(now, digest, "{} changed the world", answer.status);
            } else {
                accepted.insert(operation.row["operationId"].as_str().unwrap());
            }
            if now != digest {
                caller.audit();
            }
            digest = now;
            statuses.insert(answer.status);
            walk.learn(&answer);
        }
    }
    // The control run: a walk in which all calls are refused or accepted would check nothing.
    if std::env::var_os("SANDBOX_TEST_WALK").is_none() {
        assert!(accepted.len() >= 25, "the walks did only {accepted:?}");
        for operation in ["runPayroll", "updateEmployee", "advanceClock"] {
            assert!(
                accepted.contains(operation),
                "no step of any walk did {operation}: {accepted:?}"
            );
        }
        for status in [200, 201, 400, 404, 422] {
            assert!(statuses.contains(&status), "no step was answered {status}: {statuses:?}");
        }
    }
}

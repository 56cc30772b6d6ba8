//! A random walk over the writing operations of the product, with moves of the clock and of the outside world between.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::body::Maker;
use super::known::Known;
use super::line::WireLine;
use super::money::{Money, held};
use super::spend::Spending;
use crate::harness::contract::{check, product};
use crate::harness::{Answer, Caller, Request};
use crate::walk::Chance;

/// The inbound calls, one call in eight.
const OUTCOMES: [&str; 9] = [
    "payout.settle=returned;code=R02",
    "payout.settle=failed;code=R03",
    "payout.settle=returned_late;code=R16",
    "payout.settle=held_then_paid",
    "payout.settle=delayed",
    "payroll_run.fund=insufficient_funds",
    "payroll_run.fund=delayed",
    "tax_filing.reply=rejected",
    "bank_account.check=account_closed",
];

/// One operation of the product's document.
pub(super) struct Row {
    pub(super) name: &'static str,
    method: String,
    path: String,
    row: &'static Value,
}

/// Only one in this number of draws of a row is called. Calls that end a resource are rare, so that enough employees
/// stay payable.
fn rarity(row: &Row) -> usize {
    match row.name {
        "runPayroll" | "createTaxFiling" | "submitTaxFiling" => 1,
        "createEmployee" => 2,
        "terminateEmployee" => 60,
        "suspendEmployee"
        | "cancelPayrollRun"
        | "reversePayrollRun"
        | "createCompany"
        | "closeAccountingPeriod"
        | "closeAccountingYear"
        | "reopenAccountingPeriod" => 16,
        _ if row.method == "GET" => 40,
        _ => 4,
    }
}

/// The operations that the document has.
fn operations() -> Vec<Row> {
    let mut found = Vec::new();
    for (path, methods) in product()["paths"].as_object().unwrap() {
        for (method, row) in methods.as_object().unwrap() {
            found.push(Row {
                name: row["operationId"].as_str().unwrap(),
                method: method.to_uppercase(),
                path: path.clone(),
                row,
            });
        }
    }
    found
}

/// The results of a walk, by operation.
#[derive(Default)]
pub(super) struct Produced {
    /// Successes of each operation.
    pub(super) accepted: BTreeMap<&'static str, u64>,
    /// The codes of the refusals of each operation.
    pub(super) refused: BTreeSet<(&'static str, String)>,
    pub(super) calls: u64,
}

impl Produced {
    pub(super) fn add(&mut self, other: Self) {
        for (name, times) in other.accepted {
            *self.accepted.entry(name).or_default() += times;
        }
        self.refused.extend(other.refused);
        self.calls += other.calls;
    }
}

pub(super) struct Walk<'a> {
    caller: &'a Caller,
    line: WireLine,
    pub(super) chance: Chance,
    known: Known,
    pub(super) spending: Spending,
    /// One walk in four uses a single currency, so that its reports can be calculated again.
    spends: bool,
    pub(super) today: Date,
    rows: Vec<Row>,
    pub(super) produced: Produced,
    /// The first balances of the wallets, and the money paid in since.
    pub(super) at_first: Money,
    pub(super) paid_in: Money,
}

impl<'a> Walk<'a> {
    /// In the caller's world, which is reset with this seed.
    pub(super) fn begin(caller: &'a Caller, seed: u64) -> Self {
        let mut walk = Self {
            caller,
            line: WireLine::open(caller.port()),
            chance: Chance(seed),
            known: Known::default(),
            spending: Spending::default(),
            spends: seed % 4 != 1,
            today: jiff::civil::date(2026, 1, 1),
            rows: operations(),
            produced: Produced::default(),
            at_first: Money::new(),
            paid_in: Money::new(),
        };
        walk.control("/_sandbox/reset", &json!({"seed": seed}));
        let wallets = walk.look("/api/payments/wallets?per_page=100");
        walk.at_first = held(wallets["data"].as_array().unwrap().iter());
        for list in [
            "business/companies",
            "business/employees",
            "payments/wallets",
            "business/payroll-runs",
        ] {
            walk.look(&format!("/api/{list}?per_page=50"));
        }
        let companies = walk.look("/api/business/companies");
        for company in companies["data"].as_array().unwrap() {
            let id = company["id"].as_str().unwrap();
            walk.look(&format!("/api/business/ledger-accounts?company_id={id}"));
            let people = walk.look(&format!("/api/business/employees?company_id={id}&per_page=50"));
            for person in people["data"].as_array().unwrap() {
                walk.look(&format!("/api/business/employees/{}", person["id"].as_str().unwrap()));
            }
        }
        walk
    }

    pub(super) fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            match self.chance.below(100) {
                0..9 => self.advance(),
                9..14 => self.pay_in(),
                14..16 => self.look_around(),
                16..36 if self.spends => self.spend(),
                _ => self.call(),
            }
        }
        self.control("/_sandbox/clock/advance", &json!({"by": "40d"}));
    }

    pub(super) fn look(&mut self, path: &str) -> Value {
        let request = self.caller.request("GET", path);
        let answer = self.line.send(&request);
        let body = answer.expect(200);
        self.known.learn(&body);
        self.spending.learn(&body["data"]);
        body
    }

    /// One fixed call; returns its answer if it was accepted.
    pub(super) fn post(&mut self, name: &'static str, path: &str, body: &Value) -> Option<Value> {
        let request = self.caller.request("POST", path).json(body);
        let answer = self.line.send(&request);
        self.took(name, &request, &answer);
        (answer.status < 300).then(|| answer.json()["data"].clone())
    }

    fn control(&mut self, path: &str, body: &Value) {
        let request = self.caller.request("POST", path).json(body);
        let answer = self.line.send(&request);
        assert!(answer.status < 300, "{request}: {}", answer.text());
        self.notice(&answer);
    }

    fn advance(&mut self) {
        let spans = ["1s", "2s", "1h", "3h", "1d", "2bd", "2bd", "5d", "12d"];
        let by = *self.chance.pick(&spans);
        self.control("/_sandbox/clock/advance", &json!({"by": by}));
    }

    /// Incoming money; without it most runs would be short.
    fn pay_in(&mut self) {
        let Some(company) = self.known.id(&mut self.chance, "com", "") else {
            return;
        };
        let amount = 100_000_000_i64 << self.chance.below(10);
        let from = *self.chance.pick(&["owner", "customer"]);
        let body = json!({"company_id": company, "amount": amount, "from": from});
        let path = "/_sandbox/inbound/bank_transfer";
        let request = self.caller.request("POST", path).json(&body);
        let answer = self.line.send(&request);
        assert!(answer.status < 500, "{request}: {}", answer.text());
        if answer.status == 200 {
            let currency = answer.json()["data"]["currency"].clone();
            let currency = currency.as_str().unwrap().to_owned();
            *self.paid_in.entry(currency).or_default() += i128::from(amount);
        }
    }

    /// Lists show the resources that the clock created.
    fn look_around(&mut self) {
        let lists = ["tax-liabilities", "tax-filings", "payroll-runs", "payslips"];
        let list = *self.chance.pick(&lists);
        self.look(&format!("/api/business/{list}?per_page=20&sort=-created_at"));
    }

    fn call(&mut self) {
        let place = loop {
            let place = self.chance.below(self.rows.len());
            if self.chance.once_in(rarity(&self.rows[place])) {
                break place;
            }
        };
        let request = self.request(place);
        let answer = self.line.send(&request);
        self.took(self.rows[place].name, &request, &answer);
    }

    /// Checks an answer against its document, counts it and learns from it.
    fn took(&mut self, name: &'static str, request: &Request, answer: &Answer) {
        check(request.method(), request.path(), answer);
        assert!(answer.status < 500, "{request}: {}", answer.text());
        self.produced.calls += 1;
        if answer.status >= 400 {
            let code = answer.json()["code"].as_str().unwrap().to_owned();
            self.produced.refused.insert((name, code));
        } else {
            *self.produced.accepted.entry(name).or_default() += 1;
            self.notice(answer);
        }
    }

    fn notice(&mut self, answer: &Answer) {
        if answer.header("content-type") == Some("application/json") {
            let body = answer.json();
            self.known.learn(&body["data"]);
            self.spending.learn(&body["data"]);
        }
        if let Some(now) = answer.header("sandbox-time") {
            self.today = now[..10].parse().expect("a date");
        }
    }

    fn request(&mut self, place: usize) -> Request {
        let row = &self.rows[place];
        let document = product();
        let company = self.known.id(&mut self.chance, "com", "").unwrap_or_default();
        let mut maker = Maker::new(document, &mut self.chance, &self.known, company, self.today);
        let (mut path, mut query) = (row.path.clone(), Vec::new());
        for parameter in row.row["parameters"].as_array().into_iter().flatten() {
            let Some(name) = parameter["name"].as_str() else {
                continue;
            }; // a header that all have
            let place = parameter["in"].as_str().unwrap();
            if place == "query" && parameter["required"] != true && !maker.chance.once_in(4) {
                continue;
            }
            let value = if maker.chance.once_in(50) {
                json!("nobody")
            } else {
                maker.parameter(parameter, name)
            };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if let Some(home) = self.known.home(&text) {
                maker.company = home;
            }
            let text = utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string();
            if place == "path" {
                path = path.replace(&format!("{{{name}}}"), &text);
            } else {
                query.push(format!("{name}={text}"));
            }
        }
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let mut request = self.caller.request(&row.method, &path);
        let content = &row.row["requestBody"]["content"]["application/json"];
        if !content.is_null() {
            request = request.json(&maker.body(content));
        }
        if row.method != "GET" && self.chance.once_in(8) {
            let outcome: &&str = self.chance.pick(&OUTCOMES);
            request = request.header("Sandbox-Scenario", outcome);
        }
        request
    }
}

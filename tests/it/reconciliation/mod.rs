//! Bank statements and their reconciliation: imports, matches and decisions.

mod bank_files;
mod decisions;
mod import;
mod matching;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::http::Answer;
use crate::harness::world::id;

const STATEMENTS: &str = "/api/payments/bank-statements";
const MATCHES: &str = "/api/payments/reconciliation-matches";

/// The first company's account.
struct Account {
    caller: Caller,
    company: String,
    wallet: String,
}

impl Account {
    fn of(caller: Caller) -> Self {
        let company = caller.company(0);
        let wallets = caller.get(&format!("/api/payments/wallets?company_id={company}"));
        let wallet = id(&wallets.data()[0]).to_owned();
        Self { caller, company, wallet }
    }

    fn instant() -> Self {
        Self::of(Caller::instant())
    }

    fn manual() -> Self {
        Self::of(Caller::manual())
    }

    /// A statement of December with these additional members.
    fn body(&self, more: &Value) -> Value {
        let mut body = json!({
            "company_id": self.company, "wallet_id": self.wallet, "from": "2025-12-01", "to": "2025-12-31",
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        body
    }

    fn import(&self, more: &Value) -> Answer {
        self.caller.post(STATEMENTS, &self.body(more))
    }

    /// An accepted statement after its lines are matched.
    fn imported(&self, more: &Value) -> Value {
        let taken = self.import(more).expect(202);
        self.caller.get(&format!("{STATEMENTS}/{}", id(&taken["data"]))).data()
    }

    /// Imports a statement with these lines.
    fn lines(&self, lines: &[Value]) -> (Value, Vec<Value>) {
        let statement = self.imported(&json!({"lines": lines}));
        let rows = self.rows(&statement);
        (statement, rows)
    }

    fn rows(&self, statement: &Value) -> Vec<Value> {
        self.caller.all(&format!("{MATCHES}?statement_id={}", id(statement)))
    }

    fn row(&self, row: &Value) -> Value {
        let all = self.caller.all(MATCHES);
        all.into_iter().find(|one| one["id"] == row["id"]).unwrap()
    }

    /// The wallet's transactions of December.
    fn transactions(&self) -> Vec<Value> {
        let path = format!("/api/payments/wallets/{}/transactions", self.wallet);
        self.caller.all(&format!("{path}?from=2025-12-01&to=2025-12-31"))
    }

    fn resolve(&self, row: &Value, body: &Value) -> Answer {
        self.caller.post(&format!("{MATCHES}/{}/resolve", id(row)), body)
    }

    fn audit(&self) {
        self.caller.audit();
    }
}

/// A line like a transaction, with these changes.
fn line_of(transaction: &Value, more: &Value) -> Value {
    let mut line = json!({
        "date": transaction["effective_on"], "amount": transaction["amount"], "direction": transaction["type"],
        "reference": transaction["id"],
    });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    line
}

/// The members of rows of that name.
fn each(rows: &[Value], name: &str) -> Vec<Value> {
    rows.iter().map(|row| row[name].clone()).collect()
}

/// The number of a statement's rows in each status.
fn counted(rows: &[Value]) -> Value {
    let count = |status: &str| rows.iter().filter(|row| row["status"] == status).count();
    json!({
        "unmatched": count("unmatched"), "suggested": count("suggested"), "matched": count("matched"),
        "exception": count("exception"), "ignored": count("ignored"),
    })
}

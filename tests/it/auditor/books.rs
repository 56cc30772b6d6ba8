//! The data of the API at the end of a walk: the event log and the journal, from which the auditor
//! calculates, and the answers that it checks.

use serde_json::Value;

use super::line::WireLine;
use super::money::Money;
use crate::harness::Caller;
use crate::harness::world::id;

/// All data, complete.
#[derive(Clone, Default)]
pub(super) struct Books {
    pub(super) events: Vec<Value>,
    pub(super) companies: Vec<Company>,
    pub(super) payslips: Vec<Value>,
    /// Runs with their items.
    pub(super) runs: Vec<(Value, Vec<Value>)>,
    pub(super) check: Value,
    /// The balances of the wallets before the walk.
    pub(super) at_first: Money,
    /// Money that the outside world sent.
    pub(super) paid_in: Money,
}

#[derive(Clone)]
pub(super) struct Company {
    pub(super) company: Value,
    pub(super) entries: Vec<Value>,
    pub(super) accounts: Vec<Value>,
    /// Wallets with their transactions.
    pub(super) wallets: Vec<(Value, Vec<Value>)>,
    pub(super) liabilities: Vec<Value>,
    pub(super) filings: Vec<Value>,
    pub(super) profit_and_loss: Vec<Value>,
    pub(super) balance_sheets: Vec<Value>,
    pub(super) trial_balances: Vec<Value>,
}

/// The ends of the periods of the reports; the last is after all events.
const DAYS: [&str; 4] = ["2025-06-30", "2025-12-31", "2026-02-14", "2030-12-31"];

struct Reader<'a> {
    caller: &'a Caller,
    line: WireLine,
}

impl Reader<'_> {
    fn get(&mut self, path: &str) -> Value {
        self.line.send(&self.caller.request("GET", path)).expect(200)
    }

    fn all(&mut self, path: &str) -> Vec<Value> {
        let join = if path.contains('?') { '&' } else { '?' };
        let mut rows = Vec::new();
        for page in 1.. {
            let mut body = self.get(&format!("{path}{join}per_page=100&page={page}"));
            let Value::Array(data) = body["data"].take() else { panic!("{path}: no list") };
            let last = data.len() < 100;
            rows.extend(data);
            if last {
                assert_eq!(body["meta"]["total"], rows.len(), "{path}");
                break;
            }
        }
        rows
    }

    fn report(&mut self, path: &str) -> Value {
        self.get(&format!("/api/business/reports/{path}"))["data"].take()
    }
}

impl Books {
    /// The event log, the journal, liabilities, runs and items, on one line each.
    pub(super) fn dump(&self) -> String {
        let mut lines: Vec<String> = self.events.iter().map(ToString::to_string).collect();
        for company in &self.companies {
            lines.extend(
                company.entries.iter().chain(&company.liabilities).map(ToString::to_string),
            );
        }
        for (run, items) in &self.runs {
            lines.push(run.to_string());
            lines.extend(items.iter().map(ToString::to_string));
        }
        lines.join("\n")
    }

    pub(super) fn read(caller: &Caller) -> Self {
        let mut reader = Reader { caller, line: WireLine::open(caller.port()) };
        let mut books = Self {
            events: reader.all("/_sandbox/events?sort=sequence"),
            payslips: reader.all("/api/business/payslips"),
            check: reader.get("/_sandbox/ledger/check")["data"].take(),
            ..Self::default()
        };
        for run in reader.all("/api/business/payroll-runs") {
            let items = reader.all(&format!("/api/business/payroll-runs/{}/items", id(&run)));
            books.runs.push((run, items));
        }
        for company in reader.all("/api/business/companies") {
            books.companies.push(Company::read(&mut reader, company));
        }
        books
    }
}

impl Company {
    fn read(reader: &mut Reader<'_>, company: Value) -> Self {
        let of = format!("company_id={}", id(&company));
        let wallets = reader.all(&format!("/api/payments/wallets?{of}"));
        let wallets = wallets.into_iter().map(|wallet| {
            let path = format!("/api/payments/wallets/{}/transactions", id(&wallet));
            let lines = reader.all(&path);
            (wallet, lines)
        });
        Self {
            wallets: wallets.collect(),
            entries: reader.all(&format!("/api/business/journal-entries?{of}")),
            accounts: reader.all(&format!("/api/business/ledger-accounts?{of}")),
            liabilities: reader.all(&format!("/api/business/tax-liabilities?{of}")),
            filings: reader.all(&format!("/api/business/tax-filings?{of}")),
            profit_and_loss: ["2025-01-01", "2025-12-01", "2026-01-01"]
                .iter()
                .flat_map(|from| DAYS.iter().map(move |to| (from, to)))
                .filter(|(from, to)| from <= to)
                .map(|(from, to)| {
                    reader.report(&format!("profit-and-loss?{of}&from={from}&to={to}"))
                })
                .collect(),
            balance_sheets: DAYS
                .iter()
                .map(|day| reader.report(&format!("balance-sheet?{of}&as_of={day}")))
                .collect(),
            trial_balances: DAYS
                .iter()
                .map(|day| reader.report(&format!("trial-balance?{of}&as_of={day}")))
                .collect(),
            company,
        }
    }
}

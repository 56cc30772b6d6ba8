//! The calls of an import, in an order that does not depend on how its files are arranged: company by company its wallets and
//! employees, then the customers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::scenario::import::at::At;
use crate::scenario::import::people::REPORTED;
use crate::scenario::import::rows::{Row, Rows, is_elsewhere};
use crate::value::{ApiError, Date, Diagnostic};
use crate::world::script::ImportCall;

/// The calls, and the row of each.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) calls: Vec<ImportCall>,
    rows: Vec<(Arc<At>, &'static str)>,
    /// The names of the replies that created the companies, by the caller's ids.
    companies: BTreeMap<String, String>,
}

impl Plan {
    /// The calls for these rows.
    pub(super) fn of(rows: &Rows) -> Self {
        let mut plan = Self::default();
        for company in &rows.companies {
            plan.company(company);
            let id = company.text("id").unwrap_or_default();
            plan.wallets(rows, id);
            for employee in rows.employees.iter().filter(|row| row.text("company") == Some(id)) {
                plan.employee(employee);
            }
        }
        // A company of the file may have an id such as `com_…`: an export gives it to a company without an id of the caller.
        let here: BTreeSet<&str> = rows.companies.iter().filter_map(|row| row.text("id")).collect();
        let elsewhere = |row: &&Row| {
            row.text("company").is_some_and(|id| is_elsewhere(id) && !here.contains(id))
        };
        for wallet in rows.wallets.iter().filter(elsewhere) {
            let mut with = plan.transfer(wallet);
            if let Some(currency) = wallet.own.get("currency") {
                with["currency"] = currency.clone();
            }
            if wallet.own.get("balance").and_then(Value::as_u64) != Some(0) {
                plan.call(wallet, "simulateBankTransfer", with);
            }
        }
        for employee in rows.employees.iter().filter(elsewhere) {
            plan.employee(employee);
        }
        for customer in &rows.customers {
            plan.call(customer, "createSubject", Value::Object(customer.with.clone()));
        }
        plan
    }

    fn call(&mut self, row: &Row, operation: &str, with: Value) -> &mut ImportCall {
        let mut needs = Vec::new();
        named(&with, &mut needs);
        self.rows.push((Arc::clone(&row.at), row.kind.head));
        self.calls.push(ImportCall {
            call: operation.to_owned(),
            with,
            save: None,
            needs,
            not_before: None,
        });
        self.calls.last_mut().expect("it was added")
    }

    /// Calls an operation, and returns the name of its reply.
    fn saved(&mut self, row: &Row, operation: &str, with: Value) -> String {
        let name = format!("r{}", self.calls.len() + 1);
        self.call(row, operation, with).save = Some(name.clone());
        name
    }

    /// A company and, unless it is to wait for it, its verification.
    fn company(&mut self, row: &Row) {
        let saved = self.saved(row, "createCompany", Value::Object(row.with.clone()));
        let id = row.text("id").unwrap_or_default();
        self.companies.insert(id.to_owned(), saved.clone());
        let company = format!("@{saved}.data.id");
        let mut change = Map::from_iter([("company_id".to_owned(), company.into())]);
        for name in ["address", "contact"] {
            if let Some(value) = row.own.get(name) {
                change.insert(name.to_owned(), value.clone());
            }
        }
        if change.len() > 1 {
            self.call(row, "updateCompany", Value::Object(change));
        }
        if row.text("status") != Some("pending") {
            let evidence = row.with.get("registration_number").and_then(Value::as_str);
            let with = json!({
                "compliance_requirement_id": format!("@{saved}.data.blockers.0.id"),
                "evidence": { "value": evidence.unwrap_or("imported") },
            });
            self.call(row, "resolveComplianceRequirement", with);
        }
    }

    /// What its owners pay into a wallet.
    fn transfer(&self, row: &Row) -> Value {
        json!({
            "company_id": self.company_of(row),
            "amount": row.own.get("balance").cloned().unwrap_or_default(),
            "from": "owner",
        })
    }

    /// The id of a row's company, or a reference to it.
    fn company_of(&self, row: &Row) -> String {
        let company = row.text("company").unwrap_or_default();
        match self.companies.get(company) {
            Some(saved) => format!("@{saved}.data.id"),
            None => company.to_owned(),
        }
    }

    /// The wallets of a company: first the one in its own currency, then the others by code. An owner's transfer opens the first; a
    /// conversion opens each other one.
    fn wallets(&mut self, rows: &Rows, company: &str) {
        let Some(own) = rows.currency_of(company) else { return };
        let mut wallets: Vec<(&str, &Row)> = rows
            .wallets
            .iter()
            .filter(|row| row.text("company") == Some(company))
            .map(|row| (row.text("currency").unwrap_or(own), row))
            .collect();
        wallets.sort_by_key(|(currency, _)| (*currency != own, *currency));
        for (currency, row) in wallets {
            let balance = row.own.get("balance").cloned().unwrap_or_default();
            if balance == json!(0) {
                continue;
            }
            let with = self.transfer(row);
            if currency == own {
                self.call(row, "simulateBankTransfer", with);
                continue;
            }
            let quote = json!({
                "company_id": with["company_id"],
                "source_currency": own,
                "target_currency": currency,
                "target_amount": balance,
            });
            let quote = self.saved(row, "createFxQuote", quote);
            let mut with = with;
            with["amount"] = format!("@{quote}.data.source_amount").into();
            let funded = self.saved(row, "simulateBankTransfer", with);
            let with = json!({
                "quote_id": format!("@{quote}.data.id"),
                "source_wallet_id": format!("@{funded}.data.id"),
            });
            self.call(row, "createFxTransfer", with);
        }
    }

    /// An employee, and the calls that lead to the status of the row.
    fn employee(&mut self, row: &Row) {
        let mut with = row.with.clone();
        with.insert("company_id".to_owned(), self.company_of(row).into());
        let has = |name: &str| row.with.contains_key(name);
        let is_complete = has("compensation") && has("payment_method") && has("tax_id");
        let starts = row.with.get("start_date").and_then(Value::as_str);
        let starts: Option<Date> = starts.and_then(|day| day.parse().ok());
        let saved = self.saved(row, "createEmployee", Value::Object(with));
        let id = json!({ "employee_id": format!("@{saved}.data.id") });
        let status = row.text("status").unwrap_or("active");
        if status != "pending" {
            self.call(row, "activateEmployee", id.clone()).not_before = starts;
        }
        let is_verified = row.text("payroll_status").map_or(is_complete, |it| it == "verified");
        if is_verified {
            self.call(row, "verifyEmployeePayroll", id.clone());
        }
        if status == "suspended" {
            let mut with = id;
            with["reason"] = "imported".into();
            self.call(row, "suspendEmployee", with).not_before = starts;
        }
    }

    /// A refused call as mistakes of the file that contains its row. A call with a cell that was reported has none.
    pub(super) fn refusal(&self, place: usize, error: &ApiError) -> Vec<(usize, Diagnostic)> {
        let (at, head) = &self.rows[place];
        let ImportCall { call: operation, with, .. } = &self.calls[place];
        if mentions(with, REPORTED) {
            return Vec::new();
        }
        let what = format!("{operation} refuses this {head}");
        if error.errors.is_empty() {
            let (file, wrong) = at.head.mistake(what);
            return vec![(file, wrong.expected(error.detail.clone()))];
        }
        let mistakes = error.errors.iter().map(|violation| {
            let place = at.place_of(violation.code, &violation.pointer);
            let (file, wrong) = place.mistake(what.clone());
            let member = violation.pointer.trim_start_matches('/').replace('/', ".");
            let label = match member.as_str() {
                "" => violation.detail.clone(),
                member => format!("{member}: {}", violation.detail),
            };
            (file, wrong.expected(label))
        });
        mistakes.collect()
    }
}

/// Whether a value contains this text.
fn mentions(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Object(members) => members.values().any(|member| mentions(member, wanted)),
        Value::Array(items) => items.iter().any(|item| mentions(item, wanted)),
        _ => false,
    }
}

/// The names of the replies that a value refers to.
fn named(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('@').and_then(|rest| rest.split_once(".data."));
            names.extend(name.map(|(name, _)| name.to_owned()));
        }
        Value::Object(members) => members.values().for_each(|member| named(member, names)),
        Value::Array(items) => items.iter().for_each(|item| named(item, names)),
        _ => {}
    }
}

//! The calls of an import: for each company its wallets and employees, then the customers. The
//! order does not depend on how the files are arranged.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::model::growth::countries;
use crate::scenario::import::at::At;
use crate::scenario::import::rows::{Row, Rows};
use crate::scenario::import::trial::{Mistake, with_currency_of};
use crate::scenario::reading::meant;
use crate::value::diagnostic::nearest;
use crate::value::{ApiError, Date, Diagnostic};
use crate::world::script::ImportCall;

/// The calls, and the number of the row of each.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) calls: Vec<ImportCall>,
    rows: Vec<(usize, Arc<At>, &'static str)>,
    /// The names of the replies that created the companies, in their order.
    companies: Vec<String>,
}

/// A refused call as a mistake.
pub(super) struct Refusal {
    pub(super) mistake: Mistake,
    /// Whether it is about a member that the row has.
    pub(super) is_written: bool,
}

impl Plan {
    /// The calls for these rows. `with_elsewhere`: also those of companies that the import does not create.
    pub(super) fn of(rows: &Rows, with_elsewhere: bool) -> Self {
        let mut plan = Self::default();
        let wallets = rows.companies_of(&rows.wallets);
        let mut employees: Vec<Vec<&Row>> = rows.companies.iter().map(|_| Vec::new()).collect();
        let mut elsewhere = Vec::new();
        for (row, company) in rows.employees.iter().zip(rows.companies_of(&rows.employees)) {
            company.map_or(&mut elsewhere, |place| &mut employees[place]).push(row);
        }
        for (place, (company, employees)) in rows.companies.iter().zip(employees).enumerate() {
            plan.company(company);
            let own = wallets.iter().zip(&rows.wallets).filter(|(of, _)| **of == Some(place));
            plan.wallets(company, own.map(|(_, row)| row), place);
            for employee in employees {
                plan.employee(employee, Some(place));
            }
        }
        let wallets = wallets.iter().zip(&rows.wallets);
        for (_, wallet) in wallets.filter(|(of, _)| of.is_none() && with_elsewhere) {
            let mut with = plan.transfer(wallet, None);
            if let Some(currency) = wallet.own.get("currency") {
                with["currency"] = currency.clone();
            }
            if wallet.own.get("balance").and_then(Value::as_u64) != Some(0) {
                plan.call(wallet, "simulateBankTransfer", with);
            }
        }
        for employee in elsewhere.into_iter().filter(|_| with_elsewhere) {
            plan.employee(employee, None);
        }
        for customer in &rows.customers {
            plan.call(customer, "createSubject", Value::Object(customer.with.clone()));
        }
        plan
    }

    fn call(&mut self, row: &Row, operation: &str, with: Value) -> &mut ImportCall {
        let mut needs = Vec::new();
        named(&with, &mut needs);
        let number = self
            .rows
            .last()
            .map_or(0, |(number, at, _)| number + usize::from(!Arc::ptr_eq(at, &row.at)));
        self.rows.push((number, Arc::clone(&row.at), row.kind.head));
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

    /// Creates a company and, unless the import leaves it pending, its verification.
    fn company(&mut self, row: &Row) {
        let saved = self.saved(row, "createCompany", Value::Object(row.with.clone()));
        self.companies.push(saved.clone());
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

    /// The transfer of the owners into a wallet.
    fn transfer(&self, row: &Row, company: Option<usize>) -> Value {
        json!({
            "company_id": self.company_of(row, company),
            "amount": row.own.get("balance").cloned().unwrap_or_default(),
            "from": "owner",
        })
    }

    /// The id of a row's company, or a reference to it.
    fn company_of(&self, row: &Row, company: Option<usize>) -> String {
        match company {
            Some(place) => format!("@{}.data.id", self.companies[place]),
            None => row.text("company").unwrap_or_default().to_owned(),
        }
    }

    /// The wallets of a company: first the one in its own currency, then the others by code. An owner's transfer opens the first; a
    /// conversion opens each other one.
    fn wallets<'r>(&mut self, company: &Row, wallets: impl Iterator<Item = &'r Row>, place: usize) {
        let own = company.with.get("currency").and_then(Value::as_str);
        let mut wallets: Vec<(Option<&str>, &Row)> =
            wallets.map(|row| (row.text("currency").or(own), row)).collect();
        wallets.sort_by_key(|(currency, _)| (*currency != own, *currency));
        for (currency, row) in wallets {
            let balance = row.own.get("balance").cloned().unwrap_or_default();
            if balance == json!(0) {
                continue;
            }
            let with = self.transfer(row, Some(place));
            if currency == own || own.is_none() {
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
    fn employee(&mut self, row: &Row, company: Option<usize>) {
        let mut with = row.with.clone();
        with.insert("company_id".to_owned(), self.company_of(row, company).into());
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

    /// The number of the row that a call is for.
    pub(super) fn row_of(&self, place: usize) -> usize {
        self.rows[place].0
    }

    /// A refused call as mistakes of the file that contains its row.
    pub(super) fn refusal(&self, place: usize, error: &ApiError) -> Vec<Refusal> {
        let (_, at, head) = &self.rows[place];
        let ImportCall { call: operation, with, .. } = &self.calls[place];
        let what = format!("{operation} refuses this {head}");
        if error.errors.is_empty() {
            let (file, wrong) = at.head.mistake(what);
            let diagnostic = wrong.expected(error.detail.clone());
            let mistake = Mistake { file, diagnostic, is_of_row: true };
            return vec![Refusal { mistake, is_written: false }];
        }
        let mistakes = error.errors.iter().map(|violation| {
            let place = at.place_of(violation.code, &violation.pointer);
            let (file, wrong) = place.mistake(what.clone());
            let member = violation.pointer.trim_start_matches('/').replace('/', ".");
            let label = match member.as_str() {
                "" => violation.detail.clone(),
                member => format!("{member}: {}", violation.detail),
            };
            let mut wrong = wrong.expected(label);
            let written = with.pointer(&violation.pointer).and_then(Value::as_str);
            if let (Some(written), "unknown_country") = (written, violation.code) {
                wrong = meant_country(wrong, written, with);
            }
            let is_written = at.members.contains_key(&violation.pointer);
            let is_of_row = *place == at.head && violation.code != "duplicate";
            let mistake = Mistake { file, diagnostic: wrong, is_of_row };
            Refusal { mistake, is_written }
        });
        mistakes.collect()
    }
}

/// Suggests the country that was probably meant, preferably one with the currency of the company.
fn meant_country(wrong: Diagnostic, written: &str, company: &Value) -> Diagnostic {
    let likely = with_currency_of(company);
    if likely.is_empty() || nearest(written, likely.iter().copied()).is_some() {
        let known = if likely.is_empty() { countries::codes().collect() } else { likely };
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        return meant(wrong, written, &known);
    }
    let currency = company["currency"].as_str().unwrap_or_default();
    wrong.help(format!("{currency} is the currency of {}", likely.join(", ")))
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

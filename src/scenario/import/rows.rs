//! The rows of an import: the members of an operation, the keys of imports, and the position of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::json::quoted;
use crate::scenario::import::at::{At, Place};
use crate::scenario::import::form::{COMPANY, CUSTOMER, EMPLOYEE, Kind, WALLET};
use crate::scenario::members::{Refers, is_reference};
use crate::scenario::reading::{Fields, Reading, meant};
use crate::scenario::vocabulary::vocabulary;
use crate::value::diagnostic::nearest;
use crate::value::{Currency, Diagnostic};
use crate::world::external::EXTERNAL_ID;
use crate::world::facts::EXTERNAL;

/// The longest id of a caller.
const LONGEST_ID: usize = 200;
/// The maximum opening balance, which is the maximum of one transfer.
const MOST_BALANCE: u64 = 1_000_000_000_000_000;

/// One row.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: &'static Kind,
    /// The keys that only an import has.
    pub(super) own: Map<String, Value>,
    /// The members of the operation.
    pub(super) with: Map<String, Value>,
    pub(super) at: Arc<At>,
}

impl Row {
    /// A key of the row that is a text.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.own.get(key).and_then(Value::as_str)
    }
}

/// All rows, and their mistakes.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) companies: Vec<Row>,
    pub(super) wallets: Vec<Row>,
    pub(super) customers: Vec<Row>,
    pub(super) employees: Vec<Row>,
    /// The ids of each kind, and where they are.
    ids: BTreeMap<(&'static str, String), Place>,
    found: Vec<(usize, Diagnostic)>,
    /// The reported mistakes, because all rows of a CSV file share some members.
    reported: BTreeSet<(Place, String)>,
}

impl Rows {
    /// Reads the rows of a file.
    pub(super) fn read<'a>(&mut self, reading: &mut Reading<'a>, fields: &Fields<'a>, file: usize) {
        for kind in [&COMPANY, &WALLET, &CUSTOMER, &EMPLOYEE] {
            let Some(found) = fields.get(kind.key) else { continue };
            let Some(rows) = found.get_ref().as_array() else {
                reading.note(
                    Diagnostic::new(found.span(), format!("`{}` must be a list of rows", kind.key))
                        .expected("expected a list of tables")
                        .help(format!("write its head as {}", kind.head)),
                );
                continue;
            };
            for row in rows {
                if reading.entries(kind.key, row).is_none() {
                    continue;
                }
                let mut at = At::new(Place::new(file, &row.span()));
                at.add(file, "", row);
                if let Value::Object(members) = reading.json(row, Refers::ToKinds) {
                    self.add(kind, members, at);
                }
            }
        }
        let (own, others) =
            std::mem::take(&mut self.found).into_iter().partition(|(of, _)| *of == file);
        self.found = others;
        let own: Vec<(usize, Diagnostic)> = own;
        reading.found.extend(own.into_iter().map(|(_, diagnostic)| diagnostic));
    }

    /// The mistakes so far, each with its file.
    pub(super) fn take_found(&mut self) -> Vec<(usize, Diagnostic)> {
        std::mem::take(&mut self.found)
    }

    /// Adds a mistake, unless the same was added for another row.
    pub(super) fn note(
        &mut self,
        place: &Place,
        message: String,
        with: impl FnOnce(Diagnostic) -> Diagnostic,
    ) {
        if self.reported.insert((place.clone(), message.clone())) {
            let (file, diagnostic) = place.mistake(message);
            self.found.push((file, with(diagnostic)));
        }
    }

    /// Adds a row, and checks all that can be checked without the others.
    pub(super) fn add(&mut self, kind: &'static Kind, members: Map<String, Value>, mut at: At) {
        for (pointer, key) in [
            ("/metadata/external_id", "id"),
            ("/external_id", "id"),
            ("/company_id", "company"),
            ("/amount", "balance"),
            ("/target_amount", "balance"),
            ("/target_currency", "currency"),
        ] {
            at.alias(pointer, key);
        }
        let (mut own, mut with) = (Map::new(), Map::new());
        for (name, value) in members {
            if kind.own.contains(&name.as_str()) {
                own.insert(name, value);
            } else if known(kind).any(|known| known == name) {
                with.insert(name, value);
            } else {
                self.unknown(kind, &name, &at);
            }
        }
        self.check_own(kind, &own, &at);
        if kind.operation.is_some() {
            self.set(kind, &own, &mut with, &at);
            self.check(kind, &with, &at);
        }
        if kind.key == COMPANY.key {
            self.check_update(&own, &at);
        }
        let row = Row { kind, own, with, at: Arc::new(at) };
        match kind.key {
            "company" => self.companies.push(row),
            "wallet" => self.wallets.push(row),
            "customer" => self.customers.push(row),
            _ => self.employees.push(row),
        }
    }

    fn unknown(&mut self, kind: &Kind, name: &str, at: &At) {
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let known: Vec<String> =
            kind.own.iter().copied().chain(known(kind)).map(str::to_owned).collect();
        let message = format!("{} has no key {}", kind.head, quoted(name));
        self.note(at.key(&pointer), message, |wrong| {
            meant(wrong.expected("unknown key"), name, &known)
        });
    }

    /// The members that follow from the keys of the import.
    fn set(
        &mut self,
        kind: &Kind,
        own: &Map<String, Value>,
        with: &mut Map<String, Value>,
        at: &At,
    ) {
        let id = own.get("id").cloned().unwrap_or_default();
        let metadata = with.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(metadata) = metadata {
            if metadata.contains_key(EXTERNAL_ID) {
                let message = format!("`metadata.{EXTERNAL_ID}` is the `id` of the row");
                self.note(at.value("/metadata/external_id"), message, |wrong| {
                    wrong.expected("remove it")
                });
            }
            metadata.insert(EXTERNAL_ID.to_owned(), id.clone());
        }
        if kind.key == CUSTOMER.key {
            with.insert("external_id".to_owned(), id);
            with.entry("type").or_insert_with(|| "business".into());
        }
        if kind.key == EMPLOYEE.key {
            // The plan replaces it.
            with.insert("company_id".to_owned(), format!("@{EXTERNAL}:company").into());
        }
    }

    /// Checks the members with the schema of the operation.
    fn check(&mut self, kind: &Kind, with: &Map<String, Value>, at: &At) {
        let operation = kind.operation.unwrap_or_default();
        self.check_call(kind.head, operation, &Value::Object(with.clone()), at);
    }

    /// A company's address and contact details are set by another operation.
    fn check_update(&mut self, own: &Map<String, Value>, at: &At) {
        let mut with: Map<String, Value> = own.clone();
        with.retain(|name, _| matches!(name.as_str(), "address" | "contact"));
        with.insert("company_id".to_owned(), format!("@{EXTERNAL}:company").into());
        self.check_call(COMPANY.head, "updateCompany", &Value::Object(with), at);
    }

    fn check_call(&mut self, head: &str, operation: &str, with: &Value, at: &At) {
        for violation in vocabulary().operations[operation].checker().check(with) {
            let value = with.pointer(&violation.pointer).and_then(Value::as_str);
            // A missing id is reported as such.
            let is_of_id = violation.pointer.ends_with("external_id");
            let is_absent = at.is_partial && violation.code == "required";
            if value.is_some_and(is_reference) || is_of_id || is_absent {
                continue;
            }
            let member = violation.pointer.trim_start_matches('/').replace('/', ".");
            let what = match violation.code {
                "required" => format!("{head} needs `{member}`"),
                "unknown_member" => format!("{head} has no `{member}`"),
                _ => format!("`{member}` is wrong"),
            };
            let place = at.place_of(violation.code, &violation.pointer);
            self.note(place, what, |wrong| wrong.expected(violation.detail));
        }
    }

    fn check_own(&mut self, kind: &'static Kind, own: &Map<String, Value>, at: &At) {
        for &key in kind.own {
            let value = own.get(key);
            let pointer = format!("/{key}");
            let is_needed = matches!(key, "id" | "company" | "balance") && !at.is_partial;
            if value.is_none() && is_needed {
                let message = format!("{} needs `{key}`", kind.head);
                self.note(&at.head, message, |wrong| {
                    wrong.expected(format!("`{key}` is missing")).help(match key {
                        "id" => "it is your own id, which `@ext:…` refers to",
                        "company" => "it is the `id` of a [[company]]",
                        _ => "it is the opening balance in minor units, from 0",
                    })
                });
            }
            let Some(value) = value else { continue };
            let place = at.value(&pointer).clone();
            let text = value.as_str();
            let expected = match key {
                "id" => match text {
                    Some(id) if is_id(id) => {
                        self.take_id(kind, id, &place);
                        continue;
                    }
                    _ => "expected a text of 1 to 200 characters that does not begin with @",
                },
                "company" if text.is_none_or(str::is_empty) => {
                    "expected the `id` of a [[company]], or a reference such as \"@company:1\""
                }
                "balance" if value.as_u64().is_none_or(|amount| amount > MOST_BALANCE) => {
                    "expected a whole number of minor units, from 0 to 1000000000000000"
                }
                "currency" if text.and_then(Currency::new).is_none() => {
                    "expected the ISO 4217 code of a currency, such as NGN"
                }
                "status" | "payroll_status" => {
                    self.one_of(kind, key, value, &place);
                    continue;
                }
                _ => continue,
            };
            self.note(&place, format!("`{key}` is wrong"), |wrong| wrong.expected(expected));
        }
    }

    fn one_of(&mut self, kind: &Kind, key: &str, value: &Value, place: &Place) {
        let known: &[&str] = match (kind.key, key) {
            ("company", _) => &["active", "pending"],
            (_, "status") => &["active", "pending", "suspended"],
            _ => &["verified", "not_enrolled"],
        };
        let word = value.as_str().unwrap_or_default();
        if known.contains(&word) {
            return;
        }
        let known: Vec<String> = known.iter().map(|&word| word.to_owned()).collect();
        let message = match value {
            Value::String(word) => format!("`{key}` cannot be {}", quoted(word)),
            _ => format!("`{key}` must be a text"),
        };
        self.note(place, message, |wrong| meant(wrong.expected("unknown name"), word, &known));
    }

    fn take_id(&mut self, kind: &'static Kind, id: &str, place: &Place) {
        match self.ids.get(&(kind.key, id.to_owned())).cloned() {
            None => {
                self.ids.insert((kind.key, id.to_owned()), place.clone());
            }
            Some(first) => {
                let message = format!("a second {} has the id {}", kind.head, quoted(id));
                self.note(place, message, |wrong| {
                    let wrong = wrong.expected("give it another id");
                    if first.file == place.file {
                        return wrong.against(first.start..first.end, "the first");
                    }
                    wrong
                });
            }
        }
    }

    /// Checks references between rows.
    pub(super) fn finish(&mut self) {
        let known: Vec<String> = self
            .ids
            .keys()
            .filter(|(kind, _)| *kind == COMPANY.key)
            .map(|(_, id)| id.clone())
            .collect();
        let (mut wallets, mut wrong) = (BTreeSet::new(), Vec::new());
        for row in self.wallets.iter().chain(&self.employees) {
            let Some(company) = row.text("company").filter(|company| !company.is_empty()) else {
                continue;
            };
            if !is_elsewhere(company) && !known.iter().any(|known| known == company) {
                wrong.push((row.at.value("/company").clone(), company.to_owned()));
            }
        }
        if self.companies.iter().any(|row| row.text("id").is_none()) {
            wrong.clear(); // the unreadable id may be the right one
        }
        for (place, company) in wrong {
            let message = format!("no [[company]] has the id {}", quoted(&company));
            self.note(&place, message, |wrong| {
                let wrong = wrong.expected("unknown company");
                match known.as_slice() {
                    [] => wrong.help("the import has no [[company]]"),
                    known => meant(wrong, &company, known),
                }
            });
        }
        let mut twice = Vec::new();
        for row in &self.wallets {
            let company = row.text("company").unwrap_or_default();
            let currency = row.text("currency").or_else(|| self.currency_of(company));
            if !wallets.insert((company, currency)) {
                twice.push(row.at.head.clone());
            }
        }
        for place in twice {
            let message = "a second [[wallet]] of this company has this currency".to_owned();
            self.note(&place, message, |wrong| wrong.expected("a company has one per currency"));
        }
    }

    /// The currency of a company of the import.
    fn currency_of(&self, company: &str) -> Option<&str> {
        let row = self.companies.iter().find(|row| row.text("id") == Some(company))?;
        row.with.get("currency")?.as_str()
    }

    /// The company of each of these rows, by its place; `None` if it already exists in the world. For a misspelt
    /// name, it is the company that was probably meant, so that other mistakes of the row are found, too.
    pub(super) fn companies_of(&self, rows: &[Row]) -> Vec<Option<usize>> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, row) in self.companies.iter().enumerate() {
            if let Some(id) = row.text("id") {
                places.entry(id).or_insert(place);
            }
        }
        let nameless = self.companies.iter().position(|row| row.text("id").is_none());
        let only = (self.companies.len() == 1).then_some(0);
        let company = |row: &Row| {
            let id = row.text("company").unwrap_or_default();
            let near =
                || nearest(id, places.keys().copied()).and_then(|near| places.get(near).copied());
            match places.get(id) {
                Some(place) => Some(*place),
                None if is_elsewhere(id) => None,
                None => nameless.or_else(near).or(only),
            }
        };
        rows.iter().map(company).collect()
    }
}

/// The members of the operation that a row can have.
fn known(kind: &Kind) -> impl Iterator<Item = &'static str> {
    let names =
        kind.operation.map(|operation| vocabulary().operations[operation].checker().names());
    let set = kind.set;
    names.into_iter().flatten().filter(move |name| !set.contains(name))
}

fn is_id(id: &str) -> bool {
    !id.is_empty()
        && id.chars().count() <= LONGEST_ID
        && !id.starts_with('@')
        && !id.contains(char::is_control)
        && !id.trim().is_empty()
}

/// Whether a text names a company that exists already.
pub(super) fn is_elsewhere(company: &str) -> bool {
    company.starts_with('@') || company.starts_with("com_")
}

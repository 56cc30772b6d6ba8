//! Request bodies from the document: the example of each operation, adapted to the world of the walk, varied,
//! and sometimes made invalid.
//!
//! A new operation is covered by its example, without a change here.

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::known::{Known, prefix};
use crate::walk::Chance;

/// The start of the fresh world that the examples are written for.
const FIRST: Date = jiff::civil::date(2026, 1, 1);

/// The inputs of one body.
pub(super) struct Maker<'a> {
    pub(super) document: &'static Value,
    pub(super) chance: &'a mut Chance,
    pub(super) known: &'a Known,
    pub(super) company: String,
    pub(super) today: Date,
    /// The days by which all dates of the body are moved, and the months for periods.
    days: i64,
    months: i64,
    /// The percentage by which all amounts are multiplied alike, so that balanced entries stay balanced.
    scale: i64,
}

impl<'a> Maker<'a> {
    pub(super) fn new(
        document: &'static Value,
        chance: &'a mut Chance,
        known: &'a Known,
        company: String,
        today: Date,
    ) -> Self {
        let days = *chance.pick(&[0, 0, 0, -40, -7, -1, 1, 10, 35]);
        let months = *chance.pick(&[0, 0, 0, -1, 1, 1, 2, 3]);
        let scale = *chance.pick(&[100, 100, 50, 130, 700]);
        Self { document, chance, known, company, today, days, months, scale }
    }

    /// The varied example. One body in eight is invalid.
    pub(super) fn body(&mut self, content: &'static Value) -> Value {
        let schema = self.resolved(&content["schema"]);
        let mut body = match example(content) {
            Some(example) => self.varied(example, schema, ""),
            None => self.made(schema, ""),
        };
        if self.chance.once_in(8) {
            self.spoil(&mut body);
        }
        body
    }

    /// A value for a parameter.
    pub(super) fn parameter(&mut self, parameter: &'static Value, name: &str) -> Value {
        match &parameter["example"] {
            Value::Null => self.made(&parameter["schema"], name),
            example => self.varied(example, self.resolved(&parameter["schema"]), name),
        }
    }

    fn spoil(&mut self, body: &mut Value) {
        let Some(members) = body.as_object_mut() else {
            return;
        };
        let names: Vec<String> = members.keys().cloned().collect();
        if names.is_empty() || self.chance.once_in(4) {
            members.insert("colour".to_owned(), json!("red"));
            return;
        }
        let name = self.chance.pick(&names).clone();
        if self.chance.once_in(3) {
            members.remove(&name);
            return;
        }
        let junk = [
            json!(null),
            json!(-1),
            json!(0),
            json!(""),
            json!([]),
            json!({}),
            json!(1.5),
            json!(true),
            json!(u64::MAX),
            json!("x".repeat(5_000)),
            json!("2026-13"),
            json!("com_0000000000000"),
            json!("1969-01-01"),
            json!("2199-12-31"),
        ];
        members.insert(name, self.chance.pick(&junk).clone());
    }

    fn resolved(&self, schema: &'static Value) -> &'static Value {
        let mut schema = schema;
        loop {
            schema = match (schema["$ref"].as_str(), schema["anyOf"].as_array()) {
                (Some(reference), _) => {
                    let target = self.document.pointer(reference.trim_start_matches('#'));
                    target.expect("a reference has a target")
                }
                (_, Some(choices)) => &choices[0],
                _ => return schema,
            };
        }
    }

    fn varied(&mut self, example: &Value, schema: &'static Value, name: &str) -> Value {
        match example {
            Value::Object(members) => self.object(members, schema),
            Value::Array(rows) => {
                let items = self.resolved(&schema["items"]);
                rows.iter().map(|row| self.varied(row, items, name)).collect()
            }
            Value::String(text) => self.text(text, schema, name),
            Value::Number(number) if name.contains("amount") => {
                json!(number.as_i64().unwrap_or(1) * self.scale / 100)
            }
            Value::Number(_) | Value::Bool(_) if self.chance.once_in(3) => self.made(schema, name),
            other => other.clone(),
        }
    }

    fn object(&mut self, example: &Map<String, Value>, schema: &'static Value) -> Value {
        let required = schema["required"].as_array();
        let required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        let mut object = Map::new();
        for (name, value) in example {
            if required(name) || !self.chance.once_in(8) {
                let schema = self.resolved(&schema["properties"][name]);
                object.insert(name.clone(), self.varied(value, schema, name));
            }
        }
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if !example.contains_key(name) && (required(name) || self.chance.once_in(5)) {
                let schema = self.resolved(schema);
                object.insert(name.clone(), self.made(schema, name));
            }
        }
        Value::Object(object)
    }

    /// A value without an example.
    fn made(&mut self, schema: &'static Value, name: &str) -> Value {
        let schema = self.resolved(schema);
        if let Some(example) = schema["examples"].get(0) {
            return self.varied(example, schema, name);
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds[0].as_str(),
            kind => kind.as_str(),
        };
        match kind {
            Some("object") => self.object(&Map::new(), schema),
            Some("array") => {
                let count = 1 + self.chance.below(3);
                let mut rows: Vec<Value> =
                    (0..count).map(|_| self.made(&schema["items"], name)).collect();
                rows.dedup();
                Value::Array(rows)
            }
            Some("integer") => json!(1 + self.chance.below(28)),
            Some("boolean") => json!(self.chance.once_in(2)),
            Some("string") => self.text("Text", schema, name),
            _ => Value::Null,
        }
    }

    fn text(&mut self, example: &str, schema: &'static Value, name: &str) -> Value {
        if let Some(choices) = schema["enum"].as_array() {
            return self.chance.pick(choices).clone();
        }
        if let Some(prefix) = prefix(example).or(named_prefix(name)) {
            let id = self.known.id(self.chance, prefix, &self.company);
            return json!(id.unwrap_or_else(|| format!("{prefix}_0000000000000")));
        }
        let format = schema["format"].as_str().unwrap_or_default();
        if let Ok(day) = example.parse::<Date>() {
            let from_first = (day - FIRST).get_days();
            let moved = self.today + from_first.days() + self.days.days();
            return json!(moved.to_string());
        }
        if format == "date" {
            return json!((self.today + self.days.days()).to_string());
        }
        if format == "period" || is_period(example) {
            let month = self.today.first_of_month() + self.months.months();
            return json!(month.strftime("%Y-%m").to_string());
        }
        let asked = match name {
            "jurisdiction" => "country",
            "tax_type" => "authority",
            "account" | "account_code" => "code",
            name => name,
        };
        if !self.chance.once_in(12)
            && let Some(word) = self.known.word(self.chance, asked, &self.company)
        {
            return json!(word);
        }
        match name {
            "country" => json!(*self.chance.pick(&["NG", "GB", "US", "KE", "ZA", "FR"])),
            "account_number" => {
                let fates = [0, 0, 0, 1, 2, 3, 90, 91, 92, 98, 99];
                json!(format!("99999999{:02}", self.chance.pick(&fates)))
            }
            _ => json!(example),
        }
    }
}

fn example(content: &'static Value) -> Option<&'static Value> {
    let named = content["examples"].as_object().and_then(|all| all.values().next());
    let named = named.map(|example| &example["value"]);
    named.or_else(|| content.get("example"))
}

/// `YYYY-MM`.
fn is_period(text: &str) -> bool {
    text.len() == 7 && format!("{text}-01").parse::<Date>().is_ok()
}

/// The items of a list without an example.
fn named_prefix(name: &str) -> Option<&'static str> {
    match name {
        "employees" | "employee_ids" | "employee_id" => Some("emp"),
        "company_id" => Some("com"),
        "wallet_id" => Some("wal"),
        _ => None,
    }
}

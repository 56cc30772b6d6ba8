//! `[[people]]`: employees of a CSV file, by a declared mapping from members to columns.

use std::collections::BTreeMap;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::api::json::quoted;
use crate::api::resource_members::resolved;
use crate::scenario::import::at::{At, Place};
use crate::scenario::import::csv::{Cell, parse};
use crate::scenario::import::form::{AMOUNTS, EMPLOYEE, REPORTED};
use crate::scenario::import::{Gathering, MOST_CSV_BYTES};
use crate::scenario::members::Refers;
use crate::scenario::origin::{Origin, normal, target};
use crate::scenario::reading::{At as Spot, Fields, Reading, meant};
use crate::scenario::vocabulary::vocabulary;
use crate::value::{Currency, Diagnostic};

/// A column that gives a member.
struct Column {
    /// The parts of the member's name: `compensation`, `amount`.
    path: Vec<String>,
    /// The place in a line.
    place: usize,
    /// The place of the mapping.
    key: Place,
    form: Form,
}

/// The form of a member's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Integer,
    Truth,
}

impl Gathering<'_> {
    /// Reads the people of one table; `from` is the file that contains it.
    pub(super) fn people<'a>(
        &mut self,
        reading: &mut Reading<'a>,
        part: &Fields<'a>,
        from: (&str, usize),
    ) {
        let file = reading.text(part, "file");
        let separator = separator(reading, part);
        let amounts = reading.name(part, "amounts");
        let is_major = amounts.is_some_and(|amounts| amounts.value == AMOUNTS[1]);
        let values = reading.members("values", part.get("values"), Refers::ToKinds);
        let (Some(file), Value::Object(values)) = (file, values) else { return };
        let Some((place, lines)) = self.lines(reading, &file, separator, from.0) else { return };
        let Some((head, lines)) = lines.split_first() else {
            self.files[place].refused =
                Some("is empty: its first line must name the columns".to_owned());
            return;
        };
        let Some((columns, is_partial)) = columns(reading, part, head, from.1) else { return };
        let known = known();
        let is_partial = is_partial || values.keys().any(|name| !known.contains(name));
        let mut shared = BTreeMap::new();
        if let Some(found) = part.get("values") {
            let mut at = At::new(Place::new(from.1, &found.span()));
            at.add(from.1, "", found);
            shared = at.members;
        }
        for line in lines {
            let start = Place::new(place, &line[0].span);
            if line.len() != head.len() {
                let end = line.last().map_or(start.end, |cell| cell.span.end);
                let message = format!(
                    "this line has {} cells, and the first line has {}",
                    line.len(),
                    head.len()
                );
                let wrong = Diagnostic::new(start.start..end, message);
                let help = "put a cell that contains the separator into quotes";
                self.files[place].found.push(wrong.expected("another number of cells").help(help));
                continue;
            }
            let mut at = At { head: start, members: shared.clone(), is_partial };
            let mut members = values.clone();
            for column in &columns {
                self.cell(column, &line[column.place], (place, is_major), &mut members, &mut at);
            }
            // If all cells of an object are empty, the object is absent, even if the table sets other members of
            // it for all people.
            for column in columns.iter().filter(|column| column.path.len() > 1) {
                let name = &column.path[0];
                let mut same = columns.iter().filter(|other| other.path[0] == *name);
                if same.all(|other| line[other.place].text.is_empty()) {
                    members.shift_remove(name);
                }
            }
            self.rows.add(&EMPLOYEE, members, at);
        }
    }

    /// The lines of a CSV file, and its place in the list of files. Reports a mistake if it cannot be read.
    fn lines(
        &mut self,
        reading: &mut Reading<'_>,
        file: &Spot<&str>,
        separator: u8,
        from: &str,
    ) -> Option<(usize, Vec<Vec<Cell>>)> {
        let path = match target(&Origin::File(from.to_owned()), file.value) {
            Ok(Origin::File(path)) => path,
            _ => normal(file.value),
        };
        let source = match self.open(&path, MOST_CSV_BYTES) {
            Ok(source) => source,
            Err(why) => {
                let message = format!("{} cannot be read", quoted(file.value));
                let wrong = Diagnostic::new(file.span.clone(), message);
                reading.note(wrong.expected(format!("{path}: {why}")));
                return None;
            }
        };
        let place = self.files.len() - 1;
        if self.files[place].is_wrong() {
            return None;
        }
        let (lines, wrong) = parse(&source, separator);
        self.files[place].found.extend(wrong);
        Some((place, lines))
    }

    /// Puts the value of a cell into the members. An empty cell gives none.
    fn cell(
        &mut self,
        column: &Column,
        cell: &Cell,
        (file, is_major): (usize, bool),
        members: &mut Map<String, Value>,
        at: &mut At,
    ) {
        let place = Place::new(file, &cell.span);
        let pointer = format!("/{}", column.path.join("/"));
        at.members.insert(pointer, (column.key.clone(), place.clone()));
        if cell.text.is_empty() {
            return;
        }
        let name = column.path.join(".");
        let is_amount = column.path.last().is_some_and(|last| last == "amount");
        let value = match column.form {
            Form::Text => Value::from(cell.text.as_str()),
            Form::Truth => match cell.text.as_str() {
                "true" | "yes" | "1" => true.into(),
                "false" | "no" | "0" => false.into(),
                other => other.into(),
            },
            Form::Integer if is_amount && is_major => {
                if let Some(amount) = minor(&cell.text, currency_of(members)) {
                    amount.into()
                } else {
                    let message = format!("`{name}` cannot be {}", quoted(&cell.text));
                    self.rows.note(&place, message, |wrong| {
                        wrong.expected("expected an amount in major units, such as 4500.00")
                    });
                    REPORTED.into()
                }
            }
            Form::Integer => {
                if let Ok(number) = cell.text.parse::<i64>() {
                    number.into()
                } else {
                    let message = format!("`{name}` cannot be {}", quoted(&cell.text));
                    self.rows.note(&place, message, |wrong| {
                        let wrong = wrong.expected("expected a whole number");
                        if is_amount {
                            let help =
                                "amounts are in minor units; `amounts = \"major\"` reads 4500.00";
                            return wrong.help(help);
                        }
                        wrong
                    });
                    REPORTED.into()
                }
            }
        };
        put(members, &column.path, value);
    }
}

/// The character between two cells.
fn separator<'a>(reading: &mut Reading<'a>, part: &Fields<'a>) -> u8 {
    let Some(text) = reading.text(part, "separator") else { return b',' };
    if let &[one @ (b',' | b';' | b'\t' | b'|')] = text.value.as_bytes() {
        return one;
    }
    reading.misspelt("separator", &text, "expected a comma, a semicolon, a tab or a bar");
    b','
}

/// The valid columns that the table declares, in its order, and whether there are invalid ones.
fn columns<'a>(
    reading: &mut Reading<'a>,
    part: &Fields<'a>,
    head: &[Cell],
    file: usize,
) -> Option<(Vec<Column>, bool)> {
    let entries = reading.entries("columns", part.get("columns")?)?;
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let names: Vec<String> = head.iter().map(|cell| cell.text.clone()).collect();
    let mut columns = Vec::new();
    let all = entries.len();
    for (key, value) in entries {
        let Some(wanted) = reading.text_of("columns", value) else { continue };
        let path: Vec<String> = key.get_ref().split('.').map(str::to_owned).collect();
        let Some(form) = form_of(&path) else {
            let known = known();
            let message = format!("an employee has no member {}", quoted(key.get_ref()));
            reading.unknown_name(key.span(), message, key.get_ref(), &known);
            continue;
        };
        let mut places = (0..names.len()).filter(|&place| names[place] == wanted.value);
        match (places.next(), places.next()) {
            (Some(place), None) => {
                columns.push(Column { path, place, key: Place::new(file, &key.span()), form });
            }
            (None, _) => {
                let message = format!("the file has no column {}", quoted(wanted.value));
                let wrong = Diagnostic::new(wanted.span, message).expected("unknown column");
                reading.note(meant(wrong, wanted.value, &names));
            }
            (Some(_), Some(_)) => {
                let message = format!("the file has several columns {}", quoted(wanted.value));
                reading.note(Diagnostic::new(wanted.span, message).expected("expected one"));
            }
        }
    }
    let is_partial = columns.len() < all;
    Some((columns, is_partial))
}

/// The members of an employee that a column can give.
fn known() -> Vec<String> {
    let names = vocabulary().operations["createEmployee"].checker().names();
    let names = names.filter(|name| !EMPLOYEE.set.contains(name));
    names.chain(EMPLOYEE.own.iter().copied()).map(str::to_owned).collect()
}

/// The form of a member of an employee; none if there is no such member.
fn form_of(path: &[String]) -> Option<Form> {
    let first = path.first()?;
    if path.len() == 1 && EMPLOYEE.own.contains(&first.as_str()) {
        return Some(Form::Text);
    }
    if EMPLOYEE.set.contains(&first.as_str()) {
        return None;
    }
    let mut generator = SchemaGenerator::default();
    let operation = vocabulary().operations["createEmployee"].operation;
    let schema = (operation.input)(&mut generator).to_value();
    let definitions = generator.take_definitions(true);
    let mut schema = &schema;
    for part in path {
        schema = member(schema, &definitions, part)?;
    }
    let has = |wanted| types(schema, &definitions).iter().any(|known| known == wanted);
    let form = if has("string") || !has("integer") && !has("boolean") {
        Form::Text
    } else if has("integer") {
        Form::Integer
    } else {
        Form::Truth
    };
    Some(form)
}

/// The schema of a member of an object.
fn member<'s>(
    schema: &'s Value,
    definitions: &'s Map<String, Value>,
    name: &str,
) -> Option<&'s Value> {
    let schema = resolved(schema, definitions);
    let own = schema["properties"].get(name);
    let forms = ["allOf", "anyOf", "oneOf"].into_iter();
    let mut forms = forms.flat_map(|form| schema[form].as_array().into_iter().flatten());
    own.or_else(|| forms.find_map(|form| member(form, definitions, name)))
        .or_else(|| schema.get("additionalProperties").filter(|any| any.is_object()))
}

/// The types that a value can have.
fn types(schema: &Value, definitions: &Map<String, Value>) -> Vec<String> {
    let schema = resolved(schema, definitions);
    let mut found: Vec<String> = match &schema["type"] {
        Value::String(only) => vec![only.clone()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    for form in ["allOf", "anyOf", "oneOf"] {
        let forms = schema[form].as_array().into_iter().flatten();
        found.extend(forms.flat_map(|form| types(form, definitions)));
    }
    if schema.get("enum").is_some() || schema["const"].is_string() {
        found.push("string".to_owned());
    }
    found
}

fn put(members: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        members.insert(first.clone(), value);
        return;
    }
    let inner = members.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        put(inner, rest, value);
    }
}

/// The currency of the pay terms that are known so far.
fn currency_of(members: &Map<String, Value>) -> Option<Currency> {
    Currency::new(members.get("compensation")?.get("currency")?.as_str()?)
}

/// Minor units of an amount such as `4500.00`; none if it has another form, or more decimals than its currency.
fn minor(text: &str, currency: Option<Currency>) -> Option<i64> {
    let decimals = currency.map_or(2, |currency| currency.exponent()) as usize;
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > decimals || !is_plain(whole) || !is_plain(part) {
        return None;
    }
    format!("{whole}{part:0<decimals$}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_become_minor_units_of_their_currency() {
        let of = |text, code| minor(text, Currency::new(code));
        assert_eq!(of("4500.00", "USD"), Some(450_000));
        assert_eq!(of("4500.5", "NGN"), Some(450_050));
        assert_eq!(of("4500", "JPY"), Some(4_500));
        for wrong in ["4500.005", "-1", "4,500", "", ".5", "1e3"] {
            assert_eq!(of(wrong, "USD"), None, "{wrong}");
        }
    }

    #[test]
    fn the_form_of_a_member_follows_from_its_schema() {
        let form = |name: &str| form_of(&name.split('.').map(str::to_owned).collect::<Vec<_>>());
        assert!(form("compensation.amount") == Some(Form::Integer));
        assert!(form("compensation.currency") == Some(Form::Text));
        assert!(form("tax_attributes.tax_code") == Some(Form::Text));
        assert!(form("payroll_status") == Some(Form::Text));
        assert!(form("company_id").is_none() && form("compensation.sum").is_none());
    }
}

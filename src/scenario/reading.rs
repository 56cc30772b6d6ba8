//! Reads the tables of a parsed file by their form: values with their positions, and mistakes.
//!
//! Every reader continues after a mistake, so that one pass finds all. Deliberately absent: the meaning of
//! rows.

use core::ops::Range;
use core::str::FromStr;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::api::json::quoted;
use crate::scenario::absent;
use crate::scenario::form::{Key, Spelling, Table, Takes};
use crate::value::Diagnostic;

/// A larger bound is not shown in a message.
const MOST_SAID: u64 = 1_000_000_000;

/// A value of the file, with its position.
pub(crate) type Found<'a> = &'a Spanned<DeValue<'a>>;

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    /// The name of the file, for the sources of rows.
    name: &'a str,
    source: &'a str,
    /// The ends of its lines.
    ends: Vec<usize>,
    pub(crate) found: Vec<Diagnostic>,
}

/// A table of the file whose keys are those of its form.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    form: &'static Table,
    entries: &'a DeTable<'a>,
    /// Its head.
    pub(crate) span: Range<usize>,
}

/// A read value, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

impl<'a> Fields<'a> {
    /// The value of a key.
    ///
    /// # Panics
    /// If the form has no such key, because the schema would then lack the key, too.
    pub(crate) fn get(&self, name: &str) -> Option<Found<'a>> {
        assert!(
            self.form.keys.iter().any(|key| key.name == name),
            "{} has no key {name}",
            self.form.name
        );
        self.entry(name).map(|(_, value)| value)
    }

    /// The position of the key itself.
    pub(crate) fn key_span(&self, name: &str) -> Option<Range<usize>> {
        self.entry(name).map(|(key, _)| key)
    }

    fn entry(&self, name: &str) -> Option<(Range<usize>, Found<'a>)> {
        self.entries
            .iter()
            .find(|(key, _)| key.get_ref() == name)
            .map(|(key, value)| (key.span(), value))
    }

    pub(crate) fn takes(&self, name: &str) -> &'static Takes {
        let key = self.form.keys.iter().find(|key| key.name == name);
        &key.expect("`get` has asserted that the form has the key").takes
    }
}

impl<'a> Reading<'a> {
    /// A new reader without mistakes.
    pub(crate) fn new(name: &'a str, source: &'a str) -> Self {
        Self {
            name,
            source,
            ends: source.match_indices('\n').map(|(end, _)| end).collect(),
            found: Vec::new(),
        }
    }

    /// Adds a mistake.
    pub(crate) fn note(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// `partial-failure.toml:14`.
    pub(crate) fn place(&self, span: &Range<usize>) -> String {
        let line = self.ends.partition_point(|&end| end < span.start) + 1;
        format!("{}:{line}", self.name)
    }

    /// The text of the file at this position.
    pub(crate) fn text_at(&self, span: &Range<usize>) -> &'a str {
        self.source.get(span.clone()).unwrap_or_default()
    }

    /// Reads a table by its form, and reports its unknown and missing keys.
    pub(crate) fn table(
        &mut self,
        entries: &'a DeTable<'a>,
        span: Range<usize>,
        form: &'static Table,
    ) -> Fields<'a> {
        let known = || form.keys.iter().map(|key| key.name);
        for (key, _) in entries {
            let name: &str = key.get_ref();
            if !known().any(|known| known == name) {
                self.note(
                    Diagnostic::new(
                        key.span(),
                        format!("{} has no key {}", form.name, quoted(name)),
                    )
                    .expected("unknown key")
                    .one_of(name, known()),
                );
            }
        }
        let absent =
            |key: &&Key| key.required && !entries.iter().any(|(k, _)| *k.get_ref() == key.name);
        for key in form.keys.iter().filter(absent) {
            self.note(
                Diagnostic::new(span.clone(), format!("{} needs `{}`", form.name, key.name))
                    .expected(format!("`{}` is missing", key.name))
                    .help(absent::help(key, entries)),
            );
        }
        Fields { form, entries, span }
    }

    /// The table under that key.
    pub(crate) fn part(&mut self, fields: &Fields<'a>, name: &str) -> Option<Fields<'a>> {
        let found = fields.get(name)?;
        let Takes::Part(form) = *fields.takes(name) else {
            unreachable!("{name} is not a table of the form")
        };
        self.part_of(name, found, form)
    }

    /// This value as a table.
    pub(crate) fn part_of(
        &mut self,
        name: &str,
        found: Found<'a>,
        form: &'static Table,
    ) -> Option<Fields<'a>> {
        let entries = self.entries(name, found)?;
        Some(self.table(entries, found.span(), form))
    }

    /// The free names of a table, in the order of the file.
    pub(crate) fn entries(&mut self, name: &str, found: Found<'a>) -> Option<&'a DeTable<'a>> {
        let table = found.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(name, found, "a table");
        }
        table
    }

    /// The rows under that key.
    pub(crate) fn rows(&mut self, fields: &Fields<'a>, name: &str) -> Vec<Fields<'a>> {
        let Takes::Rows(form) = *fields.takes(name) else {
            unreachable!("{name} is not a table of rows")
        };
        let Some(found) = fields.get(name) else {
            return Vec::new();
        };
        let Some(rows) = found.get_ref().as_array() else {
            let message =
                format!("`{name}` must be a list of rows, but is {}", kind(found.get_ref()));
            self.note(
                Diagnostic::new(found.span(), message)
                    .expected("expected a list of tables")
                    .help(format!("write its head as [[{name}]]")),
            );
            return Vec::new();
        };
        rows.iter().filter_map(|row| self.part_of(name, row, form)).collect()
    }

    /// A text.
    pub(crate) fn text(&mut self, fields: &Fields<'a>, name: &str) -> Option<At<&'a str>> {
        let found = fields.get(name)?;
        self.text_of(name, found)
    }

    /// This value as a text.
    pub(crate) fn text_of(&mut self, name: &str, found: Found<'a>) -> Option<At<&'a str>> {
        let text = found.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(name, found, "a text");
        }
        text.map(|value| At { value, span: found.span() })
    }

    /// A text in a special form.
    pub(crate) fn spelt<T: FromStr<Err = &'static str>>(
        &mut self,
        fields: &Fields<'a>,
        name: &str,
    ) -> Option<At<T>> {
        let found = fields.get(name)?;
        // An instant may have no quotes, because TOML has this type.
        let bare = match (fields.takes(name), found.get_ref()) {
            (Takes::Spelt(Spelling::Instant | Spelling::Moment), DeValue::Datetime(instant)) => {
                Some(instant.to_string())
            }
            _ => None,
        };
        let text = match &bare {
            Some(text) => At { value: text.as_str(), span: found.span() },
            None => self.text_of(name, found)?,
        };
        match text.value.parse() {
            Ok(value) => Some(At { value, span: text.span }),
            Err(expected) => {
                self.misspelt(name, &text, expected);
                None
            }
        }
    }

    /// Reports a text in a wrong form.
    pub(crate) fn misspelt(&mut self, name: &str, text: &At<&str>, expected: &str) {
        let message = format!("`{name}` cannot be {}", quoted(text.value));
        self.note(Diagnostic::new(text.span.clone(), message).expected(expected));
    }

    /// One of the names that the form lists.
    pub(crate) fn name(&mut self, fields: &Fields<'a>, name: &str) -> Option<At<&'a str>> {
        let text = self.text(fields, name)?;
        let Takes::Name(known) = fields.takes(name) else {
            unreachable!("{name} takes no name of a list")
        };
        let known = known();
        if known.iter().any(|known| known == text.value) {
            return Some(text);
        }
        let what = format!("`{name}` cannot be {}", quoted(text.value));
        self.unknown_name(text.span, what, text.value, &known);
        None
    }

    /// Reports an unknown name.
    pub(crate) fn unknown_name(
        &mut self,
        span: Range<usize>,
        message: String,
        word: &str,
        known: &[String],
    ) {
        let diagnostic = Diagnostic::new(span, message).expected("unknown name");
        self.note(meant(diagnostic, word, known));
    }

    /// A whole number within the bounds of the form.
    pub(crate) fn count(&mut self, fields: &Fields<'a>, name: &str) -> Option<At<u64>> {
        let found = fields.get(name)?;
        let Takes::Count(least, most) = *fields.takes(name) else {
            unreachable!("{name} takes no number")
        };
        self.count_of(name, found, least, most)
    }

    /// This value as a number.
    pub(crate) fn count_of(
        &mut self,
        name: &str,
        found: Found<'a>,
        least: u64,
        most: u64,
    ) -> Option<At<u64>> {
        let Some(number) = found.get_ref().as_integer() else {
            self.wrong_type(name, found, "a whole number");
            return None;
        };
        let value = u64::from_str_radix(number.as_str(), number.radix()).ok();
        let value = value.filter(|value| (least..=most).contains(value));
        if value.is_none() {
            let message = format!("`{name}` cannot be {number}");
            let expected = match most {
                ..=MOST_SAID => format!("expected a whole number from {least} to {most}"),
                _ => format!("expected a whole number from {least}"),
            };
            self.note(Diagnostic::new(found.span(), message).expected(expected));
        }
        value.map(|value| At { value, span: found.span() })
    }

    /// True or false.
    pub(crate) fn truth(&mut self, fields: &Fields<'a>, name: &str) -> Option<At<bool>> {
        let found = fields.get(name)?;
        let truth = found.get_ref().as_bool();
        if truth.is_none() {
            self.wrong_type(name, found, "true or false");
        }
        truth.map(|value| At { value, span: found.span() })
    }

    /// The items of a list.
    pub(crate) fn list(&mut self, fields: &Fields<'a>, name: &str) -> Option<&'a DeArray<'a>> {
        let found = fields.get(name)?;
        let list = found.get_ref().as_array();
        if list.is_none() {
            self.wrong_type(name, found, "a list");
        }
        list
    }

    /// Reports a value of the wrong type.
    pub(crate) fn wrong_type(&mut self, name: &str, found: Found<'a>, expected: &str) {
        let message = format!("`{name}` must be {expected}, but is {}", kind(found.get_ref()));
        self.note(Diagnostic::new(found.span(), message).expected(format!("expected {expected}")));
    }

    /// Two keys of a row that contradict each other.
    pub(crate) fn contradiction(&mut self, fields: &Fields<'a>, one: &str, other: &str, why: &str) {
        let (Some(one_span), Some(other_span)) = (fields.key_span(one), fields.key_span(other))
        else {
            return;
        };
        self.note(
            Diagnostic::new(other_span, format!("`{one}` and `{other}` contradict each other"))
                .expected("and this")
                .against(one_span, "this")
                .help(why),
        );
    }
}

/// Suggests the nearest name. If none is near, lists the names if they are few.
pub(crate) fn meant(diagnostic: Diagnostic, word: &str, known: &[String]) -> Diagnostic {
    use crate::value::diagnostic::nearest;
    const MOST_LISTED: usize = 12;
    if let Some(near) = nearest(word, known.iter().map(String::as_str)) {
        return diagnostic.help(format!("did you mean `{near}`?"));
    }
    // `payrol.run` is far from `payroll_run.fund`, but near to the part before its point.
    let group = |name: &str| Some(name.split_once('.')?.0.to_owned());
    let mut groups: Vec<String> = known.iter().filter_map(|name| group(name)).collect();
    groups.dedup();
    let first = group(word).unwrap_or_default();
    let near = nearest(word, groups.iter().map(String::as_str))
        .or_else(|| nearest(&first, groups.iter().map(String::as_str)));
    if let Some(near) = near {
        let of_group = known.iter().filter(|name| group(name).as_deref() == Some(near));
        return diagnostic.help(format!(
            "did you mean `{near}`? it has {}",
            listed(of_group.map(String::as_str))
        ));
    }
    match known.len() {
        0 => diagnostic.help("this version has none"),
        1..=MOST_LISTED => {
            diagnostic.help(format!("known names: {}", listed(known.iter().map(String::as_str))))
        }
        many => diagnostic.help(format!("none of the {many} known names is similar")),
    }
}

/// A list of names for a message.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The type of a value, in words.
pub(crate) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

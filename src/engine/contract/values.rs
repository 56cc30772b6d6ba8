//! The keys of an overlay. The value of each is read as the expected type, or reported as a mistake.

use core::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::api::operation::Operation;
use crate::value::diagnostic::Diagnostic;

/// A key of the file: its section, its name, and its expected value.
pub(crate) struct Key {
    pub(crate) section: &'static str,
    pub(crate) name: &'static str,
    pub(crate) expected: &'static str,
}

const fn key(section: &'static str, name: &'static str, expected: &'static str) -> Key {
    Key { section, name, expected }
}

const HEADER: &str = "expected a header's name, or false to switch it off";
const SWITCH: &str = "expected true or false";

/// All keys. `operations.*` is one section for each operation.
pub(crate) const KEYS: &[Key] = &[
    key("", "serve", "expected \"all\" or \"published\""),
    key("", "base_path", "expected a path such as \"/sandbox\""),
    key("operations.*", "status", "expected a status from 200 to 299"),
    key("operations.*", "aliases", "expected a list of paths"),
    key("operations.*", "enabled", SWITCH),
    key("errors", "format", "expected \"problem\" or \"envelope\""),
    key("paging", "per_page_default", "expected an integer from 1 to 1000"),
    key("paging", "per_page_max", "expected an integer from 1 to 1000"),
    key("auth", "keys", "expected a list of keys"),
    key("auth", "refuse_live", SWITCH),
    key("idempotency", "required", SWITCH),
    key("webhooks", "endpoints", "expected a path such as \"/api/webhook-endpoints\""),
    key("headers", "request_id", HEADER),
    key("headers", "sandbox_time", HEADER),
    key("headers", "sandbox_decision", HEADER),
    key("headers", "idempotent_replayed", HEADER),
    key("headers", "idempotency_key", HEADER),
    key("headers", "api_version", HEADER),
];

pub(super) type Entry<'t> = (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>);

/// One table of the file.
#[derive(Clone, Copy)]
pub(super) struct Section<'t> {
    /// The name in [`KEYS`].
    pub(super) name: &'static str,
    pub(super) table: &'t DeTable<'t>,
}

impl<'t> Section<'t> {
    pub(super) fn get(self, name: &str) -> Option<Entry<'t>> {
        self.table.iter().find(|(key, _)| key.get_ref() == name)
    }
}

/// An alias in the file.
pub(super) struct Alias {
    pub(super) row: &'static Operation,
    pub(super) path: String,
    pub(super) span: Range<usize>,
}

/// The mistakes so far.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) found: Vec<Diagnostic>,
    /// Aliases that are valid by themselves.
    pub(super) aliases: Vec<Alias>,
}

impl Reader {
    /// The text of a key.
    pub(super) fn text<'t>(
        &mut self,
        section: Section<'t>,
        name: &'static str,
    ) -> Option<(&'t str, Range<usize>)> {
        let (_, value) = section.get(name)?;
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.mismatch(section, name, value.get_ref(), value.span());
        }
        text.map(|text| (text, value.span()))
    }

    /// The true or false of a key.
    pub(super) fn switch(
        &mut self,
        section: Section<'_>,
        name: &'static str,
    ) -> Option<(bool, Range<usize>)> {
        let (_, value) = section.get(name)?;
        let on = value.get_ref().as_bool();
        if on.is_none() {
            self.mismatch(section, name, value.get_ref(), value.span());
        }
        on.map(|on| (on, value.span()))
    }

    /// The integer of a key.
    pub(super) fn integer(
        &mut self,
        section: Section<'_>,
        name: &'static str,
    ) -> Option<(i64, Range<usize>)> {
        let (_, value) = section.get(name)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
        if number.is_none() {
            self.mismatch(section, name, value.get_ref(), value.span());
        }
        number.map(|number| (number, value.span()))
    }

    /// The texts of a key's list.
    pub(super) fn texts<'t>(
        &mut self,
        section: Section<'t>,
        name: &'static str,
    ) -> Vec<(&'t str, Range<usize>)> {
        let Some((_, value)) = section.get(name) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            self.mismatch(section, name, value.get_ref(), value.span());
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((text, item.span())),
                None => self.mismatch(section, name, item.get_ref(), item.span()),
            }
        }
        texts
    }

    /// A value of the wrong type.
    pub(super) fn mismatch(
        &mut self,
        section: Section<'_>,
        name: &str,
        value: &DeValue<'_>,
        span: Range<usize>,
    ) {
        let message = format!("`{name}` is {}", kind(value));
        self.found.push(Diagnostic::new(span, message).expected(expected(section, name)));
    }

    /// A word that the key does not accept.
    pub(super) fn value(
        &mut self,
        section: Section<'_>,
        name: &str,
        word: &str,
        span: Range<usize>,
        known: &[&'static str],
    ) {
        let shown: String = word.chars().take(40).collect();
        self.found.push(
            Diagnostic::new(span, format!("`{name}` cannot be {shown:?}"))
                .expected(expected(section, name))
                .one_of(word, known.iter().copied()),
        );
    }
}

/// The expected value of a key.
pub(super) fn expected(section: Section<'_>, name: &str) -> &'static str {
    KEYS.iter()
        .find(|key| key.section == section.name && key.name == name)
        .map_or("", |key| key.expected)
}

/// A value's type in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a section",
    }
}

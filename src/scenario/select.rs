//! `where`: conditions on the members of the subject of a decision or an event, known from the published
//! schemas.

use serde_json::Value;
use toml::de::DeValue;

use crate::api;
use crate::api::json::quoted;
use crate::api::resource_members::{Member, NOT_PLAIN, members_of};
use crate::model::Kind;
use crate::scenario::members::Reference;
use crate::scenario::reading::{Found, Reading, listed, meant};
use crate::value::Diagnostic;
use crate::value::id::parse;
use crate::world::script::{Comparison, Selector, Wanted};

impl<'a> Reading<'a> {
    /// The conditions of a `where` about these kinds, the nearest first. For `named` kinds, a condition
    /// selects the resource, not its members.
    pub(crate) fn selectors(
        &mut self,
        found: Option<Found<'a>>,
        kinds: &[Kind],
        named: &[Kind],
    ) -> Vec<Selector> {
        let Some(entries) = found.and_then(|found| self.entries("where", found)) else {
            return Vec::new();
        };
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut selectors = Vec::new();
        for (key, value) in entries {
            let name: &str = key.get_ref();
            let wanted =
                if let Some(kind) = kinds.iter().chain(named).find(|kind| kind.name() == name) {
                    self.wanted_kind(*kind, value)
                } else if let Some(member) =
                    kinds.iter().find_map(|&kind| members_of(kind, api::product()).remove(name))
                {
                    self.wanted_member(name, &member, value)
                } else {
                    self.unknown_field(key.span(), name, kinds);
                    None
                };
            selectors.extend(wanted.map(|wanted| Selector { field: name.to_owned(), wanted }));
        }
        selectors
    }

    fn unknown_field(&mut self, span: core::ops::Range<usize>, name: &str, kinds: &[Kind]) {
        let mut known: Vec<String> = kinds.iter().map(|kind| kind.name().to_owned()).collect();
        for &kind in kinds {
            let members = members_of(kind, api::product());
            let plain = members.into_iter().filter(|(_, member)| member.is_plain());
            known.extend(plain.map(|(name, _)| name));
        }
        let of = listed(kinds.iter().map(|kind| kind.name()));
        let diagnostic = Diagnostic::new(span, format!("`where` has no member {}", quoted(name)))
            .expected(format!("expected a member of {of}, or one of these kinds"));
        self.note(meant(diagnostic, name, &known));
    }

    /// The third of the run, `@employee:3`, or an id.
    fn wanted_kind(&mut self, kind: Kind, found: Found<'a>) -> Option<Wanted> {
        let name = kind.name();
        let expected = format!(
            "expected an ordinal from 1, an id such as \"{}_…\", or \"@{name}:1\"",
            kind.prefix()
        );
        let wanted = match found.get_ref() {
            DeValue::Integer(_) => {
                return self
                    .count_of(name, found, 1, u64::MAX)
                    .map(|ordinal| Wanted::Ordinal(ordinal.value));
            }
            DeValue::String(text) => match Reference::read(text) {
                Some(Ok(Reference::Nth { kind, place })) if kind == name => {
                    Some(Wanted::Reference(place))
                }
                Some(Ok(Reference::External(_))) => Some(Wanted::Is(Value::from(text.as_ref()))),
                Some(_) => None,
                None => parse(kind.prefix(), text).map(|_| Wanted::Is(Value::from(text.as_ref()))),
            },
            _ => None,
        };
        if wanted.is_none() {
            let message = format!("`{name}` cannot be {}", self.shown(found));
            self.note(Diagnostic::new(found.span(), message).expected(expected));
        }
        wanted
    }

    fn wanted_member(&mut self, name: &str, member: &Member, found: Found<'a>) -> Option<Wanted> {
        let wanted = match found.get_ref() {
            DeValue::Integer(number) if member.number => {
                i64::from_str_radix(number.as_str(), number.radix())
                    .ok()
                    .map(|number| Wanted::Is(Value::from(number)))
            }
            DeValue::String(text) if member.number => compared(text),
            DeValue::Boolean(truth) if member.truth => Some(Wanted::Is(Value::from(*truth))),
            DeValue::String(text) if member.text => {
                return self.wanted_text(name, member, text, found);
            }
            DeValue::Datetime(instant) if member.format.is_some() => {
                return self.wanted_text(name, member, &instant.to_string(), found);
            }
            _ => None,
        };
        if wanted.is_none() {
            let expected = if member.is_plain() {
                format!("expected {}", member.expected())
            } else {
                NOT_PLAIN.to_owned()
            };
            let message = format!("`{name}` cannot be {}", self.shown(found));
            self.note(Diagnostic::new(found.span(), message).expected(expected));
        }
        wanted
    }

    fn wanted_text(
        &mut self,
        name: &str,
        member: &Member,
        text: &str,
        found: Found<'a>,
    ) -> Option<Wanted> {
        let message = || format!("`{name}` cannot be {}", quoted(text));
        if !member.words.is_empty() && !member.words.iter().any(|word| word == text) {
            self.unknown_name(found.span(), message(), text, &member.words);
            return None;
        }
        match member.spelt(text) {
            Ok(text) => Some(Wanted::Is(Value::from(text))),
            Err(expected) => {
                self.note(Diagnostic::new(found.span(), message()).expected(expected));
                None
            }
        }
    }

    /// A value for a message.
    fn shown(&self, found: Found<'a>) -> String {
        match found.get_ref() {
            DeValue::String(text) => quoted(text),
            DeValue::Table(_) => "a table".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            _ => self.text_at(&found.span()).to_owned(),
        }
    }
}

/// `>= 500000`.
fn compared(text: &str) -> Option<Wanted> {
    const SIGNS: [(&str, Comparison); 7] = [
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("!=", Comparison::NotEqual),
        ("==", Comparison::Equal),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
        ("=", Comparison::Equal),
    ];
    let (number, relation) =
        SIGNS.iter().find_map(|&(sign, relation)| Some((text.strip_prefix(sign)?, relation)))?;
    let number = number.trim_start();
    let digits = number.strip_prefix('-').unwrap_or(number);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = plain.then(|| number.parse().ok()).flatten()?;
    Some(Wanted::Compare(relation, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_read() {
        let of = |relation, number| Some(Wanted::Compare(relation, number));
        assert_eq!(compared(">= 500000"), of(Comparison::GreaterOrEqual, 500_000));
        assert_eq!(compared("<-5"), of(Comparison::Less, -5));
        assert_eq!(compared("!= 0"), of(Comparison::NotEqual, 0));
        for text in ["", ">", ">= ", "500000", "=> 5", "> 5.0", "> +5"] {
            assert_eq!(compared(text), None, "{text}");
        }
    }
}

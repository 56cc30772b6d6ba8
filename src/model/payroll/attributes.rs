//! The attributes, codes, numbers and presets of a pack, read from TOML.

use std::collections::BTreeSet;

use super::line::attribute_text;
use super::pack::{Attribute, Input, InputScope, MAX_ATTRIBUTES, MOST_INPUT, Pack, Presets};
use super::profile::{Code, Part, Read, Values, read_form};
use super::rule::Frame;
use super::schema::{RawAttribute, RawPack};
use super::types::Ends;

/// The attributes and inputs that distinguish the employees of a pack.
pub(super) struct Staff {
    pub(super) attributes: Vec<Attribute>,
    pub(super) codes: Vec<Code>,
    pub(super) inputs: Vec<Input>,
    pub(super) presets: Presets,
}

pub(super) fn read(raw: &RawPack) -> Result<Staff, String> {
    let wrong = raw
        .inputs
        .iter()
        .find(|(_, input)| (input.scope == InputScope::Employer) != input.company.is_some());
    if let Some((name, _)) = wrong {
        return Err(format!(
            "input `{name}`: `company` says what an input with `scope = \"employer\"` is, and no other"
        ));
    }
    let read = raw.inputs.iter().map(|(name, input)| Input {
        name: name.clone(),
        default: input.default,
        scope: input.scope,
        company: input.company,
        one_year: input.one_year,
        limits: (input.min.unwrap_or(0), input.max.unwrap_or(MOST_INPUT)),
        per: input.per,
    });
    let mut staff = Staff {
        attributes: Vec::new(),
        codes: Vec::new(),
        inputs: read.collect(),
        presets: presets(raw)?,
    };
    for (name, attribute) in &raw.attributes {
        if name == "period" {
            return Err(format!("attribute `{name}`: the pay period is built in"));
        }
        if let Some(ends) = &attribute.ends {
            check_ends(name, ends, raw)?;
        }
        if attribute.forms.is_empty() {
            staff.attributes.push(listed(name, attribute)?);
        } else {
            staff.add_code(name, attribute)?;
        }
    }
    if staff.attributes.len() > MAX_ATTRIBUTES {
        return Err(format!("`[attributes]` has more than {MAX_ATTRIBUTES}"));
    }
    Ok(staff)
}

fn check_ends(name: &str, ends: &Ends, raw: &RawPack) -> Result<(), String> {
    let known =
        |other: &String| raw.attributes.contains_key(other) || raw.inputs.contains_key(other);
    if !(1..=12).contains(&ends.month) || !(1..=31).contains(&ends.day) {
        return Err(format!("attribute `{name}`: `ends` must be a day of a year"));
    }
    match ends.with.iter().find(|other| !known(other)) {
        Some(other) => Err(format!("attribute `{name}`: `{other}` of `ends` is not known")),
        None => Ok(()),
    }
}

fn presets(raw: &RawPack) -> Result<Presets, String> {
    let text = |value: &toml::Value| {
        attribute_text(value).ok_or("`[presets]`: a value must be a string or a number")
    };
    let mut presets = Presets::new();
    for (name, values) in &raw.presets {
        let mut read = Vec::new();
        for (value, pairs) in values {
            let pairs = pairs.iter().map(|(name, value)| Ok((name.clone(), text(value)?)));
            read.push((value.clone(), pairs.collect::<Result<Vec<_>, String>>()?));
        }
        presets.push((name.clone(), read));
    }
    Ok(presets)
}

fn listed(name: &str, raw: &RawAttribute) -> Result<Attribute, String> {
    let in_attribute = |message: &str| format!("attribute `{name}`: {message}");
    let text = |value: &toml::Value| {
        attribute_text(value)
            .ok_or_else(|| in_attribute("values must be strings, booleans or integers"))
    };
    let values = raw.values.iter().map(text).collect::<Result<Vec<String>, String>>()?;
    if values.len() > usize::from(u8::MAX)
        || values.iter().collect::<BTreeSet<_>>().len() != values.len()
    {
        return Err(in_attribute("values must be unique, and at most 255"));
    }
    let default = text(&raw.default)?;
    match values.iter().position(|value| *value == default) {
        Some(default) => {
            Ok(Attribute { name: name.to_owned(), values, default, ends: raw.ends.clone() })
        }
        None => Err(in_attribute("the default is not one of the values")),
    }
}

impl Staff {
    /// Adds an attribute for each listed part of a code, and an input for each number.
    fn add_code(&mut self, name: &str, raw: &RawAttribute) -> Result<(), String> {
        let in_code = |message: String| format!("attribute `{name}`: {message}");
        let default = attribute_text(&raw.default).unwrap_or_default();
        let forms = raw.forms.iter().map(|form| read_form(form));
        let forms = forms.collect::<Result<Vec<Vec<Part>>, String>>().map_err(in_code)?;
        let code = Code { name: name.to_owned(), default, forms };
        let unread = || in_code("the default has none of the forms".to_owned());
        let parts = code.parts(&code.default).ok_or_else(unread)?;
        let of_default =
            |part: &str| parts.iter().find(|(name, _)| *name == part).map(|(_, read)| read.clone());
        let mut names: Vec<&String> = Vec::new();
        for part in code.forms.iter().flatten() {
            if !names.contains(&&part.name) {
                names.push(&part.name);
            }
        }
        for part in names {
            let name = format!("{}.{part}", code.name);
            match all_values(&code, part) {
                Values::Number(least, most) => self.inputs.push(Input {
                    name,
                    default: match of_default(part) {
                        Some(Read::Number(number)) => number,
                        _ => 0,
                    },
                    scope: InputScope::Employee,
                    company: None,
                    one_year: false,
                    limits: (least, most),
                    per: Frame::Pay,
                }),
                Values::Listed(values) => {
                    let text = match of_default(part) {
                        Some(Read::Text(text)) => text,
                        _ => String::new(),
                    };
                    let default = values.iter().position(|value| *value == text).unwrap_or(0);
                    self.attributes.push(Attribute { name, values, default, ends: None });
                }
            }
        }
        self.codes.push(code);
        Ok(())
    }
}

/// The values of a part in all forms; a form without the part has the empty text, or 0.
fn all_values(code: &Code, name: &str) -> Values {
    let mut all = vec![String::new()];
    for part in code.forms.iter().flatten().filter(|part| part.name == name) {
        match &part.values {
            Values::Number(_, most) => return Values::Number(0, *most),
            Values::Listed(values) => {
                for value in values {
                    if !all.contains(value) {
                        all.push(value.clone());
                    }
                }
            }
        }
    }
    Values::Listed(all)
}

impl Pack {
    /// Whether a number of an employee holds only in the tax year in which it was set.
    #[must_use]
    pub fn is_of_one_year(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| input.one_year && input.name == name)
    }

    /// Whether a value of an employee needs the day on which it was set.
    #[must_use]
    pub fn needs_day_of(&self, name: &str) -> bool {
        let ends = |known: &Attribute| known.name == name && known.ends.is_some();
        let begins = self.annual_earnings.as_ref().is_some_and(|annual| annual.attribute == name);
        begins || self.is_of_one_year(name) || self.attributes.iter().any(ends)
    }
}

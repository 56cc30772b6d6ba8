//! The values of one employee: attributes, codes with parts, and numbers, each validated by the pack.

use super::error::PayError;
use super::pack::{Attributes, CompanyFact, InputScope, Pack, byte};

/// The attributes and inputs of an employee. Valid only with the pack that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// For [`super::PayInput::attributes`].
    pub attributes: Attributes,
    /// For [`super::PayInput::inputs`].
    pub inputs: Vec<i64>,
}

/// An attribute that is read by forms, such as a tax code.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) name: String,
    pub(super) default: String,
    pub(super) forms: Vec<Vec<Part>>,
}

/// One part of a form: `{region:S|C|}` or `{number:1-999999}`.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) values: Values,
}

#[derive(Clone, Debug)]
pub(super) enum Values {
    Listed(Vec<String>),
    Number(i64, i64),
}

/// A part of a code that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Read {
    Text(String),
    Number(i64),
}

impl Code {
    /// The parts of `text` by the first form that it has. `None` if it has none.
    pub(super) fn parts<'a>(&'a self, text: &str) -> Option<Vec<(&'a str, Read)>> {
        self.forms.iter().find_map(|form| matched(form, text))
    }
}

/// A form for readers: `[S|C](0 to 999999)(L|M)`. Brackets are optional parts.
fn described(form: &[Part]) -> String {
    let part = |part: &Part| match &part.values {
        Values::Number(least, most) => format!("({least} to {most})"),
        Values::Listed(values) => {
            let named: Vec<&str> =
                values.iter().map(String::as_str).filter(|value| !value.is_empty()).collect();
            match (named.len() == values.len(), named.join("|")) {
                (false, named) => format!("[{named}]"),
                (true, named) if values.len() == 1 => named,
                (true, named) => format!("({named})"),
            }
        }
    };
    form.iter().map(part).collect()
}

fn matched<'a>(form: &'a [Part], text: &str) -> Option<Vec<(&'a str, Read)>> {
    let Some((part, rest)) = form.split_first() else {
        return text.is_empty().then(Vec::new);
    };
    let with = |length: usize, read: Read| {
        let mut parts = matched(rest, &text[length..])?;
        parts.push((part.name.as_str(), read));
        Some(parts)
    };
    match &part.values {
        Values::Listed(values) => values
            .iter()
            .filter(|value| text.starts_with(value.as_str()))
            .find_map(|value| with(value.len(), Read::Text(value.clone()))),
        Values::Number(least, most) => {
            let length = text.bytes().take_while(u8::is_ascii_digit).count();
            let digits = &text[..length];
            let plain = digits == "0" || !digits.starts_with('0');
            let number = digits.parse().ok().filter(|number| (*least..=*most).contains(number));
            number.filter(|_| plain).and_then(|number| with(length, Read::Number(number)))
        }
    }
}

/// Reads a form: parts in braces, in order.
pub(super) fn read_form(text: &str) -> Result<Vec<Part>, String> {
    let refusal =
        || format!("`{text}` is not a form: expected parts such as {{sign:K|}} or {{number:1-9}}");
    let inner =
        text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or_else(refusal)?;
    let part = |part: &str| {
        let (name, values) = part.split_once(':').ok_or_else(refusal)?;
        let limits = values.split_once('-').and_then(|(least, most)| {
            Some(Values::Number(least.parse().ok()?, most.parse().ok()?))
        });
        let listed = || Values::Listed(values.split('|').map(str::to_owned).collect());
        Ok(Part { name: name.to_owned(), values: limits.unwrap_or_else(listed) })
    };
    inner.split("}{").map(part).collect()
}

impl Pack {
    /// The values of an employee without any attributes.
    #[must_use]
    pub fn default_profile(&self) -> Profile {
        Profile { attributes: self.default_attributes(), inputs: self.default_inputs().to_vec() }
    }

    /// The defaults with these values set. A value that sets other attributes (such as a starter declaration) does
    /// not overwrite attributes that are set by name.
    pub fn profile<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Result<Profile, PayError> {
        let mut profile = self.default_profile();
        for (name, value) in values.clone() {
            self.set_preset(&mut profile, name, value)?;
        }
        for (name, value) in values {
            if !self.is_preset(name) {
                self.set(&mut profile, name, value)?;
            }
        }
        Ok(profile)
    }

    /// Sets the inputs that a run reads from the company.
    pub fn set_company(&self, profile: &mut Profile, value: impl Fn(CompanyFact) -> i64) {
        for (input, set) in self.inputs.iter().zip(&mut profile.inputs) {
            if let Some(fact) = input.company {
                *set = value(fact);
            }
        }
    }

    /// The default of an attribute or a code, as text.
    #[must_use]
    pub fn default_of(&self, name: &str) -> Option<String> {
        let code = self.codes.iter().find(|code| code.name == name);
        let attribute = self.attributes.iter().find(|attribute| attribute.name == name);
        code.map(|code| code.default.clone())
            .or_else(|| attribute.map(|it| it.values[it.default].clone()))
    }

    fn is_preset(&self, name: &str) -> bool {
        self.presets.iter().any(|(known, _)| known == name)
    }

    fn set_preset(&self, profile: &mut Profile, name: &str, value: &str) -> Result<(), PayError> {
        let Some((_, values)) = self.presets.iter().find(|(known, _)| known == name) else {
            return Ok(());
        };
        let pairs = values.iter().find(|(known, _)| known == value);
        let (_, pairs) = pairs.ok_or_else(|| PayError::UnknownValue {
            attribute: name.to_owned(),
            value: value.to_owned(),
            known: values.iter().map(|(known, _)| known.clone()).collect(),
        })?;
        pairs.iter().try_for_each(|(name, value)| self.set(profile, name, value))
    }

    /// Sets one attribute, code or number by its name.
    pub fn set(&self, profile: &mut Profile, name: &str, value: &str) -> Result<(), PayError> {
        if let Some(code) = self.codes.iter().find(|code| code.name == name) {
            return self.set_code(profile, code, value);
        }
        if let Some(index) = self.inputs.iter().position(|input| input.name == name) {
            let (least, most) = self.inputs[index].limits;
            let number = value.parse().ok().filter(|number| (least..=most).contains(number));
            profile.inputs[index] = number.ok_or_else(|| PayError::NotANumber {
                name: name.to_owned(),
                value: value.to_owned(),
                least,
                most,
            })?;
            return Ok(());
        }
        let known = |name: &str| self.attributes.iter().any(|attribute| attribute.name == name);
        if !known(name) {
            let known = self.profile_names().map(str::to_owned).collect();
            return Err(PayError::UnknownName { what: "attribute", name: name.to_owned(), known });
        }
        profile.attributes = self.with_attribute(profile.attributes, name, value)?;
        Ok(())
    }

    fn set_code(&self, profile: &mut Profile, code: &Code, value: &str) -> Result<(), PayError> {
        let parts = code.parts(value).ok_or_else(|| PayError::UnknownValue {
            attribute: code.name.clone(),
            value: value.to_owned(),
            known: code.forms.iter().map(|form| described(form)).collect(),
        })?;
        let of_code = |name: &str| {
            name.strip_prefix(code.name.as_str())
                .and_then(|rest| rest.strip_prefix('.'))
                .map(str::to_owned)
        };
        let read = |part: &str| parts.iter().find(|(name, _)| *name == part).map(|(_, read)| read);
        for (index, attribute) in self.attributes.iter().enumerate() {
            let Some(part) = of_code(&attribute.name) else { continue };
            let text = match read(&part) {
                Some(Read::Text(text)) => text.as_str(),
                _ => "",
            };
            let chosen = attribute.values.iter().position(|known| known == text);
            profile.attributes.0[index] = byte(chosen.expect("the values of all forms are listed"));
        }
        for (index, input) in self.inputs.iter().enumerate() {
            let Some(part) = of_code(&input.name) else { continue };
            profile.inputs[index] = match read(&part) {
                Some(Read::Number(number)) => *number,
                _ => 0,
            };
        }
        Ok(())
    }

    /// The names that an employee may set: codes, attributes, numbers of an employee, and presets.
    pub fn profile_names(&self) -> impl Iterator<Item = &str> {
        let part_of_code = |name: &str| {
            let code = name.split('.').next();
            self.codes.iter().any(|known| Some(known.name.as_str()) == code && known.name != name)
        };
        let codes = self.codes.iter().map(|code| code.name.as_str());
        let attributes = self.attributes.iter().map(|attribute| attribute.name.as_str());
        let inputs = self.inputs.iter().filter(|input| {
            input.scope == InputScope::Employee && !input.name.starts_with("deduction.")
        });
        let inputs = inputs.map(|input| input.name.as_str());
        let presets = self.presets.iter().map(|(name, _)| name.as_str());
        codes.chain(attributes.chain(inputs).filter(move |name| !part_of_code(name))).chain(presets)
    }
}

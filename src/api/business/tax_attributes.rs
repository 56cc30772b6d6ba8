//! Tax attributes of an employee as callers set them, validated by the payroll pack of the country.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::api::check::suggestion;
use crate::api::prelude::*;
use crate::model::payroll::{self, Pack, PayError};

/// Values from one day on, or a list of such values.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum TaxAttributesInput {
    One(Dated),
    Many(Vec<Dated>),
}

/// Values by name, and the first day on which they apply.
#[derive(Deserialize)]
pub(crate) struct Dated {
    effective_from: Option<Date>,
    #[serde(flatten)]
    values: BTreeMap<String, Option<Scalar>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(i64),
    Truth(bool),
}

impl Scalar {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
        }
    }
}

impl JsonSchema for TaxAttributesInput {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TaxAttributesInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let day = generator.subschema_for::<Date>();
        let value = json_schema!({
            "type": ["string", "integer", "boolean", "null"],
            "maxLength": 100,
            "format": "int64",
        });
        let dated = json_schema!({
            "type": "object",
            "properties": { "effective_from": day },
            "maxProperties": 60,
            "propertyNames": { "minLength": 1, "maxLength": 64 },
            "additionalProperties": value,
        });
        json_schema!({ "anyOf": [dated, { "type": "array", "items": dated, "maxItems": 20 }] })
    }
}

/// Attributes that apply from a day on. `None` restores a default.
pub(crate) type Changes = (Date, Vec<(String, Option<String>)>);

/// The changes, each validated by the pack that is in force on its first day; `usual` is the day if the caller gives none.
pub(crate) fn tax_attributes(
    country: &str,
    usual: Date,
    input: TaxAttributesInput,
) -> Result<Vec<Changes>> {
    let (list, is_list) = match input {
        TaxAttributesInput::One(one) => (vec![one], false),
        TaxAttributesInput::Many(many) => (many, true),
    };
    let (mut wrong, mut changes) = (Vec::new(), Vec::<Changes>::new());
    for (place, dated) in list.into_iter().enumerate() {
        let at =
            if is_list { format!("/tax_attributes/{place}") } else { "/tax_attributes".to_owned() };
        let from = dated.effective_from.unwrap_or(usual);
        let pack = payroll::library().in_force(country, from.civil()).pack;
        let values = dated.values.into_iter();
        let values: Vec<(String, Option<String>)> =
            values.map(|(name, value)| (name, value.map(Scalar::into_text))).collect();
        let known = Known::of(pack, from, &values);
        for (name, value) in &values {
            if let Some((code, detail)) = known.refusal(name, value.as_deref()) {
                wrong.push(Violation::new(format!("{at}/{}", escaped(name)), code, detail));
            }
        }
        if changes.iter().any(|(earlier, _)| *earlier == from) {
            let detail = format!("the list has another entry from {from} on: merge them");
            wrong.push(Violation::new(format!("{at}/effective_from"), "duplicate", detail));
        }
        changes.push((from, values));
    }
    ApiError::if_any(wrong)?;
    Ok(changes)
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The packs that define the attributes: the country's, and those of its regions, whose attributes have a prefix.
struct Known {
    pack: &'static Pack,
    regions: Vec<&'static Pack>,
}

impl Known {
    /// The packs on a day. If the values name the region, only its own.
    fn of(pack: &'static Pack, day: Date, values: &[(String, Option<String>)]) -> Self {
        let named = values.iter().find(|(name, _)| Some(name) == pack.regions.as_ref());
        let named = named.and_then(|(_, value)| value.as_deref());
        let regions = payroll::library().regions_of(pack, day.civil()).map(|found| found.pack);
        let is_meant =
            |region: &&Pack| named.is_none_or(|named| region.region.as_deref() == Some(named));
        Self { pack, regions: regions.filter(is_meant).collect() }
    }

    /// The name of an attribute in the pack of a region.
    fn in_region<'a>(&self, name: &'a str) -> Option<&'a str> {
        name.strip_prefix(self.pack.regions.as_deref()?)?.strip_prefix('.')
    }

    /// The reason why no pack has that attribute with that value, with its code.
    fn refusal(&self, name: &str, value: Option<&str>) -> Option<(&'static str, String)> {
        let Some(own) = self.in_region(name) else { return refusal(self.pack, name, value) };
        let refusals = self.regions.iter().map(|region| refusal(region, own, value));
        let mut first = None;
        for refusal in refusals {
            match refusal {
                None => return None,
                some => first = first.or(some),
            }
        }
        let nowhere = || ("unknown_attribute", "no payroll pack of a region applies".to_owned());
        Some(first.unwrap_or_else(nowhere))
    }
}

/// The reason why the pack does not have that attribute with that value, with its code.
fn refusal(pack: &Pack, name: &str, value: Option<&str>) -> Option<(&'static str, String)> {
    let names = || pack.profile_names();
    if !names().any(|known| known == name) {
        let near = suggestion(name, names());
        let known: Vec<&str> = names().collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let detail =
            format!("the payroll pack {} has no such attribute{near}; it has {known}", pack.code);
        return Some(("unknown_attribute", detail));
    }
    match pack.profile([(name, value?)]) {
        Ok(_) => None,
        Err(PayError::UnknownValue { known, .. }) => {
            Some(("invalid_value", format!("expected one of {}", known.join(", "))))
        }
        Err(error) => Some(("invalid_value", error.to_string())),
    }
}

/// Sets the changes, with timers for the first days of future ones.
pub(crate) fn set(employee: &mut Employee, changes: Vec<Changes>, today: Date) {
    for (from, values) in changes {
        employee.set_tax_attributes(from, values);
    }
    employee.follow_tax_attributes(today);
    let pack = payroll::library().in_force(employee.payroll_country(), today.civil()).pack;
    if let [only] = employee.tax_attributes_history.as_slice()
        && only.effective_from <= today.max(employee.start_date)
        && !only.values.keys().any(|name| pack.needs_day_of(name))
    {
        // A single entry equals `tax_attributes`, so it is not stored.
        employee.tax_attributes_history.clear();
    }
}

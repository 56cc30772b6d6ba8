//! Unions in the form that client generators understand: named alternatives, `oneOf` and a discriminator.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::render::openapi::schemas::{reference, referred};

/// Gives the alternatives of each `oneOf` definition names: `SuspiciousActivityReportContents` for the form of
/// `ReportContents` whose `type` is `suspicious_activity`.
pub(super) fn name(definitions: &mut BTreeMap<String, Value>) {
    let mut named = BTreeMap::new();
    for (name, schema) in &mut *definitions {
        for form in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
            let own = constants(form).next().map(|(_, constant)| super::webhook::pascal(constant));
            if let Some(own) = own.map(|own| own + name) {
                let reference = reference(&own);
                named.insert(own, core::mem::replace(form, reference));
            }
        }
    }
    definitions.extend(named);
}

/// Adds a discriminator to each union whose alternatives differ in a constant. Removes each default beside a
/// reference, because generators read it as a value of another type.
pub(super) fn discriminate(part: &mut Value, definitions: &BTreeMap<String, Value>) {
    match part {
        Value::Array(items) => items.iter_mut().for_each(|item| discriminate(item, definitions)),
        Value::Object(members) => {
            if members.get("$ref").is_some_and(Value::is_string) {
                members.shift_remove("default");
            }
            for keyword in ["anyOf", "oneOf"] {
                let forms = members.get(keyword).and_then(Value::as_array);
                if let Some(found) = forms.and_then(|forms| discriminator(forms, definitions)) {
                    let forms = members.shift_remove(keyword).unwrap_or_default();
                    members.insert("oneOf".to_owned(), forms);
                    members.insert("discriminator".to_owned(), found);
                    break;
                }
            }
            for (_, member) in members.iter_mut() {
                discriminate(member, definitions);
            }
        }
        _ => {}
    }
}

/// The Discriminator Object of alternatives that are references and differ in a constant.
fn discriminator(forms: &[Value], definitions: &BTreeMap<String, Value>) -> Option<Value> {
    let targets: Vec<(&Value, &Value)> = forms
        .iter()
        .map(|form| Some((form, definitions.get(referred(form)?)?)))
        .collect::<Option<_>>()?;
    let (_, first) = targets.first().filter(|_| targets.len() > 1)?;
    constants(first).find_map(|(name, _)| {
        let constant =
            |schema: &Value| schema["properties"][name]["const"].as_str().map(str::to_owned);
        let mapping: Map<String, Value> = targets
            .iter()
            .map(|(form, schema)| Some((constant(schema)?, form["$ref"].clone())))
            .collect::<Option<_>>()?;
        (mapping.len() == targets.len())
            .then(|| json!({ "propertyName": name, "mapping": mapping }))
    })
}

/// The members of a schema that have only one value.
fn constants(schema: &Value) -> impl Iterator<Item = (&str, &str)> {
    let members = schema["properties"].as_object().into_iter().flatten();
    members.filter_map(|(name, member)| Some((name.as_str(), member["const"].as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_of_forms_with_a_constant_gets_names_and_a_discriminator() {
        let form =
            |kind: &str| json!({ "type": "object", "properties": { "type": { "const": kind } } });
        let mut definitions = BTreeMap::from([(
            "Shape".to_owned(),
            json!({ "oneOf": [form("big_circle"), form("square")] }),
        )]);
        name(&mut definitions);
        assert_eq!(definitions["BigCircleShape"], form("big_circle"));
        let mut shape = definitions["Shape"].clone();
        discriminate(&mut shape, &definitions);
        let mapping = json!({
            "big_circle": "#/components/schemas/BigCircleShape",
            "square": "#/components/schemas/SquareShape",
        });
        assert_eq!(shape["discriminator"], json!({ "propertyName": "type", "mapping": mapping }));
        let mut plain = json!({ "anyOf": [{ "$ref": "#/components/schemas/SquareShape" }, { "type": "null" }] });
        let before = plain.clone();
        discriminate(&mut plain, &definitions);
        assert_eq!(plain, before);
    }
}

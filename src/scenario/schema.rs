//! The JSON Schema of scenario files for editors, made from the same form that the reader uses.
//!
//! Only `check` reports wrong combinations of keys (a code for a choice that takes none, `status` or `lose`).

use serde_json::{Map, Value, json};

use crate::scenario::form::{FILE, Key, Table, Takes};

/// The schema, in the 2020-12 dialect.
pub(crate) fn schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A sandbox scenario",
    });
    let rules = table(&FILE);
    if let (Some(schema), Value::Object(rules)) = (schema.as_object_mut(), rules) {
        schema.extend(rules);
    }
    schema
}

fn table(form: &Table) -> Value {
    let properties: Map<String, Value> =
        form.keys.iter().map(|key| (key.name.to_owned(), described(key))).collect();
    let required: Vec<&str> =
        form.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema = json!({
        "description": form.about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn described(key: &Key) -> Value {
    let mut schema = takes(&key.takes);
    schema["description"] = Value::from(key.about);
    schema
}

fn takes(takes_what: &Takes) -> Value {
    match takes_what {
        Takes::Text => json!({ "type": "string" }),
        Takes::Spelt(spelling) => json!({ "type": "string", "pattern": spelling.pattern() }),
        Takes::Count(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Takes::Chance => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
        Takes::Truth => json!({ "type": "boolean" }),
        Takes::Name(names) => json!({ "type": "string", "enum": names() }),
        Takes::List(item) => json!({ "type": "array", "items": takes(item) }),
        Takes::Either(forms) => {
            let forms: Vec<Value> = forms.iter().map(takes).collect();
            json!({ "anyOf": forms })
        }
        Takes::Each(value) => json!({ "type": "object", "additionalProperties": takes(value) }),
        Takes::Members => json!({ "type": "object" }),
        Takes::Part(form) => table(form),
        Takes::Rows(form) => json!({ "type": "array", "items": table(form) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::file::check;
    use crate::value::Look;

    /// Every table of the form, with the text before its keys in a file.
    fn tables() -> Vec<(&'static Table, &'static str)> {
        use crate::scenario::form::{
            EXPECT, FAULT, FEE_TIER, LATENCY, LIMITS, OUTCOME, REACTION, STEP, TIMELINE, WEBHOOK,
            WORLD,
        };
        vec![
            (&FILE, ""),
            (&WORLD, "[world]"),
            (&OUTCOME, "[[outcome]]"),
            (&WEBHOOK, "[[webhook]]"),
            (&FAULT, "[[fault]]"),
            (&TIMELINE, "[[timeline]]"),
            (&LIMITS, "[limits]"),
            (&LATENCY, "[limits.latency]"),
            (&FEE_TIER, "[[limits.platform_fee]]"),
            (&STEP, "[[step]]"),
            (&REACTION, "[[step]]\n[step.expect]"),
            (&EXPECT, "[expect]"),
        ]
    }

    fn named(form: &Table, found: &mut Vec<&'static str>) {
        fn inside(takes: &Takes, found: &mut Vec<&'static str>) {
            match takes {
                Takes::Part(form) | Takes::Rows(form) => named(form, found),
                Takes::Either(forms) => forms.iter().for_each(|form| inside(form, found)),
                _ => {}
            }
        }
        found.push(form.name);
        for key in form.keys {
            inside(&key.takes, found);
        }
    }

    #[test]
    fn the_tables_of_this_test_are_those_of_the_form() {
        let mut found = Vec::new();
        named(&FILE, &mut found);
        let mut listed: Vec<&str> = tables().iter().map(|(form, _)| form.name).collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    /// No key takes a time of day, so a reader that reads its key reports this value.
    #[test]
    fn every_key_of_the_form_is_read() {
        for (form, head) in tables() {
            for key in form.keys {
                let file = format!("{head}\n{} = 07:32:00\n", key.name);
                let checked = check("f.toml", &|_| Ok(file.clone().into_bytes()));
                let text = checked.report(Look::Plain);
                let place = format!("f.toml:{}:{}\n", file.lines().count(), key.name.len() + 4);
                assert!(text.contains(&place), "{file}{text}");
                assert!(!text.contains("unknown key"), "{file}{text}");
            }
        }
    }

    #[test]
    fn a_key_that_the_form_lacks_is_refused() {
        for (form, head) in tables() {
            let file = format!("{head}\nzebra = 1\n");
            let checked = check("f.toml", &|_| Ok(file.clone().into_bytes()));
            let text = checked.report(Look::Plain);
            let message = format!("{} has no key \"zebra\"", form.name);
            assert!(text.contains(&message), "{file}{text}");
        }
    }

    #[test]
    fn the_schema_has_the_keys_of_the_form_and_no_others() {
        let schema = schema();
        let outcome = &schema["properties"]["outcome"]["items"];
        assert_eq!(outcome["required"], json!(["on", "then"]));
        assert_eq!(outcome["additionalProperties"], json!(false));
        let choices = outcome["properties"]["then"]["enum"].as_array();
        assert!(choices.is_some_and(|choices| choices.contains(&json!("returned_late"))));
        let latency = &schema["properties"]["limits"]["properties"]["latency"]["anyOf"][1];
        assert_eq!(latency["required"], json!(["mean"]));
    }
}

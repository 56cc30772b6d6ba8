//! The rules of both documents for every reference, schema and example.

mod examples;
mod generators;
mod walk;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::harness::contract::{control, printed, product};
use crate::harness::schema::violations;
use crate::harness::server::command;
use walk::{holders, of, schemas};

/// Keywords of JSON Schema for validation that documents may use.
const CONSTRAINTS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "pattern",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "type",
    "uniqueItems",
];

/// Keywords only for people, which may stand beside `$ref`.
const ANNOTATIONS: &[&str] =
    &["default", "deprecated", "description", "discriminator", "examples", "title", "x-lifecycle"];

/// A contract that changes much.
const MUCH: &str = r#"
[operations.runPayroll]
status = 202
aliases = ["/v2/payroll/run", "/v3/run"]
[operations.listPayslips]
enabled = false
[operations.getPayslip]
enabled = false
[errors]
format = "envelope"
[paging]
per_page_max = 40
[idempotency]
required = true
[headers]
request_id = "X-Request-Id"
sandbox_time = false
idempotency_key = "X-Idem"
api_version = false
"#;

/// Both documents, and the product's with contracts that change much.
fn documents() -> &'static [Value] {
    static DOCUMENTS: OnceLock<Vec<Value>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let much = folder.path().join("much.toml");
        std::fs::write(&much, MUCH).unwrap();
        let much = printed(&["openapi", "--contract", much.to_str().unwrap()]);
        let published = printed(&["openapi", "--contract", "published"]);
        vec![product().clone(), control().clone(), much, published]
    })
}

#[test]
fn operation_ids_are_unique_webhooks_included() {
    for document in documents() {
        let ids: Vec<&Value> =
            [of(&document["paths"], "operationId"), of(&document["webhooks"], "operationId")]
                .concat();
        let distinct: BTreeSet<&str> = ids.iter().filter_map(|id| id.as_str()).collect();
        assert_eq!(distinct.len(), ids.len());
    }
}

#[test]
fn every_reference_has_a_target_and_every_component_is_used() {
    for document in documents() {
        let references: BTreeSet<&str> =
            of(document, "$ref").into_iter().filter_map(Value::as_str).collect();
        for reference in &references {
            let pointer = reference.strip_prefix('#').expect("references stay in the document");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for section in ["schemas", "parameters", "headers", "responses"] {
            for name in document["components"][section]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name)
            {
                assert!(
                    references.contains(format!("#/components/{section}/{name}").as_str()),
                    "{section}/{name}"
                );
            }
        }
    }
}

#[test]
fn schemas_use_known_keywords_only() {
    for document in documents() {
        for (pointer, schema) in schemas(document) {
            for (keyword, value) in schema.as_object().into_iter().flatten() {
                let keyword = keyword.as_str();
                assert!(
                    CONSTRAINTS.contains(&keyword) || ANNOTATIONS.contains(&keyword),
                    "{pointer}: {keyword}"
                );
                assert!(
                    !value.is_null() || ["const", "default"].contains(&keyword),
                    "{pointer}: {keyword} is null"
                );
            }
        }
    }
}

/// schemars drops a constraint on a field whose type is a reference, and client generators ignore one beside
/// it.
#[test]
fn only_annotations_are_beside_a_reference() {
    for document in documents() {
        for (pointer, schema) in schemas(document) {
            let Some(to) = schema.get("$ref") else {
                continue;
            };
            for keyword in
                schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str())
            {
                assert!(
                    keyword == "$ref" || ANNOTATIONS.contains(&keyword),
                    "{pointer}: {keyword} beside {to}"
                );
            }
        }
    }
}

/// schemars numbers types of the same name in the order of their appearance: a new row would rename the
/// others.
#[test]
fn no_definition_got_its_name_from_a_counter() {
    for document in documents() {
        let named =
            document["components"]["schemas"].as_object().expect("components/schemas is an object");
        for name in named.keys() {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            assert!(
                stem == name || !named.contains_key(stem),
                "{name} and {stem}: rename one with #[schemars(rename)]"
            );
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
                "{name}"
            );
        }
    }
}

#[test]
fn two_builds_are_equal_to_the_byte() {
    for arguments in [&["openapi"][..], &["openapi", "--control"]] {
        let printed = || command(arguments).output().unwrap().stdout;
        assert_eq!(printed(), printed());
    }
}

#[test]
fn examples_are_calls_and_their_answers() {
    let entry = &product()["paths"]["/api/business/companies/{company_id}"]["patch"];
    let body = &entry["requestBody"]["content"]["application/json"]["examples"]["fresh"]["value"];
    let answer = &entry["responses"]["200"]["content"]["application/json"]["examples"]["fresh"]["value"]
        ["data"];
    assert_eq!(answer["id"], entry["parameters"][0]["example"]);
    assert_eq!(body.get("company_id"), None, "it is in the path");
    assert_eq!(answer["payroll_settings"]["pay_day"], body["payroll_settings"]["pay_day"]);
    assert!(body["payroll_settings"]["pay_day"].is_u64());
}

#[test]
fn every_example_satisfies_the_schema_beside_it() {
    for document in documents() {
        let mut checked = 0;
        for (pointer, holder) in holders(document) {
            let named = holder["examples"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(_, example)| &example["value"]);
            for example in holder.get("example").into_iter().chain(named) {
                let wrong = violations(document, &holder["schema"], example);
                assert_eq!(wrong, [""; 0], "{pointer}: {example}");
                checked += 1;
            }
        }
        assert!(checked > 0);
    }
}

#[test]
fn the_schema_checker_finds_each_violation() {
    let document =
        json!({ "components": { "schemas": { "Code": { "type": "string", "enum": ["a"] } } } });
    let schema = json!({
        "type": "object",
        "properties": {
            "code": { "$ref": "#/components/schemas/Code" },
            "count": { "type": ["integer", "null"], "minimum": 1 },
            "names": { "type": "array", "items": { "type": "string", "maxLength": 2, "pattern": "^[a-z]*$" } },
        },
        "required": ["code"],
        "additionalProperties": false,
    });
    let good = json!({ "code": "a", "count": null, "names": ["ab"] });
    assert_eq!(violations(&document, &schema, &good), [""; 0]);
    for bad in [
        json!({}),
        json!([]),
        json!({ "code": "b" }),
        json!({ "code": "a", "more": 1 }),
        json!({ "code": "a", "count": 0 }),
        json!({ "code": "a", "count": "1" }),
        json!({ "code": "a", "names": ["abc"] }),
        json!({ "code": "a", "names": ["A"] }),
    ] {
        assert!(!violations(&document, &schema, &bad).is_empty(), "{bad}");
    }
}

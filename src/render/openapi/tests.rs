//! Tests of both complete documents: the rules for every row, reference, schema and example.

mod walk;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Plane, document, document_under, text};
use crate::api::operation::{Method, Operation};
use crate::api::product;
use crate::engine::contract::Overlay;
use crate::value::Look;
use walk::{fault, holders, of, resolved, schemas};

const PLANES: [Plane; 2] = [Plane::Product, Plane::Control];

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
const ANNOTATIONS: &[&str] = &["default", "deprecated", "description", "examples", "title"];

/// Both documents, and the product's with contracts that change much.
fn documents() -> Vec<Value> {
    const MUCH: &str = "[operations.runPayroll]\nstatus = 202\naliases = [\"/v2/payroll/run\", \"/v3/run\"]\n\
        [operations.listPayslips]\nenabled = false\n[operations.getPayslip]\nenabled = false\n\
        [errors]\nformat = \"envelope\"\n[paging]\nper_page_max = 40\n[idempotency]\nrequired = true\n\
        [headers]\nrequest_id = \"X-Request-Id\"\nsandbox_time = false\nidempotency_key = \"X-Idem\"\n\
        api_version = false\n";
    let much = Overlay::parse("much", MUCH, Look::Plain).expect("it is right");
    let mut documents: Vec<Value> = PLANES.iter().map(|plane| document(*plane)).collect();
    documents.extend([much, Overlay::published()].map(|one| document_under(Plane::Product, &one)));
    documents
}

fn entry<'a>(document: &'a Value, row: &Operation) -> &'a Value {
    &document["paths"][row.path][row.method.name().to_ascii_lowercase()]
}

#[test]
fn every_row_is_one_operation_and_nothing_else_is() {
    for plane in PLANES {
        let document = document(plane);
        let rows = plane.rows();
        assert!(!rows.is_empty());
        for row in &rows {
            assert_eq!(
                entry(&document, row)["operationId"],
                row.operation_id(),
                "{} {}",
                row.method.name(),
                row.path
            );
        }
        let paths = document["paths"].as_object().expect("paths is an object");
        assert_eq!(
            paths
                .values()
                .map(|item| item.as_object().map_or(0, serde_json::Map::len))
                .sum::<usize>(),
            rows.len()
        );
    }
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
            of(&document, "$ref").into_iter().filter_map(Value::as_str).collect();
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
        for (pointer, schema) in schemas(&document) {
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
/// it. The one exception restricts
/// `Problem` to the codes of a response, for people.
#[test]
fn only_annotations_are_beside_a_reference() {
    for document in documents() {
        for (pointer, schema) in schemas(&document) {
            let Some(to) = schema.get("$ref") else {
                continue;
            };
            for keyword in
                schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str())
            {
                let narrows_problem =
                    keyword == "properties" && *to == "#/components/schemas/Problem";
                assert!(
                    keyword == "$ref" || ANNOTATIONS.contains(&keyword) || narrows_problem,
                    "{pointer}: {keyword}"
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
    for plane in PLANES {
        assert_eq!(text(&document(plane)), text(&document(plane)));
    }
}

#[test]
fn every_input_member_is_in_the_path_the_query_or_the_body() {
    for plane in PLANES {
        let document = document(plane);
        for row in plane.rows() {
            let entry = entry(&document, row);
            let places = |place: &str| -> Vec<&str> {
                let parameters = entry["parameters"].as_array().into_iter().flatten();
                parameters.filter(|p| p["in"] == place).filter_map(|p| p["name"].as_str()).collect()
            };
            assert_eq!(places("path"), row.path_parameters().collect::<Vec<_>>(), "{}", row.name);
            let members = row_members(row);
            let query = places("query");
            let body =
                resolved(&document, &entry["requestBody"]["content"]["application/json"]["schema"]);
            for name in members
                .iter()
                .filter(|name| row.path_parameters().all(|parameter| parameter != *name))
            {
                assert_eq!(
                    query.contains(&name.as_str()),
                    !row.method.has_body(),
                    "{}: {name}",
                    row.name
                );
                assert_eq!(
                    body["properties"].get(name).is_some(),
                    row.method.has_body(),
                    "{}: {name}",
                    row.name
                );
            }
        }
    }
}

fn row_members(row: &Operation) -> Vec<String> {
    let schema = (row.input)(&mut schemars::SchemaGenerator::default());
    let members = schema.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

#[test]
fn writes_of_the_product_take_their_headers() {
    let document = document(Plane::Product);
    for row in Plane::Product.rows() {
        let parameters = &entry(&document, row)["parameters"];
        let takes = |name: &str| {
            let reference = json!({ "$ref": format!("#/components/parameters/{name}") });
            parameters.as_array().is_some_and(|all| all.contains(&reference))
        };
        assert_eq!(takes("Idempotency-Key"), row.method == Method::Post, "{}", row.name);
        assert!(takes("Sandbox-Scenario"), "{}", row.name);
        if row.method == Method::Patch {
            assert!(takes("If-Match"), "{}", row.name);
            assert!(entry(&document, row)["responses"].get("412").is_some(), "{}", row.name);
        }
    }
}

#[test]
fn a_row_refuses_with_its_own_codes_too() {
    for plane in PLANES {
        let document = document(plane);
        for row in plane.rows() {
            for code in row.errors {
                let response = &entry(&document, row)["responses"][code.status().to_string()];
                let schema =
                    &resolved(&document, response)["content"]["application/problem+json"]["schema"];
                let listed =
                    schema["properties"]["code"]["enum"].as_array().expect("codes are listed");
                assert!(
                    listed.iter().any(|one| one == code.code()),
                    "{}: {}",
                    row.name,
                    code.code()
                );
            }
        }
    }
}

#[test]
fn every_emitted_event_is_a_webhook_of_its_own() {
    let document = document(Plane::Product);
    let emitted: BTreeSet<&str> =
        Plane::Product.rows().iter().flat_map(|row| crate::api::system::events_of(row)).collect();
    let webhooks = document["webhooks"].as_object().expect("webhooks is an object");
    assert_eq!(
        webhooks.keys().map(String::as_str).collect::<Vec<_>>(),
        emitted.into_iter().collect::<Vec<_>>()
    );
    for (name, webhook) in webhooks {
        assert_eq!(webhook["post"]["security"], json!([]), "{name}");
        assert_eq!(webhook["post"]["tags"], json!(["Webhooks"]), "{name}");
        let event = resolved(
            &document,
            &webhook["post"]["requestBody"]["content"]["application/json"]["schema"],
        );
        let types = event["properties"]["type"]["enum"].as_array().expect("types are listed");
        assert!(types.iter().any(|one| one == name), "{name}");
    }
    assert!(super::document(Plane::Control).get("webhooks").is_none());
}

#[test]
fn examples_are_calls_and_their_answers() {
    let document = document(Plane::Product);
    let row = Plane::Product
        .rows()
        .into_iter()
        .find(|row| row.name == "update_company")
        .expect("the table has it");
    let entry = entry(&document, row);
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
        for (pointer, holder) in holders(&document) {
            let named = holder["examples"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(_, example)| &example["value"]);
            for example in holder.get("example").into_iter().chain(named) {
                let fault = fault(&document, &holder["schema"], example);
                assert_eq!(fault, None, "{pointer}: {example}");
                checked += 1;
            }
        }
        assert!(checked > 0);
    }
}

#[test]
fn every_operation_has_examples() {
    for plane in PLANES {
        let document = document(plane);
        for row in plane.rows() {
            let entry = entry(&document, row);
            let shown =
                |part: &Value| part["content"]["application/json"].get("examples").is_some();
            assert!(shown(&entry["responses"][row.success.to_string()]), "{}", row.name);
            assert!(entry.get("requestBody").is_none_or(shown), "{}", row.name);
        }
    }
}

#[test]
fn every_row_of_the_product_that_takes_an_id_is_linked_from_an_answer_that_has_it() {
    let document = document(Plane::Product);
    let paths = document["paths"].as_object().unwrap();
    let rows = paths.values().flat_map(|path| path.as_object().unwrap().values());
    let mut linked = BTreeSet::new();
    for response in rows.flat_map(|row| row["responses"].as_object().unwrap().values()) {
        for (name, link) in response["links"].as_object().into_iter().flatten() {
            let pointer = link["$ref"].as_str().unwrap().trim_start_matches('#');
            let link = document.pointer(pointer).expect("a link that is there");
            assert_eq!(link["operationId"], name.as_str());
            let row = product().find(|row| row.operation_id() == *name);
            let row = row.expect("a link leads to a row");
            for parameter in link["parameters"].as_object().unwrap().keys() {
                assert!(row_members(row).contains(parameter), "{name} takes no {parameter}");
            }
            linked.insert(name.clone());
        }
    }
    let missing: Vec<_> = product()
        .filter(|row| row.path_parameters().count() == 1)
        .map(Operation::operation_id)
        .filter(|name| !linked.contains(name.as_str()))
        .collect();
    assert_eq!(missing, [""; 0], "no answer leads there");
}

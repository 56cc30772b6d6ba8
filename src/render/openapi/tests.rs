//! Tests of both complete documents: they contain everything that each row declares. `tests/it/documents` tests the
//! documents themselves.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Plane, document};
use crate::api::operation::{Method, Operation};
use crate::api::product;

const PLANES: [Plane; 2] = [Plane::Product, Plane::Control];

fn resolved<'a>(document: &'a Value, part: &'a Value) -> &'a Value {
    let to = part
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|to| document.pointer(to.trim_start_matches('#')));
    to.map_or(part, |target| resolved(document, target))
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
fn answers_list_the_headers_that_they_have() {
    let document = document(Plane::Product);
    let responses = |id: &str| {
        let row = product().find(|row| row.operation_id() == id).expect("it exists");
        &entry(&document, row)["responses"]
    };
    let has = |id: &str, status: &str, header: &str| {
        let response = resolved(&document, &responses(id)[status]);
        response["headers"].get(header).is_some()
    };
    assert!(
        has("closeAccountingYear", "201", "Location") && has("createPayout", "201", "Location")
    );
    for id in ["createFxQuote", "createDueDiligenceRequest", "reverseJournalEntry"] {
        assert!(!has(id, "201", "Location"), "{id}: no call reads it");
    }
    assert!(has("getCompany", "304", "ETag") && responses("listCompanies").get("304").is_none());
    assert!(has("createPayout", "409", "Idempotent-Replayed"));
    assert!(!has("createPayout", "404", "Idempotent-Replayed"), "it is not stored");
    assert!(!has("getCompany", "422", "Idempotent-Replayed"), "it takes no key");
    assert!(has("getCompany", "401", "WWW-Authenticate"));
    assert!(has("getCompany", "200", "Sandbox-As-Of"));
    assert!(has("listPayouts", "200", "Content-Disposition"));
    assert!(!has("getCompany", "200", "Content-Disposition"));
}

#[test]
fn an_event_requires_no_member_that_only_reads_add() {
    let document = document(Plane::Product);
    let schemas = &document["components"]["schemas"];
    for (resource, member) in
        [("DueDiligenceCase", "requests"), ("Company", "blockers"), ("Loan", "settlement_amount")]
    {
        let event = schemas[format!("{resource}Event")].to_string();
        let referred = format!("#/components/schemas/{resource}\"");
        assert!(event.contains(&referred), "{resource}: {event}");
        assert!(schemas[resource]["properties"].get(member).is_none(), "{resource}");
    }
}

#[test]
fn a_row_refuses_with_its_own_codes_too() {
    for plane in PLANES {
        let document = document(plane);
        for row in plane.rows() {
            for code in row.errors {
                let response = &entry(&document, row)["responses"][code.status().to_string()];
                let listed =
                    resolved(&document, response)["x-codes"].as_array().expect("codes are listed");
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
fn every_operation_has_examples() {
    for plane in PLANES {
        let document = document(plane);
        for row in plane.rows() {
            let entry = entry(&document, row);
            if row.only_pdf {
                continue;
            }
            let media = if row.streams { "text/event-stream" } else { "application/json" };
            let shown = |part: &Value| part["content"][media].get("examples").is_some();
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

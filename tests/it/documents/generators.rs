//! Faults for which client generators produce code that does not compile or fails later. Each occurred with a
//! published generator.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::walk::{of, schemas};
use crate::harness::command;
use crate::harness::contract::{printed, resolve};

/// Names that collide with types of generated code or of its language.
const TAKEN: &[&str] = &[
    "Client",
    "Currency",
    "Date",
    "Error",
    "Exception",
    "File",
    "Line",
    "List",
    "Map",
    "Object",
    "Option",
    "Reply",
    "Request",
    "Response",
    "Rule",
    "Set",
    "Side",
    "String",
    "Why",
];

fn documents() -> &'static [(String, Value)] {
    static DOCUMENTS: OnceLock<Vec<(String, Value)>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let overlay = folder.path().join("overlay.toml");
        std::fs::write(&overlay, OVERLAY).unwrap();
        let overlay = overlay.display().to_string();
        let mut forms: Vec<Vec<&str>> = vec![
            vec!["--control"],
            vec!["--control", "--client"],
            vec!["--control", "--openapi", "3.0"],
        ];
        for domain in [None, Some("business"), Some("payments"), Some("identity"), Some("capital")]
        {
            for flags in 0..8 {
                let mut form: Vec<&str> = domain.map_or(Vec::new(), |name| vec!["--domain", name]);
                for (bit, more) in
                    [vec!["--client"], vec!["--openapi", "3.0"], vec!["--contract", &overlay]]
                        .into_iter()
                        .enumerate()
                {
                    form.extend(if flags >> bit & 1 == 1 { more } else { Vec::new() });
                }
                forms.push(form);
            }
        }
        let form = |form: Vec<&str>| {
            let arguments: Vec<&str> = std::iter::once("openapi").chain(form).collect();
            (arguments.join(" "), printed(&arguments))
        };
        forms.into_iter().map(form).collect()
    })
}

/// A contract that drops operations and renames a header.
const OVERLAY: &str = "[operations.getPayslip]\nenabled = false\n[operations.cancelPayout]\nenabled = false\n\
    [operations.getSubject]\nenabled = false\n[operations.getLoan]\nenabled = false\n[headers]\napi_version = \"X-Ver\"\n";

fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    let paths = document["paths"].as_object().unwrap().values();
    paths.flat_map(|path| path.as_object().unwrap().values())
}

#[test]
fn every_refusal_is_a_plain_reference_to_the_problem() {
    for (name, document) in documents() {
        let responses =
            operations(document).flat_map(|row| row["responses"].as_object().unwrap().values());
        let mut refusals = 0;
        for response in responses {
            let problem = &resolve(document, response)["content"]["application/problem+json"];
            if !problem.is_null() {
                assert_eq!(
                    problem["schema"],
                    json!({ "$ref": "#/components/schemas/Problem" }),
                    "{name}"
                );
                refusals += 1;
            }
        }
        assert!(refusals > 50, "{name}");
    }
}

#[test]
fn nothing_is_beside_a_reference_to_a_response_and_every_link_leads_to_an_operation() {
    for (name, document) in documents() {
        let ids = operations(document).map(|row| row["operationId"].as_str().unwrap());
        let ids: BTreeSet<&str> = ids.collect();
        let mut links = 0;
        for row in operations(document) {
            for (status, response) in row["responses"].as_object().unwrap() {
                let at = format!("{name}: {} {status}", row["operationId"]);
                let response = response.as_object().unwrap();
                assert!(!response.contains_key("$ref") || response.len() == 1, "{at}");
                let Some(own) = response.get("links") else { continue };
                for link in own.as_object().expect(&at).values() {
                    let to = resolve(document, link)["operationId"].as_str().unwrap();
                    assert!(ids.contains(to), "{at}");
                    links += 1;
                }
            }
        }
        assert!(links > 5 || name.contains("--control"), "{name}: {links}");
    }
}

#[test]
fn no_header_has_a_date() {
    for (name, document) in documents() {
        for parameter in of(&document["components"]["parameters"], "schema") {
            assert_ne!(parameter["format"], "date", "{name}: {parameter}");
        }
    }
}

#[test]
fn no_schema_has_a_name_that_generated_code_needs() {
    for (document, value) in documents() {
        for name in value["components"]["schemas"].as_object().unwrap().keys() {
            assert!(!TAKEN.contains(&name.as_str()), "{document}: {name}");
            // Generators of Go write `NewX` to construct an `X`.
            let made =
                name.strip_prefix("New").is_some_and(|rest| rest.starts_with(char::is_uppercase));
            assert!(!made && !name.ends_with("RequestRequest"), "{document}: {name}");
        }
    }
}

#[test]
fn no_default_is_beside_a_reference() {
    for (name, document) in documents() {
        for (pointer, schema) in schemas(document) {
            let refers = schema.get("$ref").is_some() || schema.get("allOf").is_some();
            assert!(!refers || schema.get("default").is_none(), "{name}: {pointer}");
        }
    }
}

#[test]
fn every_union_of_objects_has_a_discriminator() {
    for (name, document) in documents() {
        for (pointer, schema) in schemas(document) {
            let forms = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array);
            let objects = forms.into_iter().flatten().filter(|form| {
                let target = resolve(document, form);
                target["properties"].is_object() || target.get("oneOf").is_some()
            });
            let objects = objects.count();
            if objects < 2 {
                continue;
            }
            let mapping = schema["discriminator"]["mapping"].as_object();
            assert_eq!(mapping.map(serde_json::Map::len), Some(objects), "{name}: {pointer}");
            let member = schema["discriminator"]["propertyName"].as_str().unwrap();
            for (constant, to) in mapping.unwrap() {
                let target = resolve(document, &json!({ "$ref": to })).clone();
                let property = &target["properties"][member];
                let only = property.get("const").unwrap_or(&property["enum"][0]);
                assert_eq!(only, constant, "{name}: {pointer}");
                assert!(
                    target["required"].as_array().unwrap().contains(&json!(member)),
                    "{name}: {pointer}"
                );
            }
        }
    }
}

#[test]
fn only_the_document_for_clients_is_open_and_only_its_methods_have_no_headers_of_tests() {
    for (name, document) in documents() {
        let text = document.to_string();
        let is_open = name.contains("--client");
        assert_eq!(text.contains("\"additionalProperties\":false"), !is_open, "{name}");
        let version = if name.contains("--contract") { "X-Ver" } else { "Api-Version" };
        for header in
            ["Sandbox-Scenario", "Sandbox-Fault", "Sandbox-Observer", "Sandbox-As-Of", version]
        {
            let shown = text.contains(&format!("parameters/{header}"));
            assert_eq!(shown, !is_open && !name.contains("--control"), "{name}: {header}");
        }
        let has_webhooks = document.get("webhooks").is_some();
        let part = ["--control", "--client", "3.0", "--domain"];
        assert_eq!(has_webhooks, !part.iter().any(|flag| name.contains(flag)), "{name}");
    }
}

#[test]
fn every_content_has_a_schema_and_every_server_a_full_url() {
    for (name, document) in documents() {
        assert_eq!(document["servers"][0]["url"], "http://localhost:4747", "{name}");
        for row in operations(document) {
            let responses = row["responses"].as_object().unwrap().values();
            for holder in responses.chain([&row["requestBody"]]) {
                for (kind, media) in holder["content"].as_object().into_iter().flatten() {
                    assert!(media["schema"].is_object(), "{name}: {}: {kind}", row["operationId"]);
                }
            }
        }
    }
    let elsewhere = printed(&["openapi", "--server", "https://sandbox.example"]);
    assert_eq!(elsewhere["servers"][0]["url"], "https://sandbox.example");
    for wrong in ["nope", "/sandbox", "ftp://sandbox.example", "https://", "http://a/?b=c"] {
        let output = command(&["openapi", "--server", wrong]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn version_3_0_has_only_keywords_of_3_0() {
    for (name, document) in documents() {
        if !name.contains("3.0") {
            assert_eq!(document["openapi"], "3.1.1");
            continue;
        }
        assert_eq!(document["openapi"], "3.0.3");
        for (pointer, schema) in schemas(document) {
            let members = schema.as_object().unwrap();
            for keyword in ["const", "propertyNames", "prefixItems", "examples"] {
                assert!(!members.contains_key(keyword), "{name}: {pointer}: {keyword}");
            }
            assert!(
                members.get("type").is_none_or(|kind| kind.is_string() && kind != "null"),
                "{name}: {pointer}"
            );
            assert!(!members.contains_key("$ref") || members.len() == 1, "{name}: {pointer}");
            for limit in ["exclusiveMinimum", "exclusiveMaximum"] {
                assert!(members.get(limit).is_none_or(Value::is_boolean), "{name}: {pointer}");
            }
        }
    }
}

#[test]
fn a_domain_has_its_operations_only() {
    let whole = printed(&["openapi"]);
    let count = |document: &Value| operations(document).count();
    let domains = ["business", "payments", "identity", "capital"];
    let parts: usize = domains.iter().map(|it| count(&printed(&["openapi", "--domain", it]))).sum();
    assert_eq!(parts, count(&whole));
    assert_eq!(
        printed(&["openapi", "--domain", "PAYMENTS"]),
        printed(&["openapi", "--domain", "payments"])
    );
    let topic = printed(&["openapi", "--control", "--domain", "webhook-endpoints"]);
    assert!(count(&topic) > 3);
    // Webhooks are no operations, so they are no domain.
    for wrong in ["weather", "webhooks"] {
        let output = command(&["openapi", "--domain", wrong]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(wrong) && said.contains("Payments"), "{said}");
        assert!(!said.contains("Webhooks"), "{said}");
    }
}

/// `{"data": …}`, and for lists `{"data": […], "meta": {"total", "page", …}}`. A stream and a reply without a body have none.
#[test]
fn every_reply_of_both_documents_has_the_same_envelope() {
    for (name, document) in documents() {
        let mut replies = 0;
        for row in operations(document) {
            let responses = row["responses"].as_object().unwrap();
            for (_, response) in responses.iter().filter(|(status, _)| status.starts_with('2')) {
                let media = &resolve(document, response)["content"]["application/json"];
                if media.is_null() {
                    continue;
                }
                let schema = resolve(document, &media["schema"]);
                let data = resolve(document, &schema["properties"]["data"]);
                let is_list = data["type"] == "array";
                let members = if is_list { json!(["data", "meta"]) } else { json!(["data"]) };
                assert_eq!(schema["required"], members, "{name}: {}", row["operationId"]);
                let found = schema["properties"].as_object().unwrap().len();
                assert_eq!(found, 1 + usize::from(is_list), "{name}: {}", row["operationId"]);
                if is_list {
                    let meta = resolve(document, &schema["properties"]["meta"]);
                    for member in ["total", "page"] {
                        assert!(meta["required"].as_array().unwrap().contains(&json!(member)));
                    }
                }
                replies += 1;
            }
        }
        assert!(replies > 15, "{name}");
    }
}

#[test]
fn no_operation_has_a_body_of_several_forms() {
    let control = printed(&["openapi", "--control"]);
    for row in operations(&control) {
        let body = &row["requestBody"]["content"]["application/json"]["schema"];
        if !body.is_null() {
            assert!(resolve(&control, body)["properties"].is_object(), "{}", row["operationId"]);
        }
    }
}

#[test]
fn every_operation_of_the_control_plane_has_a_topic() {
    let control = printed(&["openapi", "--control"]);
    let topics = control["tags"].as_array().unwrap();
    assert!(topics.len() > 5);
    for row in operations(&control) {
        assert!(
            topics.iter().any(|topic| topic["name"] == row["tags"][0]),
            "{}",
            row["operationId"]
        );
    }
}

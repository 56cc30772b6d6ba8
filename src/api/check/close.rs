//! The published form of a schema: schemars' output, adjusted to the rules of the checker and to the abilities of
//! client generators.

use serde_json::{Map, Value, json};

/// Integer formats that `OpenAPI` does not register, with the registered format that contains them and the remaining bounds. `uint64` ends
/// where `int64` does, because most clients have no wider integer, unless the member has a greater `maximum` of its own.
const INTEGER_FORMATS: &[(&str, &str, Option<i64>, Option<i64>)] = &[
    ("int8", "int32", Some(-128), Some(127)),
    ("int16", "int32", Some(-32_768), Some(32_767)),
    ("uint8", "int32", Some(0), Some(255)),
    ("uint16", "int32", Some(0), Some(65_535)),
    ("uint32", "int64", Some(0), Some(4_294_967_295)),
    ("uint64", "int64", Some(0), None),
    ("uint", "int64", Some(0), None),
    ("int", "int64", None, None),
];

/// Keywords whose value is a map of schemas, a schema, and a list of schemas.
const MAPS_OF_SCHEMAS: &[&str] = &["properties", "patternProperties", "$defs"];
const SCHEMAS: &[&str] = &["items", "additionalProperties", "propertyNames"];
const LISTS_OF_SCHEMAS: &[&str] = &["oneOf", "anyOf", "allOf"];

/// Keywords that can add members to an object, so that `properties` is not its complete list of members.
const MEMBERS_ELSEWHERE: &[&str] = &[
    "additionalProperties",
    "propertyNames",
    "patternProperties",
    "$ref",
    "oneOf",
    "anyOf",
    "allOf",
];

/// Rewrites a schema and everything in it, except `$ref`s:
///
/// - an object that lists its members accepts no others: `additionalProperties: false`. The checker handles unknown members, because
///   serde's `deny_unknown_fields` does not work with `flatten`;
/// - an enum with documented variants, which schemars writes as `oneOf` constants, becomes `enum`, with the docs as a list in its
///   description;
/// - integer formats become `int32` or `int64` with bounds;
/// - `$schema`, `title` and `default: null` are removed.
///
/// Closing twice gives the same result as closing once.
pub(crate) fn close(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    schema.shift_remove("$schema");
    schema.shift_remove("title");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
    register_format(schema);
    collapse_constants(schema);
    for (keyword, value) in schema.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Object(map) if MAPS_OF_SCHEMAS.contains(&keyword) => {
                map.values_mut().for_each(close);
            }
            Value::Array(list) if LISTS_OF_SCHEMAS.contains(&keyword) => {
                list.iter_mut().for_each(close);
            }
            schema if SCHEMAS.contains(&keyword) => close(schema),
            _ => {}
        }
    }
    let object = schema.contains_key("properties") || says_object(schema.get("type"));
    if object && !MEMBERS_ELSEWHERE.iter().any(|keyword| schema.contains_key(*keyword)) {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

fn says_object(types: Option<&Value>) -> bool {
    match types {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    }
}

fn register_format(schema: &mut Map<String, Value>) {
    let format = schema.get("format").and_then(Value::as_str);
    let row = INTEGER_FORMATS.iter().find(|(name, ..)| Some(*name) == format);
    let Some(&(_, registered, minimum, maximum)) = row else { return };
    let is_wider = schema.get("maximum").is_some_and(|own| own.is_u64() && !own.is_i64());
    if is_wider {
        schema.shift_remove("format");
    } else {
        schema.insert("format".to_owned(), registered.into());
    }
    let bound = |schema: &Map<String, Value>, keyword| schema.get(keyword).and_then(Value::as_i64);
    if let Some(minimum) = minimum {
        let narrower = bound(schema, "minimum").map_or(minimum, |own| own.max(minimum));
        schema.insert("minimum".to_owned(), narrower.into());
    }
    if let Some(maximum) = maximum {
        let narrower = bound(schema, "maximum").map_or(maximum, |own| own.min(maximum));
        schema.insert("maximum".to_owned(), narrower.into());
    }
}

/// `oneOf` of constants as `enum`.
fn collapse_constants(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get("oneOf") else { return };
    let Some(variants) = variants.iter().map(constants).collect::<Option<Vec<_>>>() else { return };
    let mut description =
        schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut list = String::new();
    for (values, docs) in &variants {
        if let ([value], Some(docs)) = (*values, docs) {
            let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            list.extend(["\n- `", &name, "`: ", &docs.replace('\n', " ")]);
        }
    }
    if !list.is_empty() {
        description.push_str(if description.is_empty() { "" } else { "\n" });
        description.push_str(if description.is_empty() { list.trim_start() } else { &list });
    }
    let values: Vec<Value> =
        variants.iter().flat_map(|(values, _)| values.iter().cloned()).collect();
    schema.shift_remove("oneOf");
    if !description.is_empty() {
        schema.insert("description".to_owned(), description.into());
    }
    if values.iter().all(Value::is_string) {
        schema.insert("type".to_owned(), json!("string"));
    }
    schema.insert("enum".to_owned(), values.into());
}

/// The values and docs of a schema that contains only constants.
fn constants(variant: &Value) -> Option<(&[Value], Option<&str>)> {
    let variant = variant.as_object()?;
    let plain = ["type", "const", "enum", "title", "description"];
    if !variant.keys().all(|keyword| plain.contains(&keyword.as_str())) {
        return None;
    }
    let values = match (variant.get("const"), variant.get("enum")) {
        (Some(value), None) => core::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values,
        _ => return None,
    };
    Some((values, variant.get("description").and_then(Value::as_str)))
}

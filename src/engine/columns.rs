//! The columns of a list as a table, from the schema of its reply.

use serde_json::{Map, Value};

/// The path of a member in a row, as the names of the members that lead to it.
pub(super) type Column = Vec<String>;

/// The columns of a list by the schema of its reply: one for each member of a row, and of the objects within it. A list or a map
/// within a row is one column. None if the reply is not a list.
pub(super) fn columns(reply: &Value, definitions: &Map<String, Value>) -> Option<Vec<Column>> {
    let reply = resolved(reply, definitions);
    let data = resolved(&reply["properties"]["data"], definitions);
    if data["type"] != "array" || resolved(&reply["properties"]["meta"], definitions).is_null() {
        return None;
    }
    let mut found = Vec::new();
    collect(&data["items"], definitions, &mut Vec::new(), &mut found);
    Some(found)
}

/// The maximum depth of nested objects whose members have their own columns.
const DEPTH: usize = 4;

fn collect(
    schema: &Value,
    definitions: &Map<String, Value>,
    path: &mut Column,
    found: &mut Vec<Column>,
) {
    let schema = resolved(schema, definitions);
    match schema["properties"].as_object() {
        Some(members) if !members.is_empty() && path.len() < DEPTH => {
            for (name, member) in members {
                path.push(name.clone());
                collect(member, definitions, path, found);
                path.pop();
            }
        }
        _ => found.push(path.clone()),
    }
}

/// A schema with references resolved, and without its alternative `null`.
fn resolved<'a>(mut schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    loop {
        let target = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        if let Some(target) = target.and_then(|name| definitions.get(name)) {
            schema = target;
            continue;
        }
        let forms = schema["anyOf"].as_array().map_or(&[][..], Vec::as_slice);
        let mut forms = forms.iter().filter(|form| form["type"] != "null");
        match (forms.next(), forms.next()) {
            (Some(only), None) => schema = only,
            _ => return schema,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_name_the_members_of_objects_within_a_row() {
        let definitions = json!({
            "Payer": { "type": "object", "properties": { "name": {}, "card": { "$ref": "#/$defs/Card" } } },
            "Card": { "type": "object", "properties": { "last4": {} } },
        });
        let definitions = definitions.as_object().expect("an object");
        let row = json!({ "type": "object", "properties": {
            "id": { "type": "string" },
            "payer": { "anyOf": [{ "$ref": "#/$defs/Payer" }, { "type": "null" }] },
            "metadata": { "type": "object", "additionalProperties": true },
        } });
        let list = json!({ "properties": { "data": { "type": "array", "items": row }, "meta": { "type": "object" } } });
        let found = columns(&list, definitions).expect("a list");
        let names: Vec<String> = found.iter().map(|column| column.join(".")).collect();
        assert_eq!(names, ["id", "payer.name", "payer.card.last4", "metadata"]);
        assert_eq!(
            columns(&json!({ "properties": { "data": { "type": "object" } } }), definitions),
            None
        );
    }
}

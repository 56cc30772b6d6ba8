//! The ids in the examples of a document: those of the served world.

use serde_json::Value;

use crate::model::{AnyId, Kind};
use crate::value::id::{example_bits, parse};
use crate::world::Base;

/// Replaces example ids by ids of the served world. The example of a schema becomes the first resource of its kind.
/// A grown resource of the sampled world becomes the resource with the same index. Ids of created resources are
/// unchanged.
pub(crate) fn with_ids_of(document: &mut Value, sampled: &Base, served: &Base) {
    match document {
        Value::String(text) => {
            if let Some(id) = counterpart(text, sampled, served) {
                *text = id;
            }
        }
        Value::Array(items) => {
            for item in items {
                with_ids_of(item, sampled, served);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                with_ids_of(member, sampled, served);
            }
        }
        _ => {}
    }
}

fn counterpart(text: &str, sampled: &Base, served: &Base) -> Option<String> {
    let (prefix, _) = text.split_once('_')?;
    let kind = *Kind::ALL.iter().find(|kind| kind.prefix() == prefix)?;
    let bits = parse(prefix, text)?;
    let index = if bits == example_bits(prefix) {
        0
    } else {
        sampled.index_of_any(AnyId { kind, bits })?
    };
    (index < served.count(kind)).then(|| served.any_at(kind, index).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Shape;
    use serde_json::json;

    #[test]
    fn ids_become_those_at_the_same_place_of_the_served_world() {
        let (sampled, served) = (Base::new(42, Shape::default()), Base::new(7, Shape::default()));
        let id = |base: &Base, index| base.any_at(Kind::Employee, index).to_string();
        let made = "emp_0000000000000";
        let mut document = json!({ "a": [id(&sampled, 3)], "b": made, "c": "emp_", "d": "an emp" });
        with_ids_of(&mut document, &sampled, &served);
        assert_eq!(
            document,
            json!({ "a": [id(&served, 3)], "b": made, "c": "emp_", "d": "an emp" })
        );
        let small =
            Base::new(7, Shape { companies: 1, employees_per_company: 2, ..Shape::default() });
        let mut document = json!([id(&sampled, 3), id(&sampled, 1)]);
        with_ids_of(&mut document, &sampled, &small);
        assert_eq!(document, json!([id(&sampled, 3), id(&small, 1)]), "it has no fourth employee");
    }
}

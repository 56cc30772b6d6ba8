//! Members of a PATCH: an absent member leaves the value as it is, and null clears it.
//!
//! May import `value` and `schemars`. Deliberately absent: a list of the members that can be cleared; the type of a
//! member defines that.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Marks the schema of a member that null clears, until [`changes`] has read it.
const CLEARED: &str = "x-cleared-by-null";

/// A member of a change whose value can be cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Change<T> {
    /// The member is absent.
    #[default]
    Keep,
    /// The member is null.
    Clear,
    Set(T),
}

impl<T> Change<T> {
    pub(crate) const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Changes an optional value.
    pub(crate) fn apply<U>(self, place: &mut Option<U>, kept: impl FnOnce(T) -> U) {
        match self {
            Self::Keep => {}
            Self::Clear => *place = None,
            Self::Set(value) => *place = Some(kept(value)),
        }
    }

    /// Changes a value whose cleared form is the empty one.
    pub(crate) fn apply_or_empty(self, place: &mut T)
    where
        T: Default,
    {
        match self {
            Self::Keep => {}
            Self::Clear => *place = T::default(),
            Self::Set(value) => *place = value,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Change<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Change<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("change_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Option::<T>::json_schema(generator);
        schema.insert(CLEARED.to_owned(), true.into());
        schema
    }
}

/// The schema of a change: only members that null clears accept null.
pub(crate) fn changes(schema: &mut Schema) {
    let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for member in members.values_mut() {
        let is_cleared = member.as_object_mut().and_then(|keys| keys.shift_remove(CLEARED));
        if is_cleared.is_none() {
            *member = without_null(member.take());
        }
    }
}

/// The schema of an optional member that is never null.
pub(crate) fn without_null(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            members.remove("anyOf");
            members.extend(only);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn without_null_removes_only_null_from_a_schema() {
        let without = |schema| without_null(schema);
        assert_eq!(
            without(
                json!({ "description": "d", "type": ["integer", "null"], "minimum": 1, "default": null })
            ),
            json!({ "description": "d", "type": "integer", "minimum": 1 })
        );
        assert_eq!(
            without(
                json!({ "description": "d", "anyOf": [{ "$ref": "#/x" }, { "type": "null" }] })
            ),
            json!({ "description": "d", "$ref": "#/x" })
        );
        assert_eq!(
            without(json!({ "type": ["string", "null"], "enum": ["a", null] })),
            json!({ "type": "string", "enum": ["a"] })
        );
        assert_eq!(
            without(json!({ "type": "string", "default": "x" })),
            json!({ "type": "string", "default": "x" })
        );
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[schemars(transform = changes)]
    struct Sample {
        #[serde(default)]
        phone: Change<String>,
        name: Option<String>,
    }

    #[test]
    fn null_clears_and_an_absent_member_stays() {
        let read = |value| serde_json::from_value::<Sample>(value).expect("a change");
        assert_eq!(read(json!({ "name": "x" })).phone, Change::Keep);
        assert_eq!(read(json!({ "phone": null })).phone, Change::Clear);
        assert_eq!(read(json!({ "phone": "1" })).phone, Change::Set("1".to_owned()));
        assert_eq!(read(json!({})).name, None);
        let mut place = Some(1);
        Change::<i32>::Clear.apply(&mut place, |value| value);
        assert_eq!(place, None);
    }

    #[test]
    fn only_a_member_that_null_clears_accepts_null() {
        let schema = schemars::schema_for!(Sample).to_value();
        let members =
            json!({ "phone": { "type": ["string", "null"] }, "name": { "type": "string" } });
        assert_eq!(schema["properties"], members);
        assert!(schema["required"].is_null());
    }
}

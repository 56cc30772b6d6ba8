//! stand-in
use crate::value::error::Violation;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;
pub(crate) struct Checker {
    pub(crate) schema: Value,
}
impl Checker {
    pub(crate) fn of(input: fn(&mut SchemaGenerator) -> Schema) -> Self {
        let mut g = SchemaGenerator::default();
        Self {
            schema: input(&mut g).into(),
        }
    }
    pub(crate) fn check(&self, value: &Value) -> Vec<Violation> {
        let req = self.schema["required"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        req.iter()
            .filter(|r| value.get(r.as_str().unwrap()).is_none())
            .map(|r| Violation::new(format!("/{}", r.as_str().unwrap()), "required", "required"))
            .collect()
    }
}

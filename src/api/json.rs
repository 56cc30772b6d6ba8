//! stand-in
use crate::value::error::{ApiError, ErrorCode};
use serde_json::Value;
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(bytes)
        .map_err(|e| ApiError::new(ErrorCode::MalformedJson, e.to_string()))
}
pub(crate) fn canonical(v: &Value) -> String {
    v.to_string()
}
pub(crate) fn differing_pointers(_: &Value, _: &Value) -> Vec<String> {
    vec![]
}

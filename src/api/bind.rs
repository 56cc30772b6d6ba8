//! stand-in
use crate::api::check::Checker;
use crate::value::error::ApiError;
use serde_json::{Map, Value};
pub(crate) fn bind(
    params: &[(&str, &str)],
    query: Option<&str>,
    body: Option<Value>,
    checker: &Checker,
) -> Result<Value, ApiError> {
    let mut map = match body {
        Some(Value::Object(m)) => m,
        _ => Map::new(),
    };
    for (n, v) in params {
        map.insert((*n).to_owned(), Value::String((*v).to_owned()));
    }
    for (n, v) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
        let value = v
            .parse::<u64>()
            .map_or_else(|_| Value::String(v.to_string()), Value::from);
        map.insert(n.to_string(), value);
    }
    let v = Value::Object(map);
    let e = checker.check(&v);
    if e.is_empty() {
        Ok(v)
    } else {
        Err(ApiError::invalid(e))
    }
}

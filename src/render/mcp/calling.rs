//! Calls made by tools, and the parts of the replies that tools return.

use std::sync::OnceLock;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

/// Characters that are not encoded in a path or a query.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Rows of a page of the control plane.
const PER_PAGE: usize = 100;
/// The most pages that a tool reads.
const MOST_PAGES: usize = 50;

/// The result of a tool: an answer, or an error that the model can correct.
pub(super) type Done = Result<Value, Value>;

/// A call to the sandbox.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    /// Path and query, encoded.
    pub(crate) target: String,
    pub(crate) idempotency_key: Option<String>,
    /// JSON; empty without a body.
    pub(crate) body: String,
}

/// The reply to a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Called {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    /// Whether it is the stored reply of an idempotency key.
    pub(crate) replayed: bool,
    pub(crate) body: Vec<u8>,
}

/// Makes calls with the credentials of one caller.
pub(crate) trait Calls {
    /// The reply; none if a fault lost it.
    fn call(&self, call: &Call) -> Option<Called>;

    /// A hash of the credentials.
    fn caller(&self) -> u64;
}

/// The sandbox as the tools see it.
pub(super) struct Calling<'a> {
    pub(super) calls: &'a dyn Calls,
    pub(super) documents: &'a [OnceLock<Value>; 2],
}

/// Text of the caller in a path or a query.
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

impl Calling<'_> {
    /// `data` of a control reply, or its whole body if it has more.
    pub(super) fn control(&self, method: &'static str, target: &str, body: &Value) -> Done {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let call = Call { method, target: target.to_owned(), idempotency_key: None, body };
        let Some(called) = self.calls.call(&call) else { return Err(lost(None)) };
        let mut body = read(&called).ok_or_else(|| unreadable(&called, None))?;
        if called.status >= 400 {
            return Err(refusal(&called, body, None));
        }
        let is_single = body.get("data").is_some() && body.get("meta").is_none();
        Ok(if is_single { body["data"].take() } else { body })
    }

    pub(super) fn get(&self, target: &str) -> Done {
        self.control("GET", target, &Value::Null)
    }

    /// All rows of a list, and their number.
    pub(super) fn rows(&self, target: &str) -> Result<(Vec<Value>, Value), Value> {
        let mark = if target.contains('?') { '&' } else { '?' };
        let (mut rows, mut total) = (Vec::new(), Value::Null);
        for page in 1..=MOST_PAGES {
            let mut found = self.get(&format!("{target}{mark}page={page}&per_page={PER_PAGE}"))?;
            total = found["meta"]["total"].take();
            let Value::Array(page) = found["data"].take() else { break };
            let is_last = page.len() < PER_PAGE;
            rows.extend(page);
            if is_last {
                break;
            }
        }
        Ok((rows, total))
    }
}

/// The body as JSON; null if there is none.
pub(super) fn read(called: &Called) -> Option<Value> {
    if called.body.is_empty() {
        Some(Value::Null)
    } else {
        serde_json::from_slice(&called.body).ok()
    }
}

/// The members of a refusal that a model needs.
pub(super) fn refusal(called: &Called, mut problem: Value, key: Option<&str>) -> Value {
    let mut shown = Map::new();
    shown.insert("status".to_owned(), called.status.into());
    match problem.as_object_mut() {
        Some(members) if members.contains_key("detail") => {
            for name in ["code", "detail", "errors", "current", "allowed", "resource_id"] {
                let value = members.get_mut(name).map(Value::take).unwrap_or_default();
                if !value.is_null() {
                    shown.insert(name.to_owned(), value);
                }
            }
        }
        _ => drop(shown.insert("body".to_owned(), problem)),
    }
    if let Some(after) = &called.retry_after {
        shown.insert("retry_after".to_owned(), after.as_str().into());
    }
    let is_open = called.status >= 500 || matches!(called.status, 408 | 409 | 429);
    if let Some(key) = key.filter(|_| is_open) {
        shown.insert("key".to_owned(), retry(key).into());
    }
    Value::Object(shown)
}

/// The answer to a call whose reply was lost.
pub(super) fn lost(key: Option<&str>) -> Value {
    let mut shown = json!({
        "lost": true,
        "error": "no reply arrived: whether the call took effect is unknown",
    });
    if let Some(key) = key {
        shown["key"] = retry(key).into();
    }
    shown
}

/// The answer to a call whose reply is not JSON, such as with a fault of the body.
pub(super) fn unreadable(called: &Called, key: Option<&str>) -> Value {
    let mut shown = lost(key);
    shown["error"] = "the reply is not readable: whether the call took effect is unknown".into();
    shown["status"] = called.status.into();
    shown
}

fn retry(key: &str) -> String {
    format!("sent with key {key}; retry with key {key}")
}

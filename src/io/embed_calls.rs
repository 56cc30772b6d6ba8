//! Typed methods that a Rust test calls on the world of a key: scenarios, rules, events, verification.
//!
//! Each calls the control route of the same name, in the process.

use std::fmt::Write;
use std::sync::PoisonError;

use bytes::Bytes;
use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::io::embed::{Sandbox, SandboxError};
use crate::value::Timestamp;

/// An outcome rule: makes a choice for a decision, like an outcome row of a scenario.
///
/// ```
/// use sandbox::{Rule, Sandbox};
/// let sandbox = Sandbox::builder().start()?;
/// sandbox.add_rule("test_key", &Rule::on("payout.settle").then("returned").code("R02").times(1))?;
/// let event = sandbox.trigger("test_key", "payroll_run.partially_paid")?;
/// assert_eq!(event.name, "payroll_run.partially_paid");
/// # Ok::<(), sandbox::SandboxError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rule {
    wanted: Map<String, Value>,
    outcome: Map<String, Value>,
    limits: Map<String, Value>,
}

impl Rule {
    /// A rule for this decision: `payout.settle`.
    #[must_use]
    pub fn on(decision: &str) -> Self {
        let mut wanted = Map::new();
        wanted.insert("decision".to_owned(), decision.into());
        Self { wanted, outcome: Map::new(), limits: Map::new() }
    }

    /// Makes this choice.
    #[must_use]
    pub fn then(mut self, choice: &str) -> Self {
        self.outcome.insert("then".to_owned(), choice.into());
        self
    }

    /// Sets the return code: `R02`.
    #[must_use]
    pub fn code(mut self, code: &str) -> Self {
        self.outcome.insert("code".to_owned(), code.into());
        self
    }

    /// Replaces the normal duration: `2bd`.
    #[must_use]
    pub fn after(mut self, span: &str) -> Self {
        self.outcome.insert("after".to_owned(), span.into());
        self
    }

    /// Applies only to this resource, or a related one.
    #[must_use]
    pub fn about(mut self, id: &str) -> Self {
        self.wanted.insert("resource".to_owned(), id.into());
        self
    }

    /// Limits how often the rule acts.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.limits.insert("times".to_owned(), times.into());
        self
    }

    fn body(&self) -> Value {
        let mut body = self.limits.clone();
        body.insert("match".to_owned(), Value::Object(self.wanted.clone()));
        body.insert("outcome".to_owned(), Value::Object(self.outcome.clone()));
        Value::Object(body)
    }
}

/// An event of a world.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// Its id, `evt_…`.
    pub id: String,
    /// The type: `payout.paid`.
    #[serde(rename = "type")]
    pub name: String,
    /// The place in the world's event log, from 1.
    pub sequence: u64,
    /// The virtual time.
    pub timestamp: Timestamp,
    /// `object` is the whole resource after the event, and `previous` has the old values of changed members.
    pub data: Value,
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verification {
    /// The expectation is met.
    Pass,
    /// It is not met; the nearest miss, as JSON.
    Fail(String),
    /// Unknown: dropped entries could change the verdict.
    Unknown,
}

impl Sandbox {
    /// Resets a key's world by the `[world]` of a shipped scenario, and starts it instead of the running
    /// ones.
    ///
    /// # Errors
    /// If no scenario has this name.
    pub fn load_scenario(&self, key: &str, name: &str) -> Result<(), SandboxError> {
        let path = format!("/scenarios/{name}/load");
        self.control(key, "POST", &path, &json!({})).map(drop)
    }

    /// Adds a rule that comes before every row of a scenario. Returns its id.
    ///
    /// # Errors
    /// If the decision, the choice or its options are invalid; the error lists all mistakes.
    pub fn add_rule(&self, key: &str, rule: &Rule) -> Result<String, SandboxError> {
        let made = self.control(key, "POST", "/rules", &rule.body())?;
        Ok(made["data"]["id"].as_str().unwrap_or_default().to_owned())
    }

    /// Makes an event of this type happen, with the real calls that cause it.
    ///
    /// # Errors
    /// If the type is unknown, or needs a call of the test first; the error names it.
    pub fn trigger(&self, key: &str, event: &str) -> Result<Event, SandboxError> {
        let body = json!({ "type": event });
        let mut made = self.control(key, "POST", "/trigger", &body)?;
        serde_json::from_value(made["data"]["event"].take()).map_err(unreadable)
    }

    /// All events of a key's world since its start, in order.
    ///
    /// # Errors
    /// If the key opens no world.
    pub fn events(&self, key: &str) -> Result<Vec<Event>, SandboxError> {
        let (mut events, mut after) = (Vec::new(), 0);
        loop {
            let path = format!("/events?per_page=100&after={after}");
            let mut page = self.control(key, "GET", &path, &Value::Null)?;
            let page: Vec<Event> =
                serde_json::from_value(page["data"].take()).map_err(unreadable)?;
            let Some(last) = page.last() else { return Ok(events) };
            after = last.sequence;
            events.extend(page);
        }
    }

    /// Verifies how often an operation was called with the members of `wanted`, like `POST
    /// /_sandbox/requests/verify`.
    ///
    /// ```
    /// use sandbox::{Sandbox, Verification};
    /// let sandbox = Sandbox::builder().start()?;
    /// let never = sandbox.verify("test_key", "runPayroll", &serde_json::json!({"status": 201}), 1)?;
    /// assert!(matches!(never, Verification::Fail(_)));
    /// # Ok::<(), sandbox::SandboxError>(())
    /// ```
    ///
    /// # Errors
    /// If no operation has this id, or `wanted` is no pattern.
    pub fn verify(
        &self,
        key: &str,
        operation: &str,
        wanted: &Value,
        times: u64,
    ) -> Result<Verification, SandboxError> {
        let body = json!({ "operation": operation, "match": wanted, "times": times });
        let found = &self.control(key, "POST", "/requests/verify", &body)?["data"];
        let verdict = found["verdict"].as_str().unwrap_or("unknown");
        if verdict == "pass" {
            return Ok(Verification::Pass);
        }
        let (matched, nearest) = (&found["matched"], found["nearest"].to_string());
        let miss = format!("requests {body}: {verdict}, matched {matched}, nearest {nearest}");
        let mut misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        misses.push((key.to_owned(), miss));
        Ok(if verdict == "fail" { Verification::Fail(nearest) } else { Verification::Unknown })
    }

    /// Calls any other control route: `path` is below `/_sandbox`, and a `null` body sends none. Returns the
    /// body of the reply: `data`, and `meta` of lists.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// let sandbox = sandbox::Sandbox::builder().start()?;
    /// let fault = json!({"on": "runPayroll", "lose": "reply", "times": 1});
    /// sandbox.control("test_key", "POST", "/faults", &fault)?;
    /// let faults = sandbox.control("test_key", "GET", "/faults", &Value::Null)?;
    /// assert_eq!(faults["data"][0]["on"], "runPayroll");
    /// # Ok::<(), sandbox::SandboxError>(())
    /// ```
    ///
    /// # Errors
    /// If the call is refused; the error has the detail of the refusal and all violations.
    pub fn control(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, SandboxError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/_sandbox{path}"))
            .header(AUTHORIZATION, format!("Bearer {key}"));
        let mut bytes = Bytes::new();
        if !body.is_null() {
            request = request.header(CONTENT_TYPE, "application/json");
            bytes = Bytes::from(body.to_string());
        }
        let request = request.body(bytes).map_err(unreadable)?;
        let reply = self.engine.call(request);
        let answer: Value = serde_json::from_slice(reply.body()).map_err(unreadable)?;
        if reply.status().is_success() {
            return Ok(answer);
        }
        let mut refusal = answer["detail"].as_str().unwrap_or("the call was refused").to_owned();
        for error in answer["errors"].as_array().into_iter().flatten() {
            let [place, why] = ["pointer", "detail"].map(|of| error[of].as_str().unwrap_or(""));
            let _ = write!(refusal, "\n  {place}: {why}");
        }
        Err(SandboxError(refusal))
    }
}

fn unreadable(error: impl std::fmt::Display) -> SandboxError {
    SandboxError(error.to_string())
}

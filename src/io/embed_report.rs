//! What happened in the worlds of a test that fails: the same report as that of the test kits in `clients/`.

use std::fmt::Write;
use std::sync::PoisonError;

use serde_json::Value;

use crate::io::embed::{Sandbox, SandboxError};

/// The rows of each section.
const MOST_ROWS: u64 = 30;
/// The worlds that a failing test reports.
const MOST_WORLDS: usize = 5;

impl Sandbox {
    /// What happened in a key's world: the last events, decisions and refused calls, and the near misses of
    /// [`verify`](Self::verify).
    ///
    /// A test that panics prints this for its worlds when the sandbox is dropped. So a failing `assert!` shows
    /// why without further code.
    ///
    /// ```
    /// let sandbox = sandbox::Sandbox::builder().start()?;
    /// sandbox.trigger("test_key", "payroll_run.paid")?;
    /// assert!(sandbox.report("test_key")?.contains(" payroll_run.paid prn_"));
    /// # Ok::<(), sandbox::SandboxError>(())
    /// ```
    ///
    /// # Errors
    /// If the key opens no world.
    pub fn report(&self, key: &str) -> Result<String, SandboxError> {
        let events = format!("/events?per_page={MOST_ROWS}&sort=-sequence");
        let mut events = rows(&self.control(key, "GET", &events, &Value::Null)?);
        events.reverse();
        let events = events.iter().map(|row| {
            let id = text(row.pointer("/data/object/id"));
            format!("{} {} {id}", text(row.get("timestamp")), text(row.get("type")))
        });
        let decisions = self.last(key, "/decisions")?;
        let decisions = decisions.iter().map(|row| {
            let of = |member: &str| text(row.get(member));
            let by = text(row.get("source").or_else(|| row.get("why")));
            format!("{} {}={} by {by} {}", of("at"), of("decision"), of("chosen"), of("subject_id"))
        });
        let refused = self.last(key, "/requests")?;
        let refused = refused.iter().filter(|row| row["status"].as_u64() >= Some(400)).map(|row| {
            ["method", "path", "status", "error"].map(|member| text(row.get(member))).join(" ")
        });
        let mut report = format!("world {key} of {}", self.url());
        section(&mut report, "last events", events);
        section(&mut report, "last decisions", decisions);
        section(&mut report, "refused calls", refused);
        let misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        let misses = misses.iter().filter(|(of, _)| of == key).map(|(_, miss)| miss.clone());
        section(&mut report, "near misses", misses);
        Ok(report)
    }

    /// The last rows of a list whose oldest row comes first.
    fn last(&self, key: &str, path: &str) -> Result<Vec<Value>, SandboxError> {
        let count = self.control(key, "GET", &format!("{path}?per_page=1"), &Value::Null)?;
        let page = count["meta"]["total"].as_u64().unwrap_or(0).div_ceil(MOST_ROWS).max(1);
        let path = format!("{path}?per_page={MOST_ROWS}&page={page}");
        Ok(rows(&self.control(key, "GET", &path, &Value::Null)?))
    }
}

/// A panic unwinds through the owner of the sandbox, so the output belongs to the test that fails.
impl Drop for Sandbox {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let keys = self.engine.keys();
        for key in keys.iter().take(MOST_WORLDS) {
            match self.report(key) {
                Ok(report) => eprintln!("\n{report}"),
                Err(lost) => eprintln!("\nno report of the world {key}: {lost}"),
            }
        }
        if keys.len() > MOST_WORLDS {
            eprintln!("\n{} further worlds are not reported", keys.len() - MOST_WORLDS);
        }
    }
}

fn rows(answer: &Value) -> Vec<Value> {
    answer["data"].as_array().cloned().unwrap_or_default()
}

fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn section(report: &mut String, title: &str, rows: impl Iterator<Item = String>) {
    let rows: String = rows.fold(String::new(), |mut text, row| {
        let _ = write!(text, "\n  {row}");
        text
    });
    let rows = if rows.is_empty() { " none" } else { &rows };
    let _ = write!(report, "\n{title}:{rows}");
}

//! The world that the exam forks, in this process or in a running sandbox. Everything goes through the control plane.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::cli::ask::{SandboxArgs, in_header};
use crate::cli::exam::args::{ExamArgs, Options};
use crate::cli::failure::Failure;
use crate::cli::scenario;
use crate::io::embed::Sandbox;

/// The key of the world in this process.
const KEY: &str = "exam";
/// A payroll of many people needs time.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Rows of each page.
const PAGE: usize = 100;
/// Requests that the request log of a run keeps.
const REQUESTS: usize = 100_000;

/// The world and the options.
pub(super) struct Lab {
    pub(super) options: Options,
    sandbox: SandboxArgs,
    /// Keeps the server of this process running.
    _server: Option<Sandbox>,
    /// The key of the world.
    key: String,
    /// The snapshot that every run starts from.
    base: String,
    forks: AtomicU64,
    /// Keeps the keys of two exams apart.
    mark: String,
    folder: PathBuf,
    pub(super) seed: Value,
    pub(super) version: Value,
}

/// A fork of the world.
pub(super) struct Fork<'a> {
    lab: &'a Lab,
    key: String,
    /// Its state at its start.
    base: String,
    pub(super) now: String,
    folder: PathBuf,
}

impl Lab {
    /// Starts a server in this process, or takes the running one.
    pub(super) fn open(args: &ExamArgs, options: &Options) -> Result<Self, Failure> {
        let (server, sandbox, key) = if let (Some(url), Some(key)) = (&args.url, &args.key) {
            let sandbox = SandboxArgs::of_url("--url", url, args.admin_token.clone())?;
            (None, sandbox, in_header("--key", key)?.to_owned())
        } else {
            let server = start(args)?;
            let sandbox = SandboxArgs::of_url("--url", server.url(), None)?;
            (Some(server), sandbox, KEY.to_owned())
        };
        let mark = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
        let mark = format!("{mark:x}_{:x}", std::process::id());
        let folder = std::env::temp_dir().join(format!("sandbox-exam-{mark}"));
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::Impossible(format!("cannot create {}: {error}", folder.display()))
        })?;
        let mut lab = Self {
            options: options.clone(),
            sandbox,
            _server: server,
            key,
            base: String::new(),
            forks: AtomicU64::new(0),
            mark,
            folder,
            seed: Value::Null,
            version: Value::Null,
        };
        let print = lab.control(&lab.key, "GET", "/_sandbox/fingerprint", &Value::Null)?;
        (lab.seed, lab.version) = (print["seed"].clone(), print["world_version"].clone());
        let taken =
            lab.control(&lab.key, "POST", "/_sandbox/snapshots", &json!({"name": "exam"}))?;
        lab.base = text(&taken["id"]);
        Ok(lab)
    }

    /// The URL for the command.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.sandbox.address())
    }

    /// A copy of the world under a key of its own.
    pub(super) fn fork(&self) -> Result<Fork<'_>, Failure> {
        let number = self.forks.fetch_add(1, Ordering::Relaxed) + 1;
        let key = format!("{}_exam_{}_{number}", self.key, self.mark);
        let path = format!("/_sandbox/snapshots/{}/fork", self.base);
        let made = self.control(&self.key, "POST", &path, &json!({"key": key, "answers": true}))?;
        let taken = self.control(&key, "POST", "/_sandbox/snapshots", &json!({}))?;
        let folder = self.folder.join(number.to_string());
        std::fs::create_dir_all(folder.join("own")).map_err(Failure::impossible)?;
        Ok(Fork { lab: self, key, base: text(&taken["id"]), now: text(&made["now"]), folder })
    }

    /// A call of the control plane, which must succeed. This is the only place that knows the envelope of its replies.
    fn control(&self, key: &str, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let mut answer = self.ask(key, method, path, body)?;
        let is_single = answer.get("data").is_some() && answer.get("meta").is_none();
        Ok(if is_single { answer["data"].take() } else { answer })
    }

    fn ask(&self, key: &str, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let head = format!("Authorization: Bearer {key}\r\n");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.sandbox.ask(PATIENCE, (method, path), &head, &body)?;
        let answer: Value = serde_json::from_slice(&reply.body).map_err(|_| {
            Failure::Impossible(format!("the answer is not from a sandbox: {:?}", reply.status))
        })?;
        if reply.status.split(' ').nth(1).is_some_and(|status| status.starts_with('2')) {
            return Ok(answer);
        }
        let why = answer["detail"].as_str().unwrap_or(&reply.status);
        Err(Failure::Impossible(format!("the sandbox refuses {method} {path}: {why}")))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // The process ends: what cannot be removed has no further effect.
        let path = format!("/_sandbox/snapshots/{}", self.base);
        let _ = self.control(&self.key, "DELETE", &path, &Value::Null);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Fork<'_> {
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// The folder of the app's own database.
    pub(super) fn folder(&self) -> PathBuf {
        self.folder.join("own")
    }

    /// What the command printed.
    pub(super) fn printed(&self) -> PathBuf {
        self.folder.join("printed.txt")
    }

    pub(super) fn call(&self, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        self.lab.control(&self.key, method, path, body)
    }

    /// All rows of a list.
    pub(super) fn rows(&self, path: &str) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        let mark = if path.contains('?') { '&' } else { '?' };
        for page in 1.. {
            let path = format!("{path}{mark}page={page}&per_page={PAGE}");
            let Value::Array(rows) =
                self.lab.ask(&self.key, "GET", &path, &Value::Null)?["data"].take()
            else {
                return Err(Failure::Impossible(format!("{path} answers without a list")));
            };
            let whole = rows.len() < PAGE;
            all.extend(rows);
            if whole {
                break;
            }
        }
        Ok(all)
    }

    /// Finishes what is in progress, so that money under way arrives.
    pub(super) fn idle(&self) -> Result<(), Failure> {
        let body = json!({"until": "idle", "events_limit": 0});
        self.call("POST", "/_sandbox/clock/advance", &body).map(drop)
    }

    /// The effects since the start of the fork.
    pub(super) fn effects(&self) -> Result<Value, Failure> {
        let path = format!("/_sandbox/diff?from={}&canonical=true&per_page=1", self.base);
        let mut found = self.lab.ask(&self.key, "GET", &path, &Value::Null)?;
        Ok(found["meta"]["canonical"].take())
    }

    /// Closes the world of the fork.
    pub(super) fn close(&self) -> Result<(), Failure> {
        let _ = std::fs::remove_dir_all(&self.folder); // the exam removes the rest at its end
        self.call("DELETE", "/_sandbox/world", &Value::Null).map(drop)
    }
}

/// A server in this process, with an instant clock, so that the app never waits for virtual time.
fn start(args: &ExamArgs) -> Result<Sandbox, Failure> {
    let mut builder = Sandbox::builder()
        .seed(args.world.seed)
        .shaped(args.world.shape()?)
        .most_requests(REQUESTS);
    for wanted in &args.scenario {
        builder = builder.started(Arc::new(scenario::find(wanted)?));
    }
    builder.start().map_err(Failure::impossible)
}

/// What the command printed last.
pub(super) fn last_lines(printed: &Path) -> String {
    const SHOWN: usize = 10;
    let text = std::fs::read(printed).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = String::new();
    for line in lines.iter().skip(lines.len().saturating_sub(SHOWN)) {
        let _ = writeln!(shown, "  | {line}");
    }
    shown
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

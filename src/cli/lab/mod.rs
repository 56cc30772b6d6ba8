//! A world for trials of a command: each run gets a fork of it. The world is in this process or in a running sandbox,
//! and is used only through the control plane.

mod args;
pub(in crate::cli) mod canon;
pub(in crate::cli) mod command;
mod opened;
pub(in crate::cli) mod words;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

pub(in crate::cli) use self::args::{LabArgs, word};

use crate::cli::ask::SandboxArgs;
use crate::cli::failure::Failure;
use crate::cli::lab::command::End;
use crate::cli::lab::opened::Opened;
use crate::cli::printable::printable;
use crate::io::embed::Sandbox;
use crate::world::script::{Scenario, WorldPart};
use crate::world::{ClockMode, Shape};

/// The key of the world in this process.
const KEY: &str = "lab";
/// A payroll of many people needs time.
const TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Rows of each page.
const PAGE: usize = 100;
/// The most characters of the world's key in the key of a fork.
const MOST_OF_KEY: usize = 200;
/// Requests that the request log of a run keeps.
const REQUESTS: usize = 100_000;

/// The site of the world.
#[derive(Clone)]
pub(in crate::cli) enum Site {
    /// Under a key of a running sandbox.
    Running { sandbox: SandboxArgs, key: String },
    /// In this process.
    Own(Growth),
}

/// The inputs from which a world in this process is generated.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Growth {
    pub(in crate::cli) seed: u64,
    pub(in crate::cli) shape: Shape,
    pub(in crate::cli) clock: ClockMode,
    pub(in crate::cli) scenarios: Vec<Arc<Scenario>>,
}

/// The world, and a snapshot that every run starts from.
pub(in crate::cli) struct Lab {
    sandbox: SandboxArgs,
    /// Keeps the server of this process running.
    _server: Option<Sandbox>,
    /// The key of the world.
    key: String,
    /// With the snapshot that every run starts from.
    opened: Arc<Opened>,
    forks: AtomicU64,
    /// Keeps the keys of two labs apart.
    mark: String,
    pub(in crate::cli) seed: Value,
    pub(in crate::cli) version: Value,
}

/// A fork of the world.
pub(in crate::cli) struct Fork<'a> {
    lab: &'a Lab,
    key: String,
    /// Its state at its start.
    base: String,
    pub(in crate::cli) now: String,
    folder: PathBuf,
}

impl Lab {
    /// Starts a server in this process, or takes the running one.
    pub(in crate::cli) fn open(site: &Site) -> Result<Self, Failure> {
        let mut running = None;
        let (server, sandbox, key) = match site {
            Site::Running { sandbox, key } => {
                running = Some((sandbox.clone(), key.clone()));
                (None, sandbox.clone(), key.clone())
            }
            Site::Own(growth) => {
                let server = growth.start()?;
                let sandbox = SandboxArgs::of_url("--url", server.url(), None)?;
                (Some(server), sandbox, KEY.to_owned())
            }
        };
        let mark = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros());
        let mark = format!("{mark:x}_{:x}", std::process::id());
        let folder = std::env::temp_dir().join(format!("sandbox-lab-{mark}"));
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::Impossible(format!("cannot create {}: {error}", folder.display()))
        })?;
        let mut lab = Self {
            sandbox,
            _server: server,
            key,
            opened: Opened::new(running, folder),
            forks: AtomicU64::new(0),
            mark,
            seed: Value::Null,
            version: Value::Null,
        };
        let print = lab.control(&lab.key, "GET", "/_sandbox/fingerprint", &Value::Null)?;
        (lab.seed, lab.version) = (print["seed"].clone(), print["world_version"].clone());
        let taken =
            lab.control(&lab.key, "POST", "/_sandbox/snapshots", &json!({"name": "lab"}))?;
        let _ = lab.opened.snapshot.set(text(&taken["id"]));
        Ok(lab)
    }

    fn url(&self) -> String {
        format!("http://{}", self.sandbox.address())
    }

    /// A copy of the world under a key of its own.
    pub(in crate::cli) fn fork(&self) -> Result<Fork<'_>, Failure> {
        let number = self.forks.fetch_add(1, Ordering::Relaxed) + 1;
        // The key is visible ASCII, so every byte is a character. A fork of a key space has its prefix.
        let begin = &self.key[..self.key.len().min(MOST_OF_KEY)];
        let key = format!("{begin}_lab_{}_{number}", self.mark);
        self.opened.forks().insert(key.clone());
        let base = self.opened.snapshot.get().map_or("", String::as_str);
        let path = format!("/_sandbox/snapshots/{base}/fork");
        let made = self.control(&self.key, "POST", &path, &json!({"key": key, "answers": true}))?;
        let taken = self.control(&key, "POST", "/_sandbox/snapshots", &json!({}))?;
        let folder = self.opened.folder.join(number.to_string());
        std::fs::create_dir_all(folder.join("own")).map_err(Failure::impossible)?;
        Ok(Fork { lab: self, key, base: text(&taken["id"]), now: text(&made["now"]), folder })
    }

    /// A call of the control plane, which must succeed. Only this function reads the envelope of replies.
    fn control(&self, key: &str, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let mut answer = self.ask(key, method, path, body)?;
        let is_single = answer.get("data").is_some() && answer.get("meta").is_none();
        Ok(if is_single { answer["data"].take() } else { answer })
    }

    fn ask(&self, key: &str, method: &str, path: &str, body: &Value) -> Result<Value, Failure> {
        let head = format!("Authorization: Bearer {key}\r\n");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let _request = opened::begin_request();
        let reply = self.sandbox.ask(TIMEOUT, (method, path), &head, &body)?;
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

/// Ends the running commands, and removes what the lab has opened, when this process is told to end.
pub(in crate::cli) fn end_with_us() {
    command::end_with_us(opened::remove_before_exit);
}

impl Fork<'_> {
    fn printed(&self) -> PathBuf {
        self.folder.join("printed.txt")
    }

    pub(in crate::cli) fn call(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<Value, Failure> {
        self.lab.control(&self.key, method, path, body)
    }

    /// All rows of a list.
    pub(in crate::cli) fn rows(&self, path: &str) -> Result<Vec<Value>, Failure> {
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

    /// Runs a command with this fork as its sandbox, and keeps its output.
    pub(in crate::cli) fn run(
        &self,
        command: &[String],
        more: &[(&'static str, String)],
        limit: Duration,
    ) -> Result<End, Failure> {
        let mut environment = vec![
            ("SANDBOX_URL", self.lab.url()),
            ("SANDBOX_KEY", self.key.clone()),
            ("SANDBOX_NOW", self.now.clone()),
            ("SANDBOX_EXAM_DIR", self.folder.join("own").display().to_string()),
        ];
        environment.extend_from_slice(more);
        command::run(command, &environment, limit, &self.printed())
            .map_err(|error| Failure::Usage(format!("cannot run {}: {error}", command.join(" "))))
    }

    /// Advances until idle, so that money in transit arrives.
    pub(in crate::cli) fn idle(&self) -> Result<(), Failure> {
        let body = json!({"until": "idle", "events_limit": 0});
        self.call("POST", "/_sandbox/clock/advance", &body).map(drop)
    }

    /// Sends its requests to the steps of a scenario.
    pub(in crate::cli) fn address(&self) -> (String, &str) {
        (self.lab.sandbox.address(), &self.key)
    }

    /// The effects since the start of the fork.
    pub(in crate::cli) fn effects(&self) -> Result<Value, Failure> {
        let path = format!("/_sandbox/diff?from={}&canonical=true&per_page=1", self.base);
        let mut found = self.lab.ask(&self.key, "GET", &path, &Value::Null)?;
        Ok(found["meta"]["canonical"].take())
    }

    /// The last lines that its commands printed.
    pub(in crate::cli) fn last_lines(&self) -> String {
        last_lines(&self.printed())
    }

    /// Asserts that the ledger check passes.
    pub(in crate::cli) fn check_books(&self) -> Result<(), Failure> {
        let checked = self.call("GET", "/_sandbox/ledger/check", &Value::Null)?;
        if checked["ok"] == true {
            return Ok(());
        }
        let why =
            format!("a bug of the sandbox: the ledger check has findings: {}", checked["findings"]);
        Err(Failure::Impossible(why))
    }

    /// Closes the world of the fork.
    pub(in crate::cli) fn close(&self) -> Result<(), Failure> {
        let _ = std::fs::remove_dir_all(&self.folder); // the lab removes the rest at its end
        self.call("DELETE", "/_sandbox/world", &Value::Null)?;
        self.lab.opened.forks().remove(&self.key);
        Ok(())
    }
}

impl Growth {
    /// Adds a scenario. Its `[world]` overrides the flags.
    pub(in crate::cli) fn add(&mut self, scenario: Arc<Scenario>) -> Result<(), Failure> {
        self.take_world(&scenario.world)?;
        self.scenarios.push(scenario);
        Ok(())
    }

    /// Applies a `[world]`.
    pub(in crate::cli) fn take_world(&mut self, world: &WorldPart) -> Result<(), Failure> {
        self.seed = world.seed.unwrap_or(self.seed);
        self.clock = world.clock.unwrap_or(self.clock);
        self.shape = world.shape(self.shape.clone());
        self.shape.check().map_err(Failure::Usage)
    }

    fn start(&self) -> Result<Sandbox, Failure> {
        let mut builder = Sandbox::builder()
            .seed(self.seed)
            .shaped(self.shape.clone())
            .clock(self.clock)
            .most_requests(REQUESTS);
        for scenario in &self.scenarios {
            builder = builder.started(Arc::clone(scenario));
        }
        builder.start().map_err(Failure::impossible)
    }
}

/// The output of a command, for the end of a message.
pub(in crate::cli) fn said(printed: &str) -> String {
    if printed.trim().is_empty() {
        "; it printed nothing".to_owned()
    } else {
        format!("; it printed\n{printed}")
    }
}

/// The last lines of a file, cut, and without what controls a terminal.
fn last_lines(printed: &Path) -> String {
    const SHOWN: usize = 10;
    const MOST_LETTERS: usize = 200;
    let text = std::fs::read(printed).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let mut shown = String::new();
    for line in lines.iter().skip(lines.len().saturating_sub(SHOWN)) {
        let (line, more) = match line.char_indices().nth(MOST_LETTERS) {
            Some((end, _)) => (&line[..end], " …"),
            None => (*line, ""),
        };
        let _ = writeln!(shown, "  | {}{more}", printable(&line.replace('\t', "    ")));
    }
    shown
}

pub(in crate::cli) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

//! One run of the command in a fork: its environment, its faults, and the resulting state.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::cli::exam::args::Exam;
use crate::cli::failure::Failure;
use crate::cli::lab::canon::Canon;
use crate::cli::lab::command::End;
use crate::cli::lab::{Fork, text};

/// The conditions of a run.
#[derive(Default)]
pub(super) struct Trial {
    /// Rows for `POST /_sandbox/faults`.
    pub(super) faults: Vec<Value>,
    /// Rules that change deliveries.
    pub(super) shapes: Vec<Value>,
    /// Whether deliveries may overtake each other.
    pub(super) unordered: bool,
    pub(super) again: Again,
}

/// Whether the command is started a second time, in the same fork and without faults.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Again {
    #[default]
    Never,
    IfNotDone,
    Always,
}

/// The results of a run.
pub(super) struct Ran {
    pub(super) end: End,
    /// The requests of the first run.
    pub(super) calls: Vec<Call>,
    pub(super) canon: Canon,
    pub(super) deliveries: Vec<Value>,
    /// The resource of each event, by its position in the log.
    resources: BTreeMap<u64, String>,
    /// The end of the second run, and the state after it.
    pub(super) again: Option<(End, Canon)>,
    /// The last lines that the command printed.
    pub(super) printed: String,
}

/// A request of the app.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) operation: Option<String>,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) status: Option<u64>,
    pub(super) key: Option<String>,
    pub(super) is_replay: bool,
    /// The fault in the format of the `Sandbox-Fault` header.
    pub(super) fault: Option<String>,
    pub(super) body: Value,
    pub(super) resource: Option<String>,
    /// Wall-clock time of its arrival and of its reply, in milliseconds.
    pub(super) arrived_ms: u64,
    pub(super) replied_ms: u64,
    pub(super) client_left: bool,
}

impl Call {
    fn of(row: &Value) -> Self {
        let text = |name: &str| row[name].as_str().map(str::to_owned);
        let wall = &row["wall"];
        let arrived_ms = wall["arrived_ms"].as_u64().unwrap_or(0);
        Self {
            operation: text("operation"),
            method: text("method").unwrap_or_default(),
            path: text("path").unwrap_or_default(),
            status: row["status"].as_u64(),
            key: text("idempotency_key"),
            is_replay: row["idempotency"] == "replayed",
            fault: row["fault"]["does"].as_str().map(str::to_owned),
            body: row["body"].clone(),
            resource: text("resource_id"),
            arrived_ms,
            replied_ms: wall["replied_ms"].as_u64().unwrap_or(arrived_ms),
            client_left: wall["client_left"] == true,
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.method == "GET"
    }

    /// Whether its resource can be new: a POST to a path without the resource.
    pub(super) fn creates(&self) -> bool {
        let resource = self.resource.as_deref().unwrap_or_default();
        self.method == "POST" && !self.path.split('/').any(|part| part == resource)
    }

    /// Whether it changed something for the first time.
    pub(super) fn is_commit(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status)) && !self.is_replay
    }
}

impl Ran {
    /// The resource that a delivery is about.
    pub(super) fn resource(&self, delivery: &Value) -> Option<&str> {
        self.resources.get(&delivery["sequence"].as_u64()?).map(String::as_str)
    }
}

/// The command's receiver of webhooks.
struct Hook {
    port: u16,
    secret: String,
    endpoint: String,
}

/// Runs the command in a new fork.
pub(super) fn run(exam: &Exam, trial: &Trial) -> Result<Ran, Failure> {
    let fork = exam.lab.fork()?;
    let hook = exam.options.webhook.as_deref();
    let hook = hook.map(|url| Hook::open(&fork, url, !trial.unordered)).transpose()?;
    for row in &trial.faults {
        fork.call("POST", "/_sandbox/faults", row)?;
    }
    for rule in &trial.shapes {
        fork.call("POST", "/_sandbox/rules", rule)?;
    }
    let end = once(exam, &fork, hook.as_ref())?;
    let canon = after(&fork, hook.as_ref())?;
    let calls = fork.rows("/_sandbox/requests?wall=true")?.iter().map(Call::of).collect();
    let deliveries = match &hook {
        Some(hook) => {
            fork.rows(&format!("/_sandbox/webhook-endpoints/{}/deliveries", hook.endpoint))?
        }
        None => Vec::new(),
    };
    let resources = resources(&fork, &deliveries)?;
    let again = match trial.again {
        Again::Always => true,
        Again::IfNotDone => !matches!(end, End::Code(0) | End::TimedOut),
        Again::Never => false,
    };
    let again = again.then(|| second(exam, &fork, hook.as_ref())).transpose()?;
    let printed = fork.last_lines();
    fork.close()?;
    Ok(Ran { end, calls, canon, deliveries, resources, again, printed })
}

/// The resource of each event that was delivered.
fn resources(fork: &Fork<'_>, deliveries: &[Value]) -> Result<BTreeMap<u64, String>, Failure> {
    let Some(first) = deliveries.iter().filter_map(|row| row["sequence"].as_u64()).min() else {
        return Ok(BTreeMap::new());
    };
    let events = fork.rows(&format!("/_sandbox/events?after={}", first - 1))?;
    let resource =
        |event: &Value| Some((event["sequence"].as_u64()?, text(&event["data"]["object"]["id"])));
    Ok(events.iter().filter_map(resource).collect())
}

/// The command a second time, without faults.
fn second(exam: &Exam, fork: &Fork<'_>, hook: Option<&Hook>) -> Result<(End, Canon), Failure> {
    fork.call("DELETE", "/_sandbox/faults", &Value::Null)?;
    fork.call("DELETE", "/_sandbox/rules", &Value::Null)?;
    if let Some(hook) = hook {
        hook.enable(fork, true)?;
    }
    let end = once(exam, fork, hook)?;
    Ok((end, after(fork, hook)?))
}

/// The state after the command has ended and money under way has arrived.
fn after(fork: &Fork<'_>, hook: Option<&Hook>) -> Result<Canon, Failure> {
    if let Some(hook) = hook {
        hook.enable(fork, false)?; // no receiver listens any more
    }
    fork.idle()?;
    fork.check_books()?;
    Ok(Canon::of(&fork.effects()?))
}

fn once(exam: &Exam, fork: &Fork<'_>, hook: Option<&Hook>) -> Result<End, Failure> {
    let mut more = Vec::new();
    if let Some(hook) = hook {
        more.push(("SANDBOX_WEBHOOK_PORT", hook.port.to_string()));
        more.push(("SANDBOX_WEBHOOK_SECRET", hook.secret.clone()));
    }
    fork.run(&exam.options.command, &more, exam.options.timeout)
}

impl Hook {
    /// An endpoint for this run, with a free port if the URL leaves it open.
    fn open(fork: &Fork<'_>, url: &str, ordered: bool) -> Result<Self, Failure> {
        let port = if url.contains("{port}") { free_port()? } else { port_of(url) };
        let url = url.replace("{port}", &port.to_string());
        let body = json!({"url": url, "ordered": ordered, "description": "exam"});
        let made = fork.call("POST", "/_sandbox/webhook-endpoints", &body)?;
        let (secret, endpoint) = (text(&made["secret"]), text(&made["endpoint"]["id"]));
        Ok(Self { port, secret, endpoint })
    }

    fn enable(&self, fork: &Fork<'_>, enabled: bool) -> Result<(), Failure> {
        let status = if enabled { "enabled" } else { "disabled" };
        let path = format!("/_sandbox/webhook-endpoints/{}", self.endpoint);
        fork.call("PATCH", &path, &json!({"status": status})).map(drop)
    }
}

/// A free port below the range for outgoing connections, because a port of that range could be used before the
/// command listens on it. Each call searches from the last port, and each process starts at another port.
fn free_port() -> Result<u16, Failure> {
    static TAKEN: AtomicU32 = AtomicU32::new(0);
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    let begin = std::process::id().wrapping_mul(101);
    (0..COUNT)
        .map(|_| begin.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed)) % COUNT + FIRST)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .ok_or_else(|| Failure::impossible("no port from 20000 to 31999 is free for the receiver"))
}

/// The port of a URL without a placeholder.
fn port_of(url: &str) -> u16 {
    let rest = url.trim_start_matches("http://");
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80)
}

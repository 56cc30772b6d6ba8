//! Logging to standard error: one line for each request at `debug`, and messages for the operator above it.
//!
//! A line never contains a query, a header's value or a body. If the level is off, a request costs one load.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use http::request::Parts;
use http::{Method, Response};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::engine::WorldTag;
use crate::engine::contract::LoggedId;
#[cfg(feature = "otel")]
use crate::io::telemetry;
use crate::value::diagnostic::nearest;

/// The target of the request lines, for filters.
const REQUESTS: &str = "sandbox::request";

/// The parts after `sandbox::` of the targets that log.
const LAYERS: [&str; 4] = ["request", "engine", "io", "cli"];
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The form of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// One JSON object on each line.
    Json,
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "human" => Ok(Self::Human),
            "json" => Ok(Self::Json),
            other => Err(format!("`{other}` is not a log format: use human or json")),
        }
    }
}

/// Resources of logging that end with the server: spans are sent until it is dropped.
#[derive(Debug)]
pub(crate) struct Logging {
    #[cfg(feature = "otel")]
    _telemetry: telemetry::Telemetry,
}

/// Starts logging for the whole process. `filter` is in the syntax of `tracing` (`debug`,
/// `sandbox::request=debug`); without it warnings are shown.
pub(crate) fn init(format: Format, filter: Option<&str>) -> Result<Logging, String> {
    let given = filter.unwrap_or_default().trim().trim_end_matches(',');
    let filter: Targets = if given.is_empty() { "warn" } else { given }
        .parse()
        .map_err(|error| format!("the log filter is wrong: {error}"))?;
    filter.iter().try_for_each(|(target, _)| check_target(target))?;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        Format::Human => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init()
        .map_err(|error| format!("logging cannot start: {error}"))?;
    Ok(Logging {
        #[cfg(feature = "otel")]
        _telemetry: telemetry::start()?,
    })
}

/// Refuses a target that never logs. `tracing` takes each word that is no level as one, and then shows no warnings.
fn check_target(target: &str) -> Result<(), String> {
    let is_layer = |rest: &str| {
        LAYERS.contains(&rest.split_once("::").map_or(rest, |(layer, _)| layer))
            && !rest.starts_with("request::")
    };
    if target == "sandbox" || target.strip_prefix("sandbox::").is_some_and(is_layer) {
        return Ok(());
    }
    let expected = nearest(target, LEVELS.into_iter().chain([REQUESTS])).map_or_else(
        || format!("expected a level ({}) or {REQUESTS}=debug", LEVELS.join(", ")),
        |near| format!("did you mean {near}?"),
    );
    Err(format!("--log-filter: {target:?} logs nothing; {expected}"))
}

/// A request that is being answered, for the metrics and its log line.
#[derive(Debug)]
pub(crate) struct AccessLogLine {
    started: Instant,
    /// The place of its operation.
    pub(crate) place: Option<usize>,
    /// Its world.
    pub(crate) world: Option<WorldTag>,
    /// None if the level is off.
    method: Option<Method>,
}

impl AccessLogLine {
    /// Stores the method and the time.
    pub(crate) fn start(head: &Parts) -> Self {
        let is_shown = tracing::enabled!(target: REQUESTS, tracing::Level::DEBUG);
        let method = is_shown.then(|| head.method.clone());
        Self { started: Instant::now(), place: None, world: None, method }
    }

    /// The time from that instant until the head of the request arrived.
    pub(crate) fn since(&self, instant: Instant) -> Duration {
        self.started.duration_since(instant)
    }

    /// The time since the head of the request arrived.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Writes the line.
    pub(crate) fn end<B>(self, head: &Parts, response: &Response<B>) {
        if let Some(method) = self.method {
            write(self.started, &method, self.world, head, response);
        }
    }
}

/// The most characters of a path in the log.
const MOST_SHOWN: usize = 256;

/// A path for the log: bounded, and without bytes that a terminal or a reader of lines interprets.
pub(crate) fn shown_path(head: &Parts) -> String {
    let path = head.uri.path().as_bytes();
    let cut = &path[..path.len().min(MOST_SHOWN)];
    let end = if cut.len() < path.len() { "…" } else { "" };
    format!("{}{end}", cut.escape_ascii())
}

#[cold]
fn write<B>(
    started: Instant,
    method: &Method,
    world: Option<WorldTag>,
    head: &Parts,
    response: &Response<B>,
) {
    let request_id = response
        .headers()
        .get("request-id")
        .or_else(|| response.extensions().get().map(|LoggedId(id)| id))
        .and_then(|id| id.to_str().ok());
    let world = world.or_else(|| response.extensions().get().copied());
    let world = world.map(|WorldTag(tag)| format!("{tag:08x}"));
    tracing::debug!(
        target: REQUESTS,
        %method,
        path = shown_path(head),
        status = response.status().as_u16(),
        us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        request_id,
        world,
        "request"
    );
}

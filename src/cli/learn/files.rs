//! Reads files of each kind as calls.

use std::io::Read as _;
use std::path::Path;

use http::Uri;
use serde_json::Value;

use crate::api::json::quoted;
use crate::cli::failure::Failure;
use crate::cli::learn::call::Call;
use crate::cli::learn::{document, har};
use crate::cli::replay;
use crate::engine::recording::Entry;
use crate::io::input_file;

/// The largest allowed file.
const MOST_BYTES: u64 = 256 << 20;

/// The content of a file.
pub(super) enum Shown {
    /// Calls of the service, and the number of entries that are no calls.
    Service(Vec<Call>, usize),
    /// Calls of a sandbox.
    Own(Vec<Call>),
}

/// The calls of a file.
pub(super) fn calls(path: &Path) -> Result<Shown, Failure> {
    let name = path.display().to_string();
    let cannot = |why: String| Failure::Impossible(format!("cannot read {name}: {why}"));
    let mut bytes = Vec::new();
    let opened = input_file::open(path).map_err(cannot)?;
    opened
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| cannot(error.to_string()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(cannot(format!("it is larger than {} MiB", MOST_BYTES >> 20)));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3); // a byte order mark
    }
    let shown = path.file_name().map_or_else(|| name.clone(), |it| it.display().to_string());
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head: Option<Value> = serde_json::from_slice(first).ok();
    let is_text = core::str::from_utf8(&bytes).is_ok();
    if !is_text || head.is_some_and(|it| !it["recording"].is_null() || !it["bundle"].is_null()) {
        return recorded(path, &shown).map(Shown::Own);
    }
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let yaml = bytes.starts_with(b"openapi:") || bytes.starts_with(b"swagger:");
        let help = if yaml { "it is YAML: convert it to JSON first; " } else { "" };
        let (line, column) = (error.line(), error.column());
        Failure::Report(format!("error: {name}:{line}:{column}: {help}not JSON: {error}\n"))
    })?;
    let wrong = |why: String| Failure::Report(format!("error: {name}:1:1: {why}\n"));
    if value["log"].is_object() {
        let read = har::calls(&shown, &value["log"]).map_err(wrong);
        return read.map(|(calls, left_out)| Shown::Service(calls, left_out));
    }
    if !value["openapi"].is_null() {
        let read = document::calls(&shown, &value).map_err(wrong);
        return read.map(|calls| Shown::Service(calls, 0));
    }
    let what = if value["swagger"].is_null() {
        "expected a HAR (`log`), an OpenAPI document (`openapi`), or a recording".to_owned()
    } else {
        format!("it is Swagger {}, and must be OpenAPI 3.0 or 3.1", value["swagger"])
    };
    Err(wrong(what))
}

/// The inputs of a recording. A sandbox answered them, so they only show what an application uses.
fn recorded(path: &Path, shown: &str) -> Result<Vec<Call>, Failure> {
    let recording = replay::read(path)?;
    let mut calls = Vec::new();
    for placed in recording.entries {
        let Entry::Input(input) = placed.entry else { continue };
        let at = format!("{shown}, input {}", input.seq);
        let target: Uri = input.path.parse().map_err(|error| {
            let what = format!("{at}: {} is no path: {error}", quoted(&input.path));
            Failure::Impossible(what)
        })?;
        let mut call = Call::new(at, &input.method, target.path(), input.reply.status);
        let headers = input.headers.into_keys().map(|name| (name.clone(), (name, String::new())));
        call.sent = Some(headers.collect());
        calls.push(call);
    }
    Ok(calls)
}

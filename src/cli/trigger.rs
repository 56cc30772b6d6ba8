//! `sandbox trigger`: makes an event happen in a running sandbox.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::api::system;
use crate::cli::ask::WorldOfKeyArgs;
use crate::cli::failure::Failure;
use crate::cli::offered::Offered;

/// The payroll of a large company needs time.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments of `sandbox trigger`.
#[derive(Args, Debug)]
pub(super) struct TriggerArgs {
    /// The event type: `payout.returned`
    #[arg(value_name = "TYPE", required_unless_present = "list", value_parser = Offered::EVENTS, hide_possible_values = true)]
    event: Option<String>,
    /// Print the event types that can be triggered
    #[arg(long, conflicts_with_all = ["event", "set"])]
    list: bool,
    /// Print JSON: the event and all events that led to it; with --list, the types
    #[arg(long)]
    json: bool,
    /// Replace a member of the call that causes the event: `company_id=com_…`, `payroll_settings.pay_day=28`; repeatable
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    world: WorldOfKeyArgs,
}

/// Triggers the event, and prints what happened.
pub(super) fn run(args: &TriggerArgs) -> Result<(), Failure> {
    let Some(event) = &args.event else {
        let types = system::event_types();
        let types = if args.json { json!(types).to_string() } else { types.join("\n") };
        return writeln!(io::stdout().lock(), "{types}")
            .or_else(|error| Failure::of_output(&error));
    };
    let mut own = Map::new();
    for set in &args.set {
        let (path, value) = set
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--set {set:?}: expected PATH=VALUE")))?;
        put(&mut own, path, value)
            .map_err(|why| Failure::Usage(format!("--set {set:?}: {why}")))?;
    }
    let body = json!({"type": event, "override": own}).to_string();
    let head = args.world.authorization()?;
    let sandbox = &args.world.sandbox;
    let reply = sandbox.ask(TIMEOUT, ("POST", "/_sandbox/trigger"), &head, &body)?;
    let mut answer: Value = serde_json::from_slice(&reply.body).map_err(|_| {
        Failure::Impossible(format!("the answer is not from a sandbox: {:?}", reply.status))
    })?;
    if !reply.status.contains(" 200 ") {
        return Err(Failure::Impossible(refusal(event, &answer, &reply.status)));
    }
    let answer = answer["data"].take();
    let mut out = io::stdout().lock();
    let printed = if args.json {
        serde_json::to_writer_pretty(&mut out, &answer)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out))
    } else {
        let text = summary(event, &answer) + &waiting(reply.waiting.as_deref());
        out.write_all(text.as_bytes())
    };
    printed.or_else(|error| Failure::of_output(&error))
}

/// A refusal in the words of the command line.
fn refusal(event: &str, answer: &Value, status: &str) -> String {
    let detail = answer["detail"].as_str().unwrap_or(status);
    let why = &answer["errors"][0];
    let is_unknown = why["pointer"] == "/type" && why["code"] == "unknown_event";
    match detail.split_once("did you mean ") {
        Some((_, near)) if is_unknown => {
            format!("no event has the type {event:?}: did you mean {}?", near.trim_end_matches('?'))
        }
        _ if is_unknown => {
            format!("no event has the type {event:?}: list the types with sandbox trigger --list")
        }
        _ => detail.to_owned(),
    }
}

/// Five lines: the event, its time, its subject, the earlier events, and a command for more details.
fn summary(event: &str, answer: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let (happened, object) = (&answer["event"], &answer["event"]["data"]["object"]);
    let state = object["status"].as_str().map(|status| format!(", {status}")).unwrap_or_default();
    let mut before: Vec<&str> = Vec::new();
    for earlier in answer["events"].as_array().into_iter().flatten() {
        let kind = earlier["type"].as_str().unwrap_or_default();
        if earlier["id"] == happened["id"] {
            break;
        }
        if !before.contains(&kind) {
            before.push(kind);
        }
    }
    let before = match before.as_slice() {
        [] => "nothing".to_owned(),
        [.., last] if before.len() > MOST_SHOWN => {
            let first = before[..MOST_SHOWN - 1].join(", ");
            format!("{first}, {} more types, {last}", before.len() - MOST_SHOWN)
        }
        kinds => kinds.join(", "),
    };
    format!(
        "{event}  {id}\n  at       {at}\n  subject  {kind} {subject}{state}\n  before   {before}\n  more     \
         GET /_sandbox/events/{id}, or sandbox trigger {event} --json\n",
        id = text(&happened["id"]),
        at = text(&happened["timestamp"]),
        kind = text(&object["object"]),
        subject = text(&object["id"]),
    )
}

/// A line about tasks that wait for a manual clock; empty without such tasks.
fn waiting(header: Option<&str>) -> String {
    let Some(header) = header else { return String::new() };
    let part =
        |name: &str| header.split(';').find_map(|part| part.strip_prefix(name)).unwrap_or("-");
    let (count, next, task) = (part("count="), part("next="), part("task="));
    format!("  waiting  {count} for the clock, which is manual: the next is {task} at {next}\n")
}

/// The most event types that the summary names.
const MOST_SHOWN: usize = 6;

/// Puts a value at a path with dots. A value that is valid JSON is JSON; any other value is text.
fn put(members: &mut Map<String, Value>, path: &str, value: &str) -> Result<(), String> {
    let (first, rest) =
        path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    if first.is_empty() {
        return Err("a part of the path is empty".to_owned());
    }
    let Some(rest) = rest else {
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        members.insert(first.to_owned(), value);
        return Ok(());
    };
    let inner = members.entry(first).or_insert_with(|| Value::Object(Map::new()));
    match inner {
        Value::Object(inner) => put(inner, rest, value),
        _ => Err(format!("{first} is already set to a value without members")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_dots_become_members_of_members() {
        let mut members = Map::new();
        for (path, value) in [("a.b", "28"), ("a.c", "text"), ("d", "[1]"), ("e", "\"7\"")] {
            put(&mut members, path, value).expect("a path");
        }
        let expected = json!({"a": {"b": 28, "c": "text"}, "d": [1], "e": "7"});
        assert_eq!(Value::Object(members.clone()), expected);
        assert!(put(&mut members, "d.x", "1").is_err());
        assert!(put(&mut members, ".x", "1").is_err());
    }
}

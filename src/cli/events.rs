//! `sandbox events`: what happened in a running sandbox, and what happens now.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use clap::Args;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::cli::ask::WorldOfKeyArgs;
use crate::cli::failure::Failure;
use crate::cli::offered::Offered;

/// A stream sends a comment after fifteen seconds without news.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time before a stream that ended is opened again: its world left memory, or the server stops.
const BEFORE_AGAIN: Duration = Duration::from_secs(1);

/// The arguments of `sandbox events`.
#[derive(Args, Debug)]
pub(super) struct EventsArgs {
    /// Wait for further events, until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Only events of this type: `payout.returned`, `payroll_run.*`
    #[arg(long = "type", value_name = "TYPE", value_parser = Offered::EVENTS, hide_possible_values = true)]
    event: Option<String>,
    /// Print only events after this position in the log [default: all events, or with --follow only
    /// new events]
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    /// Print each event as a line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    world: WorldOfKeyArgs,
}

/// The position up to which the log was read.
#[derive(Default)]
struct Place {
    /// The position after which the stream is opened again; none for the end of the log.
    after: Option<u64>,
    /// The last event that came.
    last: Option<Value>,
    /// Whether the log contained the position of `--after`.
    is_found: bool,
}

impl Place {
    /// The log is another one, which is read from its start.
    fn rewind(&mut self) {
        (self.after, self.last) = (Some(0), None);
    }
}

/// Prints the events.
pub(super) fn run(args: &EventsArgs) -> Result<(), Failure> {
    let first = args.after.or((!args.follow).then_some(0));
    let mut place = Place { after: first, ..Place::default() };
    let mut stream = args.open(place.after)?;
    loop {
        match stream.frame().map_err(|error| args.world.sandbox.unanswered(&error))? {
            Frame::Event(event) => {
                place.after = event["sequence"].as_u64();
                place.is_found = true;
                if let Err(error) = print(&event, args.json) {
                    return Failure::of_output(&error);
                }
                place.last = Some(event);
            }
            // The stream sends the clock after the events, so the log was read to its end.
            Frame::Clock(clock) => {
                let end = clock["sequence"].as_u64();
                if !args.follow && end.is_some() {
                    return Ok(());
                }
                place.after = end.or(place.after);
                place.is_found = true;
                // Without the event of this position, a new log of the same length looks like the old one.
                if place.last.is_none() {
                    place.last = args.event_at(end.unwrap_or_default())?;
                }
            }
            Frame::Other => {}
            Frame::Lost(lost) => {
                let count = lost["count"].as_u64().unwrap_or_default();
                // If stderr is closed, the message is lost.
                let _ = writeln!(io::stderr(), "{count} older events are no longer in the log");
            }
            Frame::Reset if place.is_found => {
                let _ = writeln!(io::stderr(), "{REPLACED}");
                place.rewind();
                stream = args.open(place.after)?;
            }
            Frame::Reset => {
                let what =
                    "the log ends before the position of --after, or the world was replaced since";
                let _ = writeln!(io::stderr(), "{what}");
            }
            Frame::End => {
                args.wait_for_server();
                if !args.has(place.last.as_ref())? {
                    let _ = writeln!(io::stderr(), "{REPLACED}");
                    place.rewind();
                }
                stream = args.open(place.after)?;
            }
        }
    }
}

/// The message about another log.
const REPLACED: &str =
    "the world was reset, restored or replaced: its events follow from the first one";

impl EventsArgs {
    /// Waits until the stream can be opened again. With --follow, also while the server restarts.
    fn wait_for_server(&self) {
        std::thread::sleep(BEFORE_AGAIN);
        let is_served = || self.world.sandbox.connect(TIMEOUT).is_ok();
        if !self.follow || is_served() {
            return;
        }
        let _ = writeln!(io::stderr(), "the sandbox does not answer: waiting for it");
        while !is_served() {
            std::thread::sleep(BEFORE_AGAIN);
        }
    }

    /// The event at a position, if the log has it.
    fn event_at(&self, position: u64) -> Result<Option<Value>, Failure> {
        let Some(before) = position.checked_sub(1) else { return Ok(None) };
        let path = format!("/_sandbox/events?after={before}&per_page=1");
        let head = self.world.authorization()?;
        let reply = self.world.sandbox.ask(TIMEOUT, ("GET", &path), &head, "")?;
        let mut found: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        Ok(found.pointer_mut("/data/0").map(Value::take))
    }

    /// Whether the log still has that event; true without an event.
    fn has(&self, event: Option<&Value>) -> Result<bool, Failure> {
        let Some(event) = event else { return Ok(true) };
        let path = format!("/_sandbox/events/{}", event["id"].as_str().unwrap_or_default());
        let head = self.world.authorization()?;
        let reply = self.world.sandbox.ask(TIMEOUT, ("GET", &path), &head, "")?;
        if !reply.status.contains(" 200 ") {
            // Another refusal does not show that the event is missing.
            return Ok(!reply.status.contains(" 404 "));
        }
        let found: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let is_same = |name: &str| found["data"]["event"][name] == event[name];
        Ok(["sequence", "timestamp", "type", "data"].into_iter().all(is_same))
    }

    /// Opens the stream. HTTP/1.0 has no chunks: the body is all data until the server closes.
    fn open(&self, after: Option<u64>) -> Result<Stream, Failure> {
        let sandbox = &self.world.sandbox;
        let failed = |error: io::Error| sandbox.unanswered(&error);
        let (token, key) = (sandbox.token()?, self.world.authorization()?);
        let mut socket = sandbox.connect(TIMEOUT).map_err(failed)?;
        let mut query = String::from("?kinds=event,clock");
        if let Some(after) = after {
            query.extend(["&after=", &after.to_string()]);
        }
        if let Some(event) = &self.event {
            query.push_str("&type=");
            query.extend(utf8_percent_encode(event, NON_ALPHANUMERIC));
        }
        let path = sandbox.path("/_sandbox/events/stream");
        let head = format!("GET {path}{query} HTTP/1.0\r\nHost: localhost\r\n{key}{token}\r\n");
        socket.write_all(head.as_bytes()).map_err(failed)?;
        let mut stream = Stream(BufReader::new(socket));
        let status = stream.line().map_err(failed)?.unwrap_or_default();
        while stream.line().map_err(failed)?.is_some_and(|line| !line.is_empty()) {}
        if status.contains(" 200 ") {
            return Ok(stream);
        }
        let body = stream.line().map_err(failed)?.unwrap_or_default();
        let problem: Option<Value> = serde_json::from_str(&body).ok();
        let detail = problem.as_ref().and_then(|problem| problem["detail"].as_str());
        Err(Failure::Impossible(detail.unwrap_or(&status).to_owned()))
    }
}

/// A frame of a stream.
enum Frame {
    Event(Value),
    Clock(Value),
    Lost(Value),
    Reset,
    Other,
    /// The server closed the stream.
    End,
}

struct Stream(BufReader<TcpStream>);

impl Stream {
    /// The next line without its end; none at the end of the stream.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line)?;
        Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    fn frame(&mut self) -> io::Result<Frame> {
        let (mut kind, mut data) = (String::new(), String::new());
        loop {
            let Some(line) = self.line()? else { return Ok(Frame::End) };
            if line.is_empty() {
                break;
            }
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut kind);
            } else if let Some(text) = line.strip_prefix("data: ") {
                text.clone_into(&mut data);
            }
        }
        let data = serde_json::from_str(&data).unwrap_or_default();
        Ok(match &*kind {
            "event" => Frame::Event(data),
            "clock" => Frame::Clock(data),
            "lost" => Frame::Lost(data),
            "reset" => Frame::Reset,
            _ => Frame::Other,
        })
    }
}

fn print(event: &Value, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{event}")?;
    } else {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let object = &event["data"]["object"];
        let status = object["status"].as_str().map(|status| format!(" ({status})"));
        writeln!(
            out,
            "{:>6}  {}  {:<28} {}{}",
            event["sequence"],
            text(&event["timestamp"]),
            text(&event["type"]),
            text(&object["id"]),
            status.unwrap_or_default()
        )?;
    }
    out.flush()
}

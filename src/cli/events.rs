//! `sandbox events`: what happened in a running sandbox, and what happens now.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cli::failure::Failure;
use crate::cli::serve::DEFAULT_PORT;

/// A stream sends a comment after fifteen seconds without news.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time before a stream that ended is opened again: its world left memory, or the server stops.
const BEFORE_AGAIN: Duration = Duration::from_secs(1);

/// The arguments of `sandbox events`.
#[derive(Args, Debug)]
pub(super) struct EventsArgs {
    /// Wait for further events, until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Only events of this type: `payout.returned`, `payroll_run.*`
    #[arg(long = "type", value_name = "TYPE")]
    event: Option<String>,
    /// Begin after this position in the log; without it, at the beginning, or with --follow at the end
    #[arg(long, value_name = "N")]
    after: Option<u64>,
    /// Print each event as a line of JSON
    #[arg(long)]
    json: bool,
    /// The key of the world
    #[arg(
        long,
        env = "SANDBOX_API_KEY",
        default_value = "test_key",
        hide_env_values = true,
        value_name = "KEY"
    )]
    api_key: String,
    /// Host of the sandbox
    #[arg(long, env = "SANDBOX_HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port of the sandbox
    #[arg(long, short, env = "SANDBOX_PORT", default_value_t = DEFAULT_PORT, value_name = "P")]
    port: u16,
    /// Token of the control routes, if the sandbox has one
    #[arg(long, env = "SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    admin_token: Option<String>,
}

/// Prints the events.
pub(super) fn run(args: &EventsArgs) -> Result<(), Failure> {
    let texts = [Some(&args.api_key), args.admin_token.as_ref(), args.event.as_ref()];
    if !texts.into_iter().flatten().all(|text| text.bytes().all(|byte| byte.is_ascii_graphic())) {
        let wrong = "--api-key, --admin-token and --type must have only visible ASCII characters";
        return Err(Failure::Usage(wrong.to_owned()));
    }
    let mut after = match (args.after, args.follow) {
        (Some(after), _) => Some(after),
        (None, false) => Some(0),
        (None, true) => None,
    };
    let mut stream = args.open(after)?;
    let mut end = None;
    loop {
        match stream.frame().map_err(|error| args.ended(&error))? {
            Frame::Event(event) => {
                after = event["sequence"].as_u64();
                if let Err(error) = print(&event, args.json) {
                    return Failure::of_output(&error);
                }
            }
            // The clock follows the events, so the log was read to its end.
            Frame::Clock(clock) if !args.follow => {
                end = clock["sequence"].as_u64();
            }
            Frame::Clock(_) | Frame::Other => {}
            Frame::Lost(lost) => {
                let count = lost["count"].as_u64().unwrap_or_default();
                // If stderr is closed, there is no reader to tell.
                let _ = writeln!(io::stderr(), "{count} older events are no longer in the log");
            }
            Frame::Reset => {
                let _ = writeln!(io::stderr(), "the world was reset, restored or replaced");
            }
            Frame::End => {
                std::thread::sleep(BEFORE_AGAIN);
                stream = args.open(after)?;
            }
        }
        if end.is_some() {
            return Ok(());
        }
    }
}

impl EventsArgs {
    fn ended(&self, error: &io::Error) -> Failure {
        let Self { host, port, .. } = self;
        Failure::Impossible(format!("no sandbox answers at {host}:{port}: {error}"))
    }

    /// Opens the stream. HTTP/1.0 has no chunks: the body is what the server sends until it closes.
    fn open(&self, after: Option<u64>) -> Result<Stream, Failure> {
        let failed = |error: io::Error| self.ended(&error);
        let mut addresses = (&*self.host, self.port).to_socket_addrs().map_err(failed)?;
        let unresolved = || self.ended(&io::Error::other("the host has no address"));
        let address = addresses.next().ok_or_else(unresolved)?;
        let mut socket = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut query = String::from("?kinds=event,clock");
        if let Some(after) = after {
            query.extend(["&after=", &after.to_string()]);
        }
        if let Some(event) = &self.event {
            query.extend(["&type=", &encoded(event)]);
        }
        let token = self.admin_token.as_ref();
        let token = token.map(|token| format!("Sandbox-Admin-Token: {token}\r\n"));
        let head = format!(
            "GET /_sandbox/events/stream{query} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n{}\r\n",
            self.api_key,
            token.unwrap_or_default()
        );
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

/// A character of a type that a query cannot contain, such as `*`, is escaped.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// What a stream sends.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_escaped_in_a_query() {
        assert_eq!(encoded("payroll_run.*"), "payroll_run.%2A");
        assert_eq!(encoded("a&b=c"), "a%26b%3Dc");
    }
}

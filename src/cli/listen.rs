//! `sandbox listen`: receives webhooks, checks their signatures and prints them.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::api::control::webhooks::check_filter;
use crate::cli::ask::{KeyArgs, WorldOfKeyArgs};
use crate::cli::failure::Failure;
use crate::cli::offered::Offered;
use crate::cli::printable::printable;
use crate::cli::world_args::{self, DEFAULT_PORT};
use crate::io::receiver::{Received, Receiving, receive};
use crate::io::signal;
use crate::tester::address::{Policy, Target};
use crate::tester::signature::{Secret, SignatureCheck};
use crate::value::Key;
use crate::world::envelope::named;

/// The arguments of `sandbox listen`.
#[derive(Args, Debug)]
pub(super) struct ListenArgs {
    /// Port to listen on, 0 for a free one
    #[arg(long, short, default_value_t = 0, value_name = "P", value_parser = world_args::port)]
    port: u16,
    /// Forward every delivery to this URL, and return its answer
    #[arg(long, value_name = "URL")]
    forward_to: Option<String>,
    /// Print only events of this type, or of a resource: `payroll_run.*`; repeatable
    #[arg(long, value_name = "EVENT", value_delimiter = ',', value_parser = Offered::EVENTS, hide_possible_values = true)]
    filter: Vec<String>,
    /// The secret that signs the deliveries [default: with --sandbox, the generated one of its endpoint; otherwise one that the printed example commands contain]
    #[arg(long, env = "SANDBOX_WEBHOOK_SECRET", hide_env_values = true, value_name = "SECRET")]
    secret: Option<String>,
    /// Register with the sandbox at this URL, such as `http://127.0.0.1:4747`, and unregister at the end
    #[arg(long, env = "SANDBOX_URL", value_name = "URL")]
    sandbox: Option<String>,
    #[command(flatten)]
    key: KeyArgs,
    /// With --sandbox: the token of its control routes, if it has one
    #[arg(long, env = "SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    admin_token: Option<String>,
    /// Print only one line of JSON for each delivery
    #[arg(long)]
    json: bool,
    /// Stop when the standard input closes, so that the receiver ends together with the program that started it
    #[arg(long, env = "SANDBOX_EXIT_WITH_STDIN", value_parser = world_args::switch)]
    exit_with_stdin: bool,
}

/// Receives until a signal arrives or the reader of the output has closed it.
pub(super) fn run(args: &ListenArgs) -> Result<(), Failure> {
    let secret = args.secret.as_deref().map(Secret::parse).transpose();
    let secret = secret.map_err(|expected| Failure::Usage(format!("--secret: {expected}")))?;
    let target = |url: &String| Target::parse(url, &Policy::default());
    let forward_to = args.forward_to.as_ref().map(target).transpose();
    let forward_to = forward_to.map_err(|why| Failure::Usage(format!("--forward-to: {why}")))?;
    for filter in &args.filter {
        check_filter(filter).map_err(|why| Failure::Usage(format!("--filter: {why}")))?;
    }
    let sandbox = args.sandbox.as_ref().map(|url| {
        WorldOfKeyArgs::at(url, &args.key, args.admin_token.as_deref())
            .map_err(|why| Failure::Usage(format!("--sandbox: {why}")))
    });
    let sandbox = sandbox.transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::impossible)?;
    runtime.block_on(async {
        let shutdown = signal::shutdown(args.exit_with_stdin).map_err(Failure::impossible)?;
        let address = ("127.0.0.1", args.port);
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Failure::Impossible(format!(
                "cannot listen on 127.0.0.1:{}: {error}; choose another --port",
                args.port
            ))
        })?;
        let port = listener.local_addr().map_err(Failure::impossible)?.port();
        let url = format!("http://127.0.0.1:{port}");
        if forward_to.as_ref().is_some_and(|target| target.is_on_this_machine(port)) {
            let why = format!("--forward-to: {url} is this receiver; name the address of your app");
            return Err(Failure::Usage(why));
        }
        let mut registered = None;
        let secret = match &sandbox {
            Some(sandbox) => {
                let endpoint = Endpoint::register(sandbox, &url, args, secret.as_ref())?;
                let secret = Secret::parse(&endpoint.secret).map_err(Failure::impossible)?;
                registered = Some(endpoint);
                Some(secret)
            }
            None => Some(secret.unwrap_or_else(|| Secret::drawn(Key::new(0).with("listen")))),
        };
        let told = match &registered {
            Some(endpoint) => endpoint.tell(&url, args),
            None => hint(&url, secret.as_ref()),
        };
        told.or_else(|error| Failure::of_output(&error))?;
        announce(args, &url).or_else(|error| Failure::of_output(&error))?;
        let printer = Printer {
            filters: args.filter.clone(),
            json: args.json,
            colour: io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        };
        let gone = Arc::new(Notify::new());
        let end = until(shutdown, forward_to.is_none().then(|| Arc::clone(&gone)));
        let receiving = Receiving { secret, forward_to };
        let show = move |received: &Received| {
            let shown = printer.print(received, io::stdout().lock());
            if shown.is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
                gone.notify_one();
            }
        };
        receive(listener, receiving, show, end).await;
        if let Some((sandbox, endpoint)) = sandbox.as_ref().zip(registered) {
            endpoint.unregister(sandbox);
        }
        Ok(())
    })
}

/// Waits for the signal, or until the reader of the output has closed it. If deliveries are forwarded, the closed
/// output does not end the receiver.
async fn until(shutdown: impl Future<Output = ()>, gone: Option<Arc<Notify>>) {
    let unread = async {
        match gone {
            Some(gone) => tokio::select! {
                () = gone.notified() => {}
                () = signal::output_closed() => {}
            },
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = shutdown => {}
        () = unread => {}
    }
}

/// The time limit of a request to the sandbox.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The endpoint that a sandbox sends to.
struct Endpoint {
    id: String,
    secret: String,
}

impl Endpoint {
    /// Creates it, with the filters as its event types.
    fn register(
        sandbox: &WorldOfKeyArgs,
        url: &str,
        args: &ListenArgs,
        secret: Option<&Secret>,
    ) -> Result<Self, Failure> {
        let mut body = json!({ "url": url });
        if !args.filter.is_empty() {
            body["events"] = json!(args.filter);
        }
        if let Some(secret) = secret {
            body["secret"] = secret.reveal().into();
        }
        let (head, body) = (sandbox.authorization()?, body.to_string());
        let reply = sandbox.sandbox.ask(TIMEOUT, ("POST", ENDPOINTS), &head, &body)?;
        let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let created = &answer["data"];
        let created = created["endpoint"]["id"].as_str().zip(created["secret"].as_str());
        let created =
            created.map(|(id, secret)| Self { id: id.to_owned(), secret: secret.to_owned() });
        created.ok_or_else(|| {
            let detail = answer["detail"].as_str().unwrap_or(&reply.status);
            Failure::Impossible(format!("the sandbox sends nothing here: {detail}"))
        })
    }

    /// Prints the registered endpoint.
    fn tell(&self, url: &str, args: &ListenArgs) -> io::Result<()> {
        let sandbox = args.sandbox.as_deref().unwrap_or_default();
        let events = if args.filter.is_empty() { "*".to_owned() } else { args.filter.join(", ") };
        writeln!(
            io::stderr().lock(),
            "registered {url} with {sandbox} as endpoint {} for events {events}; it is removed at the end",
            self.id
        )
    }

    /// Deletes it. A sandbox that has ended sends nothing more anyway.
    fn unregister(&self, sandbox: &WorldOfKeyArgs) {
        let path = format!("{ENDPOINTS}/{}", self.id);
        if let Ok(head) = sandbox.authorization() {
            let _ = sandbox.sandbox.ask(TIMEOUT, ("DELETE", &path), &head, "");
        }
    }
}

/// The path of the endpoints of a world.
const ENDPOINTS: &str = "/_sandbox/webhook-endpoints";

/// Prints how to send webhooks here, as commands to paste.
fn hint(url: &str, secret: Option<&Secret>) -> io::Result<()> {
    let program = std::env::args_os().next().and_then(|name| name.into_string().ok());
    let program = program.map_or_else(|| "sandbox".to_owned(), |name| pasted(&name));
    let (flag, member) = secret.map_or_else(Default::default, |secret| {
        let secret = secret.reveal();
        (format!(" --webhook-secret {secret}"), format!(",\"secret\":\"{secret}\""))
    });
    let running = format!("http://127.0.0.1:{DEFAULT_PORT}");
    writeln!(
        io::stderr().lock(),
        "to send webhooks here, start a sandbox with\n  {program} --webhook {url}{flag}\n\
         or, for one key of a sandbox that runs on port {DEFAULT_PORT},\n  \
         curl -X POST {running}/_sandbox/webhook-endpoints -H 'Authorization: Bearer test_key' \
         -H 'Content-Type: application/json' -d '{{\"url\":\"{url}\"{member}}}'\n\
         or let this command do it:\n  {program} listen --sandbox {running}\n"
    )
}

/// A word as a shell takes it.
fn pasted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    if word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Prints the ready line.
fn announce(args: &ListenArgs, url: &str) -> io::Result<()> {
    if args.json {
        writeln!(io::stderr().lock(), "listening on {url}")
    } else {
        let mut out = io::stdout().lock();
        writeln!(out, "listening on {url}").and_then(|()| out.flush())
    }
}

/// The options for printing deliveries.
struct Printer {
    filters: Vec<String>,
    json: bool,
    colour: bool,
}

impl Printer {
    fn print(&self, received: &Received, mut out: impl Write) -> io::Result<()> {
        let body: Value = serde_json::from_slice(&received.body).unwrap_or(Value::Null);
        let name = body["type"].as_str().unwrap_or("");
        if !self.filters.is_empty() && !self.filters.iter().any(|filter| named(filter, name)) {
            return Ok(());
        }
        let line = if self.json { ndjson(received, &body) } else { self.line(received, &body) };
        writeln!(out, "{line}")?;
        out.flush()
    }

    fn line(&self, received: &Received, body: &Value) -> String {
        let (mark, colour) = match (received.verdict, received.duplicate) {
            (Some(SignatureCheck::Valid), false) => ("valid", "32"),
            (Some(SignatureCheck::Valid), true) => ("valid, duplicate", "33"),
            (Some(SignatureCheck::Stale), _) => ("STALE", "31"),
            (Some(SignatureCheck::Invalid), _) => ("INVALID", "31"),
            (Some(SignatureCheck::Unsigned), _) => ("UNSIGNED", "31"),
            (None, false) => ("unchecked", "36"),
            (None, true) => ("unchecked, duplicate", "33"),
        };
        let mark = if self.colour {
            format!("\x1b[{colour}m{mark:<20}\x1b[0m")
        } else {
            format!("{mark:<20}")
        };
        let short = |text: &str| printable(text).chars().take(80).collect::<String>();
        let text = |value: &Value| short(value.as_str().unwrap_or("-"));
        format!(
            "{}  {mark}  {:<28}  {}  #{}  {}  {}",
            received.at,
            text(&body["type"]),
            short(received.id.as_deref().unwrap_or("-")),
            body["sequence"].as_u64().unwrap_or(0),
            text(&body["data"]["object"]["id"]),
            received.answered,
        )
    }
}

fn ndjson(received: &Received, body: &Value) -> String {
    let event = match body {
        Value::Null => Value::String(String::from_utf8_lossy(&received.body).into_owned()),
        body => body.clone(),
    };
    json!({
        "received_at": received.at,
        "signature": received.verdict,
        "duplicate": received.duplicate,
        "id": received.id,
        "type": body["type"],
        "answered": received.answered,
        "event": event,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn received(body: &'static str) -> Received {
        Received {
            at: "2026-03-01T12:00:00Z".parse().unwrap(),
            id: Some("evt_1".to_owned()),
            verdict: Some(SignatureCheck::Valid),
            duplicate: false,
            answered: 200,
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    fn printed(printer: &Printer, received: &Received) -> String {
        let mut out = Vec::new();
        printer.print(received, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_filter_keeps_other_events_off_the_screen_and_colour_is_for_terminals() {
        let mut printer =
            Printer { filters: vec!["payout.*".to_owned()], json: false, colour: false };
        let payout =
            received(r#"{"type":"payout.paid","sequence":7,"data":{"object":{"id":"pyo_1"}}}"#);
        let line = printed(&printer, &payout);
        assert!(line.contains("valid") && line.contains("payout.paid") && line.contains("#7"));
        assert!(!line.contains('\x1b'));
        printer.colour = true;
        assert!(printed(&printer, &payout).contains("\x1b[32m"));
        assert_eq!(printed(&printer, &received(r#"{"type":"wallet.debited"}"#)), "");
    }

    #[test]
    fn hostile_text_does_not_reach_the_terminal() {
        let printer = Printer { filters: Vec::new(), json: false, colour: false };
        let line = printed(&printer, &received("{\"type\":\"\\u001b[2Jx\\nfake\"}"));
        assert!(!line.contains('\x1b') && line.lines().count() == 1, "{line:?}");
    }

    #[test]
    fn a_body_that_is_no_json_is_shown_as_text_in_json() {
        let printer = Printer { filters: Vec::new(), json: true, colour: false };
        let line: Value =
            serde_json::from_str(&printed(&printer, &received("{\"type\":"))).unwrap();
        assert_eq!(line["event"], "{\"type\":");
        assert_eq!(line["signature"], "valid");
    }
}

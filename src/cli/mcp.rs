//! `sandbox mcp`: the tools for language models over standard input and output, for programs that start a server of tools themselves.
//!
//! Each line is a message, which goes to `/_sandbox/mcp` of a sandbox: a running one, or one in this process.

mod lane;

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::ask::{SandboxArgs, in_header};
use crate::cli::failure::Failure;
use crate::cli::scenario;
use crate::cli::world_args::{Typed, WorldArgs};
use crate::engine::is_usable_key;
use crate::io::embed::Sandbox;
use crate::render::mcp::{invalid_request, routing};

/// A payroll of many people, or a delayed reply, needs time.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The variable of the token of the control routes.
const TOKEN: &str = "SANDBOX_ADMIN_TOKEN";

/// The arguments of `sandbox mcp`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        sandbox mcp --seed 42                                     tools for a new world\n  \
        sandbox mcp --url http://127.0.0.1:4747 --api-key test_key    tools for a world of a running sandbox\n\n\
        A running sandbox also serves the tools at POST /_sandbox/mcp.\n\n\
        Exit codes: 0 the input has ended and every call is answered, 1 failure, 2 wrong usage.")]
pub(super) struct McpArgs {
    #[command(flatten)]
    typed: Typed,
    #[command(flatten)]
    world: WorldArgs,
    /// Start the world with a scenario: a shipped one by name, or a file; repeatable
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "url")]
    scenario: Vec<String>,
    /// The running sandbox to use instead of one in this process, such as `http://127.0.0.1:4747`
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The key of the world
    #[arg(
        long = "api-key",
        visible_alias = "key",
        env = "SANDBOX_KEY",
        default_value = "agent",
        hide_env_values = true,
        value_name = "KEY"
    )]
    key: String,
}

/// Answers messages until the input ends.
pub(super) fn run(args: &McpArgs) -> Result<(), Failure> {
    let key = in_header("--api-key", &args.key)?;
    if args.url.is_some() {
        args.typed.only_url()?;
    }
    if args.url.is_none() && !is_usable_key(key, true) {
        return Err(Failure::Usage("--api-key must not look like a live key".to_owned()));
    }
    let authorization = format!("Authorization: Bearer {key}\r\n");
    // The token is never an argument, because other users of the machine can read those.
    let token = std::env::var(TOKEN).ok().filter(|token| !token.is_empty());
    token.as_ref().map(|token| in_header(TOKEN, token)).transpose()?;
    let server = if args.url.is_none() { Some(start(args)?) } else { None };
    let url = args.url.as_deref().or(server.as_ref().map(Sandbox::url)).unwrap_or_default();
    let sandbox = SandboxArgs::of_url("--url", url, token)?;
    lane::run(sandbox, authorization)
}

/// A sandbox in this process.
fn start(args: &McpArgs) -> Result<Sandbox, Failure> {
    let mut builder = Sandbox::builder().seed(args.world.seed).shaped(args.world.shape()?);
    for wanted in &args.scenario {
        builder = builder.started(std::sync::Arc::new(scenario::find(wanted)?));
    }
    builder.start().map_err(Failure::impossible)
}

/// Sends a message, and returns its answer; none if it needs none.
fn exchange(sandbox: &SandboxArgs, authorization: &str, message: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(message) else {
        return Some(invalid_request("a message is UTF-8"));
    };
    let mut head = authorization.to_owned();
    if let Some((method, name, version)) = routing(message) {
        let headers =
            [("Mcp-Method", Some(method)), ("Mcp-Name", name), ("MCP-Protocol-Version", version)];
        for (header, value) in headers {
            if let Some(value) =
                value.filter(|value| value.bytes().all(|b| b.is_ascii_graphic() || b == b' '))
            {
                head.extend([header, ": ", &value, "\r\n"]);
            }
        }
    }
    let failed = |why: &str| {
        let id = serde_json::from_str::<Value>(text)
            .map_or(Value::Null, |message| message["id"].clone());
        (!id.is_null()).then(|| {
            let error = json!({ "code": -32603, "message": why });
            json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
        })
    };
    let reply = match sandbox.ask(TIMEOUT, ("POST", "/_sandbox/mcp"), &head, text) {
        Ok(reply) => reply,
        Err(failure) => return failed(&failure.to_string()),
    };
    if reply.body.is_empty() {
        return None;
    }
    match serde_json::from_slice::<Value>(&reply.body) {
        Ok(answer) if answer["jsonrpc"] == "2.0" => String::from_utf8(reply.body).ok(),
        Ok(problem) => failed(problem["detail"].as_str().unwrap_or(&reply.status)),
        Err(_) => failed("the answer is not from a sandbox"),
    }
}

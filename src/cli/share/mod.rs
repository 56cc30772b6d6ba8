//! `sandbox share`, `sandbox open` and `sandbox diff`: a world as one line of text, and a description of the
//! differences between two worlds.
//!
//! | file | content |
//! |---|---|
//! | `line` | the line: compressed seed, flags and inputs |
//! | `play` | makes the world of a line again |
//! | `redact` | replaces what people wrote in the inputs |
//! | `open` | `sandbox open` |
//! | `diff` | `sandbox diff` |

pub(super) mod diff;
mod line;
pub(super) mod open;
mod play;
mod redact;

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cli::ask::{KeyArgs, SandboxArgs};
use crate::cli::counted::counted;
use crate::cli::failure::{Failure, print};
use crate::cli::share::line::Shared;
use crate::value::ErrorCode;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The arguments of `sandbox share`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        sandbox share --api-key test_key          print the world of a running sandbox as one line\n  \
        sandbox open sandbox-1.xZNbb9o…           serve the same world elsewhere\n\n\
        The line contains the bodies of all calls that changed the world. --redact replaces the texts that people wrote, such as names, addresses,\n\
        telephone numbers, references, reasons, metadata and Idempotency-Key. It does not replace ids, dates, amounts, codes and account numbers.\n\n\
        Exit codes: 0 success, 1 failure, 2 wrong usage, such as a key without a world.")]
pub(super) struct ShareArgs {
    #[command(flatten)]
    key: KeyArgs,
    /// Replace the texts that people wrote in the calls. The shared world then has another digest
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

/// Prints the line, after a trial in which its world was made from it.
pub(super) fn run(args: &ShareArgs) -> Result<(), Failure> {
    let key = &args.key.key()?;
    let inputs = get(&args.sandbox, key, "/_sandbox/inputs")?
        .ok_or_else(|| Failure::Usage(format!("--api-key: {}", no_world(&args.sandbox))))?;
    let mut shared = Shared::of_inputs(&inputs["data"])?;
    let made = play::play(&shared, play::KEY)?;
    if !made.digest.starts_with(&shared.digest) {
        let why = "the inputs of this world do not reproduce the world, so it cannot be shared as \
         a line: use sandbox --record FILE and sandbox bundle";
        return Err(Failure::Impossible(why.to_owned()));
    }
    if args.redact && !shared.imports.is_empty() {
        let why = "the world starts with an import, whose texts cannot be replaced: share it without --redact";
        return Err(Failure::Impossible(why.to_owned()));
    }
    if args.redact {
        redact::redact(&mut shared);
        let redacted = play::play(&shared, play::KEY)?;
        let changed =
            redacted.statuses.iter().zip(&made.statuses).position(|(new, old)| new != old);
        if let Some(place) = changed {
            let call = &shared.inputs[place];
            return Err(Failure::Impossible(format!(
                "call {} ({} {}) needs its text: with the text replaced, the answer is {} and not {}. Share this world without --redact, or \
                 make it again without that call",
                place + 1,
                call.method,
                call.path,
                redacted.statuses[place],
                made.statuses[place]
            )));
        }
        shared.digest = redacted.digest;
    }
    let calls = counted(shared.inputs.len() as u64, "call", "calls");
    let note = if shared.inputs.is_empty() {
        "note: no call has changed this world: the line contains how it begins\n".to_owned()
    } else if args.redact {
        format!("note: the line contains {calls}; the texts that people wrote are replaced\n")
    } else {
        format!(
            "warning: the line contains the bodies of {calls}; --redact replaces the texts that people wrote\n"
        )
    };
    let _ = io::stderr().write_all(note.as_bytes()); // if stderr is closed, there is no reader to warn
    print(&format!("{}\n", shared.encode()))
}

/// The body of a reply, which must be a success. None if the key has no world; then it still has none.
fn get(sandbox: &SandboxArgs, key: &str, path: &str) -> Result<Option<Value>, Failure> {
    let head = format!("Authorization: Bearer {key}\r\n");
    let reply = sandbox.ask(TIMEOUT, ("GET", path), &head, "")?;
    let answer: Value = serde_json::from_slice(&reply.body).map_err(|_| {
        Failure::Impossible(format!("the answer is not from a sandbox: {:?}", reply.status))
    })?;
    if reply.status.contains(" 200 ") {
        return Ok(Some(answer));
    }
    if answer["code"] == ErrorCode::ResourceNotFound.code() {
        return Ok(None);
    }
    let why = answer["detail"].as_str().unwrap_or(&reply.status);
    Err(Failure::Impossible(why.to_owned()))
}

/// The message for a key without a world.
fn no_world(sandbox: &SandboxArgs) -> String {
    format!(
        "the key has no world in the sandbox at {}: no call was made with it",
        sandbox.address()
    )
}

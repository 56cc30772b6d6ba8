//! `sandbox open`: serves the world of a line.

use std::io::{self, Read, Write};
use std::sync::Arc;

use clap::Args;

use crate::cli::ask::KeyArgs;
use crate::cli::counted::counted;
use crate::cli::failure::{Failure, print};
use crate::cli::serve;
use crate::cli::share::line::Shared;
use crate::cli::share::play::{Made, play};
use crate::cli::world_args;
use crate::engine::is_usable_key;
use crate::engine::recording::Header;
use crate::io::wal::salt;

/// The most bytes of a line that is read from the standard input.
const MOST_BYTES: u64 = 16 << 20;

/// The arguments of `sandbox open`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        sandbox open sandbox-1.xZNbb9o… --port 4748    serve the world under the key test_key\n  \
        sandbox share | sandbox open - --check         check that a world can be shared\n\n\
        Exit codes: 0 success, 1 the calls lead to another world, 2 wrong usage or a damaged line.")]
pub(in crate::cli) struct OpenArgs {
    /// The line that `sandbox share` printed; `-` reads it from the standard input
    #[arg(value_name = "LINE")]
    line: String,
    #[command(flatten)]
    key: KeyArgs,
    /// Port to serve on, 0 for a free one
    #[arg(long, short, value_name = "P", value_parser = world_args::port, default_value_t = world_args::DEFAULT_PORT)]
    port: u16,
    /// Make the world, print its digest, and do not serve
    #[arg(long, conflicts_with = "port")]
    check: bool,
}

/// Makes the world and serves it.
pub(in crate::cli) fn run(args: &OpenArgs) -> Result<(), Failure> {
    let key = args.key.key()?;
    if !is_usable_key(&key, true) {
        return Err(Failure::Usage("--api-key must not look like a live key".to_owned()));
    }
    let mut read = String::new();
    if args.line == "-" {
        let input = io::stdin().lock().take(MOST_BYTES).read_to_string(&mut read);
        input.map_err(Failure::impossible)?;
    } else {
        read.clone_from(&args.line);
    }
    let shared = Shared::decode(&read)?;
    let Made { engine, digest, .. } = play(&shared, &key)?;
    if !digest.starts_with(&shared.digest) {
        return Err(Failure::Impossible(format!(
            "the calls of the line lead to another world: digest {digest}, expected {}…",
            shared.digest
        )));
    }
    let calls = shared.inputs.len();
    let report = format!(
        "{} repeated; the digest {digest} is that of the shared world\n",
        counted(calls as u64, "call", "calls")
    );
    if args.check {
        return print(&report);
    }
    let _ = io::stderr().write_all(report.as_bytes()); // the world is served in any case
    let header = Header::new(shared.seed, shared.shape, shared.clock, salt());
    let key = Some(key.as_str()).filter(|key| *key != "test_key");
    serve::serve_replayed(args.port, &header, (Arc::new(engine), key))
}

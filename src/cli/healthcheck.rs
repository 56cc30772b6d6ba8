//! `sandbox healthcheck`: checks that a running sandbox serves, for containers and scripts.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;

use crate::cli::ask::Sandbox;
use crate::cli::failure::Failure;
use crate::cli::serve::DEFAULT_PORT;

/// A healthy sandbox always answers sooner.
const PATIENCE: Duration = Duration::from_secs(2);

/// The arguments of `sandbox healthcheck`.
#[derive(Args, Debug)]
pub(super) struct HealthcheckArgs {
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

/// Succeeds if the sandbox answers that it is healthy.
pub(super) fn run(args: &HealthcheckArgs) -> Result<(), Failure> {
    let sandbox = Sandbox {
        host: &args.host,
        port: args.port,
        admin_token: args.admin_token.as_deref(),
        patience: PATIENCE,
    };
    let reply = sandbox.ask("GET", "/_sandbox/health", "", "").map_err(|error| {
        Failure::Impossible(format!("no sandbox answers at {}:{}: {error}", args.host, args.port))
    })?;
    let status = reply.status;
    if status.starts_with("HTTP/1.1 200 ") {
        let line = format!("the sandbox at {}:{} is healthy", args.host, args.port);
        return writeln!(io::stdout().lock(), "{line}").or_else(|error| Failure::of_output(&error));
    }
    Err(Failure::Impossible(format!(
        "the sandbox at {}:{} answers {:?}",
        args.host,
        args.port,
        status.trim()
    )))
}

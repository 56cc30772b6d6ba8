//! `sandbox healthcheck`: checks that a running sandbox serves, for containers and scripts.

use std::io::{self, Write};
use std::time::Duration;

use crate::cli::ask::SandboxArgs;
use crate::cli::failure::Failure;

/// A healthy sandbox always answers sooner.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Succeeds if the sandbox answers that it is healthy.
pub(super) fn run(sandbox: &SandboxArgs) -> Result<(), Failure> {
    let status = sandbox.ask(TIMEOUT, ("GET", "/_sandbox/health"), "", "")?.status;
    let address = sandbox.address();
    if status.starts_with("HTTP/1.1 200 ") {
        let line = format!("the sandbox at {address} is healthy");
        return writeln!(io::stdout().lock(), "{line}").or_else(|error| Failure::of_output(&error));
    }
    Err(Failure::Impossible(format!("the sandbox at {address} answers {:?}", status.trim())))
}

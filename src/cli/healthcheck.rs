//! `sandbox healthcheck`: whether a running sandbox serves, for containers and scripts.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use clap::Args;

use crate::cli::Failure;
use crate::cli::serve::DEFAULT_PORT;

/// Longer than a healthy sandbox ever takes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whom to ask.
#[derive(Args, Debug)]
pub(super) struct HealthcheckArgs {
    /// Host of the sandbox
    #[arg(long, env = "SANDBOX_HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port of the sandbox
    #[arg(long, short, env = "SANDBOX_PORT", default_value_t = DEFAULT_PORT, value_name = "P")]
    port: u16,
    /// Token of the control routes, where the sandbox was started with one
    #[arg(
        long,
        env = "SANDBOX_ADMIN_TOKEN",
        hide_env_values = true,
        value_name = "TOKEN"
    )]
    admin_token: Option<String>,
}

/// Succeeds if the sandbox answers that it is well.
pub(super) fn run(args: &HealthcheckArgs) -> Result<(), Failure> {
    let status = ask(args).map_err(|error| {
        Failure::Impossible(format!(
            "no sandbox answers at {}:{}: {error}",
            args.host, args.port
        ))
    })?;
    if status.starts_with("HTTP/1.1 200 ") {
        return Ok(());
    }
    Err(Failure::Impossible(format!(
        "the sandbox at {}:{} answers {:?}",
        args.host,
        args.port,
        status.trim()
    )))
}

/// The status line of `/_sandbox/health`.
fn ask(args: &HealthcheckArgs) -> std::io::Result<String> {
    let unresolved = || std::io::Error::other("the host has no address");
    let address = (args.host.as_str(), args.port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(unresolved)?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let token = args
        .admin_token
        .as_ref()
        .map(|token| format!("Sandbox-Admin-Token: {token}\r\n"))
        .unwrap_or_default();
    let head = format!(
        "GET /_sandbox/health HTTP/1.1\r\nHost: localhost\r\n{token}Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    let mut reply = Vec::new();
    stream.take(4_096).read_to_end(&mut reply)?;
    let text = String::from_utf8_lossy(&reply);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

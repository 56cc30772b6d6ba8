//! Failures of commands: the reason, the output and the exit code.

use std::fmt::{self, Display, Formatter};
use std::io::{self, Write};
use std::process::ExitCode;

/// The reason for the failure of a command.
#[derive(Debug)]
pub(super) enum Failure {
    /// The arguments are wrong: exit code 2.
    Usage(String),
    /// The command failed: exit code 1.
    Impossible(String),
    /// A file is wrong: exit code 1, with this report.
    Report(String),
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (Self::Usage(message) | Self::Impossible(message) | Self::Report(message)) = self;
        out.write_str(message)
    }
}

impl Failure {
    pub(super) fn impossible(error: impl Display) -> Self {
        Self::Impossible(error.to_string())
    }

    /// A reader that closes its end early, such as `head`, does not cause a failure.
    pub(super) fn of_output(error: &io::Error) -> Result<(), Self> {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Ok(())
        } else {
            Err(Self::impossible(error))
        }
    }
}

/// Prints a text on stdout.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .or_else(|error| Failure::of_output(&error))
}

/// Prints why a command failed, and returns its exit code.
pub(super) fn failed(failure: &Failure) -> ExitCode {
    match failure {
        Failure::Usage(message) => complain(message, 2),
        Failure::Impossible(message) => complain(message, 1),
        Failure::Report(report) => {
            // If stderr is closed, the message is lost.
            let _ = io::stderr().write_all(report.as_bytes());
            ExitCode::from(1)
        }
    }
}

pub(super) fn complain(message: &str, code: u8) -> ExitCode {
    // If stderr is closed, the message is lost.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(code)
}

//! The end of the process by signal: the first asks for a graceful one, the second ends it at once.

use std::io;

/// Starts to listen for SIGINT and SIGTERM (Ctrl-C alone where there are no signals). The future is done when the first comes; the
/// second ends the process with 128 plus its number, as a shell reports it.
///
/// Must be called within a tokio runtime, before the ready line: a signal that comes earlier ends the process the plain way.
#[cfg(unix)]
pub(crate) fn shutdown() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = terminate.recv() => SignalKind::terminate().as_raw_value(),
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move { std::process::exit(128 + next().await) });
    })
}

/// As above.
#[cfg(not(unix))]
pub(crate) fn shutdown() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        // An error means that there is nothing to wait for: the server ends as it does by the key.
        let _ = tokio::signal::ctrl_c().await;
        tokio::spawn(async {
            let _ = tokio::signal::ctrl_c().await;
            std::process::exit(130)
        });
    })
}

//! Ends the process by signal: the first signal requests a graceful end, the second ends it at once.

use std::io;

/// Starts to listen for SIGINT and SIGTERM (only Ctrl-C on systems without signals). The future is done at
/// the first signal. The second one ends
/// the process with 128 plus its number, as a shell reports it.
///
/// Must be called within a tokio runtime, before the ready line. An earlier signal ends the process
/// immediately.
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
        // An error means that no signal can arrive; the server then ends only by the key.
        let _ = tokio::signal::ctrl_c().await;
        tokio::spawn(async {
            let _ = tokio::signal::ctrl_c().await;
            std::process::exit(130)
        });
    })
}

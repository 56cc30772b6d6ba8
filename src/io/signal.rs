//! Ends the process: the first signal, or the end of the standard input if the caller wants it, requests a graceful end. The
//! next signal ends the process at once.

use std::io;

use tokio::sync::oneshot;

/// Starts to listen for SIGINT, SIGTERM and the SIGHUP of a closed terminal (only Ctrl-C on systems without signals), and with
/// `exit_with_stdin` for the end of the standard input. The future is done at the first of them. A signal after it ends
/// the process with 128 plus its number, as a shell reports it.
///
/// Must be called within a tokio runtime, before the ready line. An earlier signal ends the process
/// immediately.
pub(crate) fn shutdown(exit_with_stdin: bool) -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::listen()?;
    let input = exit_with_stdin.then(watch_input).transpose()?;
    let input_ended = async {
        match input {
            // An error also means the end: the reading thread has ended.
            Some(ended) => drop(ended.await),
            None => std::future::pending().await,
        }
    };
    Ok(async move {
        let by_input = tokio::select! {
            _ = signals.next() => false,
            () = input_ended => true,
        };
        tokio::spawn(async move {
            // A caller may close the input and send a signal at once. That is one request.
            if by_input {
                signals.next().await;
            }
            std::process::exit(128 + signals.next().await)
        });
    })
}

/// Waits until the reader of the standard output has closed its end. For a file, which has no reader, it never
/// returns.
#[cfg(unix)]
#[expect(
    deprecated,
    reason = "the successor is unsafe, and this program never closes its standard output"
)]
pub(crate) async fn output_closed() {
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;
    if let Ok(output) = AsyncFd::with_interest(io::stdout(), Interest::ERROR)
        && output.ready(Interest::ERROR).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Never returns on systems where this cannot be observed; a failed write shows the closed output.
#[cfg(not(unix))]
pub(crate) async fn output_closed() {
    std::future::pending::<()>().await;
}

/// The signals that end the process.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// None if the caller ignores it, as `nohup` does.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        let hangup = (!ignores_hangup()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())?, hangup })
    }

    /// The number of the next signal.
    pub(crate) async fn next(&mut self) -> i32 {
        use tokio::signal::unix::SignalKind;
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            () = next_of(&mut self.hangup) => SignalKind::hangup().as_raw_value(),
        }
    }
}

#[cfg(unix)]
async fn next_of(signal: &mut Option<tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether SIGHUP was ignored when the process began. Where this cannot be read, it counts as ignored, so that a server outlives its
/// terminal if the caller wants it.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGHUP is signal 1, the lowest bit.
    mask.is_none_or(|mask| mask & 1 != 0)
}

/// Makes a write beyond the process's file size limit fail with an error, instead of ending the process silently.
/// Must be called within a tokio runtime.
pub(crate) fn survive_file_limit() {
    /// SIGXFSZ has this number on Linux and on the BSDs.
    #[cfg(unix)]
    const FILE_TOO_LARGE: i32 = 25;
    // A handler replaces the default action, which ends the process. Without one, the limit works as before.
    #[cfg(unix)]
    let _ = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(FILE_TOO_LARGE));
}

/// On systems without these signals: only Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> i32 {
        // An error means that no signal can arrive; the server then ends only by the key.
        let _ = tokio::signal::ctrl_c().await;
        2
    }
}

/// Reads the standard input to its end. A separate thread reads, because a runtime waits for its own threads at its
/// end, and a read cannot be cancelled.
fn watch_input() -> io::Result<oneshot::Receiver<()>> {
    let (ended, wait) = oneshot::channel();
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        // An error counts as the end, too: no data can arrive after it.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = ended.send(());
    })?;
    Ok(wait)
}

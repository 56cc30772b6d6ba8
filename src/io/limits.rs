//! All limits of the server in one place, so that a test can shorten one.

use std::time::Duration;

/// The limits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From the first byte of a head (or from the accept, for a connection's first) to its last.
    pub(crate) head: Duration,
    /// Bytes of a head. Beyond it: 431.
    pub(crate) head_bytes: usize,
    /// An idle connection, or a client that reads no byte of its reply. A shorter time breaks the connection
    /// pools of SDKs.
    pub(crate) idle: Duration,
    /// A complete body, from the head to its last byte. Beyond it: 408.
    pub(crate) body: Duration,
    /// Bytes of a body. Beyond it: 413.
    pub(crate) body_bytes: usize,
    /// Open connections. The next one gets 503 and is closed.
    pub(crate) connections: usize,
    /// Bodies that did not arrive within 50 ms. The next one gets 503.
    pub(crate) in_flight: usize,
    /// The time for which bytes of an unread body are discarded after a refusal, so that the client reads
    /// the refusal instead of a reset.
    pub(crate) linger: Duration,
    /// The time from the signal to the end, for requests in flight.
    pub(crate) drain: Duration,
}

/// The most connections of a server that may open enough files.
const MOST_CONNECTIONS: usize = 16_384;

/// Files that are no connections of clients: the listeners, the log, the runtime.
const OTHER_FILES: u64 = 32;

impl Limits {
    /// The limits of this process. A quarter of its files is for the deliveries of webhooks.
    pub(crate) fn of_process() -> Self {
        let files = most_files().unwrap_or(u64::MAX).saturating_sub(OTHER_FILES);
        let connections = usize::try_from(files / 4 * 3).unwrap_or(usize::MAX);
        Self { connections: connections.clamp(1, MOST_CONNECTIONS), ..Self::default() }
    }
}

/// The most files that this process may open; none if there is no limit.
#[cfg(unix)]
fn most_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// As above.
#[cfg(not(unix))]
const fn most_files() -> Option<u64> {
    None
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            head_bytes: 16 * 1024,
            idle: Duration::from_secs(75),
            body: Duration::from_secs(30),
            body_bytes: 1024 * 1024,
            connections: MOST_CONNECTIONS,
            in_flight: 1_024,
            linger: Duration::from_secs(2),
            drain: Duration::from_secs(25),
        }
    }
}

//! Every bound of the server, in one place, so that a test can shorten one and nothing else is a hidden constant.

use std::time::Duration;

/// What the server tolerates of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// From the first byte of a head (or from the accept, for a connection's first) to its last.
    pub(crate) head: Duration,
    /// Bytes of a head. Beyond it: 431.
    pub(crate) head_bytes: usize,
    /// A kept connection without a request, or a client that takes no byte of its reply. Shorter breaks the connection
    /// pools of SDKs.
    pub(crate) idle: Duration,
    /// A whole body, from head to last byte. Beyond it: 408.
    pub(crate) body: Duration,
    /// Bytes of a body. Beyond it: 413.
    pub(crate) body_bytes: usize,
    /// Open connections. One more is told 503 and closed.
    pub(crate) connections: usize,
    /// Requests that wait for their body or for an injected delay. One more is told 503. A request without a body is
    /// answered within one poll, so it cannot pile up and is not counted.
    pub(crate) in_flight: usize,
    /// How long, after a refusal whose body was never read, a client's bytes are discarded so that it sees the
    /// refusal and not a reset.
    pub(crate) linger: Duration,
    /// From the signal to the end, for what is in flight.
    pub(crate) drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            head_bytes: 16 * 1024,
            idle: Duration::from_secs(75),
            body: Duration::from_secs(30),
            body_bytes: 1024 * 1024,
            connections: 8_192,
            in_flight: 1_024,
            linger: Duration::from_secs(2),
            drain: Duration::from_secs(25),
        }
    }
}

//! A server on a thread of its own, for tests that run the sandbox in their process: it lives as long as its handle.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::io::edge::RequestHandler;
use crate::io::listen::BindError;
use crate::io::server::{Server, ServerConfig};

/// What is in flight when the handle is dropped belongs to a test that is over.
const DRAIN: Duration = Duration::from_millis(500);

/// Why no server runs.
#[derive(Debug)]
pub(crate) enum StartError {
    /// No thread or runtime to be had.
    System(io::Error),
    /// Nothing to listen on.
    Bind(BindError),
    /// What was to be done before the first request could not be.
    Prepare(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => write!(out, "cannot start a server: {error}"),
            Self::Bind(error) => error.fmt(out),
            Self::Prepare(error) => out.write_str(error),
        }
    }
}

impl std::error::Error for StartError {}

/// A running server. Dropping it stops the server and waits for its thread.
#[derive(Debug)]
pub(crate) struct Background {
    url: String,
    addresses: Vec<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a server and returns when it listens.
    #[cfg(test)]
    pub(crate) fn start<A: RequestHandler>(
        config: ServerConfig,
        engine: Arc<A>,
    ) -> Result<Self, StartError> {
        Self::start_with(config, engine, |_| Ok(()))
    }

    /// The same, with something to be done within its runtime before the first request, given where it listens.
    pub(crate) fn start_with<A: RequestHandler>(
        mut config: ServerConfig,
        engine: Arc<A>,
        prepare: impl FnOnce(&[SocketAddr]) -> Result<(), String>,
    ) -> Result<Self, StartError> {
        config.limits.drain = config.limits.drain.min(DRAIN);
        // One thread: a test wants its server small, and asks one question at a time.
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(StartError::System)?;
        let bound = runtime.block_on(Server::bind(&config, engine)).map_err(StartError::Bind)?;
        let (url, addresses) = (bound.url(), bound.addresses().to_vec());
        {
            let _within = runtime.enter();
            prepare(&addresses).map_err(StartError::Prepare)?;
        }
        let (stop, stopped) = oneshot::channel();
        let serve = move || {
            runtime.block_on(bound.serve(async {
                // An error means that the handle is gone without a word: the same end.
                let _ = stopped.await;
            }));
        };
        let thread = std::thread::Builder::new().name("sandbox".into()).spawn(serve);
        let thread = thread.map_err(StartError::System)?;
        Ok(Self { url, addresses, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it answers, without a slash at the end: `http://127.0.0.1:49152`.
    #[must_use]
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The addresses it listens on.
    #[must_use]
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests of the edge ask"))]
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An error means that the server ended before us.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened; one more, while dropping, would abort.
            let _ = thread.join();
        }
    }
}

//! A server on its own thread, for tests that run the sandbox in their process. It runs as long as its handle
//! exists.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, io};

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::io::handler::RequestHandler;
use crate::io::listen::BindError;
use crate::io::server::{Server, ServerConfig};

/// Requests in flight when the handle is dropped belong to a finished test.
const DRAIN: Duration = Duration::from_millis(500);

/// The reason why the server did not start.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The system gives no thread or runtime.
    System(io::Error),
    /// No address to listen on.
    Bind(BindError),
    /// The preparation before the first request failed.
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

    /// Starts a server. `prepare` runs in the server's runtime before the first request, and gets the
    /// server's address.
    pub(crate) fn start_with<A: RequestHandler>(
        mut config: ServerConfig,
        engine: Arc<A>,
        prepare: impl FnOnce(&[SocketAddr]) -> Result<(), String>,
    ) -> Result<Self, StartError> {
        config.limits.drain = config.limits.drain.min(DRAIN);
        // One thread: a test needs a small server and sends one request at a time.
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
                // An error means that the handle was dropped, which also ends the server.
                let _ = stopped.await;
            }));
        };
        let thread = std::thread::Builder::new().name("sandbox".into()).spawn(serve);
        let thread = thread.map_err(StartError::System)?;
        Ok(Self { url, addresses, stop: Some(stop), thread: Some(thread) })
    }

    /// The URL of the server, without a slash at the end: `http://127.0.0.1:49152`.
    #[must_use]
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The addresses it listens on.
    #[must_use]
    #[cfg_attr(not(test), expect(dead_code, reason = "used by the tests of this module"))]
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // An error means that the server has already ended.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // The thread's own panic message was already printed. A second panic during a drop would abort
            // the process.
            let _ = thread.join();
        }
    }
}

//! The server: binds, accepts, serves each connection under its limits, and ends gracefully.
//!
//! Deliberately absent: TLS and HTTP/2, which a local simulator does not need; a queue of any kind.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::Response;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::io::connection::{Activity, Closing, Watched};
use crate::io::cors::Cors;
use crate::io::edge::{Edge, FULL, RequestHandler, Shared, refusal};
use crate::io::guard::Guard;
use crate::io::limits::Limits;
use crate::io::listen::{BindError, listen};
use crate::io::socket::Socket;
use crate::io::wal::log::Durable;
use crate::value::ErrorCode;

/// Most that hyper buffers of a connection's input, and takes from it at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// How a server is reached, and by whom.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerConfig {
    /// `--host`: an address or a name; both loopback addresses without it.
    pub(crate) host: Option<String>,
    /// `--port`: 0 for a free one.
    pub(crate) port: u16,
    /// `--allowed-host`: further names to answer to.
    pub(crate) allowed_hosts: Vec<String>,
    /// `--cors-origin`: pages that may read replies.
    pub(crate) cors_origins: Vec<String>,
    /// Headers of replies that the contract names, for those pages.
    pub(crate) exposed_headers: Vec<String>,
    /// `--admin-token`: asked of control routes as `Sandbox-Admin-Token`.
    pub(crate) admin_token: Option<String>,
    /// `--insecure-no-auth`: other machines may reach the control routes without a token.
    pub(crate) insecure_no_auth: bool,
    /// Where inputs must be before a reply leaves.
    pub(crate) durable: Option<Durable>,
    /// Bounds of time and size.
    pub(crate) limits: Limits,
}

/// A server that is about to be.
pub(crate) struct Server;

/// A server that listens, but does not answer yet: clients that connect wait in the kernel.
pub(crate) struct Bound<A> {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared<A>>,
}

impl Server {
    /// Opens the sockets. Must be called within a tokio runtime.
    pub(crate) async fn bind<A: RequestHandler>(
        config: &ServerConfig,
        engine: Arc<A>,
    ) -> Result<Bound<A>, BindError> {
        let is_protected = config.admin_token.is_some() || config.insecure_no_auth;
        let listeners = listen(config.host.as_deref(), config.port, is_protected).await?;
        let addresses =
            listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
        let cors = Cors::new(&config.cors_origins).exposing(&config.exposed_headers);
        let guard = Guard::new(&config.allowed_hosts, config.admin_token.clone(), cors);
        let shared = Arc::new(Shared::new(engine, guard, config.limits, config.durable.clone()));
        Ok(Bound { listeners, addresses, shared })
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Everything in flight was answered.
    Drained,
    /// The time for it ran out, and connections were cut.
    Cut,
}

impl<A: RequestHandler> Bound<A> {
    /// Where the server listens: one port, the first address first.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The URL to reach it at from this machine, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        let address = self.addresses.first().copied();
        let mut address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        if address.ip().is_unspecified() {
            // "Any address" is nowhere to connect to.
            let is_v4 = address.is_ipv4();
            address.set_ip(if is_v4 {
                [127, 0, 0, 1].into()
            } else {
                [0, 0, 0, 0, 0, 0, 0, 1].into()
            });
        }
        format!("http://{address}")
    }

    /// Serves until `shutdown` is done, then takes nothing new and finishes what is in flight.
    pub(crate) async fn serve(self, shutdown: impl Future<Output = ()>) -> Ended {
        let Self { listeners, shared, .. } = self;
        let (close, closing) = watch::channel(false);
        let drain = shared.limits.drain;
        {
            let mut shutdown = pin!(shutdown);
            let mut door = Door::new(shared, closing);
            loop {
                tokio::select! {
                    biased;
                    () = &mut shutdown => break,
                    () = door.admit_next(&listeners) => {}
                }
            }
        }
        drop(listeners);
        // Whoever listens for the close is a connection that still lives; without any, there is nothing to send.
        let _ = close.send(true);
        match tokio::time::timeout(drain, close.closed()).await {
            Ok(()) => Ended::Drained,
            Err(_) => Ended::Cut,
        }
    }
}

/// Lets connections in.
struct Door<A> {
    shared: Arc<Shared<A>>,
    http: http1::Builder,
    closing: Closing,
    open: Arc<AtomicUsize>,
    /// What a connection beyond the limit is told.
    full: Bytes,
    /// How long the door stays shut after the system had no means for another socket.
    pause: Duration,
}

const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl<A: RequestHandler> Door<A> {
    fn new(shared: Arc<Shared<A>>, closing: Closing) -> Self {
        let full = raw(&refusal(shared.engine.as_ref(), None, ErrorCode::Overloaded, FULL));
        let http = protocol(&shared.limits);
        Self { shared, http, closing, open: Arc::default(), full, pause: SHORTEST_PAUSE }
    }

    /// Accepts one connection and starts to serve it. May be dropped while it waits.
    async fn admit_next(&mut self, listeners: &[TcpListener]) {
        match accept(listeners).await {
            Ok(stream) => {
                self.pause = SHORTEST_PAUSE;
                self.serve(stream);
            }
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                // No file descriptor or memory left: it passes when connections close, and asking at once would
                // keep a core busy.
                tracing::warn!(%error, pause_ms = self.pause.as_millis(), "cannot accept");
                let pause = self.pause;
                self.pause = (pause * 2).min(LONGEST_PAUSE);
                tokio::time::sleep(pause).await;
            }
        }
    }

    fn serve(&self, stream: TcpStream) {
        let guest = Guest::new(&self.open);
        if guest.number > self.shared.limits.connections {
            tracing::warn!(limit = self.shared.limits.connections, "too many connections");
            // One try: a client that does not take it at once gets the close alone.
            let _ = stream.try_write(&self.full);
            return;
        }
        // A reply is one write: holding it back for more would only delay it.
        let _ = stream.set_nodelay(true);
        let activity = Arc::new(Activity::new());
        let edge = Edge::new(Arc::clone(&self.shared), Arc::clone(&activity));
        let socket = TokioIo::new(Socket::new(stream, Arc::clone(&activity)));
        let connection = self.http.serve_connection(socket, edge);
        let limits = self.shared.limits;
        let watched = Watched::new(connection, activity, limits, self.closing.clone());
        tokio::spawn(async move {
            watched.await;
            drop(guest);
        });
    }
}

/// hyper's settings. Its limit of 100 fields is its default, which alone needs no allocation a request; its header timer is off since
/// ours tells a slow head from an idle connection; its pipelining is ours, too (`socket`).
fn protocol(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_buf_size(BUFFER_BYTES.max(limits.head_bytes))
        // A client that shuts its sending side still wants its reply.
        .half_close(true);
    http
}

/// The next connection of any listener.
async fn accept(listeners: &[TcpListener]) -> io::Result<TcpStream> {
    std::future::poll_fn(|cx| {
        for listener in listeners {
            if let Poll::Ready(accepted) = listener.poll_accept(cx) {
                return Poll::Ready(accepted.map(|(stream, _)| stream));
            }
        }
        Poll::Pending
    })
    .await
}

/// Whether the client was gone before it was let in: no reason to pause.
fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// A connection in the count of open ones.
struct Guest {
    open: Arc<AtomicUsize>,
    number: usize,
}

impl Guest {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        let number = open.fetch_add(1, Ordering::Relaxed) + 1;
        Self { open: Arc::clone(open), number }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A reply as it goes over the wire, for a connection that hyper does not get.
fn raw(response: &Response<Bytes>) -> Bytes {
    let mut out = BytesMut::with_capacity(512);
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    out.put_slice(format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).as_bytes());
    for (name, value) in response.headers() {
        out.put_slice(name.as_str().as_bytes());
        out.put_slice(b": ");
        out.put_slice(value.as_bytes());
        out.put_slice(b"\r\n");
    }
    let length = response.body().len();
    out.put_slice(format!("connection: close\r\ncontent-length: {length}\r\n\r\n").as_bytes());
    out.put_slice(response.body());
    out.freeze()
}

//! The server: binds, accepts, serves each connection with its limits, and ends gracefully.
//!
//! Deliberately absent: TLS and HTTP/2, which a local simulator does not need; a queue of any kind.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes, BytesMut};
use http::Response;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::watch;

use crate::io::connection::{Activity, Closing, Watched};
use crate::io::cors::Cors;
use crate::io::edge::{Edge, FULL, Shared};
use crate::io::guard::{Guard, is_host};
use crate::io::handler::RequestHandler;
use crate::io::limits::Limits;
use crate::io::listen::{BindError, listen};
use crate::io::metrics::Metrics;
use crate::io::peers::Peers;
use crate::io::socket::{Refusals, Socket};
use crate::io::wal::durable::Durable;
use crate::value::aside::Work;
use crate::value::{ErrorCode, aside, long_work};
use crate::world::script::Rate;

/// The most bytes that hyper buffers of a connection's input, and reads at a time.
const BUFFER_BYTES: usize = 16 * 1024;

/// The addresses of a server and its allowed callers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServerConfig {
    /// `--host`: an address or a name; without it, both loopback addresses.
    pub(crate) host: Option<String>,
    /// `--port`: 0 for a free one.
    pub(crate) port: u16,
    /// `--base-path`, for the URL of the server.
    pub(crate) base_path: String,
    /// `--allowed-host`: further names to accept.
    pub(crate) allowed_hosts: Vec<String>,
    /// `--cors-origin`: pages that may read replies.
    pub(crate) cors_origins: Vec<String>,
    /// The headers of replies that the contract names, for those pages.
    pub(crate) exposed_headers: Vec<String>,
    /// `--admin-token`: control routes require it as `Sandbox-Admin-Token`.
    pub(crate) admin_token: Option<String>,
    /// `--insecure-no-auth`: other machines may reach the control routes without a token.
    pub(crate) insecure_no_auth: bool,
    /// The log that must contain an input before its reply is sent.
    pub(crate) durable: Option<Durable>,
    /// Limits of time and size.
    pub(crate) limits: Limits,
    /// `--quota`: requests of one key.
    pub(crate) quota: Option<Rate>,
    /// The counters of requests.
    pub(crate) metrics: Arc<Metrics>,
}

/// A server before it listens.
pub(crate) struct Server;

/// A server that listens but does not answer yet. Clients that connect wait in the kernel.
pub(crate) struct Bound<A> {
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    base_path: String,
    shared: Arc<Shared<A>>,
}

impl Server {
    /// Opens the sockets. Must be called within a tokio runtime.
    pub(crate) async fn bind<A: RequestHandler>(
        config: &ServerConfig,
        engine: Arc<A>,
    ) -> Result<Bound<A>, BindError> {
        if let Some(wrong) =
            config.allowed_hosts.iter().find(|name| !name.is_empty() && !is_host(name))
        {
            return Err(BindError::NoHost(wrong.clone()));
        }
        let is_protected = config.admin_token.is_some() || config.insecure_no_auth;
        let listeners = listen(config.host.as_deref(), config.port, is_protected).await?;
        let addresses =
            listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
        let cors = Cors::new(&config.cors_origins).exposing(&config.exposed_headers);
        let guard = Guard::new(&config.allowed_hosts, config.admin_token.clone(), cors)
            .with_quota(config.quota);
        long_work::install(beside_other_work);
        aside::install(after_other_work);
        let (durable, metrics) = (config.durable.clone(), Arc::clone(&config.metrics));
        let shared = Arc::new(Shared::new(engine, guard, config.limits, durable, metrics));
        Ok(Bound { listeners, addresses, base_path: config.base_path.clone(), shared })
    }
}

/// Runs a long calculation on this thread. In a runtime with several threads, another one takes over the connections first.
fn beside_other_work(work: &mut dyn FnMut()) {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Runs background work in order on a separate thread. If there is no such thread, it runs here.
fn after_other_work(work: Work) {
    static QUEUE: LazyLock<Sender<Work>> = LazyLock::new(|| {
        let (queue, due) = channel::<Work>();
        let run = move || due.into_iter().for_each(|work| work());
        // If the thread cannot be created, the channel has no receiver, and the sender runs the work.
        drop(std::thread::Builder::new().name("sandbox-aside".into()).spawn(run));
        queue
    });
    if let Err(SendError(work)) = QUEUE.send(work) {
        work();
    }
}

/// The reason for the end of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// All requests in flight were answered.
    Drained,
    /// The time limit ended, and connections were cut.
    Cut,
}

impl<A: RequestHandler> Bound<A> {
    /// The addresses of the server; all have the same port.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The URL of the server for this machine, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        let address = self.addresses.first().copied();
        let mut address = address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)));
        if address.ip().is_unspecified() {
            // A client cannot connect to the "any" address.
            let is_v4 = address.is_ipv4();
            address.set_ip(if is_v4 {
                [127, 0, 0, 1].into()
            } else {
                [0, 0, 0, 0, 0, 0, 0, 1].into()
            });
        }
        format!("http://{address}{}", self.base_path)
    }

    /// Serves until `shutdown` is done. Then it accepts nothing new and finishes the requests in flight.
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
        // Only open connections receive the close. If there are none, sending fails, which is fine.
        let _ = close.send(true);
        let drained = |most| tokio::time::timeout(most, close.closed());
        if drained(UNREPORTED_DRAIN).await.is_ok() {
            return Ended::Drained;
        }
        tracing::warn!(
            connections = close.receiver_count(),
            "waiting at most {} s for open requests; a second signal ends the process at once",
            drain.as_secs()
        );
        match drained(drain.saturating_sub(UNREPORTED_DRAIN)).await {
            Ok(()) => Ended::Drained,
            Err(_) => Ended::Cut,
        }
    }
}

/// Accepts connections.
struct Door<A> {
    shared: Arc<Shared<A>>,
    http: http1::Builder,
    closing: Closing,
    open: Arc<AtomicUsize>,
    /// The connections of each peer.
    peers: Arc<Peers>,
    /// The reply to a connection beyond the limit.
    full: Bytes,
    /// The replies to heads that are no requests.
    refusals: Arc<Refusals>,
    /// The pause in accepting connections after the system had no resources for another socket.
    pause: Duration,
    /// When refused connections were reported last, and how many were refused since.
    refused: (Option<Instant>, u64),
}

/// The time for which the end of open requests is awaited without a report.
const UNREPORTED_DRAIN: Duration = Duration::from_millis(500);

/// The most header fields of a request, which is the limit of hyper. Setting it there would cost an allocation for each request.
const MOST_FIELDS: usize = 100;

/// The least time between two reports of refused connections: a line for each could fill a pipe that is read slowly.
const REPORT_PAUSE: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

impl<A: RequestHandler> Door<A> {
    fn new(shared: Arc<Shared<A>>, closing: Closing) -> Self {
        let full = raw(&shared.engine.refuse(None, ErrorCode::Overloaded, FULL));
        let refuse = |code, detail: &str| raw(&shared.engine.refuse(None, code, detail));
        let most = shared.limits.head_bytes;
        let too_large = format!(
            "the request line and the headers have more than {most} bytes or {MOST_FIELDS} fields"
        );
        let refusals = Refusals {
            malformed: refuse(ErrorCode::InvalidHeader, "the request is not well-formed HTTP/1.1"),
            too_large: refuse(ErrorCode::HeadTooLarge, &too_large),
            http2: refuse(ErrorCode::InvalidHeader, "this server speaks HTTP/1.1, not HTTP/2"),
        };
        let http = protocol(&shared.limits);
        let peers = Peers::sharing(shared.limits.connections);
        let (refusals, open) = (Arc::new(refusals), Arc::default());
        Self {
            shared,
            http,
            closing,
            open,
            peers,
            full,
            refusals,
            pause: SHORTEST_PAUSE,
            refused: (None, 0),
        }
    }

    fn report_refusal(&mut self) {
        let (last, count) = &mut self.refused;
        *count += 1;
        if last.is_none_or(|last| last.elapsed() >= REPORT_PAUSE) {
            let refused = std::mem::take(count);
            *last = Some(Instant::now());
            tracing::warn!(limit = self.shared.limits.connections, refused, "too many connections");
        }
    }

    /// Accepts one connection and starts to serve it. May be dropped while it waits.
    async fn admit_next(&mut self, listeners: &[TcpListener]) {
        match accept(listeners).await {
            Ok((stream, peer)) => {
                self.pause = SHORTEST_PAUSE;
                self.serve(stream, peer.ip());
            }
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                // No file descriptor or memory is left. This ends when connections close. An immediate retry
                // would keep a core busy.
                tracing::warn!(%error, pause_ms = self.pause.as_millis(), "cannot accept");
                let pause = self.pause;
                self.pause = (pause * 2).min(LONGEST_PAUSE);
                tokio::time::sleep(pause).await;
            }
        }
    }

    fn serve(&mut self, stream: TcpStream, peer: IpAddr) {
        let guest = Guest::new(&self.open);
        let share = self.peers.take(peer);
        if guest.number > self.shared.limits.connections || share.is_none() {
            self.report_refusal();
            // A single attempt: a client that does not read the reply at once sees only the closed connection.
            let _ = stream.try_write(&self.full);
            return;
        }
        // A reply is one write, so waiting for more data would only delay it.
        let _ = stream.set_nodelay(true);
        let activity = Arc::new(Activity::new());
        let edge = Edge::new(Arc::clone(&self.shared), Arc::clone(&activity), peer);
        let socket =
            TokioIo::new(Socket::new(stream, Arc::clone(&activity), Arc::clone(&self.refusals)));
        let connection = self.http.serve_connection(socket, edge);
        let limits = self.shared.limits;
        let watched = Watched::new(connection, activity, limits, self.closing.clone());
        tokio::spawn(async move {
            watched.await;
            drop((guest, share));
        });
    }
}

/// hyper's settings. Its limit of 100 fields is the default, which needs no allocation for each request. Its
/// header timer is off, because
/// `connection` distinguishes a slow head from an idle connection. Its pipelining is off, because `socket`
/// does it.
fn protocol(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_buf_size(BUFFER_BYTES.max(limits.head_bytes))
        // A client that shuts its sending side still expects its reply.
        .half_close(true);
    http
}

/// The next connection of any listener.
async fn accept(listeners: &[TcpListener]) -> io::Result<(TcpStream, SocketAddr)> {
    std::future::poll_fn(|cx| {
        for listener in listeners {
            if let Poll::Ready(accepted) = listener.poll_accept(cx) {
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    })
    .await
}

/// Whether the client disconnected before the accept. This is no reason to pause.
fn concerns_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// An open connection, as counted.
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

/// The bytes of a reply for a connection that hyper does not serve.
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
    out.put_slice(b"x-content-type-options: nosniff\r\n");
    out.put_slice(format!("connection: close\r\ncontent-length: {length}\r\n\r\n").as_bytes());
    out.put_slice(response.body());
    out.freeze()
}

//! The addresses on which the server listens, and those that it refuses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::{fmt, io};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait in the kernel; the kernel may lower this number.
const BACKLOG: u32 = 4_096;
/// Maximum number of ports that are tried if a free IPv4 port is in use on IPv6.
const ATTEMPTS: u32 = 16;

/// The reason why the server does not listen.
#[derive(Debug)]
pub(crate) enum BindError {
    /// Another process uses the address.
    Busy(SocketAddr),
    /// The system refuses the address.
    Refused(SocketAddr, io::Error),
    /// The host has no address.
    UnknownHost(String, io::Error),
    /// No host has this name, so no request could have it.
    NoHost(String),
    /// Other machines could reach the server, and nothing protects its control routes.
    Exposed(IpAddr),
}

impl fmt::Display for BindError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(address) => write!(
                out,
                "{address} is in use by another process; choose another --port, or 0 for a free one"
            ),
            Self::Refused(address, error) => write!(out, "cannot listen on {address}: {error}"),
            Self::UnknownHost(host, error) => write!(out, "cannot resolve --host {host}: {error}"),
            Self::NoHost(name) => write!(
                out,
                "--allowed-host {name:?}: expected the name of a host without a port, such as sandbox.local"
            ),
            Self::Exposed(address) => write!(
                out,
                "{address} can be reached from other machines; protect the control routes with \
                 --admin-token TOKEN, or set --insecure-no-auth"
            ),
        }
    }
}

impl std::error::Error for BindError {}

/// Listens on `host`, or on both loopback addresses without one, and on the same port of each.
///
/// IPv6 is optional, because a machine may not have it. A port that is *in use* there is still an error,
/// because clients that use `localhost`
/// would reach the other process.
pub(crate) async fn listen(
    host: Option<&str>,
    port: u16,
    is_protected: bool,
) -> Result<Vec<TcpListener>, BindError> {
    let addresses = match host {
        None | Some("localhost") => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
        Some(host) => resolve(host).await?,
    };
    let open = addresses.iter().find(|address| !address.is_loopback());
    if let Some(open) = open.filter(|_| !is_protected) {
        return Err(BindError::Exposed(*open));
    }
    let mut attempt = 0;
    loop {
        attempt += 1;
        match listen_on_all(&addresses, port) {
            Err(BindError::Busy(_)) if port == 0 && attempt < ATTEMPTS => {}
            result => return result,
        }
    }
}

async fn resolve(host: &str) -> Result<Vec<IpAddr>, BindError> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let unknown = |error| BindError::UnknownHost(host.to_owned(), error);
    let found = tokio::net::lookup_host((bare, 0)).await.map_err(unknown)?;
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in found.map(|address| address.ip()) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(unknown(io::ErrorKind::NotFound.into()));
    }
    Ok(addresses)
}

/// The first address must work. A further one may be missing on this machine, but must not be in use.
fn listen_on_all(addresses: &[IpAddr], mut port: u16) -> Result<Vec<TcpListener>, BindError> {
    let mut listeners = Vec::with_capacity(addresses.len());
    for address in addresses {
        let address = SocketAddr::new(*address, port);
        match listen_on(address) {
            Ok(listener) => {
                port = listener.local_addr().map_or(port, |local| local.port());
                listeners.push(listener);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                return Err(BindError::Busy(address));
            }
            Err(error) if listeners.is_empty() => return Err(BindError::Refused(address, error)),
            Err(error) => tracing::debug!(%address, %error, "not listening there"),
        }
    }
    Ok(listeners)
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restart must not wait for the closing connections of the old process. On Windows the option would let
    // two processes share a port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

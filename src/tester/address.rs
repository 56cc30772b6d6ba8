//! Decides where a webhook may be sent: parses the URL strictly, and checks every address that it can reach.
//!
//! Otherwise the server could be used to reach its own network. Only the plain spelling of an address is accepted. Text that a lenient
//! resolver might read as an address is refused. A name is checked again after it is resolved (`io::courier`). Deliberately absent: name
//! resolution and sockets.

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Names of the metadata services of clouds.
const METADATA: [&str; 6] = [
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.azure.internal",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Maximum length of a URL.
const MOST_CHARACTERS: usize = 2_048;

/// The allowed addresses, depending on the addresses from which the server itself is reachable.
#[derive(Clone, Debug)]
pub(crate) struct Policy {
    /// Whether this machine and private networks are allowed: only if the server is reachable from this machine alone.
    pub(crate) private: bool,
    /// The server's own addresses, which never receive webhooks.
    pub(crate) own: Vec<SocketAddr>,
}

impl Default for Policy {
    /// The policy of a server on loopback.
    fn default() -> Self {
        Self { private: true, own: Vec::new() }
    }
}

/// A receiver's URL, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// The `Host` header: host and port, without the default port.
    pub(crate) authority: String,
    /// Path and query, starting with the slash.
    pub(crate) path: String,
}

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// In lower case, without a trailing dot.
    Name(String),
    Address(IpAddr),
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "http://{}{}", self.authority, self.path)
    }
}

impl Target {
    /// Whether it is this port of the machine's own address.
    pub(crate) fn is_on_this_machine(&self, port: u16) -> bool {
        let is_own = match &self.host {
            Host::Name(name) => name == "localhost",
            Host::Address(address) => address.is_loopback() || address.is_unspecified(),
        };
        is_own && self.port == port
    }

    /// Parses a URL, and checks its host without resolving names.
    pub(crate) fn parse(url: &str, policy: &Policy) -> Result<Self, String> {
        let (authority, path) = split(url)?;
        let (host, port) = host_and_port(authority)?;
        let host = read_host(host)?;
        match &host {
            Host::Address(address) => policy.judge(SocketAddr::new(*address, port))?,
            Host::Name(name) => policy.judge_name(name, port)?,
        }
        let authority = host.authority(port);
        Ok(Self { host, port, authority, path: path.to_owned() })
    }
}

impl Host {
    fn authority(&self, port: u16) -> String {
        let host = match self {
            Self::Name(name) => name.clone(),
            Self::Address(IpAddr::V4(address)) => address.to_string(),
            Self::Address(IpAddr::V6(address)) => format!("[{address}]"),
        };
        match port {
            80 => host,
            port => format!("{host}:{port}"),
        }
    }
}

impl Target {
    /// A URL that was checked when it was stored. Its address is checked again before each delivery.
    pub(crate) fn kept(url: &str) -> Result<Self, String> {
        Self::parse(url, &Policy::default())
    }
}

/// Splits into authority, and path with query.
fn split(url: &str) -> Result<(&str, &str), String> {
    if url.len() > MOST_CHARACTERS {
        return Err(format!("a URL may have at most {MOST_CHARACTERS} characters"));
    }
    if let Some(odd) = url.chars().find(|c| {
        !c.is_ascii_graphic() || matches!(c, '\\' | '"' | '<' | '>' | '^' | '`' | '{' | '|' | '}')
    }) {
        return Err(format!(
            "{odd:?} is not allowed in a URL: write host names in ASCII and percent-encode the \
                path"
        ));
    }
    let (scheme, rest) = url
        .split_once("://")
        .ok_or("expected a complete URL such as http://127.0.0.1:8080/webhooks")?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" => {}
        "https" => {
            return Err(
                "TLS is not supported: use an http URL, or a proxy that adds TLS".to_owned()
            );
        }
        _ => return Err(format!("expected an http URL, not {scheme:?}")),
    }
    if rest.contains('#') {
        return Err("a webhook URL must not contain a fragment".to_owned());
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match path.as_bytes().first() {
        None => return Ok((authority, "/")),
        Some(b'/') => {}
        Some(_) => return Err("expected a slash between the host and the query".to_owned()),
    }
    http::uri::PathAndQuery::try_from(path)
        .map_err(|error| format!("the path is not well-formed: {error}"))?;
    Ok((authority, path))
}

fn host_and_port(authority: &str) -> Result<(&str, u16), String> {
    if authority.contains('@') {
        return Err("a webhook URL must not contain a user or a password".to_owned());
    }
    if authority.contains('%') {
        return Err("a host must not contain percent-encoding or a zone".to_owned());
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (inside, after) =
                rest.split_once(']').ok_or("the bracket of the host is not closed")?;
            let end = inside.len() + 2;
            match after.strip_prefix(':') {
                Some(port) => (&authority[..end], Some(port)),
                None if after.is_empty() => (authority, None),
                None => return Err("expected a colon and a port after the bracket".to_owned()),
            }
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = match port {
        None => 80,
        Some(text) => {
            let digits = (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            let port = digits.then(|| text.parse::<u16>().ok()).flatten();
            port.filter(|port| *port > 0)
                .ok_or("expected a port from 1 to 65535; write an IPv6 address in brackets")?
        }
    };
    Ok((host, port))
}

fn read_host(text: &str) -> Result<Host, String> {
    if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address: Ipv6Addr = inside
            .parse()
            .map_err(|_| "expected an IPv6 address between the brackets".to_owned())?;
        return Ok(Host::Address(plain(address)));
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if name.len() > 253 || !name.split('.').all(label) {
        return Err(format!("{text:?} is not a valid host name"));
    }
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    // Resolvers read such names as addresses: 127.1, 0x7f.1, 2130706433, 0177.0.0.1.
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|b| b.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    if number {
        return Err(format!(
            "{text:?} is an unusual spelling of an address: write four decimal numbers without \
                leading zeros"
        ));
    }
    Ok(Host::Name(name))
}

/// An IPv6 address that contains an IPv4 address, as that IPv4 address.
fn plain(address: Ipv6Addr) -> IpAddr {
    address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4)
}

/// The kind of network of an address.
enum Place {
    /// This machine or a private network.
    Private(&'static str),
    Never(&'static str),
    Public,
}

impl Policy {
    /// Whether a connection to that address is allowed; an error says why not.
    pub(crate) fn judge(&self, address: SocketAddr) -> Result<(), String> {
        let ip = match address.ip() {
            IpAddr::V4(ip) => IpAddr::V4(ip),
            IpAddr::V6(ip) => plain(ip),
        };
        if self.is_own(SocketAddr::new(ip, address.port())) {
            return Err(format!(
                "{ip}:{} is the sandbox itself and cannot receive its webhooks",
                address.port()
            ));
        }
        let place = match ip {
            IpAddr::V4(ip) => place_v4(ip),
            IpAddr::V6(ip) => place_v6(ip),
        };
        match place {
            Place::Never(what) => Err(format!("{ip} is {what}: webhooks are never sent there")),
            Place::Private(what) if !self.private => Err(format!(
                "{ip} is {what}: it is allowed only if the server is bound to loopback, or if the \
                    endpoint was given with --webhook"
            )),
            Place::Private(_) | Place::Public => Ok(()),
        }
    }

    /// Whether it is one of the server's own addresses. All loopback addresses of this machine count as one.
    fn is_own(&self, address: SocketAddr) -> bool {
        self.own.iter().any(|own| {
            let same = own.ip() == address.ip()
                || own.ip().is_unspecified()
                || own.ip().is_loopback() && address.ip().is_loopback();
            own.port() == address.port() && same
        })
    }

    /// Checks names that need no resolution.
    fn judge_name(&self, name: &str, port: u16) -> Result<(), String> {
        if name == "localhost" || name.ends_with(".localhost") {
            return self.judge(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
        }
        if METADATA.contains(&name) {
            return Err(format!(
                "{name} is a cloud's metadata service: webhooks are never sent \
                there"
            ));
        }
        Ok(())
    }
}

fn place_v4(ip: Ipv4Addr) -> Place {
    use Place::{Never, Private, Public};
    match ip.octets() {
        [0, ..] => Never("not the address of a host"),
        [169, 254, ..] => Never("link-local, where clouds provide their metadata"),
        [100, 100, 100, 200] | [168, 63, 129, 16] | [192, 0, 0, _] => {
            Never("reserved, where clouds provide their metadata")
        }
        [127, ..] => Private("this machine"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => {
            Private("an address of a private network")
        }
        [100, 64..=127, ..] => Private("an address of a carrier's network"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Never("reserved for examples"),
        [192, 88, 99, _] => Never("a relay between IPv4 and IPv6"),
        [198, 18..=19, ..] => Never("reserved for benchmarks"),
        [224..=239, ..] => Never("multicast"),
        [255, 255, 255, 255] => Never("broadcast"),
        [240..=255, ..] => Never("reserved"),
        _ => Public,
    }
}

fn place_v6(ip: Ipv6Addr) -> Place {
    use Place::{Never, Private, Public};
    const EMBEDS: &str = "an IPv4 address inside an IPv6 address; write it as IPv4";
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Never("not the address of a host"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Private("this machine"),
        [0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, ..] | [0x2002, ..] | [0x2001, 0, ..] => {
            Never(EMBEDS)
        }
        [_, _, _, _, 0 | 0x200, 0x5efe, ..] => Never(EMBEDS),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => {
            Never("a cloud's metadata service")
        }
        [0xfc00..=0xfdff, ..] => Private("an address of a private network"),
        [0xfe80..=0xfebf, ..] => Never("link-local"),
        [0xfec0..=0xfeff, ..] => Never("site-local"),
        [0xff00..=0xffff, ..] => Never("multicast"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Never("reserved for examples"),
        [0x100, 0, 0, 0, ..] => Never("an address where all traffic is discarded"),
        [0x2000..=0x3fff, ..] => Public,
        _ => Never("reserved"),
    }
}

#[cfg(test)]
mod tests;

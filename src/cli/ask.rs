//! One question to a running sandbox, over a connection of its own.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The most of a reply that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Whom to ask, and how long to wait.
#[derive(Debug)]
pub(super) struct Sandbox<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) admin_token: Option<&'a str>,
    pub(super) patience: Duration,
}

/// What it answered.
#[derive(Debug)]
pub(super) struct Reply {
    /// The whole status line.
    pub(super) status: String,
    pub(super) body: Vec<u8>,
}

impl Sandbox<'_> {
    /// Asks for that path with these lines of a head, each with its end, and that body.
    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        head: &str,
        body: &str,
    ) -> io::Result<Reply> {
        let unresolved = || io::Error::other("the host has no address");
        let mut addresses = (self.host, self.port).to_socket_addrs()?;
        let address = addresses.next().ok_or_else(unresolved)?;
        let mut stream = TcpStream::connect_timeout(&address, self.patience)?;
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_write_timeout(Some(self.patience))?;
        let token = self.admin_token.map(|token| format!("Sandbox-Admin-Token: {token}\r\n"));
        let token = token.unwrap_or_default();
        let length = match body {
            "" => String::new(),
            body => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{token}{head}{length}Connection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes())?;
        let mut reply = Vec::new();
        stream.take(MOST_BYTES).read_to_end(&mut reply)?;
        let end = reply.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.ok_or_else(|| io::Error::other("the reply has no end of its head"))?;
        let head = String::from_utf8_lossy(&reply[..end]);
        let status = head.lines().next().unwrap_or_default().to_owned();
        let body = reply.split_off(end + 4);
        Ok(Reply { status, body })
    }
}

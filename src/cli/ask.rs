//! One request to a running sandbox, on its own connection.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The most bytes that are read of a reply.
const MOST_BYTES: u64 = 64 << 20;

/// The address of the sandbox, and how long to wait.
#[derive(Debug)]
pub(super) struct Sandbox<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) admin_token: Option<&'a str>,
    pub(super) patience: Duration,
}

/// The reply.
#[derive(Debug)]
pub(super) struct Reply {
    /// The whole status line.
    pub(super) status: String,
    pub(super) body: Vec<u8>,
}

impl Sandbox<'_> {
    /// Sends a request for this path. Each line of `head` includes its line end.
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
        let end = end.ok_or_else(|| io::Error::other("the head of the reply has no end"))?;
        let head = String::from_utf8_lossy(&reply[..end]);
        let status = head.lines().next().unwrap_or_default().to_owned();
        let body = reply.split_off(end + 4);
        Ok(Reply { status, body })
    }
}

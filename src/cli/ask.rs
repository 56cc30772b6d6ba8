//! Requests to a running sandbox, each on its own connection, and the flags that say which one.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use clap::Args;
use http::Uri;
use serde_json::Value;

use crate::cli::failure::Failure;
use crate::cli::world_args::{self, DEFAULT_PORT};
use crate::engine::contract::BasePath;

/// The most bytes that are read of a reply.
const MOST_BYTES: u64 = 64 << 20;

/// The address of the sandbox, and the token of its control routes.
#[derive(Args, Clone, Debug)]
pub(super) struct SandboxArgs {
    /// Host of the sandbox
    #[arg(long, env = "SANDBOX_HOST", default_value = "127.0.0.1", value_parser = bare)]
    host: String,
    /// Port of the sandbox
    #[arg(long, short, env = "SANDBOX_PORT", default_value_t = DEFAULT_PORT, value_name = "P", value_parser = world_args::port)]
    port: u16,
    /// Path before every route of the sandbox, if it was started with one
    #[arg(
        long,
        env = "SANDBOX_BASE_PATH",
        default_value = "",
        hide_default_value = true,
        value_name = "PATH"
    )]
    base_path: BasePath,
    /// Token of the control routes, if the sandbox has one
    #[arg(long, env = "SANDBOX_ADMIN_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    admin_token: Option<String>,
}

/// The key of a world.
#[derive(Args, Clone, Debug)]
pub(super) struct KeyArgs {
    #[arg(
        help = "The key of the world [default: the variable SANDBOX_KEY, or else test_key]",
        long,
        visible_alias = "key",
        env = "SANDBOX_API_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    api_key: Option<String>,
}

impl KeyArgs {
    /// The key of the flag, or else of `SANDBOX_KEY`, which `explore` and `exam` set, or else `test_key`.
    pub(super) fn key(&self) -> Result<String, Failure> {
        let of_lab = || std::env::var("SANDBOX_KEY").ok().filter(|key| !key.is_empty());
        let key = self.api_key.clone().or_else(of_lab);
        let key = key.unwrap_or_else(|| "test_key".to_owned());
        in_header("--api-key", &key)?;
        Ok(key)
    }
}

/// A sandbox, and the key of one of its worlds.
#[derive(Args, Debug)]
pub(super) struct WorldOfKeyArgs {
    #[command(flatten)]
    key: KeyArgs,
    #[command(flatten)]
    pub(super) sandbox: SandboxArgs,
}

/// The reply.
#[derive(Debug)]
pub(super) struct Reply {
    /// The whole status line.
    pub(super) status: String,
    /// The tasks that wait for a manual clock.
    pub(super) waiting: Option<String>,
    pub(super) body: Vec<u8>,
}

impl WorldOfKeyArgs {
    /// The header line that names the world, with its line end.
    pub(super) fn authorization(&self) -> Result<String, Failure> {
        Ok(format!("Authorization: Bearer {}\r\n", self.key.key()?))
    }

    /// Sends a request, and returns the data of its answer; the inner error is the detail of a refusal.
    pub(super) fn answer(
        &self,
        patience: Duration,
        asked: (&str, &str),
        body: &str,
    ) -> Result<Result<Value, String>, Failure> {
        let reply = self.sandbox.ask(patience, asked, &self.authorization()?, body)?;
        let mut answer: Value = serde_json::from_slice(&reply.body).map_err(|_| {
            Failure::Impossible(format!("the answer is not from a sandbox: {:?}", reply.status))
        })?;
        if reply.status.contains(" 200 ") || reply.status.contains(" 201 ") {
            return Ok(Ok(answer["data"].take()));
        }
        Ok(Err(answer["detail"].as_str().unwrap_or(&reply.status).to_owned()))
    }

    /// The world of a key in the sandbox at that URL.
    pub(super) fn at(url: &str, key: &KeyArgs, admin_token: Option<&str>) -> Result<Self, String> {
        let sandbox = SandboxArgs::parse(url, admin_token.map(str::to_owned))?;
        Ok(Self { key: key.clone(), sandbox })
    }
}

impl SandboxArgs {
    /// The sandbox of a URL such as `http://127.0.0.1:4747` or `http://127.0.0.1:4747/sandbox`.
    fn parse(url: &str, admin_token: Option<String>) -> Result<Self, String> {
        let wrong = || format!("expected a URL such as http://127.0.0.1:{DEFAULT_PORT}");
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let is_plain = uri.scheme_str() == Some("http") && uri.query().is_none();
        let host = uri.host().filter(|_| is_plain && !url.contains('@')).ok_or_else(wrong)?;
        let path = uri.path().trim_end_matches('/');
        let base_path = path.parse().map_err(|expected| format!("its path: {expected}"))?;
        Ok(Self { host: bare(host)?, port: uri.port_u16().unwrap_or(80), base_path, admin_token })
    }

    /// The sandbox at the URL of a flag.
    pub(super) fn of_url(
        flag: &str,
        url: &str,
        admin_token: Option<String>,
    ) -> Result<Self, Failure> {
        Self::parse(url, admin_token).map_err(|why| Failure::Usage(format!("{flag} {url}: {why}")))
    }

    /// `host:port`, as messages show it, and the base path.
    pub(super) fn address(&self) -> String {
        let host = &self.host;
        let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
        format!("{host}:{}{}", self.port, self.base_path)
    }

    /// The path of a route.
    pub(super) fn path(&self, route: &str) -> String {
        format!("{}{route}", self.base_path)
    }

    /// The failure of a sandbox that does not answer.
    pub(super) fn unanswered(&self, error: &io::Error) -> Failure {
        Failure::Impossible(format!("no sandbox answers at {}: {error}", self.address()))
    }

    /// The header line with the token, with its line end; empty without a token.
    pub(super) fn token(&self) -> Result<String, Failure> {
        let given = self.admin_token.as_ref().filter(|token| !token.is_empty());
        let Some(token) = given else { return Ok(String::new()) };
        let token = in_header("--admin-token", token)?;
        Ok(format!("Sandbox-Admin-Token: {token}\r\n"))
    }

    /// Opens a connection whose reads and writes wait no longer than `patience`.
    pub(super) fn connect(&self, patience: Duration) -> io::Result<TcpStream> {
        let addresses: Vec<_> = (&*self.host, self.port).to_socket_addrs()?.collect();
        let mut failed = io::Error::other("the host has no address");
        let mut connect = |address| match TcpStream::connect_timeout(address, patience) {
            Ok(stream) => Some(stream),
            Err(error) => {
                failed = error;
                None
            }
        };
        // A name such as localhost has an address of each family, and a server may listen at one of them.
        let Some(stream) = addresses.iter().find_map(&mut connect) else { return Err(failed) };
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(stream)
    }

    /// Sends a request. Each line of `head` includes its line end.
    pub(super) fn ask(
        &self,
        patience: Duration,
        (method, path): (&str, &str),
        head: &str,
        body: &str,
    ) -> Result<Reply, Failure> {
        let token = self.token()?;
        let length = match body {
            "" => String::new(),
            body => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
        };
        let path = self.path(path);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{token}{head}{length}Connection: close\r\n\r\n{body}"
        );
        let exchanged = self.connect(patience).and_then(|stream| exchange(stream, &request));
        exchanged.map_err(|error| self.unanswered(&error))
    }
}

fn exchange(mut stream: TcpStream, request: &str) -> io::Result<Reply> {
    stream.write_all(request.as_bytes())?;
    let mut reply = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut reply)?;
    let end = reply.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| io::Error::other("the head of the reply has no end"))?;
    let head = String::from_utf8_lossy(&reply[..end]);
    let status = head.lines().next().unwrap_or_default().to_owned();
    let waiting = head.lines().find_map(|line| line.strip_prefix("sandbox-waiting: "));
    let waiting = waiting.map(str::to_owned);
    let body = reply.split_off(end + 4);
    Ok(Reply { status, waiting, body })
}

/// A host without the brackets of an IPv6 address: `[::1]` is `::1`.
fn bare(host: &str) -> Result<String, String> {
    let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    Ok(inside.unwrap_or(host).to_owned())
}

/// The value of a flag, if a header can contain it. The failure does not repeat it: it is a secret.
pub(super) fn in_header<'a>(flag: &str, value: &'a str) -> Result<&'a str, Failure> {
    if (1..=255).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(value);
    }
    Err(Failure::Usage(format!("{flag} must have 1 to 255 visible ASCII characters")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine without IPv6, or whose localhost has one address, cannot show it.
    #[test]
    fn every_address_of_a_host_is_tried() {
        for own in ["127.0.0.1", "::1"] {
            let Ok(listener) = std::net::TcpListener::bind((own, 0)) else { continue };
            let port = listener.local_addr().expect("an address").port();
            let addresses = ("localhost", port).to_socket_addrs().expect("localhost");
            if addresses.map(|address| address.ip()).any(|ip| ip.to_string() == own) {
                let url = format!("http://localhost:{port}");
                let sandbox = SandboxArgs::of_url("--url", &url, None).expect("a URL");
                assert!(sandbox.connect(Duration::from_secs(2)).is_ok(), "{own}");
            }
        }
    }

    #[test]
    fn an_ipv6_address_has_brackets_or_none() {
        #[derive(clap::Parser)]
        struct Flags {
            #[command(flatten)]
            sandbox: SandboxArgs,
        }
        for host in ["::1", "[::1]"] {
            let flags = ["sandbox", "--host", host, "--port", "1"];
            let flags = <Flags as clap::Parser>::try_parse_from(flags).map_err(|_| host);
            let sandbox = flags.expect("the flags are right").sandbox;
            assert_eq!((&*sandbox.host, &*sandbox.address()), ("::1", "[::1]:1"));
        }
        let of_url = SandboxArgs::parse("http://[::1]:1/", None).expect("it is a URL");
        assert_eq!((&*of_url.host, &*of_url.address()), ("::1", "[::1]:1"));
    }
}

//! HTTP/1.1 over a plain socket, one request for each connection, so that a test knows exactly what it sent.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// The maximum time of an answer; a longer wait means that the server hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    #[must_use]
    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    #[must_use]
    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json").bytes(body.to_string().as_bytes())
    }

    /// A body without a content type.
    #[must_use]
    pub(crate) fn bytes(mut self, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self
    }

    /// The bytes on the wire.
    pub(crate) fn wire(&self) -> Vec<u8> {
        let given = |name: &str| self.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
        let mut lines = vec![format!("{} {} HTTP/1.1", self.method, self.path)];
        if !given("host") {
            lines.push("Host: localhost".to_owned());
        }
        if !given("connection") {
            lines.push("Connection: close".to_owned());
        }
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        if let Some(body) = &self.body {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let mut bytes = format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }

    /// Sends it and reads the answer.
    pub(crate) fn send(&self, port: u16) -> Answer {
        let answer = self.try_send(port);
        answer.unwrap_or_else(|error| panic!("{} {}: {error}", self.method, self.path))
    }

    /// Sends the request; an error if the exchange ends without a complete answer.
    pub(crate) fn try_send(&self, port: u16) -> io::Result<Answer> {
        exchange(port, &self.wire(), self.method == "HEAD")
    }
}

/// The form in a log: method, path and body, without the key and with few headers.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = String::from_utf8_lossy(self.body.as_deref().unwrap_or_default());
        write!(f, "{} {} {body}", self.method, self.path)
    }
}

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In the order of the wire, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The only header of that name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(n, _)| n == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{name} was sent twice");
        value
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("an answer is UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text()))
    }

    /// The body of a success with this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// The resource that a call created.
    pub(crate) fn made(&self) -> Value {
        self.expect(201)["data"].take()
    }

    /// `data` of a 200.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        self.expect(200)["data"].take()
    }

    /// The problem document of a refusal with this status and code.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        let problem = self.json();
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["type"], format!("urn:sandbox:problem:{code}"));
        assert!(!problem["title"].as_str().unwrap().is_empty());
        let detail = problem["detail"].as_str().unwrap();
        assert!(!detail.is_empty() && !detail.ends_with('.'), "{detail:?}");
        let id = problem["request_id"].as_str().unwrap();
        assert_eq!(self.header("request-id"), Some(id));
        assert_eq!(problem["instance"], format!("/requests/{id}"));
        problem
    }
}

/// Pointers of a problem's violations, in order.
pub(crate) fn pointers(problem: &Value) -> Vec<&str> {
    let errors = problem["errors"].as_array().into_iter().flatten();
    errors.map(|error| error["pointer"].as_str().expect("a violation has a pointer")).collect()
}

/// Sends bytes and reads one answer, by its `Content-Length` or to the end of the connection.
pub(crate) fn exchange(port: u16, bytes: &[u8], head_only: bool) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    // A server that refuses a long body may close before it has read all of it; the test needs only the
    // answer.
    let sent = stream.write_all(bytes);
    match read_answer(&mut stream, head_only) {
        Ok(answer) => Ok(answer),
        Err(error) => Err(sent.err().unwrap_or(error)),
    }
}

/// Reads one answer from a connection.
pub(crate) fn read_answer(stream: &mut impl Read, head_only: bool) -> io::Result<Answer> {
    let short = || io::Error::new(io::ErrorKind::UnexpectedEof, "the connection was closed");
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end;
        }
        if !read_some(stream, &mut bytes)? {
            return Err(short());
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).map_err(io::Error::other)?;
    let mut body = bytes.split_off(end + 4);
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok())
        .ok_or_else(|| io::Error::other(format!("no status line: {head}")))?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse::<usize>().ok());
    let wanted = if head_only || matches!(status, 204 | 304) { Some(0) } else { length };
    while wanted.is_none_or(|wanted| body.len() < wanted) {
        if !read_some(stream, &mut body)? {
            if wanted.is_some() {
                return Err(short());
            }
            break;
        }
    }
    let is_chunked =
        headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    if is_chunked && !head_only {
        body = unchunked(&body).ok_or_else(short)?;
    }
    Ok(Answer { status, headers, body })
}

/// A complete body without the sizes of its chunks.
fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let end = find(body, b"\r\n")?;
        let size = std::str::from_utf8(&body[..end]).ok()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        whole.extend_from_slice(body.get(end + 2..end + 2 + size)?);
        body = body.get(end + 2 + size + 2..)?;
    }
}

fn read_some(stream: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut chunk = [0; 16 * 1_024];
    let read = loop {
        match stream.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    bytes.extend_from_slice(&chunk[..read]);
    Ok(read > 0)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

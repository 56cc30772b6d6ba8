//! A webhook receiver on a free port that behaves as configured and stores its deliveries.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// The maximum time of a delivery; a longer wait means that it never arrives.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A received delivery.
#[derive(Clone, Debug)]
pub(crate) struct Delivered {
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The number of its connection, from 0.
    pub(crate) connection: usize,
}

impl Delivered {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn event(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a delivery is JSON")
    }

    pub(crate) fn name(&self) -> String {
        self.event()["type"].as_str().unwrap_or_default().to_owned()
    }

    /// Checks by Standard Webhooks, without code of the crate under test. Returns the number of valid
    /// signatures.
    #[track_caller]
    pub(crate) fn good_signatures(&self, secret: &str) -> usize {
        let coded = secret.strip_prefix("whsec_").expect("a secret's prefix");
        let key = STANDARD.decode(coded).expect("a secret is base64");
        let (id, at) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let age = now.as_secs().abs_diff(at.parse().expect("seconds"));
        assert!(age < 300, "the timestamp is {age} s off");
        let good = |signature: &&str| {
            let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
            mac.update(format!("{id}.{at}.").as_bytes());
            mac.update(&self.body);
            let made = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
            **signature == made
        };
        let signatures = self.header("webhook-signature");
        signatures.split(' ').filter(good).count()
    }
}

/// The behaviour of a receiver.
#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    /// Answers with this status, these header lines and this body.
    Answer(u16, Vec<String>, Vec<u8>),
    /// Never answers.
    Hang,
    /// Sends one byte a second of an endless head.
    Drip,
    /// A gigabyte.
    Flood,
    /// Closes at once.
    Reset,
    /// Answers 200 and closes, without saying so in the answer.
    AnswerAndClose,
}

impl Reaction {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), b"ok".to_vec())
    }
}

#[derive(Default)]
struct Seen {
    deliveries: Mutex<Vec<Delivered>>,
    more: Condvar,
}

/// A receiver that runs until the end of the test's process.
#[derive(Clone)]
pub(crate) struct Receiver {
    port: u16,
    seen: Arc<Seen>,
}

impl Receiver {
    /// A receiver that accepts everything.
    pub(crate) fn taking() -> Self {
        Self::start(|_, _| Reaction::status(200))
    }

    /// A receiver whose behaviour is chosen for each delivery, by its number from 1.
    pub(crate) fn start(
        react: impl Fn(&Delivered, usize) -> Reaction + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Seen::default());
        let (shared, react) = (Arc::clone(&seen), Arc::new(react));
        let connections = AtomicUsize::new(0);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = connections.fetch_add(1, Ordering::SeqCst);
                let (seen, react) = (Arc::clone(&shared), Arc::clone(&react));
                std::thread::spawn(move || serve(stream, connection, &seen, react.as_ref()));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook?x=1", self.port)
    }

    /// All deliveries so far.
    pub(crate) fn seen(&self) -> Vec<Delivered> {
        let seen = self.seen.deliveries.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.seen().iter().map(Delivered::name).collect()
    }

    /// Waits for this number of deliveries.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Delivered> {
        self.wait_until(|seen| seen.len() >= count)
    }

    /// Waits until the deliveries fulfil a condition.
    #[track_caller]
    pub(crate) fn wait_until(&self, enough: impl Fn(&[Delivered]) -> bool) -> Vec<Delivered> {
        let seen = self.seen.deliveries.lock();
        let seen = seen.unwrap_or_else(PoisonError::into_inner);
        let waited = self.seen.more.wait_timeout_while(seen, TIMEOUT, |seen| !enough(seen));
        let (seen, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "only {} came", seen.len());
        seen.clone()
    }
}

fn serve(
    mut stream: TcpStream,
    connection: usize,
    seen: &Seen,
    react: &dyn Fn(&Delivered, usize) -> Reaction,
) {
    let _ = stream.set_nodelay(true);
    let mut bytes = Vec::new();
    while let Some(delivered) = read_request(&mut stream, &mut bytes, connection) {
        let number = {
            let mut all = seen.deliveries.lock().unwrap();
            all.push(delivered.clone());
            all.len()
        };
        let reaction = react(&delivered, number);
        seen.more.notify_all();
        if !act(&mut stream, reaction) {
            return;
        }
    }
}

/// Whether the connection stays open.
fn act(stream: &mut TcpStream, reaction: Reaction) -> bool {
    match reaction {
        Reaction::Answer(status, headers, body) => {
            let mut head = vec![
                format!("HTTP/1.1 {status} As Told"),
                format!("Content-Length: {}", body.len()),
            ];
            head.extend(headers);
            let mut answer = format!("{}\r\n\r\n", head.join("\r\n")).into_bytes();
            answer.extend(body);
            stream.write_all(&answer).is_ok()
        }
        Reaction::Hang => {
            // Waits until the sender gives up.
            let _ = stream.read(&mut [0]);
            false
        }
        Reaction::Drip => {
            let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
            for byte in b"HTTP/1.1 200 OK\r\nX-Slow: ".iter().chain([b'x'; 60].iter()) {
                // The read timeout is the second between two bytes.
                let gone = matches!(stream.read(&mut [0]), Ok(0));
                if gone || stream.write_all(&[*byte]).is_err() {
                    break;
                }
            }
            false
        }
        Reaction::Flood => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n";
            let mut alive = stream.write_all(head).is_ok();
            let chunk = vec![b'x'; 64 * 1_024];
            for _ in 0..16 * 1_024 {
                alive = alive && stream.write_all(&chunk).is_ok();
            }
            false
        }
        Reaction::Reset => false,
        Reaction::AnswerAndClose => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            false
        }
    }
}

fn read_request(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    connection: usize,
) -> Option<Delivered> {
    let mut more = |bytes: &mut Vec<u8>| {
        let mut chunk = [0; 16 * 1_024];
        let read = stream.read(&mut chunk).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        Some(())
    };
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        more(bytes)?;
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let headers: Vec<(String, String)> = head
        .split("\r\n")
        .skip(1)
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < end + 4 + length {
        more(bytes)?;
    }
    let rest = bytes.split_off(end + 4 + length);
    let body = bytes.split_off(end + 4);
    *bytes = rest;
    Some(Delivered { headers, body, connection })
}

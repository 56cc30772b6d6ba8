//! Webhook deliveries of a sandbox and of a raw socket: the same bytes to the same receiver, in turns.
//!
//! The receiver delays the first delivery of each connection until all events have happened, so that only the
//! sending is measured.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::bench::{Bench, hundredths, median, micros};
use crate::child::Child;
use crate::load::number_after;
use crate::rows::PAGE;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// Each company's payroll of this many people is some 1,500 events.
const PEOPLE: u64 = 300;
const PATIENCE: Duration = Duration::from_secs(120);

/// The throughput of one ordered endpoint, as a share of a raw socket.
pub(crate) fn one_lane(bench: &mut Bench) -> Result<String, String> {
    measure(bench, 1)
}

/// Deliveries to eight endpoints at once, against eight sockets.
pub(crate) fn eight_lanes(bench: &mut Bench) -> Result<String, String> {
    measure(bench, 8)
}

/// Seven endpoints with an eighth that accepts connections and never answers, against the seven alone.
pub(crate) fn beside_a_dead_one(bench: &mut Bench) -> Result<String, String> {
    const LANES: usize = 7;
    let sandbox = start(bench)?;
    let dead = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    let dead_address = dead.local_addr().map_err(|error| error.to_string())?;
    std::thread::spawn(move || dead.incoming().collect::<Vec<_>>());
    let (mut beside, mut alone, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        let rate_of = |with_dead: bool| -> Result<u64, String> {
            let receiver = Receiver::start().map_err(|error| error.to_string())?;
            let key = format!("bench_dead_{with_dead}_{round}");
            if with_dead {
                let body = format!("{{\"url\":\"http://{dead_address}/hook\"}}");
                sandbox.post("/_sandbox/webhook-endpoints", &key, &body)?;
            }
            let total = happen(&sandbox, &key, LANES, receiver.address)? * LANES;
            let took = receiver.open(total)?;
            Ok(total as u64 * 1_000_000 / micros(took).max(1))
        };
        let (one, other) = (rate_of(true)?, rate_of(false)?);
        ratios.push(one * 100 / other.max(1));
        beside.push(one);
        alone.push(other);
    }
    Ok(format!(
        "{} x without it; {}/s of {}/s",
        hundredths(median(ratios)),
        median(beside),
        median(alone)
    ))
}

fn start(bench: &Bench) -> Result<Child, String> {
    let people = PEOPLE.to_string();
    let arguments = ["--port", "0", "--quiet", "--employees-per-company", &people];
    Child::start(bench.program(), &arguments.map(ToOwned::to_owned), PAGE)
}

fn measure(bench: &mut Bench, lanes: usize) -> Result<String, String> {
    let sandbox = start(bench)?;
    let (mut ours, mut raw, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..bench.rounds {
        let fault = |error: io::Error| error.to_string();
        let receiver = Receiver::start().map_err(fault)?;
        let key = format!("bench_{lanes}_{round}");
        let happened = happen(&sandbox, &key, lanes, receiver.address)?;
        let total = happened * lanes;
        let one = receiver.open(total)?;
        let requests = Arc::new(receiver.of_one_connection(happened));
        let yardstick = Receiver::start().map_err(fault)?;
        for _ in 0..lanes {
            let (requests, address) = (Arc::clone(&requests), yardstick.address);
            std::thread::spawn(move || replay(&requests, address));
        }
        let other = yardstick.open(total)?;
        let rate = |took: Duration| total as u64 * 1_000_000 / micros(took).max(1);
        ours.push(rate(one));
        raw.push(rate(other));
        ratios.push(rate(one) * 100 / rate(other).max(1));
    }
    Ok(format!("{} x raw; {}/s of {}/s", hundredths(median(ratios)), median(ours), median(raw)))
}

/// Creates the endpoints, runs the payroll of three companies, and returns the number of events.
fn happen(sandbox: &Child, key: &str, lanes: usize, receiver: SocketAddr) -> Result<usize, String> {
    for _ in 0..lanes {
        let body = format!("{{\"url\":\"http://{receiver}/hook\"}}");
        sandbox.post("/_sandbox/webhook-endpoints", key, &body)?;
    }
    let companies = sandbox.get("/api/business/companies", key)?;
    let ids = companies.strings("id");
    for company in ids.iter().filter(|id| id.starts_with("com_")) {
        let body = format!("{{\"company_id\":\"{company}\",\"period\":\"2026-01\"}}");
        sandbox.post("/v1/payroll/run", key, &body)?;
    }
    let events = sandbox.get("/_sandbox/events?per_page=1", key)?;
    let total = number_after(events.body.as_bytes(), b"\"total\":");
    let total = total.and_then(|total| usize::try_from(total).ok());
    total.filter(|total| *total > 1_000).ok_or_else(|| "too little happened".to_owned())
}

/// Sends requests one after another over one connection.
fn replay(requests: &[Vec<u8>], address: SocketAddr) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut answer = [0; ANSWER.len()];
    for request in requests {
        stream.write_all(request)?;
        stream.read_exact(&mut answer)?;
    }
    Ok(())
}

#[derive(Default)]
struct State {
    open: bool,
    seen: usize,
    /// The requests of the first connection.
    kept: Vec<Vec<u8>>,
}

type Shared = Arc<(Mutex<State>, Condvar)>;

struct Receiver {
    address: SocketAddr,
    shared: Shared,
}

impl Receiver {
    fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let (address, shared) = (listener.local_addr()?, Shared::default());
        let receiver = Self { address, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for (place, stream) in listener.incoming().flatten().enumerate() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, place == 0, &shared));
            }
        });
        Ok(receiver)
    }

    /// Releases the deliveries, and returns the time of this number of them.
    fn open(&self, total: usize) -> Result<Duration, String> {
        let (state, changed) = &*self.shared;
        let started = Instant::now();
        let mut state = state.lock().map_err(|error| error.to_string())?;
        state.open = true;
        changed.notify_all();
        let waited = changed.wait_timeout_while(state, PATIENCE, |state| state.seen < total);
        let (state, timeout) = waited.map_err(|error| error.to_string())?;
        if timeout.timed_out() {
            return Err(format!("only {} of {total} came", state.seen));
        }
        Ok(started.elapsed())
    }

    fn of_one_connection(&self, count: usize) -> Vec<Vec<u8>> {
        let state = self.shared.0.lock();
        let mut kept = state.map(|mut state| std::mem::take(&mut state.kept)).unwrap_or_default();
        kept.truncate(count);
        kept
    }
}

fn serve(mut stream: TcpStream, keeps: bool, (state, changed): &(Mutex<State>, Condvar)) {
    let _ = stream.set_nodelay(true);
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 * 1_024]);
    loop {
        let whole = loop {
            if let Some(length) = length_of(&bytes).filter(|length| bytes.len() >= *length) {
                break length;
            }
            match stream.read(&mut chunk) {
                Ok(read) if read > 0 => bytes.extend_from_slice(&chunk[..read]),
                _ => return,
            }
        };
        let rest = bytes.split_off(whole);
        let request = std::mem::replace(&mut bytes, rest);
        let Ok(mut seen) = state.lock() else { return };
        while !seen.open {
            let Ok(woken) = changed.wait(seen) else {
                return;
            };
            seen = woken;
        }
        seen.seen += 1;
        if keeps {
            seen.kept.push(request);
        }
        drop(seen);
        changed.notify_all();
        if stream.write_all(ANSWER).is_err() {
            return;
        }
    }
}

/// The bytes of a whole request, after its head.
fn length_of(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let body = number_after(head.as_bytes(), b"content-length: ")?;
    Some(end + usize::try_from(body).ok()?)
}

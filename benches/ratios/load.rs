//! The load: raw persistent connections, one request at a time on each, on one thread.
//!
//! It uses little CPU, so that the server is measured: requests are written into a reused buffer, and
//! only the status and length of a reply are read.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The number of connections.
pub(crate) const CONNECTIONS: u64 = 64;

/// Writes the request with this number, which is unique in this process.
pub(crate) type Write = Rc<dyn Fn(u64, &mut Vec<u8>)>;

/// The result of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) requests: u64,
    pub(crate) took: Duration,
    /// The status of the first reply that was not a 2xx.
    pub(crate) refused: Option<u16>,
}

impl Round {
    pub(crate) fn per_second(self) -> u64 {
        let micros = u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX);
        self.requests * 1_000_000 / micros.max(1)
    }
}

/// Sends this many requests, numbered from `first`, over the connections, and reads their replies.
pub(crate) fn run(
    address: SocketAddr,
    connections: u64,
    requests: u64,
    first: u64,
    write: &Write,
) -> io::Result<Round> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let work = Rc::new(Work { left: Cell::new(requests), first, refused: Cell::new(None) });
        let mut streams = Vec::new();
        for _ in 0..connections {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            streams.push(stream);
        }
        let started = Instant::now();
        let start =
            |stream| tokio::task::spawn_local(lane(stream, Rc::clone(&work), Rc::clone(write)));
        for lane in streams.into_iter().map(start).collect::<Vec<_>>() {
            lane.await??;
        }
        Ok(Round { requests, took: started.elapsed(), refused: work.refused.get() })
    })
}

/// The shared state of a round's connections.
struct Work {
    left: Cell<u64>,
    first: u64,
    refused: Cell<Option<u16>>,
}

/// Sends requests on one connection, until none is left.
async fn lane(mut stream: TcpStream, work: Rc<Work>, write: Write) -> io::Result<()> {
    let (mut request, mut reply) = (Vec::with_capacity(2_048), vec![0; 64 * 1024]);
    while let Some(left) = work.left.get().checked_sub(1) {
        work.left.set(left);
        request.clear();
        write(work.first + left, &mut request);
        stream.write_all(&request).await?;
        let status = read(&mut stream, &mut reply).await?;
        if !(200..300).contains(&status) && work.refused.get().is_none() {
            work.refused.set(Some(status));
        }
    }
    Ok(())
}

/// Reads one reply into the buffer, overwriting its content. Returns the status.
async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<u16> {
    let (mut filled, mut whole) = (0, None);
    loop {
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
        let count = stream.read(&mut buffer[filled..]).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += count;
        if whole.is_none()
            && let Some(end) = find(&buffer[..filled], b"\r\n\r\n")
        {
            let head = &buffer[..end];
            let length = number_after(head, b"content-length:")
                .ok_or_else(|| io::Error::other("a reply without content-length"))?;
            whole = Some(end + 4 + usize::try_from(length).unwrap_or(usize::MAX));
        }
        if whole.is_some_and(|whole| filled >= whole) {
            let status = number_after(&buffer[..filled.min(16)], b"HTTP/1.1");
            return Ok(status.and_then(|status| u16::try_from(status).ok()).unwrap_or_default());
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// The number after a label and spaces.
pub(crate) fn number_after(text: &[u8], label: &[u8]) -> Option<u64> {
    let rest = &text[find(text, label)? + label.len()..];
    let digits = rest.iter().skip_while(|byte| byte.is_ascii_whitespace());
    let digits = digits.take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number, digit| {
        Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(u64::from(digit - b'0')))
    })
}

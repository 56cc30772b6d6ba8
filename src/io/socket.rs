//! The socket under hyper: notes its traffic, gathers the replies to pipelined requests, and closes without a
//! reset.
//!
//! hyper's `pipeline_flush` also gathers replies, but holds them while any byte of a next request is unread. So a
//! 431, the reply before a close and every reply before an incomplete request would never be sent. Here a reply is
//! held only if its request and the previous one came in one read, and only until the next read. Deliberately absent:
//! time (`connection`).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::io::connection::Activity;

/// The most bytes that are discarded from a client whose body was refused.
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// The size of gathered replies for one write. Beyond it they are sent at once, at the speed of the client.
const GATHERED_BYTES: usize = 64 * 1024;

/// The size of the gathered replies of all connections. Beyond it they are sent one by one, so that clients that do not read their replies
/// take no more memory here.
const ALL_GATHERED_BYTES: usize = 4 * 1024 * 1024;

/// The size of one read from a client that may send many requests at once. It also limits the memory for a client
/// that does not read its replies.
const READ_BYTES: usize = 4 * 1024;

/// The gathered bytes of all connections.
static GATHERED: AtomicUsize = AtomicUsize::new(0);

/// A socket that notes its traffic and gathers replies to pipelined requests.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    activity: Arc<Activity>,
    refusals: Arc<Refusals>,
    /// Replies that hyper holds. They are written before the next read, or at the flush after the following
    /// reply.
    gathered: BytesMut,
    just_gathered: bool,
    /// Whether the client has sent anything.
    has_read: bool,
    /// Whether the client may send many requests at once: its last read was large, or it is the first one.
    sends_much: bool,
    discarded_bytes: usize,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, activity: Arc<Activity>, refusals: Arc<Refusals>) -> Self {
        Self {
            stream,
            activity,
            refusals,
            gathered: BytesMut::new(),
            just_gathered: false,
            has_read: false,
            sends_much: true,
            discarded_bytes: 0,
        }
    }

    fn gathers(&self, more: usize) -> bool {
        self.activity.is_pipelined()
            && self.gathered.len() + more <= GATHERED_BYTES
            && GATHERED.load(Ordering::Relaxed) + more <= ALL_GATHERED_BYTES
    }

    fn gather(&mut self, bytes: &[u8]) -> usize {
        self.gathered.extend_from_slice(bytes);
        GATHERED.fetch_add(bytes.len(), Ordering::Relaxed);
        self.just_gathered = true;
        self.activity.gathered(true);
        bytes.len()
    }

    /// Replaces a reply that hyper made by itself by the server's own reply. Returns whether there was one.
    fn replaces(&mut self, bytes: &[u8]) -> bool {
        let Some((before, refusal)) = self.refusals.instead_of(bytes) else { return false };
        let refusal = refusal.clone();
        self.gather(&bytes[..before]);
        self.gather(&refusal);
        // It is the last reply: nothing more is gathered.
        self.just_gathered = false;
        true
    }

    fn poll_write_gathered(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.gathered.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.gathered))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.gathered.advance(written);
            GATHERED.fetch_sub(written, Ordering::Relaxed);
            self.activity.has_written();
        }
        if self.gathered.capacity() > 0 {
            self.gathered = BytesMut::new();
        }
        self.activity.gathered(false);
        Poll::Ready(Ok(()))
    }

    fn poll_read_some(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let is_head = !self.activity.is_busy(); // the rest of a body is one request
        let polled = if self.sends_much && is_head && buffer.remaining() > READ_BYTES {
            let mut part = ReadBuf::new(buffer.initialize_unfilled_to(READ_BYTES));
            let polled = Pin::new(&mut self.stream).poll_read(cx, &mut part);
            let read = part.filled().len();
            buffer.advance(read);
            polled
        } else {
            Pin::new(&mut self.stream).poll_read(cx, buffer)
        };
        let read = buffer.filled().len() - before;
        if read > 0 {
            self.sends_much = read >= READ_BYTES;
        }
        polled
    }

    /// Returns an error if the client has closed its side during a delay. hyper does not read during a delay, because
    /// a client may close its side and still wait for the reply. Such clients are rare, but a client that gave up
    /// must be detected.
    fn poll_leaving(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.activity.is_delayed() {
            return Poll::Ready(Ok(()));
        }
        match self.stream.poll_peek(cx, &mut ReadBuf::new(&mut [0; 1])) {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(_)) | Poll::Pending => Poll::Ready(Ok(())),
        }
    }

    /// Discards bytes until the client closes, too. Closing with unread bytes would reset the connection, and
    /// the client would lose the refusal.
    fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut scratch = [0; 8 * 1024];
        while self.discarded_bytes < LINGER_BYTES {
            let mut buffer = ReadBuf::new(&mut scratch);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                break;
            }
            self.discarded_bytes += buffer.filled().len();
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        GATHERED.fetch_sub(self.gathered.len(), Ordering::Relaxed);
    }
}

/// The replies to heads that hyper refuses by itself, with an empty body.
#[derive(Debug)]
pub(crate) struct Refusals {
    /// For 400.
    pub(crate) malformed: Bytes,
    /// For 431.
    pub(crate) too_large: Bytes,
    /// For a client that begins with HTTP/2.
    pub(crate) http2: Bytes,
}

/// The beginning of a connection of HTTP/2 (RFC 9113), after which hyper would close without a reply.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n";

impl Refusals {
    /// The reply instead of one that hyper made by itself, and its position. hyper writes nothing after such a reply.
    fn instead_of(&self, bytes: &[u8]) -> Option<(usize, &Bytes)> {
        const STATUS_LINE: &[u8] = b"HTTP/1.1 4";
        let rest = bytes.strip_suffix(b"\r\n\r\n")?;
        let start = rest.windows(STATUS_LINE.len()).rposition(|window| window == STATUS_LINE)?;
        let head = &rest[start..];
        let has = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
        // Every reply of this server has this header.
        if has(b"x-content-type-options") || !has(b"content-length: 0") {
            return None;
        }
        match head.get(9..12)? {
            b"400" => Some((start, &self.malformed)),
            b"431" | b"414" => Some((start, &self.too_large)),
            _ => None,
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // A client that does not read replies may not send more requests.
        ready!(this.poll_write_gathered(cx))?;
        let before = buffer.filled().len();
        let polled = this.poll_read_some(cx, buffer);
        if buffer.filled()[before..].starts_with(HTTP2)
            && !std::mem::replace(&mut this.has_read, true)
        {
            // Reports a closed client to hyper, so that the reply is sent; later bytes of the client are discarded.
            buffer.set_filled(before);
            let refusal = this.refusals.http2.clone();
            this.gather(&refusal);
            this.just_gathered = false;
            this.activity.linger();
            return Poll::Ready(Ok(()));
        }
        if buffer.filled().len() > before {
            this.has_read = true;
            this.activity.has_read();
        }
        polled
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.replaces(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        if this.gathers(bytes.len()) {
            return Poll::Ready(Ok(this.gather(bytes)));
        }
        ready!(this.poll_write_gathered(cx))?;
        let written = ready!(Pin::new(&mut this.stream).poll_write(cx, bytes))?;
        this.activity.has_written();
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if let [before @ .., last] = slices
            && this.refusals.instead_of(last).is_some()
        {
            let before: usize = before.iter().map(|slice| this.gather(slice)).sum();
            this.replaces(last);
            return Poll::Ready(Ok(before + last.len()));
        }
        if this.gathers(slices.iter().map(|slice| slice.len()).sum()) {
            return Poll::Ready(Ok(slices.iter().map(|slice| this.gather(slice)).sum()));
        }
        ready!(this.poll_write_gathered(cx))?;
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, slices))?;
        this.activity.has_written();
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // hyper flushes after each reply. A flush without a new reply means that hyper waits for another event.
        if std::mem::take(&mut this.just_gathered) {
            return Poll::Ready(Ok(()));
        }
        ready!(this.poll_write_gathered(cx))?;
        this.poll_leaving(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.activity.is_lingering() {
            ready!(this.poll_write_gathered(cx))?;
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            if !this.activity.shut() {
                return Poll::Ready(Ok(()));
            }
        }
        this.poll_discard(cx)
    }
}

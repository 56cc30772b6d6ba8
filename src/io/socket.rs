//! The socket under hyper: notes its traffic, gathers the replies to pipelined requests, and closes without a
//! reset.
//!
//! hyper's `pipeline_flush` would gather, too. But it holds its replies while any byte of a next request is
//! unread. So a 431, the reply before
//! a close and every reply before an incomplete request would never be sent. Here a reply is held only if one
//! read returned its request together with
//! the one before it, and only until the next read. Deliberately absent: time (`connection`).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::io::connection::Activity;

/// The most bytes that are discarded from a client whose body was refused.
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// The size of gathered replies for one write. Beyond it they are sent at once, at the speed of the client.
const GATHERED_BYTES: usize = 64 * 1024;

/// A socket that notes its traffic and gathers replies to pipelined requests.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    activity: Arc<Activity>,
    /// Replies that hyper holds. They are written before the next read, or at the flush after the following
    /// reply.
    gathered: BytesMut,
    just_gathered: bool,
    discarded_bytes: usize,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        let gathered = BytesMut::new();
        Self { stream, activity, gathered, just_gathered: false, discarded_bytes: 0 }
    }

    fn gathers(&self) -> bool {
        self.activity.is_pipelined() && self.gathered.len() < GATHERED_BYTES
    }

    fn gather(&mut self, bytes: &[u8]) -> usize {
        self.gathered.extend_from_slice(bytes);
        self.just_gathered = true;
        self.activity.gathered(true);
        bytes.len()
    }

    fn poll_write_gathered(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.gathered.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.gathered))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.gathered.advance(written);
            self.activity.has_written();
        }
        self.activity.gathered(false);
        Poll::Ready(Ok(()))
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
        let polled = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
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
        if this.gathers() {
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
        if this.gathers() {
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
        // hyper flushes after each reply. A flush without a new reply says that hyper waits for something
        // else.
        if std::mem::take(&mut this.just_gathered) {
            return Poll::Ready(Ok(()));
        }
        this.poll_write_gathered(cx)
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

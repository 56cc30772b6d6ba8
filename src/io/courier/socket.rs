//! The socket of a connection. Its state can be read even after hyper has dropped the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// Pauses between the checks for a refusal by the receiver's system.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(12),
    Duration::from_millis(30),
];

/// A socket with several owners; one of them reads and writes. It closes when the last one drops it.
#[derive(Clone, Debug)]
pub(super) struct Socket(Arc<TcpStream>);

impl Socket {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }

    /// Whether the receiver had closed the connection before the latest bytes arrived. Its system then refuses them
    /// with a reset after the end of the stream. A receiver that closes after it has read the bytes causes no reset.
    pub(super) async fn was_refused(&self) -> bool {
        for pause in PAUSES {
            if !matches!(self.0.take_error(), Ok(None)) {
                return true;
            }
            sleep(pause).await;
        }
        !matches!(self.0.take_error(), Ok(None))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match self.0.try_write_vectored(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(())) // it closes when it is dropped
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream as Blocking};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// Whether a message was refused by a receiver that does this with its connection.
    fn refused(receiver: impl FnOnce(Blocking) + Send + 'static, wait: Duration) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
            let address = listener.local_addr().expect("an address");
            let thread = std::thread::spawn(move || receiver(listener.accept().expect("one").0));
            let stream = TcpStream::connect(address).await.expect("a receiver");
            let mut socket = Socket::new(stream);
            sleep(wait).await;
            socket.write_all(b"message").await.expect("the first write never fails");
            let mut answer = Vec::new();
            let end = socket.read_to_end(&mut answer).await;
            thread.join().expect("a receiver ends");
            assert!(answer.is_empty());
            end.is_err() || socket.was_refused().await
        })
    }

    #[test]
    fn bytes_to_a_closed_receiver_are_refused_unless_it_read_them() {
        assert!(refused(drop, Duration::from_millis(100)));
        let reads = |mut stream: Blocking| {
            let mut message = [0; 7];
            stream.read_exact(&mut message).expect("a message");
            stream.flush().expect("open");
        };
        assert!(!refused(reads, Duration::ZERO));
    }
}

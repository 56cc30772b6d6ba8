//! The body of a reply while it is sent: complete, damaged or slowed down by a fault, or an endless stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::Sleep;

use crate::engine::Delivery;
use crate::engine::export::Export;
use crate::io::following::Following;
use crate::io::handler::Lost;

/// The number of pieces of a slow body, and the time between two: three seconds in total, for a body of any
/// length.
const PIECES: usize = 25;
const BETWEEN: Duration = Duration::from_millis(125);
/// The delay before the connection of a truncated body is closed, so that the sent part arrives first.
const BEFORE_CLOSE: Duration = Duration::from_millis(20);

/// A reply's body.
pub(crate) enum Sent {
    Whole(Full<Bytes>),
    /// Boxed, so that the usual body stays small.
    Faulty(Box<Faulty>),
    /// The event stream.
    Stream(Box<Following>),
    /// A whole list, in pieces.
    Export(Box<Export>),
}

/// A body that a fault changes.
pub(crate) struct Faulty {
    rest: Bytes,
    /// The bytes of each piece.
    piece: usize,
    /// The error that closes the connection.
    withheld: usize,
    pause: Option<Pin<Box<Sleep>>>,
    between: Duration,
}

impl Sent {
    pub(crate) fn new(body: Bytes, delivery: Delivery) -> Self {
        // A body of less than two bytes has no half.
        if delivery == Delivery::Whole || body.len() < 2 {
            return Self::Whole(Full::new(body));
        }
        let faulty = match delivery {
            Delivery::Truncated => {
                let half = body.len() / 2;
                Faulty {
                    withheld: body.len() - half,
                    rest: body.slice(..half),
                    piece: half,
                    pause: None,
                    between: BEFORE_CLOSE,
                }
            }
            Delivery::Whole | Delivery::Slow => Faulty {
                piece: body.len().div_ceil(PIECES),
                rest: body,
                withheld: 0,
                pause: None,
                between: BETWEEN,
            },
        };
        Self::Faulty(Box::new(faulty))
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Lost;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Lost>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Self::Faulty(body) => body.poll(cx),
            Self::Stream(body) => body.poll(cx),
            Self::Export(body) => {
                let piece = body.next();
                Poll::Ready(piece.map(|piece| piece.map(Frame::data).map_err(|_| Lost)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Faulty(body) => body.rest.is_empty() && body.withheld == 0,
            Self::Stream(_) | Self::Export(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            // The full length, also for a truncated body: this is the fault.
            Self::Faulty(body) => SizeHint::with_exact((body.rest.len() + body.withheld) as u64),
            Self::Stream(_) | Self::Export(_) => SizeHint::new(),
        }
    }
}

impl Faulty {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Lost>>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
        }
        if self.rest.is_empty() {
            let end = (self.withheld > 0).then_some(Err(Lost));
            self.withheld = 0;
            return Poll::Ready(end);
        }
        let piece = self.rest.split_to(self.piece.min(self.rest.len()));
        self.pause = Some(Box::pin(tokio::time::sleep(self.between)));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

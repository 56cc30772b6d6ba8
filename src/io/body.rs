//! A whole request body, bounded in bytes.
//!
//! hyper has neither a deadline nor a size limit for a body. This module enforces the size, and its caller the
//! deadline. Nearly every body arrives in one frame, which is passed on without a copy.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

/// Why the body is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// More bytes than allowed, declared or sent.
    TooLarge,
    /// Not complete within the time limit.
    TooSlow,
    /// The framing is invalid, or the client disconnected.
    Broken,
}

/// Whether the head declares a body that is too large.
pub(crate) fn declares_more(body: &Incoming, max_bytes: usize) -> bool {
    body.size_hint().lower() > u64::try_from(max_bytes).unwrap_or(u64::MAX)
}

/// Reads the body to its end: at most `max_bytes`.
pub(crate) async fn read(mut body: Incoming, max_bytes: usize) -> Result<Bytes, Unread> {
    let declared = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok());
    let Some(first) = next_data(&mut body).await? else { return Ok(Bytes::new()) };
    if first.len() > max_bytes {
        return Err(Unread::TooLarge);
    }
    if body.is_end_stream() || declared == Some(first.len()) {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(declared.unwrap_or(first.len() * 2).min(max_bytes));
    whole.extend_from_slice(&first);
    while let Some(data) = next_data(&mut body).await? {
        if whole.len() + data.len() > max_bytes {
            return Err(Unread::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

/// The next bytes. Trailers are ignored.
async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, Unread> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

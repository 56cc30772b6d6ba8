//! The body of a reply that is written when it is first read, and then kept.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;

use crate::api::reply::Reply;

/// A body. A clone shares it.
#[derive(Clone, Debug)]
pub(super) struct LazyBody(Arc<LazyLock<Bytes, Box<dyn FnOnce() -> Bytes + Send>>>);

impl LazyBody {
    /// The body of a successful reply. The reply may be written by another thread, because it needs no world.
    pub(super) fn of(reply: Reply) -> Self {
        let write = move || {
            let mut body = reply.into_bytes();
            body.shrink_to_fit(); // it may be stored for long
            Bytes::from(body)
        };
        Self(Arc::new(LazyLock::new(Box::new(write))))
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &Bytes {
        &self.0
    }
}

impl From<Bytes> for LazyBody {
    /// One that is written already.
    fn from(body: Bytes) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(|| body))))
    }
}

//! The body of a reply, which is written when it is sent.

use std::fmt;

use bytes::Bytes;

use crate::api::reply::{ReplyBody, WriteBody};

/// A body that will be sent.
pub(super) enum LazyBody {
    /// Its bytes.
    Bytes(Bytes),
    /// It is written when the world is no longer locked, because that needs no world.
    Unwritten(WriteBody),
    /// Its bytes, which can be written again.
    Written(WriteBody, Bytes),
}

impl LazyBody {
    /// Its bytes, which are written now if they were not.
    pub(super) fn write(&mut self) -> &Bytes {
        if let Self::Unwritten(write) = self {
            let bytes = write().into();
            *self = Self::Written(write.clone(), bytes);
        }
        match self {
            Self::Bytes(bytes) | Self::Written(_, bytes) => bytes,
            Self::Unwritten(_) => unreachable!("it was written"),
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Bytes(bytes) | Self::Written(_, bytes) => bytes,
            Self::Unwritten(write) => write().into(),
        }
    }

    /// The body for a later replay of the reply.
    pub(super) fn stored(&self) -> StoredBody {
        match self {
            Self::Bytes(bytes) => StoredBody::Bytes(bytes[..].into()),
            Self::Unwritten(write) | Self::Written(write, _) => StoredBody::Reply(write.clone()),
        }
    }
}

impl From<ReplyBody> for LazyBody {
    fn from(body: ReplyBody) -> Self {
        match body {
            ReplyBody::Bytes(bytes) => Self::Bytes(bytes.into()),
            ReplyBody::Unwritten(write) => Self::Unwritten(write),
        }
    }
}

impl From<Bytes> for LazyBody {
    fn from(body: Bytes) -> Self {
        Self::Bytes(body)
    }
}

/// The body of a stored reply. A successful one is written again for each replay: its resource is in memory anyway, and its bytes are not.
#[derive(Clone)]
pub(super) enum StoredBody {
    Bytes(Box<[u8]>),
    Reply(WriteBody),
}

impl StoredBody {
    /// The body of a replay.
    pub(super) fn lazy(&self) -> LazyBody {
        match self {
            Self::Bytes(bytes) => LazyBody::Bytes(Bytes::copy_from_slice(bytes)),
            Self::Reply(write) => LazyBody::Unwritten(write.clone()),
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::Reply(write) => write(),
        }
    }
}

impl fmt::Debug for StoredBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes(_) => "Bytes",
            Self::Reply(_) => "Reply",
        })
    }
}

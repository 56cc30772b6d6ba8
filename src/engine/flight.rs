//! The replay of a world that some requests wait for, and the worlds that are replayed without a request.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::engine::recording::KeyHash;
use crate::engine::slot::Slot;
use crate::value::ApiError;

/// One replay of a world, shared by all requests that wait for it.
pub(super) type Flight = Arc<OnceLock<Result<Option<Arc<Slot>>, ApiError>>>;

/// Worlds in which something happens without a call, and which are not in memory.
#[derive(Debug, Default)]
pub(super) struct Owing {
    pub(super) worlds: BTreeSet<KeyHash>,
    /// Whether it was reported that there is no room for them.
    pub(super) is_reported: bool,
}

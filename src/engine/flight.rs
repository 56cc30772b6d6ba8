//! A running replay of a world, which several requests can share, and the worlds that are replayed
//! without a request.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use crate::engine::recording::KeyHash;
use crate::engine::slot::Slot;
use crate::value::ApiError;

/// One replay of a world, shared by all requests that wait for it.
pub(super) type Flight = Arc<OnceLock<Result<Option<Arc<Slot>>, ApiError>>>;

/// Worlds that act without calls and are not in memory.
#[derive(Debug, Default)]
pub(super) struct Owing {
    pub(super) worlds: BTreeSet<KeyHash>,
    /// Whether the lack of room for them was logged.
    pub(super) is_reported: bool,
}

//! The replay of a world that some requests wait for.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::engine::slot::Slot;
use crate::value::{ApiError, ErrorCode};

/// One replay of a world, shared by all requests that wait for it.
pub(super) type Flight = Arc<OnceLock<Result<Arc<Slot>, ApiError>>>;

/// A panic under this lock cannot leave half a change, because each change is one call of a collection.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The refusal of a request that needs the write-ahead log.
pub(crate) fn unavailable(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::LogUnavailable, detail)
}

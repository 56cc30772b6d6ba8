//! A lock that a panic does not poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic under this lock cannot leave an incomplete change, because each change is one call of a
/// collection.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

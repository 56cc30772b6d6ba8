//! A value that another thread provides later.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::value::long_work;

/// A value that is not known yet.
#[derive(Debug)]
pub(crate) struct Later<T> {
    value: OnceLock<T>,
    is_coming: AtomicBool,
}

impl<T> Default for Later<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), is_coming: AtomicBool::new(false) }
    }
}

impl<T> Later<T> {
    /// Announces the value: from now on, readers wait until a thread sets it.
    pub(crate) fn announce(&self) {
        self.is_coming.store(true, Ordering::Release);
    }

    /// Sets the value, if it has none.
    pub(crate) fn bring(&self, value: T) {
        self.value.get_or_init(|| value);
    }

    /// The value, if it was brought.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value. Waits for it if it was announced.
    pub(crate) fn wait(&self) -> Option<&T> {
        let is_coming = || self.is_coming.load(Ordering::Acquire);
        self.get().or_else(|| is_coming().then(|| long_work::run(|| self.value.wait())))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_reader_waits_only_for_what_was_announced() {
        let later = Arc::new(Later::default());
        assert_eq!(later.wait(), None);
        later.announce();
        let reader = Arc::clone(&later);
        let reader = std::thread::spawn(move || reader.wait().copied());
        later.bring(5);
        later.bring(6);
        assert_eq!(reader.join().expect("it does not panic"), Some(5));
        assert_eq!(later.get(), Some(&5));
    }
}

//! Work on another thread during a call, such as the hashes of its events.
//!
//! The server installs a runner with a thread of its own. Without a server such work runs directly. Deliberately absent: threads, which
//! belong to the server.

use std::sync::OnceLock;

/// Work for another thread.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// Runs work exactly once, now or soon.
pub(crate) type Runner = fn(Work);

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// Sets the runner of this process. Later calls change nothing.
pub(crate) fn install(runner: Runner) {
    RUNNER.get_or_init(|| runner);
}

/// Whether such work runs on another thread.
pub(crate) fn is_beside() -> bool {
    RUNNER.get().is_some()
}

/// Runs work on another thread, if there is a runner.
pub(crate) fn run(work: impl FnOnce() + Send + 'static) {
    match RUNNER.get() {
        Some(runner) => runner(Box::new(work)),
        None => work(),
    }
}

//! Calculations that take long enough to delay other connections.
//!
//! The server installs a runner, which moves its other work to another thread before such a calculation starts. Without a server they run
//! directly. Deliberately absent: threads and runtimes, which belong to the server.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a calculation exactly once, on the calling thread.
pub(crate) type Runner = fn(&mut dyn FnMut());

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// The number of rows or steps from which a calculation counts as long (about two milliseconds). Moving the other
/// work to another thread takes about 25 µs.
pub(crate) const LONG: u64 = 200;

/// The number of calculations that may run or wait for a world at the same time. Each occupies a thread.
pub(crate) const MOST: usize = 448;

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether no further calculation can be started.
pub(crate) fn is_full() -> bool {
    RUNNING.load(Ordering::Relaxed) >= MOST
}

/// Counts a running calculation until its end, including an end by panic.
struct Counted;

impl Counted {
    fn start() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sets the runner of this process. Later calls change nothing.
pub(crate) fn install(runner: Runner) {
    RUNNER.get_or_init(|| runner);
}

/// Runs a calculation that may take long.
pub(crate) fn run<T>(work: impl FnOnce() -> T) -> T {
    let Some(runner) = RUNNER.get() else { return work() };
    let _counted = Counted::start();
    let (mut work, mut result) = (Some(work), None);
    runner(&mut || result = work.take().map(|work| work()));
    result.expect("a runner runs its calculation once")
}

/// Runs a calculation over `rows` rows; directly if they are few.
pub(crate) fn over<T>(rows: u64, work: impl FnOnce() -> T) -> T {
    if rows < LONG { work() } else { run(work) }
}

//! Calculations that take long enough to delay other connections.
//!
//! The server installs a runner, which moves its other work to another thread before such a calculation starts. Without a server they run
//! directly. Deliberately absent: threads and runtimes, which belong to the server.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a calculation exactly once, on the calling thread.
pub(crate) type Runner = fn(&mut dyn FnMut());

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// The number of rows or steps from which a calculation counts as long (about one millisecond). Moving the other
/// work to another thread takes about 25 µs.
pub(crate) const LONG: u64 = 100;

/// The number of steps that [`repeat`] runs directly. A step is the smallest change of a world, or a calculation over
/// fewer than [`LONG`] rows.
const FEW_STEPS: usize = 8;

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

/// Repeats a step until it returns false. The first steps run directly, because most calls have few.
pub(crate) fn repeat(mut step: impl FnMut() -> bool) {
    for _ in 0..FEW_STEPS {
        if !step() {
            return;
        }
    }
    run(|| while step() {});
}

/// Runs a calculation over `rows` rows; directly if they are few.
pub(crate) fn over<T>(rows: u64, work: impl FnOnce() -> T) -> T {
    run_if(rows >= LONG, work)
}

/// Runs a calculation; directly if it does not take long.
pub(crate) fn run_if<T>(is_long: bool, work: impl FnOnce() -> T) -> T {
    if is_long { run(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_repeated_until_it_returns_false() {
        for most in [0, 1, FEW_STEPS - 1, FEW_STEPS, 50] {
            let mut steps = 0;
            repeat(|| {
                steps += 1;
                steps <= most
            });
            assert_eq!(steps, most + 1);
        }
    }
}

//! The lease of this process: the time for which it may serve worlds that other processes could claim.

use std::sync::atomic::{AtomicI64, Ordering};
#[cfg(feature = "postgres")]
use std::time::Duration;

/// The time until which no other process may take the worlds of this process.
#[derive(Debug)]
pub(crate) struct Lease {
    /// In milliseconds of [`now_ms`].
    until_ms: AtomicI64,
}

impl Lease {
    /// Whether it has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        now_ms() < self.until_ms.load(Ordering::Acquire) || is_unfenced()
    }
}

/// Whether a test runs without leases and fences. Never in a release.
pub(in crate::io) fn is_unfenced() -> bool {
    #[cfg(debug_assertions)]
    {
        use std::sync::LazyLock;
        static UNFENCED: LazyLock<bool> =
            LazyLock::new(|| std::env::var_os("SANDBOX_TEST_UNFENCED").is_some());
        *UNFENCED
    }
    #[cfg(not(debug_assertions))]
    false
}

#[cfg(feature = "postgres")]
impl Lease {
    /// A lease that has ended.
    pub(in crate::io) const fn ended() -> Self {
        Self { until_ms: AtomicI64::new(i64::MIN) }
    }

    /// The lease was renewed for this time, by a request sent at `sent_ms`. The process uses only four fifths of it,
    /// because clocks can differ in speed.
    pub(in crate::io) fn renew(&self, sent_ms: i64, time: Duration) {
        let time = i64::try_from(time.as_millis() * 4 / 5).unwrap_or(i64::MAX);
        self.until_ms.store(sent_ms.saturating_add(time), Ordering::Release);
    }

    /// It was ended by another process, or given up.
    pub(in crate::io) fn end(&self) {
        self.until_ms.store(i64::MIN, Ordering::Release);
    }

    /// The milliseconds that are left.
    pub(in crate::io) fn left_ms(&self) -> u64 {
        let left = self.until_ms.load(Ordering::Acquire).saturating_sub(now_ms());
        u64::try_from(left).unwrap_or(0)
    }
}

/// A clock that also runs while the machine sleeps.
#[cfg(all(feature = "postgres", target_os = "linux"))]
pub(in crate::io) fn now_ms() -> i64 {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec.saturating_mul(1_000).saturating_add(now.tv_nsec / 1_000_000)
}

/// The monotonic clock. On most systems it also runs while the machine sleeps.
#[cfg(not(all(feature = "postgres", target_os = "linux")))]
pub(in crate::io) fn now_ms() -> i64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    i64::try_from(START.elapsed().as_millis()).unwrap_or(i64::MAX)
}

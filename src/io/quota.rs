//! `--quota`: the number of requests that one key may send, by the wall clock. Deliberately absent: limits of a
//! scenario, which are part of a world.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Response;
use http::header::{HeaderMap, HeaderValue, RETRY_AFTER};

use crate::engine::bearer;
use crate::world::script::Rate;

/// Maximum number of keys that are counted. Requests with further keys are not limited, so that unknown keys cannot
/// fill the memory.
const MOST_KEYS: usize = 1_000_000;
/// Keys from which idle ones are forgotten.
const SWEEP_FROM: usize = 1_024;

/// The requests of all keys, as the generic cell rate algorithm counts them (ITU-T I.371): one number for each key.
#[derive(Debug)]
pub(crate) struct Quota {
    rate: Rate,
    started: Instant,
    hasher: RandomState,
    used: Mutex<Used>,
}

#[derive(Debug)]
struct Used {
    /// By a hash of the key: when its quota is whole again, in nanoseconds since the start.
    whole: BTreeMap<u64, u64>,
    /// The number of keys at which idle ones are forgotten.
    sweep_at: usize,
}

impl Quota {
    pub(crate) fn new(rate: Rate) -> Self {
        let used = Mutex::new(Used { whole: BTreeMap::new(), sweep_at: SWEEP_FROM });
        Self { rate, started: Instant::now(), hasher: RandomState::new(), used }
    }

    /// Counts a request. The error is the number of seconds after which the next one passes. A request without a key is not counted: it is
    /// refused anyway.
    pub(crate) fn take(&self, headers: &HeaderMap) -> Result<(), u64> {
        let Ok(key) = bearer(headers) else { return Ok(()) };
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.take(self.rate, self.hasher.hash_one(key), now)
    }
}

impl Used {
    fn take(&mut self, rate: Rate, key: u64, now: u64) -> Result<(), u64> {
        let window = rate.window_ms.saturating_mul(1_000_000);
        let step = (window / rate.requests).max(1);
        let whole = self.whole.get(&key).copied().unwrap_or(now).max(now);
        let early = (whole - now).saturating_sub(window.saturating_sub(step));
        if early > 0 {
            return Err(Duration::from_nanos(early).as_secs() + 1);
        }
        if self.whole.len() >= self.sweep_at {
            self.whole.retain(|_, whole| *whole > now);
            self.sweep_at = (2 * self.whole.len()).max(SWEEP_FROM);
        }
        if self.whole.len() < MOST_KEYS || self.whole.contains_key(&key) {
            self.whole.insert(key, whole.saturating_add(step));
        }
        Ok(())
    }
}

/// The text of a refusal.
pub(crate) fn detail(seconds: u64) -> String {
    format!("this key has used its quota of requests; retry in {seconds} s")
}

/// Adds when the next request passes.
pub(crate) fn with_retry(mut refusal: Response<Bytes>, seconds: u64) -> Response<Bytes> {
    refusal.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn used() -> Used {
        Used { whole: BTreeMap::new(), sweep_at: SWEEP_FROM }
    }

    #[test]
    fn a_key_may_use_its_quota_at_once_and_then_one_step_at_a_time() {
        let rate = Rate { requests: 5, window_ms: 10_000 };
        let mut used = used();
        for _ in 0..5 {
            assert_eq!(used.take(rate, 1, 0), Ok(()));
        }
        assert_eq!(used.take(rate, 1, 0), Err(3));
        assert_eq!(used.take(rate, 2, 0), Ok(()), "another key");
        assert_eq!(used.take(rate, 1, 2 * SECOND - 1), Err(1));
        assert_eq!(used.take(rate, 1, 2 * SECOND), Ok(()));
        assert_eq!(used.take(rate, 1, 2 * SECOND), Err(3));
        for _ in 0..5 {
            assert_eq!(used.take(rate, 1, 60 * SECOND), Ok(()));
        }
    }

    #[test]
    fn idle_keys_are_forgotten() {
        let rate = Rate { requests: 1, window_ms: 1_000 };
        let mut used = used();
        for key in 0..100_000 {
            used.take(rate, key, key * SECOND).expect("a new key");
        }
        assert!(used.whole.len() <= SWEEP_FROM, "{} keys", used.whole.len());
    }
}

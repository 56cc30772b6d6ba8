//! `--idle-ttl`, `--max-resident-bytes` and `--quota`: limits for worlds and callers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;

use crate::cli::failure::Failure;
use crate::engine::{Engine, Most};
use crate::io::resident;
use crate::tester::wire::parse_rate;
use crate::value::Span;
use crate::world::script::Rate;

/// The interval of the search for idle worlds.
const TICK: Duration = Duration::from_millis(100);
/// The interval at which the size of the process is compared with the limit. Memory does not decrease immediately
/// after worlds are unloaded.
const FIT: Duration = Duration::from_secs(1);
/// The interval of the search for worlds that must be replayed without a call.
const BRING: Duration = Duration::from_secs(1);

/// The interval of the search for worlds with many changes since their last checkpoint.
const CHECKPOINT: Duration = Duration::from_millis(500);

/// The flags.
#[derive(Args, Clone, Debug)]
pub(super) struct RoomArgs {
    /// Unload a world that no request has used for this time, such as 30m or 14d. With --journal, the next request with its key reloads the
    /// world; without --journal, the world is lost
    #[arg(long, env = "SANDBOX_IDLE_TTL", value_name = "TIME", value_parser = time)]
    idle_ttl: Option<Duration>,
    /// While the process uses more memory than this (512MiB, 2GiB), unload the least recently used worlds. Without --journal or --store,
    /// changed worlds cannot be reloaded: they stay in memory, and new worlds are refused
    #[arg(long, env = "SANDBOX_MAX_RESIDENT_BYTES", value_name = "BYTES", value_parser = bytes)]
    max_resident_bytes: Option<u64>,
    /// Limits of each key, separated by commas: requests such as 50/s, changes=N of its world, endpoints=N for webhooks. Requests beyond a
    /// limit get 429
    #[arg(long, env = "SANDBOX_QUOTA", value_name = "QUOTA", value_parser = quota)]
    pub(super) quota: Option<Quota>,
}

/// The value of `--quota`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quota {
    /// Requests, by the wall clock.
    pub(super) rate: Option<Rate>,
    /// The content of the world.
    pub(super) most: Most,
}

fn quota(text: &str) -> Result<Quota, String> {
    let mut quota = Quota::default();
    let mut kinds = BTreeSet::new();
    for part in text.split(',') {
        let number = |number: &str| {
            let number = number.parse().ok().filter(|number: &u32| *number > 0);
            number.ok_or_else(|| format!("expected a number from 1 after the sign = of {part:?}"))
        };
        match part.split_once('=') {
            Some(("changes", most)) => quota.most.changes = Some(number(most)?.into()),
            Some(("endpoints", most)) => {
                quota.most.endpoints = Some(usize::try_from(number(most)?).unwrap_or(usize::MAX));
            }
            Some((name, _)) => {
                return Err(format!(
                    "expected changes or endpoints before the sign =, not {name:?}"
                ));
            }
            None => {
                quota.rate = Some(
                    parse_rate(part)
                        .map_err(|why| format!("{why}, or changes=N, or endpoints=N"))?,
                );
            }
        }
        if !kinds.insert(part.split_once('=').map(|(name, _)| name)) {
            return Err(format!("{part:?} is the second limit of its kind"));
        }
    }
    Ok(quota)
}

fn time(text: &str) -> Result<Duration, &'static str> {
    const EXPECTED: &str = "expected a time from 1s, such as 90s, 30m, 12h or 14d";
    match text.parse().map_err(|_| EXPECTED)? {
        Span::Millis(ms) if ms >= 1_000 => Ok(Duration::from_millis(ms.unsigned_abs())),
        _ => Err(EXPECTED),
    }
}

fn bytes(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a number of bytes from 16MiB, such as 512MiB or 2GiB";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(EXPECTED),
    };
    let number: Option<u64> = digits.parse().ok();
    let bytes = number.and_then(|number| number.checked_mul(unit));
    bytes.filter(|bytes| *bytes >= 16 << 20).ok_or(EXPECTED)
}

impl RoomArgs {
    /// Refuses a flag that has no effect on this system.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.max_resident_bytes.is_some() && resident::bytes().is_none() {
            let why = "--max-resident-bytes works only where /proc/self/status shows the size of the process";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(())
    }

    /// Unloads worlds according to the flags, until the future is dropped. `keeps` means that worlds can be replayed,
    /// so that the least recently used are unloaded first.
    pub(super) async fn sweep(self, engine: Arc<Engine>, keeps: bool) {
        if self.idle_ttl.is_none() && self.max_resident_bytes.is_none() && !keeps {
            return;
        }
        let started = Instant::now();
        let mut fitted = started;
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        loop {
            tokio::time::sleep(TICK).await;
            engine.sweep(ms(started.elapsed()), self.idle_ttl.map(ms));
            if let Some(most) = self.max_resident_bytes.filter(|_| fitted.elapsed() >= FIT) {
                fitted = Instant::now();
                engine.fit(resident::bytes().unwrap_or_default(), most);
            }
        }
    }
}

/// Does what stored worlds need without a call.
pub(super) async fn keep(engine: Arc<Engine>) {
    tokio::join!(bring_owing(Arc::clone(&engine)), keep_checkpoints(engine));
}

/// Replays the worlds that act without calls, at the start and after they were lost.
async fn bring_owing(engine: Arc<Engine>) {
    let mut finds = true;
    loop {
        if finds || engine.owes() {
            let engine = Arc::clone(&engine);
            let bring = move || {
                if finds {
                    engine.find_owing();
                }
                engine.bring_owing();
            };
            let brought = tokio::task::spawn_blocking(bring).await;
            brought.ok(); // a panic there was reported; the next round tries the others
        }
        finds = engine.is_shared();
        tokio::time::sleep(BRING).await;
    }
}

/// Stores checkpoints of worlds with many inputs, and fills the gaps of worlds that began with a checkpoint.
async fn keep_checkpoints(engine: Arc<Engine>) {
    loop {
        tokio::time::sleep(CHECKPOINT).await;
        let engine = Arc::clone(&engine);
        let kept = tokio::task::spawn_blocking(move || {
            engine.fill_gaps();
            engine.store_checkpoints(false);
        });
        kept.await.ok(); // a panic there was reported
    }
}

/// The maximum time until a proxy notices that a process is no longer ready.
const NOTICE: Duration = Duration::from_secs(1);

/// Waits for the shutdown. A process that shares its worlds then reports that it is not ready, and continues to serve
/// until a proxy has noticed.
pub(super) async fn leave_after(shutdown: impl Future<Output = ()>, engine: &Engine) {
    shutdown.await;
    if engine.is_shared() {
        engine.announce_end();
        tokio::time::sleep(NOTICE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("14d"), Ok(Duration::from_secs(14 * 86_400)));
        for wrong in ["", "0s", "10", "2bd", "-1d", "5ms"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bytes("2GiB"), Ok(2 << 30));
        assert_eq!(bytes("16777216"), Ok(16 << 20));
        for wrong in ["", "1", "2GB", "GiB", "99999999999999999999", "20000000000GiB", "-1GiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}

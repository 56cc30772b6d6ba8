//! Moves virtual time by the wall clock: reports the elapsed wall time.
//!
//! This is the only clock that reaches a world, and only with `real[:SPEED]`. Deliberately absent: the speed,
//! which belongs to a world.

use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

/// The interval at which the clock of a world moves: short for people, and long enough to need almost no CPU
/// time.
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Calls `tick` with the wall time since the last call, every `period`, until `until` is done.
///
/// The reported times add up to the total: a late tick reports more time, and no tick is repeated.
pub(crate) async fn pace(
    period: Duration,
    mut tick: impl FnMut(Duration),
    until: impl Future<Output = ()>,
) {
    let mut timer = interval(period);
    timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    timer.tick().await; // the first is due at once
    let mut last = Instant::now();
    let mut until = std::pin::pin!(until);
    loop {
        tokio::select! {
            biased;
            () = &mut until => return,
            now = timer.tick() => {
                // A late tick has the time at which it was due; the actual time counts.
                let now = now.max(Instant::now());
                tick(now - last);
                last = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_add_up_to_the_time_that_passed() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (mut ticks, mut sum) = (0_u32, Duration::ZERO);
        let started = std::time::Instant::now();
        runtime.expect("a runtime for a test").block_on(async {
            let count = |elapsed| {
                ticks += 1;
                sum += elapsed;
            };
            let end = tokio::time::sleep(Duration::from_millis(60));
            pace(Duration::from_millis(5), count, end).await;
        });
        let wall = started.elapsed();
        assert!((3..=12).contains(&ticks), "{ticks} ticks");
        assert!(sum <= wall && sum >= Duration::from_millis(30), "{sum:?} of {wall:?}");
    }
}

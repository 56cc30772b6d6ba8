//! When a failed delivery is retried: nine steps, on one of two clocks.

use crate::value::Timestamp;
use crate::world::ClockMode;

/// Seconds, minutes and hours after the previous attempt, as real services wait.
const USUAL_MS: [i64; 9] = [
    5_000,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
];
/// The same pattern for interactive use: 77 s from the first to the last attempt.
const COMPRESSED_MS: [i64; 9] = [100, 500, 1_000, 2_000, 5_000, 10_000, 14_000, 20_000, 24_000];
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// The factor by which the compressed schedule shortens virtual delays.
const COMPRESSION: i64 = 1_000;

/// Maximum number of attempts per delivery: the first and nine retries.
pub(crate) const MOST_ATTEMPTS: usize = USUAL_MS.len() + 1;

/// The requested schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Retries {
    /// Virtual if the clock is moved by calls, compressed otherwise.
    #[default]
    Auto,
    Virtual,
    Compressed,
    Real,
}

impl Retries {
    /// The schedule for a clock mode.
    pub(crate) const fn pace(self, mode: ClockMode) -> Pace {
        match (self, mode) {
            (Self::Virtual, _) | (Self::Auto, ClockMode::Manual) => Pace::Virtual,
            (Self::Compressed | Self::Auto, _) => Pace::Compressed,
            (Self::Real, _) => Pace::Real,
        }
    }
}

/// The current time on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// The world's time.
    pub(crate) now: Timestamp,
    /// The machine's time.
    pub(crate) wall: Timestamp,
}

/// A schedule and its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RetrySchedule")]
pub(crate) enum Pace {
    Virtual,
    #[default]
    Compressed,
    Real,
}

impl Pace {
    /// The time on the clock for due times.
    pub(crate) const fn now(self, clocks: Clocks) -> Timestamp {
        match self {
            Self::Virtual => clocks.now,
            Self::Compressed | Self::Real => clocks.wall,
        }
    }

    const fn steps(self) -> &'static [i64; 9] {
        match self {
            Self::Virtual | Self::Real => &USUAL_MS,
            Self::Compressed => &COMPRESSED_MS,
        }
    }

    /// The wait after the attempt with this number, from 1; `None` after the last attempt.
    ///
    /// The receiver's `Retry-After` is a minimum, up to the schedule's largest step.
    pub(crate) fn wait_ms(self, attempt: usize, asked_ms: Option<i64>) -> Option<i64> {
        let step = *self.steps().get(attempt.checked_sub(1)?)?;
        Some(step.max(self.bounded(asked_ms)))
    }

    /// The pause for an overloaded receiver, by the number of its consecutive overload signals, from 1.
    pub(crate) fn pause_ms(self, in_a_row: usize, asked_ms: Option<i64>) -> i64 {
        let step = self.steps()[in_a_row.saturating_sub(1).min(3)];
        step.max(self.bounded(asked_ms))
    }

    fn bounded(self, asked_ms: Option<i64>) -> i64 {
        asked_ms.unwrap_or(0).min(self.steps()[8])
    }

    /// A virtual duration on this clock.
    pub(crate) fn scaled_ms(self, ms: i64) -> i64 {
        match self {
            Self::Virtual | Self::Real => ms,
            Self::Compressed => (ms / COMPRESSION).max(i64::from(ms > 0)),
        }
    }
}

/// Parses `Retry-After`, seconds or an HTTP date, to milliseconds from `wall`; none if it is neither.
pub(crate) fn retry_after_ms(text: &str, wall: Timestamp) -> Option<i64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let seconds = text.parse::<i64>().unwrap_or(i64::MAX);
        return Some(seconds.saturating_mul(1_000));
    }
    let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some((until.as_millisecond() - wall.millis()).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_retry_schedule_is_that_of_the_conventions() {
        let seconds: Vec<_> = (1..=10)
            .map(|attempt| Pace::Virtual.wait_ms(attempt, None).map(|ms| ms / 1_000))
            .collect();
        let expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
        assert_eq!(seconds[..9], expected.map(Some));
        assert_eq!(seconds[9], None);
    }

    #[test]
    fn a_receiver_may_ask_for_more_time_within_a_day() {
        let wait = |asked| Pace::Virtual.wait_ms(1, Some(asked));
        assert_eq!(wait(60_000), Some(60_000));
        assert_eq!(wait(1_000), Some(5_000));
        assert_eq!(wait(i64::MAX), Some(24 * HOUR_MS));
        assert_eq!(Pace::Compressed.wait_ms(1, Some(i64::MAX)), Some(24_000));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let wall: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(retry_after_ms(" 120 ", wall), Some(120_000));
        let date = "Sun, 01 Mar 2026 12:02:00 GMT";
        assert_eq!(retry_after_ms(date, wall), Some(120_000));
        assert_eq!(retry_after_ms("Sun, 01 Mar 2026 11:00:00 GMT", wall), Some(0));
        let huge = "99999999999999999999999";
        assert_eq!(retry_after_ms(huge, wall), Some(i64::MAX));
        for odd in ["", "soon", "-5", "1.5"] {
            assert_eq!(retry_after_ms(odd, wall), None, "{odd}");
        }
    }

    #[test]
    fn days_of_a_scenario_become_minutes_on_the_compressed_schedule() {
        assert_eq!(Pace::Compressed.scaled_ms(5 * MINUTE_MS), 300);
        assert_eq!(Pace::Compressed.scaled_ms(5), 1);
        assert_eq!(Pace::Compressed.scaled_ms(0), 0);
        assert_eq!(Pace::Virtual.scaled_ms(5 * MINUTE_MS), 5 * MINUTE_MS);
    }

    #[test]
    fn the_clock_picks_the_schedule_unless_a_flag_does() {
        use ClockMode::{Instant, Manual, Real};
        assert_eq!(Retries::Auto.pace(Manual), Pace::Virtual);
        assert_eq!(Retries::Auto.pace(Instant), Pace::Compressed);
        assert_eq!(Retries::Auto.pace(Real), Pace::Compressed);
        assert_eq!(Retries::Real.pace(Manual), Pace::Real);
        assert_eq!(Retries::Virtual.pace(Instant), Pace::Virtual);
    }
}

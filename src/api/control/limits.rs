//! Limits of this key's world: the request rate in wall-clock time, the latency of replies, and the platform fee.

use crate::api::prelude::*;
use crate::model::payments::{FeeSchedule, FeeTier};
use crate::tester::fault::wall_ms;
use crate::tester::wire::parse_rate;
use crate::world::script::{self, Latency};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/limits",
        summary: "Read the limits",
        description: "Returns the limits. There are none unless a scenario or a call has set them.",
        ..operation!(tester get_limits)
    },
    Operation {
        method: Method::Put,
        path: "/_sandbox/limits",
        summary: "Set the limits",
        description: "Replaces all limits. An absent member removes its limit; without \
            `platform_fee`, the standard fee applies. Above the rate, product calls return 429 \
            with `Retry-After`. Every reply then has the headers `RateLimit` and \
            `RateLimit-Policy`.",
        example: r#"{"rate":"100000/min"}"#,
        ..operation!(tester set_limits)
    },
]);

/// Limits to set.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SetLimits {
    /// Requests per window, which starts with its first request: `100/min`, `10/s`, `5/10s`.
    rate: Option<Text<40>>,
    /// Mean latency of a reply in wall-clock time, such as `110ms`.
    latency: Option<Span>,
    /// Maximum deviation from the mean latency, drawn uniformly; at most the mean.
    spread: Option<Span>,
    /// The fee for moving money: `standard` (default), `off`, or tiers of the monthly volume in ascending order, the first from 0.
    platform_fee: Option<PlatformFee>,
    /// The fixed amount that a company pays together with its first fee of a month, in minor units of that currency. Default: 0.
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_i64))]
    monthly_fee: Option<i64>,
}

/// The platform fee for moving money.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum PlatformFee {
    Named(NamedFee),
    Tiers(FeeTiers),
}

/// Fee schedules without tiers of their own.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum NamedFee {
    /// The service's standard tiers.
    Standard,
    /// No fee.
    Off,
}

/// The tiers of a fee by monthly volume.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct FeeTiers(#[schemars(length(min = 1, max = 20))] Vec<FeeTier>);

impl PlatformFee {
    fn schedule(self) -> Result<FeeSchedule, &'static str> {
        match self {
            Self::Named(NamedFee::Standard) => Ok(FeeSchedule::Standard),
            Self::Named(NamedFee::Off) => Ok(FeeSchedule::Off),
            Self::Tiers(FeeTiers(tiers)) => FeeSchedule::of(tiers),
        }
    }

    fn of(schedule: &FeeSchedule) -> Self {
        match schedule {
            FeeSchedule::Standard => Self::Named(NamedFee::Standard),
            FeeSchedule::Off => Self::Named(NamedFee::Off),
            FeeSchedule::Tiers(tiers) => Self::Tiers(FeeTiers(tiers.clone())),
        }
    }
}

/// The current limits.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Limits {
    /// Requests per window; null if unlimited.
    rate: Option<RateShape>,
    /// Mean latency of a reply; null if there is no delay.
    latency: Option<Span>,
    /// Maximum deviation from the mean latency; null if there is none.
    spread: Option<Span>,
    /// The platform fee for moving money.
    platform_fee: PlatformFee,
    /// The fixed amount, in minor units, that a company pays together with its first fee of a month. 0 for none.
    monthly_fee: i64,
}

/// A number of requests per window.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RequestRate")]
struct RateShape {
    /// Number of requests that are allowed in a window.
    requests: u64,
    /// The window, in wall-clock time.
    window: Span,
}

fn get_limits(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Limits>> {
    Ok(Plain(shown(session)))
}

fn set_limits(session: &mut Session<'_>, input: SetLimits) -> Result<Plain<Limits>> {
    let mut wrong = Vec::new();
    let mut kept = |pointer: &str, parsed: Result<u64, &str>| {
        parsed.map_err(|expected| wrong.push(Violation::new(pointer, "format", expected))).ok()
    };
    let ms = |span: Option<Span>| span.map(|span| wall_ms(&span.to_string()));
    let mean_ms = ms(input.latency).and_then(|parsed| kept("/latency", parsed));
    let spread_ms = ms(input.spread).and_then(|parsed| kept("/spread", parsed));
    let rate = input.rate.map(|text| parse_rate(text.as_str()));
    if let Some(Err(expected)) = rate {
        wrong.push(Violation::new("/rate", "format", expected));
    }
    if spread_ms.unwrap_or(0) > mean_ms.unwrap_or(0) {
        let detail = "must not be more than the latency";
        wrong.push(Violation::new("/spread", "range", detail));
    }
    let schedule = input.platform_fee.map(PlatformFee::schedule).transpose();
    let schedule = schedule.map_err(|expected| {
        wrong.push(Violation::new("/platform_fee", "range", expected));
    });
    let Ok(schedule) = schedule else { return Err(ApiError::invalid(wrong)) };
    ApiError::if_any(wrong)?;
    let schedule = schedule.unwrap_or_default();
    session.tester.wire.set_limits(script::Limits {
        rate: rate.and_then(Result::ok),
        latency: mean_ms.map(|mean_ms| Latency { mean_ms, spread_ms: spread_ms.unwrap_or(0) }),
        platform_fee: None, // the world's
        monthly_fee: None,
    });
    session.world.charge_by(schedule, input.monthly_fee.unwrap_or_default());
    Ok(Plain(shown(session)))
}

fn shown(session: &Session<'_>) -> Limits {
    let limits = session.tester.wire.limits();
    let span = |ms| Span::Millis(i64::try_from(ms).unwrap_or(i64::MAX));
    Limits {
        rate: limits
            .rate
            .map(|rate| RateShape { requests: rate.requests, window: span(rate.window_ms) }),
        latency: limits.latency.map(|latency| span(latency.mean_ms)),
        spread: limits.latency.map(|it| it.spread_ms).filter(|ms| *ms > 0).map(span),
        platform_fee: PlatformFee::of(&session.world.script().platform_fee),
        monthly_fee: session.world.script().monthly_fee,
    }
}

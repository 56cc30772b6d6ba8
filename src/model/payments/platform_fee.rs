//! The platform fee: a percentage of a company's monthly volume, with lower rates at higher volumes (`fixtures/platform_fee.toml`).
//!
//! Pure: the caller passes the previous volume. Each part of an amount is charged at the rate of its tier. The sum is rounded once; halves
//! are rounded to even.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::model::fx::half_even;
use crate::model::prelude::*;

/// A tier of the platform fee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeeTier {
    /// The month's volume in minor units at which the tier starts; 0 for the first tier.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_i64))]
    pub(crate) from: i64,
    /// Fee in basis points of the volume in this tier.
    #[schemars(range(min = 0, max = 10_000))]
    pub(crate) basis_points: u32,
}

/// Which tiers apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FeeSchedule {
    /// The standard tiers of the service.
    #[default]
    Standard,
    /// No fee.
    Off,
    /// Tiers from a scenario or a caller, for every currency.
    Tiers(Vec<FeeTier>),
}

impl FeeSchedule {
    /// Whether the standard tiers apply.
    pub(crate) fn is_standard(&self) -> bool {
        *self == Self::Standard
    }

    /// Checks that tiers start at 0 and ascend. An error describes the fault.
    pub(crate) fn of(tiers: Vec<FeeTier>) -> Result<Self, &'static str> {
        if tiers.first().is_none_or(|first| first.from != 0) {
            return Err("the first tier must start at 0");
        }
        if tiers.windows(2).any(|pair| pair[1].from <= pair[0].from) {
            return Err("each tier must start above the one before");
        }
        if tiers.iter().any(|tier| tier.basis_points > 10_000) {
            return Err("a tier's basis_points must be at most 10000");
        }
        Ok(Self::Tiers(tiers))
    }

    /// The fee for an amount, given the volume of the month so far.
    pub(crate) fn charge(&self, currency: Currency, volume: i128, amount: i64) -> i64 {
        match self {
            Self::Off => 0,
            Self::Tiers(tiers) => marginal(tiers, 1, volume, amount),
            Self::Standard => {
                let scale = STANDARD.scale.get(&currency).copied().unwrap_or(1);
                let unit = i128::from(scale) * i128::from(currency.minor_per_major());
                marginal(&STANDARD.tiers, unit, volume, amount)
            }
        }
    }
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Standard {
    tiers: Vec<FeeTier>,
    scale: BTreeMap<Currency, i64>,
}

static STANDARD: LazyLock<Standard> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../fixtures/platform_fee.toml"))
        .expect("the embedded tiers are whole: a test reads them")
});

/// The parts of an amount, each at the rate of its tier.
fn marginal(tiers: &[FeeTier], unit: i128, volume: i128, amount: i64) -> i64 {
    let (before, after) = (volume.max(0), volume.max(0) + i128::from(amount.max(0)));
    let ends = tiers.iter().skip(1).map(|tier| i128::from(tier.from) * unit);
    let ends = ends.chain(core::iter::once(i128::MAX));
    let parts = tiers.iter().zip(ends).map(|(tier, end)| {
        let from = (i128::from(tier.from) * unit).max(before);
        (end.min(after) - from).max(0) * i128::from(tier.basis_points)
    });
    let fee = half_even(parts.sum(), 10_000);
    i64::try_from(fee).expect("a share of a sum is not more than the sum")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(code: &str, volume: i128, amount: i64) -> i64 {
        let currency = Currency::new(code).expect("a currency");
        FeeSchedule::Standard.charge(currency, volume, amount)
    }

    #[test]
    fn the_embedded_tiers_fall_from_one_and_a_half_percent_to_a_half() {
        let tiers = &STANDARD.tiers;
        assert!(FeeSchedule::of(tiers.clone()).is_ok());
        let rates: Vec<u32> = tiers.iter().map(|tier| tier.basis_points).collect();
        assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
        assert_eq!((rates.first(), rates.last()), (Some(&150), Some(&50)));
        assert!(STANDARD.scale.values().all(|scale| *scale > 1));
    }

    #[test]
    fn an_amount_across_tiers_is_charged_by_its_parts() {
        assert_eq!(charge("USD", 0, 100_000), 1_500);
        // 50,000.00 at 1.5 % and 50,000.00 at 1.25 %.
        assert_eq!(charge("USD", 5_000_000, 10_000_000), 75_000 + 62_500);
        assert_eq!(charge("USD", 1_000_000_000, 1_000), 5);
        // In NGN a tier is a thousand times as wide; UGX has no decimals.
        assert_eq!(charge("NGN", 0, 1_000_000_000), 15_000_000);
        assert_eq!(charge("UGX", 400_000_000, 1_000), 12);
    }

    #[test]
    fn charging_in_parts_comes_to_the_same_but_for_rounding() {
        let (mut volume, mut parts) = (0, 0);
        for amount in [3_333_333, 6_666_667, 50_000_000, 123_456_789, 2_000_000_000] {
            parts += charge("USD", volume, amount);
            volume += i128::from(amount);
        }
        let whole = charge("USD", 0, i64::try_from(volume).expect("small"));
        assert!((whole - parts).abs() <= 3, "{whole} and {parts}");
    }

    #[test]
    fn halves_of_a_minor_unit_are_rounded_to_even() {
        let flat = FeeSchedule::of(vec![FeeTier { from: 0, basis_points: 50 }]).expect("sound");
        let usd = Currency::new("USD").expect("a currency");
        let fees: Vec<i64> = [0, 1, 99, 100, 101, 300, 301].map(|a| flat.charge(usd, 0, a)).into();
        assert_eq!(fees, [0, 0, 0, 0, 1, 2, 2]);
        assert_eq!(FeeSchedule::Off.charge(usd, 0, i64::MAX), 0);
        assert!(FeeSchedule::Standard.charge(usd, i128::from(i64::MAX), i64::MAX) > 0);
    }

    #[test]
    fn invalid_fee_tiers_are_refused() {
        let tier = |from, basis_points| FeeTier { from, basis_points };
        for wrong in [
            vec![],
            vec![tier(1, 10)],
            vec![tier(0, 10), tier(0, 5)],
            vec![tier(0, 10), tier(9, 5), tier(8, 1)],
            vec![tier(0, 10_001)],
        ] {
            assert!(FeeSchedule::of(wrong.clone()).is_err(), "{wrong:?}");
        }
    }
}

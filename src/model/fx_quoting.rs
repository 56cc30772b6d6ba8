//! The cost of a conversion: an exact rate, the spread of a currency pair (`fixtures/fx_spreads.toml`), and both amounts in minor units.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserializer, Serializer, de};

use crate::model::fx::{self, half_even};
use crate::model::prelude::*;

/// Fixed-point parts of one unit in a rate.
const PARTS: i128 = 1_000_000_000_000;
const PLACES: usize = 12;
/// Basis points in 100 %.
const WHOLE: i128 = 10_000;

/// Units of one currency for one of another, with twelve decimal places; a decimal string in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rate(i128);

impl Rate {
    /// The rate nearest to a fraction.
    pub(crate) fn of(numerator: i128, denominator: i128) -> Self {
        Self(half_even(numerator * PARTS, denominator))
    }

    /// The rate less a spread.
    pub(crate) fn less(self, basis_points: u32) -> Self {
        Self(half_even(self.0 * (WHOLE - i128::from(basis_points)), WHOLE))
    }

    /// The amount in the other currency, in minor units, rounded half to even.
    pub(crate) fn convert(self, amount: i64, from: Currency, to: Currency) -> i128 {
        half_even(
            i128::from(amount) * self.0 * i128::from(to.minor_per_major()),
            PARTS * i128::from(from.minor_per_major()),
        )
    }

    /// The amount to convert in order to receive `amount` of the other currency, rounded half to even.
    pub(crate) fn needed(self, amount: i64, from: Currency, to: Currency) -> i128 {
        half_even(
            i128::from(amount) * PARTS * i128::from(from.minor_per_major()),
            self.0 * i128::from(to.minor_per_major()),
        )
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, parts) = (self.0 / PARTS, self.0 % PARTS);
        let digits = format!("{parts:0PLACES$}");
        match digits.trim_end_matches('0') {
            "" => write!(out, "{whole}"),
            digits => write!(out, "{whole}.{digits}"),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let (whole, digits) = text.split_once('.').unwrap_or((&text, ""));
        let read = || {
            let parts = format!("{digits:0<PLACES$}");
            let parts = Some(parts).filter(|parts| parts.len() == PLACES)?;
            let whole: i128 = whole.parse().ok()?;
            Some(Self(whole.checked_mul(PARTS)? + parts.parse::<i128>().ok()?))
        };
        read().ok_or_else(|| de::Error::custom("expected a decimal with at most twelve places"))
    }
}

impl JsonSchema for Rate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,12})?$" })
    }
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spreads {
    basis_points: Classes<u32>,
    class: Named,
    corridor: Vec<Corridor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Classes<T> {
    major: T,
    regional: T,
    frontier: T,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    major: Vec<Currency>,
    frontier: Vec<Currency>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corridor {
    between: [Currency; 2],
    basis_points: u32,
}

/// The spread of each pair of currencies that have a reference rate, in the order of `fx::known`.
struct Table {
    places: BTreeMap<Currency, usize>,
    spreads: Vec<Vec<u32>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let spreads: Spreads = toml::from_str(include_str!("../../fixtures/fx_spreads.toml"))
        .expect("the embedded spreads are whole: a test reads them");
    Table::of(&spreads)
});

impl Table {
    fn of(written: &Spreads) -> Self {
        let points = &written.basis_points;
        let class = |currency: Currency| match &written.class {
            class if class.major.contains(&currency) => points.major,
            class if class.frontier.contains(&currency) => points.frontier,
            _ => points.regional,
        };
        let corridor = |pair: [Currency; 2]| {
            let mut rows = written.corridor.iter();
            let row = rows.find(|row| in_order(row.between) == in_order(pair));
            row.map(|row| row.basis_points)
        };
        let all: Vec<Currency> = fx::known().collect();
        let direct = |one: Currency, other: Currency| {
            corridor([one, other]).unwrap_or(class(one).max(class(other)))
        };
        let row = |&one: &Currency| all.iter().map(|&other| direct(one, other)).collect();
        let mut spreads: Vec<Vec<u32>> = all.iter().map(row).collect();
        cap_by_detours(&mut spreads);
        Self { places: all.into_iter().zip(0..).collect(), spreads }
    }
}

/// Lowers each spread to that of the cheapest chain of conversions, so that no chain is cheaper than the direct one.
fn cap_by_detours(spreads: &mut [Vec<u32>]) {
    for by in 0..spreads.len() {
        for one in 0..spreads.len() {
            for other in (0..spreads.len()).filter(|&other| other != by && one != by) {
                let detour = together(spreads[one][by], spreads[by][other]);
                spreads[one][other] = spreads[one][other].min(detour);
            }
        }
    }
}

/// The spread of two consecutive conversions, rounded down. The second spread applies to the proceeds of the first
/// conversion.
fn together(first: u32, second: u32) -> u32 {
    let left = (WHOLE - i128::from(first)) * (WHOLE - i128::from(second));
    let kept = (left + WHOLE - 1) / WHOLE;
    u32::try_from(WHOLE - kept).expect("a spread is a part of the whole")
}

fn in_order(mut pair: [Currency; 2]) -> [Currency; 2] {
    pair.sort_unstable();
    pair
}

/// The spread of a quote between two currencies with reference rates, in basis points.
pub(crate) fn spread(source: Currency, target: Currency) -> u32 {
    let place = |currency| TABLE.places.get(&currency).copied();
    let pair = place(source).zip(place(target));
    let (source, target) = pair.expect("a quote requires reference rates of both currencies");
    TABLE.spreads[source][target]
}

/// The cost of a spread on an amount, in minor units, rounded half to even.
pub(crate) fn cost_of_spread(amount: i64, basis_points: u32) -> i64 {
    let cost = half_even(i128::from(amount) * i128::from(basis_points), WHOLE);
    i64::try_from(cost).expect("a part is not more than the whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::new(code).expect("a currency")
    }

    #[test]
    fn a_rate_is_written_as_it_is_read() {
        for (rate, text) in [
            (Rate::of(19_398_094, 10_000), "1939.8094"),
            (Rate::of(1, 3), "0.333333333333"),
            (Rate::of(2, 3), "0.666666666667"),
            (Rate::of(5, 1), "5"),
            (Rate::of(1, 10_000_000), "0.0000001"),
        ] {
            assert_eq!(rate.to_string(), text);
            let json = serde_json::to_string(&rate).expect("a rate serialises");
            assert_eq!(serde_json::from_str::<Rate>(&json).expect("it was a rate"), rate);
        }
        for wrong in ["", ".5", "1.0000000000001", "1,5", "-", "1e3"] {
            let json = serde_json::to_string(wrong).expect("a text");
            assert!(serde_json::from_str::<Rate>(&json).is_err(), "{wrong}");
        }
    }

    #[test]
    fn both_sides_are_whole_minor_units_of_their_own_currency() {
        let (gbp, ngn, ugx, jpy) =
            (currency("GBP"), currency("NGN"), currency("UGX"), currency("JPY"));
        let rate = Rate::of(19_398_094, 10_000);
        assert_eq!(rate.convert(10_000, gbp, ngn), 19_398_094);
        assert_eq!(rate.needed(19_398_094, gbp, ngn), 10_000);
        let rate = Rate::of(4_750, 1);
        assert_eq!(rate.convert(1, gbp, ugx), 48); // 47.5, and the even side is above
        assert_eq!(rate.convert(3, gbp, ugx), 142); // 142.5, and the even side is below
        assert_eq!(rate.needed(1, gbp, ugx), 0); // less than half a penny
        assert_eq!(Rate::of(1, 200).convert(100, jpy, gbp), 50);
        let most = Rate::of(5_613, 1).convert(i64::MAX, gbp, ugx);
        assert!(most > i128::from(i64::MAX));
    }

    #[test]
    fn a_spread_makes_the_rate_worse_for_both_directions() {
        let mid = Rate::of(13_329, 10_000);
        assert_eq!(mid.less(20).to_string(), "1.3302342");
        assert!(mid.less(0) == mid && mid.less(20) < mid);
        assert_eq!(cost_of_spread(10_000, 20), 20);
        assert_eq!(cost_of_spread(1, 150), 0);
    }

    #[test]
    fn a_pair_costs_what_its_more_expensive_currency_costs_or_the_cheapest_chain() {
        let of = |one, other| spread(currency(one), currency(other));
        assert_eq!((of("USD", "GBP"), of("GBP", "USD")), (20, 20));
        assert_eq!((of("USD", "CAD"), of("ZAR", "CAD")), (30, 75));
        assert_eq!((of("USD", "UGX"), of("UGX", "KES")), (150, 150));
        assert_eq!(of("NGN", "GBP"), 120);
        assert_eq!(of("NGN", "USD"), 139); // 1.2 % and then 0.2 % of the rest, through GBP
        assert_eq!(of("KWD", "JPY"), 75);
    }

    #[test]
    fn no_chain_of_two_conversions_is_cheaper_than_the_direct_one() {
        let all: Vec<Currency> = fx::known().collect();
        let left = |one, other| WHOLE - i128::from(spread(one, other));
        for &one in &all {
            for &other in all.iter().filter(|&&other| other != one) {
                assert_eq!(spread(one, other), spread(other, one));
                for &by in all.iter().filter(|&&by| by != one && by != other) {
                    let detour = left(one, by) * left(by, other);
                    assert!(left(one, other) * WHOLE >= detour, "{one} {by} {other}");
                }
            }
        }
    }
}

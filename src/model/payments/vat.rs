//! Tax on sales: the standard rate of each country (`fixtures/vat.toml`) and the tax calculation.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::fx::half_even;

/// Basis points in 100 %.
pub(crate) const WHOLE: u32 = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rate: Vec<Rate>,
}

/// A country's standard rate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rate {
    /// ISO 3166-1 alpha-2.
    country: String,
    /// The local name of the tax.
    pub(crate) name: String,
    pub(crate) basis_points: u32,
    /// The source of the rate.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
}

static RATES: LazyLock<Vec<Rate>> = LazyLock::new(|| {
    let file: Result<File, _> = toml::from_str(include_str!("../../../fixtures/vat.toml"));
    file.expect("the embedded rates are whole: a test reads them").rate
});

/// The standard rate of a country, if the table contains it.
pub(crate) fn of(country: &str) -> Option<&'static Rate> {
    RATES.iter().find(|rate| rate.country == country)
}

/// The standard rate in basis points; 0 if the table has none.
pub(crate) fn standard(country: &str) -> u32 {
    of(country).map_or(0, |rate| rate.basis_points)
}

/// The tax on an amount; halves are rounded to even.
///
/// # Panics
///
/// If the rate is above 100 % and the amount is near the limit of 64 bits, which no caller can send.
pub(crate) fn on(net: i64, basis_points: u32) -> i64 {
    let tax = half_even(i128::from(net) * i128::from(basis_points), i128::from(WHOLE));
    i64::try_from(tax).expect("a rate is at most the whole")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::growth::countries;

    #[test]
    fn every_country_has_one_rate_with_a_source_and_none_is_of_elsewhere() {
        let mut named: Vec<&str> = RATES.iter().map(|rate| rate.country.as_str()).collect();
        let mut known: Vec<&str> = countries::codes().collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
        for rate in RATES.iter() {
            assert!(rate.basis_points < WHOLE, "{}", rate.country);
            assert!(rate.source.len() > 10 && !rate.name.is_empty(), "{}", rate.country);
        }
    }

    #[test]
    fn tax_is_rounded_with_halves_to_the_even_unit() {
        assert_eq!(on(100_000, 750), 7_500);
        assert_eq!((on(20, 750), on(100, 750), on(60, 750)), (2, 8, 4)); // 1.5, 7.5, 4.5
        assert_eq!(on(1_000_000_000_000_000, 2_500), 250_000_000_000_000);
        assert_eq!((standard("NG"), standard("US"), standard("ZZ")), (750, 0, 0));
    }
}

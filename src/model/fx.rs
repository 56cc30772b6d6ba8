//! Reference rates between currencies: monthly rates of a customs authority (`fixtures/fx.toml`). Between them, the
//! rate follows a random path from the world's seed that meets every published rate. They are not market quotes.
//! Financial statements use them to translate amounts.
//!
//! Integers only: units of a currency for one pound, times 10^8.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::model::fx_quoting::Rate;
use crate::model::prelude::*;
use crate::value::Key;

/// Fixed-point parts of one unit, for rates per pound.
const PARTS: i128 = 100_000_000;

/// Default daily movement in basis points, for currencies without a row below.
const USUAL_MOVEMENT: i128 = 40;

/// Daily movement of a currency against the pound, in basis points: about one standard deviation.
const MOVEMENT: &[(&str, i128)] = &[
    ("USD", 32),
    ("EUR", 39),
    ("INR", 24),
    ("CAD", 26),
    ("ZAR", 48),
    ("KES", 54),
    ("UGX", 52),
    ("GHS", 147),
    ("NGN", 60),
];

/// The file as written.
#[derive(Deserialize)]
struct File {
    base: String,
    units_per_gbp: BTreeMap<String, String>,
    history: History,
}

#[derive(Deserialize)]
struct History {
    months: Vec<String>,
    #[serde(flatten)]
    rates: BTreeMap<String, Vec<String>>,
}

/// Published rates: one per month for each currency, starting with the first month.
struct Published {
    base: Currency,
    first: Period,
    anchors: BTreeMap<Currency, Vec<i128>>,
}

static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    let file = include_str!("../../fixtures/fx.toml");
    read(file).expect("the embedded rates are whole: a test reads them")
});

fn read(text: &str) -> Option<Published> {
    let file: File = toml::from_str(text).ok()?;
    let mut anchors = BTreeMap::new();
    for (code, units) in &file.units_per_gbp {
        let monthly = match file.history.rates.get(code) {
            Some(rates) => rates.iter().map(|rate| parts(rate)).collect(),
            None => Some(vec![parts(units)?]),
        };
        anchors.insert(Currency::new(code)?, monthly?);
    }
    Some(Published {
        base: Currency::new(&file.base)?,
        first: file.history.months.first()?.parse().ok()?,
        anchors,
    })
}

/// `"1.3329"` as parts of a unit.
fn parts(decimal: &str) -> Option<i128> {
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits = format!("{whole}{fraction:0<8}");
    (fraction.len() <= 8).then(|| digits.parse().ok())?
}

/// Whether amounts in that currency can be translated into others.
pub(crate) fn is_known(currency: Currency) -> bool {
    PUBLISHED.anchors.contains_key(&currency)
}

/// Every currency that has a reference rate, by code.
pub(crate) fn known() -> impl ExactSizeIterator<Item = Currency> + Clone {
    PUBLISHED.anchors.keys().copied()
}

/// Maximum number of cached paths, each for one month of a currency: a few hundred kilobytes.
const KEPT_PATHS: usize = 500;

/// The reference rates of one world.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    key: Key,
    /// Cached paths by month.
    paths: BTreeMap<(Currency, Period), Vec<i128>>,
}

impl Rates {
    /// The rates of the world with that key.
    pub(crate) fn new(key: Key) -> Self {
        Self { key: key.with("fx"), paths: BTreeMap::new() }
    }

    /// Converts an amount in minor units at that day's rate, rounded half to even. None if one of the currencies has no reference rate.
    pub(crate) fn translate(
        &mut self,
        amount: i128,
        from: Currency,
        to: Currency,
        day: Date,
    ) -> Option<i128> {
        if from == to {
            return Some(amount);
        }
        let numerator = self.units(to, day)? * i128::from(to.minor_per_major());
        let denominator = self.units(from, day)? * i128::from(from.minor_per_major());
        amount.checked_mul(numerator).map(|scaled| half_even(scaled, denominator))
    }

    /// Units of one currency for one of another on that day. None if one of them has no reference rate.
    pub(crate) fn mid(&mut self, from: Currency, to: Currency, day: Date) -> Option<Rate> {
        Some(Rate::of(self.units(to, day)?, self.units(from, day)?))
    }

    /// Parts of the currency for one pound on that day.
    fn units(&mut self, currency: Currency, day: Date) -> Option<i128> {
        let published = &*PUBLISHED;
        let anchors = published.anchors.get(&currency)?;
        if currency == published.base {
            return Some(PARTS);
        }
        let period = day.period();
        let anchor = |ahead: i32| {
            let month = (period.months_since(published.first) + ahead).max(0);
            let month = usize::try_from(month).unwrap_or_default();
            anchors[month.min(anchors.len() - 1)]
        };
        let elapsed = usize::try_from(day.days_since(period.first_day())).unwrap_or_default();
        let key = self.key;
        if self.paths.len() >= KEPT_PATHS && !self.paths.contains_key(&(currency, period)) {
            self.paths.clear();
        }
        let path = self.paths.entry((currency, period));
        let path = path.or_insert_with(|| path_of(key, currency, period));
        let passed = i128::try_from(elapsed).unwrap_or_default();
        let days = i128::try_from(path.len()).unwrap_or(1);
        let between = anchor(0) + (anchor(1) - anchor(0)) * passed / days;
        Some(between + between * path[elapsed] / MOVES)
    }
}

/// The distance from the straight line between two months on each day, in `1 / MOVES`: random steps, corrected so that the path ends at
/// zero.
fn path_of(key: Key, currency: Currency, period: Period) -> Vec<i128> {
    let row = MOVEMENT.iter().find(|(code, _)| *code == currency.code());
    let size = row.map_or(USUAL_MOVEMENT, |(_, size)| *size);
    let key = key.with(currency.code());
    let (mut sum, mut day) = (0, period.first_day());
    let mut sums = Vec::new();
    while day <= period.last_day() {
        sums.push(sum);
        let draw = i128::from(key.with(&day.to_string()).below(WIDTH)) - HALF_WIDTH;
        sum += draw * size;
        day = day.plus_days(1);
    }
    let days = i128::try_from(sums.len()).unwrap_or(1);
    let back = |(passed, so_far)| so_far - sum * passed / days;
    (0..).zip(sums).map(back).collect()
}

/// A step is a uniform draw from −1,732 to 1,732 thousandths, which has a standard deviation of one.
const HALF_WIDTH: i128 = 1_732;
const WIDTH: u64 = 3_465;
/// Basis points times thousandths.
const MOVES: i128 = 10_000 * 1_000;

/// Rounds to the nearest integer, half to even.
pub(crate) fn half_even(numerator: i128, denominator: i128) -> i128 {
    let (quotient, rest) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    match (rest * 2).cmp(&denominator) {
        core::cmp::Ordering::Less => quotient,
        core::cmp::Ordering::Greater => quotient + 1,
        core::cmp::Ordering::Equal => quotient + quotient.rem_euclid(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn currency(code: &str) -> Currency {
        Currency::new(code).expect("a currency")
    }

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    #[test]
    fn every_published_rate_is_met_on_the_first_of_its_month() {
        let published = read(include_str!("../../fixtures/fx.toml")).expect("whole");
        assert_eq!(published.anchors.len(), 43);
        let mut rates = Rates::new(Key::new(42));
        for (&code, anchors) in &published.anchors {
            for (ahead, &anchor) in (0..).zip(anchors) {
                let first = published.first.plus_months(ahead).first_day();
                assert_eq!(rates.units(code, first), Some(anchor), "{code} {first}");
            }
        }
    }

    /// One table decides the decimal places: `value::money`. Each currency without hundredths can be converted.
    #[test]
    fn minor_digits_are_those_of_the_currency_and_every_unusual_one_has_a_rate() {
        #[derive(Deserialize)]
        struct Digits {
            minor_digits: BTreeMap<Currency, u32>,
        }
        let file: Digits =
            toml::from_str(include_str!("../../fixtures/fx.toml")).expect("the table is whole");
        assert!(file.minor_digits.keys().copied().eq(known()));
        for (currency, digits) in file.minor_digits {
            assert_eq!(currency.exponent(), digits, "{currency}");
        }
        let unusual = Currency::all().filter(|currency| currency.exponent() != 2);
        for currency in unusual {
            assert!(is_known(currency), "{currency}");
        }
    }

    #[test]
    fn a_rate_moves_from_day_to_day_and_not_far() {
        let mut rates = Rates::new(Key::new(42));
        let mut last = rates.units(currency("NGN"), day("2026-01-01"));
        let mut date = day("2026-01-01");
        for _ in 0..364 {
            date = date.plus_days(1);
            let now = rates.units(currency("NGN"), date);
            let (was, is) = (last.unwrap_or_default(), now.unwrap_or_default());
            assert!(is != was, "{date}: {was}");
            assert!((is - was).abs() * 100 < was * 4, "{date}: {was} to {is}");
            last = now;
        }
    }

    #[test]
    fn worlds_walk_their_own_ways_between_the_same_rates() {
        let of = |seed, date| Rates::new(Key::new(seed)).units(currency("USD"), day(date));
        assert_eq!(of(1, "2026-03-01"), of(2, "2026-03-01"));
        assert_ne!(of(1, "2026-03-14"), of(2, "2026-03-14"));
        assert_eq!(of(1, "2026-03-14"), of(1, "2026-03-14"));
    }

    #[test]
    fn amounts_cross_currencies_with_their_own_minor_units() {
        let mut rates = Rates::new(Key::new(42));
        let first = day("2026-01-01");
        let mut translate =
            |amount, from, to| rates.translate(amount, currency(from), currency(to), first);
        assert_eq!(translate(10_000, "GBP", "USD"), Some(13_329));
        assert_eq!(translate(100, "GBP", "UGX"), Some(4_751));
        assert_eq!(translate(-100, "GBP", "UGX"), Some(-4_751));
        assert_eq!(translate(4_751, "UGX", "GBP"), Some(100));
        assert_eq!(translate(7, "PLN", "PLN"), Some(7));
        assert_eq!(translate(7, "PLN", "GBP"), None);
        assert!(!is_known(currency("PLN")) && is_known(currency("GBP")));
    }

    #[test]
    fn halves_go_to_the_even_side() {
        let rounded: Vec<i128> = (-5..=5).map(|half| half_even(half, 2)).collect();
        assert_eq!(rounded, [-2, -2, -2, -1, 0, 0, 0, 1, 2, 2, 2]);
    }
}

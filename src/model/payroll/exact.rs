//! Exact fractions over `i128`, and rounding. Everywhere in this module, `None` means overflow.
//!
//! Compilation uses [`Ratio`]. Evaluation uses numerators over known denominators, as a [`Number`]. Deliberately absent: floats, and
//! arithmetic that can wrap.

use std::str::FromStr;

use super::narrow::Narrow;
use super::number::Number;

/// A reduced fraction with a positive denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(super) const ZERO: Self = Self::whole(0);
    pub(super) const ONE: Self = Self::whole(1);

    pub(super) const fn whole(number: i128) -> Self {
        Self { numerator: number, denominator: 1 }
    }

    /// `numerator / denominator`; also `None` if the denominator is not positive.
    pub(super) fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator <= 0 {
            return None;
        }
        let common = greatest_common_divisor(numerator, denominator)?;
        Some(Self { numerator: numerator / common, denominator: denominator / common })
    }

    pub(super) const fn denominator(self) -> i128 {
        self.denominator
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let denominator = least_common_multiple(self.denominator, other.denominator)?;
        Self::new(self.over(denominator)?.checked_add(other.over(denominator)?)?, denominator)
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.times(Self::whole(-1))?)
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        // Crosswise first, so that no intermediate product overflows unnecessarily.
        let left = Self::new(self.numerator, other.denominator)?;
        let right = Self::new(other.numerator, self.denominator)?;
        Some(Self {
            numerator: left.numerator.checked_mul(right.numerator)?,
            denominator: left.denominator.checked_mul(right.denominator)?,
        })
    }

    /// The numerator over `denominator`, which must be a multiple of this fraction's own.
    pub(super) fn over(self, denominator: i128) -> Option<i128> {
        debug_assert_eq!(denominator % self.denominator, 0, "a common denominator");
        self.numerator.checked_mul(denominator / self.denominator)
    }

    /// This fraction rounded to whole minor units.
    pub(super) fn rounded(self, rounding: Rounding) -> Option<Self> {
        if rounding.mode == Mode::Exact {
            return Some(self);
        }
        Rounder::new(rounding, self.denominator)?.round(self.numerator).map(Self::whole)
    }
}

/// Reads `"0.0595"`, `"1.4"`, `"495/595"` or `"-2"`.
impl FromStr for Ratio {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once('/') {
            Some((above, below)) => {
                digits(below).and_then(|below| Self::new(integer(above)?, below))
            }
            None => decimal(text),
        };
        parsed.ok_or_else(|| {
            format!(
                "`{text}` is not a rate: expected a decimal such as \"0.0595\" \
                 or a fraction such as \"495/595\""
            )
        })
    }
}

fn decimal(text: &str) -> Option<Ratio> {
    let (sign, unsigned) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    if unsigned.ends_with('.') {
        return None;
    }
    let denominator = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let below_point = if fraction.is_empty() { 0 } else { digits(fraction)? };
    let numerator = digits(whole)?.checked_mul(denominator)?.checked_add(below_point)?;
    Ratio::new(sign * numerator, denominator)
}

fn integer(text: &str) -> Option<i128> {
    match text.strip_prefix('-') {
        Some(rest) => Some(-digits(rest)?),
        None => digits(text),
    }
}

/// Digits only: `str::parse` would also take a second sign.
fn digits(text: &str) -> Option<i128> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// Euclid. `None` only for `i128::MIN`, which has no absolute value.
fn greatest_common_divisor(a: i128, b: i128) -> Option<i128> {
    let (mut a, mut b) = (a.checked_abs()?, b.checked_abs()?);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    Some(a)
}

/// The least common multiple of two positive numbers.
pub(super) fn least_common_multiple(a: i128, b: i128) -> Option<i128> {
    (a / greatest_common_divisor(a, b)?).checked_mul(b)
}

/// How an amount becomes a multiple of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// To the nearest; a tie goes up (towards +∞, so that a refund rounds as the reversal of the
    /// total it corrects).
    HalfUp,
    /// To the nearest; a tie goes down (towards −∞).
    HalfDown,
    /// To the nearest; a tie goes to the even multiple.
    HalfEven,
    Floor,
    Ceil,
    /// Drop everything after a tenth of the unit, then half down: UK National Insurance.
    Nic,
    /// Not at all.
    Exact,
}

/// A mode and the unit it rounds to, in minor units: `floor:100` is whole pounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounding {
    pub(super) mode: Mode,
    unit: i64,
}

impl Rounding {
    pub(super) const HALF_UP: Self = Self { mode: Mode::HalfUp, unit: 1 };
    pub(super) const EXACT: Self = Self { mode: Mode::Exact, unit: 1 };
}

impl FromStr for Rounding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mode, unit) = text.split_once(':').unwrap_or((text, "1"));
        let mode = match mode {
            "half_up" => Mode::HalfUp,
            "half_down" => Mode::HalfDown,
            "half_even" => Mode::HalfEven,
            "floor" => Mode::Floor,
            "ceil" => Mode::Ceil,
            "nic" => Mode::Nic,
            "none" => return Ok(Self::EXACT),
            _ => {
                return Err(format!(
                    "`{mode}` is not a rounding mode: expected half_up, half_down, half_even, floor, \
                     ceil, nic or none"
                ));
            }
        };
        match unit.parse() {
            Ok(unit) if unit > 0 => Ok(Self { mode, unit }),
            _ => {
                Err(format!("`{text}`: the rounding unit is a whole number of minor units from 1"))
            }
        }
    }
}

/// A [`Rounding`] of numerators over one denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rounder<N = i128> {
    mode: Mode,
    unit: N,
    /// The unit as a numerator over that denominator.
    divisor: N,
    reciprocal: u64,
}

impl<N: Number> Rounder<N> {
    pub(super) fn new(rounding: Rounding, denominator: N) -> Option<Self> {
        let unit = N::of(rounding.unit);
        let divisor = denominator.times(unit)?;
        Some(Self { mode: rounding.mode, unit, divisor, reciprocal: divisor.reciprocal() })
    }

    /// The whole minor units that `numerator` rounds to. [`Mode::Exact`] rounds down; a caller that keeps or refuses fractions uses
    /// [`Self::is_whole`].
    #[inline]
    pub(super) fn round(&self, numerator: N) -> Option<N> {
        if self.mode == Mode::Nic {
            return self.round_nic(numerator);
        }
        let (quotient, rest) = numerator.divide(self.divisor, self.reciprocal);
        // Compares `rest` with half the divisor without doubling, which could overflow.
        let missing = self.divisor.minus(rest)?;
        let up = match self.mode {
            Mode::HalfUp => rest >= missing,
            Mode::HalfDown => rest > missing,
            Mode::HalfEven => rest > missing || (rest == missing && quotient.is_odd()),
            Mode::Ceil => rest > N::ZERO,
            Mode::Floor | Mode::Exact | Mode::Nic => false,
        };
        quotient.plus(N::from(up))?.times(self.unit)
    }

    fn round_nic(&self, numerator: N) -> Option<N> {
        // Truncated towards zero: digits are dropped for either sign.
        let is_negative = numerator < N::ZERO;
        let absolute = if is_negative { N::ZERO.minus(numerator)? } else { numerator };
        let ten = N::of(10);
        let (tenths, _) = absolute.times(ten)?.divide(self.divisor, self.reciprocal);
        let tenths = if is_negative { N::ZERO.minus(tenths)? } else { tenths };
        let (quotient, rest) = tenths.divide(ten, ten.reciprocal());
        quotient.plus(N::from(rest > N::of(5)))?.times(self.unit)
    }

    pub(super) fn is_whole(&self, numerator: N) -> bool {
        numerator.divide(self.divisor, self.reciprocal).1 == N::ZERO
    }

    pub(super) const fn is_exact(&self) -> bool {
        matches!(self.mode, Mode::Exact)
    }
}

impl Narrow for Rounder {
    type Narrowed = Rounder<i64>;

    fn narrow(&self) -> Option<Rounder<i64>> {
        let (unit, divisor) = (self.unit.narrow()?, self.divisor.narrow()?);
        Some(Rounder { mode: self.mode, unit, divisor, reciprocal: divisor.reciprocal() })
    }
}

#[cfg(test)]
mod tests {
    use super::{Ratio, Rounding};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn rounded(text: &str, mode: &str) -> i128 {
        let rounding: Rounding = mode.parse().unwrap();
        ratio(text).rounded(rounding).unwrap().over(1).unwrap()
    }

    #[test]
    fn rates_are_read_exactly() {
        assert_eq!(Some(ratio("0.0595")), Ratio::new(595, 10_000));
        assert_eq!(Some(ratio("495/595")), Ratio::new(99, 119));
        assert_eq!(Some(ratio("-1.40")), Ratio::new(-7, 5));
        assert_eq!(ratio("2"), Ratio::whole(2));
        for bad in ["", ".5", "1.", "1/0", "1/-2", "+1", "1e3", "0,5", "--1", "1/2/3", "-", "1.-5"]
        {
            assert!(bad.parse::<Ratio>().is_err(), "{bad}");
        }
    }

    #[test]
    fn each_mode_rounds_ties_its_own_way() {
        let rows = [
            ("half_up", [3, 2, -2, -1]),
            ("half_down", [2, 1, -3, -2]),
            ("half_even", [2, 2, -2, -2]),
            ("floor", [2, 1, -3, -2]),
            ("ceil", [3, 2, -2, -1]),
        ];
        for (mode, expected) in rows {
            assert_eq!(
                ["2.5", "1.5", "-2.5", "-1.5"].map(|text| rounded(text, mode)),
                expected,
                "{mode}"
            );
        }
    }

    #[test]
    fn nic_rounding_drops_digits_after_the_tenth_and_rounds_half_down() {
        assert_eq!(
            ["1.5", "1.59", "1.6", "1.599", "1.51"].map(|text| rounded(text, "nic")),
            [1, 1, 2, 1, 1]
        );
    }

    #[test]
    fn a_unit_rounds_to_its_multiples() {
        assert_eq!(rounded("199.99", "floor:100"), 100);
        assert_eq!(rounded("314166.67", "ceil:100"), 314_200);
        assert_eq!(rounded("250", "half_even:100"), 200);
    }

    #[test]
    fn bad_roundings_are_refused() {
        for bad in ["up", "floor:0", "floor:-1", "floor:", "floor:x", ""] {
            assert!(bad.parse::<Rounding>().is_err(), "{bad}");
        }
    }

    #[test]
    fn overflow_is_reported_not_wrapped() {
        let big = Ratio::whole(i128::MAX);
        assert_eq!(big.plus(Ratio::ONE), None);
        assert_eq!(big.times(Ratio::whole(2)), None);
        assert_eq!(big.times(ratio("1/2")).and_then(|half| half.times(Ratio::whole(2))), Some(big));
    }
}

//! The numbers of an evaluation. `None` means overflow, everywhere in this module.

/// The numbers of an evaluation: `i64` almost always, and `i128` for a pay that overflows it.
pub(super) trait Number: Copy + Ord + From<bool> {
    const ZERO: Self;

    fn of(value: i64) -> Self;
    /// This number as an amount of money.
    fn amount(self) -> Option<i64>;
    fn plus(self, other: Self) -> Option<Self>;
    fn minus(self, other: Self) -> Option<Self>;
    fn times(self, other: Self) -> Option<Self>;
    fn is_odd(self) -> bool;
    /// What [`Self::divide`] needs to divide by this positive number.
    fn reciprocal(self) -> u64;
    /// Floor and remainder of a division by a positive number.
    fn divide(self, by: Self, reciprocal: u64) -> (Self, Self);
}

/// The operations of both widths.
macro_rules! checked {
    () => {
        const ZERO: Self = 0;

        #[inline]
        fn plus(self, other: Self) -> Option<Self> {
            self.checked_add(other)
        }

        #[inline]
        fn minus(self, other: Self) -> Option<Self> {
            self.checked_sub(other)
        }

        #[inline]
        fn times(self, other: Self) -> Option<Self> {
            self.checked_mul(other)
        }

        #[inline]
        fn is_odd(self) -> bool {
            self & 1 == 1
        }
    };
}

impl Number for i64 {
    checked!();

    #[inline]
    fn of(value: i64) -> Self {
        value
    }

    #[inline]
    fn amount(self) -> Option<i64> {
        Some(self)
    }

    /// (2⁶⁴ − 1) / divisor, rounded down.
    #[inline]
    fn reciprocal(self) -> u64 {
        u64::MAX / self.unsigned_abs()
    }

    /// Multiplies by the reciprocal, because a division takes several times as long. The estimate of the quotient is exact or one too small.
    #[inline]
    fn divide(self, by: Self, reciprocal: u64) -> (Self, Self) {
        let Ok(positive) = u64::try_from(self) else {
            return (self.div_euclid(by), self.rem_euclid(by));
        };
        let product = u128::from(positive) * u128::from(reciprocal);
        let quotient = u64::try_from(product >> 64).unwrap_or(u64::MAX).cast_signed();
        let rest = self - quotient * by;
        if rest < by { (quotient, rest) } else { (quotient + 1, rest - by) }
    }
}

impl Number for i128 {
    checked!();

    #[inline]
    fn of(value: i64) -> Self {
        Self::from(value)
    }

    #[inline]
    fn amount(self) -> Option<i64> {
        i64::try_from(self).ok()
    }

    #[inline]
    fn reciprocal(self) -> u64 {
        0
    }

    #[inline]
    fn divide(self, by: Self, _: u64) -> (Self, Self) {
        (self.div_euclid(by), self.rem_euclid(by))
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn the_reciprocal_divides_like_the_processor() {
        let edges = [1, 2, 3, 7, 10, 64, 2_000, 10_000, (1 << 40) + 1, 1 << 62, i64::MAX];
        let mut numbers: Vec<i64> =
            edges.iter().flat_map(|edge| [edge - 1, *edge, -edge]).collect();
        numbers.extend((1..2_000).map(|number: i64| number.wrapping_mul(0x1234_5678_9ABC_DEF1)));
        for by in edges {
            for number in &numbers {
                let expected = (number.div_euclid(by), number.rem_euclid(by));
                assert_eq!(number.divide(by, by.reciprocal()), expected, "{number} / {by}");
            }
        }
    }

    #[test]
    fn overflow_is_reported_not_wrapped() {
        assert_eq!(Number::times(i128::MAX, 2), None);
        assert_eq!(Number::times(i64::MAX, 2), None);
        assert_eq!(Number::minus(i64::MIN, 1), None);
    }
}

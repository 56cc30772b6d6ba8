//! Natural numbers of any size, for the powers of an exact annuity.

use core::cmp::Ordering;

/// A natural number: digits of 64 bits, the lowest first, without zeros at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Natural(Vec<u64>);

impl From<u64> for Natural {
    fn from(number: u64) -> Self {
        Self::of(vec![number])
    }
}

impl Natural {
    fn of(mut digits: Vec<u64>) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Self(digits)
    }

    pub(super) fn times(&self, factor: u64) -> Self {
        let mut carry = 0;
        let mut digits = Vec::with_capacity(self.0.len() + 1);
        for digit in &self.0 {
            let product = u128::from(*digit) * u128::from(factor) + carry;
            digits.push(low(product));
            carry = product >> 64;
        }
        digits.push(low(carry));
        Self::of(digits)
    }

    /// The difference from a smaller or equal number.
    pub(super) fn minus(&self, other: &Self) -> Self {
        let mut borrows = false;
        let others = other.0.iter().copied().chain(core::iter::repeat(0));
        let digits = self.0.iter().zip(others).map(|(digit, other)| {
            let (difference, is_less) = digit.overflowing_sub(other);
            let (difference, is_less_still) = difference.overflowing_sub(u64::from(borrows));
            borrows = is_less || is_less_still;
            difference
        });
        Self::of(digits.collect())
    }
}

/// The lowest 64 bits.
fn low(number: u128) -> u64 {
    u64::try_from(number & u128::from(u64::MAX)).expect("64 bits")
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_multiplied_subtracted_and_compared() {
        let large = Natural::from(u64::MAX).times(u64::MAX);
        assert_eq!(large, Natural(vec![1, u64::MAX - 1]));
        assert_eq!(large.minus(&Natural::from(2)), Natural(vec![u64::MAX, u64::MAX - 2]));
        assert_eq!(large.minus(&large), Natural::from(0));
        assert_eq!(large.times(0), Natural::from(0));
        assert!(Natural::from(0) < Natural::from(1) && Natural::from(7) < large);
        assert!(large.times(2) > large && large.minus(&Natural::from(1)) < large);
    }
}

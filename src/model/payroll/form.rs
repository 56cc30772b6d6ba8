//! Linear combinations of slots during compilation: factors are fractions until a common denominator is known.

use super::exact::{Ratio, least_common_multiple};
use super::plan::Linear;

/// A linear combination of slots, before it has a common denominator.
#[derive(Clone)]
pub(super) struct Form {
    terms: Vec<(usize, Ratio)>,
    constant: Ratio,
}

impl Form {
    pub(super) const fn constant(constant: Ratio) -> Self {
        Self { terms: Vec::new(), constant }
    }

    pub(super) fn slot(slot: usize, factor: Ratio) -> Self {
        Self { terms: vec![(slot, factor)], constant: Ratio::ZERO }
    }

    /// The value of a linear step.
    pub(super) fn of(linear: &Linear, denominator: i128) -> Option<Self> {
        let term = |&(slot, factor): &(usize, i128)| Some((slot, Ratio::new(factor, denominator)?));
        Some(Self {
            terms: linear.terms.iter().map(term).collect::<Option<_>>()?,
            constant: Ratio::new(linear.constant, denominator)?,
        })
    }

    pub(super) const fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn plus(mut self, other: Self) -> Option<Self> {
        self.constant = self.constant.plus(other.constant)?;
        for (slot, factor) in other.terms {
            match self.terms.iter_mut().find(|(known, _)| *known == slot) {
                Some((_, sum)) => *sum = sum.plus(factor)?,
                None => self.terms.push((slot, factor)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != Ratio::ZERO);
        self.terms.sort_unstable_by_key(|(slot, _)| *slot);
        Some(self)
    }

    pub(super) fn times(mut self, factor: Ratio) -> Option<Self> {
        self.constant = self.constant.times(factor)?;
        for (_, term) in &mut self.terms {
            *term = term.times(factor)?;
        }
        self.terms.retain(|(_, factor)| *factor != Ratio::ZERO);
        Some(self)
    }

    /// The least common denominator of this form and `others`.
    pub(super) fn denominator(&self, others: i128) -> Option<i128> {
        let factors = self.terms.iter().map(|(_, factor)| factor.denominator());
        factors.chain([self.constant.denominator()]).try_fold(others, least_common_multiple)
    }

    pub(super) fn over(&self, denominator: i128) -> Option<Linear> {
        let term = |&(slot, factor): &(usize, Ratio)| Some((slot, factor.over(denominator)?));
        Some(Linear {
            terms: self.terms.iter().map(term).collect::<Option<_>>()?,
            constant: self.constant.over(denominator)?,
        })
    }
}

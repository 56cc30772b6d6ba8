//! The total from which a form must be filed, as data of the form.

use crate::model::prelude::*;

/// The least total of a box from which a form must be filed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Threshold {
    /// The box.
    #[serde(rename = "box")]
    pub(super) of: String,
    /// Amounts in minor units with the first day of payment to which each applies, in the order of time.
    amounts: Vec<ThresholdAmount>,
}

/// An amount from which a form must be filed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThresholdAmount {
    /// The first day of payment to which it applies.
    from: Date,
    /// Minor units.
    amount: i64,
}

impl Threshold {
    /// The amount for payments up to that day; before the first amount, the first.
    pub(super) fn amount_on(&self, day: Date) -> i64 {
        let begun = self.amounts.iter().rev().find(|it| it.from <= day);
        begun.or(self.amounts.first()).map_or(0, |it| it.amount)
    }

    /// Whether there are amounts, in the order of time.
    #[cfg(test)]
    pub(super) fn is_in_order(&self) -> bool {
        let in_order = self.amounts.is_sorted_by(|one, next| one.from < next.from);
        in_order && !self.amounts.is_empty()
    }
}

//! Irregular pay, such as a bonus, in a pay period without regular pay. Its tax is the increase that it causes in the
//! tax on the last regular pay.
//!
//! Taxed alone, it would get the allowances and bands of a year without a salary. Contributions are calculated on the
//! irregular pay alone.

use crate::model::business::earnings::PayLine;
use crate::model::business::typed_deductions as typed;
use crate::model::payroll::{Component, Pack, Pay, PayError, Role};

/// The regular pay of the last pay period that had any.
#[derive(Default)]
pub(super) struct LastRegular<'a> {
    pub(super) earned: Vec<(Component, i64)>,
    /// Deductions with a type.
    pub(super) typed: Vec<&'a [PayLine]>,
}

impl LastRegular<'_> {
    /// Whether pay with these earnings is taxed on top of the last regular pay.
    pub(super) fn is_below(&self, pack: &Pack, earned: &[(Component, i64)]) -> bool {
        !self.earned.is_empty() && is_irregular(pack, earned)
    }

    /// Replaces the taxes of the pay with its increase of the tax on the last regular pay. The two inputs are with
    /// and without the pay's own deductions.
    pub(super) fn tax_on_top(
        &self,
        pack: &Pack,
        pay: &mut Pay,
        (earned, [inputs, without_own]): (&[(Component, i64)], [&[i64]; 2]),
        evaluate: impl Fn(&[(Component, i64)], &[i64]) -> Result<Pay, PayError>,
    ) -> Result<(), PayError> {
        let with_last = |inputs: &[i64]| {
            let mut inputs = inputs.to_vec();
            self.typed.iter().for_each(|lines| typed::give(pack, lines, &mut inputs));
            inputs
        };
        let all = [&*self.earned, earned].concat();
        let with = evaluate(&all, &with_last(inputs))?;
        let without = evaluate(&self.earned, &with_last(without_own))?;
        for (place, line) in pack.lines().iter().enumerate() {
            if line.role == Role::EmployeeTax {
                pay.amounts[place] = with.amounts[place] - without.amounts[place];
            }
        }
        Ok(())
    }
}

/// Whether there is pay, and all of it is irregular.
pub(super) fn is_irregular(pack: &Pack, earned: &[(Component, i64)]) -> bool {
    let mut paid = earned.iter().filter(|(_, amount)| *amount != 0).peekable();
    paid.peek().is_some() && paid.all(|(component, _)| pack.is_irregular(*component))
}

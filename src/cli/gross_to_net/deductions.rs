//! The deductions that the inputs of a pay name, such as `deduction.401k`: they are taken from its net pay.

use super::money;
use crate::model::payroll::{DeductionType, Pack, Profile};

/// The deductions of a pay with their amounts, in the order of the pack.
pub(super) fn of<'a>(
    pack: &'a Pack,
    profile: &'a Profile,
) -> impl Iterator<Item = (&'a DeductionType, i64)> {
    let all = pack.deduction_types.iter().map(|kind| (kind, profile.inputs[kind.input()]));
    all.filter(|(_, amount)| *amount != 0)
}

/// Their sum, which is at most the pay of `left` after taxes and contributions. Each is at most its limit of the tax year.
pub(super) fn sum(pack: &Pack, profile: &Profile, left: i64) -> Result<i64, String> {
    let text = |amount| money::format(amount, pack.minor_digits);
    let mut sum = 0_i128;
    for (kind, amount) in of(pack, profile) {
        if let Some(limit) = kind.annual_limit.filter(|limit| amount > *limit) {
            return Err(format!(
                "`deduction.{}` is {}: must be at most {}, the limit of a tax year",
                kind.id,
                text(amount),
                text(limit)
            ));
        }
        sum += i128::from(amount);
    }
    let taken = i64::try_from(sum).ok().filter(|sum| *sum == 0 || *sum <= left);
    taken.ok_or_else(|| {
        format!(
            "the sum of the deductions must be at most {}, the pay after taxes and contributions",
            text(left.max(0))
        )
    })
}

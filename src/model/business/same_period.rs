//! Pays of one pay period, which are taxed together: a second one is an addition to the first.

use std::collections::BTreeMap;

use crate::model::business::earnings::{Employer, PayLine, profile};
use crate::model::business::irregular_alone::LastRegular;
use crate::model::business::typed_deductions as typed;
use crate::model::payroll::{
    Component, Pack, Pay, PayError, PayInput, PayPeriod, Profile, Role, YearToDate,
};
use crate::model::prelude::*;

/// A pay for one pack, without the pays before it.
pub(super) struct Own<'a> {
    pub(super) profile: Profile,
    /// The attributes from which `profile` was made.
    pub(super) attributes: &'a BTreeMap<String, String>,
    pub(super) employer: Option<Employer>,
    pub(super) period: PayPeriod,
    /// The number of the tax period.
    pub(super) number: u32,
    pub(super) on: Date,
    pub(super) earned: Vec<(Component, i64)>,
    /// Deductions with a type.
    pub(super) typed: &'a [PayLine],
    /// The regular pay to which irregular pay is added for its tax.
    pub(super) last_regular: LastRegular<'a>,
}

/// An earlier pay of the same pay period, as one pack calculated it.
pub(super) struct Part<'a> {
    pub(super) earned: Vec<(Component, i64)>,
    pub(super) typed: &'a [PayLine],
    pub(super) bases: &'a [i64],
    pub(super) amounts: &'a [i64],
    pub(super) taxable: i64,
    /// Totals of the tax year, including that pay.
    pub(super) ytd: &'a YearToDate,
    /// Whether the present attributes of the employee are those of that pay.
    pub(super) has_attributes: bool,
    /// Whether the pay may not have covered its lines.
    pub(super) may_be_cut: bool,
}

/// The amounts by which a pay increases the earlier pays of its period in this pack, and the tax year's totals
/// including it.
///
/// `year` has the totals without this pay period.
pub(super) fn addition(
    pack: &Pack,
    own: &Own<'_>,
    earlier: &[Part<'_>],
    year: &YearToDate,
) -> Result<(Pay, YearToDate), PayError> {
    let mut before = year.clone();
    let mut all = Cow::Borrowed(&*own.earned);
    for part in earlier {
        all.to_mut().extend_from_slice(&part.earned);
        before.add_parts(part.bases, part.amounts, part.taxable, 1);
    }
    let mut inputs = Own::inputs(pack, &own.profile, earlier);
    typed::give(pack, own.typed, &mut inputs);
    let mut pay = own.of_period(pack, (&own.profile, &inputs), &all, year)?;
    pay.taxable = Some(taxable(&pay));
    if !earlier.is_empty() {
        let earned_before = &all[own.earned.len()..];
        let now = own.evaluate(pack, (&own.profile, earned_before), earlier, year)?;
        let came_between = came_between(earlier, year);
        let has_changed =
            !came_between && own.has_changed(pack, (&now, earned_before), earlier, year)?;
        if came_between || has_changed {
            // With the present totals, attributes or law, the earlier pays would have other amounts. Their amounts
            // are final.
            subtract(&mut pay, &now.bases, &now.amounts, taxable(&now));
        } else {
            for part in earlier {
                subtract(&mut pay, part.bases, part.amounts, part.taxable);
            }
        }
        if has_changed {
            own.catch_up(pack, &mut pay, &before)?;
        }
        add_up(pack, &mut pay);
    }
    before.add(&pay)?;
    Ok((pay, before))
}

impl Own<'_> {
    fn input<'a>(
        &self,
        earnings: &'a [(Component, i64)],
        inputs: &'a [i64],
        ytd: &'a YearToDate,
    ) -> PayInput<'a> {
        PayInput {
            period: self.period,
            number: self.number,
            attributes: self.profile.attributes,
            inputs,
            on: Some(self.on.civil()),
            earnings,
            ytd,
        }
    }

    /// All pay of the period with these earnings and numbers.
    fn of_period(
        &self,
        pack: &Pack,
        (profile, inputs): (&Profile, &[i64]),
        earned: &[(Component, i64)],
        year: &YearToDate,
    ) -> Result<Pay, PayError> {
        let attributes = profile.attributes;
        let evaluate = |earned: &[(Component, i64)], inputs: &[i64]| {
            pack.evaluate(&PayInput { attributes, ..self.input(earned, inputs, year) })
        };
        let mut pay = evaluate(earned, inputs)?;
        if self.last_regular.is_below(pack, earned) {
            let numbers = (earned, [inputs, profile.inputs.as_slice()]);
            self.last_regular.tax_on_top(pack, &mut pay, numbers, evaluate)?;
            add_up(pack, &mut pay);
        }
        Ok(pay)
    }

    /// The numbers of the profile, with the deductions of the earlier pays.
    fn inputs(pack: &Pack, profile: &Profile, earlier: &[Part<'_>]) -> Vec<i64> {
        let mut inputs = profile.inputs.clone();
        for part in earlier {
            typed::give(pack, part.typed, &mut inputs);
        }
        inputs
    }

    /// The earlier pays together, as they would be calculated now.
    fn evaluate(
        &self,
        pack: &Pack,
        (profile, earned): (&Profile, &[(Component, i64)]),
        earlier: &[Part<'_>],
        year: &YearToDate,
    ) -> Result<Pay, PayError> {
        let inputs = Self::inputs(pack, profile, earlier);
        self.of_period(pack, (profile, &inputs), earned, year)
    }

    /// The amounts of a pay of zero at these totals, with another value of an attribute.
    pub(super) fn settled(
        &self,
        pack: &Pack,
        (name, value): (&str, &str),
        totals: &YearToDate,
    ) -> Result<Vec<i64>, PayError> {
        let mut profile = self.profile.clone();
        pack.set(&mut profile, name, value)?;
        let attributes = profile.attributes;
        let input = PayInput { attributes, ..self.input(&[], &profile.inputs, totals) };
        Ok(pack.evaluate(&input)?.amounts)
    }

    /// Whether the attributes, the employer's numbers or the law differ from those of the earlier pays, so that their
    /// amounts differ from `now`. Amounts that an earlier pay did not cover, or that a reversal released, are no such
    /// change: this pay takes them.
    fn has_changed(
        &self,
        pack: &Pack,
        (now, earned): (&Pay, &[(Component, i64)]),
        earlier: &[Part<'_>],
        year: &YearToDate,
    ) -> Result<bool, PayError> {
        if is_what_they_took(earlier, now) {
            return Ok(false);
        }
        if year.is_taken_back() || earlier.iter().any(|part| part.may_be_cut) {
            return Ok(earlier.iter().any(|part| !part.has_attributes));
        }
        let Some(employer) = self.employer.filter(|employer| employer.is_last_pay) else {
            return Ok(true);
        };
        // The last pay of an employment has rules of its own, so the comparison is made without them.
        let not_last = Employer { is_last_pay: false, ..employer };
        let not_last = profile(pack, self.attributes, Some(not_last));
        let then = self.evaluate(pack, (&not_last, earned), earlier, year)?;
        Ok(!is_what_they_took(earlier, &then))
    }

    /// Lines on totals to date take the amount missing from the year so far: by law they are recalculated at each
    /// pay.
    fn catch_up(&self, pack: &Pack, pay: &mut Pay, before: &YearToDate) -> Result<(), PayError> {
        let mut inputs = self.profile.inputs.clone();
        typed::give(pack, self.typed, &mut inputs);
        let input = self.input(&self.earned, &inputs, before);
        let (alone, cumulative) = (pack.evaluate(&input)?, pack.cumulative(&input)?);
        for line in cumulative.lines {
            pay.amounts[line] = alone.amounts[line];
        }
        if cumulative.taxable {
            pay.taxable = Some(taxable(&alone));
        }
        Ok(())
    }
}

fn taxable(pay: &Pay) -> i64 {
    pay.taxable.unwrap_or(pay.gross)
}

/// Whether the earlier pays together took the amounts of that pay.
fn is_what_they_took(earlier: &[Part<'_>], pay: &Pay) -> bool {
    let mut taken = vec![0; pay.amounts.len()];
    for part in earlier {
        taken.iter_mut().zip(part.amounts).for_each(|(sum, amount)| *sum += amount);
    }
    taken == pay.amounts
}

/// Whether the totals of the year contain pays of other periods that were calculated after each of these pays.
fn came_between(earlier: &[Part<'_>], year: &YearToDate) -> bool {
    let mut paid =
        earlier.iter().filter(|part| part.bases.iter().any(|base| *base != 0)).peekable();
    if paid.peek().is_none() {
        return false;
    }
    let mut all = year.clone();
    for part in earlier {
        all.add_parts(part.bases, part.amounts, part.taxable, 1);
    }
    paid.all(|part| all.has_more_pay_than(part.ytd))
}

fn subtract(pay: &mut Pay, bases: &[i64], amounts: &[i64], taxable: i64) {
    let each = |from: &mut [i64], parts: &[i64]| {
        from.iter_mut().zip(parts).for_each(|(amount, part)| *amount -= part);
    };
    each(&mut pay.bases, bases);
    each(&mut pay.amounts, amounts);
    pay.taxable = pay.taxable.map(|all| all - taxable);
}

/// The sums by role, after the amounts have changed.
fn add_up(pack: &Pack, pay: &mut Pay) {
    pay.tax = pack.sum_of(&[Role::EmployeeTax], &pay.amounts);
    pay.employee = pack.sum_of(&[Role::EmployeeSocial], &pay.amounts);
    pay.withheld = pack.sum_of(&[Role::EmployeeDeduction], &pay.amounts);
    pay.employer = pack.sum_of(&[Role::EmployerTax, Role::EmployerSocial], &pay.amounts);
}

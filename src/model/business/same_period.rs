//! Pays of one pay period, which are taxed together: a second one is an addition to the first.

use crate::model::business::earnings::PayLine;
use crate::model::business::typed_deductions as typed;
use crate::model::payroll::{
    Component, Pack, Pay, PayError, PayInput, PayPeriod, Profile, Role, YearToDate,
};
use crate::model::prelude::*;

/// A pay for one pack, without the pays before it.
pub(super) struct Own<'a> {
    pub(super) profile: Profile,
    pub(super) period: PayPeriod,
    /// The number of the tax period.
    pub(super) number: u32,
    pub(super) on: Date,
    pub(super) earned: Vec<(Component, i64)>,
    /// Deductions with a type.
    pub(super) typed: &'a [PayLine],
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
}

/// What a pay adds to the earlier pays of its period by this pack, and the totals of the tax year with it.
///
/// `year` has the totals without this pay period.
pub(super) fn addition(
    pack: &Pack,
    own: Own<'_>,
    earlier: &[Part<'_>],
    year: &YearToDate,
) -> Result<(Pay, YearToDate), PayError> {
    let evaluate = |earnings: &[_], inputs: &[i64]| {
        pack.evaluate(&PayInput {
            period: own.period,
            number: own.number,
            attributes: own.profile.attributes,
            inputs,
            on: Some(own.on.civil()),
            earnings,
            ytd: year,
        })
    };
    let mut inputs = own.profile.inputs;
    let mut earned_before = Vec::new();
    for part in earlier {
        earned_before.extend_from_slice(&part.earned);
        typed::give(pack, part.typed, &mut inputs);
    }
    // If pays of other periods came in between, the earlier pays would take other amounts with the present totals.
    let now =
        if came_between(earlier, year) { Some(evaluate(&earned_before, &inputs)?) } else { None };
    let mut earned = own.earned;
    earned.append(&mut earned_before);
    typed::give(pack, own.typed, &mut inputs);
    let mut pay = evaluate(&earned, &inputs)?;
    let mut ytd = year.clone();
    ytd.add(&pay)?;
    let taxable = |pay: &Pay| pay.taxable.unwrap_or(pay.gross);
    pay.taxable = Some(taxable(&pay));
    match &now {
        Some(now) => {
            ytd.add_parts(&now.bases, &now.amounts, taxable(now), -1);
            for part in earlier {
                ytd.add_parts(part.bases, part.amounts, part.taxable, 1);
            }
            subtract(&mut pay, &now.bases, &now.amounts, taxable(now));
        }
        None => {
            for part in earlier {
                subtract(&mut pay, part.bases, part.amounts, part.taxable);
            }
        }
    }
    if !earlier.is_empty() {
        add_up(pack, &mut pay);
    }
    Ok((pay, ytd))
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

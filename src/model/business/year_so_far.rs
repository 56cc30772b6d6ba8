//! Totals of a tax year before a pay: those of the pack, and totals outside the pack.

use std::collections::BTreeMap;

use crate::model::business::calculation::Calculation;
use crate::model::business::earnings::PayLine;
use crate::model::business::kept_rates::KeptRates;
use crate::model::business::pay_extras::{Extras, sum};
use crate::model::business::regional_pay::RegionalYear;
use crate::model::business::typed_deductions as typed;
use crate::model::payroll::{Pack, YearToDate};
use crate::model::prelude::*;

/// Totals of a tax year for amounts that no pack covers, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// Deductions that no line of the pack takes.
    pub(super) deducted: i64,
    pub(super) reimbursed: i64,
    /// Amounts withheld by packs of regions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) regional: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(amount: &i64) -> bool {
    *amount == 0
}

impl Beside {
    pub(super) fn of(extras: &Extras) -> Self {
        Self {
            deducted: sum(&extras.after_tax) + sum(&extras.typed),
            reimbursed: extras.reimbursed(),
            regional: 0,
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) const fn add(&mut self, other: Self, times: i64) {
        self.deducted += times * other.deducted;
        self.reimbursed += times * other.reimbursed;
        self.regional += times * other.regional;
    }
}

/// Totals of a tax year up to a given pay.
#[derive(Clone, Debug, Default)]
pub(crate) struct YearSoFar {
    pub(crate) by_pack: YearToDate,
    /// By the pack of each region in which the employee worked.
    pub(crate) regional: RegionalYear,
    pub(crate) beside: Beside,
    /// Sums of the deductions of each type.
    pub(crate) typed: BTreeMap<String, i64>,
    /// The employer's part of each deduction, by id.
    pub(crate) employer_parts: BTreeMap<String, i64>,
    /// Deductions that the last pay did not cover and this one takes.
    pub(crate) carried: Vec<PayLine>,
    /// The attributes of the last pay before the world's start.
    pub(crate) last_attributes: Option<Arc<BTreeMap<String, String>>>,
    /// Totals that lines do not count, from before an annual earnings period.
    pub(crate) left_out: Option<YearToDate>,
    /// Values of an attribute that keep their rates.
    pub(crate) kept_rates: Option<KeptRates>,
}

impl YearSoFar {
    /// A tax year that starts with these totals.
    pub(crate) fn opened(by_pack: YearToDate) -> Self {
        Self { by_pack, ..Self::default() }
    }

    /// The totals that lines of the pack count.
    pub(crate) fn counted(&self) -> Cow<'_, YearToDate> {
        let mut counted = Cow::Borrowed(&self.by_pack);
        if let Some(left_out) = &self.left_out {
            counted.to_mut().add_totals(left_out, -1);
        }
        counted
    }

    /// Excludes totals from before an annual earnings period from the lines' totals.
    pub(crate) fn leave_out(&mut self, pack: &Pack, mut totals: YearToDate) {
        let Some(annual) = &pack.annual_earnings else { return };
        totals.retain(pack, |name| annual.totals.iter().any(|total| total == name));
        self.left_out.get_or_insert_default().add_totals(&totals, 1);
    }

    /// Excludes a pay (`times` 1), or includes it again (`times` −1).
    pub(crate) fn leave_out_pay(&mut self, pay: &Calculation, times: i64) {
        let (bases, amounts) = pay.parts();
        let mut totals = YearToDate::start();
        totals.add_parts(bases, amounts, 0, times);
        self.leave_out(pay.pack(), totals);
    }

    /// Records that pays of the year were reversed after later pays had counted them.
    pub(crate) fn note_taken_back(&mut self) {
        self.by_pack.note_taken_back();
        self.regional.values_mut().for_each(YearToDate::note_taken_back);
    }

    /// Adds a pay that was calculated with the year's pack (`times` 1), or subtracts it (`times` −1).
    pub(crate) fn add(&mut self, pay: &Calculation, times: i64) {
        let (bases, amounts) = pay.parts();
        self.by_pack.add_parts(bases, amounts, pay.taxable, times);
        self.count_deductions(pay, times);
        if let Some(regional) = &pay.regional {
            let year = self.regional.entry(regional.pack.clone()).or_default();
            year.add_parts(&regional.bases, &regional.amounts, 0, times);
        }
        self.beside.add(pay.beside(), times);
    }

    /// Adds a pay to the values that keep their rates, even a pay of the same pay period.
    pub(crate) fn add_to_kept_rates(&mut self, pack: &Pack, pay: &Calculation) {
        if let Some(kept) = &mut self.kept_rates {
            let (bases, amounts) = pay.parts();
            kept.add(pack, &pay.tax_attributes, (bases, amounts, pay.taxable));
        }
    }

    /// Adds the deductions of a pay and the employer's parts to the totals for their annual limits.
    pub(crate) fn count_deductions(&mut self, pay: &Calculation, times: i64) {
        let Some(extras) = pay.extras() else { return };
        typed::count(&extras.typed, times, &mut self.typed);
        typed::count_employer(pay.pack(), &extras.employer_parts, times, &mut self.typed);
        extras.count_employer_parts(times, &mut self.employer_parts);
    }
}

//! The calculation of one employee's pay for one period. The payroll item and the payslip share it.

use std::collections::BTreeMap;

use crate::model::business::earnings::{
    Employer, PayLine, earned, part, period_number, profile, take_back_at_most_the_pay, tax_year,
};
use crate::model::business::employer_part::Paid;
use crate::model::business::irregular_alone::LastRegular;
use crate::model::business::pay_extras::{cap, sum};
use crate::model::business::regional_pay::RegionalPay;
use crate::model::business::same_period::{Own, addition};
use crate::model::business::typed_deductions as typed;
use crate::model::business::year_so_far::{Beside, YearSoFar};
use crate::model::business::{Component, Extras};
use crate::model::payroll::{self, InForce, Match, Pack, PayError, PayPeriod, Role, YearToDate};
use crate::model::prelude::*;

/// One employee's pay of one period.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calculation {
    /// Code of the pack that was applied.
    pub(crate) pack: Cow<'static, str>,
    /// Whether the pack was in force on the pay date.
    pub(crate) in_force: bool,
    /// The first day of the tax year that the pay counts in.
    pub(crate) tax_year: Date,
    /// The day on which the pay counts for taxes, if it is not the pay date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counts_on: Option<Date>,
    /// How often the employee is paid.
    #[serde(default, skip_serializing_if = "PayPeriod::is_month")]
    pub(super) frequency: PayPeriod,
    /// The number of the tax period in that year.
    pub(super) number: u32,
    pub(crate) gross: i64,
    pub(crate) taxable: i64,
    pub(crate) taxes: i64,
    pub(crate) employee_contributions: i64,
    pub(crate) employer_contributions: i64,
    pub(crate) net: i64,
    pub(super) earnings: Vec<(Cow<'static, str>, i64)>,
    /// In the pack's order of role lines.
    pub(super) amounts: Vec<i64>,
    /// In the pack's order of bases.
    pub(super) bases: Vec<i64>,
    /// Boxed, because most pays have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extras: Option<Box<Extras>>,
    /// The amounts calculated by the pack of the employee's region, if it has one. All sums include them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) regional: Option<Box<RegionalPay>>,
    /// The tax attributes that were in force on the pay date. Shared with the employee's other pays.
    #[serde(default, skip_serializing_if = "nothing_set")]
    pub(crate) tax_attributes: Arc<BTreeMap<String, String>>,
    /// Totals of the tax year, including this pay.
    pub(crate) ytd: YearToDate,
    /// Totals of the tax year for amounts that the pack does not cover.
    #[serde(default, skip_serializing_if = "Beside::is_nothing")]
    pub(crate) ytd_beside: Beside,
}

fn nothing_set(attributes: &Arc<BTreeMap<String, String>>) -> bool {
    attributes.is_empty()
}

/// The inputs of an employee's pay, apart from the law.
pub(crate) struct Terms<'a> {
    pub(crate) country: &'a str,
    pub(crate) frequency: PayPeriod,
    /// The day that numbers the tax period: the pay date before it moved to a business day.
    pub(crate) regular_day: Date,
    /// The day whose version of the law applies.
    pub(crate) law_day: Date,
    /// The parts of the salary that are paid, each from zero.
    pub(crate) parts: &'a [Component],
    pub(crate) extras: Extras,
    pub(crate) attributes: &'a Arc<BTreeMap<String, String>>,
    /// The company that pays. Without it, the defaults of the pack apply.
    pub(crate) employer: Option<Employer>,
}

impl Terms<'_> {
    /// The pay for a pack with these attributes.
    pub(super) fn own<'b>(
        &'b self,
        pack: &Pack,
        attributes: &'b BTreeMap<String, String>,
        on: Date,
    ) -> Own<'b> {
        Own {
            profile: profile(pack, attributes, self.employer),
            attributes,
            employer: self.employer,
            period: self.frequency,
            number: period_number(pack, self.frequency, on, self.regular_day),
            on: self.law_day,
            earned: earned(pack, self.parts, &self.extras),
            typed: &self.extras.typed,
            last_regular: LastRegular::default(),
        }
    }
}

/// The employee's earlier pay of the tax year.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before<'a> {
    /// Totals of the tax year without the pays of this pay period.
    pub(crate) year: Option<&'a YearSoFar>,
    /// Earlier pays of this pay period. They are taxed together with this one.
    pub(crate) same_period: &'a [Arc<Calculation>],
    /// The pays of the last pay period with regular pay, of any tax year.
    pub(crate) last_regular: &'a [Arc<Calculation>],
}

impl Calculation {
    /// Calculates gross to net of one pay.
    ///
    /// A second pay for a pay period, such as a bonus, is taxed as an addition to the first. Otherwise each pay would get the period's
    /// allowances and bands.
    pub(crate) fn of(
        mut terms: Terms<'_>,
        pay_date: Date,
        before: Before<'_>,
    ) -> Result<Self, PayError> {
        let InForce { pack, fit } = payroll::library().in_force(terms.country, pay_date.civil());
        let start = YearSoFar::default();
        let year = before.year.unwrap_or(&start);
        let extras = &mut terms.extras;
        take_back_at_most_the_pay(pack, terms.parts, extras);
        if !extras.own_rules.is_empty() {
            let gross = in_cash(pack, &earned(pack, terms.parts, extras));
            let paid = Paid { pack, period: terms.frequency, gross, before: 0 };
            typed::take_own(extras, paid, |line| before.gross_with(line));
        }
        typed::add_carried(&mut extras.typed, &year.carried);
        typed::in_legal_order(pack, &mut extras.typed);
        let mut taken = year.typed.clone();
        for earlier in before.same_period.iter().filter_map(|pay| pay.extras()) {
            typed::count(&earlier.typed, 1, &mut taken);
            typed::count_employer(pack, &earlier.employer_parts, 1, &mut taken);
        }
        typed::limit(pack, &mut extras.typed, taken);
        let mut calculation = Self::calculated(&terms, (pack, fit), pay_date, before)?;
        let extras = &mut terms.extras;
        let wages = calculation.wages_after(before);
        let mut taken = sum(&extras.typed);
        extras.carried = typed::fit(pack, &mut extras.typed, &wages, terms.frequency);
        while typed::was_cut(&mut terms.extras, &mut taken) {
            // Smaller deductions can increase the tax, and a higher tax reduces the deductions again.
            calculation = Self::calculated(&terms, (pack, fit), pay_date, before)?;
            let extras = &mut terms.extras;
            let wages = calculation.wages_after(before);
            let more = typed::fit(pack, &mut extras.typed, &wages, terms.frequency);
            typed::merge(&mut extras.carried, more);
        }
        calculation.settle(terms.extras, before);
        Ok(calculation)
    }

    /// The pay before deductions that no pack covers, and without the earlier pays of the same pay period.
    fn calculated(
        terms: &Terms<'_>,
        (pack, fit): (&'static Pack, Match),
        pay_date: Date,
        before: Before<'_>,
    ) -> Result<Self, PayError> {
        let start = YearSoFar::default();
        let year = before.year.unwrap_or(&start);
        let earlier: Vec<_> = before.same_period.iter().map(|pay| pay.part(pack, terms)).collect();
        let mut own = terms.own(pack, terms.attributes, pay_date);
        own.last_regular = before.last_regular_pay(pack, &own.earned);
        let (gross, number) = (in_cash(pack, &own.earned), own.number);
        let excess = match &year.kept_rates {
            Some(kept) => kept.excess(pack, &own, terms.attributes)?,
            None => Vec::new(),
        };
        let mut totals = year.counted();
        if excess.iter().any(|amount| *amount != 0) {
            totals.to_mut().add_parts(&[], &excess, 0, 1);
        }
        let (pay, mut ytd) = addition(pack, &own, &earlier, &totals)?;
        if let Cow::Owned(counted) = &totals {
            ytd.add_totals(&year.by_pack, 1);
            ytd.add_totals(counted, -1);
        }
        let mut calculation = Self {
            pack: Cow::Borrowed(&pack.code),
            in_force: fit == Match::InForce,
            tax_year: tax_year(pack, pay_date),
            counts_on: None,
            frequency: terms.frequency,
            number,
            gross,
            taxable: pay.taxable.unwrap_or(pay.gross),
            taxes: pay.tax,
            employee_contributions: pay.employee + pay.withheld,
            employer_contributions: pay.employer,
            net: 0,
            earnings: terms.parts.iter().map(part).collect(),
            amounts: pay.amounts,
            bases: pay.bases,
            extras: None,
            regional: None,
            tax_attributes: Arc::clone(terms.attributes),
            ytd,
            ytd_beside: year.beside,
        };
        for earlier in before.same_period {
            calculation.ytd_beside.add(earlier.beside(), 1);
        }
        if let Some(regional) = RegionalPay::of(pack, terms, pay_date, before)? {
            calculation.add_regional(&regional);
            calculation.ytd_beside.regional += regional.withheld();
            calculation.regional = Some(Box::new(regional));
        }
        calculation.leave_nothing_owed();
        Ok(calculation)
    }

    /// Gross pay after taxes and contributions.
    pub(super) const fn left(&self) -> i64 {
        self.gross - self.taxes - self.employee_contributions
    }

    /// An employer cannot withhold more than the pay. If the pay is too low, amounts are left out: first loans and orders, then taxes, then
    /// contributions, each from the last line. The totals of the year do not contain these amounts, so cumulative lines take them later.
    fn leave_nothing_owed(&mut self) {
        let mut short = -self.left();
        if short <= 0 {
            return;
        }
        for role in [Role::EmployeeDeduction, Role::EmployeeTax, Role::EmployeeSocial] {
            if let Some(regional) = &mut self.regional {
                let cut = reduce(regional.pack(), role, &mut regional.amounts, &mut short);
                regional.ytd.add_parts(&[], &cut, 0, -1);
                self.ytd_beside.regional -= cut.iter().sum::<i64>();
                self.lower(role, &cut);
            }
            let cut = reduce(self.pack(), role, &mut self.amounts, &mut short);
            self.ytd.add_parts(&[], &cut, 0, -1);
            self.lower(role, &cut);
        }
    }

    fn lower(&mut self, role: Role, cut: &[i64]) {
        let sum: i64 = cut.iter().sum();
        match role {
            Role::EmployeeTax => self.taxes -= sum,
            _ => self.employee_contributions -= sum,
        }
    }

    /// Adds the sums of the region's part.
    fn add_regional(&mut self, regional: &RegionalPay) {
        let sum = |roles: &[Role]| regional.sum_of(roles);
        self.taxes += sum(&[Role::EmployeeTax]);
        self.employee_contributions += sum(&[Role::EmployeeSocial, Role::EmployeeDeduction]);
        self.employer_contributions += sum(&[Role::EmployerTax, Role::EmployerSocial]);
    }

    /// The amounts that the pay adds to the year's totals outside the national pack.
    pub(super) fn beside(&self) -> Beside {
        let of_region = self.regional.as_ref().map_or(0, |regional| regional.withheld());
        let mut beside = self.extras().map(Beside::of).unwrap_or_default();
        beside.regional += of_region;
        beside
    }

    /// Takes deductions after tax, limited to what taxes leave, and adds reimbursements.
    fn settle(&mut self, mut extras: Extras, before: Before<'_>) {
        let left = self.left() - sum(&extras.typed);
        cap(&mut extras.after_tax, left - self.pack().least_net_of(self.gross));
        self.net = left - sum(&extras.after_tax) + extras.reimbursed();
        extras.employer_parts = self.employer_parts(&mut extras, before);
        self.ytd_beside.add(Beside::of(&extras), 1);
        self.extras = (!extras.is_empty()).then(|| Box::new(extras));
    }

    /// The same pay with all amounts zero, for an employee who is left out. A fixed sum per employee is not charged
    /// either.
    pub(crate) fn blank(self) -> Self {
        Self {
            gross: 0,
            taxable: 0,
            taxes: 0,
            employee_contributions: 0,
            employer_contributions: 0,
            net: 0,
            earnings: Vec::new(),
            extras: None,
            regional: None,
            amounts: vec![0; self.amounts.len()],
            bases: vec![0; self.bases.len()],
            ytd: YearToDate::start(),
            ..self
        }
    }

    /// The same pay with every sign reversed. It cancels the pay.
    pub(crate) fn negated(&self) -> Self {
        let turned = |amounts: &[i64]| amounts.iter().map(|amount| -amount).collect();
        Self {
            gross: -self.gross,
            taxable: -self.taxable,
            taxes: -self.taxes,
            employee_contributions: -self.employee_contributions,
            employer_contributions: -self.employer_contributions,
            net: -self.net,
            earnings: self.earnings.iter().map(|(id, amount)| (id.clone(), -amount)).collect(),
            amounts: turned(&self.amounts),
            bases: turned(&self.bases),
            extras: self.extras.as_ref().map(|extras| Box::new(extras.negated())),
            regional: self.regional.as_ref().map(|regional| Box::new(regional.negated())),
            ..self.clone()
        }
    }

    /// Totals of the tax year, including this pay.
    pub(crate) fn year_so_far(&self) -> YearSoFar {
        let carried = self.carried();
        let regional = self.regional.iter().map(|it| (it.pack.clone(), it.ytd.clone())).collect();
        YearSoFar {
            by_pack: self.ytd.clone(),
            regional,
            beside: self.ytd_beside,
            carried,
            last_attributes: Some(Arc::clone(&self.tax_attributes)),
            ..YearSoFar::default()
        }
    }

    /// Deductions that this pay did not cover and the next one takes.
    pub(crate) fn carried(&self) -> Vec<PayLine> {
        self.extras().map(|extras| extras.carried.clone()).unwrap_or_default()
    }

    /// Whether it pays the salary.
    pub(super) const fn pays_terms(&self) -> bool {
        !self.earnings.is_empty()
    }

    /// Amounts other than the parts of the salary.
    pub(crate) fn extras(&self) -> Option<&Extras> {
        self.extras.as_deref()
    }

    /// The amount due under the pay terms: the salary's parts and the allowances.
    pub(crate) fn by_terms(&self) -> i64 {
        let parts: i64 = self.earnings.iter().map(|(_, amount)| amount).sum();
        parts + self.extras().map_or(0, |extras| sum(&extras.allowances))
    }

    /// Deductions other than taxes and contributions.
    pub(crate) fn deductions(&self) -> i64 {
        self.extras().map_or(0, Extras::deductions)
    }

    /// Amounts paid in addition to gross pay.
    pub(crate) fn reimbursed(&self) -> i64 {
        self.extras().map_or(0, Extras::reimbursed)
    }

    /// Its approximate size in memory.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = 2 * (self.amounts.len() + self.bases.len()); // also in the totals of the year
        let parts = self.earnings.len() * size_of::<(Cow<'static, str>, i64)>();
        let extras = if self.extras.is_some() { size_of::<Extras>() } else { 0 };
        let regional = if self.regional.is_some() { size_of::<RegionalPay>() } else { 0 };
        size_of::<Self>() + numbers * size_of::<i64>() + parts + extras + regional
    }

    /// Whether it is a contractor's fee, and not an employee's pay.
    pub(crate) fn is_fee(&self) -> bool {
        self.pack == payroll::CONTRACTORS
    }
}

/// The pay in money.
pub(super) fn in_cash(pack: &Pack, earned: &[(payroll::Component, i64)]) -> i64 {
    let in_cash = earned.iter().filter(|(component, _)| pack.is_cash(*component));
    in_cash.map(|(_, amount)| amount).sum()
}

/// Subtracts the missing amount from the lines with that role, starting with the last. Returns the amount subtracted
/// from each line.
fn reduce(pack: &Pack, role: Role, amounts: &mut [i64], short: &mut i64) -> Vec<i64> {
    let mut cut = vec![0; amounts.len()];
    let lines = pack.lines().iter().zip(amounts).zip(&mut cut);
    let lines: Vec<_> = lines.filter(|((line, _), _)| line.role == role).collect();
    for ((_, amount), cut) in lines.into_iter().rev() {
        *cut = (*short).clamp(0, (*amount).max(0));
        *amount -= *cut;
        *short -= *cut;
    }
    cut
}

//! The calculation of one employee's pay for one period. The payroll item and the payslip share it.

use std::collections::BTreeMap;

use crate::model::Account;
use crate::model::business::earnings::{PackUsed, earned, label_of, part, profile, take, tax_year};
use crate::model::business::pay_extras::{cap, sum};
use crate::model::business::typed_deductions as typed;
use crate::model::business::year_so_far::{Beside, YearSoFar};
use crate::model::business::{Authority, Component, Extras, PayLine};
use crate::model::payroll::{
    self, InForce, Match, Pack, PayError, PayInput, PayPeriod, Role, RoleLine, YearToDate,
};
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
    /// How often the employee is paid.
    #[serde(default, skip_serializing_if = "PayPeriod::is_month")]
    frequency: PayPeriod,
    /// The number of the tax period in that year.
    number: u32,
    pub(crate) gross: i64,
    pub(crate) taxable: i64,
    pub(crate) taxes: i64,
    pub(crate) employee_contributions: i64,
    pub(crate) employer_contributions: i64,
    pub(crate) net: i64,
    earnings: Vec<(Cow<'static, str>, i64)>,
    /// In the pack's order of role lines.
    amounts: Vec<i64>,
    /// In the pack's order of bases.
    bases: Vec<i64>,
    /// Boxed, because most pays have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extras: Option<Box<Extras>>,
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

/// What determines an employee's pay, apart from the law.
pub(crate) struct Terms<'a> {
    pub(crate) country: &'a str,
    pub(crate) frequency: PayPeriod,
    /// The parts of the salary that are paid, each from zero.
    pub(crate) parts: &'a [Component],
    pub(crate) extras: Extras,
    pub(crate) attributes: &'a Arc<BTreeMap<String, String>>,
}

/// What the employee was paid earlier in the tax year.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Before<'a> {
    /// Totals of the tax year without the pays of this tax period.
    pub(crate) year: Option<&'a YearSoFar>,
    /// Earlier pays of this tax period. They are taxed together with this one.
    pub(crate) same_period: &'a [Arc<Calculation>],
}

impl Calculation {
    /// Calculates gross to net of one pay.
    ///
    /// A second pay in a tax period, such as a bonus, is taxed as an addition to the first. Otherwise each pay would get the period's
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
        extras.typed.splice(0..0, year.carried.iter().cloned());
        typed::in_legal_order(pack, &mut extras.typed);
        let mut taken = year.typed.clone();
        for earlier in before.same_period.iter().filter_map(|pay| pay.extras()) {
            typed::count(&earlier.typed, 1, &mut taken);
        }
        typed::limit(pack, &mut extras.typed, taken);
        let mut calculation = Self::calculated(&terms, (pack, fit), pay_date, before)?;
        let extras = &mut terms.extras;
        let left = calculation.left(extras);
        extras.carried = typed::fit(pack, &mut extras.typed, left, terms.frequency);
        if !extras.carried.is_empty() || typed::was_cut(extras) {
            // The smaller deductions may leave more tax to pay.
            calculation = Self::calculated(&terms, (pack, fit), pay_date, before)?;
            let extras = &mut terms.extras;
            let left = calculation.left(extras);
            let more = typed::fit(pack, &mut extras.typed, left, terms.frequency);
            typed::merge(&mut extras.carried, more);
        }
        calculation.settle(terms.extras);
        Ok(calculation)
    }

    /// The pay before deductions that no pack covers, and without the earlier pays of the same tax period.
    fn calculated(
        terms: &Terms<'_>,
        (pack, fit): (&'static Pack, Match),
        pay_date: Date,
        before: Before<'_>,
    ) -> Result<Self, PayError> {
        let number = pack.period_number(terms.frequency, pay_date.civil());
        let mut earned = earned(pack, terms.parts, &terms.extras);
        let in_cash = earned.iter().filter(|(component, _)| pack.is_cash(*component));
        let gross = in_cash.map(|(_, amount)| amount).sum::<i64>();
        let mut before_tax = terms.extras.before_tax.clone();
        cap(&mut before_tax, gross);
        take(pack, &mut earned, sum(&before_tax));
        let start = YearSoFar::default();
        let year = before.year.unwrap_or(&start);
        let mut profile = profile(pack, terms.attributes);
        typed::give(pack, &terms.extras.typed, &mut profile.inputs);
        for earlier in before.same_period {
            earned.extend(earlier.evaluated(pack));
            let typed = earlier.extras().map_or(&[][..], |extras| &extras.typed);
            typed::give(pack, typed, &mut profile.inputs);
        }
        let pay = pack.evaluate(&PayInput {
            period: terms.frequency,
            number,
            attributes: profile.attributes,
            inputs: &profile.inputs,
            on: Some(pay_date.civil()),
            earnings: &earned,
            ytd: &year.by_pack,
        })?;
        let mut ytd = year.by_pack.clone();
        ytd.add(&pay)?;
        let mut calculation = Self {
            pack: Cow::Borrowed(&pack.code),
            in_force: fit == Match::InForce,
            tax_year: tax_year(pack, pay_date),
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
            tax_attributes: Arc::clone(terms.attributes),
            ytd,
            ytd_beside: year.beside,
        };
        for earlier in before.same_period {
            calculation.subtract(earlier);
            if let Some(extras) = earlier.extras() {
                calculation.ytd_beside.add(Beside::of(extras), 1);
            }
        }
        Ok(calculation)
    }

    /// What taxes, contributions and deductions before tax leave of gross pay.
    fn left(&self, extras: &Extras) -> i64 {
        let mut before_tax = extras.before_tax.clone();
        cap(&mut before_tax, self.gross);
        self.gross - sum(&before_tax) - self.taxes - self.employee_contributions
    }

    /// Subtracts an earlier pay of the same tax period, so that only the addition is left.
    fn subtract(&mut self, earlier: &Self) {
        self.taxable -= earlier.taxable;
        self.taxes -= earlier.taxes;
        self.employee_contributions -= earlier.employee_contributions;
        self.employer_contributions -= earlier.employer_contributions;
        for (amount, before) in self.amounts.iter_mut().zip(&earlier.amounts) {
            *amount -= before;
        }
        for (base, before) in self.bases.iter_mut().zip(&earlier.bases) {
            *base -= before;
        }
    }

    /// Takes deductions after tax, limited to what taxes leave, and adds reimbursements.
    fn settle(&mut self, mut extras: Extras) {
        cap(&mut extras.before_tax, self.gross);
        let left = self.left(&extras) - sum(&extras.typed);
        cap(&mut extras.after_tax, left);
        self.net = left - sum(&extras.after_tax) + extras.reimbursed();
        self.ytd_beside.add(Beside::of(&extras), 1);
        self.extras = (!extras.is_empty()).then(|| Box::new(extras));
    }

    /// The earnings of an earlier pay that the pack was given.
    fn evaluated(&self, pack: &Pack) -> Vec<(payroll::Component, i64)> {
        let parts = self
            .earnings
            .iter()
            .map(|(id, amount)| Component { id: id.to_string(), amount: *amount });
        let none = Extras::default();
        let extras = self.extras();
        let mut earned = earned(pack, &parts.collect::<Vec<_>>(), extras.unwrap_or(&none));
        take(pack, &mut earned, extras.map_or(0, |extras| sum(&extras.before_tax)));
        earned
    }

    /// The same pay with no amounts. Packs that charge a fixed sum per employee charge nothing for an employee who is left out.
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
            ..self.clone()
        }
    }

    /// Totals of the tax year, including this pay.
    pub(crate) fn year_so_far(&self) -> YearSoFar {
        let carried = self.extras().map(|extras| extras.carried.clone()).unwrap_or_default();
        YearSoFar {
            by_pack: self.ytd.clone(),
            beside: self.ytd_beside,
            carried,
            ..YearSoFar::default()
        }
    }

    /// Whether the pay belongs to the tax period of that date.
    pub(crate) fn is_of(&self, country: &str, frequency: PayPeriod, pay_date: Date) -> bool {
        let pack = payroll::library().in_force(country, pay_date.civil()).pack;
        self.counts_with(country, pay_date)
            && self.frequency == frequency
            && self.number == pack.period_number(frequency, pay_date.civil())
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

    /// The employer's cost: gross pay, employer contributions and reimbursed expenses.
    pub(crate) fn employer_cost(&self) -> i64 {
        self.gross + self.employer_contributions + self.reimbursed()
    }

    /// Whether the pay belongs to the same tax year as that country's pay of that date.
    pub(crate) fn counts_with(&self, country: &str, pay_date: Date) -> bool {
        let pack = payroll::library().in_force(country, pay_date.civil()).pack;
        self.pack == pack.code && self.tax_year == tax_year(pack, pay_date)
    }

    /// What this pay owes to each account, except the employee's own.
    pub(crate) fn owed(&self) -> impl Iterator<Item = (Account, i64)> {
        self.lines().map(|(line, amount)| {
            (Authority::of_line(&line.id, line.authority.as_deref()).account(), amount)
        })
    }

    /// The parts of gross pay.
    pub(crate) fn earnings(&self) -> Vec<PayLine> {
        let line = |(id, amount): &(Cow<'static, str>, i64)| {
            PayLine::plain(id.to_string(), label_of(id), *amount)
        };
        let parts = self.earnings.iter().map(line);
        let extras = self.extras().map(Extras::earning_lines);
        let pack = self.pack();
        let paid = |line: &PayLine| pack.is_cash(line.component(pack));
        parts.chain(extras.into_iter().flatten().filter(paid)).collect()
    }

    /// Benefits that are taxed and not paid in money.
    pub(crate) fn benefit_lines(&self) -> Vec<PayLine> {
        let pack = self.pack();
        let lines = self.extras().map(Extras::earning_lines).unwrap_or_default();
        lines.into_iter().filter(|line| !pack.is_cash(line.component(pack))).collect()
    }

    /// Bases and amounts, in the pack's order.
    pub(super) fn parts(&self) -> (&[i64], &[i64]) {
        (&self.bases, &self.amounts)
    }

    /// Deductions other than taxes and contributions; those before tax come first.
    pub(crate) fn deduction_lines(&self) -> Vec<PayLine> {
        let lines =
            |extras: &Extras| [&*extras.before_tax, &extras.typed, &extras.after_tax].concat();
        self.extras().map(lines).unwrap_or_default()
    }

    /// Reimbursed expenses.
    pub(crate) fn reimbursement_lines(&self) -> Vec<PayLine> {
        self.extras().map(|extras| extras.reimbursements.clone()).unwrap_or_default()
    }

    /// Taxes withheld.
    pub(crate) fn tax_lines(&self) -> Vec<PayLine> {
        self.lines_of(&[Role::EmployeeTax])
    }

    /// Social contributions withheld, and other deductions that the pack itself takes.
    pub(crate) fn contribution_lines(&self) -> Vec<PayLine> {
        let taken = self.lines_of(&[Role::EmployeeDeduction]);
        let taken = taken.into_iter().filter(|line| line.amount != 0);
        self.lines_of(&[Role::EmployeeSocial]).into_iter().chain(taken).collect()
    }

    /// Contributions that the employer pays in addition.
    pub(crate) fn employer_lines(&self) -> Vec<PayLine> {
        self.lines_of(&[Role::EmployerTax, Role::EmployerSocial])
    }

    /// Totals of the tax year by name, including `net`.
    pub(crate) fn year_to_date(&self) -> BTreeMap<String, i64> {
        let pack = self.pack();
        let kept_back = |role| !matches!(role, Role::EmployerTax | Role::EmployerSocial);
        let lines = pack.lines().iter().enumerate().filter(|(_, line)| kept_back(line.role));
        let withheld: i64 = lines.map(|(index, _)| self.ytd.line(index)).sum();
        let mut totals = self.ytd.to_names(pack);
        let beside = self.ytd_beside;
        let taxed = totals.get("gross").copied().unwrap_or(self.gross);
        let left = taxed - withheld - beside.after_tax + beside.reimbursed;
        totals.insert("gross".to_owned(), taxed + beside.before_tax);
        totals.insert("net".to_owned(), left);
        let kept_back = beside.before_tax + beside.after_tax;
        let beside = [("deductions", kept_back), ("reimbursements", beside.reimbursed)];
        let beside = beside.into_iter().filter(|(_, total)| *total != 0);
        totals.extend(beside.map(|(name, total)| (name.to_owned(), total)));
        totals
    }

    /// Whether it is a contractor's fee, and not an employee's pay.
    pub(crate) fn is_fee(&self) -> bool {
        self.pack == payroll::CONTRACTORS
    }

    /// The pack, for the payslip.
    pub(crate) fn pack_used(&self) -> PackUsed {
        PackUsed {
            code: self.pack.to_string(),
            tax_year: self.pack().tax_year.clone(),
            in_force: self.in_force,
        }
    }

    fn pack(&self) -> &'static Pack {
        payroll::library().pack(&self.pack).expect("a calculation names the pack that made it")
    }

    fn lines(&self) -> impl Iterator<Item = (&'static RoleLine, i64)> {
        self.pack().lines().iter().zip(self.amounts.iter().copied())
    }

    fn lines_of(&self, roles: &[Role]) -> Vec<PayLine> {
        let wanted = self.lines().filter(|(line, _)| roles.contains(&line.role));
        wanted
            .map(|(line, amount)| PayLine::plain(line.id.clone(), line.label.clone(), amount))
            .collect()
    }
}

//! The results of a calculation: lines of a payslip, amounts payable to third parties, and totals of the tax year.

use std::collections::BTreeMap;

use crate::model::business::calculation::{Before, Calculation};
use crate::model::business::earnings::{PackUsed, label_of};
use crate::model::business::tax_return::DueTo;
use crate::model::business::typed_deductions as typed;
use crate::model::business::{Authority, Extras, PayLine};
use crate::model::payroll::{self, Pack, PayForOrders, PayPeriod, Role, RoleLine};
use crate::model::prelude::*;

impl Calculation {
    /// The amounts payable to each party, except the employee.
    pub(crate) fn owed(&self) -> impl Iterator<Item = (DueTo, i64)> {
        self.lines().map(|(line, amount)| {
            let authority = Authority::of_line(&line.id, line.authority.as_deref());
            (DueTo { account: authority.account(), form: line.form.as_deref() }, amount)
        })
    }

    /// The parts of gross pay.
    pub(crate) fn earnings(&self) -> Vec<PayLine> {
        let line = |(id, amount): &(Cow<'static, str>, i64)| {
            PayLine::plain(id.to_string(), label_of(id), *amount)
        };
        self.earnings.iter().map(line).chain(self.lines_beside_salary(true)).collect()
    }

    /// Benefits that are taxed and not paid in money.
    pub(crate) fn benefit_lines(&self) -> Vec<PayLine> {
        self.lines_beside_salary(false).collect()
    }

    /// Lines of gross pay other than the parts of the salary: the cash lines or the non-cash lines.
    fn lines_beside_salary(&self, is_cash: bool) -> impl Iterator<Item = PayLine> {
        let pack = self.pack();
        let lines = self.extras().into_iter().flat_map(Extras::earning_lines);
        let lines = lines.filter(move |line| pack.is_cash(line.component(pack)) == is_cash);
        lines.map(Cow::into_owned)
    }

    /// The pay as deductions by type find it.
    pub(super) fn wages(&self, earlier: typed::EarlierWages) -> typed::Wages {
        let by_pack = self.lines().filter(|(line, _)| line.role == Role::EmployeeDeduction);
        let by_pack: Vec<_> = by_pack.map(|(line, amount)| (line.order, amount)).collect();
        let disposable = self.left() + by_pack.iter().map(|(_, amount)| amount).sum::<i64>();
        let basic = self.earnings.iter().map(|(_, amount)| amount).sum();
        let pay = PayForOrders { gross: self.gross, basic, disposable };
        let region = self.regional.as_ref().map(|regional| regional.pack());
        typed::Wages { pay, by_pack, region, earlier }
    }

    /// This pay after earlier ones of the pay period, before deductions with a type.
    pub(super) fn wages_after(&self, before: Before<'_>) -> typed::Wages {
        let mut earlier = typed::EarlierWages::default();
        for pay in before.same_period {
            earlier.add(&pay.wages(typed::EarlierWages::default()), pay.typed());
        }
        self.wages(earlier)
    }

    /// Bases and amounts, in the pack's order.
    pub(super) fn parts(&self) -> (&[i64], &[i64]) {
        (&self.bases, &self.amounts)
    }

    /// Deductions other than taxes and contributions. Those with a type come first.
    pub(crate) fn deduction_lines(&self) -> Vec<PayLine> {
        let lines = |extras: &Extras| [&*extras.typed, &extras.after_tax].concat();
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
        self.lines_of(&[Role::EmployeeSocial]).into_iter().chain(taken).collect()
    }

    /// Taxes, contributions and benefits that the employer pays in addition.
    pub(crate) fn employer_lines(&self) -> Vec<PayLine> {
        let mut lines = self.lines_of(&[Role::EmployerTax, Role::EmployerSocial]);
        lines.extend(self.extras().into_iter().flat_map(|extras| extras.employer_parts.clone()));
        lines
    }

    /// Totals of the tax year by name, including `net`.
    pub(crate) fn year_to_date(&self) -> BTreeMap<String, i64> {
        let pack = self.pack();
        let kept_back = |role| !matches!(role, Role::EmployerTax | Role::EmployerSocial);
        let lines = pack.lines().iter().enumerate().filter(|(_, line)| kept_back(line.role));
        let withheld: i64 = lines.map(|(index, _)| self.ytd.line(index)).sum();
        let mut totals = self.ytd.to_names(pack);
        let beside = self.ytd_beside;
        let gross = *totals.entry("gross".to_owned()).or_insert(self.gross);
        let left = gross - withheld - beside.regional - beside.deducted + beside.reimbursed;
        totals.insert("net".to_owned(), left);
        if let Some(regional) = &self.regional {
            let lines = regional.pack().lines().iter().enumerate();
            totals.extend(lines.map(|(place, line)| (line.id.clone(), regional.ytd.line(place))));
        }
        let beside = [("deductions", beside.deducted), ("reimbursements", beside.reimbursed)];
        let beside = beside.into_iter().filter(|(_, total)| *total != 0);
        totals.extend(beside.map(|(name, total)| (name.to_owned(), total)));
        totals
    }

    /// The pack, for the payslip.
    pub(crate) fn pack_used(&self) -> PackUsed {
        PackUsed {
            code: self.pack.to_string(),
            tax_year: self.pack().tax_year.clone(),
            in_force: self.in_force,
        }
    }

    /// The pack of the employee's region, for the payslip.
    pub(crate) fn regional_pack_used(&self) -> Option<PackUsed> {
        self.regional.as_ref().map(|regional| PackUsed {
            code: regional.pack.to_string(),
            tax_year: regional.pack().tax_year.clone(),
            in_force: regional.in_force,
        })
    }

    /// The amount of a line of the pack, or of the region's pack, on this pay, and its total of the tax year.
    pub(crate) fn line(&self, id: &str) -> (i64, i64) {
        let place = |pack: &Pack| pack.lines().iter().position(|line| line.id == id);
        if let Some(place) = place(self.pack()) {
            return (self.amounts[place], self.ytd.line(place));
        }
        let regional = self.regional.as_ref();
        let found = regional.and_then(|it| place(it.pack()).map(|place| (it, place)));
        found.map_or((0, 0), |(it, place)| (it.amounts[place], it.ytd.line(place)))
    }

    /// The amount of a base of the pack on this pay, and its total of the tax year.
    pub(crate) fn base(&self, name: &str) -> (i64, i64) {
        let place = self.pack().base_names().position(|base| base == name);
        place.map_or((0, 0), |place| (self.bases[place], self.ytd.base(place)))
    }

    /// The amount of a base of the region's pack on this pay.
    pub(crate) fn regional_base(&self, name: &str) -> i64 {
        let Some(regional) = &self.regional else { return 0 };
        let place = regional.pack().base_names().position(|base| base == name);
        place.map_or(0, |place| regional.bases[place])
    }

    /// A tax attribute of this pay: the employee's, or the default of the pack.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let set = self.tax_attributes.get(name).cloned();
        set.or_else(|| self.pack().default_of(name))
    }

    /// Whether the attribute selects a region and the pay has none.
    fn is_without_region(&self, name: &str) -> bool {
        self.pack().regions.as_deref() == Some(name) && self.region().is_none()
    }

    /// The region whose taxes were withheld beside those of the country, if the pay is in one.
    pub(super) fn region(&self) -> Option<String> {
        let region = self.attribute(self.pack().regions.as_ref()?);
        region.filter(|region| region != "none")
    }

    /// The attributes that a printed payslip shows, with their labels.
    pub(crate) fn printed_attributes(&self) -> Vec<(String, String)> {
        let shown = self.pack().payslip.iter().flat_map(|payslip| &payslip.attributes);
        let shown = shown.filter(|(name, _)| !self.is_without_region(name));
        let known = shown.map(|(name, label)| (label.clone(), self.attribute(name)));
        known.filter_map(|(label, value)| Some((label, value?))).collect()
    }

    /// The country of the pack.
    pub(crate) fn country(&self) -> &'static str {
        &self.pack().country
    }

    /// The number of the tax month that contains the pay date.
    pub(super) fn tax_month(&self, pay_date: Date) -> u32 {
        self.pack().period_number(PayPeriod::Monthly, pay_date.civil())
    }

    /// The number of the tax period in months, for pay by the month.
    pub(super) const fn month_number(&self) -> Option<u32> {
        match self.frequency {
            PayPeriod::Monthly => Some(self.number),
            PayPeriod::Semimonthly => Some(self.number.div_ceil(2)),
            PayPeriod::Weekly | PayPeriod::Biweekly | PayPeriod::Fourweekly => None,
        }
    }

    /// The number of the last week of the tax period, for pay by the week.
    pub(super) const fn week_number(&self) -> Option<u32> {
        match self.frequency {
            PayPeriod::Weekly => Some(self.number),
            PayPeriod::Biweekly => Some(self.number * 2),
            PayPeriod::Fourweekly => Some(self.number * 4),
            PayPeriod::Monthly | PayPeriod::Semimonthly => None,
        }
    }

    pub(super) fn pack(&self) -> &'static Pack {
        payroll::library().pack(&self.pack).expect("a calculation names the pack that made it")
    }

    /// The lines of the pack, then those of the region's pack.
    fn lines(&self) -> impl Iterator<Item = (&'static RoleLine, i64)> {
        let regional = self.regional.iter().flat_map(|regional| {
            regional.pack().lines().iter().zip(regional.amounts.iter().copied())
        });
        self.pack().lines().iter().zip(self.amounts.iter().copied()).chain(regional)
    }

    /// The amounts withheld in the tax year by line of the packs, with labels. Lines without an amount on this pay
    /// are included.
    pub(crate) fn withheld_so_far(&self) -> Vec<(&'static str, i64)> {
        let total = |line: &'static RoleLine| (line.label.as_str(), self.line(&line.id).1);
        let lines = self.lines().map(|(line, _)| line);
        let withheld =
            lines.filter(|line| !matches!(line.role, Role::EmployerTax | Role::EmployerSocial));
        withheld.map(total).filter(|(_, total)| *total != 0).collect()
    }

    /// Lines with an amount: a payslip shows no others.
    fn lines_of(&self, roles: &[Role]) -> Vec<PayLine> {
        let wanted =
            self.lines().filter(|(line, amount)| roles.contains(&line.role) && *amount != 0);
        wanted
            .map(|(line, amount)| PayLine::plain(line.id.clone(), line.label.clone(), amount))
            .collect()
    }
}

//! One employee's pay of one period, calculated: shared by the payroll item and the payslip.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::business::authority::Authority;
use crate::model::business::employee::Compensation;
use crate::model::business::payslip::PackUsed;
use crate::model::ledger::Account;
use crate::model::payroll::{
    self, InForce, Match, Pack, PayError, PayInput, PayPeriod, Role, RoleLine, YearToDate,
};
use crate::value::time::Date;

/// One employee's pay of one period.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calculation {
    /// Code of the pack that was applied.
    pub(crate) pack: Cow<'static, str>,
    /// Whether it was in force on the pay date.
    pub(crate) in_force: bool,
    /// The first day of the tax year it counts in.
    pub(crate) tax_year: Date,
    pub(crate) gross: i64,
    pub(crate) taxable: i64,
    pub(crate) taxes: i64,
    pub(crate) employee_contributions: i64,
    pub(crate) employer_contributions: i64,
    pub(crate) net: i64,
    earnings: Vec<(Cow<'static, str>, i64)>,
    /// By the pack's order of role lines.
    amounts: Vec<i64>,
    /// Totals of the tax year, this period included.
    pub(crate) ytd: YearToDate,
}

/// One line of a payslip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PayLine {
    /// The pack's id of the line, or the component of pay.
    pub(crate) id: String,
    /// The same for people.
    pub(crate) label: String,
    /// Minor units; negative where something is given back.
    pub(crate) amount: i64,
}

/// What decides an employee's pay, beside the law.
pub(crate) struct Terms<'a> {
    pub(crate) country: &'a str,
    pub(crate) compensation: &'a Compensation,
    pub(crate) attributes: &'a BTreeMap<String, String>,
}

impl Calculation {
    /// Gross to net of one month. `before` is the last pay that was reckoned in the same tax year, whatever its period: its totals
    /// are what was really paid so far.
    pub(crate) fn of(
        terms: &Terms<'_>,
        pay_date: Date,
        before: Option<&Self>,
    ) -> Result<Self, PayError> {
        let InForce { pack, fit } = payroll::library().in_force(terms.country, pay_date.civil());
        let in_force = fit == Match::InForce;
        let number = pack.period_number(PayPeriod::Monthly, pay_date.civil());
        let start = YearToDate::start();
        let tax_year = tax_year(pack, pay_date);
        let before =
            before.filter(|earlier| earlier.pack == pack.code && earlier.tax_year == tax_year);
        let earnings: Vec<_> = terms
            .compensation
            .components
            .iter()
            .map(|part| (pack.component(&part.id), part.amount))
            .collect();
        let pay = pack.evaluate(&PayInput {
            period: PayPeriod::Monthly,
            number,
            attributes: attributes(pack, terms.attributes),
            inputs: &[],
            earnings: &earnings,
            ytd: before.map_or(&start, |earlier| &earlier.ytd),
        })?;
        let mut ytd = before.map_or(start, |earlier| earlier.ytd.clone());
        ytd.add(&pay)?;
        let parts = &terms.compensation.components;
        Ok(Self {
            pack: Cow::Borrowed(&pack.code),
            in_force,
            tax_year,
            gross: pay.gross,
            taxable: pay.taxable.unwrap_or(pay.gross),
            taxes: pay.tax,
            employee_contributions: pay.employee,
            employer_contributions: pay.employer,
            net: pay.net,
            earnings: parts
                .iter()
                .map(|part| (component_name(&part.id), part.amount))
                .collect(),
            amounts: pay.amounts,
            ytd,
        })
    }

    /// Whether it counts in the tax year in which that country's pay of that date counts.
    pub(crate) fn counts_with(&self, country: &str, pay_date: Date) -> bool {
        let pack = payroll::library().in_force(country, pay_date.civil()).pack;
        self.pack == pack.code && self.tax_year == tax_year(pack, pay_date)
    }

    /// What this pay owes each account but the employee's own.
    pub(crate) fn owed(&self) -> impl Iterator<Item = (Account, i64)> {
        self.lines().map(|(line, amount)| {
            (
                Authority::of_line(&line.id, line.authority.as_deref()).account(),
                amount,
            )
        })
    }

    /// The parts of gross pay.
    pub(crate) fn earnings(&self) -> Vec<PayLine> {
        let line = |(id, amount): &(Cow<'static, str>, i64)| PayLine {
            id: id.to_string(),
            label: label_of(id),
            amount: *amount,
        };
        self.earnings.iter().map(line).collect()
    }

    /// Taxes withheld.
    pub(crate) fn tax_lines(&self) -> Vec<PayLine> {
        self.lines_of(&[Role::EmployeeTax])
    }

    /// Social contributions withheld.
    pub(crate) fn contribution_lines(&self) -> Vec<PayLine> {
        self.lines_of(&[Role::EmployeeSocial])
    }

    /// What the employer pays on top.
    pub(crate) fn employer_lines(&self) -> Vec<PayLine> {
        self.lines_of(&[Role::EmployerTax, Role::EmployerSocial])
    }

    /// Totals of the tax year by name, with `net`.
    pub(crate) fn year_to_date(&self) -> BTreeMap<String, i64> {
        let pack = self.pack();
        let kept_back = |role| matches!(role, Role::EmployeeTax | Role::EmployeeSocial);
        let lines = pack
            .lines()
            .iter()
            .enumerate()
            .filter(|(_, line)| kept_back(line.role));
        let withheld: i64 = lines.map(|(index, _)| self.ytd.line(index)).sum();
        let mut totals = self.ytd.to_names(pack);
        let gross = totals.get("gross").copied().unwrap_or(self.gross);
        totals.insert("net".to_owned(), gross - withheld);
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

    fn pack(&self) -> &'static Pack {
        payroll::library()
            .pack(&self.pack)
            .expect("a calculation names the pack that made it")
    }

    fn lines(&self) -> impl Iterator<Item = (&'static RoleLine, i64)> {
        self.pack().lines().iter().zip(self.amounts.iter().copied())
    }

    fn lines_of(&self, roles: &[Role]) -> Vec<PayLine> {
        let wanted = self.lines().filter(|(line, _)| roles.contains(&line.role));
        wanted
            .map(|(line, amount)| PayLine {
                id: line.id.clone(),
                label: line.label.clone(),
                amount,
            })
            .collect()
    }
}

/// The first day of the tax year that a date lies in: the anniversary of the pack's own first day. A pack that stands in for
/// other years has one each.
pub(crate) fn tax_year(pack: &Pack, pay_date: Date) -> Date {
    let first = Date::from(pack.effective_from);
    let years = pay_date.period().year() - first.period().year();
    let anniversary = first.plus_years(years);
    if anniversary <= pay_date {
        anniversary
    } else {
        first.plus_years(years - 1)
    }
}

/// The pack's attributes, with those that the employee has and the pack knows.
fn attributes(pack: &Pack, set: &BTreeMap<String, String>) -> payroll::Attributes {
    let mut attributes = pack.default_attributes();
    for (name, value) in set {
        // An attribute of another country's pack, or of another year's, says nothing here.
        attributes = pack
            .with_attribute(attributes, name, value)
            .unwrap_or(attributes);
    }
    attributes
}

/// The usual components without an allocation each.
fn component_name(id: &str) -> Cow<'static, str> {
    match id {
        "basic" => Cow::Borrowed("basic"),
        "housing" => Cow::Borrowed("housing"),
        "transport" => Cow::Borrowed("transport"),
        other => Cow::Owned(other.to_owned()),
    }
}

fn label_of(component: &str) -> String {
    let mut letters = component.replace('_', " ");
    if let Some(first) = letters.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    letters
}

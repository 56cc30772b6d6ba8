//! Earnings in the terms of a payroll pack: components, attributes, the tax year, and lines of a payslip.

use std::collections::BTreeMap;

use crate::model::business::{Component, Extras};
use crate::model::payroll::{self, CompanyFact, Pack, PayPeriod};
use crate::model::prelude::*;

/// One line of a payslip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayLine {
    /// The id of the line in the payroll pack, or of the pay component.
    pub(crate) id: String,
    /// The name of the line on the payslip.
    pub(crate) label: String,
    /// Amount in minor units; negative for a refund.
    pub(crate) amount: i64,
    /// The type of the line in the payroll pack, if one was given.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    /// The method by which a payment of this type is taxed, if one was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    /// The minimum net pay, in minor units, that the deduction leaves to the employee; absent if it has no such minimum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) protected: Option<i64>,
    /// The maximum sum of deductions of this type in a tax year, in minor units; absent if the deduction has no limit of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) annual_limit: Option<i64>,
}

impl PayLine {
    /// A line without a type.
    pub(crate) const fn plain(id: String, label: String, amount: i64) -> Self {
        Self { id, label, amount, kind: None, method: None, protected: None, annual_limit: None }
    }

    /// The pack's component for the line: that of its type and method, or else of its id.
    pub(super) fn component(&self, pack: &Pack) -> payroll::Component {
        let kind = self.kind.as_ref().and_then(|kind| pack.earning_type(kind));
        let component = kind.and_then(|kind| kind.component(self.method.as_deref()));
        let name = component.as_deref().or(self.kind.as_deref()).unwrap_or(&self.id);
        pack.component(name)
    }
}

/// The payroll pack that was applied.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AppliedPayrollPack")]
pub(crate) struct PackUsed {
    /// The code of the payroll pack, such as `GB` or `US-CA`.
    pub(crate) code: String,
    /// The tax year of the payroll pack.
    pub(crate) tax_year: String,
    /// False if no pack was in force on the pay date and the nearest one was used.
    pub(crate) in_force: bool,
}

/// The first day of the tax year that contains a date: the anniversary of the pack's first day. A pack that is used
/// for another year has its anniversary in that year.
pub(crate) fn tax_year(pack: &Pack, pay_date: Date) -> Date {
    let first = Date::from(pack.effective_from);
    let years = pay_date.period().year() - first.period().year();
    let anniversary = first.plus_years(years);
    if anniversary <= pay_date { anniversary } else { first.plus_years(years - 1) }
}

/// The number of a pay's tax period in its tax year. A pay that moved to a business day keeps the number of its regular day, in the same year.
pub(super) fn period_number(
    pack: &Pack,
    frequency: PayPeriod,
    pay_date: Date,
    regular_day: Date,
) -> u32 {
    let is_same_year = tax_year(pack, regular_day) == tax_year(pack, pay_date);
    let day = if is_same_year { regular_day } else { pay_date };
    pack.period_number(frequency, day.civil())
}

/// The facts about the paying company that a payroll pack reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Employer {
    /// The people whom it employs in the country.
    pub(crate) headcount: i64,
    /// A year of their present pay, in minor units.
    pub(crate) annual_payroll: i64,
    /// Whether the pay is for the last pay period of the employment.
    pub(crate) is_last_pay: bool,
}

/// The pack's attributes and numbers, with the values of the employee and the employer. Values that the pack does not
/// define are ignored.
pub(super) fn profile(
    pack: &Pack,
    set: &BTreeMap<String, String>,
    employer: Option<Employer>,
) -> payroll::Profile {
    let mut profile = of_employee(pack, set);
    if let Some(employer) = employer {
        pack.set_company(&mut profile, |fact| match fact {
            CompanyFact::Headcount => employer.headcount,
            CompanyFact::AnnualPayroll => employer.annual_payroll,
            CompanyFact::InRun => 1,
            CompanyFact::LastPay => i64::from(employer.is_last_pay),
        });
    }
    profile
}

fn of_employee(pack: &Pack, set: &BTreeMap<String, String>) -> payroll::Profile {
    let values = set.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    if let Ok(profile) = pack.profile(values) {
        return profile;
    }
    let mut profile = pack.default_profile();
    for (name, value) in set {
        // An attribute of another country's pack, or of another year's, has no effect here.
        let alone = pack.set(&mut profile, name, value);
        alone.unwrap_or_default();
    }
    profile
}

/// The earnings for the pack: no component is below zero, and negative earnings are taken from the others. Arrears without a type count as the
/// parts of the salary.
pub(super) fn earned(
    pack: &Pack,
    parts: &[Component],
    extras: &Extras,
) -> Vec<(payroll::Component, i64)> {
    let (mut late, mut taken_back) = (0, 0);
    let mut earned = Vec::with_capacity(parts.len());
    let mut add = |component, amount: i64| match amount {
        ..0 => taken_back -= amount,
        _ => earned.push((component, amount)),
    };
    for part in parts {
        add(pack.component(&part.id), part.amount);
    }
    for line in extras.earning_lines() {
        if line.id == Extras::ARREARS && line.kind.is_none() && line.amount > 0 {
            late += line.amount;
        } else {
            add(line.component(pack), line.amount);
        }
    }
    earned.extend(spread(pack, parts, late));
    take(pack, &mut earned, taken_back);
    earned
}

/// Late pay as parts of the salary, in proportion; the last part has the rest.
fn spread(pack: &Pack, parts: &[Component], late: i64) -> Vec<(payroll::Component, i64)> {
    let all: i128 = parts.iter().map(|part| i128::from(part.amount)).sum();
    let Some((last, others)) = parts.split_last().filter(|_| all > 0 && late != 0) else {
        return Vec::from_iter((late != 0).then(|| (pack.component(Extras::ARREARS), late)));
    };
    let mut rest = late;
    let share = |part: &Component| {
        let share = i128::from(late) * i128::from(part.amount) / all;
        let share = i64::try_from(share).expect("a part is at most the whole");
        rest -= share;
        (pack.component(&part.id), share)
    };
    let mut spread: Vec<_> = others.iter().map(share).collect();
    spread.push((pack.component(&last.id), rest));
    spread
}

/// Takes a sum from earnings in money, starting with the first, until the sum or the earnings are used up.
pub(super) fn take(pack: &Pack, earned: &mut [(payroll::Component, i64)], mut sum: i64) {
    for (_, amount) in earned.iter_mut().filter(|(component, _)| pack.is_cash(*component)) {
        let part = sum.min(*amount);
        *amount -= part;
        sum -= part;
    }
}

/// Limits the recovery of overpayments from earlier pay periods to this pay. Later pays recover the rest, because
/// each compares the paid amounts with the terms.
pub(super) fn take_back_at_most_the_pay(pack: &Pack, parts: &[Component], extras: &mut Extras) {
    if extras.arrears.iter().all(|arrears| arrears.amount >= 0) {
        return;
    }
    let paid = extras.earning_lines().filter(|line| pack.is_cash(line.component(pack)));
    let paid = paid.map(|line| line.amount.max(0)).sum::<i64>();
    let mut left = paid + parts.iter().map(|part| part.amount).sum::<i64>();
    for arrears in extras.arrears.iter_mut().filter(|arrears| arrears.amount < 0) {
        let taken = left.min(-arrears.amount);
        arrears.amount = -taken;
        left -= taken;
    }
    extras.arrears.retain(|arrears| arrears.amount != 0);
}

pub(super) fn part(part: &Component) -> (Cow<'static, str>, i64) {
    (component_name(&part.id), part.amount)
}

/// Names of the usual components, without an allocation each.
fn component_name(id: &str) -> Cow<'static, str> {
    match id {
        "basic" => Cow::Borrowed("basic"),
        "housing" => Cow::Borrowed("housing"),
        "transport" => Cow::Borrowed("transport"),
        other => Cow::Owned(other.to_owned()),
    }
}

pub(super) fn label_of(component: &str) -> String {
    let mut letters = component.replace('_', " ");
    if let Some(first) = letters.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    letters
}

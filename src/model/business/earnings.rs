//! Earnings as a payroll pack knows them: components, attributes, the tax year, and lines of a payslip.

use std::collections::BTreeMap;

use crate::model::business::{Component, Extras};
use crate::model::payroll::{self, Pack};
use crate::model::prelude::*;

/// One line of a payslip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PayLine {
    /// Id of the line in the payroll pack, or of the pay component.
    pub(crate) id: String,
    /// The same for people.
    pub(crate) label: String,
    /// Amount in minor units; negative for a refund.
    pub(crate) amount: i64,
}

/// The first day of the tax year that contains a date: the anniversary of the pack's first day. A pack that is used for other years has one
/// in each.
pub(crate) fn tax_year(pack: &Pack, pay_date: Date) -> Date {
    let first = Date::from(pack.effective_from);
    let years = pay_date.period().year() - first.period().year();
    let anniversary = first.plus_years(years);
    if anniversary <= pay_date { anniversary } else { first.plus_years(years - 1) }
}

/// The pack's attributes, with the employee's values for those that the pack knows.
pub(super) fn attributes(pack: &Pack, set: &BTreeMap<String, String>) -> payroll::Attributes {
    let mut attributes = pack.default_attributes();
    for (name, value) in set {
        // An attribute of another country's pack, or of another year's, has no effect here.
        attributes = pack.with_attribute(attributes, name, value).unwrap_or(attributes);
    }
    attributes
}

/// The earnings for the pack: no component is below zero, and negative earnings are taken from the others.
pub(super) fn earned(
    pack: &Pack,
    parts: &[Component],
    extras: &Extras,
) -> Vec<(payroll::Component, i64)> {
    let lines = extras.earning_lines();
    let parts = parts.iter().map(|part| (part.id.as_str(), part.amount));
    let all = parts.chain(lines.iter().map(|line| (line.id.as_str(), line.amount)));
    let (owed, paid): (Vec<_>, Vec<_>) = all.partition(|(_, amount)| *amount < 0);
    let mut earned: Vec<_> =
        paid.into_iter().map(|(id, amount)| (pack.component(id), amount)).collect();
    take(&mut earned, owed.iter().map(|(_, amount)| -amount).sum());
    earned
}

/// Takes a sum from earnings, starting with the first, until the sum or the earnings are used up.
pub(super) fn take(earned: &mut [(payroll::Component, i64)], mut sum: i64) {
    for (_, amount) in earned {
        let part = sum.min(*amount);
        *amount -= part;
        sum -= part;
    }
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

//! The taxes of a region, in addition to those of the country: the same pay calculated with the pack of the region.
//!
//! An attribute of the national pack names the region (`[regions]`). Attributes of the region's pack have that name
//! as a prefix, such as `state.allowances`.

use std::collections::BTreeMap;

use crate::model::business::calculation::{Before, Terms, in_cash};
use crate::model::business::earnings::earned;
use crate::model::business::employer_part::Paid;
use crate::model::business::same_period::addition;
use crate::model::business::typed_deductions as typed;
use crate::model::payroll::{self, InForce, Match, Pack, PayError, Role, YearToDate};
use crate::model::prelude::*;

/// The part of a pay that the pack of a region calculates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RegionalPay {
    /// Code of the pack that was applied.
    pub(super) pack: Cow<'static, str>,
    /// Whether the pack was in force on the pay date.
    pub(super) in_force: bool,
    /// In the pack's order of role lines.
    pub(super) amounts: Vec<i64>,
    /// In the pack's order of bases.
    pub(super) bases: Vec<i64>,
    /// Totals of the tax year in this region, including this pay.
    pub(super) ytd: YearToDate,
}

/// Totals of a tax year before a pay, by the code of the region's pack.
pub(crate) type RegionalYear = BTreeMap<Cow<'static, str>, YearToDate>;

impl RegionalPay {
    /// The pay by the pack of the employee's region. `None` if no such pack applies.
    pub(super) fn of(
        national: &Pack,
        terms: &Terms<'_>,
        pay_date: Date,
        before: Before<'_>,
    ) -> Result<Option<Self>, PayError> {
        let Some((pack, fit)) = pack_of(national, terms.attributes, pay_date) else {
            return Ok(None);
        };
        let earlier = before.same_period.iter().filter_map(|pay| pay.regional_part(pack, terms));
        let earlier: Vec<_> = earlier.collect();
        let start = YearToDate::start();
        let year = before.year.and_then(|year| year.regional.get(pack.code.as_str()));
        let attributes = own_values(national, terms.attributes);
        let mut own = terms.own(pack, &attributes, pay_date);
        let gross = in_cash(national, &earned(national, terms.parts, &terms.extras));
        let paid = Paid { pack: national, period: terms.frequency, gross, before: 0 };
        own.earned.extend(typed::wages(pack, &before.employer_parts(paid, &terms.extras)));
        let (pay, ytd) = addition(pack, &own, &earlier, year.unwrap_or(&start))?;
        Ok(Some(Self {
            pack: Cow::Borrowed(&pack.code),
            in_force: fit == Match::InForce,
            amounts: pay.amounts,
            bases: pay.bases,
            ytd,
        }))
    }

    /// A copy with the sign of each amount reversed.
    pub(super) fn negated(&self) -> Self {
        let turned = |amounts: &[i64]| amounts.iter().map(|amount| -amount).collect();
        Self { amounts: turned(&self.amounts), bases: turned(&self.bases), ..self.clone() }
    }

    pub(super) fn pack(&self) -> &'static Pack {
        payroll::library().pack(&self.pack).expect("a calculation names the pack that made it")
    }

    /// The sum of the lines with these roles.
    pub(super) fn sum_of(&self, roles: &[Role]) -> i64 {
        self.pack().sum_of(roles, &self.amounts)
    }

    /// The amount withheld from the employee.
    pub(super) fn withheld(&self) -> i64 {
        self.sum_of(&[Role::EmployeeTax, Role::EmployeeSocial, Role::EmployeeDeduction])
    }
}

/// The pack of the employee's region, and how well it fits the pay date.
fn pack_of(
    national: &Pack,
    attributes: &BTreeMap<String, String>,
    pay_date: Date,
) -> Option<(&'static Pack, Match)> {
    let region = attributes.get(national.regions.as_ref()?)?;
    let found = payroll::library().of_region(&national.country, region, pay_date.civil());
    found.map(|InForce { pack, fit }| (pack, fit))
}

/// The employee's values for the pack of the region, without their prefix.
fn own_values(national: &Pack, attributes: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let Some(prefix) = &national.regions else { return BTreeMap::new() };
    let own = attributes.iter().filter_map(|(name, value)| {
        let own = name.strip_prefix(prefix.as_str())?.strip_prefix('.')?;
        Some((own.to_owned(), value.clone()))
    });
    own.collect()
}

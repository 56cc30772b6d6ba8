//! The tax attributes by which a pay of an employee is calculated, and the annual earnings period that one of them begins.

use std::collections::BTreeMap;

use crate::model::business::Employee;
use crate::model::business::earnings::tax_year;
use crate::model::business::tax_attributes::DatedTaxAttributes;
use crate::model::payroll::Pack;
use crate::model::prelude::*;

impl Employee {
    /// The tax attributes by which the pack calculates a pay: those in force on the pay date. An annual earnings
    /// period lasts to the end of the tax year, so the attributes that started it remain in force.
    pub(crate) fn tax_attributes_for(
        &self,
        pack: &Pack,
        pay_date: Date,
    ) -> Cow<'_, Arc<BTreeMap<String, String>>> {
        let now = self.of_its_year(pack, pay_date);
        let (Some(annual), Some(day)) = (&pack.annual_earnings, self.ended_from(pack, pay_date))
        else {
            return now;
        };
        let then = self.of_its_year(pack, day);
        let mut values = (**now).clone();
        for name in core::iter::once(&annual.attribute).chain(&annual.with) {
            match then.get(name) {
                Some(value) => values.insert(name.clone(), value.clone()),
                None => values.remove(name),
            };
        }
        Cow::Owned(Arc::new(values))
    }

    /// The last day of the tax year on which attributes of an annual earnings period came into force. `None` if those
    /// attributes are in force on the pay date.
    fn ended_from(&self, pack: &Pack, pay_date: Date) -> Option<Date> {
        let year = tax_year(pack, pay_date);
        let all = self.tax_attributes_history.iter().map(|dated| dated.effective_from);
        let within = all.filter(|day| (year..=pay_date).contains(day));
        let is_annual = |day: &Date| has_annual_earnings(pack, self.tax_attributes_on(*day));
        let last = core::iter::once(year).chain(within).rev().find(is_annual);
        last.filter(|_| !is_annual(&pay_date))
    }

    /// The tax attributes in force on a day. Numbers for one tax year are left out if they were set for an earlier
    /// year. Claims that have ended are left out, too.
    fn of_its_year(&self, pack: &Pack, day: Date) -> Cow<'_, Arc<BTreeMap<String, String>>> {
        let all = self.tax_attributes_on(day);
        let year = tax_year(pack, day);
        let ended = self.ended_claims(pack, day);
        let has_ended = |name: &String| {
            ended.contains(&name.as_str())
                || pack.is_of_one_year(name) && tax_year(pack, self.set_on(name, day)) < year
        };
        if !all.keys().any(has_ended) {
            return Cow::Borrowed(all);
        }
        let mut left = (**all).clone();
        left.retain(|name, _| !has_ended(name));
        Cow::Owned(Arc::new(left))
    }

    /// The day from which the attribute has the value that it has on `day`.
    fn set_on(&self, name: &str, day: Date) -> Date {
        let value = self.tax_attributes_on(day).get(name);
        let all = self.tax_attributes_history.iter().rev();
        let before = all.skip_while(|dated| dated.effective_from > day);
        let same = before.take_while(|dated| dated.values.get(name) == value);
        let has_history = !self.tax_attributes_history.is_empty();
        let usual = if has_history { day } else { self.start_date };
        same.last().map_or(usual, |dated| dated.effective_from)
    }

    /// The first day of an annual earnings period that begins within the tax year, on or before the pay date. `None`
    /// without such a period, or if it is the whole tax year.
    pub(crate) fn annual_earnings_from(&self, pack: &Pack, pay_date: Date) -> Option<Date> {
        let year = tax_year(pack, pay_date);
        let all = self.tax_attributes_history.iter();
        let until = |day: Date| all.clone().filter(move |dated| dated.effective_from <= day);
        let is_annual = |dated: &&DatedTaxAttributes| has_annual_earnings(pack, &dated.values);
        if until(year).next_back().as_ref().is_some_and(is_annual) {
            return None;
        }
        let mut days = until(pay_date).filter(is_annual).map(|dated| dated.effective_from);
        days.find(|day| *day > year)
    }
}

/// Whether these attributes start an annual earnings period.
fn has_annual_earnings(pack: &Pack, values: &BTreeMap<String, String>) -> bool {
    let Some(annual) = &pack.annual_earnings else { return false };
    let value = values.get(&annual.attribute);
    value.is_some_and(|value| pack.default_of(&annual.attribute).as_ref() != Some(value))
}

//! Claims of an employee that end by law, such as an exemption from withholding, unless the employee repeats them.

use crate::model::business::employee::Employee;
use crate::model::payroll::Pack;
use crate::model::prelude::*;

impl Employee {
    /// The attributes whose values have expired on that day: ended claims, and the other values of the same form.
    pub(super) fn ended_claims<'a>(&self, pack: &'a Pack, day: Date) -> Vec<&'a str> {
        let mut ended = Vec::new();
        for attribute in &pack.attributes {
            let Some(ends) = &attribute.ends else { continue };
            let value = self.tax_attributes_on(day).get(&attribute.name);
            let form = || ends.with.iter().chain([&attribute.name]).map(String::as_str);
            if value.is_some_and(|value| *value != attribute.values[attribute.default])
                && ends
                    .is_over(self.stated_on(&form().collect::<Vec<_>>(), day).civil(), day.civil())
            {
                ended.extend(form());
            }
        }
        ended
    }

    /// The day of the last form in force on `day`: an entry that repeats or changes one of these values. Entries with
    /// only other values do not count.
    fn stated_on(&self, form: &[&str], day: Date) -> Date {
        let all = &self.tax_attributes_history;
        let begun = all.partition_point(|dated| dated.effective_from <= day);
        let is_form = |place: &usize| {
            let values = &all[*place].values;
            place.checked_sub(1).map(|before| &all[before].values).is_none_or(|before| {
                before == values || form.iter().any(|name| before.get(*name) != values.get(*name))
            })
        };
        let last = (0..begun).rev().find(is_form);
        let from = last.map_or(self.start_date, |place| all[place].effective_from);
        // Attributes without a day apply from the first day of work. For an employee who was hired earlier, they
        // count as stated today.
        if from == self.start_date { from.max(self.created_at.date()) } else { from }
    }
}

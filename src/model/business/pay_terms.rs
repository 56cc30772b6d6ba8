//! Pay terms over time: those in force on a day, what is paid and kept back every month beside them, and what a person brings
//! along from earlier in the tax year.

use std::collections::BTreeMap;

use crate::model::business::{Compensation, Employee};
use crate::model::prelude::*;

/// What is paid every month on top of the gross pay. It is taxable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Allowance {
    /// Its name for programs.
    pub(crate) id: String,
    /// Its name on the payslip.
    pub(crate) label: String,
    /// Minor units a month.
    pub(crate) amount: i64,
}

/// Whether a deduction is taken before taxes are reckoned or from what they leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeductionTiming {
    PreTax,
    PostTax,
}

/// What is kept back every month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Deduction {
    /// Its name for programs.
    pub(crate) id: String,
    /// Its name on the payslip.
    pub(crate) label: String,
    /// Minor units a month.
    pub(crate) amount: i64,
    /// Before taxes or after them.
    pub(crate) timing: DeductionTiming,
}

/// What a person was paid in a tax year before this employer's payroll paid them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BroughtIn {
    /// The first day of the tax year that the totals belong to; in another year they say nothing.
    pub(crate) tax_year_start: Date,
    /// Totals in minor units by the names that a payslip's `ytd` has, without `net`, which follows from the others.
    pub(crate) totals: BTreeMap<String, i64>,
}

impl Employee {
    /// All terms that were ever set and stand, those of days to come included, by their first day.
    pub(crate) fn terms(&self) -> &[Compensation] {
        match self.compensation_history.as_slice() {
            [] => self.compensation.as_slice(),
            all => all,
        }
    }

    /// The terms in force on a day; the first ones on the days before them.
    pub(crate) fn terms_on(&self, day: Date) -> Option<&Compensation> {
        let all = self.terms();
        let begun = all.iter().rev().find(|terms| terms.effective_from <= day);
        begun.or_else(|| all.first())
    }

    /// Sets terms from their first day on, up to the next ones. Those of the same first day are replaced.
    pub(crate) fn set_terms(&mut self, terms: Compensation, today: Date) {
        let mut all = self.terms().to_vec();
        match all.binary_search_by_key(&terms.effective_from, |known| known.effective_from) {
            Ok(place) => all[place] = terms,
            Err(place) => all.insert(place, terms),
        }
        if all.len() == 1 {
            // One entry says no more than `compensation` does, which keeps people without a history small.
            self.compensation = all.pop();
            self.compensation_history = Vec::new();
        } else {
            self.compensation_history = all;
            self.follow_terms(today);
        }
    }

    /// Makes the terms in force today the current ones, and says whether they were others.
    pub(crate) fn follow_terms(&mut self, today: Date) -> bool {
        let current = self.terms_on(today).cloned();
        let changed = current != self.compensation;
        self.compensation = current;
        changed
    }

    /// The first days, after today, of terms that are not the current ones yet.
    pub(crate) fn terms_to_come(&self, today: Date) -> Vec<Date> {
        let current = self.compensation.as_ref().map(|now| now.effective_from);
        let days = self.terms().iter().map(|terms| terms.effective_from);
        days.filter(|day| *day > today && Some(*day) != current).collect()
    }
}

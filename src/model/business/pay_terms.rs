//! Pay terms over time: the terms in force on a day, monthly allowances and deductions, and totals from earlier in the tax year.

use std::collections::BTreeMap;

use crate::model::business::{Compensation, Employee};
use crate::model::prelude::*;

/// A monthly amount in addition to gross pay. It is taxable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Allowance {
    /// Its identifier.
    pub(crate) id: String,
    /// Its name on the payslip.
    pub(crate) label: String,
    /// Minor units a month.
    pub(crate) amount: i64,
}

/// Whether a deduction is taken before or after taxes are calculated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeductionTiming {
    PreTax,
    PostTax,
}

/// Deducted every month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Deduction {
    /// Its identifier.
    pub(crate) id: String,
    /// Its name on the payslip.
    pub(crate) label: String,
    /// Minor units a month.
    pub(crate) amount: i64,
    /// Before or after taxes.
    pub(crate) timing: DeductionTiming,
}

/// What an employee was paid in a tax year before this employer's payroll started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EarlierPayTotals")]
pub(crate) struct BroughtIn {
    /// The first day of the tax year that the totals belong to. They have no effect in another year.
    pub(crate) tax_year_start: Date,
    /// Totals in minor units, by the names used in a payslip's `ytd`. `net` is absent because it follows from the others.
    pub(crate) totals: BTreeMap<String, i64>,
}

impl Employee {
    /// All pay terms that are still valid, including future ones, ordered by their first day.
    pub(crate) fn terms(&self) -> &[Compensation] {
        match self.compensation_history.as_slice() {
            [] => self.compensation.as_slice(),
            all => all,
        }
    }

    /// The terms in force on a day. Before the first day of the first terms, those first terms.
    pub(crate) fn terms_on(&self, day: Date) -> Option<&Compensation> {
        let all = self.terms();
        let begun = all.iter().rev().find(|terms| terms.effective_from <= day);
        begun.or_else(|| all.first())
    }

    /// Sets terms from their first day up to the next terms. Terms with the same first day are replaced.
    pub(crate) fn set_terms(&mut self, terms: Compensation, today: Date) {
        let mut all = self.terms().to_vec();
        match all.binary_search_by_key(&terms.effective_from, |known| known.effective_from) {
            Ok(place) => all[place] = terms,
            Err(place) => all.insert(place, terms),
        }
        if all.len() == 1 {
            // A single entry equals `compensation`, so it is not stored. This keeps employees without a history small.
            self.compensation = all.pop();
            self.compensation_history = Vec::new();
        } else {
            self.compensation_history = all;
            self.follow_terms(today);
        }
    }

    /// Makes the terms in force today the current ones. Returns whether they changed.
    pub(crate) fn follow_terms(&mut self, today: Date) -> bool {
        let current = self.terms_on(today).cloned();
        let changed = current != self.compensation;
        self.compensation = current;
        changed
    }

    /// The first days of future terms.
    pub(crate) fn terms_to_come(&self, today: Date) -> Vec<Date> {
        let current = self.compensation.as_ref().map(|now| now.effective_from);
        let days = self.terms().iter().map(|terms| terms.effective_from);
        days.filter(|day| *day > today && Some(*day) != current).collect()
    }
}

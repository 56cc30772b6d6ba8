//! Employees paid before a world's start, by rank: the source of lists of payslips and payouts.

#![expect(
    clippy::cast_possible_truncation,
    reason = "numbers of months and companies, of which a world has at most 10^9"
)]

use core::ops::Range;

use crate::api::business::payroll::Months;
use crate::api::prelude::*;
use crate::model::business::PayrollRun;

/// One employee's pay in one month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrownPayment {
    pub(crate) month: u64,
    pub(crate) company: u64,
    pub(crate) employee: u64,
}

/// Employees paid in some months by some companies: ordered by month, then company, then creation.
pub(crate) struct GrownPayments<'a> {
    world: &'a World,
    months: Range<u64>,
    companies: Range<u64>,
    /// The only employee, if filtered.
    employee: Option<u64>,
    /// Cumulative number of payments: month by month, and within a month by company.
    before: Vec<u64>,
}

impl<'a> GrownPayments<'a> {
    /// All employees of the companies and the run or employee that the filters select.
    pub(crate) fn new(
        world: &'a World,
        months: Months,
        company: Option<Id<Company>>,
        run: Option<Id<PayrollRun>>,
        employee: Option<Id<Employee>>,
    ) -> Self {
        let base = world.base();
        let mut people = Self {
            world,
            months: months.first..months.end,
            companies: 0..base.shape().companies,
            employee: None,
            before: Vec::new(),
        };
        if let Some(company) = company {
            people.leave_company(base.index_of(company));
        }
        if let Some(run) = run {
            let place = base.index_of(run).map(|index| base.run_place(index));
            people.leave_company(place.map(|(_, company)| company));
            let month = place.map_or(u64::MAX, |(month, _)| month);
            people.months = if people.months.contains(&month) { month..month + 1 } else { 0..0 };
        }
        if let Some(employee) = employee {
            let size = base.shape().employees_per_company;
            let index = base.index_of(employee);
            people.leave_company(index.map(|index| index / size));
            people.employee = index.map(|index| index % size);
        }
        people.before = people.running_counts();
        people
    }

    fn leave_company(&mut self, company: Option<u64>) {
        let company = company.filter(|company| self.companies.contains(company));
        self.companies = company.map_or(0..0, |company| company..company + 1);
    }

    fn running_counts(&self) -> Vec<u64> {
        let (companies, months) = (self.companies.clone(), self.months.clone());
        let width = months.clone().count();
        let mut counts = vec![Vec::new(); width];
        for company in companies {
            let plan = self.world.base().plan(company);
            for (counts, month) in counts.iter_mut().zip(months.clone()) {
                counts.push(match self.employee {
                    Some(employee) => u64::from(plan.is_paid_in(month, employee)),
                    None => plan.paid_in(month).count(),
                });
            }
        }
        let mut before = vec![0];
        for count in counts.into_iter().flatten() {
            before.push(before.last().copied().unwrap_or(0) + count);
        }
        before
    }

    /// The selected months.
    pub(crate) fn months(&self) -> Range<u64> {
        self.months.clone()
    }

    /// The selected companies.
    pub(crate) fn companies(&self) -> Range<u64> {
        self.companies.clone()
    }

    /// Number of payments before a month, or of all if it is after the last one.
    pub(crate) fn count_before(&self, month: u64) -> u64 {
        let passed = month.saturating_sub(self.months.start) as usize;
        let place = passed * self.companies.clone().count();
        self.before.get(place).or(self.before.last()).copied().unwrap_or(0)
    }

    /// Total number of payments.
    pub(crate) fn count(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    pub(crate) fn find(&self, rank: u64) -> Option<GrownPayment> {
        if rank >= self.count() {
            return None;
        }
        let place = self.before.partition_point(|&before| before <= rank) - 1;
        let (rank, width) = (rank - self.before[place], self.companies.clone().count());
        let month = self.months.start + (place / width) as u64;
        let company = self.companies.start + (place % width) as u64;
        let paid = || self.world.base().plan(company).paid_in(month).find(rank);
        Some(GrownPayment { month, company, employee: self.employee.or_else(paid)? })
    }
}

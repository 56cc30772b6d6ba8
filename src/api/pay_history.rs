//! Employees paid before a world's start, by rank: the source of lists of payslips and payouts.

use core::ops::Range;

use crate::api::business::payroll::Months;
use crate::api::prelude::*;
use crate::model::business::PayrollRun;
use crate::model::growth::workforce::Selection;

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
    /// Cumulative number of employees paid per month, by company; the last is a month's total.
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
        let mut before = vec![0];
        let mut sum = 0;
        for company in self.companies.clone() {
            let workforce = self.world.base().plan(company).workforce;
            sum += match self.employee {
                Some(employee) => {
                    u64::from(workforce.chooses(Selection::PAID_IN_HISTORY, employee))
                }
                None => workforce.count(Selection::PAID_IN_HISTORY),
            };
            before.push(sum);
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

    /// Number of employees paid each month.
    pub(crate) fn a_month(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// Total number of payments.
    pub(crate) fn count(&self) -> u64 {
        self.a_month() * (self.months.end - self.months.start)
    }

    pub(crate) fn find(&self, rank: u64) -> Option<GrownPayment> {
        let a_month = self.a_month();
        if rank >= self.count() {
            return None;
        }
        let (month, within) = (self.months.start + rank / a_month, rank % a_month);
        let place = self.before.partition_point(|&before| before <= within) - 1;
        let company = self.companies.start + place as u64;
        let workforce = self.world.base().plan(company).workforce;
        let rank = within - self.before[place];
        let employee =
            self.employee.or_else(|| workforce.find(Selection::PAID_IN_HISTORY, rank))?;
        Some(GrownPayment { month, company, employee })
    }
}

//! Employees paid before a world's start, by rank: the source of lists of payslips and payouts.

use core::ops::Range;

use crate::api::prelude::*;
use crate::model::business::PayrollRun;
use crate::world::pay_calendar::{PayTimes, Payers};

/// The pays of history in the order of one of their times, with a month if filtered. Pays have their numbers in the world.
pub(crate) fn pays(
    world: &World,
    month: Option<Period>,
    time: impl Fn(&PayTimes) -> Timestamp,
) -> Vec<u64> {
    let base = world.base();
    let mut pays = base.pays_by(time);
    pays.retain(|pay| month.is_none_or(|month| base.pay(*pay).span.period() == month));
    pays
}

/// The payment to one employee in a pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrownPayment {
    pub(crate) pay: u64,
    pub(crate) company: u64,
    pub(crate) employee: u64,
}

/// Employees who receive some pays of some companies: ordered by pay, then company, then creation.
pub(crate) struct GrownPayments<'a> {
    world: &'a World,
    companies: Range<u64>,
    /// The only employee, if filtered.
    employee: Option<u64>,
    pays: Vec<PayOfCompanies>,
    count: u64,
}

/// One pay, with the companies that pay so.
struct PayOfCompanies {
    pay: u64,
    payers: Payers,
    /// Cumulative number of payments, by company.
    before: Vec<u64>,
}

impl<'a> GrownPayments<'a> {
    /// All employees of the companies and the run or employee that the filters select.
    pub(crate) fn new(
        world: &'a World,
        mut pays: Vec<u64>,
        company: Option<Id<Company>>,
        run: Option<Id<PayrollRun>>,
        employee: Option<Id<Employee>>,
    ) -> Self {
        let base = world.base();
        let mut people = Self {
            world,
            companies: 0..base.shape().companies,
            employee: None,
            pays: Vec::new(),
            count: 0,
        };
        if let Some(company) = company {
            people.leave_company(base.index_of(company));
        }
        if let Some(run) = run {
            let place = base.index_of(run).map(|index| base.run_place(index));
            people.leave_company(place.map(|(_, company)| company));
            pays.retain(|pay| place.is_some_and(|(of_run, _)| of_run == *pay));
        }
        if let Some(employee) = employee {
            let size = base.shape().employees_per_company;
            let index = base.index_of(employee);
            people.leave_company(index.map(|index| index / size));
            people.employee = index.map(|index| index % size);
        }
        for pay in pays {
            people.add(pay);
        }
        people
    }

    fn leave_company(&mut self, company: Option<u64>) {
        let company = company.filter(|company| self.companies.contains(company));
        self.companies = company.map_or(0..0, |company| company..company + 1);
    }

    fn add(&mut self, pay: u64) {
        let base = self.world.base();
        let frequency = base.pay(pay).span.frequency;
        let payers = base.payers(|it| it == frequency, self.companies.clone());
        let mut before = vec![self.count];
        for company in (0..payers.count).filter_map(|rank| payers.at(rank)) {
            let plan = base.plan(company);
            self.count += match self.employee {
                Some(employee) => u64::from(plan.is_paid_in(pay, employee)),
                None => plan.paid_in(pay).count(),
            };
            before.push(self.count);
        }
        self.pays.push(PayOfCompanies { pay, payers, before });
    }

    /// The selected companies.
    pub(crate) fn companies(&self) -> Range<u64> {
        self.companies.clone()
    }

    /// The selected pays in order, each with the ranks of its payments.
    pub(crate) fn pays(&self) -> impl Iterator<Item = (u64, Range<u64>)> + '_ {
        self.pays.iter().map(|paid| (paid.pay, paid.before[0]..paid.before[paid.before.len() - 1]))
    }

    /// Total number of payments.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn find(&self, rank: u64) -> Option<GrownPayment> {
        let after = |paid: &&PayOfCompanies| paid.before.last().is_some_and(|end| rank < *end);
        let PayOfCompanies { pay, payers, before } = self.pays.iter().find(after)?;
        let place = before.partition_point(|&before| before <= rank) - 1;
        let company = payers.at(place as u64)?;
        let paid = || self.world.base().plan(company).paid_in(*pay).find(rank - before[place]);
        Some(GrownPayment { pay: *pay, company, employee: self.employee.or_else(paid)? })
    }
}

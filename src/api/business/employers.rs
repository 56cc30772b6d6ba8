//! The company's facts for payroll packs: its number of employees in a country, and their pay of one year.

use crate::api::prelude::*;
use crate::model::business::earnings::Employer;
use crate::model::business::{Compensation, EmployeeStatus, EmploymentType};
use crate::model::growth::people;
use crate::model::growth::workforce::Place;

/// A company as an employer, by country. Contractors, and people who have not started, do not count.
#[derive(Debug, Default)]
pub(crate) struct Employers {
    by_country: BTreeMap<String, Employer>,
}

impl Employers {
    /// The company with the pay terms of that day. Employees who have not changed since growth are counted by arithmetic.
    pub(crate) fn at(world: &World, company: Id<Company>, day: Date) -> Self {
        let mut employers = Self::default();
        let base = world.base();
        if let Some(index) = base.index_of(company) {
            let (plan, size) = (base.plan(index), base.shape().employees_per_company);
            let country = plan.country.code;
            let pay =
                |place: Place| 12 * people::monthly_pay(plan.pay(), place.role, place.step)[1];
            plan.workforce.tally(|place, people| {
                if counts(place.status()) {
                    let people = i64::try_from(people).unwrap_or(i64::MAX);
                    employers.add(country, people, pay(place));
                }
            });
            for index in world.changed::<Employee>().filter(|person| person / size == index) {
                let place = plan.workforce.place(index % size);
                if counts(place.status()) {
                    employers.add(country, -1, pay(place));
                }
                employers.add_person(world.at(index).as_deref(), day);
            }
        }
        for id in world.children::<Employee>(company.bits()) {
            employers.add_person(world.find(id).as_deref(), day);
        }
        employers
    }

    /// The employer in that country.
    pub(crate) fn of(&self, country: &str) -> Employer {
        self.by_country.get(country).copied().unwrap_or_default()
    }

    fn add_person(&mut self, employee: Option<&Employee>, day: Date) {
        let is_employed = |employee: &&Employee| {
            employee.employment_type != EmploymentType::Contractor && counts(employee.status)
        };
        let Some(employee) = employee.filter(is_employed) else { return };
        let pay = employee.terms_on(day).map_or(0, |terms| {
            let allowances: i64 = terms.allowances.iter().map(|it| it.amount).sum();
            Compensation::monthly(terms.amount, terms.interval).saturating_add(allowances)
        });
        self.add(&employee.country, 1, pay.saturating_mul(12));
    }

    fn add(&mut self, country: &str, people: i64, pay: i64) {
        let employer = self.by_country.entry(country.to_owned()).or_default();
        employer.headcount += people;
        let added = pay.saturating_mul(people);
        employer.annual_payroll = employer.annual_payroll.saturating_add(added);
    }
}

const fn counts(status: EmployeeStatus) -> bool {
    matches!(status, EmployeeStatus::Active | EmployeeStatus::OnLeave | EmployeeStatus::Suspended)
}

//! Merges unchanged grown employees, whose positions are calculated, with the few changed or created ones.

#![expect(clippy::cast_possible_truncation, reason = "positions in lists that are held in memory")]

use crate::api::business::employee_page::EmployeePage;
use crate::api::prelude::*;
use crate::model::business::{EmployeeStatus, PayrollStatus};
use crate::model::growth::workforce::{ALL_SLOTS, CYCLE, Selection, Slots, Workforce, standings};
use crate::world::{Base, Plan};

/// The filters of the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) company: Option<Id<Company>>,
    pub(crate) status: Option<EmployeeStatus>,
    pub(crate) payroll_status: Option<PayrollStatus>,
    pub(crate) department: Option<String>,
    /// In lower case.
    pub(crate) name: Option<String>,
}

impl Filter {
    pub(crate) fn accepts(&self, employee: &Employee) -> bool {
        self.company.is_none_or(|company| company == employee.company_id)
            && self.status.is_none_or(|status| status == employee.status)
            && self.payroll_status.is_none_or(|status| status == employee.payroll_status)
            && self.department.as_ref().is_none_or(|department| *department == employee.department)
            && self.name.as_ref().is_none_or(|name| employee.name.to_lowercase().contains(name))
    }

    fn standings(&self) -> Slots {
        standings(|status, payroll_status| {
            self.status.is_none_or(|wanted| wanted == status)
                && self.payroll_status.is_none_or(|wanted| wanted == payroll_status)
        })
    }

    /// The part of the filter that needs no scan, for one grown company.
    fn selection(&self, plan: &Plan) -> Selection {
        let standings = self.standings();
        let roles = match &self.department {
            None => ALL_SLOTS,
            Some(wanted) => (0..25)
                .filter(|&slot| plan.industry.roles[slot].department == *wanted)
                .fold(0, |s, i| s | 1 << i),
        };
        Selection { roles, standings }
    }

    fn is_everybody(&self) -> bool {
        self.status.is_none()
            && self.payroll_status.is_none()
            && self.department.is_none()
            && self.name.is_none()
    }
}

/// The created employees that match the filter.
pub(crate) fn created<'a>(
    world: &'a World,
    filter: &'a Filter,
) -> impl Iterator<Item = Arc<Employee>> + 'a {
    let everybody = world.created::<Employee>().filter_map(|id| world.find(id));
    everybody.filter(|employee| filter.accepts(employee))
}

/// Grown companies that the filter covers.
#[derive(Clone, Copy)]
pub(crate) struct Companies {
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Companies {
    pub(crate) fn of(world: &World, filter: &Filter) -> Self {
        match filter.company {
            None => Self { first: 0, end: world.base().shape().companies },
            Some(id) => world
                .base()
                .index_of(id)
                .map_or(Self { first: 0, end: 0 }, |c| Self { first: c, end: c + 1 }),
        }
    }
}

/// Unchanged grown employees, with the changed and created ones that match the filter.
pub(crate) struct Merged<'a> {
    world: &'a World,
    filter: &'a Filter,
    companies: Companies,
    /// Indexes of changed grown employees that matched the filter before the change.
    gone: Vec<u64>,
    /// Changed grown employees that match the filter now.
    come: Vec<(u64, Arc<Employee>)>,
    created: Vec<Arc<Employee>>,
    /// Number of grown employees that match the filter, in the companies before each, and in total.
    before: Before,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(world: &'a World, filter: &'a Filter) -> Self {
        let companies = Companies::of(world, filter);
        let base = world.base();
        let size = base.shape().employees_per_company;
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for index in world.changed::<Employee>() {
            let company = index / size;
            if (companies.first..companies.end).contains(&company) {
                let plan = base.plan(company);
                if plan.workforce.chooses(filter.selection(&plan), index % size) {
                    gone.push(index);
                }
                let now = world.at::<Employee>(index).filter(|employee| filter.accepts(employee));
                come.extend(now.map(|employee| (index, employee)));
            }
        }
        let before = Before::of(base, filter, companies);
        Self {
            world,
            filter,
            companies,
            gone,
            come,
            created: created(world, filter).collect(),
            before,
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.before.company(self.companies.end) - self.gone.len() as u64
            + (self.come.len() + self.created.len()) as u64
    }

    /// Writes a number of rows, starting at that rank.
    pub(crate) fn write(&self, start: u64, count: u64, page: &mut EmployeePage) {
        let since_growth = self.total() - self.created.len() as u64;
        if start < since_growth {
            self.write_grown(start, count, page);
        }
        let skip = start.saturating_sub(since_growth) as usize;
        for employee in self.created.iter().skip(skip) {
            if page.rows == count {
                return;
            }
            page.changed(employee);
        }
    }

    /// Number of matching grown employees in the companies before that one.
    fn before_company(&self, company: u64) -> u64 {
        let first = company * self.world.base().shape().employees_per_company;
        let gone = self.gone.partition_point(|&index| index < first) as u64;
        let come = self.come.partition_point(|(index, _)| *index < first) as u64;
        self.before.company(company) - gone + come
    }

    /// Finds the company in which the page starts by its rank, and continues from there.
    fn write_grown(&self, start: u64, count: u64, page: &mut EmployeePage) {
        let base = self.world.base();
        let size = base.shape().employees_per_company;
        let (mut company, mut end) = (self.companies.first, self.companies.end);
        while end - company > 1 {
            let middle = company + (end - company) / 2;
            if self.before_company(middle) > start {
                end = middle;
            } else {
                company = middle;
            }
        }
        let mut skip = start - self.before_company(company);
        while company < self.companies.end && page.rows < count {
            let plan = base.plan(company);
            let people = People {
                merged: self,
                selection: self.filter.selection(&plan),
                plan: &plan,
                first: company * size,
            };
            people.write(size, skip, count, page);
            skip = 0;
            company += 1;
        }
    }
}

/// The employees of one grown company, after merging.
struct People<'a> {
    merged: &'a Merged<'a>,
    plan: &'a Plan,
    selection: Selection,
    /// World index of the company's first employee.
    first: u64,
}

impl People<'_> {
    /// Number of matching employees before that number.
    fn before(&self, number: u64) -> u64 {
        let (from, to) = (self.first, self.first + number);
        let gone = self.merged.gone.partition_point(|&i| i < to)
            - self.merged.gone.partition_point(|&i| i < from);
        let come = self.merged.come.partition_point(|(i, _)| *i < to)
            - self.merged.come.partition_point(|(i, _)| *i < from);
        self.plan.workforce.count_before(self.selection, number) - gone as u64 + come as u64
    }

    /// Writes from that rank until the page is full or the company ends.
    fn write(&self, size: u64, rank: u64, count: u64, page: &mut EmployeePage) {
        let mut skip = rank;
        let mut number = if self.selection == Selection::ALL
            && self.merged.come.is_empty()
            && self.merged.gone.is_empty()
        {
            skip = 0;
            rank
        } else {
            let start = self.near(size, rank);
            skip -= self.before(start);
            start
        };
        let base = self.merged.world.base();
        while number < size && page.rows < count {
            let index = self.first + number;
            let come = self.merged.come.binary_search_by_key(&index, |(i, _)| *i);
            if come.is_err() && number.is_multiple_of(CYCLE) && self.skips_cycle(number) {
                number += CYCLE;
                continue;
            }
            let stays = self.merged.gone.binary_search(&index).is_err();
            let grown = stays
                && (self.selection == Selection::ALL
                    || self.plan.workforce.chooses(self.selection, number));
            if grown || come.is_ok() {
                if skip > 0 {
                    skip -= 1;
                } else if let Ok(place) = come {
                    page.changed(&self.merged.come[place].1);
                } else {
                    let id: Id<Employee> = base.id_at(index);
                    page.grown(id.bits(), self.plan, number);
                }
            }
            number += 1;
        }
    }

    /// Whether no employee of the cycle that starts with that number matches.
    fn skips_cycle(&self, number: u64) -> bool {
        let from = self.first + number;
        let come = self.merged.come.partition_point(|(i, _)| *i < from);
        let next = self.merged.come.get(come).map_or(u64::MAX, |(i, _)| *i);
        next >= from + CYCLE && Workforce::passes_over(self.selection, number / CYCLE)
    }

    /// An index with at most `rank` matching employees before it, at most one cycle before the exact index.
    fn near(&self, size: u64, rank: u64) -> u64 {
        let (mut low, mut high) = (0, size);
        while high - low > CYCLE {
            let middle = low + (high - low) / 2;
            if self.before(middle) > rank {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }
}

/// Cumulative number of grown employees that match a filter, by company.
enum Before {
    /// No filter: every company has the same number.
    Everybody { first: u64, each: u64 },
    /// Counted, and cached in the base for the next page.
    Counted { first: u64, counts: Arc<Vec<u64>> },
}

impl Before {
    fn of(base: &Base, filter: &Filter, companies: Companies) -> Self {
        let first = companies.first;
        if filter.is_everybody() {
            return Self::Everybody { first, each: base.shape().employees_per_company };
        }
        let count = || {
            let mut sum = 0;
            let mut counts = vec![0];
            for company in companies.first..companies.end {
                let plan = base.plan(company);
                sum += plan.workforce.count(filter.selection(&plan));
                counts.push(sum);
            }
            counts
        };
        let counts = match filter.company {
            Some(_) => Arc::new(count()),
            None => base.counts((filter.standings(), filter.department.clone()), count),
        };
        Self::Counted { first, counts }
    }

    /// Number of matching employees in the companies before that one.
    fn company(&self, company: u64) -> u64 {
        match self {
            Self::Everybody { first, each } => (company - first) * each,
            Self::Counted { first, counts } => counts[(company - first) as usize],
        }
    }
}

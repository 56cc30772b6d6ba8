//! The published list of employees, optimised: a page of a world of ten million is written from prepared text directly to the response.
//!
//! Unchanged grown employees are found by arithmetic (`Workforce`). The few changed or created ones are merged in. Only a search by name
//! and a sort scan all employees.

#![expect(clippy::cast_possible_truncation, reason = "positions in lists that are held in memory")]

use std::io::Write as _;
use std::sync::LazyLock;

use crate::api::prelude::*;
use crate::model::business::{EmployeeStatus, PayrollStatus};
use crate::model::growth::industries::{self, Industry};
use crate::model::growth::workforce::{
    ALL_SLOTS, CYCLE, Place, Selection, Slots, Workforce, standings,
};
use crate::value::id::encode;
use crate::world::grow::person;
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
    fn accepts(&self, employee: &Employee) -> bool {
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

    /// The part of the filter that arithmetic can answer, for one grown company.
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

/// Position of the lead's text, after those of the 25 role slots.
const LEAD: usize = CYCLE as usize;

/// Text from the end of the name to the status, by industry and role slot.
static ROLES: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
    let middle = |title: &str, department: &str| {
        format!("\",\"role\":\"{title}\",\"department\":\"{department}\",\"status\":\"")
    };
    let industry = |industry: &Industry| {
        let lead = middle(industry.lead, industry.roles[0].department);
        let roles = industry.roles.iter().map(|role| middle(role.title, role.department));
        roles.chain([lead]).collect()
    };
    industries::all().iter().map(industry).collect()
});

/// Text from the status to the end of the row, by standing.
static STANDINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let tail = |place: Place| {
        let (status, payroll_status) = (place.status().name(), place.payroll_status().name());
        format!("{status}\",\"payroll_status\":\"{payroll_status}\"}}")
    };
    Place::standings().map(tail).collect()
});

/// A page, as the bytes of its response.
pub(crate) struct EmployeePage {
    body: Vec<u8>,
    rows: u64,
}

impl EmployeePage {
    fn new() -> Self {
        let mut body = Vec::with_capacity(6 * 1_024);
        body.extend_from_slice(b"{\"data\":[");
        Self { body, rows: 0 }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.body
    }

    fn push(&mut self, text: &str) {
        self.body.extend_from_slice(text.as_bytes());
    }

    fn begin_row(&mut self, id: u64) {
        self.push(if self.rows == 0 { "{\"id\":\"" } else { ",{\"id\":\"" });
        self.push(Employee::PREFIX);
        self.body.push(b'_');
        self.body.extend_from_slice(&encode(id));
        self.rows += 1;
    }

    /// Writes a grown employee from prepared text. Names, titles and departments of the tables need no escaping; a test checks it.
    fn grown(&mut self, id: u64, plan: &Plan, number: u64) {
        let (place, person) = (plan.workforce.place(number), person(plan, number));
        let is_lead = place.role == 0 && number > 0;
        let role = if is_lead { LEAD } else { usize::from(place.role) };
        self.begin_row(id);
        self.push("\",\"name\":\"");
        self.push(person.first);
        self.body.push(b' ');
        self.push(person.last);
        self.push(&ROLES[plan.industry_place][role]);
        self.push(&STANDINGS[usize::from(place.standing)]);
    }

    fn changed(&mut self, employee: &Employee) {
        self.begin_row(employee.id.bits());
        for (label, text) in [
            ("\",\"name\":", &employee.name),
            (",\"role\":", &employee.role),
            (",\"department\":", &employee.department),
        ] {
            self.push(label);
            serde_json::to_writer(&mut self.body, text).expect("text serialises");
        }
        for part in [
            ",\"status\":\"",
            employee.status.name(),
            "\",\"payroll_status\":\"",
            employee.payroll_status.name(),
            "\"}",
        ] {
            self.push(part);
        }
    }

    fn end(mut self, paging: Paging, total: u64) -> Self {
        let page = paging.page();
        write!(self.body, "],\"meta\":{{\"total\":{total},\"page\":{page}}}}}")
            .expect("a vector takes every byte");
        self
    }
}

/// The page of the employees that match the filter.
pub(crate) fn list(
    world: &World,
    filter: &Filter,
    paging: Paging,
    sort: Option<&Sort<Employee>>,
) -> Result<EmployeePage, ApiError> {
    if sort.is_some_and(|sort| !sort.is_own_order()) || filter.name.is_some() {
        return scan(world, filter, paging, sort);
    }
    let merged = Merged::new(world, filter);
    let total = merged.total();
    let range = paging.range(total);
    let mut page = EmployeePage::new();
    if !range.is_empty() {
        merged.write(range.start, range.end - range.start, &mut page);
    }
    Ok(page.end(paging, total))
}

/// Scans all employees, for a search by name or a sort.
fn scan(
    world: &World,
    filter: &Filter,
    paging: Paging,
    sort: Option<&Sort<Employee>>,
) -> Result<EmployeePage, ApiError> {
    let mut everybody: Vec<Arc<Employee>> = Vec::new();
    let size = world.base().shape().employees_per_company;
    let companies = Companies::of(world, filter);
    may_scan((companies.end - companies.first) * size)?;
    for company in companies.first..companies.end {
        for index in company * size..(company + 1) * size {
            everybody
                .extend(world.at::<Employee>(index).filter(|employee| filter.accepts(employee)));
        }
    }
    everybody.extend(created(world, filter));
    if let Some(sort) = sort {
        sort.apply(&mut everybody);
    }
    let total = everybody.len() as u64;
    let range = paging.range(total);
    let mut page = EmployeePage::new();
    for employee in &everybody[range.start as usize..range.end as usize] {
        page.changed(employee);
    }
    Ok(page.end(paging, total))
}

fn created<'a>(world: &'a World, filter: &'a Filter) -> impl Iterator<Item = Arc<Employee>> + 'a {
    let everybody = world.created::<Employee>().filter_map(|id| world.find(id));
    everybody.filter(|employee| filter.accepts(employee))
}

/// Grown companies that the filter covers.
#[derive(Clone, Copy)]
struct Companies {
    first: u64,
    end: u64,
}

impl Companies {
    fn of(world: &World, filter: &Filter) -> Self {
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
struct Merged<'a> {
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
    fn new(world: &'a World, filter: &'a Filter) -> Self {
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

    fn total(&self) -> u64 {
        self.before.company(self.companies.end) - self.gone.len() as u64
            + (self.come.len() + self.created.len()) as u64
    }

    /// Writes a number of rows, starting at that rank.
    fn write(&self, start: u64, count: u64, page: &mut EmployeePage) {
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

    /// A number with at most `rank` matching employees before it, at most one cycle away from the exact one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::growth::countries;
    use crate::world::{ClockMode, Shape};

    #[test]
    fn prepared_text_says_what_the_grown_record_says() {
        let shape = Shape { companies: 12, employees_per_company: 60, ..Shape::default() };
        let world = World::new(Base::new(42, shape).into(), ClockMode::Instant);
        for index in 0..12 * 60 {
            let employee = world.at::<Employee>(index).expect("it is grown");
            let (mut fast, mut slow) = (EmployeePage::new(), EmployeePage::new());
            fast.grown(employee.id.bits(), &world.base().plan(index / 60), index % 60);
            slow.changed(&employee);
            assert_eq!(fast.body, slow.body);
        }
    }

    #[test]
    fn text_of_the_tables_needs_no_escaping() {
        let plain = |text: &str| {
            assert_eq!(serde_json::to_string(text).expect("text"), format!("\"{text}\""));
        };
        for industry in industries::all() {
            plain(industry.lead);
            for role in &industry.roles {
                plain(role.title);
                plain(role.department);
            }
        }
        for country in countries::codes().filter_map(countries::find) {
            for group in country.names.groups() {
                group.first.iter().chain(&group.last).for_each(|name| plain(name));
            }
        }
    }
}

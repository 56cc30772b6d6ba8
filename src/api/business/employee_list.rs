//! The published list of employees, optimised: a page is written from prepared text directly to the response, even in
//! a world of ten million employees.
//!
//! `Workforce` calculates the positions of unchanged grown employees. The few changed or created ones are merged in.
//! Only a search by name and a sort scan all employees.

#![expect(clippy::cast_possible_truncation, reason = "positions in lists that are held in memory")]

use crate::api::business::employee_merge::{Companies, Filter, Merged, created};
use crate::api::business::employee_page::EmployeePage;
use crate::api::prelude::*;
use crate::api::sort::Sorting;
use crate::value::long_work;

/// The page of the employees that match the filter.
pub(crate) fn list(
    world: &World,
    filter: &Filter,
    paging: Paging,
    sort: Option<&Sort<Employee>>,
) -> Result<EmployeePage> {
    if sort.is_some_and(|sort| !sort.is_own_order()) || filter.name.is_some() {
        let companies = Companies::of(world, filter);
        let size = world.base().shape().employees_per_company;
        let rows = (companies.end - companies.first) * size;
        may_scan(rows, if filter.name.is_some() { "/q" } else { "/sort" })?;
        return Ok(long_work::over(rows, || scan(world, filter, paging, sort)));
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
) -> EmployeePage {
    let mut sorting = Sorting::new(sort.copied());
    let size = world.base().shape().employees_per_company;
    let companies = Companies::of(world, filter);
    for company in companies.first..companies.end {
        for index in company * size..(company + 1) * size {
            if let Some(employee) = world.at(index).filter(|employee| filter.accepts(employee)) {
                sorting.add(&employee, employee.id);
            }
        }
    }
    for employee in created(world, filter) {
        sorting.add(&employee, employee.id);
    }
    let ids = sorting.sorted();
    let total = ids.len() as u64;
    let range = paging.range(total);
    let mut page = EmployeePage::new();
    for id in &ids[range.start as usize..range.end as usize] {
        if let Some(employee) = world.find(*id) {
            page.changed(&employee);
        }
    }
    page.end(paging, total)
}

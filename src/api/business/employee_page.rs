//! A page of the published list of employees as bytes. A grown employee is written from prepared text.

use std::io::Write as _;
use std::sync::LazyLock;

use crate::api::prelude::*;
use crate::model::growth::workforce::Place;
use crate::value::id::encode;
use crate::world::Plan;
use crate::world::grow::{person, title};

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
    /// Number of rows that are written.
    pub(crate) rows: u64,
}

impl EmployeePage {
    pub(crate) fn new() -> Self {
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
    pub(crate) fn grown(&mut self, id: u64, plan: &Plan, number: u64) {
        let (place, person) = (plan.workforce.place(number), person(plan, number));
        self.begin_row(id);
        self.push("\",\"name\":\"");
        self.push(person.person.first);
        if let Some(initial) = person.middle() {
            self.body.extend_from_slice(&[b' ', initial, b'.']);
        }
        self.body.push(b' ');
        self.push(person.person.last);
        self.push("\",\"role\":\"");
        self.push(title(plan, number, place));
        self.push("\",\"department\":\"");
        self.push(plan.industry.roles[usize::from(place.role)].department);
        self.push("\",\"status\":\"");
        self.push(&STANDINGS[usize::from(place.standing)]);
    }

    pub(crate) fn changed(&mut self, employee: &Employee) {
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

    pub(crate) fn end(mut self, paging: Paging, total: u64) -> Self {
        let page = paging.page();
        write!(self.body, "],\"meta\":{{\"total\":{total},\"page\":{page}}}}}")
            .expect("a vector takes every byte");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::growth::{countries, industries};
    use crate::world::{Base, ClockMode, Shape};

    #[test]
    fn prepared_text_equals_the_serialised_record() {
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
            country.titles.names().iter().for_each(|(_, title)| plain(title));
            for group in country.names.groups() {
                group.first.iter().chain(&group.last).for_each(|name| plain(name));
            }
        }
    }
}

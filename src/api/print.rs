//! The format of a country's documents: its dates, and the names of its numbers. The data is in
//! `fixtures/growth/countries.toml`.

use std::sync::LazyLock;

use crate::api::prelude::*;
use crate::model::growth::countries::{self, Dates, Print};

/// The format of the documents of a country.
pub(crate) fn print_of(country: &str) -> &'static Print {
    static USUAL: LazyLock<Print> = LazyLock::new(Print::default);
    countries::find(country).map_or(&USUAL, |country| &country.print)
}

/// The name, the address and the numbers of a company.
pub(crate) fn sender(company: &Company) -> Vec<String> {
    let print = print_of(&company.country);
    let mut lines = vec![company.legal_name.to_string()];
    if let Some(address) = &company.address {
        let place = [Some(&address.city), address.region.as_ref()];
        let place: Vec<&str> = place.into_iter().flatten().map(String::as_str).collect();
        lines.push(address.line1.clone());
        let code = address.postal_code.as_deref().unwrap_or_default();
        let place = format!("{} {code}", place.join(", "));
        lines.push(format!("{}, {}", place.trim_end(), address.country));
    }
    let numbers =
        [(print.register, &company.registration_number), (print.company, &company.tax_id)];
    let numbers: Vec<String> = numbers
        .into_iter()
        .filter_map(|(name, number)| Some(format!("{name} {}", number.as_ref()?)))
        .collect();
    if !numbers.is_empty() {
        lines.push(numbers.join(" · "));
    }
    lines
}

/// A day: `25 January 2026`, `January 25, 2026` or `2026-01-25`.
pub(crate) fn long(day: Date, print: &Print) -> String {
    let (civil, month) = (day.civil(), month_name(day));
    match print.dates {
        Dates::DayFirst => format!("{} {month} {}", civil.day(), civil.year()),
        Dates::MonthFirst => format!("{month} {}, {}", civil.day(), civil.year()),
        Dates::Iso => day.to_string(),
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(crate) fn month_name(date: Date) -> &'static str {
    let number = usize::from(date.civil().month().unsigned_abs());
    MONTHS[(number - 1) % MONTHS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_numbers_are_written_as_in_the_country() {
        let day = Date::new(2026, 1, 25).expect("a day");
        let shown = |country| long(day, print_of(country));
        assert_eq!(shown("GB"), "25 January 2026");
        assert_eq!(shown("US"), "January 25, 2026");
        assert_eq!(shown("JP"), "2026-01-25");
        assert_eq!(shown("XX"), "25 January 2026");
        assert_eq!((print_of("US").person, print_of("GB").person), ("SSN", "NI number"));
    }
}

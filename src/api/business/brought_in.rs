//! Totals from earlier in the tax year, which cumulative taxes and yearly caps need.

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::api::check::suggestion;
use crate::api::prelude::*;
use crate::model::business::BroughtIn;
use crate::model::business::earnings::tax_year;
use crate::model::payroll::{self, Pack, YearToDate};

/// What the employee was paid earlier in this tax year, outside this payroll.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct YearToDateInput {
    /// The first day of the tax year of the totals. Default: the tax year of the first day of work, or of today if that is in the past.
    tax_year_start: Option<Date>,
    /// Totals by the names of a payslip's `ytd`. Missing ones are zero, and `net` is ignored. An empty object removes the totals.
    totals: Totals,
}

/// Minor units by name.
#[derive(Deserialize)]
#[serde(transparent)]
struct Totals(BTreeMap<String, i64>);

impl JsonSchema for Totals {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Totals".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "maxProperties": 100,
            "propertyNames": { "minLength": 1, "maxLength": 64 },
            "additionalProperties": {
                "type": "integer", "format": "int64", "minimum": -Amount::MAX, "maximum": Amount::MAX,
            },
        })
    }
}

/// The total that payslips show but no pack reads, because it follows from the others.
const NET: &str = "net";

/// The totals, validated against the names of the payroll pack of their tax year: the tax year of `day`, unless the
/// caller names another.
pub(crate) fn brought_in(
    country: &str,
    day: Date,
    input: YearToDateInput,
) -> Result<Option<BroughtIn>> {
    let day = input.tax_year_start.unwrap_or(day);
    let pack = payroll::library().in_force(country, day.civil()).pack;
    let start = tax_year(pack, day);
    let mut wrong = unknown_names(pack, &input.totals.0);
    if input.tax_year_start.is_some_and(|said| said != start) {
        let detail = format!("the tax year of {country} that contains this day starts on {start}");
        let at = "/year_to_date/tax_year_start";
        wrong.insert(0, Violation::new(at, "not_a_tax_year", detail));
    }
    ApiError::if_any(wrong)?;
    let mut totals = input.totals.0;
    totals.remove(NET);
    Ok((!totals.is_empty()).then_some(BroughtIn { tax_year_start: start, totals }))
}

fn unknown_names(pack: &Pack, totals: &BTreeMap<String, i64>) -> Vec<Violation> {
    let known = || {
        let lines = pack.lines().iter().map(|line| line.id.as_str());
        pack.base_names().chain(lines).chain(["taxable", NET])
    };
    let is_known = |name: &str| {
        let alone = BTreeMap::from([(name.to_owned(), 0)]);
        name == NET || YearToDate::from_names(pack, &alone).is_ok()
    };
    let unknown = totals.keys().filter(|name| !is_known(name));
    unknown
        .map(|name| {
            let mut names: Vec<&str> = known().collect();
            names.sort_unstable();
            names.dedup();
            let near = suggestion(name, known());
            let detail = format!(
                "the payslips of {} have no total with this name{near}; expected one of {}",
                pack.code,
                names.join(", ")
            );
            let name = name.replace('~', "~0").replace('/', "~1");
            let pointer = format!("/year_to_date/totals/{name}");
            Violation::new(pointer, "unknown_total", detail)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect("a day")
    }

    fn input(tax_year_start: Option<&str>, totals: &[(&str, i64)]) -> YearToDateInput {
        YearToDateInput {
            tax_year_start: tax_year_start.map(day),
            totals: Totals(
                totals.iter().map(|(name, total)| ((*name).to_owned(), *total)).collect(),
            ),
        }
    }

    #[test]
    fn totals_belong_to_the_tax_year_of_their_day() {
        let year = |day: Date, said| {
            let kept = brought_in("GB", day, input(said, &[("gross", 100), ("net", 80)]));
            let kept = kept.expect("the names are known").expect("not empty");
            assert_eq!(kept.totals, BTreeMap::from([("gross".to_owned(), 100)]));
            kept.tax_year_start
        };
        assert_eq!(year(day("2026-04-05"), None), day("2025-04-06"));
        assert_eq!(year(day("2026-04-06"), None), day("2026-04-06"));
        assert_eq!(year(day("2026-04-06"), Some("2025-04-06")), day("2025-04-06"));
    }

    #[test]
    fn every_mistake_is_reported_with_its_pointer() {
        let wrong = input(Some("2026-01-01"), &[("gros", 1), ("a/b", 2), ("gross", 3)]);
        let refused = brought_in("GB", day("2026-01-01"), wrong).expect_err("three mistakes");
        let pointers: Vec<&str> = refused.errors.iter().map(|one| &*one.pointer).collect();
        let expected = [
            "/year_to_date/tax_year_start",
            "/year_to_date/totals/a~1b",
            "/year_to_date/totals/gros",
        ];
        assert_eq!(pointers, expected);
        assert!(refused.errors[2].detail.contains("gross"), "{}", refused.errors[2].detail);
    }

    #[test]
    fn empty_totals_are_no_opening_totals() {
        let nothing = brought_in("GB", day("2026-01-01"), input(None, &[("net", 1)]));
        assert_eq!(nothing.expect("it is in order"), None);
    }
}

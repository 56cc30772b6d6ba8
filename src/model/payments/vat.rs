//! Tax on sales: the standard rate and the return of each country (`fixtures/vat.toml`), and the tax calculation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::business::Company;
use crate::model::calendar::Calendar;
use crate::model::fx::half_even;
use crate::model::payroll::Roll;
use crate::value::{Date, Period};

/// Basis points in 100 %.
pub(crate) const WHOLE: u32 = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    other_countries: Return,
    reduced: Vec<Reduced>,
    regional: Vec<Regional>,
    rate: Vec<Rate>,
}

/// Goods and services that are taxed at another rate than the standard rate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reduced {
    sold: String,
    /// ISO 3166-1 alpha-2; every country if there are none.
    #[serde(default)]
    countries: Vec<String>,
    /// The countries in which the sale is exempt, not taxed at 0 %.
    #[serde(default)]
    exempt: Vec<String>,
    /// The last day on which it was exempt, by country.
    #[serde(default)]
    exempt_until: BTreeMap<String, Date>,
    basis_points: u32,
    /// The source of the rate.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
}

/// The standard rate of companies in a region, declared with the return of the country.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Regional {
    country: String,
    region: String,
    /// The local name of the tax.
    name: String,
    basis_points: u32,
    /// The source of the rate.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
}

/// The country and the region in which a company sells and buys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// ISO 3166-1 alpha-2.
    pub(crate) country: &'a str,
    pub(crate) region: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// The place of a company, by its address.
    pub(crate) fn of(company: &'a Company) -> Self {
        let address = company.address.as_ref();
        Self {
            country: &company.country,
            region: address.and_then(|address| address.region.as_deref()),
        }
    }

    fn own(self) -> Option<&'static Regional> {
        let mut rows = FILE.regional.iter();
        rows.find(|row| row.country == self.country && Some(row.region.as_str()) == self.region)
    }

    /// The standard rate in basis points; 0 if the table has none.
    pub(crate) fn standard(self) -> u32 {
        self.own().map_or_else(|| standard(self.country), |row| row.basis_points)
    }

    /// The local name of the tax.
    pub(crate) fn tax_name(self) -> Option<&'static str> {
        let own = self.own().map(|row| row.name.as_str());
        own.or_else(|| of(self.country).map(|rate| rate.name.as_str()))
    }

    /// The name of the account for the payable tax: "VAT payable to HM Revenue & Customs".
    pub(crate) fn payable(self) -> Cow<'static, str> {
        let rate = of(self.country).filter(|rate| rate.basis_points > 0);
        let Some((rate, name)) = rate.zip(self.tax_name()) else {
            return "Tax on sales payable".into();
        };
        match &rate.collected_by {
            Some(by) => format!("{name} payable to {by}").into(),
            None => format!("{name} payable").into(),
        }
    }

    /// The rate for a kind of goods or services, such as `food`, in basis points. Default: the standard rate.
    pub(crate) fn rate_of(self, sold: &str) -> u32 {
        let standard = self.standard();
        self.reduced(sold).map_or(standard, |row| row.basis_points.min(standard))
    }

    /// Whether a sale on a day is exempt, so that the tax on purchases for it is not deducted.
    pub(crate) fn is_exempt(self, sold: &str, on: Date) -> bool {
        self.reduced(sold).is_some_and(|row| {
            let until = row.exempt_until.get(self.country);
            until.is_some_and(|until| on <= *until)
                || row.exempt.iter().any(|it| it == self.country)
        })
    }

    fn reduced(self, sold: &str) -> Option<&'static Reduced> {
        let applies = |row: &&Reduced| {
            row.sold == sold
                && (row.countries.is_empty() || row.countries.iter().any(|it| it == self.country))
        };
        FILE.reduced.iter().find(applies)
    }
}

/// A country's standard rate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rate {
    /// ISO 3166-1 alpha-2.
    country: String,
    /// The local name of the tax.
    pub(crate) name: String,
    /// The authority, if the table names it.
    pub(crate) collected_by: Option<String>,
    pub(crate) basis_points: u32,
    /// The source of the rate.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
    /// The return of the country. Other countries have the one of `other_countries`.
    #[serde(rename = "return")]
    filed: Option<Return>,
    /// The last day until which only the tax on goods for resale and production is deducted, if there is one.
    goods_only: Option<GoodsOnly>,
    /// When a seller takes back the tax of a bad debt. Absent if the table states no rule: then the tax is lost.
    bad_debt: Option<BadDebt>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoodsOnly {
    until: Date,
    /// The law.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
}

/// Whether a company in that country deducts only the tax on goods for resale and production, for purchases on that
/// day.
pub(crate) fn goods_only(country: &str, on: Date) -> bool {
    let rule = of(country).and_then(|rate| rate.goods_only.as_ref());
    rule.is_some_and(|rule| on <= rule.until)
}

/// The relief from the tax on a sale that the customer never pays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BadDebt {
    /// The number of months that must have passed since the due date, or since the supply if that is later.
    months_after_due: i32,
    /// The law.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
}

/// The first day on which a seller in that country takes back the tax of a written-off debt. `since` is the later of the days on which it was due and on which the
/// invoice was sent, the date of supply.
pub(crate) fn relief_from(country: &str, since: Date) -> Option<Date> {
    let rule = of(country)?.bad_debt.as_ref()?;
    Some(since.period().plus_months(rule.months_after_due).day(since.civil().day()))
}

/// How often a return declares the tax of sales, and when it is due.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Return {
    /// The name of the form.
    pub(crate) form: Option<String>,
    /// The number of months that it covers: a divisor of 12.
    months: i32,
    /// The first month of a year in which a return period ends.
    first_end: i32,
    due: ReturnDue,
    #[serde(default)]
    excess: Excess,
    /// The source of the period and the day.
    #[cfg_attr(not(test), expect(dead_code, reason = "only a test reads it"))]
    source: String,
}

/// The treatment of tax on purchases in excess of the tax on sales.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Excess {
    /// The authority pays it to the company.
    #[default]
    Repaid,
    /// The next return uses it.
    Carried,
}

/// The last day to file and pay.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReturnDue {
    /// Months after the end of the period.
    months_after: i32,
    /// The day of that month; its last day if absent.
    day: Option<i8>,
    /// The direction in which a due date on a non-business day moves. Absent: it does not move.
    moved: Option<Roll>,
    /// The calendar whose business days count, if not that of the country.
    calendar: Option<String>,
}

impl Return {
    /// The return of the country.
    pub(crate) fn of(country: &str) -> &'static Self {
        let own = of(country).and_then(|rate| rate.filed.as_ref());
        own.unwrap_or(&FILE.other_countries)
    }

    /// Whether tax on purchases in excess of the tax on sales is a credit for the next return.
    pub(crate) fn carries_excess(&self) -> bool {
        self.excess == Excess::Carried
    }

    /// The last month of the return period of a month.
    pub(crate) fn period_of(&self, month: Period) -> Period {
        let number = i32::from(month.day(1).civil().month());
        month.plus_months((self.first_end - number).rem_euclid(self.months))
    }

    /// The last day to file and pay for the period that ends with this month.
    pub(crate) fn due_on(&self, country: &str, period: Period) -> Date {
        let month = period.plus_months(self.due.months_after);
        let day = self.due.day.map_or(month.last_day(), |day| month.day(day));
        let calendar = self.due.calendar.as_deref().unwrap_or(country);
        Calendar::of(calendar).rolled(day, self.due.moved)
    }
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    let file: Result<File, _> = toml::from_str(include_str!("../../../fixtures/vat.toml"));
    file.expect("the embedded rates are whole: a test reads them")
});

/// The standard rate of a country, if the table contains it.
pub(crate) fn of(country: &str) -> Option<&'static Rate> {
    FILE.rate.iter().find(|rate| rate.country == country)
}

/// The standard rate in basis points; 0 if the table has none.
pub(crate) fn standard(country: &str) -> u32 {
    of(country).map_or(0, |rate| rate.basis_points)
}

/// The tax on an amount; halves are rounded to even.
///
/// # Panics
///
/// If the rate is above 100 % and the amount is near the limit of 64 bits, which no caller can send.
pub(crate) fn on(net: i64, basis_points: u32) -> i64 {
    let tax = half_even(i128::from(net) * i128::from(basis_points), i128::from(WHOLE));
    i64::try_from(tax).expect("a rate is at most the whole")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::growth::countries;

    #[test]
    fn every_country_has_one_rate_with_a_source_and_none_is_of_elsewhere() {
        let mut named: Vec<&str> = FILE.rate.iter().map(|rate| rate.country.as_str()).collect();
        let mut known: Vec<&str> = countries::codes().collect();
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(named, known);
        for rate in &FILE.rate {
            assert!(rate.basis_points < WHOLE, "{}", rate.country);
            assert!(rate.source.len() > 10 && !rate.name.is_empty(), "{}", rate.country);
        }
    }

    /// Sources: `fixtures/vat.toml`.
    #[test]
    fn returns_cover_the_periods_of_the_law_and_are_due_on_its_days() {
        let rows = [
            ("GB", "2026-01", "2026-03", "2026-05-07"),
            ("GB", "2026-06", "2026-06", "2026-08-07"),
            ("GB", "2025-12", "2025-12", "2026-02-06"), // the 7th is a Saturday
            ("NG", "2026-01", "2026-01", "2026-02-21"), // a Saturday is no holiday: Interpretation Act s. 15(4)
            ("NG", "2026-05", "2026-05", "2026-06-22"), // the 21st is a Sunday
            ("KE", "2026-05", "2026-05", "2026-06-20"), // a Saturday; the day does not move
            ("ZA", "2026-02", "2026-03", "2026-04-30"),
            ("ZA", "2026-04", "2026-05", "2026-06-30"),
            ("ZA", "2025-12", "2026-01", "2026-02-27"), // the 28th is a Saturday
            ("CA", "2026-02", "2026-03", "2026-04-30"),
            ("CA", "2027-06", "2027-06", "2027-08-03"), // a Saturday; on the Monday, the Civic Holiday, the CRA is closed
            ("FR", "2026-02", "2026-03", "2026-04-30"),
        ];
        for (country, month, period, due) in rows {
            let filed = Return::of(country);
            let found = filed.period_of(month.parse().expect("a month"));
            assert_eq!(found.to_string(), period, "{country} {month}");
            assert_eq!(filed.due_on(country, found).to_string(), due, "{country} {month}");
            assert!(filed.source.len() > 10 && 12 % filed.months == 0, "{country}");
        }
    }

    /// Sources: Value Added Tax Act 1994, section 36 (GB); Value-Added Tax Act 89 of 1991, section 22 (ZA); Excise Tax Act, section 231 (CA).
    #[test]
    fn the_tax_of_a_bad_debt_is_taken_back_after_the_months_of_the_law() {
        let relief = |country: &str, due: &str| {
            let day = relief_from(country, due.parse().expect("a day"));
            day.map(|day| day.to_string())
        };
        assert_eq!(relief("GB", "2026-08-31").as_deref(), Some("2027-02-28"));
        assert_eq!(relief("ZA", "2026-01-31").as_deref(), Some("2026-01-31"));
        assert_eq!(relief("CA", "2026-01-31").as_deref(), Some("2026-01-31"));
        assert_eq!((relief("NG", "2026-01-31"), relief("US", "2026-01-31")), (None, None));
        let rules = FILE.rate.iter().filter_map(|rate| rate.bad_debt.as_ref());
        assert!(rules.into_iter().all(|rule| rule.source.len() > 10));
        let rules = FILE.rate.iter().filter_map(|rate| rate.goods_only.as_ref());
        assert!(rules.into_iter().all(|rule| rule.source.len() > 10));
    }

    /// Sources: `fixtures/vat.toml`.
    #[test]
    fn food_health_education_and_exports_have_rates_of_their_own() {
        let rows = [
            ("GB", ["food", "health", "education", "export"], [0, 0, 2_000, 0]),
            ("NG", ["food", "health", "education", "export"], [0, 0, 0, 0]),
            ("ZA", ["food", "health", "education", "export"], [0, 1_500, 0, 0]),
            ("DE", ["food", "health", "education", "export"], [700, 0, 0, 0]),
            ("US", ["food", "health", "education", "export"], [0, 0, 0, 0]),
        ];
        for (country, sold, rates) in rows {
            let place = Place { country, region: None };
            assert_eq!(sold.map(|sold| place.rate_of(sold)), rates, "{country}");
            assert_eq!(place.rate_of(""), standard(country));
        }
        for row in &FILE.reduced {
            assert!(row.source.len() > 10, "{}", row.sold);
            for country in &row.countries {
                assert!(standard(country) > row.basis_points, "{} in {country}", row.sold);
            }
            for country in row.exempt.iter().chain(row.exempt_until.keys()) {
                assert!(row.countries.contains(country) && row.basis_points == 0, "{country}");
            }
        }
    }

    /// Excise Tax Act (CA), subsection 165(2): the harmonised tax of Ontario is 13 %.
    #[test]
    fn companies_of_ontario_have_the_harmonised_rate() {
        let place = |region| Place { country: "CA", region };
        let rates = [Some("ON"), Some("AB"), None].map(|region| place(region).standard());
        assert_eq!(rates, [1_300, 500, 500]);
        assert_eq!(place(Some("ON")).rate_of("food"), 0);
        assert_eq!(place(Some("ON")).tax_name(), Some("HST"));
        assert_eq!(place(None).tax_name(), Some("GST"));
        for row in &FILE.regional {
            assert!(row.source.len() > 10 && of(&row.country).is_some(), "{}", row.region);
        }
    }

    #[test]
    fn tax_is_rounded_with_halves_to_the_even_unit() {
        assert_eq!(on(100_000, 750), 7_500);
        assert_eq!((on(20, 750), on(100, 750), on(60, 750)), (2, 8, 4)); // 1.5, 7.5, 4.5
        assert_eq!(on(1_000_000_000_000_000, 2_500), 250_000_000_000_000);
        assert_eq!((standard("NG"), standard("US"), standard("ZZ")), (750, 0, 0));
    }
}

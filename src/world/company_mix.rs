//! The countries, industries and pay calendars of a world's companies.

use crate::model::growth::countries::{self, Country};
use crate::model::growth::industries;
use crate::value::money::Currency;
use crate::value::stream::Key;
use crate::value::time::Date;
use crate::world::pay_calendar::PayCalendar;

/// How countries and industries alternate among the companies of a world. Read from the tables of growth.
#[derive(Debug)]
pub(super) struct CompanyMix {
    /// The countries of the shape. Companies have them in turn.
    pub(super) countries: Vec<(&'static Country, Currency)>,
    /// For each country: the number of its earlier occurrences in the list, and of all occurrences.
    repeats: Vec<(u64, u64)>,
    /// The number of companies after which the pairs of country and industry repeat.
    turn: u64,
    /// The number of industries.
    industries: u64,
    /// The place of the first company's industry in the list.
    first_industry: u64,
    /// One for each frequency of pay. The first one is monthly.
    pub(super) calendars: Vec<PayCalendar>,
}

/// The country and the industry of one company.
pub(super) struct CompanyPlace {
    pub(super) country: &'static Country,
    pub(super) currency: Currency,
    /// The position of its industry in the list.
    pub(super) industry_place: usize,
    /// Its number among the companies of its country and industry.
    pub(super) number: u64,
}

impl CompanyMix {
    /// The mix of a world with these countries, which `Shape::check` has accepted.
    pub(super) fn of(codes: &[String], key: Key, first_day: Date) -> Self {
        let country = |code: &String| {
            let country = countries::find(code).expect("the shape was checked");
            let currency = Currency::new(country.currency);
            (country, currency.expect("the table of countries names currencies of ISO 4217"))
        };
        let countries: Vec<_> = codes.iter().map(country).collect();
        let frequencies: Vec<_> =
            countries.iter().map(|(country, _)| country.pay.interval).collect();
        let among = |codes: &[String], code: &String| {
            codes.iter().filter(|known| *known == code).count() as u64
        };
        let repeat =
            |(place, code): (usize, &String)| (among(&codes[..place], code), among(codes, code));
        let industries = industries::all().len() as u64;
        Self {
            repeats: codes.iter().enumerate().map(repeat).collect(),
            turn: common_multiple(countries.len() as u64, industries),
            industries,
            first_industry: key.with("industries").below(industries),
            calendars: PayCalendar::of_world(&frequencies, first_day),
            countries,
        }
    }

    /// The country and the industry of the company with this index.
    pub(super) fn of_company(&self, index: u64) -> CompanyPlace {
        let place = usize::try_from(index % self.countries.len() as u64).unwrap_or_default();
        let ((country, currency), (before, all)) = (self.countries[place], self.repeats[place]);
        let industry = (self.first_industry + index) % self.industries;
        CompanyPlace {
            country,
            currency,
            industry_place: usize::try_from(industry).unwrap_or_default(),
            number: index / self.turn * all + before,
        }
    }
}

/// The least common multiple.
fn common_multiple(one: u64, other: u64) -> u64 {
    (1..=other)
        .map(|times| one * times)
        .find(|multiple| multiple.is_multiple_of(other))
        .unwrap_or(1)
}

//! The countries of a world: currency, places, numbers, banks, pay. Data only: `fixtures/growth/countries.toml`.

#![cfg_attr(
    not(test),
    expect(dead_code, reason = "tests read some columns that the program does not use")
)]

use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Deserializer};

use crate::model::payroll::PayPeriod;

use super::Sections;
use super::industries::{self, Industry, ROLES};
use super::names::Names;
use super::scheme::Scheme;

/// A country, with the data for its companies and people.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Country {
    /// ISO 3166-1 alpha-2.
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    /// ISO 4217.
    pub(crate) currency: &'static str,
    /// Decimal places of `currency`.
    pub(crate) minor_digits: u32,
    pub(crate) names: Names,
    /// Legal forms; common ones appear more than once.
    pub(crate) suffixes: Vec<&'static str>,
    /// First words of company names.
    pub(crate) brands: Vec<&'static str>,
    /// The local titles of jobs.
    #[serde(default)]
    pub(crate) titles: Titles,
    pub(crate) cities: Vec<City>,
    /// Towns of farms; in the cities if there are none.
    #[serde(default)]
    pub(crate) countryside: Vec<City>,
    pub(crate) streets: Vec<&'static str>,
    /// First line of an address, with `{number}` and `{street}`.
    pub(crate) address: &'static str,
    /// The highest street number.
    pub(crate) numbers: u64,
    /// Patterns of mobile numbers, E.164.
    pub(crate) mobile: Vec<&'static str>,
    /// Patterns of office telephone numbers, E.164.
    pub(crate) office: Vec<&'static str>,
    /// The company register.
    pub(crate) registration: Scheme,
    /// The tax number of a company; may contain `{registration}`.
    pub(crate) tax_id: Scheme,
    pub(crate) personal_tax_id: Scheme,
    pub(crate) pay: Pay,
    /// The format of documents.
    #[serde(default)]
    pub(crate) print: Print,
    /// The tax on profit, where a history has it.
    #[serde(default)]
    pub(crate) corporate_tax: Option<CorporateTax>,
    pub(crate) banks: Vec<Bank>,
    pub(crate) account: AccountRule,
}

/// A town with its pattern of postal codes, which is empty if there are none.
#[derive(Debug, Deserialize)]
pub(crate) struct City {
    pub(crate) name: &'static str,
    /// Empty if addresses do not contain a region.
    pub(crate) region: &'static str,
    pub(crate) postal: &'static str,
    /// The pattern of office telephone numbers, with the town's area code; empty if that of the country applies.
    #[serde(default)]
    pub(crate) phone: &'static str,
}

/// The titles of the industries' jobs in a country. Each industry is translated at its first use.
#[derive(Debug, Default)]
pub(crate) struct Titles {
    names: Vec<(&'static str, &'static str)>,
    /// By industry: its roles, then its lead.
    translated: OnceLock<Vec<OnceLock<[&'static str; ROLES + 1]>>>,
}

impl<'de: 'static> Deserialize<'de> for Titles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self { names: Vec::deserialize(deserializer)?, translated: OnceLock::new() })
    }
}

impl Titles {
    /// Each job with its name in the country.
    pub(crate) fn names(&self) -> &[(&'static str, &'static str)] {
        &self.names
    }

    /// The jobs of the industry at this place of the list: its roles, then its lead.
    pub(crate) fn of(&self, place: usize) -> &[&'static str; ROLES + 1] {
        let all =
            self.translated.get_or_init(|| industries::all().map(|_| OnceLock::new()).collect());
        all[place].get_or_init(|| self.translate(industries::at(place)))
    }

    fn translate(&self, industry: &Industry) -> [&'static str; ROLES + 1] {
        let local = |title| {
            let name = self.names.iter().find(|(known, _)| *known == title);
            name.map_or(title, |(_, local)| *local)
        };
        core::array::from_fn(|slot| {
            local(industry.roles.get(slot).map_or(industry.lead, |role| role.title))
        })
    }
}

/// The format of the documents of a country.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Print {
    pub(crate) paper: Paper,
    pub(crate) dates: Dates,
    /// The title of a payslip.
    pub(crate) payslip: &'static str,
    /// The name of a person's tax number.
    pub(crate) person: &'static str,
    /// The name of a company's tax number.
    pub(crate) company: &'static str,
    /// The name of the number in the company register.
    pub(crate) register: &'static str,
}

impl Default for Print {
    fn default() -> Self {
        Self {
            paper: Paper::A4,
            dates: Dates::DayFirst,
            payslip: "Payslip",
            person: "Tax id",
            company: "Tax id",
            register: "Registration",
        }
    }
}

/// The size of paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Paper {
    A4,
    Letter,
}

/// The format of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Dates {
    /// `25 January 2026`
    DayFirst,
    /// `January 25, 2026`
    MonthFirst,
    /// `2026-01-25`
    Iso,
}

/// The tax on a company's profit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CorporateTax {
    /// The rate in percent of the profit.
    pub(crate) percent: u64,
    /// The months in which it is paid. A single month pays the tax of the last year; several months pay the tax of
    /// the current year to date.
    pub(crate) paid: Vec<i8>,
}

/// The pay of people.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(crate) struct Pay {
    /// The pay frequency of companies: monthly, biweekly or every four weeks.
    pub(crate) interval: PayPeriod,
    /// Day of the month, at most 28.
    pub(crate) day: u8,
    /// The last day of December to pay wages, if it is before the usual day.
    #[serde(default)]
    pub(crate) december: Option<i8>,
    /// Attributes of the payroll pack, each with its values and how many of ten people have each.
    #[serde(default)]
    pub(crate) attributes: Vec<(&'static str, Vec<(&'static str, u64)>)>,
    /// Parts of a salary; the percentages sum to 100.
    pub(crate) components: Vec<Component>,
    /// The pension into which employers enrol their workers.
    #[serde(default)]
    pub(crate) pension: Option<Pension>,
    /// Annual gross salary of the grades 1 to 8.
    pub(crate) grades: [Band; 8],
}

/// A pension into which employers enrol their workers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pension {
    pub(crate) label: &'static str,
    /// Type of the deduction in the payroll pack.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// The earnings of the pack that count.
    pub(crate) earnings: &'static str,
    /// The contributions of the worker and of the employer, in hundredths of a percent of these earnings.
    pub(crate) worker_bp: i64,
    pub(crate) employer_bp: i64,
    /// The number of ten workers who have opted out.
    pub(crate) opted_out: u64,
}

/// A part of a salary.
#[derive(Debug, Deserialize)]
pub(crate) struct Component {
    pub(crate) name: &'static str,
    pub(crate) percent: u64,
}

/// Annual gross pay in major units of the country's currency, both ends included.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Band {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

/// A bank, or the bank's part of a code.
#[derive(Debug, Deserialize)]
pub(crate) struct Bank {
    pub(crate) code: &'static str,
    pub(crate) name: &'static str,
    /// The first four characters of its BIC, if its IBANs start with them.
    #[serde(default)]
    pub(crate) bic: &'static str,
}

/// The format of a country's bank accounts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountRule {
    /// The local name of the code.
    pub(crate) scheme: &'static str,
    pub(crate) code: Scheme,
    /// A check on the whole code, if bank codes are listed whole.
    #[serde(default)]
    pub(crate) code_rule: Option<Scheme>,
    pub(crate) number: Scheme,
    /// Whether the number's check digit covers code and number.
    #[serde(default)]
    pub(crate) number_covers_code: bool,
    /// Shortest and longest account number in use.
    pub(crate) lengths: [usize; 2],
    /// The part of an IBAN after country and check digits; absent if there are no IBANs.
    #[serde(default)]
    pub(crate) bban: Option<Scheme>,
}

/// The codes of all countries; the six with payroll packs come first.
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    COUNTRIES.ids()
}

/// Whether there is a country with that code. Reads none of them.
pub(crate) fn is_known(code: &str) -> bool {
    codes().any(|known| known == code)
}

/// The country with that ISO 3166-1 alpha-2 code.
pub(crate) fn find(code: &str) -> Option<&'static Country> {
    COUNTRIES.find(code)
}

/// The country with that code, or else the first country of the table.
pub(crate) fn find_or_first(code: &str) -> &'static Country {
    find(code).unwrap_or_else(|| COUNTRIES.at(0))
}

static COUNTRIES: LazyLock<Sections<Country>> = LazyLock::new(|| {
    Sections::of("growth/countries.toml", include!(concat!(env!("OUT_DIR"), "/countries.rs")))
});

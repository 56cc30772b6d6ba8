//! The identity of a company or a person: names, numbers, address, e-mail, phone.
//!
//! E-mail addresses end in the reserved `example.com`. Phone numbers come from ranges for fiction if the country has
//! one. Therefore no message from a world can reach a real person.

#![cfg_attr(not(test), expect(dead_code, reason = "only tests use some of the checks"))]

use super::countries::{City, Country};
use super::industries::Industry;
use super::names::{Numbered, Person};
use super::scheme::{SchemeFault, grow_pattern};
use super::spelling::{fold, spell};
use super::{permuted, pick};
use crate::value::{Date, Key};

/// The inputs of a company's identity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The random key of its values.
    pub(crate) key: Key,
    /// The key of the names of all companies that must differ.
    pub(crate) names: Key,
    /// Its number among them in its country and industry.
    pub(crate) number: u64,
    /// Its number among all of them.
    pub(crate) index: u64,
    /// A day on which it was at least two years old.
    pub(crate) known_on: Date,
}

/// The minimum age of a company in years on the given day, and the number of possible ages.
const YEARS: (u64, u64) = (2, 19);

impl Origin {
    /// A customer or a supplier with this number.
    pub(crate) const fn partner(key: Key, names: Key, number: u64, known_on: Date) -> Self {
        Self { key, names, number, index: number, known_on }
    }

    /// The day on which it was founded.
    pub(crate) fn founded_on(&self) -> Date {
        let key = self.key.with("founded");
        let years = i16::try_from(YEARS.0 + key.below(YEARS.1)).unwrap_or_default();
        let days = i32::try_from(key.with("day").below(365)).unwrap_or_default();
        self.known_on.plus_years(-years).plus_days(-days).or_business_day_before()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompanyIdentity {
    /// With the legal form: `Kestrel Freight (Pty) Ltd`.
    pub(crate) legal_name: String,
    /// Without the legal form.
    pub(crate) trading_name: String,
    pub(crate) registration_number: String,
    pub(crate) founded_on: Date,
    pub(crate) tax_id: String,
    pub(crate) address: Address,
    /// ASCII, at `domain`.
    pub(crate) email: String,
    /// E.164.
    pub(crate) phone: String,
    pub(crate) website: String,
    /// ASCII, under `example.com`; the e-mail domain of the employees.
    pub(crate) domain: String,
}

/// A postal address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) line1: String,
    pub(crate) city: &'static str,
    pub(crate) region: Option<&'static str>,
    /// `None` in countries without postal codes.
    pub(crate) postal_code: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub(crate) country: &'static str,
}

pub(crate) fn company(country: &Country, industry: &Industry, origin: Origin) -> CompanyIdentity {
    let (key, founded_on) = (origin.key, origin.founded_on());
    let town = city(country, industry.id, key.with("address"));
    let address = address(country, town, key.with("address"));
    let trading_name = trading_name(country, (industry.id, &industry.words), town, origin);
    let suffix = pick(key.with("legal form"), &country.suffixes);
    let year = founded_on.civil().year().to_string();
    let slots = [("year", year.as_str())];
    let registration_number = country.registration.grow_with(key.with("registration"), "", &slots);
    let slots = [("registration", registration_number.as_str())];
    let domain = domain(&trading_name, country);
    let office = if town.phone.is_empty() {
        pick::<&str>(key.with("phone"), &country.office)
    } else {
        town.phone
    };
    let mailbox = pick(key.with("mailbox"), &["accounts", "finance", "hello", "office", "payroll"]);
    CompanyIdentity {
        legal_name: format!("{trading_name} {suffix}"),
        tax_id: country.tax_id.grow_with(key.with("tax id"), "", &slots),
        address,
        email: format!("{mailbox}@{domain}"),
        phone: grow_pattern(office, key.with("phone")),
        website: format!("https://www.{domain}"),
        trading_name,
        registration_number,
        founded_on,
        domain,
    }
}

/// The name of a company in another trade, with its legal form. A trade has an id and the last words of company
/// names.
pub(crate) fn legal_name(
    country: &Country,
    trade: (&str, &[&'static str]),
    origin: Origin,
) -> String {
    let town = city(country, trade.0, origin.key.with("address"));
    let suffix = pick(origin.key.with("legal form"), &country.suffixes);
    format!("{} {suffix}", trading_name(country, trade, town, origin))
}

/// The region of a company, as in [`company`].
pub(crate) fn region(
    country: &Country,
    industry: &Industry,
    origin: Origin,
) -> Option<&'static str> {
    let city = city(country, industry.id, origin.key.with("address"));
    (!city.region.is_empty()).then_some(city.region)
}

/// The domain of a company, as in [`company`].
pub(crate) fn domain_of(country: &Country, industry: &Industry, origin: Origin) -> String {
    let city = city(country, industry.id, origin.key.with("address"));
    domain(&trading_name(country, (industry.id, &industry.words), city, origin), country)
}

/// The tax number of the person for `key`.
pub(crate) fn personal_tax_id(country: &Country, key: Key) -> String {
    country.personal_tax_id.grow(key.with("personal tax id"))
}

/// Checks the format and the check digits of a person's tax number.
pub(crate) fn check_personal_tax_id(country: &Country, given: &str) -> Result<(), SchemeFault> {
    country.personal_tax_id.verify("", given, |_| 0)
}

/// Checks the format and the check digits of a company's tax number.
///
/// If the tax number equals the register number, the register's check applies. If it only contains one, that part is
/// not checked, because not every taxpayer is in the company register.
pub(crate) fn check_company_tax_id(country: &Country, given: &str) -> Result<(), SchemeFault> {
    let register = |_: &str| country.registration.width(|_| 0);
    if country.tax_id.has_check() || country.tax_id.slot_range("registration", register).is_none() {
        country.tax_id.verify("", given, register)
    } else {
        country.registration.verify("", given, |_| 0)
    }
}

/// The mobile number of the person for `key`, E.164.
pub(crate) fn mobile(country: &Country, key: Key) -> String {
    let key = key.with("mobile");
    grow_pattern(pick::<&str>(key, &country.mobile), key)
}

/// The trade whose companies are in the countryside.
const FARMS: &str = "agriculture";

fn city<'a>(country: &'a Country, trade: &str, key: Key) -> &'a City {
    let rural = trade == FARMS && !country.countryside.is_empty();
    pick(key.with("city"), if rural { &country.countryside } else { &country.cities })
}

/// An address in the town for `key`.
fn address(country: &Country, city: &City, key: Key) -> Address {
    let number = 1 + key.with("number").below(country.numbers);
    let street = pick(key.with("street"), &country.streets);
    let line1 =
        country.address.replace("{number}", &number.to_string()).replace("{street}", street);
    let postal_code = grow_pattern(city.postal, key.with("postal code"));
    Address {
        line1,
        city: city.name,
        region: (!city.region.is_empty()).then_some(city.region),
        postal_code: (!postal_code.is_empty()).then_some(postal_code),
        country: country.code,
    }
}

/// `first.last@domain`, ASCII, lower case; with the initial and the number by which people with the same names differ.
pub(crate) fn email(person: Numbered, domain: &str) -> String {
    let Person { first, last } = person.person;
    let mut address = String::with_capacity(first.len() + last.len() + domain.len() + 2);
    spell(first, &mut address);
    if let Some(initial) = person.middle() {
        address.push('.');
        address.push(char::from(initial.to_ascii_lowercase()));
    }
    address.push('.');
    spell(last, &mut address);
    if let Some(number) = person.suffix() {
        address.push_str(&number.to_string());
    }
    address.push('@');
    address.push_str(domain);
    address
}

/// A brand of the country, a founder, two partners or a town, and a word of the trade. Each style uses a permutation
/// of its pairs of words, so companies with different numbers have different names.
fn trading_name(
    country: &Country,
    (trade, last_words): (&str, &[&'static str]),
    city: &City,
    origin: Origin,
) -> String {
    let (families, key) = (country.names.families(), origin.names.with(country.code));
    let of = |list: &[&'static str], place| list[usize::try_from(place).unwrap_or_default()];
    let [brands, founders, words] =
        [&country.brands, families, last_words].map(|list| list.len() as u64);
    let with_word = |heads| permuted(key.with(trade), origin.number, [heads, words]);
    let (again, name) = match origin.key.with("name").with("style").below(20) {
        12..16 => {
            let (again, [founder, word]) = with_word(founders);
            (again, format!("{} {}", of(families, founder), of(last_words, word)))
        }
        16..18 => {
            let (again, [founder, partner]) = permuted(key, origin.index, [founders, founders]);
            let partner = if founder == partner { "Sons" } else { of(families, partner) };
            (again, format!("{} & {partner}", of(families, founder)))
        }
        style => {
            let (again, [brand, word]) = with_word(brands);
            let name = format!("{} {}", of(&country.brands, brand), of(last_words, word));
            let town = city.name.split(',').next_back().unwrap_or(city.name).trim();
            (again, if style < 12 { name } else { format!("{town} {name}") })
        }
    };
    if again == 0 { name } else { format!("{name} {}", again + 1) }
}

/// The name's ASCII letters and digits with hyphens between words, under `<country>.example.com`. The country is
/// needed because two countries can have companies with the same name.
fn domain(name: &str, country: &Country) -> String {
    let mut domain = String::with_capacity(name.len() + 12);
    for c in name.chars() {
        let start = domain.len();
        fold(c, &mut domain);
        if !domain[start..].bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            domain.truncate(start);
            if c.is_whitespace() && !domain.is_empty() && !domain.ends_with('-') {
                domain.push('-');
            }
        }
    }
    domain.truncate(domain.trim_end_matches('-').len());
    domain.push('.');
    domain.push_str(&country.code.to_ascii_lowercase());
    domain.push_str(".example.com");
    domain
}

//! The identity of a company or a person: names, numbers, address, e-mail, phone.
//!
//! E-mail addresses end in the reserved `example.com`. Phone numbers come from ranges for fiction if the country has one. So no message
//! from a world can reach a real person.

#![cfg_attr(not(test), expect(dead_code, reason = "only tests use some of the checks"))]

use super::countries::{City, Country};
use super::industries::Industry;
use super::scheme::{SchemeFault, grow_pattern};
use super::{industries, names, pick};
use crate::value::Key;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompanyIdentity {
    /// With the legal form: `Kestrel Freight (Pty) Ltd`.
    pub(crate) legal_name: String,
    /// Without the legal form.
    pub(crate) trading_name: String,
    pub(crate) registration_number: String,
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

pub(crate) fn company(country: &Country, industry: &Industry, key: Key) -> CompanyIdentity {
    let address = address(country, key.with("address"));
    let trading_name = trading_name(country, industry, address.city, key.with("name"));
    let suffix = pick(key.with("legal form"), &country.suffixes);
    let registration_number = country.registration.grow(key.with("registration"));
    let slots = [("registration", registration_number.as_str())];
    let domain = domain(&trading_name);
    let mailbox = pick(key.with("mailbox"), &["accounts", "finance", "hello", "office", "payroll"]);
    CompanyIdentity {
        legal_name: format!("{trading_name} {suffix}"),
        tax_id: country.tax_id.grow_with(key.with("tax id"), "", &slots),
        address,
        email: format!("{mailbox}@{domain}"),
        phone: grow_pattern(pick::<&str>(key.with("phone"), &country.office), key.with("phone")),
        website: format!("https://www.{domain}"),
        trading_name,
        registration_number,
        domain,
    }
}

/// The domain of a company, as in [`company`].
pub(crate) fn domain_of(country: &Country, industry: &Industry, key: Key) -> String {
    let city = city(country, key.with("address"));
    domain(&trading_name(country, industry, city.name, key.with("name")))
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
/// If it is the register number and nothing else, that number's check applies. Otherwise a register number inside it is not checked again,
/// because not every taxpayer is in the company register.
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

fn city(country: &Country, key: Key) -> &City {
    pick(key.with("city"), &country.cities)
}

/// An address of the person or company for `key`.
pub(crate) fn address(country: &Country, key: Key) -> Address {
    let city = city(country, key);
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

/// `first.last@domain`, ASCII, lower case. People with equal names in one company get the same address; the caller makes it unique.
pub(crate) fn email(first: &str, last: &str, domain: &str) -> String {
    let mut address = String::with_capacity(first.len() + last.len() + domain.len() + 2);
    let letters = |c: char, to: &mut String| {
        let start = to.len();
        fold(c, to);
        if !to[start..].bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            to.truncate(start);
        }
    };
    first.chars().for_each(|c| letters(c, &mut address));
    address.push('.');
    last.chars().for_each(|c| letters(c, &mut address));
    address.push('@');
    address.push_str(domain);
    address
}

/// A brand, a founder, two partners or a town, and a word of the industry.
fn trading_name(country: &Country, industry: &Industry, city: &str, key: Key) -> String {
    let word = pick(key.with("word"), &industry.words);
    let brand = pick(key.with("brand"), industries::brands());
    let founder = names::person(country, key.with("founder")).last;
    let partner = names::person(country, key.with("partner")).last;
    match key.with("style").below(20) {
        0..12 => format!("{brand} {word}"),
        12..16 => format!("{founder} {word}"),
        16..18 if founder != partner => format!("{founder} & {partner}"),
        _ => format!("{} {brand} {word}", city.split(',').next_back().unwrap_or(city).trim()),
    }
}

/// The name's ASCII letters and digits with hyphens between words, under `example.com`.
fn domain(name: &str) -> String {
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
    domain.push_str(".example.com");
    domain
}

/// The character in lower-case ASCII, without accents and ligatures; nothing if it has no Latin base letter.
fn fold(c: char, to: &mut String) {
    if c.is_ascii() {
        to.push(c.to_ascii_lowercase());
        return;
    }
    to.push_str(match c {
        'À'..='Å' | 'à'..='å' | 'Ā'..='ą' => "a",
        'Æ' | 'æ' => "ae",
        'Ç' | 'ç' | 'Ć'..='č' => "c",
        'Ď'..='đ' | 'Ð' | 'ð' => "d",
        'È'..='Ë' | 'è'..='ë' | 'Ē'..='ě' => "e",
        'Ĝ'..='ģ' => "g",
        'Ĥ'..='ħ' => "h",
        'Ì'..='Ï' | 'ì'..='ï' | 'Ĩ'..='ı' => "i",
        'Ĵ' | 'ĵ' => "j",
        'Ķ'..='ĸ' => "k",
        'Ĺ'..='ł' => "l",
        'Ñ' | 'ñ' | 'Ń'..='ŋ' => "n",
        'Ò'..='Ö' | 'Ø' | 'ò'..='ö' | 'ø' | 'Ō'..='ő' => "o",
        'Œ' | 'œ' => "oe",
        'Ŕ'..='ř' => "r",
        'Ś'..='š' | 'Ș' | 'ș' => "s",
        'ß' => "ss",
        'Ţ'..='ŧ' | 'Ț' | 'ț' => "t",
        'Ù'..='Ü' | 'ù'..='ü' | 'Ũ'..='ų' => "u",
        'Ŵ' | 'ŵ' => "w",
        'Ý' | 'ý' | 'ÿ' | 'Ŷ'..='Ÿ' => "y",
        'Ź'..='ž' => "z",
        _ => "",
    });
}

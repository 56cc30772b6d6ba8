//! A thousand identities a country.

use super::reference;
use crate::model::growth::accounts::{BankAccount, bank_account};
use crate::model::growth::countries::Country;
use crate::model::growth::identity::{CompanyIdentity, Origin};
use crate::model::growth::spelling::letters;
use crate::model::growth::{accounts, countries, identity, industries, names};
use crate::value::{Date, Key};

const RESERVED: &[&str] =
    &["review", "decline", "retry", "expire", "sanctioned", "pep", "lookalike", "offline"];

/// Every country with a thousand keys of it.
fn sample() -> impl Iterator<Item = (&'static Country, Key)> {
    countries::codes().filter_map(countries::find).flat_map(|country| {
        let root = Key::new(7).with(country.code);
        (0..1_000).map(move |index| (country, root.at(index)))
    })
}

pub(super) fn company(country: &Country, key: Key) -> CompanyIdentity {
    let count = industries::all().len() as u64;
    let index = usize::try_from(key.below(count)).expect("small");
    identity::company(country, industries::at(index), origin(key, key.below(100)))
}

pub(super) fn origin(key: Key, number: u64) -> Origin {
    let known_on = Date::new(2025, 1, 1).expect("a day");
    Origin::partner(key, Key::new(7).with("names"), number, known_on)
}

#[test]
fn accounts_have_the_check_digits_of_their_country() {
    for (country, key) in sample() {
        let account = bank_account(country, key);
        assert!(account_is_right(country.code, &account), "{}: {account:?}", country.code);
        if let Some(iban) = &account.iban {
            assert!(reference::iban(iban) && iban.starts_with(country.code), "{account:?}");
        }
    }
}

fn account_is_right(country: &str, account: &BankAccount) -> bool {
    let (code, number) = (account.bank_code.as_str(), account.account_number.as_str());
    let bban = account.iban.as_deref().map_or("", |iban| &iban[4..]);
    match country {
        "NG" => reference::nuban(code, number),
        "US" => reference::aba(code),
        "MX" => reference::clabe(number),
        "FR" => reference::rib(bban, 11),
        "CM" => reference::rib(number, 11),
        "SN" | "CI" => reference::rib(number, 12),
        "MA" => reference::morocco(number),
        "PT" => reference::portugal_nib(bban),
        "ES" => reference::spain_ccc(bban),
        "IT" => bban.starts_with(reference::italian_letter(&bban[1..])),
        "PL" => reference::poland_sort_code(code),
        "GB" => code.len() == 6 && number.len() == 8,
        "DE" | "CH" | "NL" | "IE" | "TR" | "AE" | "EG" | "BR" => !bban.is_empty(),
        _ => bban.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[test]
fn generated_accounts_pass_the_check_for_callers() {
    for (country, key) in sample() {
        let account = bank_account(country, key);
        let checked = accounts::check(country, &account.bank_code, &account.account_number);
        assert_eq!(checked, Ok(()), "{}: {account:?}", country.code);
        let iban = account.iban.as_deref().map(accounts::check_iban);
        assert!(iban.is_none_or(|checked| checked.is_ok()), "{}: {account:?}", country.code);
    }
}

#[test]
fn accounts_never_fall_in_the_reserved_range() {
    for (country, key) in sample() {
        assert!(!accounts::is_reserved(&bank_account(country, key).account_number));
    }
    assert!(accounts::is_reserved("9999999942") && accounts::is_reserved("99999999"));
    assert!(!accounts::is_reserved("9999999842") && !accounts::is_reserved("99999999422"));
}

#[test]
fn tax_numbers_of_companies_have_the_check_digits_of_their_country() {
    for (country, key) in sample() {
        let company = company(country, key);
        assert!(company_is_right(country.code, &company), "{company:?}");
        assert_eq!(identity::check_company_tax_id(country, &company.tax_id), Ok(()), "{company:?}");
    }
}

fn company_is_right(country: &str, company: &CompanyIdentity) -> bool {
    let (tax, registration) = (company.tax_id.as_str(), company.registration_number.as_str());
    match country {
        "US" => {
            let unused = [
                "00", "07", "08", "09", "17", "18", "19", "28", "29", "49", "69", "70", "78", "79",
                "89", "96", "97",
            ];
            tax.len() == 10 && !unused.contains(&&tax[..2])
        }
        "GB" => reference::gb_utr(tax) && registration.len() == 8,
        "ZA" | "IT" => reference::luhn(tax),
        "CA" => reference::luhn(&tax[..9]) && tax.ends_with("RP0001"),
        "NG" => tax.len() == 13 && registration.starts_with("RC"),
        "KE" => {
            let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_uppercase());
            tax.len() == 11 && tax.starts_with('P') && ends(tax.chars().last())
        }
        "GH" => reference::ghana_tin(tax),
        "MA" => reference::morocco_ice(tax),
        "IN" => reference::gstin(tax),
        "CN" => reference::uscc(tax),
        "JP" => reference::japan_corporate(tax),
        "AU" => reference::abn(tax) && reference::acn(registration) && tax.ends_with(registration),
        "CH" => reference::swiss_uid(tax),
        "BR" => reference::brazil(tax, 9),
        "MX" => reference::mexico_rfc(tax),
        "SG" => reference::singapore_uen(registration),
        "DE" => reference::iso7064_mod11_10(tax),
        "FR" => reference::french_vat(tax) && tax.ends_with(registration),
        "IE" => reference::ireland(tax),
        "NL" => reference::eleven_test(tax),
        "ES" => reference::spain_cif(tax),
        "PT" => reference::portugal_nif(tax) && tax == registration,
        "PL" => reference::poland_nip(tax),
        "TR" => reference::turkey_vkn(tax),
        _ => !tax.is_empty() && !registration.is_empty(),
    }
}

#[test]
fn tax_numbers_of_people_have_the_check_digits_of_their_country() {
    for (country, key) in sample() {
        let number = identity::personal_tax_id(country, key);
        assert!(person_is_right(country.code, &number), "{}: {number}", country.code);
        assert_eq!(identity::check_personal_tax_id(country, &number), Ok(()), "{number}");
    }
}

fn person_is_right(country: &str, number: &str) -> bool {
    match country {
        "US" => issued_ssn(number) && number.starts_with('8'),
        "GB" => allocated_nino(number) && number.starts_with("MW"),
        "CA" => reference::luhn(number) && !number.starts_with(['0', '8']),
        "ZA" | "AE" => reference::luhn(number),
        "GH" => reference::ghana_tin(number),
        "CN" => reference::china_resident(number),
        "JP" => reference::japan_my_number(number),
        "AU" => reference::tfn(number),
        "CH" => reference::ean13(number),
        "BR" => reference::brazil(number, 11),
        "MX" => reference::mexico_rfc(number),
        "SG" => reference::singapore_nric(number),
        "DE" => number.starts_with('0') && reference::iso7064_mod11_10(number),
        "FR" => reference::french_spi(number),
        "IE" => reference::ireland(number),
        "NL" => reference::eleven_test(number),
        "ES" => reference::spain_dni(number),
        "IT" => number.ends_with(reference::italian_letter(&number[..15])),
        "PT" => reference::portugal_nif(number),
        "PL" => reference::pesel(number),
        "TR" => reference::turkey_tckn(number),
        _ => !number.is_empty(),
    }
}

/// Social Security Administration, POMS RM 10201.035: no area 000, 666 or 900 to 999, no group 00, no serial number 0000.
fn issued_ssn(number: &str) -> bool {
    let parts: Vec<&str> = number.split('-').collect();
    let [area, group, serial] = parts.as_slice() else { return false };
    let shape = [area.len(), group.len(), serial.len()] == [3, 2, 4];
    let digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    shape
        && digits
        && !matches!(*area, "000" | "666")
        && !area.starts_with('9')
        && *group != "00"
        && *serial != "0000"
}

/// HM Revenue & Customs, National Insurance Manual NIM39110.
fn allocated_nino(number: &str) -> bool {
    let Some((prefix, rest)) = number.split_at_checked(2) else { return false };
    let Some((digits, suffix)) = rest.split_at_checked(6) else { return false };
    let letters = prefix.bytes().all(|byte| byte.is_ascii_uppercase());
    letters
        && !prefix.contains(['D', 'F', 'I', 'Q', 'U', 'V'])
        && !prefix.ends_with('O')
        && !["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"].contains(&prefix)
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && ["A", "B", "C", "D"].contains(&suffix)
}

#[test]
fn validators_refuse_numbers_that_no_authority_issues() {
    for wrong in ["000-12-3456", "666-12-3456", "912-12-3456", "812-00-3456", "812-12-0000"] {
        assert!(!issued_ssn(wrong), "{wrong}");
    }
    for wrong in ["QQ123456A", "DW123456A", "MO123456A", "GB123456A", "MW123456E", "MW12345A"] {
        assert!(!allocated_nino(wrong), "{wrong}");
    }
}

/// The prefixes of the clearing banks, and all prefixes that the modulus table of the British clearing system covers.
#[test]
fn british_sort_codes_begin_with_prefixes_of_no_bank() {
    let country = countries::find("GB").expect("known");
    let free = ["03", "06", "19", "75", "78", "84", "85", "96", "97"];
    assert!(country.banks.iter().all(|bank| free.contains(&bank.code)));
}

/// The control run of the checks above: most numbers with a changed last character must be refused. Rules modulo 9,
/// and rules that give one digit for two remainders, accept a few.
#[test]
fn the_reference_refuses_numbers_with_the_last_character_changed() {
    let accounts = ["NG", "US", "MX", "FR", "CM", "SN", "CI", "MA", "PT", "ES", "IT", "PL"];
    let companies = [
        "GB", "ZA", "GH", "MA", "IN", "CN", "JP", "AU", "CH", "BR", "MX", "DE", "FR", "NL", "ES",
        "IT", "PL", "TR",
    ];
    let people = [
        "ZA", "CA", "AE", "GH", "CN", "JP", "AU", "CH", "BR", "MX", "SG", "DE", "FR", "NL", "ES",
        "IT", "PT", "PL", "TR",
    ];
    for country in countries::codes().filter_map(countries::find) {
        let keys = || (0..200).map(|index| Key::new(8).with(country.code).at(index));
        if accounts.contains(&country.code) {
            let refused = keys().filter(|key| {
                let account = bank_account(country, *key);
                let wrong = BankAccount {
                    bank_code: last_changed(&account.bank_code),
                    account_number: last_changed(&account.account_number),
                    iban: account.iban.as_deref().map(last_changed),
                    ..account
                };
                !account_is_right(country.code, &wrong)
            });
            assert!(refused.count() >= 160, "account of {}", country.code);
        }
        if companies.contains(&country.code) {
            let refused = keys().filter(|key| {
                let company = company(country, *key);
                let wrong = CompanyIdentity { tax_id: last_changed(&company.tax_id), ..company };
                !company_is_right(country.code, &wrong)
            });
            assert!(refused.count() >= 120, "company of {}", country.code);
        }
        if people.contains(&country.code) {
            let refused = keys().filter(|key| {
                let number = identity::personal_tax_id(country, *key);
                !person_is_right(country.code, &last_changed(&number))
            });
            assert!(refused.count() >= 160, "person of {}", country.code);
        }
    }
}

fn last_changed(text: &str) -> String {
    let (start, last) = text.split_at(text.len() - 1);
    let other = match last {
        "9" => '0',
        "X" => '1',
        "Z" => 'A',
        _ => char::from(last.as_bytes()[0] + 1),
    };
    format!("{start}{other}")
}

#[test]
fn generated_addresses_and_phone_numbers_reach_no_real_person() {
    for (country, key) in sample() {
        let company = company(country, key);
        let person = names::numbered(country, key, key.below(10_000));
        let email = identity::email(person, &company.domain);
        for address in [&email, &company.email] {
            let (local, domain) = address.split_once('@').expect("an address has an @");
            assert!(address.is_ascii() && domain.ends_with(".example.com"), "{address}");
            assert!(!local.starts_with('.') && !local.ends_with('.'), "{address}");
            assert!(domain.split('.').all(|label| (1..=63).contains(&label.len())), "{address}");
        }
        assert!(company.website.is_ascii() && !company.domain.starts_with('-'), "{company:?}");
        for phone in [&company.phone, &identity::mobile(country, key)] {
            let digits = phone.strip_prefix('+').expect("E.164 begins with a plus");
            assert!((8..=15).contains(&digits.len()), "{phone}");
            assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{phone}");
        }
    }
}

#[test]
fn north_american_phones_are_of_the_range_kept_for_fiction() {
    for (country, key) in sample().filter(|(country, _)| ["US", "CA"].contains(&country.code)) {
        for phone in [identity::mobile(country, key), company(country, key).phone] {
            assert_eq!((phone.len(), &phone[5..10]), (12, "55501"), "{phone}");
        }
    }
}

#[test]
fn people_have_names_and_none_that_is_a_magic_value() {
    for (country, key) in sample() {
        let person = names::person(country, key);
        assert!(!person.first.trim().is_empty() && !person.last.trim().is_empty());
        let last = person.last.to_lowercase();
        assert!(!RESERVED.contains(&last.as_str()), "{person:?}");
    }
}

#[test]
fn every_name_in_every_table_is_usable() {
    for group in
        countries::codes().filter_map(countries::find).flat_map(|country| country.names.groups())
    {
        for name in group.first.iter().chain(&group.last) {
            assert!(!name.is_empty() && name.trim() == *name, "{name:?}");
            assert!(!RESERVED.contains(&name.to_lowercase().as_str()), "{name} is a magic value");
            let spelled = name.chars().filter(|c| c.is_alphabetic()).count();
            let folded = letters(name);
            assert!(folded.len() >= spelled, "{name} loses letters in {folded}");
        }
    }
}

#[test]
fn the_same_key_grows_the_same_and_another_key_another() {
    for (country, key) in sample().step_by(97) {
        assert_eq!(company(country, key), company(country, key));
        assert_eq!(bank_account(country, key), bank_account(country, key));
        assert_eq!(names::person(country, key), names::person(country, key));
        assert_ne!(bank_account(country, key), bank_account(country, key.at(1)));
    }
}

/// A changed identity of seed 42 requires a new world version and an entry in the changelog.
#[test]
fn seed_42_grows_the_identities_it_always_grew() {
    let mut grown = String::new();
    for code in ["US", "GB", "NG", "KE", "ZA", "CA"] {
        let country = countries::find(code).expect("a first-class country");
        for index in 0..5 {
            let key = Key::new(42).with(code).at(index);
            render(&mut grown, country, key, index);
        }
    }
    let golden = include_str!("../../../../fixtures/growth/seed-42.golden");
    assert!(grown == golden, "seed 42 now grows:\n{grown}");
}

fn render(text: &mut String, country: &Country, key: Key, number: u64) {
    let company = company(country, key);
    let person = names::numbered(country, Key::new(42), number);
    let account = bank_account(country, key);
    let address = &company.address;
    let lines = [
        format!("{} | {} | {}", company.legal_name, company.registration_number, company.tax_id),
        format!(
            "  {}, {}, {}, {}",
            address.line1,
            address.city,
            address.region.unwrap_or("-"),
            address.postal_code.as_deref().unwrap_or("-"),
        ),
        format!("  {} | {} | {}", company.email, company.phone, company.website),
        format!(
            "  {person} | {} | {} | {}",
            identity::personal_tax_id(country, key),
            identity::email(person, &company.domain),
            identity::mobile(country, key),
        ),
        format!(
            "  {} | {} | {} | {}",
            account.bank_name,
            account.bank_code,
            account.account_number,
            account.iban.as_deref().unwrap_or("-"),
        ),
    ];
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
}

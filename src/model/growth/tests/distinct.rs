//! Companies and people of one world differ, and their data fits their place.

use std::collections::BTreeSet;

use super::grown::{company, origin};
use crate::model::growth::identity::Origin;
use crate::model::growth::spelling::letters;
use crate::model::growth::{countries, identity, industries, names};
use crate::value::Key;

#[test]
fn companies_of_one_world_have_different_names_and_domains() {
    let root = Key::new(42);
    let (mut domains, mut names) = (BTreeSet::new(), BTreeSet::new());
    for country in countries::codes().filter_map(countries::find) {
        for (place, industry) in industries::all().enumerate() {
            for number in 0..60 {
                let key = root.with(country.code).at(place as u64).at(number);
                let index = number * 10 + place as u64;
                let origin = Origin { index, ..origin(key, number) };
                let company = identity::company(country, industry, origin);
                assert!(names.insert((country.code, company.trading_name.clone())), "{company:?}");
                assert!(domains.insert(company.domain.clone()), "{company:?}");
            }
        }
    }
}

#[test]
fn first_words_of_company_names_and_last_words_belong_to_one_table() {
    let (mut brands, mut words) = (BTreeSet::new(), BTreeSet::new());
    for country in countries::codes().filter_map(countries::find) {
        assert!(country.brands.len() >= 12, "{}", country.code);
        assert!(
            country.brands.iter().all(|brand| brands.insert(letters(brand))),
            "{}",
            country.code
        );
        let jobs: BTreeSet<_> = industries::all()
            .flat_map(|it| it.roles.iter().map(|role| role.title).chain([it.lead]))
            .collect();
        for (job, local) in country.titles.names() {
            assert!(jobs.contains(job) && job != local, "{}: {job}", country.code);
        }
    }
    for industry in industries::all() {
        assert!(industry.words.iter().all(|word| words.insert(letters(word))), "{}", industry.id);
    }
}

#[test]
fn people_of_a_company_have_unique_addresses_and_mostly_unique_names() {
    for country in countries::codes().filter_map(countries::find) {
        let key = Key::new(42).with(country.code);
        let (mut names, mut emails) = (BTreeSet::new(), BTreeSet::new());
        for number in 0..20_000 {
            let person = names::numbered(country, key, number);
            names.insert(person.to_string());
            let email = identity::email(person, "a.example.com");
            assert!(emails.insert(email.clone()), "{} {number}: {email}", country.code);
            if number == 499 {
                assert_eq!(names.len(), 500, "{}", country.code);
            }
        }
        assert!(names.len() > 15_000, "{}: {}", country.code, names.len());
    }
}

#[test]
fn shares_of_name_groups_hold_in_every_hundred() {
    let country = countries::find("NG").expect("known");
    let groups = country.names.groups();
    for block in 0..20 {
        let mut counts = vec![0; groups.len()];
        for number in block * 100..block * 100 + 100 {
            let person = names::numbered(country, Key::new(3), number).person;
            let of = |group: &names::Group| {
                group.first.contains(&person.first) && group.last.contains(&person.last)
            };
            counts[groups.iter().position(of).expect("a name of a group")] += 1;
        }
        let shares: Vec<u64> = groups.iter().map(|group| group.share).collect();
        assert_eq!(counts, shares, "block {block}");
    }
}

#[test]
fn offices_have_the_area_code_of_their_town() {
    let areas = [("US", "Austin", "+1512"), ("GB", "Leeds", "+44113"), ("ZA", "Durban", "+2731")];
    for (code, town, area) in areas {
        let country = countries::find(code).expect("known");
        let keys = (0..400).map(|number| Key::new(5).with(code).at(number));
        let there = keys.map(|key| company(country, key)).filter(|it| it.address.city == town);
        let phones: Vec<String> = there.map(|it| it.phone).collect();
        assert!(phones.len() > 5 && phones.iter().all(|it| it.starts_with(area)), "{phones:?}");
    }
}

#[test]
fn companies_were_founded_within_twenty_years_and_south_african_numbers_say_when() {
    let country = countries::find("ZA").expect("known");
    let mut years = BTreeSet::new();
    for number in 0..500 {
        let company = company(country, Key::new(6).at(number));
        let year = company.founded_on.civil().year();
        assert!(company.registration_number.starts_with(&year.to_string()), "{company:?}");
        years.insert(year);
    }
    assert!(
        years.len() >= 19 && years.iter().all(|year| (2003..=2023).contains(year)),
        "{years:?}"
    );
}

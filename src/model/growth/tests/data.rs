//! The tables themselves.

use std::collections::BTreeSet;

use crate::model::growth::countries::{City, Country};
use crate::model::growth::{countries, customers, industries, names};
use crate::model::payroll::{PayPeriod, library};

/// Hourly, daily or monthly statutory minimum wages of the payroll packs as major units a year (2,080 hours).
const MINIMUM_WAGES: &[(&str, u64)] = &[
    ("US", 15_080),
    ("GB", 26_437),
    ("NG", 840_000),
    ("KE", 227_485),
    ("ZA", 62_879),
    ("CA", 36_608),
];

#[test]
fn the_six_countries_of_the_packs_come_first() {
    let first: Vec<_> = countries::codes()
        .filter_map(countries::find)
        .take(6)
        .map(|country| country.code)
        .collect();
    assert_eq!(first, ["US", "GB", "NG", "KE", "ZA", "CA"]);
    assert!(countries::codes().count() >= 30);
    assert!(countries::find("NG").is_some_and(|country| country.currency == "NGN"));
    assert!(countries::find("XX").is_none() && countries::find("ng").is_none());
}

#[test]
fn every_country_table_is_complete() {
    let mut codes = BTreeSet::new();
    for country in countries::codes().filter_map(countries::find) {
        let code = country.code;
        assert!(codes.insert(code), "{code} twice");
        assert!(is_letters(code, 2) && is_letters(country.currency, 3) && !country.name.is_empty());
        let whole = ["UGX", "RWF", "XOF", "XAF", "JPY"].contains(&country.currency);
        assert_eq!(country.minor_digits, if whole { 0 } else { 2 }, "{code}");
        assert!(country.cities.len() >= 4 && country.streets.len() >= 8, "{code}");
        assert!(
            country.address.contains("{number}") && country.address.contains("{street}"),
            "{code}"
        );
        assert!(country.banks.len() >= 3 && !country.suffixes.is_empty(), "{code}");
        assert!(
            country.banks.iter().all(|bank| bank.code.len() == country.banks[0].code.len()),
            "{code}"
        );
        assert!(!country.account.scheme.is_empty() && country.numbers > 1, "{code}");
    }
}

#[test]
fn pensions_and_countrysides_are_those_of_their_countries() {
    let (mut pensions, mut farms) = (0, 0);
    for country in countries::codes().filter_map(countries::find) {
        let pack = library().in_force(country.code, jiff::civil::date(2025, 1, 1)).pack;
        if let Some(rule) = &country.pay.pension {
            assert!(pack.deduction_type(rule.kind).is_some() && rule.opted_out < 10);
            assert!(pack.counted_earnings(rule.earnings).is_some(), "{}", country.code);
            pensions += 1;
        }
        let regions = |towns: &[City]| towns.iter().all(|town| !town.region.is_empty());
        if !country.countryside.is_empty() {
            assert_eq!(regions(&country.countryside), regions(&country.cities), "{}", country.code);
            farms += 1;
        }
    }
    assert_eq!((pensions, farms), (1, 6));
}

fn is_letters(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[test]
fn pay_is_split_in_full_and_bands_ascend() {
    for country in countries::codes().filter_map(countries::find) {
        let (code, pay) = (country.code, &country.pay);
        assert!((1..=28).contains(&pay.day), "{code}");
        // A history has whole pay periods of these lengths: `world::pay_calendar`.
        let grown = [PayPeriod::Monthly, PayPeriod::Biweekly, PayPeriod::Fourweekly];
        let pack = library().in_force(code, jiff::civil::date(2026, 1, 1)).pack;
        assert!(grown.contains(&pay.interval) && pack.periods.contains(&pay.interval), "{code}");
        assert_eq!(pay.components.iter().map(|part| part.percent).sum::<u64>(), 100, "{code}");
        assert_eq!(pay.components[0].name, "basic", "{code}");
        for pair in pay.grades.windows(2) {
            assert!(pair[0].low < pair[1].low && pair[0].high < pair[1].high, "{code}: {pair:?}");
        }
        assert!(pay.grades.iter().all(|band| band.low < band.high), "{code}");
    }
}

#[test]
fn the_lowest_grade_is_above_the_minimum_wage() {
    for (code, minimum) in MINIMUM_WAGES {
        let country = countries::find(code).expect("a first-class country");
        assert!(country.pay.grades[0].low > *minimum, "{code}");
    }
}

#[test]
fn every_country_has_enough_names() {
    let count = |country: &Country, list: fn(&names::Group) -> &[&str]| {
        let groups = country.names.groups().iter();
        groups.flat_map(|group| list(group).iter()).collect::<BTreeSet<_>>().len()
    };
    for country in countries::codes().filter_map(countries::find) {
        let least = if ["US", "GB", "NG", "KE", "ZA"].contains(&country.code) { 80 } else { 38 };
        let (given, family) = (count(country, |g| &g.first), count(country, |g| &g.last));
        assert!(given >= least && family >= least, "{}: {given} {family}", country.code);
    }
}

#[test]
fn every_industry_has_25_places_of_at_least_4_departments_in_one_run_each() {
    assert!(industries::all().len() >= 8);
    for industry in industries::all() {
        let id = industry.id;
        let head = industry.role(0);
        assert_eq!(
            (head.title, head.department, head.grade),
            ("Managing Director", "Executive", 8)
        );
        assert_eq!((industry.title(0), industry.title(25)), (head.title, industry.lead), "{id}");
        assert_eq!(industry.title(26), industry.roles[1].title, "{id}");
        let mut departments: Vec<_> = industry.roles.iter().map(|role| role.department).collect();
        departments.dedup();
        let distinct: BTreeSet<_> = departments.iter().collect();
        assert!(
            distinct.len() >= 4 && distinct.len() == departments.len(),
            "{id}: {departments:?}"
        );
        assert!(industry.roles.iter().all(|role| (1..=8).contains(&role.grade)), "{id}");
        assert!(industry.words.len() >= 6 && industry.sells.len() >= 5 && industry.buys.len() >= 5);
        assert!((120..=360).contains(&industry.revenue_percent), "{id}");
        assert!(!industry.name.is_empty());
    }
}

#[test]
fn an_industry_earns_a_little_more_than_it_spends() {
    for industry in industries::all() {
        // Sales less other expenses, per 100 of payroll cost: neither a loss nor an unrealistic profit.
        let left =
            industry.revenue_percent * (100 - industry.purchases_percent - industry.costs.sum());
        assert!((105..=130).contains(&(left / 100)), "{}: {}", industry.id, left / 100);
        // Depreciation is less than the profit.
        let assets = industry.assets;
        let depreciated = industry.revenue_percent * assets.fixed / assets.years / 100;
        assert!(depreciated * 100 < left - 100 * 100, "{}: {depreciated}", industry.id);
        assert!(assets.years >= 3 && assets.stock <= 12, "{}", industry.id);
    }
}

/// The pattern of retail: United States Census Bureau, Monthly Retail Trade Survey, factors of clothing stores.
#[test]
fn seasons_bonuses_and_customers_of_an_industry_are_whole() {
    for industry in industries::all() {
        let id = industry.id;
        let months: Vec<u64> = (1..=12).map(|month| industry.season(month).0).collect();
        let year = industry.season(1).1;
        assert!((1_150..=1_250).contains(&year), "{id}: {year}");
        assert_eq!(months.iter().sum::<u64>(), 12 * year, "{id}");
        assert!(months.iter().all(|month| (year / 2..2 * year).contains(month)), "{id}");
        assert!((1..=12).contains(&industry.bonus.month), "{id}");
        assert!((20..=150).contains(&industry.bonus.percent), "{id}");
        assert!((1..=30).contains(&industry.growth_percent), "{id}");
        assert!((8..=20).contains(&industry.costs.sum()), "{id}");
    }
    let retail = industries::all().find(|industry| industry.id == "retail");
    let (december, year) = retail.expect("an industry").season(12);
    assert!((140..=180).contains(&(december * 100 / year)), "{december} of {year}");
}

#[test]
fn a_mix_of_customers_sends_all_invoices_and_makes_all_sales() {
    for mix in customers::all() {
        let kinds = || mix.kinds.iter();
        assert_eq!(kinds().map(|kind| kind.invoices).sum::<u64>(), 8, "{}", mix.id);
        assert_eq!(kinds().map(|kind| kind.share).sum::<u64>(), 100, "{}", mix.id);
        assert!(kinds().any(|kind| kind.customers == 0), "{}", mix.id);
        assert!(kinds().any(|kind| kind.customers > 20), "{}", mix.id);
        assert!(
            kinds().map(|kind| kind.customers).sum::<u64>() <= 64,
            "{}: `sales_history`",
            mix.id
        );
        assert!(kinds().any(|kind| kind.never > 0), "{}", mix.id);
        for kind in kinds() {
            let [soonest, latest] = kind.pays;
            assert!(soonest <= latest && kind.late + kind.never < 50, "{} {}", mix.id, kind.id);
        }
        let last = kinds().map(|kind| kind.invoices).sum::<u64>() - 1;
        assert_eq!(mix.of_invoice(last).0.id, mix.kinds[mix.kinds.len() - 1].id);
    }
}

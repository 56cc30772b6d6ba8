//! Irregular payments of a tax year: the tax of each is its increase of the year's tax, after the earlier ones.

use std::collections::BTreeMap;

use sandbox::model::payroll::{Pack, PayInput, PayPeriod, YearToDate, library};

/// PAYE of twelve months with a bonus in some of them.
fn paye_of_year(
    pack: &Pack,
    attributes: &[(&str, &str)],
    salary: i64,
    bonuses: &[(u32, i64)],
) -> i64 {
    let profile = pack.profile(attributes.iter().copied()).unwrap();
    let place = pack.lines().iter().position(|line| line.id == "paye").unwrap();
    let mut ytd = YearToDate::start();
    for number in 1..=12 {
        let mut earnings = vec![(pack.component("basic"), salary)];
        let of_month = bonuses.iter().filter(|(month, _)| *month == number);
        earnings.extend(of_month.map(|(_, amount)| (pack.component("bonus"), *amount)));
        let pay = pack.evaluate(&PayInput {
            period: PayPeriod::Monthly,
            number,
            attributes: profile.attributes,
            inputs: &profile.inputs,
            on: None,
            earnings: &earnings,
            ytd: &ytd,
        });
        ytd.add(&pay.unwrap()).unwrap();
    }
    ytd.line(place)
}

/// The tax of `income` by bands (from, percent).
fn tax(income: i64, bands: &[(i64, i64)]) -> i64 {
    let mut total = 0;
    for (place, (from, percent)) in bands.iter().enumerate() {
        let upto = bands.get(place + 1).map_or(i64::MAX, |(next, _)| *next);
        total += (income.min(upto) - from).max(0) * percent;
    }
    total / 100
}

/// SARS, guide for employers (annual payments), and rates of tax 2027: 25,000 a month and 200,000 twice are 700,000 a year.
#[test]
fn a_second_south_african_bonus_counts_the_first() {
    let bands = [
        (0, 18),
        (24_510_000, 26),
        (38_310_000, 31),
        (53_020_000, 36),
        (69_580_000, 39),
        (88_700_000, 41),
        (187_860_000, 45),
    ];
    let expected = tax(70_000_000, &bands) - 1_782_000;
    assert_eq!(expected, 16_903_300);
    let pack = library().pack("ZA").unwrap();
    let paid = |bonuses: &[(u32, i64)]| paye_of_year(pack, &[], 2_500_000, bonuses);
    assert_eq!(paid(&[(3, 20_000_000), (9, 20_000_000)]), expected);
    assert_eq!(paid(&[(3, 40_000_000)]), expected);
}

/// Nigeria Tax Act 2025 s. 58 and Fourth Schedule: 500,000 a month and 4 million twice are 14 million a year.
#[test]
fn a_second_nigerian_bonus_counts_the_first() {
    let bands = [
        (0, 0),
        (80_000_000, 15),
        (300_000_000, 18),
        (1_200_000_000, 21),
        (2_500_000_000, 23),
        (5_000_000_000, 25),
    ];
    let expected = tax(1_400_000_000, &bands);
    assert_eq!(expected, 237_000_000);
    let pack = library().pack("NG").unwrap();
    let none = [("pension", "false"), ("nhf", "false")];
    let paid = |bonuses: &[(u32, i64)]| paye_of_year(pack, &none, 50_000_000, bonuses);
    assert_eq!(paid(&[(3, 400_000_000), (9, 400_000_000)]), expected);
    assert_eq!(paid(&[(3, 800_000_000)]), expected);
}

/// 26 CFR 31.3402(g)-1(a)(2): the part of the year's supplements above 1,000,000 is taxed at 37 %, even if the
/// employer aggregates. Publication 15-T (2026): 418.33 on 5,000.00 a month, and 1,464.17 on 10,000.00.
#[test]
fn us_supplements_above_a_million_have_their_rate_with_both_methods() {
    let pack = library().pack("US").unwrap();
    let profile = pack.default_profile();
    let tax = |component: &str, before: i64| {
        let before = BTreeMap::from([("supplemental".to_owned(), before)]);
        let pay = pack.evaluate(&PayInput {
            period: PayPeriod::Monthly,
            number: 1,
            attributes: profile.attributes,
            inputs: &profile.inputs,
            on: None,
            earnings: &[(pack.component("basic"), 500_000), (pack.component(component), 1_000_000)],
            ytd: &YearToDate::from_names(pack, &before).unwrap(),
        });
        pay.unwrap().tax - 41_833
    };
    assert_eq!(tax("bonus", 100_000_000), 370_000);
    assert_eq!(tax("bonus.aggregate", 100_000_000), 370_000);
    assert_eq!(tax("bonus", 99_500_000), 110_000 + 185_000);
    assert_eq!(tax("bonus.aggregate", 99_500_000), 146_417 - 41_833 + 185_000);
}

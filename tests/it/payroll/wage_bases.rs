//! American contributions and taxes of a year: at most the tax on the wage base, even if single pays are rounded up.

use sandbox::model::payroll::{PayInput, PayPeriod, YearToDate, library};

/// The pays of a year, all of one amount: the sums of some lines.
fn sums_of_a_year<const N: usize>(pack: &str, amount: i64, lines: [&str; N]) -> [i64; N] {
    let pack = library().pack(pack).unwrap();
    let (mut ytd, earnings) = (YearToDate::start(), [(pack.component("basic"), amount)]);
    for _ in 0..26 {
        let attributes = pack.default_attributes();
        let input = PayInput {
            period: PayPeriod::Biweekly,
            number: 1,
            attributes,
            inputs: &[],
            on: None,
            earnings: &earnings,
            ytd: &ytd,
        };
        let pay = pack.evaluate(&input).unwrap();
        ytd.add(&pay).unwrap();
    }
    let totals = ytd.to_names(pack);
    lines.map(|line| totals[line])
}

/// 26 USC 3101(a), 3111(a): 6.2 % of the base of 184,500 is 11,439.00.
#[test]
fn social_security_of_a_year_ends_at_the_wage_base() {
    for (pack, most) in [("US", 1_143_900), ("US-2025", 1_091_820)] {
        let lines = ["social_security", "social_security_employer"];
        assert_eq!(sums_of_a_year(pack, 709_624, lines), [most; 2], "{pack}");
    }
}

/// 26 USC 3301, 3306(b)(1): 0.6 % of 7,000 is 42.00. California: 3.4 % and 0.1 % of 7,000. Florida and Texas: 2.7 % of 7,000 and of 9,000. New
/// York: 4.025 % and 0.075 % of 17,600. The sum of the rounded taxes of these pays would be higher.
#[test]
fn unemployment_taxes_of_a_year_end_at_the_wage_base() {
    for (pack, amount, line, most) in [
        ("US", 69_251, "futa", 4_200),
        ("US-2025", 69_251, "futa", 4_200),
        ("US-CA", 69_251, "state_unemployment", 23_800),
        ("US-CA", 110_667, "employment_training", 700),
        ("US-FL", 69_251, "state_unemployment", 18_900),
        ("US-TX", 69_251, "state_unemployment", 24_300),
        ("US-NY", 345_679, "state_unemployment", 70_840),
        ("US-NY", 69_251, "reemployment_fund", 1_320),
    ] {
        assert_eq!(sums_of_a_year(pack, amount, [line]), [most], "{pack} {line}");
    }
}

/// Unemployment Insurance Contributions Act 4 of 2002 (ZA) s. 1 and 6: 1 % of remuneration with fringe benefits and without commission. Skills Development
/// Levies Act 9 of 1999 s. 3(4): 1 % of remuneration with both.
#[test]
fn south_african_levies_count_fringe_benefits_and_uif_no_commission() {
    for code in ["ZA", "ZA-2025"] {
        let pack = library().pack(code).unwrap();
        let pays = [("basic", 1_000_000), ("commission", 500_000), ("benefit_in_kind", 300_000)];
        let earnings = pays.map(|(name, amount)| (pack.component(name), amount));
        let ytd = YearToDate::start();
        let input = PayInput {
            period: PayPeriod::Monthly,
            number: 1,
            attributes: pack.default_attributes(),
            inputs: &[],
            on: None,
            earnings: &earnings,
            ytd: &ytd,
        };
        let pay = pack.evaluate(&input).unwrap();
        let line = |id: &str| {
            let place = pack.lines().iter().position(|line| line.id == id).unwrap();
            pay.amounts[place]
        };
        assert_eq!(["uif", "uif_employer", "sdl"].map(line), [13_000, 13_000, 18_000], "{code}");
    }
}

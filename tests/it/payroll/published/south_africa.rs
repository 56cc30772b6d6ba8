//! PAYE of South Africa by the annual equivalent, annual payments, UIF and SDL.

use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{Edge, Exact, Figures, around, by_table, cents, not_negative, to_cent, whole};

const AGES: [&str; 3] = ["under_65", "65_to_74", "75_and_over"];
const PERIODS: [PayPeriod; 3] = [PayPeriod::Monthly, PayPeriod::Biweekly, PayPeriod::Weekly];

/// A year of assessment and its pack.
struct Year<'a> {
    pack: &'static str,
    figures: Figures,
    rules: &'a Figures,
}

/// The employee and the pay. Amounts are in cents.
#[derive(Clone, Copy)]
struct Pay {
    period: PayPeriod,
    age: &'static str,
    members: i64,
    regular: i64,
    /// An annual payment, such as a bonus.
    payment: i64,
    /// Contributions to retirement funds.
    retirement: i64,
    donation: i64,
}

impl Pay {
    /// Nothing, to be filled.
    const fn of(period: PayPeriod) -> Self {
        Self {
            period,
            age: AGES[0],
            members: 0,
            regular: 0,
            payment: 0,
            retirement: 0,
            donation: 0,
        }
    }
}

pub(super) fn cases() -> Vec<Case> {
    let rules = Figures::read(include_str!("za.toml"));
    let year = |pack, name| Year { pack, figures: rules.part(name), rules: &rules };
    let mut cases = Vec::new();
    for year in [year("ZA", "2026"), year("ZA-2025", "2025")] {
        for period in PERIODS {
            let pay = Pay::of(period);
            cases.extend(edges(&year, pay));
            cases.extend(credits(&year, pay));
            cases.extend(annual_payments(&year, pay));
        }
        cases.extend(retirement(&year));
        cases.extend(levies(&year));
        cases.extend(without_table(&year));
    }
    cases
}

/// Tax of the year after rebates and medical credits.
fn tax_of_year(year: &Year<'_>, pay: &Pay, balance: Exact) -> Exact {
    let figure = |name: &str| year.figures.number(name);
    let rebate = |age: &str, name: &str| {
        let is_due =
            AGES.iter().position(|it| *it == pay.age) >= AGES.iter().position(|it| *it == age);
        if is_due { figure(&format!("rebates.{name}")) } else { whole(0) }
    };
    let rebates =
        rebate(AGES[0], "primary") + rebate(AGES[1], "secondary") + rebate(AGES[2], "tertiary");
    let month = figure("medical.first") * whole(i128::from(pay.members.min(2)))
        + figure("medical.more") * whole(i128::from((pay.members - 2).max(0)));
    let tax = by_table(&year.figures.rows("table"), Edge::Over, balance);
    not_negative(tax - rebates - month * whole(12))
}

/// tax(AE) / periods + [tax(AE + payments) - tax(AE)].
fn paye(year: &Year<'_>, pay: &Pay) -> Exact {
    let periods = whole(i128::from(pay.period.per_year()));
    let equivalent = cents(pay.regular) * periods;
    let balance = |remuneration: Exact| {
        let most = remuneration * year.rules.number("retirement.rate");
        let most = most.min(year.figures.number("retirement_most"));
        let left = remuneration - (cents(pay.retirement) * periods).min(most);
        left - (cents(pay.donation) * periods).min(left * year.rules.number("donation.rate"))
    };
    let regular = tax_of_year(year, pay, balance(equivalent));
    let all = tax_of_year(year, pay, balance(equivalent + cents(pay.payment)));
    to_cent(regular / periods + (all - regular))
}

fn case(year: &Year<'_>, name: &str, pay: Pay) -> Case {
    let Pay { age, members, payment, retirement, donation, .. } = pay;
    let name = format!(
        "{name}, {age}, {members} members, payment {payment}, retirement {retirement}, donation {donation}"
    );
    let mut case = Case::new(year.pack, pay.period, name, pay.regular);
    case.attributes = vec![("age_group", age.to_owned())];
    case.inputs = vec![
        ("medical_members", members),
        ("deduction.retirement_annuity", retirement),
        ("deduction.donation", donation),
    ];
    case.earnings.push(("bonus", payment));
    case.expected = vec![("paye", paye(year, &pay))];
    case
}

/// Around each start of the table and each printed tax threshold: nothing is due up to the threshold.
fn edges(year: &Year<'_>, pay: Pay) -> Vec<Case> {
    let mut cases = Vec::new();
    for age in AGES {
        let threshold = year.figures.number(&format!("thresholds.{age}"));
        let starts = year.figures.rows("table").into_iter().skip(1).map(|row| row.start);
        for edge in starts.chain([threshold]) {
            for regular in around(edge / whole(i128::from(pay.period.per_year()))) {
                cases.push(case(year, "edge", Pay { age, regular, ..pay }));
            }
        }
    }
    cases
}

/// Medical scheme members with pay below and above what their credits cover.
fn credits(year: &Year<'_>, pay: Pay) -> Vec<Case> {
    let mut cases = Vec::new();
    for members in [1, 2, 3, 5, 12] {
        for annual in [9_900_000, 14_000_000, 24_510_001, 60_000_000] {
            let regular = annual / i64::from(pay.period.per_year());
            cases.push(case(year, "credits", Pay { members, regular, ..pay }));
            cases.push(case(year, "credits", Pay { members, regular, age: AGES[1], ..pay }));
        }
    }
    cases
}

/// Payments that stay in the band of the salary, and that cross bands or the tax threshold.
fn annual_payments(year: &Year<'_>, pay: Pay) -> Vec<Case> {
    let mut cases = Vec::new();
    for annual in [9_000_000, 24_000_000, 36_000_000, 80_000_000, 187_000_000] {
        let regular = annual / i64::from(pay.period.per_year());
        for payment in [1, 100_000, 3_000_000, 50_000_000] {
            cases.push(case(year, "payment", Pay { regular, payment, ..pay }));
            cases.push(case(
                year,
                "payment",
                Pay { regular, payment, members: 3, age: AGES[2], ..pay },
            ));
        }
    }
    cases
}

/// Section 11F: contributions below, at and above 27.5 % of remuneration and the amount of the year. Section 18A: donations around 5 %.
fn retirement(year: &Year<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for regular in [1_000_000, 2_500_000, 9_000_000, 20_000_000] {
        let pay = Pay { regular, ..Pay::of(PayPeriod::Monthly) };
        let part = cents(regular) * year.rules.number("retirement.rate");
        let most = year.figures.number("retirement_most") / whole(12);
        for retirement in around(part).into_iter().chain(around(most)).chain([regular / 10]) {
            cases.push(case(year, "retirement", Pay { retirement, ..pay }));
        }
        for donation in around(cents(regular) * year.rules.number("donation.rate")) {
            cases.push(case(year, "donation", Pay { donation, ..pay }));
            cases.push(case(year, "donation", Pay { donation, retirement: regular / 10, ..pay }));
        }
    }
    cases
}

/// UIF of each side up to its limit, SDL where the payroll is above its limit.
fn levies(year: &Year<'_>) -> Vec<Case> {
    let limit = year.rules.number("uif.month");
    let mut cases = Vec::new();
    for payroll in around(year.rules.number("sdl.payroll")) {
        for pay in around(limit).into_iter().chain([0, 150_050, 5_000_050]) {
            let name = format!("levies of a payroll of {payroll}");
            let mut case = Case::new(year.pack, PayPeriod::Monthly, name, pay);
            case.inputs = vec![("employer_annual_payroll", payroll)];
            let uif = to_cent(cents(pay).min(limit) * year.rules.number("uif.rate"));
            let is_due = cents(payroll) > year.rules.number("sdl.payroll");
            let sdl = if is_due { cents(pay) * year.rules.number("sdl.rate") } else { whole(0) };
            case.expected = vec![("uif", uif), ("uif_employer", uif), ("sdl", to_cent(sdl))];
            cases.push(case);
        }
    }
    cases
}

/// Non-standard employment and directives: no rebates.
fn without_table(year: &Year<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for pay in [800_000, 2_345_678] {
        let new = |name: &str| Case::new(year.pack, PayPeriod::Monthly, name.to_owned(), pay);
        let mut non_standard = new("non-standard");
        non_standard.attributes = vec![("non_standard", "true".to_owned())];
        let tax = to_cent(cents(pay) * year.rules.number("non_standard.rate"));
        non_standard.expected = vec![("paye", tax)];
        cases.push(non_standard);
        let mut percentage = new("directive of 18.5 %");
        percentage.attributes = vec![("directive", "percentage".to_owned())];
        percentage.inputs = vec![("directive_rate", 1_850)];
        percentage.expected = vec![("paye", to_cent(cents(pay) * Exact::new(185, 1000)))];
        cases.push(percentage);
        let mut amount = new("directive of an amount");
        amount.attributes = vec![("directive", "amount".to_owned())];
        amount.inputs = vec![("directive_amount", 123_456)];
        amount.expected = vec![("paye", cents(123_456))];
        cases.push(amount);
    }
    cases
}

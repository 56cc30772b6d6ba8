//! PAYE of Nigeria since 2026: a tax of the year, a bonus counted once; pension, housing fund and levies. The law rounds nowhere, and the
//! two divisions may differ by two kobo.

use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{Edge, Exact, Figures, around, by_table, cents, not_negative, to_cent, whole};

/// The employee and the pay of a month, in kobo.
#[derive(Clone, Copy, Default)]
struct Pay {
    basic: i64,
    housing: i64,
    transport: i64,
    other: i64,
    bonus: i64,
    rent_of_year: i64,
    premium: i64,
    with_housing_fund: bool,
    without_pension: bool,
}

pub(super) fn cases() -> Vec<Case> {
    let f = Figures::read(include_str!("ng.toml"));
    let mut cases = Vec::new();
    for month in [1, 5, 12] {
        for row in f.rows("paye.table").into_iter().skip(1) {
            for pay in pays_around(&f, row.start) {
                cases.push(case(&f, month, pay));
            }
        }
    }
    for basic in around(f.number("paye.minimum_wage_of_month")) {
        cases.push(case(&f, 1, Pay { basic, ..Pay::default() }));
        cases.push(case(&f, 1, Pay { basic, bonus: 10_000_000, ..Pay::default() }));
    }
    cases.extend(reliefs(&f));
    cases.extend(bonuses(&f));
    cases.extend(levies(&f));
    cases
}

fn pension(f: &Figures, pay: &Pay, side: &str) -> Exact {
    let base = cents(pay.basic + pay.housing + pay.transport);
    let rate = f.number(&format!("pension.{side}"));
    if pay.without_pension { whole(0) } else { to_cent(base * rate) }
}

fn housing_fund(f: &Figures, pay: &Pay) -> Exact {
    let rate = f.number("housing_fund.rate");
    if pay.with_housing_fund { to_cent(cents(pay.basic) * rate) } else { whole(0) }
}

fn regular(pay: &Pay) -> Exact {
    cents(pay.basic + pay.housing + pay.transport + pay.other)
}

/// Chargeable income of the year without a bonus; it can be below zero.
fn chargeable(f: &Figures, pay: &Pay) -> Exact {
    let rent = cents(pay.rent_of_year) * f.number("paye.rent_relief.part");
    let rent = rent.min(f.number("paye.rent_relief.most"));
    let of_month = pension(f, pay, "employee") + housing_fund(f, pay) + cents(pay.premium);
    (regular(pay) - of_month) * whole(12) - rent
}

fn paye(f: &Figures, pay: &Pay) -> Exact {
    if regular(pay) <= f.number("paye.minimum_wage_of_month") {
        return whole(0);
    }
    let tax = |income: Exact| by_table(&f.rows("paye.table"), Edge::Over, not_negative(income));
    let year = tax(chargeable(f, pay));
    let with = tax(chargeable(f, pay) + cents(pay.bonus));
    to_cent(year / whole(12) + (with - year))
}

/// Salaries of three parts whose chargeable income is around an amount.
fn pays_around(f: &Figures, edge: Exact) -> Vec<Pay> {
    let salary = |pay: i64| Pay {
        basic: pay / 2,
        housing: pay / 4,
        transport: pay / 8,
        other: pay - pay / 2 - pay / 4 - pay / 8,
        ..Pay::default()
    };
    let (mut below, mut above) = (0_i64, 1_000_000_000_i64);
    while above - below > 1 {
        let middle = i64::midpoint(below, above);
        let exceeds = chargeable(f, &salary(middle)) > edge;
        *if exceeds { &mut above } else { &mut below } = middle;
    }
    [below - 100, below, above, above + 100].map(salary).to_vec()
}

fn case(f: &Figures, month: u32, pay: Pay) -> Case {
    let Pay { housing, transport, other, bonus, rent_of_year, premium, .. } = pay;
    let name = format!(
        "month {month}, {housing} {transport} {other}, bonus {bonus}, rent {rent_of_year}, premium {premium}, {} {}",
        pay.with_housing_fund, pay.without_pension
    );
    let mut case = Case::new("NG", PayPeriod::Monthly, name, pay.basic);
    case.number = month;
    case.tolerance = 2;
    case.attributes = vec![
        ("nhf", pay.with_housing_fund.to_string()),
        ("pension", (!pay.without_pension).to_string()),
    ];
    case.inputs = vec![("annual_rent", rent_of_year), ("claim.life_insurance", premium)];
    case.earnings.extend([
        ("housing", housing),
        ("transport", transport),
        ("overtime", other),
        ("bonus", bonus),
    ]);
    case.expected = vec![
        ("paye", paye(f, &pay)),
        ("pension", pension(f, &pay, "employee")),
        ("pension_employer", pension(f, &pay, "employer")),
        ("nhf", housing_fund(f, &pay)),
        ("nsitf", to_cent((regular(&pay) + cents(bonus)) * f.number("levies.nsitf"))),
    ];
    case
}

const SALARIES: [Pay; 3] = {
    let none = Pay {
        basic: 0,
        housing: 0,
        transport: 0,
        other: 0,
        bonus: 0,
        rent_of_year: 0,
        premium: 0,
        with_housing_fund: false,
        without_pension: false,
    };
    [
        Pay { basic: 10_000_000, housing: 3_000_000, transport: 2_000_007, ..none },
        Pay { basic: 50_000_000, other: 1_234_567, ..none },
        Pay { basic: 300_000_000, housing: 100_000_000, transport: 50_000_000, ..none },
    ]
};

/// Rent below, at and above what the limit of 500,000 allows; a premium; the housing fund; no pension.
fn reliefs(f: &Figures) -> Vec<Case> {
    let mut cases = Vec::new();
    for pay in SALARIES {
        let most = f.number("paye.rent_relief.most") / f.number("paye.rent_relief.part");
        for rent_of_year in around(most).into_iter().chain([30_000_000, 900_000_000]) {
            cases.push(case(f, 3, Pay { rent_of_year, ..pay }));
            cases.push(case(f, 3, Pay { rent_of_year, with_housing_fund: true, ..pay }));
        }
        cases.push(case(f, 3, Pay { premium: 1_500_000, ..pay }));
        cases.push(case(f, 3, Pay { without_pension: true, ..pay }));
        cases.push(case(f, 3, Pay { with_housing_fund: true, without_pension: true, ..pay }));
    }
    cases
}

fn bonuses(f: &Figures) -> Vec<Case> {
    let mut cases = Vec::new();
    for pay in SALARIES {
        for bonus in [1, 5_000_000, 60_000_000, 400_000_000, 5_000_000_000] {
            cases.push(case(f, 12, Pay { bonus, ..pay }));
            cases.push(case(
                f,
                12,
                Pay { bonus, rent_of_year: 120_000_000, with_housing_fund: true, ..pay },
            ));
        }
    }
    cases
}

/// ITF from five employees.
fn levies(f: &Figures) -> Vec<Case> {
    let mut cases = Vec::new();
    for pay in SALARIES {
        for headcount in [1, 4, 5, 6] {
            let mut case = case(f, 1, pay);
            case.name = format!("{} of {headcount}", case.name);
            case.inputs.push(("employer_headcount", headcount));
            let is_due = whole(i128::from(headcount)) >= f.number("levies.itf_from");
            let itf = if is_due { regular(&pay) * f.number("levies.itf") } else { whole(0) };
            case.expected.push(("itf", to_cent(itf)));
            cases.push(case);
        }
    }
    cases
}

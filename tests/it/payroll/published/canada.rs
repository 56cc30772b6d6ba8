//! T4127, option 1, for Ontario: tax of regular pay, the bonus method, CPP, CPP2 and EI. Salary and payment are rounded each by itself, at
//! the end.

use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{Exact, Figures, around, cents, down_to_cent, not_negative, to_cent, whole};
use super::minor;
use super::united_states::PERIODS;

/// The employee and the pay. Amounts are in cents.
#[derive(Clone, Copy)]
struct Pay {
    period: PayPeriod,
    /// I, the regular pay.
    regular: i64,
    /// B, the irregular payment of this pay.
    bonus: i64,
    /// F and U1: registered pension and union dues of the regular pay.
    rpp: i64,
    dues: i64,
    federal_code: usize,
    ontario_code: usize,
    /// B1, the irregular payments of earlier pays of the year.
    earlier: i64,
    /// Whether code 1 follows the basic amount as it falls.
    is_tapered: bool,
    free: Free,
    before: Before,
}

/// The exemptions of the employee: code E of both forms, form CPT30, employment that is not insurable.
#[derive(Clone, Copy, Default)]
struct Free {
    tax: bool,
    cpp: bool,
    ei: bool,
}

/// Totals of the year before the pay, in cents: D, D2, D1 and pensionable earnings.
#[derive(Clone, Copy, Default)]
struct Before {
    pensionable: i64,
    cpp: i64,
    cpp2: i64,
    ei: i64,
}

/// C, C2 and EI of a pay.
#[derive(Clone, Copy)]
struct Contributions {
    cpp: Exact,
    cpp2: Exact,
    ei: Exact,
}

fn contributions(f: &Figures, pay: &Pay, pensionable: Exact) -> Contributions {
    let periods = whole(i128::from(pay.period.per_year()));
    let Before { pensionable: earlier, cpp, cpp2, ei } = pay.before;
    let exemption = down_to_cent(f.number("cpp.exemption") / periods);
    let c = to_cent(not_negative(pensionable - exemption) * f.number("cpp.rate"));
    let over = cents(earlier).max(f.number("cpp.second_over"));
    let second =
        to_cent(not_negative(cents(earlier) + pensionable - over) * f.number("cpp.second_rate"));
    let left = |most: &str, taken: i64| not_negative(f.number(most) - cents(taken));
    let unless = |is_free: bool, amount: Exact| if is_free { whole(0) } else { amount };
    Contributions {
        cpp: unless(pay.free.cpp, c.min(left("cpp.most", cpp))),
        cpp2: unless(pay.free.cpp, second.min(left("cpp.second_most", cpp2))),
        ei: unless(
            pay.free.ei,
            to_cent(pensionable * f.number("ei.rate")).min(left("ei.most", ei)),
        ),
    }
}

/// A and the credits' bases with or without the irregular payment.
struct Annual {
    income: Exact,
    base_cpp: Exact,
    ei: Exact,
}

/// Steps 1 and 2 of the bonus method; F5 is parted by pay, and K2 uses the greater of P × C and the contributions to date.
fn annual(f: &Figures, pay: &Pay, with_bonus: bool) -> Annual {
    let periods = whole(i128::from(pay.period.per_year()));
    let (regular, bonus) = (cents(pay.regular), cents(pay.bonus));
    let all = contributions(f, pay, regular + bonus);
    let alone = contributions(f, pay, regular);
    let f5 = all.cpp * f.number("cpp.first_additional_rate") / f.number("cpp.rate") + all.cpp2;
    let f5b = if pay.bonus == 0 { whole(0) } else { to_cent(f5 * bonus / (regular + bonus)) };
    let taxable = regular - cents(pay.rpp) - cents(pay.dues) - (f5 - f5b);
    let once = |amount: Exact| if with_bonus { amount } else { whole(0) };
    // The contributions on earlier payments are those of their own rates; their first additional part is F5BYTD.
    let earlier = cents(pay.earlier);
    let kept = earlier - earlier * f.number("cpp.first_additional_rate");
    let earlier_cpp = earlier * f.number("cpp.rate");
    let earlier_ei = earlier * f.number("ei.rate");
    let cpp =
        (periods * alone.cpp + earlier_cpp).max(cents(pay.before.cpp)) + once(all.cpp - alone.cpp);
    let ei = (periods * alone.ei + earlier_ei).max(cents(pay.before.ei)) + once(all.ei - alone.ei);
    let base_part = f.number("cpp.base_rate") / f.number("cpp.rate");
    Annual {
        income: not_negative(periods * taxable) + kept + once(bonus - f5b),
        base_cpp: (cpp * base_part).min(f.number("cpp.most_base")),
        ei: ei.min(f.number("ei.most")),
    }
}

/// R x A - K.
fn by_constants(f: &Figures, path: &str, income: Exact) -> Exact {
    // The third column is K, and the tax is R x A - K.
    let rows = f.rows(path);
    let row = rows.iter().rfind(|row| income > row.start).unwrap_or(&rows[0]);
    row.rate * income - row.base
}

/// T1.
fn federal(f: &Figures, pay: &Pay, year: &Annual) -> Exact {
    let lowest = f.rows("federal.rates")[0].rate;
    let mut claim = f.numbers("federal.claims")[pay.federal_code];
    if pay.is_tapered && pay.federal_code == 1 {
        let basic = |name: &str| f.number(&format!("federal.basic.{name}"));
        let fall = (basic("most") - basic("least")) / (basic("upto") - basic("over"));
        let over = year.income.clamp(basic("over"), basic("upto")) - basic("over");
        claim = to_cent(basic("most") - over * fall);
    }
    let employment = year.income.min(f.number("federal.employment"));
    let credits = (claim + year.base_cpp + year.ei + employment) * lowest;
    if pay.free.tax {
        return whole(0);
    }
    not_negative(by_constants(f, "federal.rates", year.income) - credits)
}

/// T2 (code E leaves the health premium): T4, the surtax V1, the health premium V2 and the reduction S.
fn ontario(f: &Figures, pay: &Pay, year: &Annual) -> Exact {
    let lowest = f.rows("ontario.rates")[0].rate;
    let claim = f.numbers("ontario.claims")[pay.ontario_code];
    // Table 8.18 prints K1P in cents.
    let credits = to_cent(claim * lowest) + (year.base_cpp + year.ei) * lowest;
    let t4 = not_negative(by_constants(f, "ontario.rates", year.income) - credits);
    let t4 = if pay.free.tax { whole(0) } else { t4 };
    let surtax = f.rows("ontario.surtax");
    let v1 = surtax.iter().fold(whole(0), |sum, row| sum + not_negative(t4 - row.start) * row.rate);
    let v2 = health_premium(f, year.income);
    let room = f.number("ontario.reduction") * whole(2) - (t4 + v1);
    let reduction = not_negative(room.min(t4 + v1));
    t4 + v1 + v2 - reduction
}

fn health_premium(f: &Figures, income: Exact) -> Exact {
    let mut premium = whole(0);
    for row in f.cells("ontario.health") {
        if income > row[0] {
            premium = row[3].min(row[2] + row[1] * (income - row[0]));
        }
    }
    premium
}

fn case(f: &Figures, name: &str, pay: Pay) -> Case {
    let Pay { federal_code, ontario_code, before, .. } = pay;
    let name = format!(
        "{name}, codes {federal_code} {ontario_code} {}, bonus {} after {}, deductions {} {}, after {} {} {} {}",
        pay.is_tapered,
        pay.bonus,
        pay.earlier,
        pay.rpp,
        pay.dues,
        before.pensionable,
        before.cpp,
        before.cpp2,
        before.ei
    );
    let mut case = Case::new("CA", pay.period, name, pay.regular);
    case.number = if before.pensionable == 0 { 1 } else { 6 };
    let code = |code: usize| if pay.free.tax { "E".to_owned() } else { code.to_string() };
    let basic = if pay.is_tapered { "dynamic" } else { "code_1" };
    case.attributes = vec![
        ("federal_claim_code", code(federal_code)),
        ("ontario_claim_code", code(ontario_code)),
        ("cpp_exempt", pay.free.cpp.to_string()),
        ("ei_exempt", pay.free.ei.to_string()),
        ("bpaf", basic.to_owned()),
    ];
    case.inputs = vec![("deduction.rpp", pay.rpp), ("deduction.union_dues", pay.dues)];
    case.earnings.push(("bonus", pay.bonus));
    case.ytd = vec![
        ("gross", before.pensionable),
        ("irregular", pay.earlier),
        ("cpp", before.cpp),
        ("cpp2", before.cpp2),
        ("ei", before.ei),
    ];
    let all = contributions(f, &pay, cents(pay.regular + pay.bonus));
    let (without, with) = (annual(f, &pay, false), annual(f, &pay, true));
    let [federal_tax, ontario_tax] = [federal, ontario].map(|tax| {
        let bonus = to_cent(tax(f, &pay, &with) - tax(f, &pay, &without));
        tax_of_regular(f, &pay, tax) + bonus
    });
    case.expected = vec![
        ("federal_tax", federal_tax),
        ("ontario_tax", ontario_tax),
        ("cpp", all.cpp),
        ("cpp2", all.cpp2),
        ("ei", all.ei),
        ("cpp_employer", all.cpp + all.cpp2),
        ("ei_employer", to_cent(all.ei * f.number("ei.employer"))),
    ];
    if with.income <= f.number("irregular.low_income") {
        let low = cents(pay.bonus) * f.number("irregular.low_rate");
        case.expected[0].1 = to_cent(tax_of_regular(f, &pay, federal) + low);
        case.expected[1].1 = tax_of_regular(f, &pay, ontario);
    }
    case
}

/// Chapter 4, step 1: A of regular pay has no B1, and K2 no contributions on it.
fn tax_of_regular(f: &Figures, pay: &Pay, tax: fn(&Figures, &Pay, &Annual) -> Exact) -> Exact {
    let year = annual(f, &Pay { earlier: 0, ..*pay }, false);
    to_cent(tax(f, pay, &year) / whole(i128::from(pay.period.per_year())))
}

pub(super) fn cases() -> Vec<Case> {
    let f = Figures::read(include_str!("ca.toml"));
    let mut cases = Vec::new();
    for period in PERIODS {
        let pay = Pay {
            period,
            regular: 0,
            bonus: 0,
            rpp: 0,
            dues: 0,
            earlier: 0,
            federal_code: 1,
            ontario_code: 1,
            is_tapered: false,
            free: Free::default(),
            before: Before::default(),
        };
        cases.extend(exempt(&f, pay));
        cases.extend(income_edges(&f, pay));
        cases.extend(claims_and_deductions(&f, pay));
        cases.extend(contribution_edges(&f, pay));
        cases.extend(maxima(&f, pay));
        cases.extend(bonuses(&f, pay));
    }
    cases.push(example(&f));
    cases
}

/// The example of chapter 4: 1,000 a week, a payment of 2,500 after one of 1,500, federal TB 323.54.
fn example(f: &Figures) -> Case {
    let pay = Pay {
        period: PayPeriod::Weekly,
        regular: 100_000,
        bonus: 250_000,
        rpp: 0,
        dues: 0,
        earlier: 150_000,
        federal_code: 1,
        ontario_code: 1,
        is_tapered: false,
        free: Free::default(),
        before: Before::default(),
    };
    let mut example = case(f, "example", pay);
    let regular = tax_of_regular(f, &pay, federal);
    let printed = regular + f.number("irregular.example");
    assert_eq!(example.expected[0].1, printed, "the evaluator gives the printed tax");
    example.expected.truncate(2);
    example
}

/// Regular pay whose annual income A is just above an amount: the smallest such cent, and its neighbours.
fn pays_around(f: &Figures, pay: Pay, income: Exact) -> Vec<i64> {
    let exceeds = |regular: i64| annual(f, &Pay { regular, ..pay }, false).income > income;
    let (mut below, mut above) = (0_i64, 100_000_000_i64);
    while above - below > 1 {
        let middle = i64::midpoint(below, above);
        *if exceeds(middle) { &mut above } else { &mut below } = middle;
    }
    vec![below - 1, below, above, above + 1]
}

/// Around each start of the federal and Ontario rates and of the health premium.
fn income_edges(f: &Figures, pay: Pay) -> Vec<Case> {
    let federal = f.rows("federal.rates").into_iter().skip(1).map(|row| row.start);
    let ontario = f.rows("ontario.rates").into_iter().skip(1).map(|row| row.start);
    let health = f.cells("ontario.health").into_iter().map(|row| row[0]);
    let mut cases = Vec::new();
    for (index, income) in federal.chain(ontario).chain(health).enumerate() {
        for regular in pays_around(f, pay, income) {
            for is_tapered in [false, true] {
                let name = format!("income {index}");
                cases.push(case(f, &name, Pay { regular, is_tapered, ..pay }));
            }
        }
    }
    cases
}

fn claims_and_deductions(f: &Figures, pay: Pay) -> Vec<Case> {
    let mut cases = Vec::new();
    for code in 0..=10 {
        for annual in [2_500_000, 7_000_000, 19_000_000] {
            let regular = annual / i64::from(pay.period.per_year());
            let codes = Pay { federal_code: code, ontario_code: 10 - code, regular, ..pay };
            cases.push(case(f, "claims", codes));
            let reduced = Pay { rpp: regular / 20, dues: 1_234, ..codes };
            cases.push(case(f, "deductions", reduced));
        }
    }
    cases
}

/// Each exemption, and all of them.
fn exempt(f: &Figures, pay: Pay) -> Vec<Case> {
    let none = Free::default();
    let frees = [
        ("code E", Free { tax: true, ..none }),
        ("no CPP", Free { cpp: true, ..none }),
        ("no EI", Free { ei: true, ..none }),
        ("code E, no CPP, no EI", Free { tax: true, cpp: true, ei: true }),
    ];
    let mut cases = Vec::new();
    for (name, free) in frees {
        for annual in [1_300_000, 6_000_000, 13_000_000] {
            let regular = annual / i64::from(pay.period.per_year());
            cases.push(case(f, name, Pay { regular, free, ..pay }));
        }
    }
    cases
}

/// The exemption of the period, and the pay at which a rate rounds a cent up.
fn contribution_edges(f: &Figures, pay: Pay) -> Vec<Case> {
    let exemption = f.number("cpp.exemption") / whole(i128::from(pay.period.per_year()));
    let pays = around(exemption).into_iter().chain([50_000, 99_999, 100_001]);
    pays.map(|regular| case(f, "exemption", Pay { regular, ..pay })).collect()
}

/// After the maxima, and before them with contributions to date. The one pay that reaches a maximum is left to `reaching`.
fn maxima(f: &Figures, pay: Pay) -> Vec<Case> {
    let most = |path: &str| minor(f.number(path));
    let reached = Before {
        pensionable: 8_600_000,
        cpp: most("cpp.most"),
        cpp2: most("cpp.second_most"),
        ei: most("ei.most"),
    };
    let middle = Before { pensionable: 3_000_000, cpp: 160_000, cpp2: 0, ei: 48_900 };
    let mut cases = Vec::new();
    for annual in [4_500_000, 7_000_000, 12_000_000, 30_000_000] {
        let regular = annual / i64::from(pay.period.per_year());
        for before in [reached, middle] {
            cases.push(case(f, "year to date", Pay { regular, before, ..pay }));
        }
    }
    cases.extend(reaching(f, pay));
    cases
}

/// The pay that reaches a maximum of the year: contributions only, since the tax of this pay is disputed.
fn reaching(f: &Figures, pay: Pay) -> Vec<Case> {
    let regular = 600_000;
    let mut cases = Vec::new();
    for room in [1, 100, 9_779, 9_780, 9_781, 33_000, 40_000] {
        let cpp = minor(f.number("cpp.most")) - room;
        let ei = minor(f.number("ei.most")) - room;
        let cpp2 = minor(f.number("cpp.second_most")) - room;
        for pensionable in [6_859_999, 7_460_000, 8_200_000] {
            let before = Before { pensionable, cpp, cpp2, ei };
            let mut case = case(f, "reaching", Pay { regular, before, ..pay });
            case.expected.retain(|(line, _)| !line.ends_with("_tax"));
            cases.push(case);
        }
    }
    cases
}

/// The bonus method beside regular pay, and the flat rate of a low income.
fn bonuses(f: &Figures, pay: Pay) -> Vec<Case> {
    let mut cases = Vec::new();
    for annual in [60_000, 3_000_000, 5_500_000, 7_200_000, 11_500_000, 25_000_000] {
        let regular = annual / i64::from(pay.period.per_year());
        for bonus in [1, 100_000, 250_000, 600_000, 5_000_000] {
            let bonus = Pay { regular, bonus, ..pay };
            cases.push(case(f, "bonus", bonus));
            cases.push(case(f, "bonus", Pay { earlier: 333_333, ..bonus }));
            cases.push(case(
                f,
                "bonus",
                Pay { federal_code: 3, ontario_code: 0, dues: 501, ..bonus },
            ));
        }
    }
    cases
}

//! PAYE of Kenya on the month, NSSF, SHIF and the housing levy.

use jiff::civil::date;
use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{Edge, Exact, Figures, around, by_table, cents, not_negative, to_cent, whole};

/// The claims and benefits of an employee, in cents of a month.
#[derive(Clone, Copy, Default)]
struct Claims {
    pension: i64,
    medical_fund: i64,
    mortgage: i64,
    premium: i64,
    benefits: i64,
    is_foreign: bool,
    is_disabled: bool,
}

pub(super) fn cases() -> Vec<Case> {
    let f = Figures::read(include_str!("ke.toml"));
    let none = Claims::default();
    let mut cases = Vec::new();
    for month in [1, 2, 3, 6, 12] {
        let limits = f.numbers(if month == 1 { "nssf.january" } else { "nssf.february" });
        let least = f.number("shif.least") / f.number("shif.rate");
        for edge in limits.into_iter().chain([least]) {
            cases.extend(around(edge).into_iter().map(|pay| case(&f, month, none, pay)));
        }
        for row in f.rows("paye.table").into_iter().skip(1) {
            let pays = pays_around(&f, month, none, row.start).into_iter();
            cases.extend(pays.map(|pay| case(&f, month, none, pay)));
        }
    }
    cases.extend(reliefs(&f));
    cases.extend(year_before(&f));
    cases
}

/// The limits of January 2026 have applied since February 2025, and the deductions since December 2024.
fn year_before(f: &Figures) -> Vec<Case> {
    let mut pays: Vec<i64> = f.numbers("nssf.january").into_iter().flat_map(around).collect();
    for row in f.rows("paye.table").into_iter().skip(1) {
        pays.extend(pays_around(f, 1, Claims::default(), row.start));
    }
    let of = |pay: i64| {
        let mut case = case(f, 1, Claims::default(), pay);
        case.pack = "KE-2025";
        case.name = format!("of 2025, {}", case.name);
        case.on = Some(date(2025, 7, 25));
        case
    };
    pays.into_iter().map(of).collect()
}

/// NSSF of both tiers.
fn nssf(f: &Figures, month: i8, pay: Exact) -> [Exact; 2] {
    let limits = f.numbers(if month == 1 { "nssf.january" } else { "nssf.february" });
    let rate = f.number("nssf.rate");
    let second = pay.clamp(limits[0], limits[1]) - limits[0];
    [to_cent(pay.min(limits[0]) * rate), to_cent(second * rate)]
}

fn shif(f: &Figures, pay: Exact) -> Exact {
    to_cent(pay * f.number("shif.rate")).max(f.number("shif.least"))
}

fn taxable(f: &Figures, month: i8, claims: Claims, pay: Exact) -> Exact {
    let paye = |name: &str| f.number(&format!("paye.{name}"));
    let [first, second] = nssf(f, month, pay);
    let pension = first + second + cents(claims.pension);
    let pension = pension.min(pay * paye("pension.part")).min(paye("pension.most"));
    let benefits = cents(claims.benefits);
    let benefits = if benefits < paye("benefits") { whole(0) } else { benefits };
    let levy = to_cent(pay * f.number("levy.rate"));
    let deductions = pension
        + shif(f, pay)
        + levy
        + cents(claims.medical_fund).min(paye("medical_fund"))
        + cents(claims.mortgage).min(paye("mortgage_interest"));
    let exempt = if claims.is_disabled { paye("disability") } else { whole(0) };
    not_negative(not_negative(pay + benefits - deductions) - exempt)
}

fn income_tax(f: &Figures, month: i8, claims: Claims, pay: Exact) -> Exact {
    let tax = by_table(&f.rows("paye.table"), Edge::Over, taxable(f, month, claims, pay));
    let premium = cents(claims.premium) * f.number("paye.insurance_relief.rate");
    let relief =
        f.number("paye.personal_relief") + premium.min(f.number("paye.insurance_relief.most"));
    let relief = if claims.is_foreign { whole(0) } else { relief };
    to_cent(not_negative(tax - relief))
}

/// The smallest pay whose taxable pay exceeds an amount, and its neighbours.
fn pays_around(f: &Figures, month: i8, claims: Claims, edge: Exact) -> Vec<i64> {
    let (mut below, mut above) = (0_i64, 500_000_000_i64);
    while above - below > 1 {
        let middle = i64::midpoint(below, above);
        let exceeds = taxable(f, month, claims, cents(middle)) > edge;
        *if exceeds { &mut above } else { &mut below } = middle;
    }
    vec![below - 1, below, above, above + 1]
}

fn case(f: &Figures, month: i8, claims: Claims, pay: i64) -> Case {
    let Claims { pension, medical_fund, mortgage, premium, benefits, is_foreign, is_disabled } =
        claims;
    let name = format!(
        "month {month}, claims {pension} {medical_fund} {mortgage} {premium} {benefits} {is_foreign} {is_disabled}"
    );
    let mut case = Case::new("KE", PayPeriod::Monthly, name, pay);
    case.number = u32::try_from(month).unwrap();
    case.on = Some(date(2026, month, 25));
    case.attributes = vec![
        ("resident", (!is_foreign).to_string()),
        ("disability_exemption", is_disabled.to_string()),
    ];
    case.inputs = vec![
        ("deduction.pension", pension),
        ("deduction.prmf", medical_fund),
        ("claim.mortgage_interest", mortgage),
        ("claim.insurance_premium", premium),
    ];
    case.earnings.push(("benefit_in_kind", benefits));
    let pay = cents(pay);
    let [first, second] = nssf(f, month, pay);
    let levy = to_cent(pay * f.number("levy.rate"));
    case.expected = vec![
        ("paye", income_tax(f, month, claims, pay)),
        ("nssf_tier_1", first),
        ("nssf_tier_2", second),
        ("nssf_employer", first + second),
        ("shif", shif(f, pay)),
        ("housing_levy", levy),
        ("housing_levy_employer", levy),
        ("nita", f.number("nita.amount")),
    ];
    case
}

/// Each relief below, at and above its limit.
fn reliefs(f: &Figures) -> Vec<Case> {
    let none = Claims::default();
    let mut claims = vec![
        none,
        Claims { is_foreign: true, ..none },
        Claims { is_foreign: true, premium: 100_000, ..none },
        Claims { is_disabled: true, ..none },
        Claims { is_disabled: true, pension: 1_000_000, ..none },
        Claims { premium: 100_000, ..none },
        Claims { premium: 3_333_333, ..none },
        Claims { premium: 3_333_334, ..none },
        Claims { premium: 5_000_000, ..none },
    ];
    for amount in [500_000, 1_499_999, 1_500_000, 1_500_001, 2_999_999, 3_000_000, 3_000_001] {
        claims.push(Claims { pension: amount, ..none });
        claims.push(Claims { medical_fund: amount, ..none });
        claims.push(Claims { mortgage: amount, ..none });
    }
    for benefits in [100, 499_999, 500_000, 500_001, 2_000_000] {
        claims.push(Claims { benefits, ..none });
    }
    let pays = [2_000_000, 4_500_055, 8_000_000, 19_999_999, 60_000_001];
    let of = |claims: &Claims| pays.map(|pay| case(f, 8, *claims, pay));
    claims.iter().flat_map(of).collect()
}

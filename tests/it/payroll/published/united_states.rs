//! Federal taxes of the United States: Publication 15-T, worksheet 1A; FICA; FUTA; supplemental wages.

use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{
    Edge, Exact, Figures, around, by_table, cents, not_negative, part_of_year, to_cent, whole,
};

pub(super) const PERIODS: [PayPeriod; 4] =
    [PayPeriod::Monthly, PayPeriod::Semimonthly, PayPeriod::Biweekly, PayPeriod::Weekly];
const STATUSES: [&str; 3] = ["single", "married", "head_of_household"];

/// A year and its pack.
#[derive(Clone)]
struct Year {
    pack: &'static str,
    figures: Figures,
}

/// Form W-4. Amounts are in cents.
#[derive(Clone, Copy, Default)]
struct Certificate {
    status: &'static str,
    step_2: bool,
    step_3: i64,
    step_4a: i64,
    step_4b: i64,
    step_4c: i64,
}

pub(super) fn cases() -> Vec<Case> {
    let figures = Figures::read(include_str!("us.toml"));
    let year = |pack, name| Year { pack, figures: figures.part(name) };
    let (this, before) = (year("US", "2026"), year("US-2025", "2025"));
    let mut cases = edges(&this, &PERIODS);
    cases.extend(edges(&before, &PERIODS[..1]));
    cases.extend(exact_edges(&this));
    cases.extend(exact_edges(&before));
    cases.extend(steps(&this));
    cases.extend(social(&this, &figures));
    cases.extend(social(&before, &figures));
    cases.extend(supplements(&this, &figures));
    cases.extend(deductions(&this, &figures));
    cases
}

/// Worksheet 1A; the amounts of lines 2g, 2h and 3b are whole cents.
fn income_tax(year: &Year, form: Certificate, wages: Exact, periods: u32) -> Exact {
    let periods = whole(i128::from(periods));
    let income = wages * periods + cents(form.step_4a); // 1e
    let allowance = year.figures.number(&format!("step_1g.{}", form.status));
    let allowance = if form.step_2 { whole(0) } else { allowance }; // 1g
    let adjusted = not_negative(income - (cents(form.step_4b) + allowance)); // 1i
    let schedule = if form.step_2 { "checkbox" } else { "standard" };
    let rows = year.figures.rows(&format!("{schedule}.{}", form.status));
    let tentative = to_cent(to_cent(by_table(&rows, Edge::AtLeast, adjusted)) / periods); // 2h
    let credits = to_cent(cents(form.step_3) / periods); // 3b
    not_negative(tentative - credits) + cents(form.step_4c)
}

fn question(year: &Year, period: PayPeriod, form: Certificate, name: &str, pay: i64) -> Case {
    let box_2 = if form.step_2 { "with step 2" } else { "without step 2" };
    let name = format!("{name}, {} {box_2}", form.status);
    let mut case = Case::new(year.pack, period, name, pay);
    case.attributes =
        vec![("filing_status", form.status.to_owned()), ("multiple_jobs", form.step_2.to_string())];
    case.inputs = vec![
        ("credits", form.step_3),
        ("other_income", form.step_4a),
        ("deductions", form.step_4b),
        ("extra_withholding", form.step_4c),
    ];
    let tax = income_tax(year, form, cents(pay), period.per_year());
    case.expected = vec![("federal_income_tax", tax)];
    case
}

fn forms() -> impl Iterator<Item = Certificate> {
    let form =
        |step_2| STATUSES.map(|status| Certificate { status, step_2, ..Certificate::default() });
    [false, true].into_iter().flat_map(form)
}

fn starts(year: &Year, form: Certificate) -> Vec<Exact> {
    let schedule = if form.step_2 { "checkbox" } else { "standard" };
    let rows = year.figures.rows(&format!("{schedule}.{}", form.status));
    rows.iter().skip(1).map(|row| row.start).collect()
}

/// Pay whose annual amount is just below, at and just above the start of each row.
fn edges(year: &Year, periods: &[PayPeriod]) -> Vec<Case> {
    let mut cases = Vec::new();
    for form in forms() {
        let line_1g = year.figures.number(&format!("step_1g.{}", form.status));
        let line_1g = if form.step_2 { whole(0) } else { line_1g };
        for (index, start) in starts(year, form).into_iter().enumerate() {
            for period in periods {
                let pay = (start + line_1g) / whole(i128::from(period.per_year()));
                let name = format!("row {index}");
                let around = around(pay).into_iter();
                cases.extend(around.map(|pay| question(year, *period, form, &name, pay)));
            }
        }
    }
    cases
}

/// "At least": an annual amount that equals the start of a row, by other income of step 4(a), is in that row.
fn exact_edges(year: &Year) -> Vec<Case> {
    let mut cases = Vec::new();
    for form in forms().filter(|form| form.step_2) {
        for (index, start) in starts(year, form).into_iter().enumerate() {
            let annual = i64::try_from((start * whole(100)).to_integer()).unwrap();
            let pay = annual / 1_200 * 100;
            let form = Certificate { step_4a: annual - pay * 12, ..form };
            let name = format!("exactly row {index}");
            cases.push(question(year, PayPeriod::Monthly, form, &name, pay));
        }
    }
    cases
}

/// Steps 3 and 4 of the form, and the claim of exemption.
fn steps(year: &Year) -> Vec<Case> {
    let mut cases = Vec::new();
    for form in forms() {
        for (index, period) in PERIODS.into_iter().enumerate() {
            let annual = [3_120_000, 5_200_000, 9_360_000, 23_400_000][index];
            let pay = annual / i64::from(period.per_year());
            let filled = [
                Certificate { step_3: 220_000, ..form },
                Certificate { step_3: 490_000, step_4c: 1_234, ..form },
                Certificate { step_4a: 1_000_001, ..form },
                Certificate { step_4b: 777_777, ..form },
                Certificate {
                    step_3: 50_000,
                    step_4a: 250_000,
                    step_4b: 123_456,
                    step_4c: 5_000,
                    ..form
                },
            ];
            for (index, form) in filled.into_iter().enumerate() {
                cases.push(question(year, period, form, &format!("steps {index}"), pay));
            }
            let extra = Certificate { step_4c: 5_000, ..form };
            let mut exempt = question(year, period, extra, "exempt", pay);
            exempt.attributes.push(("exempt", "true".to_owned()));
            exempt.expected = vec![("federal_income_tax", whole(0))];
            cases.push(exempt);
        }
    }
    cases
}

/// FICA and FUTA around the limits of the year: 26 USC 3121(a)(1), 3102(f), 3306(b)(1).
fn social(year: &Year, figures: &Figures) -> Vec<Case> {
    let base = year.figures.number("social_security_base");
    let additional = figures.number("social_security.additional_medicare_over");
    let futa = figures.number("futa.base");
    let mut cases = Vec::new();
    for (name, limit) in [("social security", base), ("additional", additional), ("futa", futa)] {
        for (index, period) in PERIODS.into_iter().enumerate() {
            let pay = [700_012, 333_333, 461_539, 99_999][index];
            for room in [-1, 0, 1, pay - 1, pay, pay + 1, pay / 2] {
                let limit = i64::try_from((limit * whole(100)).to_integer()).unwrap();
                let before = limit - room;
                if before < 0 {
                    continue;
                }
                let name = format!("{name} with {room} left");
                let mut case = Case::new(year.pack, period, name, pay);
                case.number = 9;
                case.ytd = vec![("gross", before)];
                case.expected = contributions(year, figures, cents(before), cents(pay));
                cases.push(case);
            }
        }
    }
    cases
}

fn contributions(
    year: &Year,
    figures: &Figures,
    before: Exact,
    pay: Exact,
) -> Vec<(&'static str, Exact)> {
    let upto = |limit| part_of_year(before, pay, whole(0), limit);
    let social = to_cent(
        upto(year.figures.number("social_security_base")) * figures.number("social_security.rate"),
    );
    let medicare = to_cent(pay * figures.number("social_security.medicare"));
    let over = figures.number("social_security.additional_medicare_over");
    let high = part_of_year(before, pay, over, whole(1_000_000_000));
    let additional = to_cent(high * figures.number("social_security.additional_medicare"));
    let rate = figures.number("futa.rate") - figures.number("futa.state_credit");
    vec![
        ("social_security", social),
        ("social_security_employer", social),
        ("medicare", medicare),
        ("medicare_employer", medicare),
        ("additional_medicare", additional),
        ("futa", to_cent(upto(figures.number("futa.base")) * rate)),
    ]
}

/// The flat rates beside regular wages, around one million of the year.
fn supplements(year: &Year, figures: &Figures) -> Vec<Case> {
    let (flat, high) = (figures.number("supplemental.flat"), figures.number("supplemental.high"));
    let over = figures.number("supplemental.high_over");
    let form = Certificate { status: "single", ..Certificate::default() };
    let mut cases = Vec::new();
    for (index, type_) in
        ["bonus", "commission", "severance", "back_pay", "award"].iter().enumerate()
    {
        let period = PERIODS[index % 4];
        for before in [0, 50_000_000, 99_000_000, 99_999_999, 100_000_000, 100_000_001] {
            let paid = 1_000_001;
            let name = format!("{type_} after {before}");
            let mut case = question(year, period, form, &name, 500_000);
            case.earnings.push((type_, paid));
            case.ytd = vec![("gross", before + 500_000), ("supplemental", before)];
            let (before, paid) = (cents(before), cents(paid));
            let low_part = part_of_year(before, paid, whole(0), over);
            let high_part = part_of_year(before, paid, over, whole(1_000_000_000));
            case.expected.extend([
                ("federal_income_tax_supplemental", to_cent(low_part * flat)),
                ("federal_income_tax_supplemental_high", to_cent(high_part * high)),
            ]);
            cases.push(case);
        }
    }
    cases.extend(aggregates(year));
    cases
}

/// The aggregate method: the supplement is added to the regular wages of the pay.
fn aggregates(year: &Year) -> Vec<Case> {
    let aggregate = |form: Certificate| {
        let mut case = question(year, PayPeriod::Monthly, form, "aggregate", 500_000);
        case.earnings.push(("bonus.aggregate", 1_000_000));
        let tax = income_tax(year, form, cents(1_500_000), 12);
        case.expected = vec![
            ("federal_income_tax", tax),
            ("federal_income_tax_supplemental", whole(0)),
            ("federal_income_tax_supplemental_high", whole(0)),
        ];
        case
    };
    forms().map(aggregate).collect()
}

/// Which deduction lowers the wages of which tax: 26 USC 125, 129, 132(f), 401(k), 402A, 3121(a)(5), 3121(v)(1), 3306(r)(1).
fn deductions(year: &Year, figures: &Figures) -> Vec<Case> {
    let types = figures.part("deductions");
    let mut cases = Vec::new();
    for type_ in types.names() {
        let lowers = types.texts(&type_);
        let amount = 23_456;
        let less = |tax: &str, pay: i64| {
            if lowers.iter().any(|it| it == tax) { pay - amount } else { pay }
        };
        for form in forms() {
            for pay in [250_000, 1_700_000] {
                let mut case = question(year, PayPeriod::Biweekly, form, &type_, pay);
                case.inputs.push((input_of(&type_), amount));
                let wages = cents(less("income tax", pay));
                case.expected = vec![("federal_income_tax", income_tax(year, form, wages, 26))];
                let wages = cents(less("social security", pay));
                case.expected.extend(contributions(year, figures, whole(0), wages));
                cases.push(case);
            }
        }
    }
    cases
}

/// The pack's input of a deduction.
pub(super) fn input_of(type_: &str) -> &'static str {
    const INPUTS: [&str; 9] = [
        "deduction.401k",
        "deduction.403b",
        "deduction.roth_401k",
        "deduction.s125_health",
        "deduction.hsa_s125",
        "deduction.fsa_health",
        "deduction.fsa_dependent_care",
        "deduction.commuter",
        "deduction.union_dues",
    ];
    INPUTS.into_iter().find(|input| input.strip_prefix("deduction.") == Some(type_)).unwrap()
}

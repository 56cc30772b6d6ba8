//! PAYE of the United Kingdom by HMRC's specification, and student and postgraduate loans.

use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{
    Exact, Figures, Row, around, cents, down_to_cent, not_negative, up_to_cent, whole,
};
use super::minor;

pub(super) const PERIODS: [PayPeriod; 4] =
    [PayPeriod::Weekly, PayPeriod::Biweekly, PayPeriod::Fourweekly, PayPeriod::Monthly];

/// A tax year and its pack.
struct Year<'a> {
    pack: &'static str,
    figures: Figures,
    rules: &'a Figures,
}

/// A tax code in parts.
struct Code<'a> {
    text: &'a str,
    bands: &'static str,
    flat: Option<Exact>,
    /// Free pay, or pay to be added.
    number: i128,
    is_k: bool,
}

pub(super) fn cases() -> Vec<Case> {
    let rules = Figures::read(include_str!("gb.toml"));
    let year = |pack, name| Year { pack, figures: rules.part(name), rules: &rules };
    let years = [year("GB", "2026"), year("GB-2025", "2025")];
    let mut cases = Vec::new();
    cases.extend(years_of_pay(&years[0]));
    cases.extend(band_edges(&years[0], &["1257L", "S1257L", "K475", "0T", "S0T", "C1257L"]));
    cases.extend(band_edges(&years[1], &["1257L", "S1257L"]));
    cases.extend(deductions(&years[0]));
    for year in &years {
        cases.extend(extra_weeks(year));
        cases.extend(loans(year));
    }
    cases
}

fn code<'a>(rules: &Figures, text: &'a str) -> Code<'a> {
    let flats = rules.part("paye.flat");
    let flat = match text {
        "NT" => Some(whole(0)),
        _ => flats.has(text).then(|| flats.number(text)),
    };
    let bands = if text.starts_with('S') { "scotland" } else { "rest" };
    let rest = text.trim_start_matches(['S', 'C']);
    let digits: String = rest.chars().filter(char::is_ascii_digit).collect();
    let number = if flat.is_some() || rest == "0T" { 0 } else { digits.parse().unwrap() };
    Code { text, bands, flat, number, is_k: rest.starts_with('K') }
}

/// The weeks or the month of a pay period.
fn weeks(period: PayPeriod) -> Option<i128> {
    match period {
        PayPeriod::Weekly => Some(1),
        PayPeriod::Biweekly => Some(2),
        PayPeriod::Fourweekly => Some(4),
        _ => None,
    }
}

/// Section 4.3.1: q times the amount of 500, and the rest rounded up to a penny.
fn free_pay(rules: &Figures, period: PayPeriod, number: i128) -> Exact {
    if number == 0 {
        return whole(0);
    }
    let (q, r) = ((number - 1) / 500, (number - 1) % 500 + 1);
    let (unit, parts, times) = match weeks(period) {
        Some(weeks) => (rules.number("paye.free_500.week"), 52, weeks),
        None => (rules.number("paye.free_500.month"), 12, 1),
    };
    (whole(q) * unit + up_to_cent(Exact::new(10 * r + 9, parts))) * whole(times)
}

/// Section 4.4: tax on the whole pounds of taxable pay to date, at period `k`.
fn tax_to_date(year: &Year<'_>, code: &Code<'_>, period: PayPeriod, k: i128, pay: Exact) -> Exact {
    let free = free_pay(year.rules, period, code.number) * whole(k);
    let taxable = if code.is_k { pay + free } else { pay - free };
    let pounds = not_negative(taxable).floor();
    if let Some(rate) = code.flat {
        return down_to_cent(pounds * rate);
    }
    let part = Exact::new(k, i128::from(period.per_year()));
    let rows: Vec<Row> = year.figures.rows(code.bands);
    let row = rows.iter().rfind(|row| taxable > (row.start * part).ceil());
    let tax = row.map_or(whole(0), |row| row.base * part + row.rate * (pounds - row.start * part));
    down_to_cent(tax)
}

/// Totals of the earlier pays of the year.
#[derive(Clone, Copy, Default)]
struct Before {
    pay: i64,
    tax: i64,
}

/// Section 4.5: the tax of this pay, at most half of it.
fn tax_of_pay(
    year: &Year<'_>,
    code: &Code<'_>,
    period: PayPeriod,
    k: u32,
    is_cumulative: bool,
    before: Before,
    pay: i64,
) -> Exact {
    let most = down_to_cent(cents(pay) * year.rules.number("paye.most"));
    let due = if is_cumulative {
        let to_date = cents(before.pay + pay);
        tax_to_date(year, code, period, i128::from(k), to_date) - cents(before.tax)
    } else {
        tax_to_date(year, code, period, 1, cents(pay))
    };
    due.min(most)
}

fn case(
    year: &Year<'_>,
    code: &Code<'_>,
    period: PayPeriod,
    k: u32,
    is_cumulative: bool,
    before: Before,
    pay: i64,
) -> Case {
    let basis = if is_cumulative { "cumulative" } else { "w1m1" };
    let name = format!("{} {basis}, period {k} after {} and {}", code.text, before.pay, before.tax);
    let mut case = Case::new(year.pack, period, name, pay);
    case.number = k;
    case.attributes = vec![("tax_code", code.text.to_owned()), ("tax_basis", basis.to_owned())];
    case.ytd = vec![("gross", before.pay), ("income_tax", before.tax)];
    let is_odd = k > period.per_year();
    let tax = tax_of_pay(year, code, period, k, is_cumulative && !is_odd, before, pay);
    case.expected = vec![("income_tax", tax)];
    case
}

const CODES: [&str; 34] = [
    "1257L", "1L", "0L", "500L", "501L", "1000T", "1382M", "1131N", "5012L", "S1257L", "S500T",
    "S1382M", "C1257L", "C1001N", "K1", "K100", "K475", "K1257", "SK475", "CK475", "BR", "D0",
    "D1", "0T", "NT", "S0T", "C0T", "SBR", "SD0", "SD1", "SD2", "SD3", "CBR", "CD1",
];

/// Years with unequal pays: zero, low, middle and high ones, so that there are refunds and the limit of half the pay acts.
fn years_of_pay(year: &Year<'_>) -> Vec<Case> {
    let annual = [3_000_000, 1_500_017, 0, 4_500_099, 20_000_050, 2_400_000, 900_001];
    let mut cases = Vec::new();
    for (index, text) in CODES.iter().enumerate() {
        let code = code(year.rules, text);
        for is_cumulative in [true, false] {
            let period = if index % 3 == 2 { PERIODS[index / 3 % 3] } else { PayPeriod::Monthly };
            let mut before = Before::default();
            for k in 1..=period.per_year() {
                let pay = annual[(k as usize + index) % 7] / i64::from(period.per_year());
                let case = case(year, &code, period, k, is_cumulative, before, pay);
                before.pay += pay;
                before.tax += minor(case.expected[0].1);
                if k < 4 || k % 7 == 0 || k + 2 > period.per_year() {
                    cases.push(case);
                }
            }
        }
    }
    cases
}

/// Pay that brings the taxable pay to date just below, to and just above the start of each band, in several months and weeks.
fn band_edges(year: &Year<'_>, codes: &[&str]) -> Vec<Case> {
    let mut cases = Vec::new();
    for text in codes {
        let code = code(year.rules, text);
        for period in PERIODS {
            for k in [1, 7, period.per_year()] {
                let free = free_pay(year.rules, period, code.number) * whole(i128::from(k));
                let part = Exact::new(i128::from(k), i128::from(period.per_year()));
                for row in year.figures.rows(code.bands) {
                    let start = row.start * part;
                    let edge = if code.is_k { start - free } else { start + free };
                    let up = if code.is_k { start.ceil() - free } else { start.ceil() + free };
                    if edge < whole(1) {
                        continue;
                    }
                    let pay_before =
                        (edge / whole(i128::from(k))).floor() * whole(i128::from(k - 1));
                    let earlier = i128::from(k - 1);
                    let tax = tax_to_date(year, &code, period, earlier, pay_before);
                    let before = Before { pay: minor(pay_before), tax: minor(tax) };
                    let mut pays = around(edge - pay_before);
                    pays.extend(around(up - pay_before));
                    pays.sort_unstable();
                    pays.dedup();
                    let pays = pays.into_iter();
                    cases.extend(pays.map(|pay| case(year, &code, period, k, true, before, pay)));
                }
            }
        }
    }
    cases
}

/// Deductions that lower taxable pay, National Insurance or neither; a benefit in kind is taxed, but is no pay for the limit of half.
fn deductions(year: &Year<'_>) -> Vec<Case> {
    let start = Before::default();
    let mut cases = Vec::new();
    for text in ["1257L", "S1257L", "K1257", "BR"] {
        let code = code(year.rules, text);
        for pay in [200_000, 550_005] {
            for (input, lowers_tax) in [
                ("deduction.pension_net_pay", true),
                ("deduction.salary_sacrifice", true),
                ("deduction.payroll_giving", true),
                ("deduction.pension_relief_at_source", false),
                ("deduction.union_dues", false),
            ] {
                let amount = 12_345;
                let taxed = if lowers_tax { pay - amount } else { pay };
                let tax = tax_of_pay(year, &code, PayPeriod::Monthly, 1, true, start, taxed);
                let name = format!("{text} with {input}");
                let mut case = Case::new(year.pack, PayPeriod::Monthly, name, pay);
                case.attributes = vec![("tax_code", text.to_owned())];
                case.inputs = vec![(input, amount)];
                case.expected = vec![("income_tax", tax)];
                cases.push(case);
            }
            let benefit = 99_999;
            let to_date = tax_to_date(year, &code, PayPeriod::Monthly, 1, cents(pay + benefit));
            let most = down_to_cent(cents(pay) * year.rules.number("paye.most"));
            let name = format!("{text} with a benefit");
            let mut case = Case::new(year.pack, PayPeriod::Monthly, name, pay);
            case.attributes = vec![("tax_code", text.to_owned())];
            case.earnings.push(("benefit_in_kind", benefit));
            case.expected = vec![("income_tax", to_date.min(most))];
            cases.push(case);
        }
    }
    cases
}

/// Week 53: taxed like week 1.
fn extra_weeks(year: &Year<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for text in ["1257L", "K100", "S1257L", "BR", "0T"] {
        let code = code(year.rules, text);
        for (period, k) in [(PERIODS[0], 53), (PERIODS[1], 27), (PERIODS[2], 14)] {
            for pay in [20_000, 75_050, 400_000] {
                let before = Before { pay: 3_000_000, tax: 300_000 };
                cases.push(case(year, &code, period, k, true, before, pay));
            }
        }
    }
    cases
}

/// The threshold in the proportion of the pay period, cut to a penny; whole pounds. Each loan by itself, and both at once.
fn loans(year: &Year<'_>) -> Vec<Case> {
    let plans = year.figures.part("student_loans");
    let postgraduate = year.rules.number("loans.postgraduate");
    let threshold = |annual: Exact, period: PayPeriod| match weeks(period) {
        Some(weeks) => down_to_cent(annual * Exact::new(weeks, 52)),
        None => down_to_cent(annual / whole(12)),
    };
    let loan = |pay: i64, threshold: Exact, rate: &str| {
        (not_negative(cents(pay) - threshold) * year.rules.number(rate)).floor()
    };
    let mut cases = Vec::new();
    for plan in plans.names() {
        for period in PERIODS {
            let from = threshold(plans.number(&plan), period);
            let post = threshold(postgraduate, period);
            for pounds in [0, 1, 2, 40, 400] {
                let edge = from + whole(pounds) / year.rules.number("loans.rate");
                let post_edge = post + whole(pounds) / year.rules.number("loans.postgraduate_rate");
                for pay in around(edge).into_iter().chain(around(post_edge)) {
                    let mut case = Case::new(year.pack, period, plan.clone(), pay);
                    case.attributes = vec![
                        ("student_loan", plan.clone()),
                        ("postgraduate_loan", "yes".to_owned()),
                    ];
                    case.expected = vec![
                        ("student_loan", loan(pay, from, "loans.rate")),
                        ("postgraduate_loan", loan(pay, post, "loans.postgraduate_rate")),
                    ];
                    cases.push(case);
                }
            }
        }
    }
    cases
}

//! California Method B, New York methods II and III, the Illinois automated method, and the contributions of these states.

use sandbox::model::payroll::PayPeriod;

use super::Case;
use super::figures::{
    Edge, Exact, Figures, Row, around, by_table, cents, down_to_cent, not_negative, part_of_year,
    to_cent, whole,
};
use super::united_states::{PERIODS, input_of};

pub(super) fn cases() -> Vec<Case> {
    let figures = Figures::read(include_str!("us-states.toml"));
    let mut cases = california(&figures.part("california"));
    cases.extend(new_york(&figures.part("new_york")));
    cases.extend(illinois(&figures.part("illinois")));
    cases.extend(deductions(&figures));
    cases
}

/// The printed starts and sums of a table, with its rates in their order.
fn printed(starts: &[Row], rates: &[Exact]) -> Vec<Row> {
    assert_eq!(starts.len(), rates.len());
    // In these tables the second column is the printed sum.
    starts
        .iter()
        .zip(rates)
        .map(|(row, rate)| Row { start: row.start, rate: *rate, base: row.rate })
        .collect()
}

/// Form DE 4.
#[derive(Clone, Copy)]
struct De4 {
    status: &'static str,
    line_1a: usize,
    line_1b: usize,
    line_2: i64,
}

impl De4 {
    /// The column of tables 1 and 3.
    fn column(self) -> usize {
        let is_low = self.status == "single" || (self.status == "married" && self.line_1a < 2);
        usize::from(!is_low)
    }
}

fn california_tax(figures: &Figures, period: PayPeriod, form: De4, wages: Exact) -> Exact {
    let figures_of_period = figures.part(period.name());
    let figure = |table: &str, column: usize| figures_of_period.numbers(table)[column];
    if wages <= figure("low_income", form.column()) {
        return cents(form.line_2);
    }
    let taxable = wages
        - figure("estimated_deduction", form.line_1b)
        - figure("standard_deduction", form.column());
    let rows = printed(&figures_of_period.rows(form.status), &figures.numbers("rates"));
    let tax = to_cent(by_table(&rows, Edge::Over, not_negative(taxable)));
    not_negative(tax - figure("credit", form.line_1a)) + cents(form.line_2)
}

fn california(figures: &Figures) -> Vec<Case> {
    let mut cases = Vec::new();
    let form = |status, line_1a| De4 { status, line_1a, line_1b: 0, line_2: 0 };
    let forms = [
        form("single", 0),
        form("married", 0),
        form("married", 1),
        form("married", 2),
        form("head_of_household", 0),
    ];
    for period in PERIODS {
        let figures_of_period = figures.part(period.name());
        for form in forms {
            let low_income = figures_of_period.numbers("low_income")[form.column()];
            let deduction = figures_of_period.numbers("standard_deduction")[form.column()];
            let rows = figures_of_period.rows(form.status);
            let starts = rows.iter().skip(1).map(|row| row.start + deduction);
            for edge in starts.chain([low_income]) {
                let pays = around(edge).into_iter();
                cases.extend(pays.map(|pay| california_case(figures, period, form, pay)));
            }
        }
        for count in 0..=10 {
            let pay = 6_000_000 / i64::from(period.per_year());
            let filled = De4 { line_1b: 10 - count, line_2: 1_111, ..form("single", count) };
            cases.push(california_case(figures, period, filled, pay));
            cases.push(california_case(figures, period, form("married", count), pay * 3));
        }
        cases.extend(california_contributions(figures, period));
    }
    cases
}

fn california_case(figures: &Figures, period: PayPeriod, form: De4, pay: i64) -> Case {
    let De4 { status, line_1a, line_1b, line_2 } = form;
    let name = format!("{status} {line_1a} {line_1b} {line_2}");
    let mut case = Case::new("US-CA", period, name, pay);
    case.attributes = vec![
        ("filing_status", status.to_owned()),
        ("allowances", line_1a.to_string()),
        ("estimated_allowances", line_1b.to_string()),
    ];
    case.inputs = vec![("extra_withholding", line_2)];
    case.expected = vec![
        ("state_income_tax", california_tax(figures, period, form, cents(pay))),
        ("sdi", to_cent(cents(pay) * figures.number("sdi"))),
    ];
    case
}

fn california_contributions(figures: &Figures, period: PayPeriod) -> Vec<Case> {
    let pay = 123_457;
    let base = figures.number("unemployment_base");
    let case = |before: i64| {
        let mut case = Case::new("US-CA", period, format!("contributions after {before}"), pay);
        case.ytd = vec![("gross", before)];
        let part = part_of_year(cents(before), cents(pay), whole(0), base);
        case.expected = vec![
            ("state_unemployment", to_cent(part * figures.number("unemployment"))),
            ("employment_training", to_cent(part * figures.number("training"))),
        ];
        case
    };
    [0, 576_542, 576_543, 576_544, 640_000, 699_999, 700_000, 700_001].map(case).to_vec()
}

fn new_york_tax(
    figures: &Figures,
    period: PayPeriod,
    status: &str,
    allowances: i64,
    wages: Exact,
) -> Exact {
    let of_period = figures.part(period.name());
    let exemptions = of_period.number("exemption") * whole(i128::from(allowances));
    let net = not_negative(wages - of_period.number(&format!("deduction.{status}")) - exemptions);
    if net >= of_period.number(&format!("{status}_method_3")) {
        let periods = whole(i128::from(period.per_year()));
        let annual = net * periods;
        let rows = figures.rows("method_3");
        let rate = rows.iter().rfind(|row| annual >= row.start).unwrap().rate;
        return to_cent(annual * rate / periods);
    }
    let rates = figures.numbers(&format!("{status}_rates"));
    to_cent(by_table(&printed(&of_period.rows(status), &rates), Edge::AtLeast, net))
}

fn new_york(figures: &Figures) -> Vec<Case> {
    let mut cases = Vec::new();
    for period in PERIODS {
        let of_period = figures.part(period.name());
        for status in ["single", "married"] {
            let deduction = of_period.number(&format!("deduction.{status}"));
            let starts = of_period.rows(status).into_iter().map(|row| row.start);
            let last = of_period.number(&format!("{status}_method_3"));
            let high = figures.rows("method_3").into_iter().skip(1);
            let high = high.map(|row| row.start / whole(i128::from(period.per_year())));
            for edge in starts.chain([last]).chain(high) {
                let pays = around(edge + deduction).into_iter();
                cases.extend(pays.map(|pay| new_york_case(figures, period, status, 0, pay)));
            }
            for allowances in [1, 4, 10, 11, 14] {
                let pay = 9_000_000 / i64::from(period.per_year());
                cases.push(new_york_case(figures, period, status, allowances, pay));
            }
        }
        cases.extend(new_york_contributions(figures, period));
    }
    cases
}

fn new_york_case(
    figures: &Figures,
    period: PayPeriod,
    status: &'static str,
    allowances: i64,
    pay: i64,
) -> Case {
    let mut case = Case::new("US-NY", period, format!("{status} {allowances}"), pay);
    case.attributes = vec![("filing_status", status.to_owned())];
    case.inputs = vec![("allowances", allowances), ("extra_withholding", 777)];
    let tax = new_york_tax(figures, period, status, allowances, cents(pay));
    let limit = figures.number(&format!("{}.dbl", period.name()));
    case.expected = vec![
        ("state_income_tax", tax + cents(777)),
        ("dbl", to_cent(cents(pay) * figures.number("dbl")).min(limit)),
    ];
    case
}

/// Paid Family Leave to its amount of the year, DBL to its amount of the pay, unemployment to its base.
fn new_york_contributions(figures: &Figures, period: PayPeriod) -> Vec<Case> {
    let pay = 345_679;
    let case = |before: i64| {
        let mut case = Case::new("US-NY", period, format!("contributions after {before}"), pay);
        let most = figures.number("pfl_of_year");
        let taken = down_to_cent(cents(before) * figures.number("pfl")).min(most);
        let taken_cents = i64::try_from((taken * whole(100)).to_integer()).unwrap();
        case.ytd = vec![("gross", before), ("pfl", taken_cents)];
        let base = figures.number("unemployment_base");
        let part = part_of_year(cents(before), cents(pay), whole(0), base);
        let pfl = to_cent(cents(pay) * figures.number("pfl")).min(most - taken);
        case.expected = vec![
            ("pfl", pfl),
            ("state_unemployment", to_cent(part * figures.number("unemployment"))),
            ("reemployment_fund", to_cent(part * figures.number("reemployment"))),
        ];
        case
    };
    let befores =
        [0, 1_414_320, 1_414_321, 1_414_322, 1_760_000, 1_760_001, 9_300_000, 9_534_954, 9_600_000];
    befores.map(case).to_vec()
}

/// The exemptions of the year over the pay periods, rounded to a cent, then the rate.
fn illinois(figures: &Figures) -> Vec<Case> {
    let mut cases = Vec::new();
    for period in PERIODS {
        for (line_1, line_2) in [(0, 0), (1, 0), (2, 1), (0, 3), (7, 4)] {
            let exempt = figures.number("line_1") * whole(i128::from(line_1))
                + figures.number("line_2") * whole(i128::from(line_2));
            let exempt = to_cent(exempt / whole(i128::from(period.per_year())));
            let mut pays = around(exempt);
            pays.extend([120_007, 433_333, 1_900_019]);
            for pay in pays {
                let name = format!("{line_1} {line_2}");
                let mut case = Case::new("US-IL", period, name, pay);
                case.inputs = vec![
                    ("basic_allowances", line_1),
                    ("additional_allowances", line_2),
                    ("extra_withholding", 999),
                ];
                let tax = to_cent(not_negative(cents(pay) - exempt) * figures.number("rate"));
                case.expected = vec![("state_income_tax", tax + cents(999))];
                cases.push(case);
            }
        }
    }
    cases
}

/// Which deduction lowers the wages of the state's taxes.
fn deductions(figures: &Figures) -> Vec<Case> {
    let amount = 23_456;
    let (pay, period) = (777_777, PayPeriod::Monthly);
    let california = figures.part("california");
    let mut cases = Vec::new();
    for (state, pack) in [("california", "US-CA"), ("new_york", "US-NY"), ("illinois", "US-IL")] {
        let types = figures.part(&format!("deductions.{state}"));
        for type_ in types.names() {
            let lowers = types.texts(&type_);
            let less = |what: &str| {
                let is_less = lowers.iter().any(|it| it == what);
                cents(if is_less { pay - amount } else { pay })
            };
            let mut case = Case::new(pack, period, type_.clone(), pay);
            case.inputs = vec![(input_of(&type_), amount)];
            let (taxed, other) = (less("income tax"), less("contributions"));
            case.expected = match state {
                "california" => {
                    let form = De4 { status: "single", line_1a: 0, line_1b: 0, line_2: 0 };
                    vec![
                        ("state_income_tax", california_tax(&california, period, form, taxed)),
                        ("sdi", to_cent(other * california.number("sdi"))),
                    ]
                }
                "new_york" => {
                    let figures = figures.part(state);
                    let pfl = to_cent(other * figures.number("pfl"));
                    let tax = new_york_tax(&figures, period, "single", 0, taxed);
                    vec![("state_income_tax", tax), ("pfl", pfl)]
                }
                _ => vec![("state_income_tax", to_cent(taxed * figures.number("illinois.rate")))],
            };
            cases.push(case);
        }
    }
    cases
}

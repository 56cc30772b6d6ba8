//! Class 1 National Insurance: each letter and pay period, and directors.

use sandbox::model::payroll::PayPeriod;

use super::figures::{Exact, Figures, around, cents, read, whole};
use super::united_kingdom::PERIODS;
use super::{Case, minor};

/// The columns of a threshold.
const YEAR: usize = 4;

/// The thresholds of one earnings period.
struct Thresholds {
    /// The start of the employer's rate, for a letter with an employer's rate.
    employer: Option<Exact>,
    primary: Exact,
    upper: Exact,
}

/// A letter with its rates.
struct Letter {
    name: String,
    main: Exact,
    above: Exact,
    employer_from: String,
    employer: Exact,
}

pub(super) fn cases() -> Vec<Case> {
    let figures = Figures::read(include_str!("gb.toml"));
    let mut cases = Vec::new();
    for pack in ["GB", "GB-2025"] {
        for name in figures.part("insurance.letters").names() {
            let letter = letter(&figures, &name);
            cases.extend(employees(pack, &figures, &letter));
            if "ABCMFX".contains(&name) {
                cases.extend(directors(pack, &figures, &letter));
            }
        }
    }
    cases
}

fn letter(figures: &Figures, name: &str) -> Letter {
    let rates = figures.texts(&format!("insurance.letters.{name}"));
    Letter {
        name: name.to_owned(),
        main: read(&rates[0]),
        above: read(&rates[1]),
        employer_from: rates[2].clone(),
        employer: figures.number("insurance.employer"),
    }
}

fn thresholds(figures: &Figures, letter: &Letter, column: usize) -> Thresholds {
    let figure = |name: &str| figures.numbers(&format!("insurance.{name}"))[column];
    let employer = (!letter.employer_from.is_empty()).then(|| figure(&letter.employer_from));
    Thresholds { employer, primary: figure("primary"), upper: figure("upper") }
}

/// Drops what follows the third decimal of a pound, then rounds a third decimal of 6 or more up.
fn rounded(amount: Exact) -> Exact {
    let mills = (amount * whole(1000)).floor().to_integer();
    let pence = mills.div_euclid(10) + i128::from(mills.rem_euclid(10) >= 6);
    Exact::new(pence, 100)
}

/// Employee's and employer's contributions on the pay of one earnings period; each band is rounded by itself.
fn contributions(letter: &Letter, limits: &Thresholds, pay: Exact) -> [Exact; 2] {
    let band = |over: Exact, upto: Exact, rate: Exact| {
        rounded((pay.clamp(over, upto.max(over)) - over) * rate)
    };
    let no_limit = whole(1_000_000_000);
    let own = band(limits.primary, limits.upper, letter.main)
        + band(limits.upper, no_limit, letter.above);
    let employer = limits.employer.map_or(whole(0), |from| {
        band(from, limits.upper, letter.employer) + band(limits.upper, no_limit, letter.employer)
    });
    [own, employer]
}

fn expected([own, employer]: [Exact; 2]) -> Vec<(&'static str, Exact)> {
    vec![("national_insurance", own), ("national_insurance_employer", employer)]
}

fn employees(pack: &'static str, figures: &Figures, letter: &Letter) -> Vec<Case> {
    let mut cases = Vec::new();
    for (column, period) in PERIODS.into_iter().enumerate() {
        let limits = thresholds(figures, letter, column);
        let employer = limits.employer.unwrap_or(limits.primary);
        let mut pays: Vec<i64> = [employer, limits.primary, limits.upper]
            .into_iter()
            .flat_map(around)
            .chain([123_457, 999_999])
            .collect();
        pays.sort_unstable();
        pays.dedup();
        for pay in pays {
            let mut case = Case::new(pack, period, format!("letter {}", letter.name), pay);
            case.attributes = vec![("ni_category", letter.name.clone())];
            case.expected = expected(contributions(letter, &limits, cents(pay)));
            cases.push(case);
        }
    }
    cases
}

/// The annual thresholds for the weeks left, rounded up to a pound; contributions to date less those taken. The alternative method is that
/// of employees until the last pay, which the annual one settles.
fn directors(pack: &'static str, figures: &Figures, letter: &Letter) -> Vec<Case> {
    let mut cases = Vec::new();
    for weeks in [52, 48] {
        let part = |amount: Exact| (amount * Exact::new(weeks, 52)).ceil();
        let year = thresholds(figures, letter, YEAR);
        let year = Thresholds {
            employer: year.employer.map(part),
            primary: part(year.primary),
            upper: part(year.upper),
        };
        for method in ["annual", "alternative"] {
            let mut paid = 0;
            let mut taken = [whole(0); 2];
            for k in 1..=12_u32 {
                let pay = [0, 500_000, 123_456, 1_900_000, 41_700][k as usize % 5];
                let month = thresholds(figures, letter, 3);
                let this = if method == "annual" || k == 12 {
                    let due = contributions(letter, &year, cents(paid + pay));
                    [due[0] - taken[0], due[1] - taken[1]]
                } else {
                    contributions(letter, &month, cents(pay))
                };
                let name =
                    format!("director {method}, letter {}, {weeks} weeks, month {k}", letter.name);
                let mut case = Case::new(pack, PayPeriod::Monthly, name, pay);
                case.number = k;
                case.attributes =
                    vec![("ni_category", letter.name.clone()), ("director", method.to_owned())];
                case.inputs = vec![("director_weeks", i64::try_from(weeks).unwrap())];
                case.ytd = vec![
                    ("gross", paid),
                    ("national_insurance", minor(taken[0])),
                    ("national_insurance_employer", minor(taken[1])),
                ];
                case.expected = expected(this);
                cases.push(case);
                paid += pay;
                taken = [taken[0] + this[0], taken[1] + this[1]];
            }
        }
    }
    cases
}

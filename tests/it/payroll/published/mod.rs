//! Published tables and rules, transcribed independently with their sources, and a small evaluator of them in exact
//! fractions. It shares neither code nor figures with the packs, so it detects wrong figures of a pack.
//!
//! The cases are a grid around each threshold: below it, at it and above it.

mod canada;
mod figures;
mod kenya;
mod national_insurance;
mod nigeria;
mod south_africa;
mod united_kingdom;
mod united_states;
mod us_states;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use sandbox::model::payroll::{PayInput, PayPeriod, YearToDate, library};

use figures::{Exact, whole};

/// One pay: the input of the engine, and the amounts by law.
#[derive(Clone)]
struct Case {
    name: String,
    pack: &'static str,
    period: PayPeriod,
    number: u32,
    attributes: Vec<(&'static str, String)>,
    inputs: Vec<(&'static str, i64)>,
    earnings: Vec<(&'static str, i64)>,
    ytd: Vec<(&'static str, i64)>,
    on: Option<Date>,
    /// Lines of the pack, in units of the currency.
    expected: Vec<(&'static str, Exact)>,
    /// In cents.
    tolerance: u64,
}

impl Case {
    /// The first pay of a year, all of it salary.
    fn new(pack: &'static str, period: PayPeriod, name: String, pay: i64) -> Self {
        Self {
            name: format!("{pack} {}: {name}, {pay}", period.name()),
            pack,
            period,
            number: 1,
            attributes: Vec::new(),
            inputs: Vec::new(),
            earnings: vec![("basic", pay)],
            ytd: Vec::new(),
            on: None,
            expected: Vec::new(),
            tolerance: 0,
        }
    }

    /// Lines in which the engine differs.
    fn differences(&self) -> Vec<String> {
        let pack = library().pack(self.pack).unwrap();
        let attributes = self.attributes.iter().map(|(name, value)| (*name, value.as_str()));
        let mut profile = pack.profile(attributes).unwrap();
        for (name, value) in &self.inputs {
            profile.inputs[pack.input(name).unwrap()] = *value;
        }
        let earnings: Vec<_> =
            self.earnings.iter().map(|(name, pay)| (pack.component(name), *pay)).collect();
        let totals: BTreeMap<String, i64> =
            self.ytd.iter().map(|(name, total)| ((*name).to_owned(), *total)).collect();
        let pay = pack.evaluate(&PayInput {
            period: self.period,
            number: self.number,
            attributes: profile.attributes,
            inputs: &profile.inputs,
            on: self.on,
            earnings: &earnings,
            ytd: &YearToDate::from_names(pack, &totals).unwrap(),
        });
        let amounts = pay.unwrap().amounts;
        let difference = |(line, expected): &(&str, Exact)| {
            let place = pack.lines().iter().position(|it| it.id == *line).unwrap();
            let expected = minor(*expected);
            let is_wrong = amounts[place].abs_diff(expected) > self.tolerance;
            is_wrong.then(|| {
                format!("{}: {line} is {}, the law says {expected}", self.name, amounts[place])
            })
        };
        self.expected.iter().filter_map(difference).collect()
    }

    fn country(&self) -> &'static str {
        &self.pack[..2]
    }
}

/// An amount in cents. The rules of the law have rounded it.
fn minor(amount: Exact) -> i64 {
    let cents = amount * whole(100);
    assert!(cents.is_integer(), "{amount} is not rounded");
    i64::try_from(cents.to_integer()).unwrap()
}

fn cases() -> Vec<Case> {
    let mut cases = united_states::cases();
    cases.extend(us_states::cases());
    cases.extend(united_kingdom::cases());
    cases.extend(national_insurance::cases());
    cases.extend(canada::cases());
    cases.extend(south_africa::cases());
    cases.extend(kenya::cases());
    cases.extend(nigeria::cases());
    cases
}

#[test]
fn the_engine_agrees_with_the_published_law() {
    let cases = cases();
    let mut counts = BTreeMap::<&str, [usize; 2]>::new();
    for case in &cases {
        let count = counts.entry(case.country()).or_default();
        count[0] += 1;
        count[1] += case.expected.len();
    }
    for (country, [cases, lines]) in &counts {
        println!("{country}: {cases} cases, {lines} lines");
    }
    println!("all: {} cases", cases.len());
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "each case is another one");
    assert!(cases.len() >= 300);
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|[cases, _]| *cases >= 20), "{counts:?}");
    let wrong: Vec<String> = cases.iter().flat_map(Case::differences).collect();
    assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), first(&wrong));
}

fn first(wrong: &[String]) -> String {
    wrong.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The control run: each line that is compared must be noticed when it is wrong.
#[test]
fn a_wrong_line_of_a_case_is_noticed() {
    for mut case in cases().into_iter().step_by(7) {
        let off = Exact::new(i128::from(case.tolerance) * 2 + 1, 100);
        for (_, amount) in &mut case.expected {
            *amount += off;
        }
        assert_eq!(case.differences().len(), case.expected.len(), "{}", case.name);
    }
}

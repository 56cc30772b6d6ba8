//! The engine and the reference evaluator return the same results for thousands of questions about each pack.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert_eq, proptest};
use sandbox::model::payroll::{Pack, PayInput, PayPeriod, YearToDate};
use toml::Table;

use super::reference::{self, Question};

/// The packs of the questions, with their text.
fn packs() -> [(&'static str, &'static str); 12] {
    macro_rules! fixture {
        ($code:literal) => {
            ($code, include_str!(concat!("../../../fixtures/jurisdictions/", $code, ".toml")))
        };
    }
    [
        ("every-kind", include_str!("every-kind.toml")),
        fixture!("CA"),
        fixture!("GB"),
        fixture!("KE"),
        fixture!("NG"),
        fixture!("NG-2025"),
        fixture!("US"),
        fixture!("ZA"),
        fixture!("US-CA"),
        fixture!("US-NY"),
        fixture!("US-IL"),
        fixture!("GB-2025"),
    ]
}

fn names(pack: &Pack) -> Vec<String> {
    pack.base_names()
        .map(str::to_owned)
        .chain(pack.lines().iter().map(|line| line.id.clone()))
        .collect()
}

/// The figures of the pack, also per period: pay on an edge, where laws say "up to" or "from".
fn edges(text: &str, pack: &Pack) -> Vec<i64> {
    let words = text.split(|letter: char| !letter.is_ascii_digit());
    let figures: BTreeSet<i64> = words.filter_map(|word| word.parse().ok()).collect();
    let divisors = || pack.periods.iter().map(|period| i64::from(period.per_year())).chain([1, 12]);
    figures.iter().flat_map(|figure| divisors().map(move |divisor| figure / divisor)).collect()
}

/// A question about one pack: amounts from zero to far beyond any salary, often round numbers, because ties
/// occur there.
fn question(code: &'static str, text: &'static str) -> impl Strategy<Value = Question> {
    let pack = Pack::parse(code, text).unwrap();
    let edges = edges(text, &pack);
    let amount = || {
        proptest::prop_oneof![
            Just(0_i64),
            1..100_000_i64,
            1..20_000_000_i64,
            (1..20_000_i64).prop_map(|n| n * 500),
            1..10_000_000_000_000_i64,
            proptest::sample::select(edges.clone()),
            proptest::sample::select(edges.clone()),
        ]
    };
    let periods = proptest::sample::select(pack.periods.clone());
    let components = proptest::collection::btree_map(
        proptest::sample::select(vec!["basic", "housing", "transport", "bonus", "benefit_in_kind"])
            .prop_map(str::to_owned),
        amount(),
        1..4,
    );
    let totals =
        proptest::collection::btree_map(proptest::sample::select(names(&pack)), amount(), 0..4);
    (
        periods,
        any::<u32>(),
        proptest::collection::vec(any::<proptest::sample::Index>(), 32),
        components,
        totals,
        amount(),
    )
        .prop_map(move |(period, number, picks, components, totals, input)| {
            let attributes = pack.attributes.iter().zip(&picks);
            let inputs = pack.inputs.iter().zip(&picks);
            Question {
                period,
                number: number % period.last_number() + 1,
                attributes: attributes
                    .map(|(a, pick)| (a.name.clone(), pick.get(&a.values).clone()))
                    .collect(),
                inputs: inputs
                    .filter(|(_, pick)| pick.index(2) == 0)
                    .map(|(i, _)| (i.name.clone(), input.clamp(i.limits.0, i.limits.1)))
                    .collect(),
                components,
                totals,
            }
        })
}

fn by_engine(pack: &Pack, question: &Question) -> Vec<i64> {
    let mut attributes = pack.default_attributes();
    for (name, value) in &question.attributes {
        attributes = pack.with_attribute(attributes, name, value).unwrap();
    }
    let mut inputs = pack.default_inputs().to_vec();
    for (name, value) in &question.inputs {
        inputs[pack.input(name).unwrap()] = *value;
    }
    let earnings: Vec<_> =
        question.components.iter().map(|(name, amount)| (pack.component(name), *amount)).collect();
    let pay = pack.evaluate(&PayInput {
        period: question.period,
        number: question.number,
        attributes,
        inputs: &inputs,
        on: None,
        earnings: &earnings,
        ytd: &YearToDate::from_names(pack, &question.totals).unwrap(),
    });
    pay.unwrap().amounts
}

/// Asks questions about every pack; proptest prints the smallest question with two different answers.
macro_rules! agreement {
    ($($name:ident: $index:literal),+ $(,)?) => {
        proptest! {
            #![proptest_config(ProptestConfig {
                cases: 2_000,
                failure_persistence: None,
                ..ProptestConfig::default()
            })]
            $(#[test]
            fn $name(question in question(packs()[$index].0, packs()[$index].1)) {
                thread_local!(static PACK: (Pack, Table) = {
                    let (code, text) = packs()[$index];
                    (Pack::parse(code, text).unwrap(), text.parse().unwrap())
                });
                PACK.with(|(pack, table)| {
                    let expected = reference::amounts(table, &question);
                    prop_assert_eq!(by_engine(pack, &question), expected);
                    Ok(())
                })?;
            })+
        }
    };
}

agreement! {
    both_evaluators_agree_on_every_kind_of_line: 0,
    both_evaluators_agree_on_canada: 1,
    both_evaluators_agree_on_the_united_kingdom: 2,
    both_evaluators_agree_on_kenya: 3,
    both_evaluators_agree_on_nigeria: 4,
    both_evaluators_agree_on_nigeria_before_2026: 5,
    both_evaluators_agree_on_the_united_states: 6,
    both_evaluators_agree_on_south_africa: 7,
    both_evaluators_agree_on_california: 8,
    both_evaluators_agree_on_new_york: 9,
    both_evaluators_agree_on_illinois: 10,
    both_evaluators_agree_on_the_united_kingdom_before_2026: 11,
}

fn defaults(pack: &Pack) -> BTreeMap<String, String> {
    let attributes = pack.attributes.iter();
    attributes.map(|known| (known.name.clone(), known.values[known.default].clone())).collect()
}

/// The control run: a changed rate in the engine's pack only must be noticed.
#[test]
fn a_changed_rate_is_noticed() {
    let (code, text) = packs()[6];
    let changed = Pack::parse(code, &text.replace("rate = \"0.062\"", "rate = \"0.063\"")).unwrap();
    let question = Question {
        period: PayPeriod::Monthly,
        number: 1,
        attributes: defaults(&changed),
        inputs: BTreeMap::new(),
        components: BTreeMap::from([("basic".to_owned(), 500_000)]),
        totals: BTreeMap::new(),
    };
    let table = text.parse().unwrap();
    assert_ne!(by_engine(&changed, &question), reference::amounts(&table, &question));
}

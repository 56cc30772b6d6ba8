//! No input panics, and accepted input decodes.

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::{Config, TestRunner};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, json};

use super::{Everything, Route, Target, Tree, checker, full};
use crate::api::check::Value;
use crate::value::Metadata;

/// Values similar to valid values of `Everything`, so that many of them are accepted.
fn near(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    let names = full().as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let name = prop_oneof![4 => proptest::sample::select(names), 1 => any::<String>()];
    let member = (name, prop_oneof![3 => Just(None), 1 => leaf.prop_map(Some)]);
    proptest::collection::vec(member, 0..12).prop_map(|members| {
        let whole = full();
        let mut object = Map::from_iter([("amount".to_owned(), json!(1))]);
        for (name, value) in members {
            let usual = whole.get(&name).cloned();
            object.insert(name, value.or(usual).unwrap_or(Value::Null));
        }
        Value::Object(object)
    })
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-300_i64..300).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec!["weekly", "EUR", "2026-01", "2026-01-31", "1h", "a@b"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let name = prop_oneof![
            proptest::sample::select(vec![
                "lines", "name", "children", "method", "token", "country", "number"
            ])
            .prop_map(str::to_owned),
            any::<String>()
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..6)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn holds<I: JsonSchema + DeserializeOwned>(value: &Value) -> bool {
    let accepted = checker::<I>().check(value).is_empty();
    if accepted {
        serde_json::from_value::<I>(value.clone()).map(drop).expect("what is accepted decodes");
    }
    accepted
}

#[test]
fn accepted_values_decode() {
    // The runner is called directly and not by the macro, so that the test can count accepted and
    // refused values.
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let accepted = core::cell::Cell::new(0);
    let judged = core::cell::Cell::new(0);
    let outcome = runner.run(&near(anything()), |value| {
        judged.set(judged.get() + 1);
        accepted.set(accepted.get() + usize::from(holds::<Everything>(&value)));
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    let (accepted, judged) = (accepted.get(), judged.get());
    assert!(accepted * 20 > judged && accepted * 20 < judged * 19, "{accepted} of {judged}");
}

proptest! {
    #[test]
    fn checking_any_value_never_panics(value in anything()) {
        holds::<Everything>(&value);
        holds::<Target>(&value);
        holds::<Route>(&value);
        holds::<Tree>(&value);
        holds::<Metadata>(&value);
    }
}

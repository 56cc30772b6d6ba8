//! The writer against `serde_json`.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::value::json_sink::to_vec;

#[derive(Clone, Debug, serde::Serialize)]
struct Unit;

#[derive(Clone, Debug, serde::Serialize)]
struct Pair(i128, char);

#[derive(Clone, Debug, serde::Serialize)]
enum Tree {
    Nothing,
    One(Option<bool>),
    Two(u8, String),
    Named { a: f64, list: Vec<Self> },
    Map(BTreeMap<i16, Self>),
    Text(BTreeMap<String, Option<u8>>),
    Pair(Pair, Unit),
}

fn trees() -> impl Strategy<Value = Tree> {
    let text = || prop_oneof![any::<String>(), "[a-z\"\\\\\n\u{1f}é]{0,40}"];
    let leaf = prop_oneof![
        Just(Tree::Nothing),
        proptest::option::of(any::<bool>()).prop_map(Tree::One),
        (any::<u8>(), text()).prop_map(|(number, text)| Tree::Two(number, text)),
        btree_map(text(), proptest::option::of(any::<u8>()), 0..4).prop_map(Tree::Text),
        (any::<i128>(), any::<char>()).prop_map(|(a, b)| Tree::Pair(Pair(a, b), Unit)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (any::<f64>(), vec(inner.clone(), 0..4)).prop_map(|(a, list)| Tree::Named { a, list }),
            btree_map(any::<i16>(), inner, 0..4).prop_map(Tree::Map),
        ]
    })
}

/// Two small trees, which are often equal or almost equal.
fn like_trees() -> impl Strategy<Value = (Tree, Tree)> {
    let text = || "[ab]{0,2}";
    let leaf = prop_oneof![
        Just(Tree::Nothing),
        proptest::option::of(any::<bool>()).prop_map(Tree::One),
        (0..2_u8, text()).prop_map(|(number, text)| Tree::Two(number, text)),
        btree_map(text(), proptest::option::of(0..2_u8), 0..3).prop_map(Tree::Text),
    ];
    let tree = leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|list| Tree::Named { a: 0.5, list }),
            btree_map(0..2_i16, inner, 0..3).prop_map(Tree::Map),
        ]
    });
    (tree.clone(), tree)
}

/// The bytes that are hashed.
fn to_hash(value: &Tree) -> Vec<u8> {
    let mut sink = JsonSink::after(Vec::new());
    value.serialize(&mut Writer::new(&mut sink, Form::ToHash)).expect("it serialises");
    sink.finish()
}

proptest! {
    #[test]
    fn bytes_to_hash_differ_exactly_if_the_values_do((one, other) in like_trees()) {
        let is_equal = to_vec(&one) == to_vec(&other);
        prop_assert_eq!(to_hash(&one) == to_hash(&other), is_equal, "{:?} {:?}", one, other);
    }

    #[test]
    fn the_bytes_are_those_of_serde_json(value in trees()) {
        prop_assert_eq!(to_vec(&value), serde_json::to_vec(&value).expect("it serialises"));
    }

    #[test]
    fn text_is_escaped_where_it_must_be(text in "[ -~\u{0}-\u{30}\u{7f}-\u{2000}]{0,40}") {
        prop_assert_eq!(to_vec(&text), serde_json::to_vec(&text).expect("text"));
    }
}

#[test]
fn text_that_is_json_already_is_copied() {
    let raw = |json: &str| RawValue::from_string(json.to_owned()).expect("JSON");
    let values = vec![raw(r#"{"a": "\n"}"#), raw("7"), raw("null")];
    let map = BTreeMap::from([("x", &values)]);
    assert_eq!(to_vec(&map), serde_json::to_vec(&map).expect("it serialises"));
    let value: Value = serde_json::from_slice(&to_vec(&map)).expect("JSON");
    assert_eq!(value["x"][0]["a"], "\n");
}

#[test]
fn a_map_with_other_keys_is_refused() {
    let map = BTreeMap::from([(vec![1], 2)]);
    let mut sink = JsonSink::after(Vec::new());
    assert!(map.serialize(&mut Writer::new(&mut sink, Form::Json)).is_err());
}

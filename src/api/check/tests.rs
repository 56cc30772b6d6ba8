mod compiled;
mod random;
mod violations;

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, json};

use super::*;
use crate::value::{
    Amount, Currency, Date, Email, Id, Metadata, Period, Prefixed, Span, Text as Bounded, Timestamp,
};

struct Thing;

impl Prefixed for Thing {
    const PREFIX: &'static str = "thg";
    const NAME: &'static str = "thing";
}

/// How often.
#[derive(Debug, Deserialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Frequency {
    /// Once a week.
    Weekly,
    /// Once a month,
    /// on its last day.
    Monthly,
    Never,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "method", rename_all = "snake_case")]
#[expect(dead_code, reason = "decoded only")]
enum Route {
    /// By account.
    Bank {
        account: Bounded<34>,
        country: String,
    },
    Card {
        token: String,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "decoded only")]
enum Target {
    One(String),
    Many(Vec<String>),
    Tree(Tree),
    Number { number: u8 },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "decoded only")]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "decoded only")]
struct Address {
    /// The first line.
    #[schemars(length(min = 1, max = 3))]
    lines: Vec<String>,
    country: Option<Bounded<2>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Home(#[expect(dead_code, reason = "decoded only")] Address);

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "decoded only")]
struct Paging {
    #[schemars(range(min = 1))]
    #[serde(default)]
    page: Option<u64>,
    #[serde(default)]
    sort: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Empty {}

/// All constructs that an input may use.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "decoded only")]
struct Everything {
    id: Option<Id<Thing>>,
    title: Option<Bounded<10>>,
    amount: Amount,
    currency: Option<Currency>,
    frequency: Option<Frequency>,
    day: Option<Date>,
    at: Option<Timestamp>,
    period: Option<Period>,
    after: Option<Span>,
    email: Option<Email>,
    metadata: Option<Metadata>,
    address: Option<Address>,
    home: Option<Home>,
    route: Option<Route>,
    target: Option<Target>,
    tree: Option<Tree>,
    tags: Option<BTreeSet<Frequency>>,
    counts: Option<BTreeMap<String, u8>>,
    by_currency: Option<BTreeMap<Currency, i64>>,
    by_year: Option<BTreeMap<u16, bool>>,
    small: Option<u8>,
    signed: Option<i16>,
    wide: Option<u32>,
    widest: Option<u64>,
    letter: Option<char>,
    four: Option<[u8; 4]>,
    free: Option<serde_json::Value>,
    empty: Option<Empty>,
    #[serde(default)]
    sure: bool,
    #[serde(flatten)]
    paging: Paging,
}

fn emitted<I: JsonSchema>() -> (Value, Map<String, Value>) {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let schema = I::json_schema(&mut generator).to_value();
    (schema, generator.take_definitions(false))
}

fn checker<I: JsonSchema>() -> Checker {
    let (schema, definitions) = emitted::<I>();
    Checker::compile(&schema, &definitions)
}

fn full() -> Value {
    json!({
        "id": "thg_0", "title": "é".repeat(10), "amount": 1_000_000_000_000_000_u64, "currency": "EUR",
        "frequency": "monthly", "day": "2026-02-28", "at": "2026-01-31T09:00:00Z", "period": "2026-01", "after": "2bd",
        "email": "a@b.c", "metadata": { "k": "v" }, "address": { "lines": ["a"], "country": null },
        "home": { "lines": ["a", "b"] }, "route": { "method": "bank", "account": "1", "country": "DE" },
        "target": ["a"], "tree": { "name": "a", "children": [{ "name": "b" }] }, "tags": ["weekly", "never"],
        "counts": { "a": 255 }, "by_currency": { "USD": -1 }, "by_year": { "2026": true }, "small": 0,
        "signed": -32_768, "wide": 4_294_967_295_u32, "widest": i64::MAX, "letter": "é", "four": [1, 2, 3, 4],
        "free": [{ "any": [1.5] }], "empty": {}, "sure": true, "page": 1, "sort": "-name",
    })
}

/// Checks a value and decodes it if it is valid.
fn is_accepted(value: &Value) -> bool {
    let accepted = checker::<Everything>().check(value).is_empty();
    if accepted {
        let decoded = serde_json::from_value::<Everything>(value.clone());
        decoded.map(drop).expect("what is accepted decodes");
    }
    accepted
}

#[test]
fn valid_values_are_accepted_and_decode() {
    assert!(is_accepted(&full()));
    assert!(is_accepted(&json!({ "amount": 1 })));
    let mut nulls = full();
    for (name, value) in nulls.as_object_mut().expect("an object") {
        if name != "amount" && name != "sure" {
            *value = Value::Null;
        }
    }
    assert!(is_accepted(&nulls));
}

#[test]
fn at_most_100_violations_are_reported() {
    let flood = json!({ "amount": 1, "target": vec![5; 100_000] });
    let found = checker::<Everything>().check(&flood);
    assert_eq!(found.len(), 101);
    assert_eq!(found.last().map(|last| (&*last.pointer, last.code)), Some(("", "too_many")));
}

#[test]
fn long_lists_of_unique_items_are_compared_too() {
    let items: Vec<Value> = (0..1_000).map(Value::from).chain([json!(0)]).collect();
    let checker = Checker::compile(&json!({ "type": "array", "uniqueItems": true }), &Map::new());
    assert_eq!(checker.check(&Value::Array(items.clone()))[0].pointer, "/1000");
    assert!(checker.check(&Value::Array(items[..1_000].to_vec())).is_empty());
}

#[test]
fn an_exclusive_choice_takes_one_form_only() {
    let checker = Checker::compile(
        &json!({ "oneOf": [{ "type": "integer", "minimum": 5 }, { "type": "integer", "maximum": 7 }] }),
        &Map::new(),
    );
    assert!(checker.check(&json!(4)).is_empty() && checker.check(&json!(8)).is_empty());
    assert_eq!(checker.check(&json!(6))[0].code, "form");
}

#[test]
fn parameters_are_read_by_the_types_of_their_members() {
    let checker = checker::<Everything>();
    let carried = |name| checker.carried(name).map(|carried| (carried.types, carried.list));
    assert_eq!(carried("small"), Some((Types::INTEGER.or(Types::NULL), false)));
    assert_eq!(carried("frequency"), Some((Types::STRING.or(Types::NULL), false)));
    assert_eq!(carried("tags"), Some((Types::STRING, true)));
    assert_eq!(carried("four"), Some((Types::INTEGER, true)));
    assert_eq!(carried("sure"), Some((Types::BOOLEAN, false)));
    assert_eq!(carried("nothing"), None);
    assert!(
        checker.names().count() > 25
            && checker.requires_only(&["page", "amount"])
            && !checker.requires_only(&["page"])
    );
}

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;
use crate::value::id::{Id, Prefixed};
use crate::value::money::{Amount, Currency};
use crate::value::text::{Email, Metadata, Text as Bounded};
use crate::value::time::{Date, Period, Span, Timestamp};

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

/// Everything that an input may be made of.
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

/// `pointer code` of every violation of `Everything` with these members beside its required one.
fn faults(mut members: Value) -> Vec<String> {
    if members.get("amount").is_none() {
        members["amount"] = json!(1);
    }
    let found = checker::<Everything>().check(&members);
    if found.is_empty() {
        serde_json::from_value::<Everything>(members).expect("what is accepted decodes");
    }
    found
        .iter()
        .map(|fault| format!("{} {}", fault.pointer, fault.code))
        .collect()
}

/// The sentence of the only violation.
fn sentence(members: Value) -> String {
    let mut members = members;
    members["amount"] = json!(1);
    let found = checker::<Everything>().check(&members);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].detail.clone()
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

#[test]
fn what_is_right_is_accepted_and_decodes() {
    assert_eq!(faults(full()), [""; 0]);
    assert_eq!(faults(json!({})), [""; 0]);
    let mut nulls = full();
    for (name, value) in nulls.as_object_mut().expect("an object") {
        if name != "amount" && name != "sure" {
            *value = Value::Null;
        }
    }
    assert_eq!(faults(nulls), [""; 0]);
}

#[test]
fn every_violation_is_found_with_its_pointer_and_code() {
    for (members, expected) in [
        (json!({ "amount": 0 }), &["/amount range"][..]),
        (json!({ "amount": "5" }), &["/amount type"]),
        (json!({ "amount": 5.5 }), &["/amount type"]),
        (
            json!({ "amount": 1e300, "small": -1e19 }),
            &["/amount range", "/small range"],
        ),
        (
            json!({ "amount": null, "sure": null }),
            &["/amount type", "/sure type"],
        ),
        (
            json!({ "small": 256, "signed": -32_769, "wide": 4_294_967_296_i64 }),
            &["/small range", "/signed range", "/wide range"],
        ),
        (
            json!({ "widest": u64::MAX, "page": 0 }),
            &["/widest range", "/page range"],
        ),
        (
            json!({ "title": "", "letter": "ab" }),
            &["/title length", "/letter length"],
        ),
        (
            json!({ "title": "\u{7f}23456789012" }),
            &["/title length", "/title pattern"],
        ),
        (
            json!({ "day": "2026-02-29", "at": "2026-01-31", "after": "5" }),
            &["/day format", "/at format", "/after format"],
        ),
        (
            json!({ "period": "2026-13", "email": "a@b@c" }),
            &["/period pattern", "/email pattern"],
        ),
        (
            json!({ "currency": "eur", "frequency": "daily" }),
            &["/currency enum", "/frequency enum"],
        ),
        (
            json!({ "address": { "lines": [] } }),
            &["/address/lines too_few"],
        ),
        (
            json!({ "home": { "lines": [1, 2, 3, 4] } }),
            &[
                "/home/lines too_many",
                "/home/lines/0 type",
                "/home/lines/1 type",
                "/home/lines/2 type",
            ],
        ),
        (
            json!({ "address": { "liness": [], "country": "DEU" } }),
            &[
                "/address/liness unknown_member",
                "/address/country length",
                "/address/lines required",
            ],
        ),
        (
            json!({ "tags": ["never", "weekly", "never"] }),
            &["/tags/2 duplicate"],
        ),
        (
            json!({ "counts": { "a/b": -1, "~": 256 } }),
            &["/counts/a~1b range", "/counts/~0 range"],
        ),
        (
            json!({ "by_currency": { "XXX": 1, "USD": "1" } }),
            &["/by_currency/XXX unknown_member", "/by_currency/USD type"],
        ),
        (
            json!({ "by_year": { "x": true, "1": 1 } }),
            &["/by_year/x unknown_member", "/by_year/1 type"],
        ),
        (
            json!({ "metadata": { "": "v", "k": 1 } }),
            &["/metadata/ length", "/metadata/k type"],
        ),
        (
            json!({ "four": [1, 2, 3], "empty": { "a": 1 } }),
            &["/four too_few", "/empty/a unknown_member"],
        ),
        (
            json!({ "route": { "account": "1" } }),
            &["/route/method required"],
        ),
        (
            json!({ "route": { "method": "crad" } }),
            &["/route/method enum"],
        ),
        (
            json!({ "route": { "method": "card", "account": "1" } }),
            &["/route/account unknown_member", "/route/token required"],
        ),
        (json!({ "route": [] }), &["/route type"]),
        (json!({ "target": 5 }), &["/target type"]),
        (json!({ "target": ["a", 5] }), &["/target/1 type"]),
        (
            json!({ "target": { "number": 256 } }),
            &["/target/number range"],
        ),
        (
            json!({ "tree": { "name": "a", "children": [{ "children": [{}] }] } }),
            &[
                "/tree/children/0/children/0/name required",
                "/tree/children/0/name required",
            ],
        ),
        (
            json!({ "paging": {}, "Page": 1 }),
            &["/paging unknown_member", "/Page unknown_member"],
        ),
    ] {
        assert_eq!(faults(members.clone()), expected, "{members}");
    }
    assert_eq!(
        checker::<Everything>().check(&json!({})),
        [Violation::new(
            "/amount",
            "required",
            "this member is required"
        )]
    );
    assert_eq!(
        checker::<Everything>().check(&json!([]))[0].detail,
        "expected an object, got an array"
    );
}

#[test]
fn sentences_say_what_was_expected_and_what_came() {
    for (members, expected) in [
        (
            json!({ "small": 256 }),
            "expected an integer from 0 to 255, got 256",
        ),
        (
            json!({ "small": 1e300 }),
            "expected an integer from 0 to 255, got 1e+300",
        ),
        (json!({ "small": [] }), "expected an integer, got an array"),
        (json!({ "title": "" }), "expected 1 to 10 characters, got 0"),
        (json!({ "letter": "" }), "expected 1 character, got 0"),
        (
            json!({ "address": { "lines": [] } }),
            "expected 1 to 3 items, got 0",
        ),
        (
            json!({ "currency": "usd" }),
            "expected one of 154 values, got \"usd\"; did you mean USD",
        ),
        (
            json!({ "frequency": "montly" }),
            "expected one of never, weekly, monthly, got \"montly\"; did you mean monthly",
        ),
        (
            json!({ "route": { "method": "crad" } }),
            "expected one of bank, card, got \"crad\"; did you mean card",
        ),
        (
            json!({ "route": {} }),
            "this member is required, expected one of bank, card",
        ),
        (
            json!({ "period": "01/2026" }),
            "expected text such as 2026-01, got \"01/2026\"",
        ),
        (
            json!({ "day": "31.1.26" }),
            "expected a day of the calendar such as 2026-01-31, between 1970 and 2199, got \"31.1.26\"",
        ),
        (
            json!({ "adress": 1 }),
            "no member has this name; did you mean address",
        ),
        (
            json!({ "tags": ["never", "never"] }),
            "\"never\" is in the list already",
        ),
    ] {
        let shown = members.to_string();
        assert_eq!(sentence(members), expected, "{shown}");
    }
    let hostile = sentence(json!({ "day": "\u{0}".repeat(100_000) }));
    assert!(hostile.len() < 300 && !hostile.contains('\0'), "{hostile}");
}

#[test]
fn of_a_flood_of_violations_a_hundred_are_told() {
    let flood = json!({ "amount": 1, "target": vec![5; 100_000] });
    let found = checker::<Everything>().check(&flood);
    assert_eq!(found.len(), 101);
    assert_eq!(
        found.last().map(|last| (&*last.pointer, last.code)),
        Some(("", "too_many"))
    );
}

#[test]
fn long_lists_of_unique_items_are_compared_too() {
    let items: Vec<Value> = (0..1_000).map(Value::from).chain([json!(0)]).collect();
    let checker = Checker::compile(
        &json!({ "type": "array", "uniqueItems": true }),
        &Map::new(),
    );
    assert_eq!(
        checker.check(&Value::Array(items.clone()))[0].pointer,
        "/1000"
    );
    assert!(
        checker
            .check(&Value::Array(items[..1_000].to_vec()))
            .is_empty()
    );
}

#[test]
fn closing_gives_the_published_form() {
    let (mut schema, mut definitions) = emitted::<Everything>();
    close(&mut schema);
    definitions.values_mut().for_each(close);
    let properties = &schema["properties"];
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        properties["title"]["maxLength"], 10,
        "a member named title stays"
    );
    assert_eq!(
        properties["small"],
        json!({ "type": ["integer", "null"], "format": "int32", "minimum": 0, "maximum": 255 })
    );
    assert_eq!(properties["wide"]["format"], "int64");
    assert_eq!(properties["wide"]["maximum"], 4_294_967_295_u32);
    assert_eq!(
        properties["page"],
        json!({ "type": ["integer", "null"], "format": "int64", "minimum": 1 })
    );
    assert_eq!(properties["sure"]["default"], false);
    assert_eq!(
        properties["counts"]["additionalProperties"]["format"],
        "int32"
    );
    assert_eq!(
        definitions["Empty"],
        json!({ "type": "object", "additionalProperties": false })
    );
    assert_eq!(
        definitions["Frequency"],
        json!({
            "type": "string",
            "enum": ["never", "weekly", "monthly"],
            "description": "How often.\n\n- `weekly`: Once a week.\n- `monthly`: Once a month, on its last day.",
        })
    );
    let route = &definitions["Route"]["oneOf"];
    assert_eq!(
        (
            &route[0]["additionalProperties"],
            &route[1]["additionalProperties"]
        ),
        (&json!(false), &json!(false))
    );
    assert!(definitions["Metadata"]["additionalProperties"].is_object());
    let again = |schema: &Value| {
        let mut twice = schema.clone();
        close(&mut twice);
        twice
    };
    assert_eq!(again(&schema), schema);
    assert!(
        definitions
            .values()
            .all(|definition| again(definition) == *definition)
    );
    let published = Checker::compile(&schema, &definitions);
    assert!(published.check(&full()).is_empty() && !published.check(&json!({})).is_empty());
}

#[test]
fn keywords_that_are_not_enforced_stop_the_process() {
    for (schema, complaint) in [
        (json!({ "not": {} }), "the keyword at #/not is not enforced"),
        (
            json!({ "type": "number" }),
            "the type \"number\" at #/type is not enforced",
        ),
        (
            json!({ "type": "string", "format": "uri" }),
            "the format \"uri\" at #/format is not enforced",
        ),
        (
            json!({ "items": { "multipleOf": 2 } }),
            "the keyword at #/items/multipleOf is not enforced",
        ),
        (
            json!({ "properties": { "a": { "contentEncoding": "b" } } }),
            "the keyword at #/properties/a/contentEncoding is not enforced",
        ),
        (
            json!({ "properties": {}, "$ref": "#/$defs/A" }),
            "members beside $ref",
        ),
        (
            json!({ "$ref": "#/$defs/B" }),
            "no definition for #/$defs/B at #/$ref",
        ),
        (json!({ "pattern": "(" }), "pattern at #/pattern"),
        (json!({ "minimum": 0.5 }), "#/minimum is no integer"),
    ] {
        let definitions: Map<String, Value> = [("A".to_owned(), json!({ "type": "object" }))]
            .into_iter()
            .collect();
        let panic = std::panic::catch_unwind(|| Checker::compile(&schema, &definitions))
            .err()
            .expect("a panic");
        let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        assert!(message.contains(complaint), "{message}");
    }
}

#[test]
fn patterns_mean_what_ecmascript_means() {
    let matches = |pattern: &str, text: &str| {
        Checker::compile(
            &json!({ "type": "string", "pattern": pattern }),
            &Map::new(),
        )
        .check(&json!(text))
        .is_empty()
    };
    assert!(matches(r"^\d+$", "42") && !matches(r"^\d+$", "٤٢"));
    assert!(matches(r"^[\w.-]+\.$", "a_b.c.") && !matches(r"^\w+$", "é"));
    assert!(
        matches(r"^a\sb$", "a\u{3000}b")
            && matches(r"^[^\s]+$", "é")
            && !matches(r"^[^\s]+$", "a\u{2028}b")
    );
    assert!(matches(r"^\\\[\d\]$", r"\[1]"));
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
    let carried = |name| {
        checker
            .carried(name)
            .map(|carried| (carried.types, carried.list))
    };
    assert_eq!(
        carried("small"),
        Some((Types::INTEGER.or(Types::NULL), false))
    );
    assert_eq!(
        carried("frequency"),
        Some((Types::STRING.or(Types::NULL), false))
    );
    assert_eq!(carried("tags"), Some((Types::STRING, true)));
    assert_eq!(carried("four"), Some((Types::INTEGER, true)));
    assert_eq!(carried("sure"), Some((Types::BOOLEAN, false)));
    assert_eq!(carried("nothing"), None);
    assert!(checker.names().count() > 25 && !checker.accepts_empty());
}

/// Values near what `Everything` takes, so that acceptance is not an accident.
fn near(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    let names = full()
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect::<Vec<_>>();
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
        serde_json::from_value::<I>(value.clone())
            .map(drop)
            .expect("what is accepted decodes");
    }
    accepted
}

#[test]
fn what_is_accepted_decodes() {
    // Run by hand and not by the macro, so that it can be said that both answers were common.
    let mut runner = proptest::test_runner::TestRunner::default();
    let accepted = core::cell::Cell::new(0);
    let judged = core::cell::Cell::new(0);
    let outcome = runner.run(&near(anything()), |value| {
        judged.set(judged.get() + 1);
        accepted.set(accepted.get() + usize::from(holds::<Everything>(&value)));
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    let (accepted, judged) = (accepted.get(), judged.get());
    assert!(
        accepted * 20 > judged && accepted * 20 < judged * 19,
        "{accepted} of {judged}"
    );
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(value in anything()) {
        holds::<Everything>(&value);
        holds::<Target>(&value);
        holds::<Route>(&value);
        holds::<Tree>(&value);
        holds::<Metadata>(&value);
    }
}

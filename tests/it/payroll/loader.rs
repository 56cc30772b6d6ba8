//! Refusals of packs, with the position in the message.

use sandbox::model::payroll::{Pack, PayError, PayInput, PayPeriod, YearToDate, library};

/// A small pack that passes.
const GOOD: &str = r#"
schema = 1
country = "ZZ"
name = "Nowhere"
currency = "XTS"
minor_digits = 2
tax_year = "2026"
effective_from = 2026-01-01
effective_to = 2026-12-31
periods = ["monthly", "weekly"]

[bases]
gross = ["*"]

[attributes]
status = { values = ["single", "married"], default = "single" }

[inputs]
rent = { per = "year", default = 0 }

[[line]]
id = "relief"
kind = "const"
per = "month"
by = ["status", "period"]
amount = { single = { monthly = 5, weekly = 6 }, married = 7 }

[[line]]
id = "tax"
kind = "bands"
role = "employee_tax"
per = "year"
of = "gross"
bands = [[0, "0.1"], [1000, "0.2"]]
when = { attr = "status", is = "single" }
round = "floor:100"

[[filing]]
form = "Z1"
title = "Return"
authority = "ZTA"
frequency = "monthly"
due = { months_after = 1, day = 9 }
lines = ["tax"]
"#;

#[test]
fn a_valid_pack_parses() {
    let pack = Pack::parse("ZZ", GOOD).unwrap();
    assert_eq!(pack.lines()[0].label, "Tax");
    assert_eq!(pack.lines()[0].authority.as_deref(), Some("ZTA"));
}

/// (original text, replacement, words of the message).
const REFUSED: &[(&str, &str, &str)] = &[
    // Unknown keys, at every level.
    ("schema = 1", "schema = 1\nmotto = 2", "unknown field `motto`"),
    ("default = \"single\" }", "default = \"single\", x = 1 }", "unknown field `x`"),
    ("default = 0 }", "default = 0, x = 1 }", "unknown field `x`"),
    ("kind = \"const\"", "kind = \"const\"\nrat = \"0.1\"", "unknown field `rat`"),
    ("is = \"single\" }", "is = \"single\", x = 1 }", "unknown field `x`"),
    ("frequency = \"monthly\"", "frequency = \"monthly\"\nx = 1", "unknown field `x`"),
    ("day = 9 }", "day = 9, x = 1 }", "unknown field `x`"),
    // The header.
    ("schema = 1", "schema = 2", "pack ZZ: `schema` must be 1"),
    ("country = \"ZZ\"", "country = \"zz\"", "`country`"),
    ("currency = \"XTS\"", "currency = \"$\"", "`currency`"),
    ("minor_digits = 2", "minor_digits = 9", "`minor_digits`"),
    ("effective_to = 2026", "effective_to = 2025", "`effective_to` is before"),
    ("effective_to = 2026-12-31", "effective_to = 2026-12-31T00:00:00", "is not a date"),
    ("[\"monthly\", \"weekly\"]", "[\"monthly\", \"monthly\"]", "`periods` contains a duplicate"),
    ("[\"monthly\", \"weekly\"]", "[]", "`periods` is empty"),
    ("[\"monthly\", \"weekly\"]", "[\"daily\"]", "unknown variant `daily`"),
    ("schema = 1", "schema = 1\neach_employer = [\"relief\"]", "`relief` of `each_employer`"),
    (
        "[inputs]",
        "[annual_earnings]\nattribute = \"x\"\ntotals = []\n[inputs]",
        "`x` of `[regions]`",
    ),
    (
        "[inputs]",
        "[annual_earnings]\nattribute = \"status\"\ntotals = [\"relief\"]\n[inputs]",
        "`relief` of `each_employer` or `[annual_earnings]`",
    ),
    (
        "[inputs]",
        "[annual_earnings]\nattribute = \"status\"\nwith = [\"tax\"]\ntotals = []\n[inputs]",
        "`tax` of `[annual_earnings]` is neither an attribute nor an input",
    ),
    ("gross = [\"*\"]", "gross = [\"*\", \"basic\"]", "base `gross`"),
    ("rent = {", "gross = {", "both a base and an input"),
    ("default = \"single\" }", "default = \"widowed\" }", "the default is not one of the values"),
    ("\"single\", \"married\"]", "\"single\", \"single\"]", "values must be unique"),
    ("status = {", "period = {", "built in"),
    // Names.
    ("id = \"tax\"", "id = \"relief\"", "line `relief`: this name is taken"),
    ("id = \"tax\"", "id = \"rent\"", "line `rent`: this name is taken"),
    ("id = \"tax\"", "id = \"-tax\"", "line `-tax`: an `id` may contain only lower-case letters"),
    (
        "of = \"gross\"",
        "of = \"grass\"",
        "line `tax`: `grass` is not a base, an input or an earlier line",
    ),
    (
        "of = \"gross\"",
        "of = \"tax\"",
        "line `tax`: `tax` is not a base, an input or an earlier line",
    ),
    (
        "by = [\"status\", \"period\"]",
        "by = [\"colour\"]",
        "line `relief`: `by`: there is no attribute `colour`",
    ),
    (
        "lines = [\"tax\"]",
        "lines = [\"relief\"]",
        "filing `Z1`: `relief` is not a line with a role",
    ),
    // Tables.
    (", married = 7", "", "line `relief`: `amount`: no entry for status = `married`"),
    (", weekly = 6", "", "line `relief`: `amount`: no entry for period = `weekly`"),
    ("married = 7", "married = 7, widowed = 8", "`widowed` is not a value of `status`"),
    ("weekly = 6", "weekly = 6, biweekly = 8", "`biweekly` is not a value of `period`"),
    ("by = [\"status\", \"period\"]", "by = [\"status\"]", "`by` names no further attribute"),
    ("married = 7", "married = \"7\"", "must be a whole number of minor units"),
    // Bands.
    ("[1000, \"0.2\"]", "[0, \"0.2\"]", "line `tax`: `bands`: bands must ascend"),
    ("[1000, \"0.2\"]", "[-1, \"0.2\"]", "bands must ascend"),
    ("[1000, \"0.2\"]", "[1000, \"0.2\", 5]", "either all bands have a third number"),
    ("[1000, \"0.2\"]", "[1000, 0.2]", "a rate must be a string"),
    ("[1000, \"0.2\"]", "[1000, \"20%\"]", "`20%` is not a rate"),
    ("[1000, \"0.2\"]", "[1000]", "is not a band"),
    ("[[0, \"0.1\"], [1000, \"0.2\"]]", "[]", "bands must not be empty"),
    // Keys of other line kinds, missing keys, invalid values.
    (
        "kind = \"const\"",
        "kind = \"const\"\nrate = \"0.1\"",
        "line `relief`: `rate` is not a key of this kind",
    ),
    ("kind = \"bands\"", "kind = \"slice\"", "line `tax`: `bands` is not a key of this kind"),
    ("kind = \"const\"", "kind = \"const\"\nmax_year = 5", "line `relief`: `max_year` caps"),
    ("of = \"gross\"", "", "line `tax`: this kind of line needs `of`"),
    ("kind = \"bands\"", "kind = \"magic\"", "unknown variant `magic`"),
    ("round = \"floor:100\"", "round = \"floor:0\"", "the rounding unit"),
    ("round = \"floor:100\"", "round = \"up\"", "`up` is not a rounding mode"),
    ("is = \"single\" }", "is = \"widowed\" }", "is not a value of `status`"),
    (
        "when = { attr = \"status\", is = \"single\" }",
        "when = { of = \"gross\" }",
        "one of `over` and `at_least`",
    ),
    (
        "when = { attr = \"status\", is = \"single\" }",
        "when = { attr = \"status\" }",
        "`when` must be { attr, is }",
    ),
    ("per = \"year\"\nof", "per = \"decade\"\nof", "unknown variant `decade`"),
    ("role = \"employee_tax\"", "role = \"tax\"", "unknown variant `tax`"),
    ("due = { months_after = 1, day = 9 }", "due = { day = 9 }", "`due` must be {"),
    ("day = 9 }", "day = 32 }", "is not a day of a month"),
    ("frequency = \"monthly\"", "frequency = \"often\"", "unknown variant `often`"),
];

#[test]
fn a_faulty_pack_is_refused_with_position_and_reason() {
    let mut wrong = Vec::new();
    for (good, bad, words) in REFUSED {
        let text = GOOD.replacen(good, bad, 1);
        assert_ne!(text, GOOD, "`{good}` is not in the pack");
        match Pack::parse("ZZ", &text) {
            Ok(_) => panic!("`{bad}` was accepted"),
            Err(error) => {
                let message = error.to_string();
                if !message.contains(words) || !message.starts_with("pack ZZ") {
                    wrong.push(format!("`{bad}`: expected {words:?}, got {message}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A window on a value without a year to date depends on the number of the period, even if nothing else in
/// the pack does.
#[test]
fn a_slice_to_date_of_a_memo_assumes_an_equal_value_in_every_period() {
    let line = r#"
[[line]]
id = "fee"
kind = "slice"
role = "employer_tax"
per = "ytd"
of = "relief"
upto = 12

[[filing]]"#;
    let pack = Pack::parse("ZZ", &GOOD.replacen("[[filing]]", line, 1)).unwrap();
    let fee = |number| {
        let input = PayInput {
            period: PayPeriod::Monthly,
            number,
            attributes: pack.default_attributes(),
            inputs: &[],
            on: None,
            earnings: &[],
            ytd: &YearToDate::start(),
        };
        pack.evaluate(&input).unwrap().employer
    };
    assert_eq!([1, 2, 3, 4].map(fee), [5, 5, 2, 0]);
}

#[test]
fn a_fraction_in_a_line_without_rounding_is_an_error() {
    let text = GOOD.replacen("round = \"floor:100\"", "round = \"none\"", 1);
    let pack = Pack::parse("ZZ", &text).unwrap();
    let tax = |gross| {
        let input = PayInput {
            period: PayPeriod::Monthly,
            number: 1,
            attributes: pack.default_attributes(),
            inputs: &[],
            on: None,
            earnings: &[(pack.component("basic"), gross)],
            ytd: &YearToDate::start(),
        };
        pack.evaluate(&input).map(|pay| pay.tax).map_err(|error| error.to_string())
    };
    assert_eq!(tax(10), Ok(1));
    let message = "`tax` is a fraction of a minor unit, and the pack does not round it";
    assert_eq!(tax(11), Err(message.to_owned()));
}

#[test]
fn attributes_of_another_pack_are_refused() {
    let united_kingdom = library().pack("GB").unwrap();
    let none = united_kingdom.default_attributes();
    let foreign = united_kingdom.with_attribute(none, "ni_category", "Z").unwrap();
    let input = PayInput {
        period: PayPeriod::Monthly,
        number: 1,
        attributes: foreign,
        inputs: &[],
        on: None,
        earnings: &[],
        ytd: &YearToDate::start(),
    };
    let refused = library().pack("US").unwrap().evaluate(&input);
    assert_eq!(refused, Err(PayError::ForeignAttributes));
}

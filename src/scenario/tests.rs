//! Tests of the messages about files: each golden is beside its file in `fixtures/scenarios/`, and compared
//! as a whole.

#![expect(clippy::disallowed_methods, reason = "a test reads the repository")]

use std::collections::BTreeMap;

use proptest::prelude::{ProptestConfig, prop_assert_eq};
use proptest::test_runner::TestRunner;

use super::*;
use crate::value::mutation::{damaged, edits};
use crate::value::{Look, Span};
use crate::world::script::{Comparison, Moment, Range, Scenario, Step, Wanted};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/scenarios");

fn report(path: &str, files: &BTreeMap<&str, Vec<u8>>) -> String {
    let read = |path: &str| files.get(path).cloned().ok_or("is not there".to_owned());
    check(path, &read).report(Look::Plain)
}

fn one(source: &str) -> Scenario {
    let checked = check("f.toml", &|_| Ok(source.as_bytes().to_vec()));
    assert_eq!(checked.report(Look::Plain), "");
    checked.scenario.expect("nothing is wrong with it")
}

#[test]
fn every_mistake_is_explained_as_its_golden_says() {
    let read = |path: &str| {
        std::fs::read(format!("{FOLDER}/{path}")).map_err(|_| "no such file".to_owned())
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(FOLDER).expect("the folder is part of the repository") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("UTF-8").to_owned();
        let Some(stem) = name.strip_suffix(".toml") else {
            continue;
        };
        let golden = std::fs::read_to_string(format!("{FOLDER}/{stem}.txt"));
        let golden = golden.expect("every file has its golden");
        let checked = check(&name, &read);
        assert_eq!(checked.report(Look::Plain), golden, "{name}");
        assert_eq!(checked.scenario.is_some(), stem == "never", "{name}");
        compared += 1;
    }
    assert_eq!(compared, 14);
}

#[test]
fn a_file_that_is_not_utf8_is_refused_with_the_byte() {
    let files = [("u.toml", b"title = \"\xff\"\n".to_vec())].into();
    assert_eq!(
        report("u.toml", &files),
        "error: the file is not UTF-8\n \
         --> u.toml:1:10\n  \
         |\n\
         1 | title = \"\u{fffd}\"\n  \
         |          ^ the byte 0xff begins no character\n  \
         |\n  \
         = help: save it as UTF-8\n\n\
         1 mistake in u.toml\n"
    );
}

#[test]
fn a_file_that_is_too_large_is_not_parsed() {
    let files = [("big.toml", vec![b'#'; MOST_BYTES + 1])].into();
    let refusal = "error: big.toml: is larger than 1024 KiB, the most for a scenario\n";
    assert_eq!(report("big.toml", &files), refusal);
    let files = [("full.toml", vec![b'#'; MOST_BYTES])].into();
    assert_eq!(report("full.toml", &files), "");
    assert_eq!(report("none.toml", &files), "error: none.toml: is not there\n");
}

#[test]
fn the_depth_of_includes_is_limited() {
    let names: Vec<String> = (0..10).map(|depth| format!("{depth}.toml")).collect();
    let including = |depth: usize| format!("include = [\"{}.toml\"]\n", depth + 1).into_bytes();
    let mut files: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for (depth, name) in names.iter().enumerate() {
        files.insert(name, including(depth));
    }
    files.insert("9.toml", Vec::new());
    assert!(report("0.toml", &files).contains("includes are nested deeper than 8 files"));
    assert_eq!(report("2.toml", &files), "");
}

#[test]
fn rows_and_values_of_the_including_file_come_first() {
    let own = "include = [\"x/other.toml\", \"flaky-503\"]\n[world]\ncompanies = 2\n\
        [[fault]]\non = \"*\"\nlatency = \"1s\"\n";
    let other = "title = \"other\"\n[world]\ncompanies = 5\nseed = 7\n\
        [limits]\nrate = \"3/s\"\n[[fault]]\non = \"*\"\nlose = \"reply\"\n[[step]]\nidle = true\n";
    let files: BTreeMap<&str, Vec<u8>> =
        [("a/own.toml", own.as_bytes().to_vec()), ("a/x/other.toml", other.as_bytes().to_vec())]
            .into();
    let read = |path: &str| files.get(path).cloned().ok_or(path.to_owned());
    let checked = check("a/own.toml", &read);
    assert_eq!(checked.report(Look::Plain), "");
    let scenario = checked.scenario.expect("sound");
    let sources: Vec<&str> = scenario.faults.iter().map(|row| row.source.as_str()).collect();
    assert_eq!(sources[..2], ["own.toml:4", "other.toml:7"]);
    assert!(sources[2].starts_with("flaky-503.toml:"));
    assert_eq!((scenario.name.as_str(), scenario.title.as_str()), ("own", ""));
    assert_eq!((scenario.world.companies, scenario.world.seed), (Some(2), Some(7)));
    assert_eq!(scenario.limits.rate.map(|rate| rate.requests), Some(3));
    assert!(scenario.steps.is_empty());
}

#[test]
fn rows_contain_the_values_of_their_file() {
    let scenario = one(r#"
[[outcome]]
on = "payout.settle"
where = { employee = 3, amount = ">= 500000", department = "Engineering", company = "@company:1" }
nth = "2..4"
times = 2
chance = 0.25
then = "returned"
code = "R02"
after = "2bd"

[[timeline]]
at = "+3d"
after = "payroll_run.paid"
call = "updateCompany"
with = { company_id = "@company:1", payroll_settings = { approval_required = true } }

[[timeline]]
at = 2026-04-01T00:00:00Z
inbound = "bank_transfer"
with = { company_id = "@company:1", amount = 5 }

[[step]]
call = "getPayrollRun"
with = { payroll_run_id = "@@literal" }
"#);
    let row = &scenario.outcomes[0];
    let wanted: Vec<&Wanted> = row.when.select.iter().map(|it| &it.wanted).collect();
    assert_eq!(
        wanted,
        [
            &Wanted::Ordinal(3),
            &Wanted::Compare(Comparison::GreaterOrEqual, 500_000),
            &Wanted::Is("Engineering".into()),
            &Wanted::Reference(1),
        ]
    );
    let place = Range { first: 2, last: Some(4) };
    assert_eq!(row.when.nth, [place]);
    assert_eq!((row.when.times, row.when.chance_ppm), (Some(2), Some(250_000)));
    assert_eq!(row.after, Some(Span::BusinessDays(2)));
    assert_eq!(row.source, "f.toml:2");
    let after = Moment::After {
        event: "payroll_run.paid".to_owned(),
        delay: Span::Millis(3 * 24 * 60 * 60 * 1_000),
    };
    assert_eq!(scenario.timeline[0].at, after);
    let instant = "2026-04-01T00:00:00Z".parse().expect("an instant");
    assert_eq!(scenario.timeline[1].at, Moment::At(instant));
    assert!(
        matches!(&scenario.steps[0], Step::Call(step) if step.with["payroll_run_id"] == "@@literal")
    );
}

#[test]
fn the_starter_is_valid_and_hostile_files_do_not_panic() {
    let starter = include_str!("../cli/scenario/starter.toml");
    assert_eq!(one(starter).title, "One payout is returned");
    let deep = format!("a = {}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let rows = "[[outcome]]\non = \"payout.settle\"\nwhere = { employee = 1 }\nthen = \"x\"\n";
    for source in [deep, rows.repeat(MOST_BYTES / rows.len()), "\u{1b}[2J = 1".to_owned()] {
        let files = [("f.toml", source.into_bytes())].into();
        let text = report("f.toml", &files);
        assert!(text.contains("f.toml:") && !text.contains('\u{1b}'));
        assert!(text.len() < 100_000);
    }
}

#[test]
fn a_damaged_file_is_a_scenario_or_has_a_mistake() {
    let samples = [
        include_str!("../../scenarios/late-return.toml"),
        include_str!("../../scenarios/chargeback.toml"),
    ];
    let mut runner = TestRunner::new(ProptestConfig { cases: 300, ..ProptestConfig::default() });
    let run = runner.run(&edits(), |edits| {
        for sample in samples {
            let bytes = damaged(sample.as_bytes(), &edits);
            let checked = check("f.toml", &|_| Ok(bytes.clone()));
            let report = checked.report(Look::Plain);
            prop_assert_eq!(checked.scenario.is_some(), report.is_empty(), "{}", report);
        }
        Ok(())
    });
    run.expect("every file");
}

#[test]
fn a_seed_beyond_the_integers_of_toml_is_a_text_of_digits() {
    for (written, seed) in [
        ("0", 0),
        ("9223372036854775807", 9_223_372_036_854_775_807),
        ("\"7\"", 7),
        ("\"18446744073709551615\"", u64::MAX),
    ] {
        assert_eq!(one(&format!("[world]\nseed = {written}\n")).world.seed, Some(seed));
    }
    for written in ["-1", "9223372036854775808", "\"18446744073709551616\"", "\"+7\"", "\"\""] {
        let file = [("s.toml", format!("[world]\nseed = {written}\n").into_bytes())].into();
        let report = report("s.toml", &file);
        assert!(report.contains("expected a number from 0 to 18446744073709551615"), "{report}");
    }
}

#[test]
fn a_duplicate_has_at_most_a_hundred_copies() {
    let row = |shape: &str, times: u64| {
        format!("[[webhook]]\non = \"payout.paid\"\ndo = \"{shape}\"\ntimes = {times}\n")
    };
    assert_eq!(one(&row("duplicate", 100)).webhooks.len(), 1);
    assert_eq!(one(&row("drop", 101)).webhooks.len(), 1);
    let report = report("m.toml", &[("m.toml", row("duplicate", 101).into_bytes())].into());
    assert!(report.contains("`times` cannot be 101\n --> m.toml:4:9"), "{report}");
    assert!(report.contains("expected at most 100 copies"), "{report}");
}

#[test]
fn the_help_of_a_missing_name_lists_the_values() {
    let help = |row: &str| report("m.toml", &[("m.toml", row.as_bytes().to_vec())].into());
    let choices = help("[[outcome]]\non = \"tax_filing.reply\"\n");
    assert!(choices.contains("Its values: `accepted`, `rejected`"), "{choices}");
    let changes = help("[[webhook]]\non = \"*\"\n");
    assert!(changes.contains("Its values: `duplicate`, `delay`, `drop`, "), "{changes}");
    let decisions = help("[[outcome]]\nthen = \"failed\"\n");
    assert!(decisions.contains("`sandbox scenario list --decisions` lists all"), "{decisions}");
}

//! `sandbox scenario`, and every shipped file.

use std::path::Path;

use serde_json::Value;

use crate::harness::schema::violations;
use crate::harness::{command, finish};

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut all = vec!["scenario"];
    all.extend(arguments);
    let output = finish(command(&all).current_dir(folder));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files of `scenarios/`, by name.
fn shipped() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(here().join("scenarios")).unwrap();
    let mut files: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn check_prints_every_mistake_and_its_exit_code_is_1_if_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("good.toml", "title = \"x\"\n");
    write("bad.toml", "[[outcome]]\non = \"payrol.run\"\nthen = \"paid\"\ncolour = 1\n");
    write("odd.toml", "[[fault]]\non = \"*\"\nstatus = 503\nchance = 0\n");
    let sound = |name: &str| format!("{name}: no mistakes\n");
    assert_eq!(run(folder.path(), &["check", "good.toml"]), (0, sound("good.toml"), String::new()));
    let (code, out, err) = run(folder.path(), &["check", "odd.toml"]);
    assert_eq!((code, out), (0, sound("odd.toml")));
    assert!(err.starts_with("warning: this row can never match\n --> odd.toml:4:1\n"));
    let row = |then: &str, nth: u8| {
        format!("[[outcome]]\non = \"payout.settle\"\nthen = \"{then}\"\nnth = {nth}\n")
    };
    write("two.toml", &[row("failed", 1), row("paid", 1)].concat());
    let (code, _, err) = run(folder.path(), &["check", "two.toml"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: this row contradicts an earlier one\n --> two.toml:5:1\n"));
    assert!(err.contains("add a different `nth` to each"), "{err}");
    write("two.toml", &[row("failed", 1), row("paid", 2)].concat());
    assert_eq!(run(folder.path(), &["check", "two.toml"]).0, 0);
    let row = |then: &str, matched: &str| {
        format!("[[outcome]]\non = \"payout.settle\"\nthen = \"{then}\"\nwhere = {{ {matched} }}\n")
    };
    let (one, other) = ("amount = 5, rail = \"instant\"", "rail = \"instant\", amount = 5");
    write("two.toml", &[row("failed", one), row("paid", other)].concat());
    assert_eq!(run(folder.path(), &["check", "two.toml"]).0, 1, "the order does not matter");
    write(
        "two.toml",
        "[[fault]]\non = \"payments.*\"\nstatus = 503\n[[fault]]\non = \"createPayout\"\nstatus = 500\n",
    );
    let (code, _, err) = run(folder.path(), &["check", "two.toml"]);
    assert_eq!(code, 0);
    assert!(err.starts_with("warning: this row can never match\n --> two.toml:4:1\n"), "{err}");
    let (code, out, err) = run(folder.path(), &["check", "bad.toml", "none.toml", "good.toml"]);
    assert_eq!((code, out), (1, sound("good.toml")));
    assert!(err.contains("bad.toml:2:6\n") && err.contains("did you mean `payroll_run`?"));
    assert!(err.contains("bad.toml:4:1\n") && err.contains("error: none.toml: "));
    assert!(err.ends_with("error: 2 of 3 files cannot be used\n"), "{err}");
}

#[test]
fn a_file_with_limits_alone_is_loaded_for_its_test() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
[world]
countries = ["GB"]

[limits]
platform_fee = "off"

[[step]]
call = "createBeneficiary"
with = { company_id = "@company:1", name = "Payee Ltd", type = "business", account = { bank_code = "200000", account_number = "55779911", country = "GB", currency = "GBP" } }
save = "payee"

[[step]]
advance = "30s"

[[step]]
call = "createPayout"
with = { company_id = "@company:1", wallet_id = "@wallet:1", beneficiary_id = "@payee.data.id", amount = 10000, currency = "GBP", rail = "standard", reference = "R" }
expect = { status = 201, body = { data = { fee = 0 } } }
"#;
    std::fs::write(folder.path().join("fee.toml"), text).unwrap();
    let (code, out, err) = run(folder.path(), &["test", "fee.toml"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
}

#[test]
fn fifty_megabytes_are_refused_without_reading_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("big.toml")).unwrap();
    file.set_len(50_000_000).unwrap();
    let (code, _, err) = run(folder.path(), &["check", "big.toml"]);
    assert_eq!(code, 1);
    assert!(err.starts_with("error: big.toml: is larger than 1024 KiB"), "{err}");
}

#[test]
fn list_and_show_print_the_shipped_scenarios_and_suggest_the_nearest_name() {
    let (code, out, _) = run(here(), &["list"]);
    assert_eq!((code, out.lines().count()), (0, shipped().len()));
    let (code, out, _) = run(here(), &["list", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    for (name, source) in shipped() {
        let row = listed.as_array().unwrap().iter().find(|row| row["name"] == *name);
        assert!(!row.unwrap()["about"].as_str().unwrap().is_empty(), "{name}");
        assert_eq!(run(here(), &["show", &name]), (0, source, String::new()));
    }
    assert_eq!(
        run(here(), &["show", "hapy-path"]),
        (
            1,
            String::new(),
            "error: there is no scenario \"hapy-path\"; did you mean happy-path?\n".to_owned()
        )
    );
    let (_, out, _) = run(here(), &["list", "--decisions"]);
    assert!(
        out.contains("payout.settle  ") && out.contains("  paid ") && out.contains("(the default)")
    );
    let (_, out, _) = run(here(), &["list", "--decisions", "--json"]);
    let decisions: Value = serde_json::from_str(&out).unwrap();
    let settle = decisions.as_array().unwrap().iter().find(|row| row["name"] == "payout.settle");
    let default = &settle.unwrap()["choices"][0];
    assert_eq!((&default["name"], &default["default"]), (&"paid".into(), &true.into()));
}

#[test]
fn a_new_file_passes_the_check_and_none_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, _) = run(folder.path(), &["new", "mine"]);
    assert_eq!(code, 0);
    assert!(out.contains("sandbox scenario check mine.toml"), "{out}");
    assert_eq!(run(folder.path(), &["check", "mine.toml"]).0, 0);
    let (code, _, err) = run(folder.path(), &["new", "mine.toml", "--from", "flaky-503"]);
    assert_eq!(
        (code, err.as_str()),
        (1, "error: mine.toml exists and is unchanged; give another name\n")
    );
    assert_eq!(run(folder.path(), &["new", "other", "--from", "flaky-503"]).0, 0);
    let written = std::fs::read_to_string(folder.path().join("other.toml")).unwrap();
    let shipped = std::fs::read_to_string(here().join("scenarios/flaky-503.toml")).unwrap();
    assert_eq!(written, shipped);
}

fn schema() -> Value {
    serde_json::from_str(&run(here(), &["schema"]).1).unwrap()
}

fn of(source: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Value>(source).unwrap()).unwrap()
}

#[test]
fn every_shipped_file_validates_against_the_schema() {
    let mut schema = schema();
    schema.as_object_mut().unwrap().remove("$schema").unwrap();
    for (name, source) in shipped() {
        assert_eq!(violations(&schema, &schema, &of(&source)), [""; 0], "{name}");
    }
    // The control run.
    for source in [
        "colour = 1",
        "[[outcome]]\non = \"payrol.run\"\nthen = \"paid\"",
        "[[outcome]]\non = \"payout.settle\"",
        "[[fault]]\non = \"*\"\nstatus = 200",
        "[limits]\nrate = \"100/day\"",
        "[[outcome]]\non = \"payout.settle\"\nthen = \"paid\"\nnth = 0",
    ] {
        assert!(!violations(&schema, &schema, &of(source)).is_empty(), "{source}");
    }
}

#[test]
fn every_shipped_scenario_passes_its_test_twice() {
    let files = shipped();
    let mut arguments = vec!["test", "--json"];
    arguments.extend(files.iter().map(|(name, _)| name.as_str()));
    let (code, out, err) = run(here(), &arguments);
    let report: Value = serde_json::from_str(&out).unwrap();
    for tested in report.as_array().unwrap() {
        assert_eq!(tested["passed"], true, "{tested:#}");
        let idle = |row: &&Value| row["hits"] == 0;
        let rows = tested["rows"].as_array().unwrap();
        assert_eq!(rows.iter().find(idle), None, "{tested:#}");
    }
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn a_different_result_is_printed_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[[step]]\ncall = \"listCompanies\"\nexpect = { status = 404, body = { data = [] } }\n\n\
        [expect]\nevents = [\"payroll_run.created\"]\n";
    std::fs::write(folder.path().join("wrong.toml"), file).unwrap();
    let (code, out, err) = run(folder.path(), &["test", "wrong.toml"]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "wrong\n  NOT wrong.toml:1  listCompanies → 200\n        \
         status: expected 404, got 200\n        \
         body/data: expected 0 items, got 3 items\n  \
         NOT events: expected payroll_run.created\n        got none\n  \
         3 differences, 0 events\n"
    );
    assert_eq!(err, "error: the result differs from the expected one\n");
    let (code, _, err) = run(folder.path(), &["test", "hapy-path"]);
    assert_eq!(code, 1);
    assert!(err.contains("did you mean happy-path?"), "{err}");
}

#[test]
fn junit_has_a_case_for_each_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("wrong.toml", "[[step]]\ncall = \"listCompanies\"\nexpect = { status = 404 }\n");
    write("broken.toml", "colour = 1\n");
    let cases = |arguments: &[&str], expected_code| -> Vec<(String, Option<(String, String)>)> {
        let (code, out, err) =
            run(folder.path(), &[&["test", "--junit", "results.xml"], arguments].concat());
        assert_eq!(code, expected_code, "{out}{err}");
        let text = std::fs::read_to_string(folder.path().join("results.xml")).unwrap();
        let xml = roxmltree::Document::parse(&text).unwrap();
        let cases = xml.descendants().filter(|node| node.has_tag_name("testcase"));
        let found: Vec<_> = cases
            .map(|case| {
                let verdict = case.first_element_child().map(|it| {
                    let message = it.attribute("message").unwrap_or_default();
                    (it.tag_name().name().to_owned(), message.to_owned())
                });
                (case.attribute("name").unwrap().to_owned(), verdict)
            })
            .collect();
        let suite = xml.root_element().first_element_child().unwrap();
        assert_eq!(suite.attribute("tests"), Some(found.len().to_string().as_str()), "{text}");
        found
    };
    let of = |tag: &str, message: &str| Some((tag.to_owned(), message.to_owned()));
    assert_eq!(cases(&["happy-path"], 0), [("happy-path".to_owned(), None)]);
    let difference = "wrong.toml:1 listCompanies: status: expected 404, got 200";
    assert_eq!(
        cases(&["wrong.toml", "happy-path"], 1),
        [("wrong".to_owned(), of("failure", difference)), ("happy-path".to_owned(), None)]
    );
    assert_eq!(
        cases(&["happy-path", "broken.toml", "late-return"], 1),
        [
            ("happy-path".to_owned(), None),
            ("broken.toml".to_owned(), of("error", "broken.toml cannot be used")),
            ("late-return".to_owned(), of("skipped", "")),
        ]
    );
}

#[test]
fn a_junit_file_that_cannot_be_written_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) =
        run(folder.path(), &["test", "happy-path", "--junit", "none/results.xml"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("cannot write --junit none/results.xml"), "{err}");
}

/// An import of two companies: one has an id of the caller, and two others share one.
const OWN: &str = r#"
title = "Own ids"

[[step]]
call = "updateCompany"
with = { company_id = "@company:1", metadata = { external_id = "E-1" } }

[[step]]
call = "updateCompany"
with = { company_id = "@company:2", metadata = { external_id = "E-2" } }

[[step]]
call = "updateCompany"
with = { company_id = "@company:3", metadata = { external_id = "E-2" } }

[[step]]
call = "getCompany"
with = { company_id = "@ext:employee:E-1" }

[[step]]
call = "getCompany"
with = { company_id = "@ext:E-2" }

[[step]]
call = "getCompany"
with = { company_id = "@ext:E-1" }
expect = { status = 200 }
"#;

#[test]
fn an_unresolved_reference_is_a_difference_and_the_run_continues() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.toml"), OWN).unwrap();
    let (code, out, _) = run(folder.path(), &["test", "own.toml", "--junit", "own.xml"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("NOT own.toml:16  getCompany\n"), "{out}");
    assert!(
        out.contains(
            "@ext:employee:E-1: expected a value, got @ext:employee:E-1 refers to no resource"
        ),
        "{out}"
    );
    assert!(out.contains("refers to several resources") && !out.contains("name the kind"), "{out}");
    assert!(out.contains("ok  own.toml:24  getCompany → 200"), "{out}");
    let junit = std::fs::read_to_string(folder.path().join("own.xml")).unwrap();
    assert!(junit.contains("own.toml:16") && junit.contains("<failure"), "{junit}");
    let (code, json, _) = run(folder.path(), &["test", "own.toml", "--json"]);
    let tested: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &tested[0]["steps"][3]["source"]), (1, &"own.toml:16".into()));
    assert_eq!(tested[0]["steps"][3]["differences"][0]["at"], "@ext:employee:E-1");
}

#[test]
fn a_place_is_counted_in_the_world_that_the_steps_have_made() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"
title = "Another world"

[[step]]
call = "resetWorld"
with = { seed = 7 }

[[step]]
call = "getCompany"
with = { company_id = "@company:1" }
expect = { status = 200 }

[[step]]
call = "createCompany"
with = { legal_name = "Last Ltd", country = "GB", currency = "GBP" }
save = "last"

[[step]]
call = "getCompany"
with = { company_id = "@company:4" }
expect = { status = 200, body = { data = { id = "@last.data.id" } } }
"#;
    std::fs::write(folder.path().join("other.toml"), text).unwrap();
    let (code, out, err) = run(folder.path(), &["test", "other.toml"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn rows_that_can_never_work_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "title = \"x\"\n[[timeline]]\nat = \"+1d\"\ncall = \"getEmployee\"\nwith = { employee_id = \"@employee:1\" }\n\
        [[outcome]]\non = \"payout.settle\"\nnth = []\nthen = \"failed\"\n";
    std::fs::write(folder.path().join("bad.toml"), rows).unwrap();
    let (code, _, err) = run(folder.path(), &["check", "bad.toml"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("\"getEmployee\" does not change the world\n --> bad.toml:4:8"), "{err}");
    assert!(err.contains("`nth` has no position"), "{err}");
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    let (code, _, err) = run(folder.path(), &["check", "dir"]);
    assert_eq!(code, 1);
    assert!(err.contains("it is a folder: name a file"), "{err}");
}

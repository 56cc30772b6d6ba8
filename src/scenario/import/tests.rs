//! Tests of imports: the messages about broken files, each golden beside its file in `fixtures/imports/`, and the order of the calls.

#![expect(clippy::disallowed_methods, reason = "a test reads the repository")]

use std::collections::BTreeMap;

use crate::scenario::import::{Checked, check};
use crate::value::{Look, Timestamp};
use crate::world::{Base, ClockMode, Shape, World};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/imports");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/import");

fn world() -> World {
    World::new(Base::new(42, Shape::default()).into(), ClockMode::Instant)
}

fn in_folder(folder: &str, name: &str, world: &World) -> Checked {
    let read = |path: &str| {
        std::fs::read(format!("{folder}/{path}")).map_err(|_| "no such file".to_owned())
    };
    check(&[name.to_owned()], &read, world)
}

fn of_text(text: &str, world: &World) -> Checked {
    let read = |path: &str| match path {
        "i.toml" => Ok(text.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    };
    check(&["i.toml".to_owned()], &read, world)
}

#[test]
fn every_broken_file_is_explained_as_its_golden_says() {
    let world = world();
    let (mut compared, mut differing) = (0, Vec::new());
    for entry in std::fs::read_dir(FOLDER).expect("the folder is part of the repository") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_str().expect("UTF-8").to_owned();
        let Some(stem) = name.strip_suffix(".toml") else { continue };
        let checked = in_folder(FOLDER, &name, &world);
        let report = checked.report(Look::Plain);
        assert!(checked.imported.is_none() && report.contains("error: "), "{name}: {report}");
        let golden = std::fs::read_to_string(format!("{FOLDER}/{stem}.txt"));
        if golden.expect("every file has its golden") != report {
            differing.push(format!("{name}:\n{report}"));
        }
        compared += 1;
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(compared >= 20, "{compared}");
}

#[test]
fn the_example_creates_what_it_says() {
    let checked = in_folder(EXAMPLE, "acme.toml", &world());
    assert_eq!(checked.report(Look::Plain), "");
    let (scenario, world) = checked.imported.expect("nothing is wrong with it");
    assert_eq!((scenario.name.as_str(), scenario.outcomes.is_empty()), ("import:acme", false));
    let externals: Vec<String> = world.externals().map(|it| it.external_id).collect();
    assert_eq!(externals, ["bakery", "E-1", "E-2", "E-3", "E-4", "harbour"]);
    assert!(world.external("E-2").is_ok() && world.external("employee:E-2").is_ok());
    let unknown = world.external("E-22").expect_err("there is none");
    assert_eq!(unknown, "@ext:E-22 refers to no resource of this world; did you mean @ext:E-2");
}

#[test]
fn the_order_of_files_and_tables_changes_nothing() {
    let company = |id: &str| {
        format!(
            "[[company]]\nid = \"{id}\"\nlegal_name = \"x\"\ncountry = \"GB\"\ncurrency = \"GBP\"\n"
        )
    };
    let wallet = |id: &str| format!("[[wallet]]\ncompany = \"{id}\"\nbalance = 5\n");
    let digest = |text: String| {
        let checked = of_text(&text, &world());
        assert_eq!(checked.report(Look::Plain), "");
        checked.imported.expect("sound").1.digest()
    };
    let (a, b) = (company("a"), company("b"));
    let one = digest(format!("{a}{b}{}{}", wallet("a"), wallet("b")));
    let other = digest(format!("{}{a}{}{b}", wallet("b"), wallet("a")));
    assert_eq!(one, other);
    assert_ne!(one, digest(format!("{b}{a}{}{}", wallet("a"), wallet("b"))));
}

#[test]
fn what_a_world_has_already_is_refused_and_nothing_is_created() {
    let text =
        "[[company]]\nid = \"a\"\nlegal_name = \"x\"\ncountry = \"GB\"\ncurrency = \"GBP\"\n";
    let (_, after) = of_text(text, &world()).imported.expect("sound");
    let again = of_text(text, &after);
    assert!(again.imported.is_none());
    let report = again.report(Look::Plain);
    assert!(
        report.contains("i.toml:2:6") && report.contains("already has this company"),
        "{report}"
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let text = "[[company]]\nid = \"a\"\ncountry = \"GB\"\ncurrency = \"GBP\"\n\n\
        [[employee]]\nid = \"e\"\ncompany = \"b\"\nstart_date = \"soon\"\n\n\
        [[company]]\nid = \"c\"\nlegal_name = \"C\"\ncountry = \"GB\"\ncurrency = \"GBP\"\ncolour = 1\n\n\
        [[company]]\nid = \"n\"\nlegal_name = \"N\"\ncountry = \"NX\"\ncurrency = \"NGN\"\n\n\
        [[employee]]\nid = \"f\"\ncompany = \"c\"\nname = \"F\"\nrole = \"R\"\ndepartment = \"D\"\nstart_date = 2025-01-01\n\
        payment_method = { type = \"bank\", bank_code = \"200000\", account_number = \"12\" }\n";
    let report = of_text(text, &world()).report(Look::Plain);
    for expected in [
        "needs `legal_name`",
        "has the id \"b\"",
        "`start_date` is wrong",
        "needs `name`",
        "no key \"colour\"",
        "i.toml:21:11", // the country
        "payment_method.account_number",
    ] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
    let all = report.lines().filter(|line| line.contains("-->")).count();
    assert!(all >= 8 && report.contains(&format!("{all} mistakes in i.toml")), "{report}");
}

#[test]
fn work_that_begins_later_waits_for_its_first_day() {
    let text = |day: &str| {
        format!(
            "[[company]]\nid = \"a\"\nlegal_name = \"x\"\ncountry = \"GB\"\ncurrency = \"GBP\"\n\
            [[employee]]\nid = \"e\"\ncompany = \"a\"\nname = \"n\"\nrole = \"r\"\ndepartment = \"d\"\n\
            start_date = {day}\n"
        )
    };
    let status = |day: &str| {
        let (_, world) = of_text(&text(day), &world()).imported.expect("sound");
        let id = world.external("e").expect("imported");
        world.any(id).expect("it exists").to_wire()["status"].clone()
    };
    assert_eq!(Shape::default().start, "2026-01-01T00:00:00Z".parse::<Timestamp>().expect("one"));
    assert_eq!(status("2025-12-31"), "active");
    assert_eq!(status("2026-01-02"), "pending");
}

#[test]
fn damaged_files_never_break_the_check() {
    let source = std::fs::read(format!("{EXAMPLE}/acme.toml")).expect("the example");
    let people = std::fs::read(format!("{EXAMPLE}/people.csv")).expect("the example");
    let world = World::new(
        Base::new(1, Shape { companies: 1, employees_per_company: 0, ..Shape::default() }).into(),
        ClockMode::Instant,
    );
    for at in (0..source.len()).step_by(23) {
        let (mut cut, mut changed) = (source.clone(), people.clone());
        cut.truncate(at);
        let place = at % changed.len();
        changed[place] = b"\"\xff,\n@"[at % 5];
        let files: BTreeMap<&str, Vec<u8>> =
            [("a.toml", cut), ("acme.toml", source.clone()), ("people.csv", changed)].into();
        let read = |path: &str| files.get(path).cloned().ok_or("is not there".to_owned());
        for path in ["a.toml", "acme.toml"] {
            let checked = check(&[path.to_owned()], &read, &world);
            assert!(
                checked.imported.is_some() || !checked.report(Look::Plain).is_empty(),
                "{path} {at}"
            );
        }
    }
}

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
fn the_example_import_creates_its_resources() {
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
fn an_import_of_an_existing_company_is_refused_and_creates_nothing() {
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
fn one_mistake_hides_no_other() {
    let world = world();
    let report = |mistakes: &[&Wrong]| {
        let [mut text, mut people] = [PAIRS.to_owned(), PAIRS_CSV.to_owned()];
        for wrong in mistakes {
            let source = if wrong.in_csv { &mut people } else { &mut text };
            assert!(source.contains(wrong.from), "{}", wrong.from);
            *source = source.replacen(wrong.from, wrong.to, 1);
        }
        let read = |path: &str| match path {
            "i.toml" => Ok(text.as_bytes().to_vec()),
            "p.csv" => Ok(people.as_bytes().to_vec()),
            _ => Err("no such file".to_owned()),
        };
        check(&["i.toml".to_owned()], &read, &world).report(Look::Plain)
    };
    let places = |report: &str| -> Vec<String> {
        let lines = report.lines().filter_map(|line| line.trim_start().strip_prefix("--> "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(report(&[]), "");
    let alone: Vec<Vec<String>> = WRONG.iter().map(|wrong| places(&report(&[wrong]))).collect();
    for (wrong, places) in WRONG.iter().zip(&alone) {
        assert_eq!(places.len(), 1, "{}: {places:?}", wrong.to);
    }
    let mut lacking = Vec::new();
    for (place, one) in WRONG.iter().enumerate() {
        for (other_place, other) in WRONG.iter().enumerate().skip(place + 1) {
            // A table with invalid syntax has only that mistake, and a missing CSV file has no others.
            let hides = |one: &Wrong, other: &Wrong| match one.to {
                "email = \n" => other.from.starts_with("type = "),
                "\"q.csv\"" => {
                    other.in_csv
                        || other.from == "\"Salary\""
                        || other.from.starts_with("role = \"B")
                }
                "\"Salry\"" => other.to == "8000.001",
                _ => false,
            };
            if one.from == other.from || hides(one, other) || hides(other, one) {
                continue;
            }
            let both = places(&report(&[one, other]));
            let expected = alone[place].iter().chain(&alone[other_place]);
            if both.len() != 2 || !expected.clone().all(|place| both.contains(place)) {
                lacking.push(format!("{} and {}: {both:?}", one.to, other.to));
            }
        }
    }
    assert!(lacking.is_empty(), "{}\n{}", lacking.len(), lacking.join("\n"));
}

/// A change that makes a mistake in the files below.
struct Wrong {
    in_csv: bool,
    from: &'static str,
    to: &'static str,
}

const fn wrong(from: &'static str, to: &'static str) -> Wrong {
    Wrong { in_csv: false, from, to }
}

const fn cell(from: &'static str, to: &'static str) -> Wrong {
    Wrong { in_csv: true, from, to }
}

const WRONG: &[Wrong] = &[
    wrong("\"late-return\"", "\"late-retrun\""),
    wrong("about = \"x\"", "abuot = \"x\""),
    wrong("legal_name = \"A\"\n", "\n"),
    wrong("country = \"NG\"\n", "country = \"NX\"\n"),
    wrong("country = \"NG\"\n", "country = \"Nigeria\"\n"),
    wrong("currency = \"NGN\"\n", "currency = \"naira\"\n"),
    wrong("industry = \"food\"", "indusry = \"food\""),
    wrong("founded_on = 2020-01-01", "founded_on = 2036-01-01"),
    wrong("pay_day = 25", "pay_day = 40"),
    wrong("pay_day = 25", "pay_dya = 25"),
    wrong("status = \"active\"", "status = \"actve\""),
    wrong("[[wallet]]\ncompany = \"a\"", "[[wallet]]\ncompany = \"b\""),
    wrong("balance = 5", "balance = 10.5"),
    wrong("balance = 5", "balance = -1"),
    wrong("id = \"E-2\"", "id = \"E-1\""),
    wrong("id = \"E-2\"", "id = 7"),
    wrong("company = \"a\" # E-2", "company = \"c\" # E-2"),
    wrong("role = \"R\"\n", "\n"),
    wrong("start_date = 2024-01-01", "start_date = 2024-01-41"),
    wrong("start_date = 2024-01-01", "start_date = \"soon\""),
    wrong("payroll_status = \"verified\"", "payroll_status = \"verifed\""),
    wrong("interval = \"month\"", "interval = \"mnth\""),
    wrong("currency = \"NGN\", interval", "currency = \"EUR\", interval"),
    wrong("nhf = \"true\"", "nfh = \"true\""),
    wrong("account_number = \"9999999900\"", "account_number = \"12\""),
    wrong("email = \"c@example.com\"\n", "email = \"none\"\n"),
    wrong("email = \"c@example.com\"\n", "email = \n"),
    wrong("\"p.csv\"", "\"q.csv\""),
    wrong("\"Salary\"", "\"Salry\""),
    wrong("role = \"Baker\"", "rloe = \"Baker\""),
    cell("2024-02-01,9000", "2024-02-31,9000"),
    cell("8000", "8000.001"),
    cell("P-3,Cid", "P-1,Cid"),
    cell("P-4,Dan,2024-02-01,6000", "P-4,Dan,2024-02-01"),
    cell("P-5,Eve", "P-5,\"Eve"),
];

const PAIRS: &str = r#"title = "t"
about = "x"
scenario = ["late-return"]

[[company]]
id = "a"
legal_name = "A"
country = "NG"
currency = "NGN"
industry = "food"
founded_on = 2020-01-01
payroll_settings = { pay_day = 25 }
status = "active"

[[wallet]]
company = "a"
balance = 5

[[employee]]
id = "E-1"
company = "a"
name = "Ada"
role = "Cook"
department = "Kitchen"
start_date = 2023-01-01

[[employee]]
id = "E-2"
company = "a" # E-2
name = "Ben"
role = "R"
department = "D"
start_date = 2024-01-01
payroll_status = "verified"
tax_id = "1012345678"
compensation = { amount = 9000000, currency = "NGN", interval = "month" }
tax_attributes = { nhf = "true" }
payment_method = { type = "bank", bank_code = "058", account_number = "9999999900" }

[[customer]]
id = "c"
type = "business"
legal_name = "C"
country = "NG"
email = "c@example.com"

[[people]]
file = "p.csv"
amounts = "major"
columns = { id = "Number", name = "Name", start_date = "First day", "compensation.amount" = "Salary" }
values = { company = "a", role = "Baker", department = "Bakery", compensation = { currency = "NGN", interval = "year" } }
"#;

const PAIRS_CSV: &str = "Number,Name,First day,Salary\nP-1,Abe,2024-02-01,9000\nP-2,Bea,2024-02-01,8000\n\
    P-3,Cid,2024-02-01,7000\nP-4,Dan,2024-02-01,6000\nP-5,Eve,2024-02-01,5000\n";

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

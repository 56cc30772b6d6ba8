//! `sandbox import`, `sandbox export`, and the time of a large import.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::harness::{Caller, Server, command, finish};

use super::{company, exported};

/// The longest allowed time of an import of 500 people; unoptimised code may take longer.
const MOST: Duration =
    if cfg!(debug_assertions) { Duration::from_secs(30) } else { Duration::from_secs(2) };

fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = finish(command(arguments).current_dir(folder));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn check_explains_every_mistake_and_needs_no_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("good.toml", &company(2));
    let (code, out, err) = run(folder.path(), &["import", "--check", "good.toml"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(
        out.starts_with("good.toml: no mistakes; 1 company, 2 employees, 2 customers; "),
        "{out}"
    );
    write(
        "bad.toml",
        "[[company]]\nid = \"a\"\nlegl_name = \"A\"\n\n[[people]]\nfile = \"p.csv\"\ncolumns = { id = \"N\" }\n",
    );
    write("p.csv", "M\n1\n");
    let (code, out, err) = run(folder.path(), &["import", "--check", "bad.toml"]);
    assert_eq!((code, out.as_str()), (1, ""));
    for expected in
        ["bad.toml:3:1", "did you mean `legal_name`?", "bad.toml:7:18", "needs `country`"]
    {
        assert!(err.contains(expected), "{expected}: {err}");
    }
    assert!(err.ends_with("error: bad.toml cannot be imported\n"), "{err}");
    let (code, _, err) = run(folder.path(), &["import", "--check", "none.toml"]);
    assert!(code == 1 && err.starts_with("error: none.toml: "), "{err}");
    let (code, _, err) = run(folder.path(), &["--import", "bad.toml", "--port", "0"]);
    assert!(code == 1 && err.contains("did you mean `legal_name`?"), "{err}");
}

#[test]
fn mistakes_in_one_row_and_in_rows_of_a_wrong_company_are_reported_at_once_and_nothing_is_sent() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let caller = Caller::with_key(&server, "test_wrong");
    let folder = tempfile::tempdir().unwrap();
    let text = company(2).replacen("country = \"NG\"", "country = \"NX\"\ncolour = 1", 1).replacen(
        "9999999900",
        "12",
        1,
    );
    std::fs::write(folder.path().join("acme.toml"), &text).unwrap();
    let place = |part: &str| {
        let before = &text[..text.find(part).unwrap()];
        let column = before.rsplit('\n').next().unwrap().len() + 1;
        format!("--> acme.toml:{}:{column}\n", before.matches('\n').count() + 1)
    };
    let [country, colour, account] = ["\"NX\"", "colour", "\"12\""].map(place);
    let port = server.port().to_string();
    for command in [
        &["import", "--check", "acme.toml"][..],
        &["import", "acme.toml", "--port", &port, "--api-key", "test_wrong"],
    ] {
        let (code, out, err) = run(folder.path(), command);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        for expected in [&country, &colour, &account, "did you mean `NG`?", "3 mistakes in"] {
            assert!(err.contains(expected), "{expected}: {err}");
        }
    }
    let sent = caller.all("/_sandbox/requests?operation=importCompanies");
    assert_eq!(sent, [] as [serde_json::Value; 0]);
}

#[test]
fn a_folder_is_one_import_and_the_export_is_its_file() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let folder = tempfile::tempdir().unwrap();
    let text = company(3);
    let (first, second) = text.split_at(text.find("\n[[wallet]]").unwrap());
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("a.toml"), first).unwrap();
    std::fs::write(data.join("b.toml"), second).unwrap();
    let port = server.port().to_string();
    let at = ["--port", &port, "--api-key", "test_folder"];
    let (code, out, err) = run(folder.path(), &[&["import", "data"], &at[..]].concat());
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("imported 1 company, 3 employees, 2 customers; "), "{out}");
    let (code, out, err) = run(folder.path(), &[&["import", "data"], &at[..]].concat());
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("data/a.toml:2:6") && err.contains("already has this company"), "{err}");
    let (code, out, _) = run(folder.path(), &[&["export"], &at[..]].concat());
    let caller = Caller::with_key(&server, "test_folder");
    assert_eq!((code, out), (0, exported(&caller)));
    let (code, ..) = run(folder.path(), &[&["export", "--out", "out.toml"], &at[..]].concat());
    assert_eq!(code, 0);
    assert_eq!(run(folder.path(), &[&["export", "--out", "out.toml"], &at[..]].concat()).0, 1);
    let other = ["--port", &port, "--api-key", "test_other"];
    assert_eq!(run(folder.path(), &[&["import", "out.toml"], &other[..]].concat()).0, 0);
    assert_eq!(caller.digest(), Caller::with_key(&server, "test_other").digest());
    let (code, out, err) = run(folder.path(), &[&["import", "absent.toml"], &at[..]].concat());
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.starts_with("error: absent.toml: ") && err.contains("nothing was imported"),
        "{err}"
    );
    assert_eq!(run(folder.path(), &[&["export", "--company", "x y"], &at[..]].concat()).0, 1);
    assert_eq!(run(folder.path(), &[&["export", "--company", "com_1"], &at[..]].concat()).0, 1);
}

#[test]
fn five_hundred_people_of_a_csv_file_are_imported_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut people = "Number;Name;Pay;Tax\n".to_owned();
    for number in 1..=500 {
        let _ = writeln!(people, "{number};Person {number};{number}50.25;10{number:08}");
    }
    std::fs::write(folder.path().join("people.csv"), people).unwrap();
    let text = "[[company]]\nid = \"acme\"\nlegal_name = \"Acme\"\ncountry = \"NG\"\ncurrency = \"NGN\"\n\n[[people]]\n\
        file = \"people.csv\"\nseparator = \";\"\namounts = \"major\"\n\
        columns = { id = \"Number\", name = \"Name\", \"compensation.amount\" = \"Pay\", tax_id = \"Tax\" }\n\
        values = { company = \"acme\", role = \"Baker\", department = \"Bakery\", start_date = \"2024-01-01\", \
        compensation = { currency = \"NGN\", interval = \"month\" }, \
        payment_method = { type = \"bank\", bank_code = \"058\", account_number = \"9999999900\" } }\n";
    std::fs::write(folder.path().join("acme.toml"), text).unwrap();
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let port = server.port().to_string();
    let begun = Instant::now();
    let (code, out, err) =
        run(folder.path(), &["import", "acme.toml", "--port", &port, "--api-key", "test_many"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(begun.elapsed() < MOST, "{:?}", begun.elapsed());
    let caller = Caller::with_key(&server, "test_many");
    assert_eq!(caller.get("/_sandbox/external-ids").data().as_array().unwrap().len(), 501);
    caller.audit();
    let second = Caller::with_key(&server, "test_many_too");
    super::import(&second, &exported(&caller)).expect(201);
    assert_eq!(caller.digest(), second.digest());
}

#[test]
fn steps_of_a_scenario_refer_to_imported_people() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("acme.toml"), company(2)).unwrap();
    let steps = "[[outcome]]\non = \"payout.settle\"\nwhere = { employee = \"@ext:E-2\" }\nthen = \"failed\"\n\n\
        [[step]]\ncall = \"getEmployee\"\nwith = { employee_id = \"@ext:employee:E-2\" }\n\
        expect = { status = 200, body = { data = { metadata = { external_id = \"E-2\" } } } }\n\n\
        [[step]]\ncall = \"runPayroll\"\nwith = { company_id = \"@ext:acme\", period = \"2026-01\" }\nexpect = { status = 201 }\n\n\
        [[step]]\nadvance = \"40d\"\n\n[expect]\nevents = [\"payroll_run.created\", \"…\", \"payroll_run.partially_paid\"]\n";
    std::fs::write(folder.path().join("s.toml"), steps).unwrap();
    let (code, out, err) =
        run(folder.path(), &["scenario", "test", "s.toml", "--import", "acme.toml"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, out, _) = run(folder.path(), &["scenario", "test", "s.toml"]);
    assert_eq!(code, 1, "{out}");
}

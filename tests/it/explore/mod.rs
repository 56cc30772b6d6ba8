//! `sandbox explore`: a planted mistake is found and reduced. The result does not depend on the number of jobs or on
//! interruptions.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use crate::exam::has_python;
use crate::harness::server::{command, finish};
use crate::harness::{Caller, Server};

/// Two payouts. The last step expects that no money comes back.
const STEPS: &str = r#"
title = "Two payouts"
about = "The money stays with the supplier."

[world]
companies = 1
employees_per_company = 2
countries = ["NG"]
clock = "manual"

[[step]]
call = "createBeneficiary"
with = { company_id = "@company:1", name = "Ada Supplies", type = "business", account = { bank_code = "011", account_number = "0000014579", country = "NG", currency = "NGN" } }
save = "supplier"

[[step]]
advance = "1d"

[[step]]
call = "createPayout"
with = { company_id = "@company:1", wallet_id = "@wallet:1", beneficiary_id = "@supplier.data.id", amount = 5000, currency = "NGN", rail = "instant", reference = "a" }

[[step]]
call = "createPayout"
with = { company_id = "@company:1", wallet_id = "@wallet:1", beneficiary_id = "@supplier.data.id", amount = 6000, currency = "NGN", rail = "instant", reference = "b" }

[[step]]
advance = "20d"

[[step]]
call = "listPayouts"
with = { company_id = "@company:1", status = "returned" }
expect = { body = { meta = { total = 0 } } }
"#;

struct Explored {
    code: i32,
    text: String,
    said: String,
    files: Vec<(String, String)>,
}

fn explore(out: &Path, arguments: &[&str]) -> Explored {
    let out = out.display().to_string();
    let mut all = vec!["explore", "--out", &out];
    all.extend(arguments);
    let Output { status, stdout, stderr } = finish(&mut command(&all));
    let mut files: Vec<(String, String)> = std::fs::read_dir(&out)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a file");
            (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
        })
        .collect();
    files.sort();
    Explored {
        code: status.code().expect("it ended by itself"),
        text: String::from_utf8_lossy(&stdout).into_owned(),
        said: String::from_utf8_lossy(&stderr).into_owned(),
        files,
    }
}

/// A folder with the steps, and their path.
fn steps() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("steps.toml");
    std::fs::write(&file, STEPS).expect("a file");
    (folder, file.display().to_string())
}

#[test]
fn an_app_that_ignores_a_late_return_is_found_by_one_outcome() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/explore");
    let [app, check] = ["pay.py", "check.py"].map(|name| examples.join(name).display().to_string());
    let check = format!("python3 {check}");
    let world = ["--companies", "1", "--countries", "NG", "--depth", "1", "--check", &check];
    let run =
        |more: &[&str]| explore(folder.path(), &[&world, more, &["--", "python3", &app]].concat());
    let found = run(&[]);
    assert_eq!(found.code, 1, "{}{}", found.text, found.said);
    assert!(
        found.text.contains("1 found") && found.text.contains("the book says paid"),
        "{}",
        found.text
    );
    let [(name, file)] = &found.files[..] else { panic!("{:?}", found.files) };
    assert_eq!(name, "001-payout-settle-returned-late.toml");
    assert_eq!(file.matches("[[outcome]]").count(), 1, "{file}");
    assert!(file.contains("employees_per_company = 2\n"), "{file}");
    let path = folder.path().join(name).display().to_string();
    let again = run(&["--replay", &path]);
    assert_eq!(again.code, 1, "{}{}", again.text, again.said);
    let fixed = [&world[..], &["--replay", &path, "--", "python3", &app, "--fixed"]].concat();
    let fixed = explore(folder.path(), &fixed);
    assert_eq!(fixed.code, 0, "{}{}", fixed.text, fixed.said);
    assert!(fixed.text.contains("the failure is gone"), "{}", fixed.text);
}

#[test]
fn findings_do_not_depend_on_jobs_and_are_scenarios() {
    let (folder, steps) = steps();
    let run =
        |name: &str, jobs| explore(&folder.path().join(name), &["--jobs", jobs, "--steps", &steps]);
    let (one, four) = (run("one", "1"), run("four", "4"));
    assert_eq!((one.code, four.code), (1, 1), "{}{}", one.text, one.said);
    assert_eq!(one.files, four.files);
    let (_kept, based) = self::steps();
    let shipped =
        ["--scenario", "tax-filing-rejected", "--depth", "1", "--budget", "12", "--steps", &based];
    let based = explore(&folder.path().join("based"), &shipped);
    let repeat = "repeat: sandbox explore --scenario tax-filing-rejected --replay ";
    assert!(based.text.contains(repeat), "{}{}", based.text, based.said);
    assert_eq!(one.text.replace("/one/", "/"), four.text.replace("/four/", "/"));
    assert!(one.files.iter().any(|(name, _)| name.contains("returned-late")), "{}", one.text);
    for (name, _) in &one.files {
        let path = folder.path().join("one").join(name).display().to_string();
        assert!(finish(&mut command(&["scenario", "check", &path])).status.success(), "{name}");
        let replayed = explore(folder.path(), &["--replay", &path, "--steps", &steps]);
        assert_eq!(replayed.code, 1, "{name}: {}{}", replayed.text, replayed.said);
    }
}

#[test]
fn an_interrupted_exploration_goes_on_and_finds_the_same() {
    let (folder, steps) = steps();
    let out = folder.path().join("out");
    let whole = explore(&out, &["--steps", &steps]);
    let state = folder.path().join("state.jsonl").display().to_string();
    let part = ["--state", &state, "--steps", &steps, "--budget"];
    let first = explore(&out, &[&part[..], &["10"]].concat());
    assert!(
        first.text.contains("10 outcomes") && first.text.contains("The budget ended"),
        "{}",
        first.text
    );
    let rest = explore(&out, &[&part[..], &["10000"]].concat());
    assert_eq!((rest.code, &rest.text), (whole.code, &whole.text), "{}", rest.said);
    let before = std::fs::read(&state).expect("a file");
    let other = explore(&out, &[&part[..], &["10", "--depth", "1"]].concat());
    assert_eq!(other.code, 2, "{}", other.text);
    assert!(other.said.contains("another command"), "{}", other.said);
    assert_eq!(std::fs::read(&state).expect("a file"), before);
}

/// A run of six people in which two payouts are refused by the scenario itself.
const REFUSED: &str = r#"
title = "Two of six"
about = "Two payouts are returned."

[world]
companies = 1
employees_per_company = 6
countries = ["NG"]
start = "2026-03-02T08:00:00Z"
clock = "manual"

[[outcome]]
on = "payout.settle"
nth = [2, 4]
then = "returned"
code = "07"

[[step]]
call = "runPayroll"
with = { company_id = "@company:1", period = "2026-03" }
save = "run"

[[step]]
advance = "60d"

[[step]]
call = "getPayrollRun"
with = { payroll_run_id = "@run.data.id" }
expect = { body = { data = { settlement = { paid = 4, failed = 2 } } } }
"#;

#[test]
fn a_replay_keeps_the_scenario_of_the_world() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let steps = file("g1.toml", REFUSED);
    let outcome = |then: &str| {
        format!(
            "title = \"One\"\n\n[[outcome]]\non = \"payout.settle\"\nnth = 1\nthen = \"{then}\"\n"
        )
    };
    let harmless = file("harmless.toml", &outcome("paid"));
    let replayed = explore(folder.path(), &["--replay", &harmless, "--steps", &steps]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.text, replayed.said);
    assert!(replayed.text.contains("the failure is gone"), "{}", replayed.text);
    let harmful = file("harmful.toml", &outcome("failed"));
    let replayed = explore(folder.path(), &["--replay", &harmful, "--steps", &steps]);
    assert_eq!(replayed.code, 1, "{}{}", replayed.text, replayed.said);
    let more = "\n[[timeline]]\nat = \"+1d\"\ncall = \"updateCompany\"\nwith = { company_id = \"@company:1\", metadata = { a = \"b\" } }\n";
    let more = file("more.toml", &(outcome("paid") + more));
    let replayed = explore(folder.path(), &["--replay", &more, "--steps", &steps]);
    assert_eq!(replayed.code, 0, "{}{}", replayed.text, replayed.said);
}

#[test]
fn the_world_of_a_running_sandbox_does_not_change() {
    let server = Arc::new(Server::start(&["--seed", "7", "--clock", "manual"]));
    let caller = Caller::with_key(&server, "test_mine");
    caller.company(0);
    let print = || caller.get("/_sandbox/fingerprint").data()["digest"].clone();
    let before = print();
    let url = format!("http://127.0.0.1:{}", caller.port());
    let folder = tempfile::tempdir().expect("a folder");
    let failing = explore(folder.path(), &["--url", &url, "--key", "test_mine", "--", "true"]);
    assert_eq!(failing.code, 2, "{}", failing.said);
    assert!(failing.said.contains("decided nothing"), "{}", failing.said);
    assert_eq!(print(), before);
}

/// The printed line is a whole command, also for the world of a running sandbox.
#[cfg(unix)]
#[test]
fn the_printed_command_repeats_the_failure() {
    if !has_python() {
        return;
    }
    let server =
        Arc::new(Server::start(&["--seed", "7", "--clock", "manual", "--countries", "NG"]));
    let caller = Caller::with_key(&server, "test_mine");
    caller.company(0);
    let url = format!("http://127.0.0.1:{}", caller.port());
    let folder = tempfile::tempdir().expect("a folder");
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/explore");
    let [app, check] = ["pay.py", "check.py"].map(|name| examples.join(name).display().to_string());
    let check = format!("python3 {check}");
    let arguments = ["--url", &url, "--api-key", "test_mine", "--timeout", "50s", "--depth", "1"];
    let more = ["--check", &check, "--", "python3", &app];
    let found = explore(folder.path(), &[&arguments[..], &more].concat());
    assert_eq!(found.code, 1, "{}{}", found.text, found.said);
    assert!(!found.text.contains("test_mine"), "{}", found.text);
    let line = found.text.lines().find_map(|line| line.trim().strip_prefix("repeat: sandbox "));
    let line = line.unwrap_or_else(|| panic!("{}", found.text));
    assert!(line.contains(" --timeout 50000ms "), "{line}");
    let program = command(&[]).get_program().to_owned();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("\"$0\" {line}")]).arg(program).env("SANDBOX_EXAM_KEY", "test_mine");
    let again = finish(&mut shell);
    let text = String::from_utf8_lossy(&again.stdout).into_owned();
    assert_eq!(again.status.code(), Some(1), "{line}: {text}");
    assert!(text.contains("the check ends with exit code 1"), "{text}");
}

/// The folder is made before the first run, and removed if it stays empty.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_is_refused_before_the_first_run() {
    let (folder, steps) = steps();
    let marker = folder.path().join("ran");
    let touch = format!("touch {}", marker.display());
    for out in ["/dev/null/x", "/proc/x"] {
        let refused = explore(Path::new(out), &["--", "sh", "-c", &touch]);
        assert_eq!(refused.code, 2, "{out}: {}", refused.said);
        assert!(refused.said.contains("cannot write --out"), "{out}: {}", refused.said);
        assert!(!marker.exists(), "{out}: the command was run");
    }
    let out = folder.path().join("new/empty");
    let none = explore(&out, &["--", "sh", "-c", &touch]);
    assert!(none.code == 2 && marker.exists() && !out.exists(), "{}", none.said);
    let found = explore(&out, &["--budget", "12", "--depth", "1", "--steps", &steps]);
    assert!(found.code == 1 && !found.files.is_empty(), "{}{}", found.text, found.said);
    let rate = found.said.trim_end().rsplit_once(": ").expect("a rate").1;
    let rate = rate.strip_suffix(" a second").expect("a rate");
    assert!(rate.split_once('.').is_some_and(|(_, tenths)| tenths.len() == 1), "{rate}");
}

#[test]
fn invalid_arguments_of_explore_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let file = file.display().to_string();
    for (arguments, why) in [
        (vec![], "expected a command"),
        (vec!["--budget", "0", "--", "true"], "a number of outcomes above zero"),
        (vec!["--check", " ", "--", "true"], "--check: expected a command"),
        (vec!["--", "false"], "the command ends with exit code 1"),
        (vec!["--", "no-such-command"], "cannot run no-such-command"),
        (vec!["--steps", "partial-failur"], "partial-failur"),
        (vec!["--steps", "happy-path"], "has a receiver"),
        (vec!["--replay", &file, "--", "true"], "no [[outcome]]"),
        (vec!["--url", "http://127.0.0.1:9", "--", "true"], "--api-key"),
    ] {
        let refused = explore(folder.path(), &arguments);
        assert_eq!(refused.code, 2, "{arguments:?}: {}{}", refused.text, refused.said);
        assert!(refused.said.contains(why), "{arguments:?}: {}", refused.said);
        assert!(refused.said.ends_with('\n'), "{arguments:?}: {}", refused.said);
    }
    let refused = explore(Path::new(&file), &["--", "true"]);
    assert!(refused.code == 2 && refused.said.contains("--out"), "{}", refused.said);
}

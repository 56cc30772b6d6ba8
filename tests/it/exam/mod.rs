//! `sandbox exam` against small apps: each planted mistake is named by its rule, and correct designs have no finding.
//!
//! The apps are in Python. Without `python3` these tests only print a message; `.ci/exam.sh` runs every app over
//! several seeds.

mod refusals;
mod tools;

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::server::{command, finish};

/// The result of an exam.
pub(super) struct Examined {
    pub(super) code: i32,
    pub(super) report: Value,
    pub(super) text: String,
    pub(super) files: [String; 2],
}

pub(super) fn has_python() -> bool {
    let has =
        Command::new("python3").arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !has {
        eprintln!("not run: python3 is not installed");
    }
    has
}

/// The exam of an app of `apps.py`.
pub(super) fn exam(app: &str, flags: &[&str]) -> Examined {
    let apps = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/exam/apps.py");
    let folder = tempfile::tempdir().expect("a folder");
    let files =
        ["report.json", "report.xml"].map(|name| folder.path().join(name).display().to_string());
    let mut arguments = vec!["exam", "--slow", "1500ms"];
    if !flags.contains(&"--timeout") {
        arguments.extend(["--timeout", "30s"]);
    }
    arguments.extend(["--json", &files[0], "--junit", &files[1]]);
    arguments.extend(flags);
    let apps = apps.display().to_string();
    arguments.extend(["--", "python3", &apps, app]);
    let Output { status, stdout, stderr } = finish(&mut command(&arguments));
    let said = String::from_utf8_lossy(&stderr).into_owned();
    let files = files.map(|file| std::fs::read_to_string(file).unwrap_or_default());
    let report = serde_json::from_str(&files[0]).unwrap_or_else(|_| panic!("{app}: {said}"));
    let text = String::from_utf8_lossy(&stdout).into_owned();
    Examined { code: status.code().expect("it ended by itself"), report, text, files }
}

impl Examined {
    /// `createPayout#1 lost_reply money.moved_twice`, for each finding that fails its case.
    pub(super) fn failures(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for case in self.cases() {
            for found in case["findings"].as_array().expect("findings") {
                if found["severity"] == "fail" {
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let parts = [text(&case["at"]), text(&case["case"]), text(&found["rule"])];
                    lines.push(parts.join(" "));
                }
            }
        }
        lines
    }

    /// Fails if a case of this app failed.
    pub(super) fn assert_no_finding(&self, app: &str) {
        assert_eq!((self.code, self.failures()), (0, Vec::new()), "{app}: {}", self.text);
    }

    fn cases(&self) -> &[Value] {
        self.report["cases"].as_array().expect("cases")
    }

    fn verdicts(&self, verdict: &str) -> usize {
        self.cases().iter().filter(|case| case["verdict"] == verdict).count()
    }
}

const HOOKS: &str = "http://127.0.0.1:{port}/hooks";

/// An app, flags that select cases, and all findings that fail a case.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const PLANTED: &[Row] = &[
    (
        "fresh_keys",
        &["--case", "lost_reply", "--case", "cut_before", "--case", "429"],
        &[
            "createPayout#1 lost_reply money.moved_twice",
            "createPayout#1 lost_reply retry.fresh_key",
            "createPayout#1 cut_before retry.fresh_key",
            "createPayout#2 lost_reply money.moved_twice",
            "createPayout#2 lost_reply retry.fresh_key",
            "createPayout#2 cut_before retry.fresh_key",
        ],
    ),
    (
        "refund_twice",
        &["--on", "createRefund", "--case", "lost_reply", "--case", "503"],
        &[
            "createRefund#1 lost_reply money.moved_twice",
            "createRefund#1 lost_reply retry.fresh_key",
            "createRefund#1 503 retry.fresh_key",
        ],
    ),
    (
        "no_key",
        &["--case", "slow"],
        &[
            "createPayout#1 slow money.moved_twice",
            "createPayout#1 slow retry.without_key",
            "createPayout#2 slow money.moved_twice",
            "createPayout#2 slow retry.without_key",
        ],
    ),
    (
        "no_back_off",
        &["--case", "429", "--case", "outage"],
        &[
            "createPayout#1 429 retry.ignores_retry_after",
            "createPayout#1 outage retry.no_back_off",
            "createPayout#2 429 retry.ignores_retry_after",
            "createPayout#2 outage retry.no_back_off",
        ],
    ),
    (
        "other_rail",
        &["--case", "503", "--case", "503_after_commit", "--case", "lost_reply"],
        &[
            "createPayout#1 503 retry.other_way",
            "createPayout#1 503_after_commit money.moved_twice",
            "createPayout#1 503_after_commit retry.other_way",
            "createPayout#2 503 retry.other_way",
            "createPayout#2 503_after_commit money.moved_twice",
            "createPayout#2 503_after_commit retry.other_way",
        ],
    ),
    (
        "silent",
        &["--case", "cut_before", "--case", "lost_reply"],
        &[
            "createPayout#1 cut_before money.unpaid_but_ok",
            "createPayout#2 cut_before money.unpaid_but_ok",
        ],
    ),
    (
        "forgets_key",
        &["--case", "truncated", "--case", "503"],
        &["createPayout#1 truncated money.moved_twice_on_rerun"],
    ),
    (
        "unsigned_hooks",
        &["--case", "hook_signature", "--webhook", HOOKS],
        &["webhooks hook_signature hook.accepts_bad_signature"],
    ),
    (
        "unsigned_hooks",
        &["--case", "hook_stale", "--webhook", HOOKS],
        &["webhooks hook_stale hook.accepts_stale"],
    ),
    (
        "acts_twice",
        &["--case", "hook_duplicate", "--webhook", HOOKS],
        &["webhooks hook_duplicate money.moved_twice"],
    ),
    (
        "last_hook",
        &["--case", "hook_order", "--webhook", HOOKS],
        &["webhooks hook_order money.moved_twice"],
    ),
    // It is wrong about its first payout only: every resource has a pair of events in the wrong order.
    (
        "last_hook_of_first",
        &["--case", "hook_order", "--webhook", HOOKS],
        &["webhooks hook_order money.moved_twice"],
    ),
];

#[test]
fn each_planted_mistake_is_named_by_its_rule() {
    if !has_python() {
        return;
    }
    for (app, cases, expected) in PLANTED {
        let on: &[&str] = if cases.contains(&"--on") { &[] } else { &["--on", "createPayout"] };
        let examined = exam(app, &[on, *cases].concat());
        assert_eq!(examined.failures(), *expected, "{app} {cases:?}: {}", examined.text);
        assert_eq!(examined.code, 1, "{app}");
        assert!(examined.text.contains("fix: "), "{app}: {}", examined.text);
    }
}

#[test]
fn correct_designs_have_no_finding() {
    if !has_python() {
        return;
    }
    let some = ["lost_reply", "cut_before", "503_after_commit", "outage"];
    let some: Vec<&str> = some.into_iter().flat_map(|case| ["--case", case]).collect();
    for (app, ends) in [
        ("one_key", "pass"),
        ("lists_before", "pass"),
        ("parallel", "pass"),
        ("never_retries", "gave_up"),
        ("one_attempt", "gave_up"),
        ("database", "gave_up"),
    ] {
        let examined = exam(app, &some);
        examined.assert_no_finding(app);
        let cases = examined.cases().len();
        assert!(cases >= 8, "{app}: {cases} cases");
        assert_eq!(examined.verdicts(ends), cases, "{app}: {}", examined.text);
    }
    let hooks = ["hook_duplicate", "hook_order", "hook_signature", "hook_before_reply"];
    let hooks = hooks.into_iter().chain(["lost_reply"]).flat_map(|case| ["--case", case]);
    let flags = ["--webhook", HOOKS, "--on", "createPayout"].into_iter().chain(hooks);
    let examined = exam("marketplace", &flags.collect::<Vec<_>>());
    examined.assert_no_finding("marketplace");
    assert_eq!(examined.verdicts("pass"), 6, "{}", examined.text);
}

/// Nothing listens at the address: a delivery without a reply tests nothing.
#[test]
fn a_webhook_that_nobody_receives_is_no_pass() {
    if !has_python() {
        return;
    }
    let hooks = ["duplicate", "late", "order", "signature", "stale", "before_reply"];
    let hooks = hooks.map(|name| format!("hook_{name}"));
    let mut flags = vec!["--webhook", HOOKS];
    flags.extend(hooks.iter().flat_map(|name| ["--case", name]));
    let examined = exam("one_key", &flags);
    assert_eq!(examined.verdicts("not_exercised"), hooks.len(), "{}", examined.text);
    assert_eq!(examined.code, 2, "{}", examined.text);
    assert!(examined.text.contains("nothing listens at --webhook"), "{}", examined.text);
    let summary = "6 cases at webhooks: 0 pass, 0 fail, 0 gave up, 6 not exercised. Exit 2.\n\
        The command was run with 0 failures of the wire at these places of one run. Other inputs";
    assert!(examined.text.contains(summary), "{}", examined.text);
}

/// The counts, and what is said of passed cases.
#[test]
fn a_summary_claims_no_more_than_its_cases_showed() {
    if !has_python() {
        return;
    }
    let one = ["--on", "createPayout", "--case"];
    for (app, case, counts, claim) in [
        ("random_payee", "503", "1 case at 1 commit point: 0 pass, 1 fail", None),
        (
            "random_payee",
            "429",
            "1 case at 1 commit point: 1 pass, 0 fail",
            Some("No money moved twice"),
        ),
        ("fresh_keys", "slow", "2 cases at 2 commit points: 0 pass, 2 fail", None),
    ] {
        let text = exam(app, &[&one[..], &[case]].concat()).text;
        assert!(text.contains(counts), "{app} {case}: {text}");
        let claims = ["No money moved twice", "In the passed cases"];
        let found = claims.into_iter().find(|claim| text.contains(claim));
        assert_eq!(found, claim, "{app} {case}: {text}");
    }
}

#[test]
fn equal_payments_of_one_thing_and_a_repeated_patch_have_no_finding() {
    if !has_python() {
        return;
    }
    for (app, on) in [
        ("two_refunds", "createRefund"),
        ("two_parts", "payBill"),
        ("absolute_patch", "updateEmployee"),
    ] {
        let mut flags = vec!["--on", on];
        for case in ["lost_reply", "cut_before", "503", "503_retry_after", "429", "outage"] {
            flags.extend(["--case", case]);
        }
        let examined = exam(app, &flags);
        examined.assert_no_finding(app);
        let cases = examined.cases().len();
        assert_eq!(examined.verdicts("pass") + examined.verdicts("gave_up"), cases, "{app}");
    }
}

#[test]
fn a_name_that_the_app_makes_up_is_in_no_report() {
    if !has_python() {
        return;
    }
    let reports = [1, 2].map(|_| {
        let examined =
            exam("random_payee", &["--on", "createPayout", "--case", "lost_reply", "-v"]);
        let expected = ["money.moved_twice", "retry.fresh_key"];
        let expected = expected.map(|rule| format!("createPayout#1 lost_reply {rule}"));
        assert_eq!(examined.failures(), expected, "{}", examined.text);
        assert!(examined.text.contains("500000 NGN to a recipient"), "{}", examined.text);
        (examined.text, examined.files)
    });
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn two_reports_are_the_same_bytes() {
    if !has_python() {
        return;
    }
    let reports = [2, 1].map(|jobs| {
        let jobs = jobs.to_string();
        let flags = ["--case", "lost_reply", "--case", "503_retry_after", "--jobs", &jobs, "-v"];
        let examined = exam("fresh_keys", &flags);
        (examined.text, examined.files)
    });
    assert_eq!(reports[0], reports[1]);
    assert!(
        reports[0].0.contains("paid: Ada Supplies 500000 NGN, twice (without faults: once)"),
        "{}",
        reports[0].0
    );
    let [json, junit] = &reports[0].1;
    assert!(json.contains("\"format\": 1"), "{json}");
    assert!(junit.contains("<failure type=\"money.moved_twice\""), "{junit}");
    assert!(!junit.contains("time"), "{junit}");
}

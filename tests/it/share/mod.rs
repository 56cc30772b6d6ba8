//! `sandbox share`, `sandbox open` and `sandbox diff`, as processes.

mod redacted;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::harness::receiver::Receiver;
use crate::harness::{Caller, Server, command, finish};

/// Runs a subcommand to its end: exit code, stdout, stderr.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = finish(&mut command(arguments));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Runs a command for the world of a caller.
fn of(caller: &Caller, arguments: &[&str]) -> (i32, String, String) {
    let port = caller.port().to_string();
    run(&[arguments, &["--port", &port]].concat())
}

/// The line of a caller's world.
fn share(caller: &Caller) -> String {
    let (code, line, stderr) = of(caller, &["share", "--key", caller.key()]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("warning: the line contains the bodies of"), "{stderr}");
    assert_eq!(line.lines().count(), 1);
    line.trim().to_owned()
}

/// A sandbox that serves a line, and its caller.
fn open(line: &str) -> Caller {
    let mut command = command(&["open", line, "--port", "0"]);
    Caller::with_key(&Arc::new(Server::spawn_after(&mut command)), "test_key")
}

fn hire(caller: &Caller, company: &str, number: usize) -> Value {
    let body = json!({"company_id": company, "name": format!("Ada Obi {number}"), "role": "Baker",
        "department": "Kitchen", "start_date": "2026-02-02"});
    let request = caller.request("POST", "/api/business/employees").json(&body);
    let key = format!("6f0c2f7e-4b1d-4c58-9f0e-{number:012}");
    caller.send(&request.header("Idempotency-Key", &key)).made()
}

/// Calls of all sorts that change a world.
fn session(caller: &Caller) {
    let company = caller.company(0);
    (0..4).for_each(|number| drop(hire(caller, &company, number)));
    let rule = json!({"match": {"decision": "payout.settle"}, "outcome": {"then": "returned"}, "times": 1});
    caller.post("/_sandbox/rules", &rule).expect(201);
    caller.run_payroll(&company, "2026-01");
    caller
        .post("/v1/payroll/run", &json!({"company_id": company}))
        .refused(422, "validation_failed");
    caller.advance(&json!({"by": "10bd"}));
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    let fork = json!({"key": format!("{}_secret_fork", caller.key())});
    let path = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    caller.post(&path, &fork).expect(201);
    caller.post("/_sandbox/trigger", &json!({"type": "credit_score.completed"})).expect(200);
    caller.advance(&json!({"until": "idle"}));
}

#[test]
fn an_opened_line_prints_the_key_of_its_world() {
    let caller = Caller::manual();
    hire(&caller, &caller.company(0), 1);
    let line = share(&caller);
    for (flags, shown) in [
        (&[][..], "'Authorization: Bearer test_key'"),
        (&["--api-key", "test_own"], "\"Authorization: Bearer $SANDBOX_API_KEY\""),
    ] {
        let mut command = command(&[&["open", &line, "--port", "0"], flags].concat());
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let banner = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut banner = banner.map_while(Result::ok);
        let curl = banner.find(|line| line.contains("curl -H"));
        child.kill().and_then(|()| child.wait()).expect("it ends");
        let curl = curl.expect("a line to copy");
        assert!(curl.contains(shown), "{curl}");
    }
}

#[test]
fn a_line_makes_the_same_world_again() {
    for caller in [Caller::manual(), Caller::instant()] {
        session(&caller);
        let line = share(&caller);
        let (code, report, stderr) = run(&["open", &line, "--check"]);
        assert_eq!(code, 0, "{stderr}");
        assert!(report.contains(&caller.digest()), "{report}");
        let again = open(&line);
        assert_eq!(again.digest(), caller.digest());
        assert_eq!(again.events(), caller.events());
        assert_eq!(hire(&again, &again.company(1), 9), hire(&caller, &caller.company(1), 9));
    }
}

#[test]
fn twenty_calls_take_at_most_two_kilobytes() {
    let caller = Caller::manual();
    let company = caller.company(0);
    (0..18).for_each(|number| drop(hire(&caller, &company, number)));
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"by": "10bd"}));
    let line = share(&caller);
    assert!(line.len() <= 2_048, "{} bytes", line.len());
}

#[test]
fn a_world_with_refused_calls_is_shared_and_its_faults_stay_used_up() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let january = json!({"company_id": company, "period": "2026-01"});
    for fault in [
        json!({"on": "runPayroll", "status": 503, "times": 1}),
        json!({"on": "listPayouts", "nth": 1, "lose": "request"}),
        json!({"on": "listEmployees", "status": 500, "nth": 2}),
    ] {
        caller.post("/_sandbox/faults", &fault).made();
    }
    caller.post("/v1/payroll/run", &january).refused(503, "maintenance");
    caller.post("/v1/payroll/run", &january).expect(201);
    let limit = |limits: &Value| {
        caller.send(&caller.request("PUT", "/_sandbox/limits").json(limits)).expect(200);
    };
    limit(&json!({"rate": "1/1s"}));
    for number in 0..2 {
        let body = json!({"company_id": company, "name": format!("Ada Obi {number}"), "role": "Baker",
            "department": "Kitchen", "start_date": "2026-02-02"});
        while caller.post("/api/business/employees", &body).status == 429 {}
    }
    limit(&json!({}));
    // Reads after the last input use faults up, too.
    caller.get("/api/business/employees").expect(200);
    caller.get("/api/business/employees").refused(500, "internal_error");
    let line = share(&caller);
    let again = open(&line);
    assert_eq!(again.digest(), caller.digest());
    let faults = |caller: &Caller| caller.get("/_sandbox/faults").data();
    assert_eq!(faults(&again), faults(&caller));
    let counters = |row: usize| faults(&again)[row]["hits"].clone();
    assert_eq!([0, 1, 2].map(counters), [json!(1), json!(0), json!(1)]);
    again.get("/api/business/employees").expect(200);
    let (code, redacted, stderr) = of(&caller, &["share", "--key", caller.key(), "--redact"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(run(&["open", redacted.trim(), "--check"]).0, 0);
}

#[test]
fn an_advance_with_deliveries_is_shared_without_its_endpoint() {
    let (caller, receiver) = (Caller::manual(), Receiver::taking());
    caller.post("/_sandbox/webhook-endpoints", &json!({"url": receiver.url()})).expect(201);
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"by": "40d"}));
    let again = open(&share(&caller));
    assert_eq!(again.digest(), caller.digest());
    assert!(again.all("/_sandbox/webhook-endpoints").is_empty());
}

#[test]
fn a_redacted_line_has_no_names_and_opens() {
    let caller = Caller::manual();
    let company = caller.company(0);
    hire(&caller, &company, 1);
    let (code, line, stderr) = of(&caller, &["share", "--key", caller.key(), "--redact"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("the texts that people wrote are replaced"), "{stderr}");
    let again = open(line.trim());
    assert_ne!(again.digest(), caller.digest());
    let found =
        |caller: &Caller, q: &str| caller.all(&format!("/api/business/employees?q={q}")).len();
    assert_eq!((found(&caller, "Ada%20Obi"), found(&again, "Ada%20Obi")), (1, 0));
    assert_eq!(found(&again, "Redacted"), 1);
}

#[test]
fn a_call_that_needs_its_text_is_not_redacted_and_the_message_says_what_to_do() {
    let caller = Caller::manual();
    let scenario = json!({"name": "mine", "text": "title = \"Ada Obi is paid late\"\n"});
    caller.post("/_sandbox/scenarios", &scenario).expect(201);
    let (code, line, stderr) = of(&caller, &["share", "--key", caller.key(), "--redact"]);
    assert_eq!((code, line.as_str()), (1, ""));
    assert!(stderr.contains("call 1 (POST /_sandbox/scenarios) needs its text"), "{stderr}");
    assert!(stderr.contains("Share this world without --redact"), "{stderr}");
    assert!(!stderr.contains("Ada"), "{stderr}");
    open(&share(&caller));
}

#[test]
fn a_world_or_line_that_cannot_be_shared_or_opened_is_refused_with_the_reason() {
    let caller = Caller::manual();
    hire(&caller, &caller.company(0), 1);
    let taken = caller.post("/_sandbox/snapshots", &json!({})).made();
    let key = format!("{}_fork", caller.key());
    let path = format!("/_sandbox/snapshots/{}/fork", taken["id"].as_str().unwrap());
    caller.post(&path, &json!({"key": key})).expect(201);
    let (code, line, stderr) = of(&caller, &["share", "--key", &key]);
    assert_eq!((code, line.as_str()), (1, ""));
    assert!(stderr.contains("it began as a fork: share its source"), "{stderr}");

    let line = share(&caller);
    for (wrong, why) in [
        ("nonsense", "this is not a line of `sandbox share`: it must begin with \"sandbox-1.\""),
        (&line[..line.len() - 9], "damaged or incomplete"),
        ("sandbox-1.", "damaged or incomplete"),
    ] {
        let (code, _, stderr) = run(&["open", wrong, "--check"]);
        assert_eq!(code, 2, "{wrong}: {stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
    let (code, _, stderr) = run(&["share", "--port", "1"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("no sandbox answers at 127.0.0.1:1"), "{stderr}");
}

#[test]
fn a_difference_is_described_in_words() {
    let server = Server::manual();
    let (one, other) = (Caller::of(&server), Caller::of(&server));
    for caller in [&one, &other] {
        caller.run_payroll(&caller.company(0), "2026-01");
    }
    let port = one.port().to_string();
    let diff = |a: &str, b: &str| run(&["diff", a, b, "--port", &port]);
    let (code, text, _) = diff(one.key(), other.key());
    assert_eq!((code, text.as_str()), (0, "A and B have the same effects\n"));
    let line = share(&one);
    assert_eq!(diff(&line, other.key()).0, 0, "a line and a key");

    other.run_payroll(&other.company(0), "2026-02");
    let (code, text, _) = diff(&line, other.key());
    assert_eq!(code, 1);
    for words in ["only B has payroll run", "2026-02", "payroll_run.created: A 1, B 2"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (code, _, stderr) = diff("./no/such.rec", other.key());
    assert_eq!(code, 2);
    assert!(stderr.contains("there is no such file"), "{stderr}");
}

#[test]
fn a_world_of_the_real_clock_is_not_shared_and_the_reason_is_given() {
    let caller = Caller::with_key(&Arc::new(Server::start(&["--clock", "real"])), "test_real");
    caller.company(0);
    let (code, line, stderr) = of(&caller, &["share", "--key", caller.key()]);
    assert_eq!((code, line.as_str()), (1, ""));
    assert!(stderr.contains("with the clock `real`, the wall clock changes it"), "{stderr}");
    assert!(stderr.contains("use `sandbox --record FILE` and `sandbox bundle`"), "{stderr}");
}

#[test]
fn a_resource_of_both_worlds_is_listed_once_with_its_differences() {
    let server = Server::manual();
    let (one, other) = (Caller::of(&server), Caller::of(&server));
    for (caller, event) in [(&one, "payroll_run.paid"), (&other, "payout.returned")] {
        caller.post("/_sandbox/trigger", &json!({"type": event})).expect(200);
    }
    let (code, text, _) = of(&one, &["diff", one.key(), other.key()]);
    assert_eq!(code, 1);
    let only = |side: &str| -> Vec<&str> {
        text.lines().filter_map(|line| line.trim().strip_prefix(side)).collect()
    };
    let (a, b) = (only("only A has "), only("only B has "));
    assert!(!a.is_empty() && a.iter().all(|shown| !b.contains(shown)), "{text}");
    let differs = only("A and B differ in ");
    let run = differs.iter().find(|shown| shown.starts_with("payroll run")).unwrap();
    assert!(run.ends_with("settlement/failed A 0, B 1; settlement/paid A 2, B 1"), "{run}");
    assert!(!text.contains("tax liability"), "only the run inside differs: {text}");
}

#[test]
fn a_file_or_a_key_that_does_not_exist_is_refused_and_no_world_is_opened() {
    let server = Arc::new(Server::start(&["--seed", "42"]));
    let caller = Caller::with_key(&server, "test_used");
    hire(&caller, &caller.company(0), 1);
    let worlds = || caller.get("/_sandbox/worlds").data().as_array().unwrap().len();
    assert_eq!(worlds(), 1);
    for (arguments, why) in [
        (&["share", "--key", "test_absent"][..], "--api-key: the key has no world"),
        (
            &["diff", "test_used", "test_absent"],
            "test_absent: there is no such file, and the key has no world",
        ),
        (&["diff", "monday.rec", "test_used"], "monday.rec: there is no such file"),
        (&["diff", "test_used", "monday@2"], "monday@2: there is no such file"),
    ] {
        let (code, out, stderr) = of(&caller, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(why), "{arguments:?}: {stderr}");
    }
    assert_eq!(worlds(), 1, "no world was opened");
    let absent = Caller::with_key(&server, "test_absent");
    absent.get("/_sandbox/inputs").refused(404, "resource_not_found");
    absent.get("/_sandbox/diff?from=start").refused(404, "resource_not_found");
    assert_eq!(worlds(), 1, "no world was opened");

    // A world that was only read exists, and is as it began.
    absent.company(0);
    let (code, text, _) = of(&caller, &["diff", "test_used", "test_absent"]);
    assert_eq!(code, 1);
    assert!(text.contains("nothing has happened in B since its start"), "{text}");
    let (code, line, stderr) = of(&caller, &["share", "--key", "test_absent"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("no call has changed this world"), "{stderr}");
    assert_eq!(open(line.trim()).digest(), absent.digest());
}

#[test]
fn recordings_are_compared_by_world() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, period) in [("a.rec", "2026-01"), ("b.rec", "2026-02")] {
        let server = Arc::new(Server::start(&["--record", &path(name), "--clock", "manual"]));
        for key in ["test_one", "test_two"] {
            let caller = Caller::with_key(&server, key);
            caller.run_payroll(
                &caller.company(0),
                if key == "test_one" { "2026-01" } else { period },
            );
        }
        Arc::into_inner(server).unwrap().end();
    }
    let world = |name: &str, world: usize| format!("{}@{world}", path(name));
    let (code, _, stderr) = run(&["diff", &path("a.rec"), &path("b.rec")]);
    assert_eq!(code, 2);
    assert!(stderr.contains("it has worlds 1 to 2"), "{stderr}");
    assert_eq!(run(&["diff", &world("a.rec", 1), &world("b.rec", 1)]).0, 0);
    let (code, text, _) = run(&["diff", &world("a.rec", 2), &world("b.rec", 2)]);
    assert_eq!(code, 1);
    assert!(text.contains("only A has payroll run") && text.contains("only B has"), "{text}");
}

#[test]
fn a_file_without_calls_has_no_world_to_compare() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("empty.bundle").to_str().unwrap().to_owned();
    assert_eq!(run(&["bundle", "--out", &bundle]).0, 0);
    for name in [bundle.clone(), format!("{bundle}@1")] {
        let (code, _, stderr) = run(&["diff", &name, &bundle]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("it contains no calls, so it has no world"), "{stderr}");
    }
}

#[test]
fn a_key_comes_from_its_variable_and_a_refused_key_is_reported() {
    let server = Arc::new(Server::start(&["--api-key", "test_k1"]));
    let caller = Caller::with_key(&server, "test_k1");
    hire(&caller, &caller.company(0), 1);
    let port = caller.port().to_string();
    let share = |name: &str, key: &str| {
        let mut share = command(&["share", "--port", &port]);
        let ended = finish(share.env(name, key));
        (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
    };
    for name in ["SANDBOX_API_KEY", "SANDBOX_KEY"] {
        let (code, err) = share(name, "test_k1");
        assert_eq!(code, Some(0), "{name}: {err}");
        let (code, err) = share(name, "test_k2");
        assert_eq!(code, Some(1), "{name}: {err}");
        assert!(err.contains("accepts only the keys that it was started with"), "{name}: {err}");
    }
    for arguments in [&["events"][..], &["trigger", "company.created"], &["export"]] {
        let mut reader = command(&[arguments, &["--port", &port]].concat());
        let ended = finish(reader.env("SANDBOX_KEY", "test_k1"));
        let err = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && !ended.stdout.is_empty(), "{arguments:?}: {err}");
    }
}

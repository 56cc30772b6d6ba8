//! `--record`, `sandbox replay` and `sandbox bundle`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Caller, Request, Server, command};
use crate::walk::stroll;

use super::{hire, lines, path, run, serve, session};

const KEY: &str = "test_very_secret_key";

/// A recording of the session under two keys, ended gracefully; and the digests of the worlds.
fn recorded(folder: &Path, flags: &[&str]) -> (PathBuf, Vec<String>) {
    let file = folder.join("session.ndjson");
    let flags = [flags, &["--record", path(&file)]].concat();
    let (server, caller) = serve(&flags, KEY);
    session(&caller);
    let other = Caller::with_key(&server, "test_other_key");
    other.run_payroll(&other.company(1), "2026-01");
    let digests = vec![caller.digest(), other.digest()];
    drop((caller, other));
    let server = std::sync::Arc::into_inner(server).expect("the only owner");
    server.end();
    (file, digests)
}

#[test]
fn a_replay_reaches_the_recorded_digests() {
    for clock in ["instant", "manual"] {
        let folder = tempfile::tempdir().unwrap();
        let flags = ["--seed", "7", "--companies", "2", "--clock", clock];
        let (file, digests) = recorded(folder.path(), &flags);
        let (code, out, err) = run(&["replay", path(&file)]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("so do the digests at its end"), "{out}");
        for digest in &digests {
            assert!(out.contains(digest), "{digest} is not in {out}");
        }
        let (code, out, _) = run(&["replay", path(&file), "--json"]);
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &report["ok"]), (0, &json!(true)), "{report}");
        assert_eq!(report["complete"], true);
        assert_eq!(report["worlds"][0]["digest"], digests[0]);
        assert_eq!(report["worlds"][1]["digest"], digests[1]);
    }
}

/// The checks of a recording are those of a log of this length, so a replay needs the same one.
#[test]
fn a_recording_states_how_many_events_its_worlds_keep() {
    for (flags, stated) in [
        (&["--max-events", "20"][..], json!(20)),
        (&["--max-events", "0"], json!(null)),
        (&[], json!(1_000_000)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = recorded(folder.path(), flags);
        assert_eq!(lines(&file)[0]["recording"]["max_events"], stated);
        let (code, out, err) = run(&["replay", path(&file)]);
        assert_eq!((code, &*err), (0, ""), "{flags:?}: {out}");
    }
}

/// All operations of the table, with two concurrent callers, and enough calls for the first whole digest.
#[test]
fn a_replay_of_random_walks_agrees() {
    for (seed, clock) in [(11, "instant"), (12, "manual"), (13, "real:50000")] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("walk.ndjson");
        let (server, caller) = serve(&["--clock", clock, "--record", path(&file)], KEY);
        let other = Caller::with_key(&server, "test_other_key");
        std::thread::scope(|scope| {
            scope.spawn(|| stroll(&caller, seed, 150));
            scope.spawn(|| stroll(&other, seed + 100, 50));
            let company = caller.company(0);
            let third = Caller::with_key(&server, "test_third_key");
            for number in 0..70 {
                hire(&third, &company, &format!("Ada {number}")).expect(201);
            }
        });
        drop((caller, other));
        std::sync::Arc::into_inner(server).expect("the only owner").end();
        let marks = lines(&file).iter().filter(|line| line.get("mark").is_some()).count();
        assert!(marks > 0, "no digest on the way");
        let (code, out, err) = run(&["replay", path(&file)]);
        assert_eq!(code, 0, "seed {seed}, clock {clock}: {err}");
        assert!(out.contains("so do the digests at its end"), "{out}");
    }
}

/// A reset world sees the time of the wall clock at its next request, and there is none.
#[test]
fn a_recording_may_end_right_after_a_reset() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reset.ndjson");
    let (server, caller) = serve(&["--clock", "real:1000000", "--record", path(&file)], KEY);
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    std::thread::sleep(std::time::Duration::from_millis(100)); // a day and more
    caller.post("/_sandbox/reset", &json!({})).expect(200);
    drop(caller);
    std::sync::Arc::into_inner(server).expect("the only owner").end();
    let (code, out, err) = run(&["replay", path(&file)]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("so do the digests at its end"), "{out}");
}

/// A read of a new key needs no room. Its world is dropped after it, so the log must not get the clock's moves in it.
#[test]
fn a_read_without_room_is_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("full.ndjson");
    let flags = ["--clock", "real:200000", "--scenario", "demo-day", "--max-worlds", "1"];
    let (server, caller) = serve(&[&flags[..], &["--record", path(&file)]].concat(), KEY);
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(500)); // some days
        Caller::with_key(&server, "test_other").get("/api/business/companies").expect(200);
    }
    drop(caller);
    std::sync::Arc::into_inner(server).expect("the only owner").end();
    let (code, _, err) = run(&["replay", path(&file)]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn reads_and_refusals_without_effect_are_not_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = recorded(folder.path(), &[]);
    let inputs: Vec<Value> =
        lines(&file).iter().filter_map(|line| line.get("input").cloned()).collect();
    let seen: Vec<(&str, i64)> = inputs
        .iter()
        .map(|input| {
            let status = input["reply"]["status"].as_i64().unwrap();
            (input["path"].as_str().unwrap(), status)
        })
        .collect();
    let expected = [
        ("/v1/payroll/run", 201),
        ("/v1/payroll/run", 409), // its key gives the same answer again
        ("/_sandbox/clock/advance", 200),
        ("/_sandbox/reset", 200),
        ("/api/business/employees", 201),
        ("/v1/payroll/run", 201),
        ("/_sandbox/clock/advance", 200),
        ("/v1/payroll/run", 201),
    ];
    assert_eq!(seen, expected);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(KEY) && !text.contains("test_other_key"));
    assert!(!text.to_ascii_lowercase().contains("authorization"));
}

#[test]
fn the_first_different_input_is_named_with_both_results() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = recorded(folder.path(), &[]);
    let text = std::fs::read_to_string(&file).unwrap();
    let doctored = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is not in {text}");
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let (code, out, err) = run(&["replay", path(&file)]);
        assert_eq!((code, out.as_str()), (1, ""), "{err}");
        err
    };
    // A name is in no request id and no event count, so only the hash of the changes shows the difference.
    let err = doctored("Ada Obi", "Ada Oba");
    assert!(err.contains("input 5") && err.contains("POST /api/business/employees"), "{err}");
    assert!(err.contains("\"check\""), "{err}");
    // The refused request succeeds now.
    let err = doctored("\"idempotency-key\":\"second\"", "\"idempotency-key\":\"first\"");
    assert!(err.contains("input 2") && err.contains("nothing was changed"), "{err}");
    // The header decides the whole world, so the first input is the first to differ.
    let err = doctored("\"seed\":42", "\"seed\":43");
    assert!(err.contains("input 1 "), "{err}");
    assert!(err.contains("\"status\":404") && err.contains("\"status\":201"), "{err}");
    let digest = text.split("\"digest\":\"").nth(1).unwrap();
    let err = doctored(&digest[..64], &"0".repeat(64));
    assert!(err.contains("the world at the end") && err.contains(&digest[..64]), "{err}");
    std::fs::write(&file, text.replace("Ada Obi", "Ada Oba")).unwrap();
    let (code, out, _) = run(&["replay", path(&file), "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["difference"]["seq"]), (1, &json!(5)), "{report}");
}

#[test]
fn a_replay_stops_at_until_and_serves_each_world_under_its_own_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("session.ndjson");
    let (server, caller) = serve(&["--record", path(&file)], KEY);
    let company = caller.company(0);
    hire(&caller, &company, "Ada Obi").expect(201);
    let after_one = caller.digest();
    hire(&caller, &company, "Ben Obi").expect(201);
    let other = Caller::with_key(&server, "test_other");
    other.run_payroll(&company, "2026-01");
    let ends = [caller.digest(), other.digest()];
    wait_for(&file, "/v1/payroll/run"); // another thread writes it
    drop((server, caller, other)); // killed: the recording has no end

    let (code, out, err) = run(&["replay", path(&file), "--until", "1"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("1 input replayed") && out.contains(&after_one), "{out}");

    let replay = ["replay", path(&file), "--serve", "--port", "0"];
    let server = std::sync::Arc::new(Server::spawn_after(&mut command(&replay)));
    for (key, digest) in [KEY, "test_other"].into_iter().zip(&ends) {
        assert_eq!(&Caller::with_key(&server, key).digest(), digest);
    }
    // It continues from there, and a key that was not recorded opens a fresh world.
    let caller = Caller::with_key(&server, KEY);
    hire(&caller, &company, "Cem Obi").expect(201);
    let fresh = Caller::with_key(&server, "test_third").get("/_sandbox/events");
    assert_eq!(fresh.expect(200)["meta"]["total"], 0);
    // The internal name of a replayed world is no key.
    let hash = lines(&file)[1]["world"]["key"].as_str().unwrap().to_owned();
    Request::new("GET", "/_sandbox/clock")
        .key(&format!("recorded_{hash}"))
        .send(server.port())
        .refused(401, "invalid_api_key");
}

#[test]
fn a_recording_overwrites_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("there.txt");
    std::fs::write(&file, "a shopping list\n").unwrap();
    for arguments in [
        ["--port", "0", "--record", path(&file)],
        ["bundle", "--seed", "7", "--out"].map(|flag| flag),
    ] {
        let mut arguments = arguments.to_vec();
        if arguments[0] == "bundle" {
            arguments.push(path(&file));
        }
        let (code, _, err) = run(&arguments);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("exists and is not empty"), "{err}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a shopping list\n");
}

#[test]
fn a_recording_needs_a_file_and_a_lease_needs_a_store() {
    for (flags, why) in [
        (["--record", "-"], "--record -: a recording is written to a file"),
        (["--store-lease", "3"], "--store-lease needs --store"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut server = command(&[&["--port", "0"], &flags[..]].concat());
        let ended = crate::harness::finish(server.current_dir(folder.path()));
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it wrote a file");
    }
}

#[test]
fn a_file_that_is_no_recording_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = recorded(folder.path(), &[]);
    let text = std::fs::read_to_string(&file).unwrap();
    let header = text.lines().next().unwrap();
    let newer = header.replace("\"format\":4", "\"format\":5");
    let lost = text.lines().enumerate().filter(|(number, _)| *number != 3);
    let lost: Vec<&str> = lost.map(|(_, line)| line).collect();
    for (content, said) in [
        (String::new(), "it is empty"),
        ("hello\n".to_owned(), "line 1, column 1: this is not a line of a recording"),
        (text.replacen(header, "", 1), "line 2: a recording must begin with its header"),
        (newer, "line 1: it has format 5"),
        (format!("{text}{text}"), "a second recording begins here"),
        (lost.join("\n"), "line 4: expected input 2, found input 3"),
        (header.replace("\"NG\"", "\"XX\""), "no country \"XX\""),
        (text.replace("\"method\":\"POST\"", "\"method\":\"PO ST\""), "line 3: "),
    ] {
        std::fs::write(&file, content).unwrap();
        let (code, _, err) = run(&["replay", path(&file)]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(said), "{said:?} is not in {err}");
    }
    // An incomplete last line of a killed process does not prevent the replay.
    let cut = text.rfind("{\"end\"").unwrap() + 10;
    std::fs::write(&file, &text[..cut]).unwrap();
    let (code, out, err) = run(&["replay", path(&file)]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("is incomplete and ignored"), "{err}");
    assert!(out.contains("the recording has no end"), "{out}");
}

#[test]
fn reads_of_the_control_plane_are_not_recorded_and_those_of_earlier_versions_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.rec");
    let (server, caller) = serve(&["--record", path(&file)], "test_key");
    for read in ["clock", "worlds", "snapshots", "scenarios", "faults"] {
        caller.get(&format!("/_sandbox/{read}")).expect(200);
    }
    hire(&caller, &caller.company(0), "Ada Obi").expect(201);
    let digest = caller.digest();
    drop(caller);
    std::sync::Arc::into_inner(server).unwrap().end();
    let mut recorded = lines(&file);
    let inputs = recorded.iter().filter(|line| line.get("input").is_some());
    assert_eq!(inputs.map(|line| line["input"]["method"].clone()).collect::<Vec<_>>(), ["POST"]);
    let place = recorded.iter().position(|line| line.get("input").is_some()).unwrap();
    let mut read = recorded[place].clone();
    read["input"]["method"] = json!("GET");
    read["input"]["path"] = json!("/_sandbox/worlds");
    read["input"]["reply"]["request_id"] = json!("req_0");
    recorded[place]["input"]["seq"] = json!(2);
    recorded.insert(place, read);
    let text: Vec<String> = recorded.iter().map(Value::to_string).collect();
    std::fs::write(&file, text.join("\n")).unwrap();
    let (code, out, err) = run(&["replay", path(&file)]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&digest) && out.contains("so do the digests"), "{out}");
}

#[test]
fn a_replay_finds_the_scenario_that_a_header_names_as_it_was_then() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.rec");
    let (server, caller) = serve(&["--record", path(&file)], "test_key");
    for (then, month) in [("failed", "2026-01"), ("paid", "2026-02"), ("returned", "2026-03")] {
        let text =
            format!("title = \"Own\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"{then}\"\n");
        let own = json!({"name": "own", "text": text, "run": false});
        caller.post("/_sandbox/scenarios", &own).expect(201);
        let body = json!({"company_id": caller.company(0), "period": month});
        let run = caller.request("POST", "/v1/payroll/run");
        let run = run
            .header("Sandbox-Scenario", "refund.settle=failed")
            .header("Sandbox-Scenario", "own");
        caller.send(&run.json(&body)).expect(201);
    }
    let digest = caller.digest();
    drop(caller);
    std::sync::Arc::into_inner(server).unwrap().end();
    let (code, out, err) = run(&["replay", path(&file)]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(&digest) && out.contains("so do the digests"), "{out}");
}

#[test]
fn a_bundle_contains_the_recording_and_the_files_and_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, digests) = recorded(folder.path(), &["--seed", "9"]);
    let scenario = folder.path().join("late.toml");
    std::fs::write(&scenario, "title = \"Late\"\n# \"quoted\", ünïcode\n").unwrap();
    let out = folder.path().join("bundle.ndjson");
    let flags = ["--recording", path(&file), "--scenario", path(&scenario)];
    let (code, _, err) = run(&[&["bundle"], &flags[..], &["-o", path(&out)]].concat());
    assert_eq!(code, 0, "{err}");
    let packed = &lines(&out)[1]["file"];
    assert_eq!(packed["kind"], "scenario");
    assert_eq!(packed["name"], "late.toml");
    assert_eq!(packed["text"], std::fs::read_to_string(&scenario).unwrap());
    let (code, played, err) = run(&["replay", path(&out)]);
    assert_eq!(code, 0, "{err}");
    assert!(played.contains(&digests[0]) && played.contains("so do the digests"), "{played}");
    // Without a recording, a bundle describes a fresh world. A write-ahead log can be bundled, too.
    let (code, printed, _) = run(&["bundle", "--seed", "11", "-o", "-"]);
    let header: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &header["recording"]["seed"]), (0, &json!(11)));
    let fresh = folder.path().join("fresh.ndjson");
    std::fs::write(&fresh, printed).unwrap();
    let (code, played, _) = run(&["replay", path(&fresh)]);
    assert_eq!(
        (code, played.as_str()),
        (0, "nothing was replayed: the file has no recorded inputs\n")
    );
}

#[test]
fn a_bundle_takes_no_file_that_is_neither_scenario_nor_contract() {
    let folder = tempfile::tempdir().unwrap();
    let (wrong, out) = (folder.path().join("wrong.toml"), folder.path().join("bundle.ndjson"));
    std::fs::write(&wrong, "x").unwrap();
    for flag in ["--scenario", "--contract"] {
        let (code, _, err) = run(&["bundle", flag, path(&wrong), "--out", path(&out)]);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains("1 mistake in") && !out.exists(), "{flag}: {err}");
    }
}

/// Waits until a recording has a line with this text.
fn wait_for(file: &std::path::Path, text: &str) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !std::fs::read_to_string(file).unwrap().lines().any(|line| line.contains(text)) {
        assert!(std::time::Instant::now() < until, "{text} is not recorded");
        std::thread::yield_now();
    }
}

//! A write-ahead log keeps the scenario files that its first start offered.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::write_ahead_log::serve_logged;
use super::{path, run};

const FAILED: &str = "title = \"A\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"failed\"\n";
const RETURNED: &str =
    "title = \"B\"\n\n[[outcome]]\non = \"payout.settle\"\nthen = \"returned\"\ncode = \"R02\"\n";

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name).with_extension("toml"), text).unwrap();
}

/// A text that is read again is in no log, so a replay would not have it.
#[test]
fn stored_worlds_have_no_scenario_that_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "mine", FAILED);
    let mine = folder.path().join("mine.toml");
    let place = folder.path().join("place");
    for flags in [
        ["--journal", path(&place)],
        ["--record", path(&place)],
        ["--store", "postgres://sandbox@127.0.0.1:1/worlds"],
    ] {
        let watch = ["--port", "0", "--scenario", path(&mine), "--watch"];
        let (code, _, err) = run(&[&watch[..], &flags].concat());
        assert!(code == 2 && err.contains("cannot be used with"), "{flags:?}: {err}");
    }
}

#[test]
fn stored_worlds_keep_the_scenario_files_of_the_first_start() {
    let folder = tempfile::tempdir().unwrap();
    let (log, files) = (folder.path().join("log"), folder.path().join("files"));
    std::fs::create_dir(&files).unwrap();
    write(&files, "loaded", FAILED);
    write(&files, "unused", FAILED);
    let flags = ["--scenario-dir", path(&files)];
    let (server, caller) = serve_logged(&log, &flags);
    caller.post("/_sandbox/scenarios/loaded/load", &json!({})).expect(200);
    caller.run_payroll(&caller.company(0), "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let failed = caller.events().iter().any(|event| event["type"] == "payout.failed");
    assert!(failed, "the scenario has an effect");
    let digest = caller.digest();
    drop((server, caller));

    write(&files, "loaded", RETURNED);
    write(&files, "new", RETURNED);
    std::fs::remove_file(files.join("unused.toml")).unwrap();
    let (server, caller) = serve_logged(&log, &flags);
    assert_eq!(caller.digest(), digest);
    caller.post("/_sandbox/scenarios/unused/load", &json!({})).expect(200);
    caller.post("/_sandbox/scenarios/new/load", &json!({})).refused(404, "resource_not_found");
    caller.post("/_sandbox/scenarios", &json!({"name": "new", "text": RETURNED})).expect(201);
    caller.run_payroll(&caller.company(1), "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let digest = caller.digest();
    drop(caller);
    let (_, err) = Arc::into_inner(server).expect("the only owner").stop();
    assert!(err.contains("are not offered") && err.contains("loaded, new"), "{err}");

    let (_server, caller) = serve_logged(&log, &[]);
    assert_eq!(caller.digest(), digest);
    caller.audit();
}

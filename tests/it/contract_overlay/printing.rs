//! The command line: mistakes of a file are printed, and no server starts.

use super::file;
use crate::harness::{command, finish};

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = finish(&mut command(arguments));
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_mistake_of_an_overlay_is_printed_and_no_server_starts() {
    let file = file("[errors]\nformta = \"problem\"\n[paging]\nper_page_max = 0\n");
    let name = file.path().to_str().unwrap();
    let expected = format!(
        "error: `errors` has no key `formta`
 --> {name}:2:1
  |
2 | formta = \"problem\"
  | ^^^^^^ unknown key
  |
  = help: did you mean `format`?

error: 0 is not a possible number of rows per page
 --> {name}:4:16
  |
4 | per_page_max = 0
  |                ^ expected an integer from 1 to 1000

2 mistakes in {name}
"
    );
    for arguments in [
        &["--port", "0", "--contract", name] as &[&str],
        &["serve", "--port", "0", "--contract", name],
        &["openapi", "--contract", name],
        &["contract", "--contract", name],
        &["contract", "check", name],
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str(), err.as_str()), (1, "", expected.as_str()), "{arguments:?}");
    }
}

#[test]
fn a_valid_overlay_is_confirmed() {
    let file = file("[operations.runPayroll]\nstatus = 202\n[auth]\nkeys = [\"s3cret\"]\n");
    let name = file.path().to_str().unwrap();
    let (code, out, err) = run(&["contract", "check", name]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.ends_with("overrides operations.runPayroll.status, auth.keys\n"), "{out}");
    let (code, out, _) = run(&["contract", "--contract", name]);
    assert_eq!(code, 0);
    assert!(out.contains("> operations.runPayroll.status = 202"), "{out}");
    assert!(out.contains("> auth.keys = (1)") && !out.contains("s3cret"), "{out}");
}

#[test]
fn a_missing_or_binary_overlay_is_refused_with_the_reason() {
    let binary = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(binary.path(), b"[errors]\n\xff\n").unwrap();
    let (code, _, err) = run(&["contract", "check", binary.path().to_str().unwrap()]);
    assert!(code == 1 && err.contains("line 2 is not UTF-8"), "{err}");
    let large = tempfile::NamedTempFile::new().unwrap();
    large.as_file().set_len(50 * 1_024 * 1_024).unwrap();
    let (code, _, err) = run(&["contract", "check", large.path().to_str().unwrap()]);
    assert!(code == 1 && err.contains("at most 1048576 bytes"), "{err}");
    let (code, _, err) = run(&["--port", "0", "--contract", "no/such/file.toml"]);
    assert!(code == 1 && err.contains("cannot read no/such/file.toml"), "{err}");
    let (code, ..) = run(&["contract", "check"]);
    assert_eq!(code, 2, "a file is required");
}

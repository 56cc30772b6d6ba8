//! The command line: exit codes, output, and environment variables.

mod printing;
mod secrets;
mod serving;
mod stdin;

use std::process::Output;

use crate::harness::{command, finish};

fn run(arguments: &[&str]) -> (i32, String, String) {
    ended(&finish(&mut command(arguments)))
}

fn ended(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

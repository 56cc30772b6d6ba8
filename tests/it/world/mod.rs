//! The grown world: plausible, of the requested shape, and quick to open in any size.

mod believable;
mod biweekly;
mod books;
mod check_digits;
mod history;
mod isolation;
mod shape;
mod snapshots;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::command;

/// The world of these flags, as `sandbox world` prints it.
fn printed(flags: &[&str]) -> Value {
    let output = command(&["world"]).args(flags).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("no {member} in {value}"))
}

fn employees(world: &Value) -> impl Iterator<Item = &Value> {
    companies(world).iter().flat_map(|company| company["employees"].as_array().unwrap())
}

fn companies(world: &Value) -> &[Value] {
    world["data"].as_array().unwrap()
}

fn distinct<'a>(rows: impl Iterator<Item = &'a Value>, member: &str) -> BTreeSet<String> {
    rows.map(|row| text(row, member).to_owned()).collect()
}

//! `sandbox explain`: the parts of an amount in a running sandbox.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::cli::ask::WorldOfKeyArgs;
use crate::cli::failure::Failure;

const TIMEOUT: Duration = Duration::from_secs(10);

/// The arguments of `sandbox explain`.
#[derive(Args, Debug)]
pub(super) struct ExplainArgs {
    /// The id of a payslip, wallet, ledger account, invoice, payroll run, loan, score or assessment: `psl_…`
    #[arg(value_parser = id)]
    id: String,
    /// JSON pointer to the amount, such as /gross or /taxes/0/amount [default: net pay, balance or score]
    #[arg(long, value_name = "POINTER")]
    pointer: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    world: WorldOfKeyArgs,
}

fn id(text: &str) -> Result<String, &'static str> {
    if text.is_empty() { Err("expected an id") } else { Ok(text.to_owned()) }
}

/// Asks the sandbox, and prints the parts.
pub(super) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let mut path = format!("/_sandbox/explain/{}", encoded(&args.id));
    if let Some(pointer) = &args.pointer {
        let _ = write!(path, "?pointer={}", encoded(pointer));
    }
    let answer = args.world.answer(TIMEOUT, ("GET", &path), "")?;
    let data = answer.map_err(Failure::Impossible)?;
    let text = if args.json { format!("{data:#}\n") } else { table(&data) };
    let printed = io::stdout().lock().write_all(text.as_bytes());
    printed.or_else(|error| Failure::of_output(&error))
}

/// The amount, then a line for each part: its amount, its label, and its source.
fn table(data: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let unit = data["currency"].as_str().unwrap_or("points");
    let mut out =
        format!("{} {}: {} {unit}\n", text(&data["id"]), text(&data["pointer"]), data["amount"]);
    for part in data["parts"].as_array().into_iter().flatten() {
        let rule = &part["rule"];
        let mut why: Vec<String> = Vec::new();
        if let Some(base) = rule["base"].as_str() {
            let of = format!("of {base} {}", rule["base_amount"]);
            why.push(rule["rate"].as_str().map_or(of.clone(), |rate| format!("{rate} {of}")));
        }
        why.extend(rule["pack"].as_str().map(|pack| format!("{pack} {}", text(&rule["line"]))));
        why.extend(part["resource_id"].as_str().map(str::to_owned));
        why.extend(part["reason"].as_str().map(str::to_owned));
        let line = format!(
            "{:>16}  {:<44}  {}",
            part["amount"].to_string(),
            text(&part["label"]),
            why.join(", ")
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

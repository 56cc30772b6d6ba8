//! `sandbox scenario list`: lists the shipped scenarios, and the decisions.

use std::fmt::Write;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::failure::{Failure, print};
use crate::model::decision::{Choice, DECISIONS, Decision};
use crate::model::payments::rails;
use crate::scenario;

/// The arguments of `sandbox scenario list`.
#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// The decisions of the outside world, with their choices
    #[arg(long)]
    decisions: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the list.
pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    let text = match (args.decisions, args.json) {
        (false, false) => scenarios(),
        (false, true) => pretty(&scenarios_json()),
        (true, false) => decisions(),
        (true, true) => pretty(&decisions_json()),
    };
    print(&text)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn scenarios() -> String {
    let shipped = scenario::shipped();
    let width = shipped.iter().map(|it| it.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for scenario in shipped {
        let _ = writeln!(text, "{:width$}  {}", scenario.name, scenario.title);
    }
    text
}

fn scenarios_json() -> Value {
    let shipped = scenario::shipped();
    let rows = shipped.iter().map(|scenario| {
        json!({
            "name": scenario.name,
            "title": scenario.title,
            "about": scenario.about,
        })
    });
    Value::Array(rows.collect())
}

/// The options of a choice, for the table.
fn takes(choice: &Choice) -> String {
    let mut takes = Vec::new();
    if let Some(code) = choice.code {
        takes.push(format!("code (of a payment rail, listed at the end; default {code})"));
    }
    if let Some(after) = choice.after {
        takes.push(format!("after ({after})"));
    }
    takes.join(", ")
}

fn decisions() -> String {
    let mut text = String::new();
    for decision in DECISIONS {
        let _ = writeln!(text, "{}  {}", decision.name, decision.about);
        let _ = writeln!(text, "  where: {}", subjects(decision).join(", "));
        let width = decision.choices.iter().map(|it| it.name.len()).max();
        let width = width.unwrap_or(0);
        for (place, choice) in decision.choices.iter().enumerate() {
            let default = if place == 0 { " (the default)" } else { "" };
            let _ = writeln!(text, "  {:width$}  {}{default}", choice.name, choice.about);
            let takes = takes(choice);
            if !takes.is_empty() {
                let _ = writeln!(text, "  {:width$}  takes {takes}", "");
            }
        }
        text.push('\n');
    }
    text + &codes()
}

/// The codes that each payment rail has.
fn codes() -> String {
    let mut text = "Codes of the payment rails\n".to_owned();
    let width = rails::all().iter().map(|rail| rail.id.len()).max().unwrap_or(0);
    for rail in rails::all() {
        let all = rails::refusals(rail).chain(rails::returns(rail)).chain(rails::corrections(rail));
        let mut codes: Vec<&str> = all.map(|row| &*row.code).collect();
        codes.sort_unstable();
        codes.dedup();
        let _ = writeln!(text, "  {:width$}  {}", &*rail.id, codes.join(", "));
    }
    text
}

fn subjects(decision: &Decision) -> Vec<&'static str> {
    let related = decision.related.iter().map(|kind| kind.name());
    [decision.subject.name()].into_iter().chain(related).collect()
}

fn decisions_json() -> Value {
    let choice = |(place, choice): (usize, &Choice)| {
        json!({
            "name": choice.name,
            "about": choice.about,
            "default": place == 0,
            "code": choice.code,
            "after": choice.after,
        })
    };
    let row = |decision: &&Decision| {
        json!({
            "name": decision.name,
            "about": decision.about,
            "where": subjects(decision),
            "choices": decision.choices.iter().enumerate().map(choice).collect::<Vec<_>>(),
        })
    };
    DECISIONS.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_a_rail_is_listed() {
        let text = decisions();
        let (_, table) = text.split_once("\nCodes of the payment rails\n").expect("a table");
        for rail in rails::all() {
            let row = table.lines().find(|row| row.split_whitespace().next() == Some(&*rail.id));
            let row = row.expect("a row for each rail");
            assert!(rails::refusals(rail).all(|code| row.contains(&*code.code)), "{row}");
        }
        assert!(!text.contains("R85"), "{text}");
    }
}

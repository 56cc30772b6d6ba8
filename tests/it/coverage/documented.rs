//! The table of lifecycles in `docs/conventions.md` has the states of the document's `x-lifecycle`.

use std::collections::BTreeSet;

use super::machines::{machine, machines};

const CONVENTIONS: &str = include_str!("../../../docs/conventions.md");

/// Words between the states of a cell.
const GRAMMAR: [&str; 6] = ["or", "any", "before", "except", "of", "these"];

/// A cell without its remarks in brackets. Optional steps, which have an arrow, remain.
fn without_remarks(cell: &str) -> String {
    let (mut left, mut rest) = (String::new(), cell);
    while let Some((before, after)) = rest.split_once('(') {
        let (inside, end) = after.split_once(')').unwrap();
        left.push_str(before);
        if inside.contains('→') {
            left.push_str(inside);
        }
        rest = end;
    }
    left + rest
}

fn states(cell: &str) -> BTreeSet<&str> {
    let words = cell.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
    words.filter(|word| !word.is_empty() && !GRAMMAR.contains(word)).collect()
}

/// The bold states.
fn final_states(cell: &str) -> BTreeSet<&str> {
    cell.split("**").skip(1).step_by(2).collect()
}

/// The kind and the member of a name such as: deal `stage`.
fn subject(name: &str) -> (String, &str) {
    let (kind, member) = name.split_once(" `").unwrap_or((name, "status`"));
    (kind.to_ascii_lowercase().replace(' ', "_"), member.trim_end_matches('`'))
}

#[test]
fn every_lifecycle_is_documented_with_its_states() {
    let (_, section) = CONVENTIONS.split_once("## Lifecycles").unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let mut documented = BTreeSet::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let (named, is_final) = (without_remarks(cells[1]), final_states(cells[1]));
        for name in cells[0].split(", ") {
            let (kind, member) = subject(name);
            let machine =
                machine(&kind, member).unwrap_or_else(|| panic!("{kind} has no {member}"));
            let all: BTreeSet<&str> = machine.states.iter().copied().collect();
            assert_eq!(states(&named), all, "{name}");
            let left: BTreeSet<&str> = machine.rows.iter().map(|(_, from, _)| *from).collect();
            assert_eq!(is_final, &all - &left, "the final states of {name}");
            documented.insert((machine.kind, machine.member));
        }
    }
    let moving = machines().iter().filter(|machine| !machine.rows.is_empty());
    let all: BTreeSet<_> = moving.map(|machine| (machine.kind, machine.member)).collect();
    assert_eq!(documented, all);
}

//! Coverage: every situation, every story of `fixtures/situations/stories` and every shipped scenario runs in a world of its own.
//!
//! Every event that the document declares for an operation must follow from it. Every transition of every lifecycle
//! must occur, and every resource must refuse each transition that its state does not allow. Exceptions are listed
//! with their reason.

mod documented;
mod exceptions;
pub(crate) mod library;
mod machines;
mod prober;
mod records;
mod runner;
mod seen;
mod verbs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

use serde_json::Value;

use self::exceptions::{BY_A_TESTER, NEVER_SHOWN, NO_SITUATION, UNSEEN};
use self::library::{Source, situations, sources};
use self::machines::{Arrow, Machine, machine, machines};
use self::prober::Probed;
use self::runner::Run;
use self::seen::{Pair, Seen};
use self::verbs::{VERBS, wrong_states};
use crate::harness::contract::product;

/// The coverage of all sources.
#[derive(Default)]
struct Coverage {
    seen: Seen,
    probed: Probed,
    /// Differences from the expectations of the sources.
    wrong: Vec<String>,
}

/// Runs all sources, once for all tests.
fn coverage() -> &'static Coverage {
    static COVERAGE: OnceLock<Coverage> = OnceLock::new();
    COVERAGE.get_or_init(|| {
        let sources = sources();
        let (next, sum) = (AtomicUsize::new(0), Mutex::new(Coverage::default()));
        let work = || {
            while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (seen, probed, wrong) = cover(source);
                let mut sum = sum.lock().unwrap();
                sum.seen.add(seen);
                sum.probed.add(probed);
                sum.wrong.extend(wrong);
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(work);
            }
        });
        sum.into_inner().unwrap()
    })
}

/// Runs a source. A story runs twice: refusals must not change how it ends.
fn cover(source: &Source) -> (Seen, Probed, Vec<String>) {
    let mut run = Run::of(source, source.is_probed);
    let mut wrong = run.steps(source);
    let (seen, mut probed, digest) = run.end();
    wrong.append(&mut probed.wrong);
    let missing = source.states.iter().filter(|state| !seen.entered.contains(*state));
    wrong.extend(missing.map(|state| format!("no resource enters the state {state:?}")));
    if source.is_probed && source.is_story() {
        let mut quiet = Run::of(source, false);
        wrong.extend(quiet.steps(source));
        let (.., undisturbed) = quiet.end();
        if digest != undisturbed {
            wrong.push("refusals have changed how it ends".to_owned());
        }
    }
    let wrong = wrong.into_iter().map(|why| format!("{}: {why}", source.name)).collect();
    (seen, probed, wrong)
}

fn lines<T: Display>(found: impl IntoIterator<Item = T>) -> String {
    let lines = found.into_iter().map(|line| format!("\n  {line}"));
    lines.collect()
}

/// The operations of the product's document by operationId.
fn operations() -> BTreeMap<&'static str, &'static Value> {
    let paths = product()["paths"].as_object().unwrap().values();
    let rows = paths.flat_map(|methods| methods.as_object().unwrap().values());
    rows.map(|row| (row["operationId"].as_str().unwrap(), row)).collect()
}

#[test]
fn every_source_runs_as_its_file_expects() {
    let wrong = &coverage().wrong;
    assert!(wrong.is_empty(), "{}", lines(wrong));
}

#[test]
fn every_event_and_every_state_has_one_situation() {
    let situations = situations();
    let is_excused = |machine: &Machine, state: &str| {
        let mut excused = NO_SITUATION.iter();
        excused.any(|(kind, of, _)| (*kind, *of) == (machine.kind, state))
    };
    let states = machines().iter().flat_map(|machine| {
        let states = machine.states.iter().filter(|state| !is_excused(machine, state));
        states.map(|state| machine.named(state))
    });
    let events = product()["webhooks"].as_object().unwrap().keys().cloned();
    // Only the outside world adds one, so it is in no document of the product.
    let events = events.chain(["watchlist_entry.added".to_owned()]);
    for (list, known) in [("events", events.collect()), ("states", states.collect::<Vec<_>>())] {
        let mut missing: BTreeSet<String> = known.into_iter().collect();
        for name in situations.iter().flat_map(|situation| situation.names(list)) {
            assert!(missing.remove(&name), "{name:?} has two situations, or is in no document");
        }
        assert!(missing.is_empty(), "add a situation for these {list}:{}", lines(missing));
    }
}

#[test]
fn every_declared_event_of_an_operation_follows_from_it() {
    let seen = &coverage().seen.pairs;
    let mut declared: BTreeSet<Pair> = BTreeSet::new();
    for (operation, row) in operations() {
        for event in row["x-emits"].as_array().into_iter().flatten() {
            declared.insert((operation.to_owned(), event.as_str().unwrap().to_owned()));
        }
    }
    assert!(declared.len() > 400, "{} pairs are declared", declared.len());
    let excused: BTreeSet<Pair> = UNSEEN
        .iter()
        .map(|(operation, event, _)| ((*operation).to_owned(), (*event).to_owned()))
        .collect();
    let show = |(operation, event): &Pair| format!("{operation} {event}");
    let missing = declared.difference(seen);
    let missing: Vec<String> = missing.filter(|pair| !excused.contains(*pair)).map(show).collect();
    assert!(
        missing.is_empty(),
        "{} of {} pairs are declared and not seen:{}",
        missing.len(),
        declared.len(),
        lines(&missing)
    );
    let idle = excused.iter().filter(|pair| seen.contains(*pair) || !declared.contains(*pair));
    let idle: Vec<String> = idle.map(show).collect();
    assert!(idle.is_empty(), "these exceptions are not needed:{}", lines(&idle));
    let more: Vec<String> = seen.difference(&declared).map(show).collect();
    assert!(more.is_empty(), "seen and not declared:{}", lines(&more));
}

#[test]
fn every_arrow_of_every_lifecycle_is_walked() {
    let seen = &coverage().seen;
    assert!(seen.strange.is_empty(), "{}", lines(&seen.strange));
    let machines = machines();
    assert!(machines.len() > 35, "{} lifecycles", machines.len());
    let all: BTreeSet<Arrow> = machines.iter().flat_map(Machine::arrows).collect();
    let named = |rows: &[(&str, &str, &str, &str)]| -> BTreeSet<Arrow> {
        let find = |(kind, from, to, _): &(&str, &str, &str, &str)| {
            let mut arrows = all.iter();
            let found = arrows.find(|it| (it.kind, it.from, it.to) == (*kind, *from, *to));
            *found.unwrap_or_else(|| panic!("no {kind} goes from {from} to {to}"))
        };
        rows.iter().map(find).collect()
    };
    let only_by_a_tester = named(BY_A_TESTER);
    let show = |it: &Arrow| format!("{} {}: {} -> {}", it.kind, it.member, it.from, it.to);
    let missing = all.iter().filter(|arrow| {
        let by_a_tester = only_by_a_tester.contains(*arrow) && seen.by_a_tester.contains(*arrow);
        !by_a_tester && !seen.arrows.contains(*arrow)
    });
    let missing: Vec<String> = missing.map(show).collect();
    assert!(
        missing.is_empty(),
        "{} of {} arrows are not walked:{}",
        missing.len(),
        all.len(),
        lines(&missing)
    );
    let idle: Vec<String> = only_by_a_tester.intersection(&seen.arrows).map(show).collect();
    assert!(idle.is_empty(), "these exceptions are not needed:{}", lines(&idle));
}

fn is_never_shown(kind: &str, state: &str) -> bool {
    NEVER_SHOWN.iter().any(|(of, never, _)| (*of, *never) == (kind, state))
}

#[test]
fn every_call_is_refused_in_every_state_in_which_it_may_not_begin() {
    let probed = &coverage().probed;
    let mut missing = Vec::new();
    for verb in VERBS {
        let found = machine(verb.kind, verb.machine).expect("a machine");
        let wrong = wrong_states(verb, found).into_iter();
        let untried = wrong.filter(|state| {
            !is_never_shown(verb.kind, state) && !probed.verbs.contains(&(verb.operation, *state))
        });
        missing.extend(untried.map(|state| format!("{} {state}", verb.operation)));
    }
    assert!(missing.is_empty(), "never tried:{}", lines(&missing));
}

#[test]
fn every_resource_makes_the_moves_that_it_allows_and_no_others() {
    let probed = &coverage().probed;
    let mut missing = Vec::new();
    for machine in machines() {
        let untried = machine.states.iter().filter(|state| {
            !is_never_shown(machine.kind, state)
                && !probed.moves.contains(&(machine.kind, machine.member, **state))
        });
        missing.extend(untried.map(|state| format!("{} {state}", machine.kind)));
    }
    assert!(missing.is_empty(), "never tried:{}", lines(&missing));
}

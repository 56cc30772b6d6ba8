//! Lives: every shipped scenario and every file of `fixtures/lives`, run in this process and looked at from the inside.
//!
//! What the operations declare to cause must have been seen to follow from them, every arrow of every lifecycle must have been
//! walked, and whatever stands in a state is asked for each move that the state does not have. That nothing else happens than is
//! declared is held by `api::system` at every step.

mod hands;
mod machines;
mod seen;
mod unseen;
mod verbs;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::{fs, thread};

use crate::api::system;
use crate::cli::scenario::check;
use crate::cli::scenario::lives::hands::{Asked, Hands};
use crate::cli::scenario::lives::machines::{Arrow, Machine, machine, machines};
use crate::cli::scenario::lives::seen::{Pair, Seen};
use crate::cli::scenario::lives::unseen::{BY_HAND, NEVER_SHOWN, UNSEEN};
use crate::cli::scenario::lives::verbs::{VERBS, wrong_states};
use crate::cli::scenario::server::Served;
use crate::scenario::RunReport;
use crate::value::Look;
use crate::world::script::Scenario;
use crate::{api, scenario};

/// What all lives have shown.
#[derive(Default)]
struct Lived {
    seen: Seen,
    asked: Asked,
    /// What did not come as a file expects it.
    wrong: Vec<String>,
    lives: usize,
}

/// Lives them all, once for all tests.
fn lived() -> &'static Lived {
    static LIVED: OnceLock<Lived> = OnceLock::new();
    LIVED.get_or_init(|| {
        let lives = lives();
        let (next, sum) = (AtomicUsize::new(0), Mutex::new(Lived::default()));
        let work = || {
            while let Some(life) = lives.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (seen, asked, wrong) = live(life);
                let mut sum = sum.lock().expect("no life panics while it adds");
                sum.seen.add(seen);
                sum.asked.add(asked);
                sum.wrong.extend(wrong);
                sum.lives += 1;
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(work);
            }
        });
        sum.into_inner().expect("no life panicked")
    })
}

/// A scenario, and whether its resources are asked for moves that they do not have: a fault or a limit would count the calls.
struct Life {
    scenario: Arc<Scenario>,
    is_asked: bool,
}

#[expect(clippy::disallowed_methods, reason = "a test looks at the repository")]
fn lives() -> Vec<Life> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lives");
    let files = fs::read_dir(folder).expect("the folder is part of the repository");
    let mut paths: Vec<_> = files.map(|file| file.expect("an entry").path()).collect();
    paths.sort();
    let own = paths.iter().map(|path| {
        let path = path.to_str().expect("UTF-8");
        let checked = scenario::check(path, &check::read);
        assert_eq!(checked.report(Look::Plain), "", "{path}");
        Life {
            scenario: Arc::new(checked.scenario.expect("nothing is wrong with it")),
            is_asked: true,
        }
    });
    let shipped =
        scenario::shipped().into_iter().map(|scenario| Life { scenario, is_asked: false });
    own.chain(shipped).collect()
}

/// Runs the steps, and says what was seen and what went wrong. A life that is asked is lived twice: it ends as if nobody had asked.
fn live(life: &Life) -> (Seen, Asked, Vec<String>) {
    let told = |why: String| format!("{}: {why}", life.scenario.name);
    let lived = || -> Result<_, String> {
        let (mut seen, _, undisturbed, mut wrong) = once(&life.scenario, false)?;
        let mut asked = Asked::default();
        if life.is_asked {
            let (of_both, refused, digest, again) = once(&life.scenario, true)?;
            seen.add(of_both);
            asked = refused;
            wrong.extend(again.into_iter().chain(asked.wrong.drain(..)));
            if digest != undisturbed {
                wrong.push("what was refused has changed the world".to_owned());
            }
        }
        Ok((seen, asked, wrong))
    };
    match lived() {
        Ok((seen, asked, wrong)) => (seen, asked, wrong.into_iter().map(told).collect()),
        Err(why) => (Seen::default(), Asked::default(), vec![told(why)]),
    }
}

fn once(
    scenario: &Arc<Scenario>,
    is_asking: bool,
) -> Result<(Seen, Asked, String, Vec<String>), String> {
    let mut hands = Hands::new(Served::start(scenario)?, machines(), is_asking);
    let wrong = differences(&scenario::run(scenario, &mut hands)?);
    let (seen, asked, digest) = hands.end();
    Ok((seen, asked, digest, wrong))
}

fn differences(outcome: &RunReport) -> Vec<String> {
    let mut found = Vec::new();
    for step in &outcome.steps {
        for it in &step.differences {
            let (at, expected, came) = (&it.at, &it.expected, &it.came);
            let step = format!("{} {}", step.source, step.step);
            found.push(format!("{step}: {at}: expected {expected}, came {came}"));
        }
    }
    for it in &outcome.differences {
        let (at, expected, came) = (&it.at, &it.expected, &it.came);
        found.push(format!("{at}: expected {expected}, came {came}"));
    }
    let idle = outcome.rows.iter().filter(|row| row.hits == 0);
    found.extend(idle.map(|row| format!("{} did nothing", row.source)));
    let refused = outcome.rows.iter().filter_map(|row| row.refused.as_ref());
    found.extend(refused.cloned());
    found
}

fn lines<T: std::fmt::Display>(found: impl IntoIterator<Item = T>) -> String {
    let lines = found.into_iter().map(|line| format!("\n  {line}"));
    lines.collect()
}

#[test]
fn every_life_comes_as_its_file_expects() {
    let wrong = &lived().wrong;
    assert!(wrong.is_empty(), "{}", lines(wrong));
}

#[test]
fn every_event_that_an_operation_declares_is_seen_to_follow_from_it() {
    let seen = &lived().seen.pairs;
    let mut declared = BTreeSet::new();
    for row in api::product() {
        for event in system::events_of(row) {
            declared.insert((row.name, event.to_owned()));
        }
    }
    let excused: BTreeMap<Pair, &str> = UNSEEN
        .iter()
        .map(|(operation, event, why)| ((*operation, (*event).to_owned()), *why))
        .collect();
    let show = |(operation, event): &Pair| format!("{operation} {event}");
    let missing = declared.difference(seen);
    let missing: Vec<String> =
        missing.filter(|pair| !excused.contains_key(*pair)).map(show).collect();
    assert!(
        missing.is_empty(),
        "{} of {} pairs are declared and not seen:{}",
        missing.len(),
        declared.len(),
        lines(&missing)
    );
    let idle = excused.keys().filter(|pair| seen.contains(*pair) || !declared.contains(*pair));
    let idle: Vec<String> = idle.map(show).collect();
    assert!(idle.is_empty(), "excused in vain:{}", lines(&idle));
    let more: Vec<String> = seen.difference(&declared).map(show).collect();
    assert!(more.is_empty(), "seen and not declared:{}", lines(&more));
}

#[test]
fn every_arrow_of_every_lifecycle_is_walked() {
    let seen = &lived().seen;
    assert!(seen.strange.is_empty(), "{}", lines(&seen.strange));
    let machines = machines();
    let all: BTreeSet<Arrow> = machines.iter().flat_map(Machine::arrows).collect();
    let named = |rows: &[(&str, &str, &str, &str)]| -> BTreeSet<Arrow> {
        let find = |(kind, from, to, _): &(&str, &str, &str, &str)| {
            let mut arrows = all.iter();
            let found = arrows.find(|it| (it.kind, it.from, it.to) == (*kind, *from, *to));
            *found.unwrap_or_else(|| panic!("no {kind} goes from {from} to {to}"))
        };
        rows.iter().map(find).collect()
    };
    let only_by_hand = named(BY_HAND);
    let show = |it: &Arrow| format!("{} {}: {} -> {}", it.kind, it.member, it.from, it.to);
    let missing = all.iter().filter(|arrow| {
        let by_hand = only_by_hand.contains(*arrow) && seen.by_hand.contains(*arrow);
        !by_hand && !seen.arrows.contains(*arrow)
    });
    let missing: Vec<String> = missing.map(show).collect();
    assert!(
        missing.is_empty(),
        "{} of {} arrows are not walked:{}",
        missing.len(),
        all.len(),
        lines(&missing)
    );
    let idle: Vec<String> = only_by_hand.intersection(&seen.arrows).map(show).collect();
    assert!(idle.is_empty(), "not only by hand:{}", lines(&idle));
}

#[test]
fn every_call_is_refused_in_every_state_that_it_does_not_begin_in() {
    let lived = lived();
    let machines = machines();
    let mut missing = Vec::new();
    for verb in VERBS {
        let found = machine(&machines, verb.kind, verb.machine).expect("a machine");
        let wrong = wrong_states(verb, found).into_iter();
        let unasked = wrong.filter(|state| {
            let excused = NEVER_SHOWN
                .iter()
                .any(|(kind, never, _)| (*kind, never) == (verb.kind.name(), state));
            !excused && !lived.asked.verbs.contains(&(verb.operation, state))
        });
        missing.extend(unasked.map(|state| format!("{} {state}", verb.operation)));
    }
    assert!(missing.is_empty(), "never asked:{}", lines(&missing));
}

#[test]
fn everything_is_moved_by_hand_as_it_says_and_not_otherwise() {
    let lived = lived();
    let mut missing = Vec::new();
    for machine in machines() {
        let states = machine.states.iter();
        let unasked = states.filter(|state| {
            let excused = NEVER_SHOWN
                .iter()
                .any(|(kind, never, _)| (*kind, never) == (machine.kind.name(), *state));
            !excused && !lived.asked.moves.contains(&(machine.kind, machine.member, **state))
        });
        missing.extend(unasked.map(|state| format!("{} {state}", machine.kind.name())));
    }
    assert!(missing.is_empty(), "never asked:{}", lines(&missing));
}

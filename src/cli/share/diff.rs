//! `sandbox diff`: what two worlds did differently since their start, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use clap::Args;
use http::Request;
use serde_json::Value;

use crate::cli::ask::{SandboxArgs, in_header};
use crate::cli::failure::{Failure, print};
use crate::cli::lab::canon::{Canon, Groups, Masks, Object, Place};
use crate::cli::lab::words::members;
use crate::cli::replay;
use crate::cli::share::line::{PREFIX, Shared};
use crate::cli::share::{get, no_world, play};
use crate::engine::Engine;
use crate::io::input_file;

/// The effects of a world since its start.
const EFFECTS: &str = "/_sandbox/diff?from=start&to=now&canonical=true&per_page=1";
/// The most lines of each part.
const MOST_LINES: usize = 40;

/// The arguments of `sandbox diff`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
        sandbox diff test_key test_fork              two keys of a running sandbox\n  \
        sandbox diff monday.bundle tuesday.rec       two files; monday.bundle@2 is its second world\n  \
        sandbox diff test_key sandbox-1.xZNbb9o…     a key and a shared line\n\n\
        It compares effects: payments, resources, sums of money and events. Ids, instants, references, rails and fees are left out.\n\n\
        Exit codes: 0 the same effects, 1 a difference or a failure, 2 wrong usage, such as a file or a world that does not exist.")]
pub(in crate::cli) struct DiffArgs {
    /// A key of the running sandbox, a recording or bundle (FILE or FILE@WORLD), or a shared line
    #[arg(value_name = "A")]
    one: String,
    /// The other world, in one of the same forms
    #[arg(value_name = "B")]
    other: String,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

/// One side of the comparison.
struct Side {
    canon: Canon,
    /// The number of events of each type.
    events: BTreeMap<String, u64>,
    now: String,
}

/// Prints the differences, and returns whether there are any.
pub(in crate::cli) fn run(args: &DiffArgs) -> Result<bool, Failure> {
    let one = side(args, "the first key", &args.one)?;
    let other = side(args, "the second key", &args.other)?;
    let mut text = String::new();
    let inner = objects(&one, &other, &mut text);
    money(&one, &other, &mut text);
    events(&one, &other, &mut text);
    if text.is_empty() {
        section("resources in which another resource differs", inner, &mut text);
    }
    let differs = !text.is_empty();
    if one.now != other.now {
        let _ = writeln!(text, "time\n  A {}, B {}", one.now, other.now);
    }
    if !differs {
        text.insert_str(0, "A and B have the same effects\n");
    }
    for (side, name) in [(&one, "A"), (&other, "B")] {
        if side.events.is_empty() {
            let _ = writeln!(text, "nothing has happened in {name} since its start");
        }
    }
    print(&text)?;
    Ok(differs)
}

/// A world by the name that the command line has for it.
fn side(args: &DiffArgs, place: &str, name: &str) -> Result<Side, Failure> {
    if name.starts_with(PREFIX) {
        let shared = Shared::decode(name)?;
        let made = play::play(&shared, play::KEY)?;
        return of_engine(&made.engine, play::KEY);
    }
    let (file, world) = match name.rsplit_once('@') {
        Some((file, world)) => (file, world.parse::<usize>().ok()),
        None => (name, None),
    };
    for (path, world) in [(name, None), (file, world)] {
        if Path::new(path).is_file() {
            let (engine, keys) = replay::worlds(Path::new(path))?;
            let wrong = |why: String| Failure::Usage(format!("{name}: {why}"));
            let key = match (world, keys.as_slice()) {
                (None, [only]) => only,
                (Some(world), keys) if (1..=keys.len()).contains(&world) => &keys[world - 1],
                (_, []) => {
                    return Err(wrong("it contains no calls, so it has no world".to_owned()));
                }
                (_, keys) => {
                    return Err(wrong(format!(
                        "it has worlds 1 to {}: name one, such as {path}@1",
                        keys.len()
                    )));
                }
            };
            return of_engine(&engine, key);
        }
    }
    let path = Path::new(file);
    if name.contains(['/', '\\']) || path.extension().is_some() || world.is_some() {
        let why = match input_file::open(path) {
            Err(why) if path.exists() => why,
            _ => "there is no such file".to_owned(),
        };
        return Err(Failure::Usage(format!("{name}: {why}")));
    }
    let answer = get(&args.sandbox, in_header(place, name)?, EFFECTS)?.ok_or_else(|| {
        Failure::Usage(format!("{name}: there is no such file, and {}", no_world(&args.sandbox)))
    })?;
    Ok(read(&answer))
}

fn of_engine(engine: &Engine, key: &str) -> Result<Side, Failure> {
    let request = Request::get(EFFECTS).header("authorization", format!("Bearer {key}"));
    let request = request.body(Bytes::new()).map_err(Failure::impossible)?;
    let reply = engine.call(request);
    let answer: Value = serde_json::from_slice(reply.body()).map_err(Failure::impossible)?;
    if !reply.status().is_success() {
        let why = answer["detail"].as_str().unwrap_or("the world cannot be compared");
        return Err(Failure::Impossible(why.to_owned()));
    }
    Ok(read(&answer))
}

fn read(answer: &Value) -> Side {
    let meta = &answer["meta"];
    let types = meta["events"]["types"].as_object().cloned().unwrap_or_default();
    let events = types.into_iter().map(|(name, count)| (name, count.as_u64().unwrap_or_default()));
    Side {
        canon: Canon::of(&meta["canonical"]),
        events: events.collect(),
        now: meta["to"]["at"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Writes the resources that differ. Returns those in which only another resource differs, because that one has its own line.
fn objects(one: &Side, other: &Side, text: &mut String) -> Vec<String> {
    let masks = Masks::default();
    let mut inner = Vec::new();
    for (obligations, title) in [(true, "payments and obligations"), (false, "other resources")] {
        let (here, there) =
            (one.canon.groups(&masks, obligations), other.canon.groups(&masks, obligations));
        let (only_a, only_b) = (alone(&here, &there), alone(&there, &here));
        let keys: BTreeSet<&Vec<u8>> = here.keys().chain(there.keys()).collect();
        let lines = keys.into_iter().filter_map(|key| {
            let (a, b) = (here.get(key), there.get(key));
            let counts = [a, b].map(|group| group.map_or(0, |group| group.count));
            let shown = described(a.or(b)?.sample);
            match (counts, only_a.get(&shown), only_b.get(&shown)) {
                ([a, b], ..) if a == b => None,
                ([1, 0], Some(a), Some(b)) => {
                    let mut found = Vec::new();
                    members(["A", "B"], "", (&a.value, &b.value), &mut found);
                    if found.is_empty() {
                        inner.push(shown);
                        return None;
                    }
                    Some(format!("A and B differ in {shown}: {}", found.join("; ")))
                }
                ([0, 1], Some(_), _) => None,
                ([1, 0], ..) => Some(format!("only A has {shown}")),
                ([0, 1], ..) => Some(format!("only B has {shown}")),
                ([a, b], ..) => Some(format!("A has {a} and B has {b} of {shown}")),
            }
        });
        section(title, lines.collect(), text);
    }
    inner
}

/// The resources that only the first world has in this form, by their description.
fn alone<'a>(groups: &Groups<'a>, others: &Groups<'_>) -> BTreeMap<String, &'a Object> {
    let groups =
        groups.iter().filter(|(key, group)| group.count == 1 && !others.contains_key(*key));
    groups.map(|(_, group)| (described(group.sample), group.sample)).collect()
}

fn money(one: &Side, other: &Side, text: &mut String) {
    let masks = Masks::default();
    let (here, there) = (one.canon.sums(&masks), other.canon.sums(&masks));
    let places: BTreeSet<&Place> = here.keys().chain(there.keys()).collect();
    let lines = places.into_iter().filter_map(|place| {
        let amount = |sums: &BTreeMap<Place, i64>| sums.get(place).copied().unwrap_or_default();
        let (a, b) = (amount(&here), amount(&there));
        let party = place.counterparty.as_ref().map(|name| format!(" for {name}"));
        let party = party.unwrap_or_default();
        let Place { account, company, currency, .. } = place;
        (a != b).then(|| format!("{account} of {company}{party}: A {a}, B {b} {currency}"))
    });
    section("money (debits minus credits, minor units)", lines.collect(), text);
}

fn events(one: &Side, other: &Side, text: &mut String) {
    let names: BTreeSet<&String> = one.events.keys().chain(other.events.keys()).collect();
    let lines = names.into_iter().filter_map(|name| {
        let count = |side: &Side| side.events.get(name).copied().unwrap_or_default();
        let (a, b) = (count(one), count(other));
        (a != b).then(|| format!("{name}: A {a}, B {b}"))
    });
    section("events", lines.collect(), text);
}

fn section(title: &str, lines: Vec<String>, text: &mut String) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "{title}");
    for line in lines.iter().take(MOST_LINES) {
        let _ = writeln!(text, "  {line}");
    }
    if lines.len() > MOST_LINES {
        let _ = writeln!(text, "  … and {} more", lines.len() - MOST_LINES);
    }
}

/// `payout pay_… of 250000 NGN (Adaeze Supplies Ltd), paid`.
fn described(object: &Object) -> String {
    format!("{} {}{}", object.kind.replace('_', " "), object.id, object.about())
}

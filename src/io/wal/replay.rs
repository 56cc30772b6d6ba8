//! Replays recorded inputs, and compares every step with the recorded result.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::recording::{ClockMove, End, EndOf, Entry, Input, KeyHash, Mark, Step};
use crate::engine::{Engine, Player, Repeat};
use crate::io::wal::text::{Place, Placed};
use crate::value::{ApiError, Timestamp};
use crate::world::World;

/// The progress of a replay.
#[derive(Default)]
pub(crate) struct Played {
    /// The number of replayed inputs, including moves of the wall clock.
    pub(crate) inputs: u64,
    /// The last instant of the wall clock.
    pub(crate) wall: Option<Timestamp>,
    /// Whether the recording ended with the digests of its worlds, and the replay reached them.
    pub(crate) is_complete: bool,
    worlds: BTreeMap<u32, KeyHash>,
}

/// The first input that differs.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    /// The number of the input; for a digest, the number of the input before it.
    pub(crate) seq: u64,
    /// The position in the file.
    pub(crate) place: String,
    pub(crate) world: u32,
    /// The request.
    pub(crate) input: String,
    pub(crate) expected: Value,
    pub(crate) came: Value,
}

impl Difference {
    /// The text for people: one line for each.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "input {} ({}, world {}) differs: {}\n",
            self.seq, self.place, self.world, self.input
        );
        let _ = writeln!(text, "  expected {}", self.expected);
        let _ = write!(text, "  came     {}", self.came);
        text
    }
}

/// Why a replay ended before its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    Differs(Box<Difference>),
    /// The file is invalid; the text names the position.
    Wrong(String),
}

/// Replays the entries of all worlds in order, up to the input with this number. The worlds stay in the engine.
pub(crate) fn play(
    engine: &Engine,
    entries: impl IntoIterator<Item = Placed>,
    until: Option<u64>,
) -> Result<Played, Stopped> {
    let mut replay =
        Replay { engine, players: BTreeMap::new(), last: None, played: Played::default() };
    for Placed { place, entry } in entries {
        let seq = match &entry {
            Entry::Input(input) => Some(input.seq),
            Entry::Clock(clock) => Some(clock.seq),
            _ => None,
        };
        if let Some((seq, until)) = seq.zip(until)
            && seq > until
        {
            break;
        }
        replay.entry(place, entry, seq)?;
    }
    for player in replay.players.into_values() {
        player.restored();
    }
    Ok(replay.played)
}

impl Played {
    /// Keys that open the worlds, in the order of their numbers.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.worlds.values().map(|world| world.as_key()).collect()
    }

    /// The final state of the worlds.
    pub(crate) fn ends(&self, engine: &Engine) -> Vec<EndOf> {
        let number = |key| {
            let known = self.worlds.iter().find(|(_, known)| **known == key);
            known.map(|(number, _)| *number)
        };
        engine.ends(number)
    }
}

/// A replay of several worlds.
struct Replay<'a> {
    engine: &'a Engine,
    players: BTreeMap<u32, Player<'a>>,
    /// The number of the last input.
    last: Option<u64>,
    played: Played,
}

impl<'a> Replay<'a> {
    fn entry(&mut self, place: Place, entry: Entry, seq: Option<u64>) -> Result<(), Stopped> {
        if let Some(seq) = seq {
            let next = self.last.unwrap_or(0) + 1;
            if seq != next {
                let what = format!("{place}: expected input {next}, found input {seq}");
                return Err(Stopped::Wrong(what));
            }
            self.last = Some(seq);
            self.played.inputs += 1;
        }
        self.played.is_complete = matches!(&entry, Entry::End(end) if end.wall.is_none());
        match &entry {
            Entry::Recording(_) => return Err(Stopped::Wrong(format!("{place}: a second header"))),
            Entry::World(named) => {
                self.played.worlds.insert(named.world, named.key);
                return Ok(());
            }
            Entry::End(end) => return self.end(place, end),
            Entry::Removed(removed) => {
                let (key, _) = self.player(place, removed.world)?;
                self.players.remove(&removed.world);
                self.engine.close_recorded(key);
                return Ok(());
            }
            Entry::Input(input) => self.played.wall = input.wall.or(self.played.wall),
            Entry::Clock(clock) => self.played.wall = Some(clock.wall),
            _ => {}
        }
        let Some(world) = world_of(&entry) else { return Ok(()) };
        let last = self.last.unwrap_or(0);
        let due = Due::of(self.engine, place, entry);
        let (_, player) = self.player(place, world)?;
        step(player, due, last)?.map_or(Ok(()), Executed::compare)
    }

    fn player(&mut self, place: Place, world: u32) -> Result<(KeyHash, &Player<'a>), Stopped> {
        let known = self.played.worlds.get(&world).copied();
        let key = known.ok_or_else(|| {
            Stopped::Wrong(format!("{place}: world {world} was not introduced before"))
        })?;
        if !self.players.contains_key(&world) {
            let player = Player::among(self.engine, key).map_err(|error| refused(place, &error))?;
            self.players.insert(world, player);
        }
        Ok((key, &self.players[&world]))
    }

    fn end(&mut self, place: Place, end: &End) -> Result<(), Stopped> {
        self.played.wall = self.played.wall.max(end.wall);
        for end in &end.worlds {
            let seq = self.last.unwrap_or(0);
            self.played.wall = self.played.wall.max(end.wall);
            let (_, player) = self.player(place, end.world)?;
            if let Some(wall) = end.wall {
                player.follow(wall);
            }
            let came =
                player.look(|world| json!({"log": world.log().len(), "digest": world.digest()}));
            let expected = json!({"log": end.log, "digest": end.digest});
            if came != expected {
                let what = "the world at the end".to_owned();
                return Err(difference(place, (end.world, seq), what, expected, came));
            }
        }
        Ok(())
    }
}

/// The number of an entry's world.
fn world_of(entry: &Entry) -> Option<u32> {
    match entry {
        Entry::Recording(_) | Entry::World(_) | Entry::End(_) => None,
        Entry::Input(input) => Some(input.world),
        Entry::Clock(clock) => Some(clock.world),
        Entry::Mark(mark) => Some(mark.world),
        Entry::Spent(spent) => Some(spent.world),
        Entry::Endpoints(endpoints) => Some(endpoints.world),
        Entry::Delivered(delivered) => Some(delivered.world),
        Entry::Removed(removed) => Some(removed.world),
    }
}

/// An entry that is ready to be executed.
pub(in crate::io) struct Due {
    place: Place,
    entry: Entry,
    /// The request of an input.
    request: Option<Result<Repeat, String>>,
}

impl Due {
    /// Does the work that needs no world.
    pub(in crate::io) fn of(engine: &Engine, place: Place, entry: Entry) -> Self {
        let request = match &entry {
            Entry::Input(input) => Some(Repeat::of(engine, input)),
            _ => None,
        };
        Self { place, entry, request }
    }
}

/// An entry that was executed. Its result, as far as it is cheap to compare, is the recorded one.
pub(in crate::io) struct Executed {
    place: Place,
    what: What,
}

enum What {
    Input(Box<Input>, Box<Step>),
    Clock(ClockMove, Box<Step>),
    /// The number of the last input, and the world after it.
    Mark(Mark, u64, Box<World>),
}

impl Executed {
    /// Makes the slow comparison: the hash of all events that the entry caused, or the digest of its world. Any
    /// thread can run it.
    pub(in crate::io) fn compare(self) -> Result<(), Stopped> {
        let Self { place, what } = self;
        match what {
            What::Input(input, step) => {
                let is_same = step.after() == input.after;
                if is_same { Ok(()) } else { Err(differs(place, &input, &step)) }
            }
            What::Clock(clock, step) if step.after() == clock.after => Ok(()),
            What::Clock(clock, step) => Err(moved_otherwise(place, &clock, Some(&step))),
            What::Mark(mark, last, world) => {
                let digest = world.digest();
                if digest == mark.digest {
                    return Ok(());
                }
                let what = "the digest after it".to_owned();
                let (expected, came) = (json!(mark.digest), json!(digest));
                Err(difference(place, (mark.world, last), what, expected, came))
            }
        }
    }
}

/// Executes one entry of a world. `last` is the number of the last input. Returns the pending comparison.
pub(in crate::io) fn step(
    player: &Player<'_>,
    Due { place, entry, request }: Due,
    last: u64,
) -> Result<Option<Executed>, Stopped> {
    let what = match entry {
        // Earlier versions recorded reads of the control plane, which change nothing.
        Entry::Input(one) if one.method == "GET" => return Ok(None),
        Entry::Input(one) => {
            let request = request.expect("an input has a request");
            let request = request.map_err(|why| Stopped::Wrong(format!("{place}: {why}")))?;
            let step = input(player, place, &one, request)?;
            What::Input(one, step)
        }
        Entry::Clock(moved) => {
            let step = clock(player, place, &moved)?;
            What::Clock(moved, step)
        }
        Entry::Mark(mark) => What::Mark(mark, last, Box::new(player.look(World::clone))),
        Entry::Spent(spent) => {
            player.spent(&spent.rows);
            return Ok(None);
        }
        Entry::Endpoints(endpoints) => {
            let set = player.endpoints(&endpoints.kept);
            return set.map(|()| None).map_err(|why| Stopped::Wrong(format!("{place}: {why}")));
        }
        Entry::Recording(_)
        | Entry::World(_)
        | Entry::Delivered(_)
        | Entry::Removed(_)
        | Entry::End(_) => return Ok(None),
    };
    Ok(Some(Executed { place, what }))
}

/// Executes a request, and compares its reply and the length of the log.
fn input(
    player: &Player<'_>,
    place: Place,
    input: &Input,
    request: Repeat,
) -> Result<Box<Step>, Stopped> {
    let before = player.look(World::now);
    let outcome = player.input(input.wall, request);
    let Some(step) = outcome.step else {
        let came = json!({"at": before, "reply": outcome.refusal, "after": "nothing was changed"});
        return Err(differs_from(place, input, came));
    };
    if step.reply().as_ref() == Some(&input.reply) && step.is_at(&input.after) {
        Ok(Box::new(step))
    } else {
        Err(differs(place, input, &step))
    }
}

fn differs(place: Place, input: &Input, step: &Step) -> Stopped {
    let came = json!({"at": step.at, "reply": step.reply(), "after": step.after()});
    differs_from(place, input, came)
}

fn differs_from(place: Place, input: &Input, mut came: Value) -> Stopped {
    let mut expected = json!({"at": input.at, "reply": input.reply, "after": input.after});
    leave_out_equals(&mut expected, &mut came);
    let text = format!("{} {}", input.method, input.path);
    difference(place, (input.world, input.seq), text, expected, came)
}

/// Moves the clock, and compares the length of the log.
fn clock(player: &Player<'_>, place: Place, clock: &ClockMove) -> Result<Box<Step>, Stopped> {
    let moved = player.clock(clock).map_err(|error| refused(place, &error))?;
    match moved {
        Some(step) if step.is_at(&clock.after) => Ok(Box::new(step)),
        moved => Err(moved_otherwise(place, clock, moved.as_ref())),
    }
}

fn moved_otherwise(place: Place, clock: &ClockMove, step: Option<&Step>) -> Stopped {
    let what = format!("the wall clock moves the world to {}", clock.wall);
    let (mut expected, mut came) = (json!(clock.after), json!(step.map(Step::after)));
    leave_out_equals(&mut expected, &mut came);
    difference(place, (clock.world, clock.seq), what, expected, came)
}

fn difference(
    place: Place,
    (world, seq): (u32, u64),
    input: String,
    expected: Value,
    came: Value,
) -> Stopped {
    let place = place.to_string();
    Stopped::Differs(Box::new(Difference { seq, place, world, input, expected, came }))
}

fn refused(place: Place, error: &ApiError) -> Stopped {
    Stopped::Wrong(format!("{place}: {}", error.detail))
}

/// Keeps only the members that differ.
fn leave_out_equals(one: &mut Value, other: &mut Value) {
    let (Value::Object(one), Value::Object(other)) = (one, other) else { return };
    let equal: Vec<String> = one
        .iter()
        .filter(|(name, value)| other.get(*name) == Some(value))
        .map(|(name, _)| name.clone())
        .collect();
    for name in equal {
        one.remove(&name);
        other.remove(&name);
    }
    for (name, value) in one.iter_mut() {
        if let Some(other) = other.get_mut(name) {
            leave_out_equals(value, other);
        }
    }
}

//! Replays recorded inputs, and compares every step with the recorded result.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::recording::{ClockMove, End, EndOf, Entry, Input, KeyHash, Mark, Step};
use crate::engine::{Engine, Player};
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
        let (_, player) = self.player(place, world)?;
        step(player, place, &entry, last)
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

/// Replays one entry of a world. `last` is the number of the last input.
pub(in crate::io) fn step(
    player: &Player<'_>,
    place: Place,
    entry: &Entry,
    last: u64,
) -> Result<(), Stopped> {
    match entry {
        // Earlier versions recorded reads of the control plane, which change nothing.
        Entry::Input(one) if one.method == "GET" => Ok(()),
        Entry::Input(one) => input(player, place, one),
        Entry::Clock(moved) => clock(player, place, moved),
        Entry::Mark(mark) => digest(player, place, mark, last),
        Entry::Spent(spent) => {
            player.spent(&spent.rows);
            Ok(())
        }
        Entry::Endpoints(endpoints) => {
            let set = player.endpoints(&endpoints.kept);
            set.map_err(|why| Stopped::Wrong(format!("{place}: {why}")))
        }
        Entry::Recording(_)
        | Entry::World(_)
        | Entry::Delivered(_)
        | Entry::Removed(_)
        | Entry::End(_) => Ok(()),
    }
}

fn input(player: &Player<'_>, place: Place, input: &Input) -> Result<(), Stopped> {
    let before = player.look(World::now);
    let outcome = player.input(input);
    let outcome = outcome.map_err(|why| Stopped::Wrong(format!("{place}: {why}")))?;
    let came = outcome.step.as_ref().map(|step| (step.reply(), step.after()));
    if let Some((Some(reply), after)) = &came
        && *reply == input.reply
        && *after == input.after
    {
        return Ok(());
    }
    let mut expected = json!({"at": input.at, "reply": input.reply, "after": input.after});
    let mut came = came.map_or_else(
        || json!({"reply": outcome.refusal, "after": "nothing was changed"}),
        |(reply, after)| json!({"reply": reply, "after": after}),
    );
    came["at"] = json!(outcome.step.map_or(before, |step| step.at));
    leave_out_equals(&mut expected, &mut came);
    let text = format!("{} {}", input.method, input.path);
    Err(difference(place, (input.world, input.seq), text, expected, came))
}

fn clock(player: &Player<'_>, place: Place, clock: &ClockMove) -> Result<(), Stopped> {
    let moved = player.clock(clock).map_err(|error| refused(place, &error))?;
    let came = moved.as_ref().map(Step::after);
    if came.as_ref() == Some(&clock.after) {
        return Ok(());
    }
    let what = format!("the wall clock moves the world to {}", clock.wall);
    let (mut expected, mut came) = (json!(clock.after), json!(came));
    leave_out_equals(&mut expected, &mut came);
    Err(difference(place, (clock.world, clock.seq), what, expected, came))
}

fn digest(player: &Player<'_>, place: Place, mark: &Mark, last: u64) -> Result<(), Stopped> {
    let digest = player.look(World::digest);
    if digest == mark.digest {
        return Ok(());
    }
    let what = "the digest after it".to_owned();
    Err(difference(place, (mark.world, last), what, json!(mark.digest), json!(digest)))
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

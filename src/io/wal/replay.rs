//! Replays recorded inputs, and compares every step with the recorded result.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::engine::recording::{ClockMove, End, EndOf, Entry, Input, KeyHash, Mark, Step};
use crate::io::wal::log::Log;
use crate::io::wal::text::{Place, Placed};
use crate::value::{ApiError, Timestamp};
use crate::world::World;

/// The progress of a replay.
#[derive(Debug, Default)]
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

/// Replays entries in order, up to the input with this number.
pub(crate) fn play(
    engine: &Engine,
    log: &Log,
    entries: impl IntoIterator<Item = Result<Placed, String>>,
    until: Option<u64>,
) -> Result<Played, Stopped> {
    let mut player = Player { engine, log, played: Played::default() };
    for entry in entries {
        let Placed { place, entry } = entry.map_err(Stopped::Wrong)?;
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
        player.entry(place, entry, seq)?;
    }
    Ok(player.played)
}

impl Played {
    /// The number of worlds in the recording.
    pub(crate) fn worlds(&self) -> usize {
        self.worlds.len()
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

struct Player<'a> {
    engine: &'a Engine,
    log: &'a Log,
    played: Played,
}

impl Player<'_> {
    fn entry(&mut self, place: Place, entry: Entry, seq: Option<u64>) -> Result<(), Stopped> {
        if let Some(seq) = seq {
            let next = self.played.inputs + 1;
            if seq != next {
                let what = format!("{place}: expected input {next}, found input {seq}");
                return Err(Stopped::Wrong(what));
            }
        }
        self.played.is_complete = matches!(entry, Entry::End(_));
        match entry {
            Entry::Recording(_) => Err(Stopped::Wrong(format!("{place}: a second header"))),
            Entry::World(named) => {
                self.log.knows(named);
                self.played.worlds.insert(named.world, named.key);
                Ok(())
            }
            Entry::Input(input) => self.input(place, &input),
            Entry::Clock(clock) => self.clock(place, &clock),
            Entry::Mark(mark) => self.mark(place, &mark),
            Entry::End(end) => self.end(place, &end),
        }
    }

    fn world(&self, place: Place, world: u32) -> Result<KeyHash, Stopped> {
        let known = self.played.worlds.get(&world).copied();
        known.ok_or_else(|| {
            Stopped::Wrong(format!("{place}: world {world} was not introduced before"))
        })
    }

    fn input(&mut self, place: Place, input: &Input) -> Result<(), Stopped> {
        let world = self.world(place, input.world)?;
        let before = self.engine.played(world, World::now);
        let reply = self.engine.play(input, world);
        let reply = reply.map_err(|why| Stopped::Wrong(format!("{place}: {why}")))?;
        let step = self.log.take();
        let came = step.as_ref().map(|step| (step.reply(), step.after()));
        self.played.inputs = input.seq;
        self.played.wall = input.wall.or(self.played.wall);
        self.log.played(world, input.seq);
        let expected = (Some(input.reply.clone()), input.after.clone());
        if came.as_ref() == Some(&expected) {
            return Ok(());
        }
        let mut expected = json!({"at": input.at, "reply": input.reply, "after": input.after});
        let mut came = came.map_or_else(
            || {
                let body: Value = serde_json::from_slice(reply.body()).unwrap_or_default();
                let status = reply.status().as_u16();
                json!({"reply": {"status": status, "detail": body["detail"]}, "after": "nothing was changed"})
            },
            |(reply, after)| json!({"reply": reply, "after": after}),
        );
        let at = step.map(|step| step.at).or(before.ok());
        came["at"] = json!(at);
        leave_out_equals(&mut expected, &mut came);
        let input_text = format!("{} {}", input.method, input.path);
        Err(self.difference(place, input.world, input_text, expected, came))
    }

    fn clock(&mut self, place: Place, clock: &ClockMove) -> Result<(), Stopped> {
        let world = self.world(place, clock.world)?;
        let followed = self.engine.play_clock(clock, world);
        followed.map_err(|error| refused(place, &error))?;
        let came = self.log.take().as_ref().map(Step::after);
        self.played.inputs = clock.seq;
        self.played.wall = Some(clock.wall);
        self.log.played(world, clock.seq);
        if came.as_ref() == Some(&clock.after) {
            return Ok(());
        }
        let what = format!("the wall clock moves the world to {}", clock.wall);
        let (mut expected, mut came) = (json!(clock.after), json!(came));
        leave_out_equals(&mut expected, &mut came);
        Err(self.difference(place, clock.world, what, expected, came))
    }

    fn mark(&mut self, place: Place, mark: &Mark) -> Result<(), Stopped> {
        let world = self.world(place, mark.world)?;
        let digest = self.engine.played(world, World::digest);
        let digest = digest.map_err(|error| refused(place, &error))?;
        if digest == mark.digest {
            return Ok(());
        }
        let what = "the digest after it".to_owned();
        Err(self.difference(place, mark.world, what, json!(mark.digest), json!(digest)))
    }

    fn end(&mut self, place: Place, end: &End) -> Result<(), Stopped> {
        for end in &end.worlds {
            let key = self.world(place, end.world)?;
            if let Some(wall) = end.wall {
                let followed = self.engine.play_end(wall, key);
                followed.map_err(|error| refused(place, &error))?;
                self.log.take();
                self.played.wall = self.played.wall.max(Some(wall));
            }
            let state = self
                .engine
                .played(key, |world| json!({"log": world.log().len(), "digest": world.digest()}));
            let came = state.map_err(|error| refused(place, &error))?;
            let expected = json!({"log": end.log, "digest": end.digest});
            if came != expected {
                let what = "the world at the end".to_owned();
                return Err(self.difference(place, end.world, what, expected, came));
            }
        }
        Ok(())
    }

    fn difference(
        &self,
        place: Place,
        world: u32,
        input: String,
        expected: Value,
        came: Value,
    ) -> Stopped {
        Stopped::Differs(Box::new(Difference {
            seq: self.played.inputs,
            place: place.to_string(),
            world,
            input,
            expected,
            came,
        }))
    }
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

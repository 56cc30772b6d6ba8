//! The positions of each world's inputs in a write-ahead log.
//!
//! The index is made while the file is read at the start, and grows with each write. A world is replayed from its own
//! frames alone, so the index parses only the beginnings of frames. Deliberately absent: the file, and the meaning of
//! an input.

use std::collections::BTreeMap;

use crate::engine::recording::{Entry, KeptProgress, KeyHash, Progress, ProgressOf};
use crate::io::wal::peek::{Kind, Peek};
use crate::value::Timestamp;

/// The inputs of all worlds in a file.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The places of the worlds in `inside`. An entry of the file names its world by number, so that it needs no search.
    worlds: BTreeMap<KeyHash, usize>,
    inside: Vec<Inside>,
    /// The worlds by their number in the file, from 1.
    numbers: Vec<(KeyHash, usize)>,
    pub(crate) inputs: u64,
    /// The number of worlds with inputs.
    held: u64,
    /// The last instant of the wall clock.
    pub(crate) wall: Option<Timestamp>,
}

/// A world in the file.
#[derive(Clone, Debug, Default)]
struct Inside {
    number: Option<u32>,
    /// The frames of other worlds that lead to the fork with which this world begins.
    before: Vec<Segment>,
    frames: Frames,
    /// The places of those frames that are no inputs.
    notes: Vec<u32>,
    progress: ProgressOf,
    /// Whether it has endpoints that were created by calls.
    has_endpoints: bool,
    /// Whether all its events were delivered.
    is_quiet: bool,
    /// Whether the key was used since the world was deleted.
    is_used: bool,
}

/// The frames of one world in a replay, as offsets in the file. The last frame of all but the last segment is a fork.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) world: KeyHash,
    pub(crate) frames: Frames,
}

/// The frames of a world, as offsets in the file.
#[derive(Clone, Debug)]
pub(crate) enum Frames {
    Own(Vec<u64>),
    /// The offsets of a world that was forked. Its forks share them, and a copy takes constant time. Boxed, because
    /// few worlds are forked.
    Shared(Box<imbl::Vector<u64>>),
}

impl Default for Frames {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Frames {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Own(frames) => frames.len(),
            Self::Shared(frames) => frames.len(),
        }
    }

    /// In the order of the file.
    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = u64> + Send + '_> {
        match self {
            Self::Own(frames) => Box::new(frames.iter().copied()),
            Self::Shared(frames) => Box::new(frames.iter().copied()),
        }
    }

    fn push(&mut self, offset: u64) {
        match self {
            Self::Own(frames) => frames.push(offset),
            Self::Shared(frames) => frames.push_back(offset),
        }
    }

    fn share(&mut self) {
        if let Self::Own(frames) = self {
            *self = Self::Shared(Box::new(frames.iter().copied().collect()));
        }
    }
}

impl Index {
    fn inside(&self, world: KeyHash) -> Option<&Inside> {
        self.inside.get(*self.worlds.get(&world)?)
    }

    /// The place of a world. A new world gets one.
    fn place(&mut self, world: KeyHash) -> usize {
        *self.worlds.entry(world).or_insert_with(|| {
            self.inside.push(Inside::default());
            self.inside.len() - 1
        })
    }

    /// The worlds in the order of their hashes.
    fn sorted(&self) -> impl Iterator<Item = (KeyHash, &Inside)> {
        self.worlds.iter().map(|(world, place)| (*world, &self.inside[*place]))
    }

    /// The number of a world in the file.
    pub(crate) fn number(&self, world: KeyHash) -> Option<u32> {
        self.inside(world)?.number
    }

    /// The number that the next new world gets.
    pub(crate) fn next_number(&self) -> u32 {
        u32::try_from(self.numbers.len() + 1).expect("worlds are fewer than 2^32")
    }

    /// The world of a number.
    pub(crate) fn world(&self, number: u32) -> Option<KeyHash> {
        self.numbered(number).map(|(world, _)| world)
    }

    fn numbered(&self, number: u32) -> Option<(KeyHash, usize)> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.numbers.get(place).copied()
    }

    /// The number of worlds with inputs.
    pub(crate) const fn count(&self) -> u64 {
        self.held
    }

    /// Whether the key was used.
    pub(crate) fn knows(&self, world: KeyHash) -> bool {
        self.inside(world).is_some_and(|inside| inside.is_used)
    }

    /// Whether there are inputs of the world.
    pub(crate) fn holds(&self, world: KeyHash) -> bool {
        self.inside(world).is_some_and(Inside::is_held)
    }

    /// Everything that leads to a world, in order.
    pub(crate) fn segments(&self, world: KeyHash) -> Vec<Segment> {
        let Some(inside) = self.inside(world) else { return Vec::new() };
        let own = Segment { world, frames: inside.frames.clone() };
        inside.before.iter().cloned().chain([own]).collect()
    }

    /// The number of frames of a world up to its input of this number, from 1; none if it has fewer inputs.
    pub(crate) fn frames_to_input(&self, world: KeyHash, input: u64) -> Option<usize> {
        let inside = self.inside(world)?;
        let mut place = usize::try_from(input.checked_sub(1)?).ok()?;
        for note in &inside.notes {
            place += usize::from(usize::try_from(*note).ok()? <= place);
        }
        (place < inside.frames.len()).then_some(place + 1)
    }

    /// The progress of a world's endpoints: their ended deliveries.
    pub(crate) fn progress(&self, world: KeyHash) -> ProgressOf {
        self.inside(world).map(|inside| inside.progress.clone()).unwrap_or_default()
    }

    /// The progress of a world's endpoints, as entries.
    pub(crate) fn progress_entries(&self, world: KeyHash) -> Vec<KeptProgress> {
        let Some(inside) = self.inside(world) else { return Vec::new() };
        let entry = |(endpoint, progress): (&String, &Progress)| KeptProgress {
            endpoint: endpoint.clone(),
            progress: progress.clone(),
            quiet: inside.is_quiet,
        };
        inside.progress.iter().map(entry).collect()
    }

    /// The worlds whose webhooks may not all have been sent. `every` says that all worlds have endpoints, `is_real` that the wall clock runs
    /// their timers.
    pub(crate) fn owing(&self, every: bool, is_real: bool) -> Vec<KeyHash> {
        let owes = |inside: &Inside| {
            inside.is_held() && (is_real || !inside.is_quiet) && (every || inside.has_endpoints)
        };
        self.sorted().filter(|(_, inside)| owes(inside)).map(|(world, _)| world).collect()
    }

    /// The worlds whose keys were used, without inputs.
    pub(crate) fn only_used(&self) -> impl Iterator<Item = KeyHash> {
        let used = self.sorted().filter(|(_, inside)| inside.is_used && !inside.is_held());
        used.map(|(world, _)| world)
    }

    /// All worlds with inputs: hash, inputs, and whether it is a fork.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (KeyHash, usize, bool)> {
        let held = self.sorted().filter(|(_, inside)| inside.is_held());
        held.map(|(world, inside)| (world, inside.frames.len(), !inside.before.is_empty()))
    }

    /// Adds the frame at an offset.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn add(&mut self, offset: u64, payload: &[u8]) -> Result<(), String> {
        let wrong = |error: serde_json::Error| format!("this is not an entry: {error}");
        let (kind, seq, world) = match Peek::of(payload) {
            Some(peek) => {
                self.wall = peek.wall.or(self.wall);
                (peek.kind, peek.seq, peek.world)
            }
            None => match serde_json::from_slice(payload).map_err(wrong)? {
                Entry::World(named) => {
                    let next = self.next_number();
                    if named.world != next {
                        return Err(format!("expected world {next}, found world {}", named.world));
                    }
                    let place = self.place(named.key);
                    self.numbers.push((named.key, place));
                    let inside = &mut self.inside[place];
                    (inside.number, inside.is_used) = (Some(named.world), true);
                    return Ok(());
                }
                Entry::End(end) => {
                    let walls = end.worlds.iter().filter_map(|end| end.wall).max();
                    self.wall = self.wall.max(walls).max(end.wall);
                    return Ok(());
                }
                Entry::Recording(_) => return Err("a second header".to_owned()),
                Entry::Input(input) => (Kind::of_path(&input.path), Some(input.seq), input.world),
                Entry::Clock(clock) => (Kind::Input, Some(clock.seq), clock.world),
                Entry::Mark(mark) => (Kind::Other, None, mark.world),
                Entry::Spent(spent) if spent.rows.is_empty() => (Kind::Used, None, spent.world),
                Entry::Spent(spent) => (Kind::Note, None, spent.world),
                Entry::Endpoints(endpoints) => (Kind::Endpoints, None, endpoints.world),
                Entry::Delivered(delivered) => (Kind::Delivered, None, delivered.world),
                Entry::Removed(removed) => (Kind::Removed, None, removed.world),
            },
        };
        let Some((world, place)) = self.numbered(world) else {
            return Err(format!("world {world} was not introduced before"));
        };
        if let Some(seq) = seq {
            let next = self.inputs + 1;
            if seq != next {
                return Err(format!("expected input {next}, found input {seq}"));
            }
            self.inputs = seq;
        }
        let inside = &mut self.inside[place];
        let before = inside.is_held();
        inside.add(offset, kind);
        self.held += u64::from(inside.is_held());
        self.held -= u64::from(before);
        match kind {
            Kind::Fork => self.fork(world, payload).map_err(wrong),
            Kind::Delivered => inside.delivered(payload).map_err(wrong),
            Kind::Endpoints => inside.endpoints(payload).map_err(wrong),
            _ => Ok(()),
        }
    }

    fn fork(&mut self, from: KeyHash, payload: &[u8]) -> Result<(), serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Body {
            key: String,
            endpoints: Option<bool>,
        }
        let Entry::Input(input) = serde_json::from_slice(payload)? else { return Ok(()) };
        let Some(body) = &input.body else { return Ok(()) };
        let body: Body = serde_json::from_str(body.get())?;
        let Some(to) = KeyHash::recorded(&body.key) else { return Ok(()) };
        let source = self.place(from);
        self.inside[source].frames.share();
        let before = self.segments(from);
        let has_endpoints = body.endpoints == Some(true) && self.inside[source].has_endpoints;
        let place = self.place(to);
        let inside = &mut self.inside[place];
        self.held += u64::from(!inside.is_held());
        let number = inside.number;
        *inside = Inside { number, before, is_used: true, has_endpoints, ..Inside::default() };
        Ok(())
    }
}

impl Inside {
    fn is_held(&self) -> bool {
        !self.before.is_empty() || self.frames.len() > 0
    }

    fn add(&mut self, offset: u64, kind: Kind) {
        self.is_used = true;
        match kind {
            Kind::Input | Kind::Fork => self.is_quiet = false,
            Kind::Note | Kind::Endpoints => self.notes.extend(u32::try_from(self.frames.len())),
            Kind::Used | Kind::Delivered | Kind::Other => return,
            Kind::Removed => {
                *self = Self { number: self.number, ..Self::default() };
                return;
            }
        }
        self.frames.push(offset);
    }

    fn endpoints(&mut self, payload: &[u8]) -> Result<(), serde_json::Error> {
        let Entry::Endpoints(endpoints) = serde_json::from_slice(payload)? else { return Ok(()) };
        self.has_endpoints = !endpoints.kept.is_empty();
        Ok(())
    }

    fn delivered(&mut self, payload: &[u8]) -> Result<(), serde_json::Error> {
        let Entry::Delivered(delivered) = serde_json::from_slice(payload)? else { return Ok(()) };
        let kept = delivered.progress;
        self.progress.insert(kept.endpoint, kept.progress);
        self.is_quiet = kept.quiet;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const WORLD: KeyHash = KeyHash::EMPTY;

    /// An index of a world with these entries.
    fn index(entries: &[Value]) -> Index {
        let mut index = Index::default();
        let named = json!({"world": {"world": 1, "key": WORLD}});
        for (offset, entry) in (0..).zip([&named].into_iter().chain(entries)) {
            index.add(offset, entry.to_string().as_bytes()).expect("an entry");
        }
        index
    }

    fn input(seq: u64) -> Value {
        let after = json!({"now": "2026-01-01T00:00:00Z", "version": seq, "log": seq, "check": ""});
        json!({"clock": {"seq": seq, "world": 1, "wall": "2026-01-01T00:00:00Z", "after": after}})
    }

    #[test]
    fn a_world_is_owing_while_its_endpoints_may_lack_an_event() {
        let endpoint = json!({"id": "whe_1", "url": "http://127.0.0.1/", "ordered": true, "secret": "", "rotations": 0, "created_at": "2026-01-01T00:00:00Z"});
        let endpoints =
            |list: &[&Value]| json!({"endpoints": {"world": 1, "made": 1, "endpoints": list}});
        let quiet = json!({"delivered": {"world": 1, "endpoint": "whe_1", "turn": 0, "through": 1, "quiet": true}});
        let (some, none) = (endpoints(&[&endpoint]), endpoints(&[]));
        for (entries, owes, owes_real) in [
            (vec![input(1)], false, false),
            (vec![some.clone(), input(1)], true, true),
            (vec![some.clone(), input(1), quiet.clone()], false, true),
            (vec![some.clone(), input(1), quiet, input(2)], true, true),
            (vec![some, input(1), none], false, false),
        ] {
            let index = index(&entries);
            let owing = |is_real| index.owing(false, is_real) == [WORLD];
            assert_eq!((owing(false), owing(true)), (owes, owes_real), "{entries:?}");
        }
    }

    #[test]
    fn notes_are_not_counted_as_inputs() {
        let note = json!({"spent": {"world": 1, "rows": [{"id": "flt_1", "asked": 1, "hits": 1}]}});
        let index = index(&[note.clone(), input(1), note.clone(), note, input(2), input(3)]);
        let frames = |input| index.frames_to_input(WORLD, input);
        assert_eq!([0, 1, 2, 3, 4].map(frames), [None, Some(2), Some(5), Some(6), None]);
    }

    #[test]
    fn the_use_of_a_key_is_no_input() {
        let used = json!({"spent": {"world": 1, "rows": []}});
        let removed = json!({"removed": {"world": 1}});
        let index = index(&[input(1), removed, used]);
        assert!(index.knows(WORLD) && !index.holds(WORLD));
        assert_eq!(index.only_used().collect::<Vec<_>>(), [WORLD]);
    }
}

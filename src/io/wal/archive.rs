//! Reads a world from the write-ahead log: replays its inputs, and those of the worlds that it was forked from.

use std::io::{self, ErrorKind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::engine::checkpoint::{Checkpoint, LEAST, Position};
use crate::engine::recording::{Entry, KeyHash, ProgressOf};
use crate::engine::{Archive, Engine, Player, Restored, Unrestored};
use crate::io::wal::checkpoint::Unfilled;
use crate::io::wal::file::entry;
use crate::io::wal::frame::Picker;
use crate::io::wal::index::{Frames, Segment};
use crate::io::wal::log::Log;
use crate::io::wal::pipeline;
use crate::io::wal::text::Place;

/// The interval of the progress reports of a long replay.
const REPORT: Duration = Duration::from_secs(1);

/// The progress of one replay, which is also counted for the health of the process.
struct Count<'a> {
    log: &'a Log,
    inputs: u64,
    done: u64,
    reported: Instant,
}

impl<'a> Count<'a> {
    fn start(log: &'a Log, segments: &[Segment]) -> Self {
        let inputs = segments.iter().map(|segment| segment.frames.len() as u64).sum();
        log.to_replay.fetch_add(inputs, Ordering::Relaxed);
        Self { log, inputs, done: 0, reported: Instant::now() }
    }

    fn one(&mut self) {
        self.done += 1;
        self.log.replayed.fetch_add(1, Ordering::Relaxed);
        if self.done.is_multiple_of(1_024) && self.reported.elapsed() >= REPORT {
            self.reported = Instant::now();
            tracing::warn!(
                done = self.done,
                of = self.inputs,
                "the inputs of a world are being replayed"
            );
        }
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.log.to_replay.fetch_sub(self.inputs, Ordering::Relaxed);
        self.log.replayed.fetch_sub(self.done, Ordering::Relaxed);
    }
}

impl Archive for Log {
    fn restore(&self, engine: &Engine, world: KeyHash) -> Result<Restored, Unrestored> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let (segments, progress) = (index.segments(world), index.progress(world));
        drop(index);
        if let Some(restored) = self.continue_from_checkpoint(engine, &segments, &progress)? {
            return Ok(restored);
        }
        let inputs = segments.last().map_or(0, |own| own.frames.len() as u64);
        let player = self.replay(engine, segments, &progress)?;
        if inputs >= LEAST {
            self.checkpoints.note_long(world, None);
        }
        Ok(player.restored())
    }

    fn long_worlds(&self) -> Vec<(KeyHash, u64)> {
        self.checkpoints.long()
    }

    fn store_checkpoint(&self, checkpoint: Checkpoint) {
        self.write_checkpoint(checkpoint);
    }

    fn fill_gaps(&self, engine: &Engine) {
        for Unfilled { world, segments, progress, gap } in self.checkpoints.take_unfilled() {
            let filled = self.replay(engine, segments, &progress).and_then(|player| {
                let differs = |digest| format!("the replayed world has the digest {digest}");
                player.fill(&gap).map_err(differs).map_err(Unrestored::Differs)
            });
            if let Err(why) = filled
                && !engine.is_ending()
            {
                tracing::error!(?why, "a checkpoint is not of its inputs, and is removed");
                self.checkpoints.remove(world);
                gap.refuse_world();
            }
        }
    }

    fn owing(&self, every: bool, is_real: bool) -> Vec<KeyHash> {
        self.index.read().unwrap_or_else(PoisonError::into_inner).owing(every, is_real)
    }
}

impl Log {
    /// The world from its checkpoint and the inputs after it; none if it must be replayed.
    fn continue_from_checkpoint(
        &self,
        engine: &Engine,
        segments: &[Segment],
        progress: &ProgressOf,
    ) -> Result<Option<Restored>, Unrestored> {
        let Some((own, before)) = segments.split_last() else { return Ok(None) };
        let world = own.world;
        let Some((footer, parts)) = self.read_checkpoint(world) else { return Ok(None) };
        let position = footer.position;
        let Some(covered) = self.frames_to(own, position) else { return Ok(None) };
        if self.history(segments, covered).ok() != Some(footer.history) {
            return Ok(None);
        }
        let (player, gap) = match Player::after(engine, world, position, parts) {
            Ok(after) => after,
            Err(why) => {
                tracing::warn!(why, "a checkpoint cannot be used: its world is replayed");
                return Ok(None);
            }
        };
        player.expect(progress.clone());
        let parted = |frames: &mut dyn Iterator<Item = u64>| Segment {
            world,
            frames: Frames::Own(frames.collect()),
        };
        let later = parted(&mut own.frames.iter().skip(covered));
        match self.play(
            engine,
            &player,
            &later,
            &mut Count::start(self, std::slice::from_ref(&later)),
        ) {
            Ok(()) => {}
            Err(Unrestored::Differs(_)) => return Ok(None), // a replay from the start will report the difference
            Err(error) => return Err(error),
        }
        let earlier = parted(&mut own.frames.iter().take(covered));
        let segments = before.iter().cloned().chain([earlier]).collect();
        let progress = progress.clone();
        gap.announce();
        self.checkpoints.note_long(world, Some(position.inputs));
        self.checkpoints.leave_unfilled(Unfilled { world, segments, progress, gap });
        Ok(Some(player.restored()))
    }

    /// The number of frames of a world up to a position, if its input there led to the same state.
    fn frames_to(&self, own: &Segment, position: Position) -> Option<usize> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let covered = index.frames_to_input(own.world, position.inputs)?;
        drop(index);
        let offset = own.frames.iter().nth(covered - 1)?;
        let mut frames = Picker::new(self.reader().ok()?);
        let after = match entry(offset, frames.payload(offset).ok()?).ok()? {
            Entry::Input(input) => input.after,
            Entry::Clock(clock) => clock.after,
            _ => return None,
        };
        let Position { inputs: _, now, version, log } = position;
        // The wall clock moves a world also without an input.
        (after.now <= now && (after.version, after.log) == (version, log)).then_some(covered)
    }

    /// The history of a world up to a position; none if it has fewer inputs.
    pub(super) fn history_to(&self, world: KeyHash, position: Position) -> Option<u32> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        let covered = index.frames_to_input(world, position.inputs)?;
        let segments = index.segments(world);
        drop(index);
        self.history(&segments, covered).ok()
    }

    /// A checksum of all frames that lead to a world with `covered` own frames. It covers the contents and the
    /// offsets of the frames; an offset is reused only if the log is cut.
    fn history(&self, segments: &[Segment], covered: usize) -> io::Result<u32> {
        let mut frames = Picker::new(self.reader()?);
        let mut history = crc32fast::Hasher::new();
        let (own, before) = segments.split_last().ok_or(ErrorKind::NotFound)?;
        let before = before.iter().flat_map(|segment| segment.frames.iter());
        for offset in before.chain(own.frames.iter().take(covered)) {
            history.update(&offset.to_le_bytes());
            history.update(frames.payload(offset)?);
        }
        Ok(history.finalize())
    }

    /// Replays all inputs that lead to a world.
    fn replay<'a>(
        &self,
        engine: &'a Engine,
        segments: Vec<Segment>,
        progress: &ProgressOf,
    ) -> Result<Player<'a>, Unrestored> {
        let mut count = Count::start(self, &segments);
        let (mut forked, mut last) = (None, segments.len());
        for segment in segments {
            last -= 1;
            let player = Player::alone(engine, segment.world, forked.take());
            if last == 0 {
                player.expect(progress.clone());
            }
            self.play(engine, &player, &segment, &mut count)?;
            if last == 0 {
                return Ok(player);
            }
            forked = player.take_fork();
            if forked.is_none() {
                let what = format!("world {} was not forked again", segment.world);
                return Err(Unrestored::Differs(what));
            }
        }
        Err(unreadable(ErrorKind::NotFound.into()))
    }

    /// Replays inputs of one world.
    fn play(
        &self,
        engine: &Engine,
        player: &Player<'_>,
        segment: &Segment,
        count: &mut Count<'_>,
    ) -> Result<(), Unrestored> {
        let mut frames = Picker::new(self.reader().map_err(unreadable)?);
        let number = segment.frames.len() as u64;
        let entries = segment.frames.iter().map(|offset| {
            let payload = frames.payload(offset).map_err(unreadable)?;
            let entry = entry(offset, payload).map_err(Unrestored::Differs)?;
            Ok((Place::Byte(offset), entry))
        });
        pipeline::play((engine, player), entries, number, || {
            count.one();
            let ends = || unreadable(io::Error::other("the process ends"));
            if engine.is_ending() { Err(ends()) } else { Ok(()) }
        })
    }
}

fn unreadable(error: io::Error) -> Unrestored {
    Unrestored::Unreadable(error.to_string())
}

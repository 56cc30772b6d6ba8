//! Reads a world from the write-ahead log: replays its inputs, and those of the worlds that it was forked from.

use std::io::{self, ErrorKind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::engine::recording::KeyHash;
use crate::engine::{Archive, Engine, Player, Restored, Unrestored};
use crate::io::wal::file::entry;
use crate::io::wal::frame::Picker;
use crate::io::wal::index::Segment;
use crate::io::wal::log::Log;
use crate::io::wal::pipeline;
use crate::io::wal::text::Place;

/// How often a long replay reports its progress.
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
            tracing::warn!(done = self.done, of = self.inputs, "a world is being replayed");
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
        let unreadable = |error: io::Error| Unrestored::Unreadable(error.to_string());
        let mut frames = Picker::new(self.reader().map_err(unreadable)?);
        let mut count = Count::start(self, &segments);
        let (mut forked, mut last) = (None, segments.len());
        for segment in segments {
            last -= 1;
            let player = Player::alone(engine, segment.world, forked.take());
            if last == 0 {
                player.expect(progress.clone());
            }
            let number = segment.frames.len() as u64;
            let entries = segment.frames.iter().map(|offset| {
                let payload = frames.payload(offset).map_err(unreadable)?;
                let entry = entry(offset, payload).map_err(Unrestored::Differs)?;
                Ok((Place::Byte(offset), entry))
            });
            pipeline::play((engine, &player), entries, number, || {
                count.one();
                let ends = || unreadable(io::Error::other("the process ends"));
                if engine.is_ending() { Err(ends()) } else { Ok(()) }
            })?;
            if last == 0 {
                return Ok(player.restored());
            }
            forked = player.take_fork();
            if forked.is_none() {
                let what = format!("world {world} was not forked again");
                return Err(Unrestored::Differs(what));
            }
        }
        Err(unreadable(ErrorKind::NotFound.into()))
    }

    fn owing(&self, every: bool, is_real: bool) -> Vec<KeyHash> {
        self.index.read().unwrap_or_else(PoisonError::into_inner).owing(every, is_real)
    }
}

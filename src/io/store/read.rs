//! Reads a world from the store: replays its entries, and those of the worlds that it was forked from.

use std::sync::atomic::Ordering;

use crate::engine::recording::KeyHash;
use crate::engine::{Archive, Engine, Player, Restored, Unrestored};
use crate::io::store::claims::{Held, Segment};
use crate::io::store::connection::Fault;
use crate::io::store::log::SharedLog;
use crate::io::wal::file::entry;
use crate::io::wal::pipeline::{self, Read};
use crate::io::wal::text::Place;

const PAGE: &str = "select seq, frames from sandbox_log where world = $1 and seq >= $2 and seq <= $3 order by seq limit 500";
/// The worlds without a running process that can have pending webhooks, after a given world.
const OWING: &str = "select w.id from sandbox_world w where w.id > $1 and w.endpoints and not w.quiet and (w.owner is null or not exists \
    (select from sandbox_node n where n.id = w.owner and n.lease_until >= clock_timestamp())) order by w.id limit 100";
const OWING_MORE: &str = "select w.id from sandbox_world w where w.id > $1 and (w.inputs > 0 or w.forked) and ($2 or w.endpoints) \
    and ($3 or not w.quiet) \
    and (w.owner is null or not exists \
    (select from sandbox_node n where n.id = w.owner and n.lease_until >= clock_timestamp())) order by w.id limit 100";
/// Maximum number of worlds of one look-up. The next one continues after the last of them, so that worlds that cannot
/// be replayed do not block others.
const MOST: usize = 100;

/// Counts the entries of one replay for the health of the process.
struct Count<'a> {
    log: &'a SharedLog,
    entries: u64,
    done: u64,
}

impl<'a> Count<'a> {
    fn start(log: &'a SharedLog, segments: &[Segment]) -> Self {
        let entries = segments.iter().map(|part| (part.last + 1 - part.first).unsigned_abs()).sum();
        log.counts.to_replay.fetch_add(entries, Ordering::Relaxed);
        Self { log, entries, done: 0 }
    }

    fn one(&mut self) {
        self.done += 1;
        self.log.counts.replayed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.log.counts.to_replay.fetch_sub(self.entries, Ordering::Relaxed);
        self.log.counts.replayed.fetch_sub(self.done, Ordering::Relaxed);
    }
}

impl SharedLog {
    fn held_now(&self, world: KeyHash) -> Result<Held, Unrestored> {
        let state = self.state();
        let claim = state.claims.by_world.get(&world).filter(|claim| !claim.is_leaving);
        claim.map(|claim| claim.held.clone()).ok_or(Unrestored::Moved)
    }

    /// The rows of a part of the log, from an entry on: the number of the first entry of each, and its entries.
    fn page(&self, part: &Segment, from: i64) -> Result<Vec<(i64, Vec<u8>)>, Unrestored> {
        let world = part.world.bytes().to_vec();
        let rows =
            self.pool.with(|connection| connection.query(PAGE, &[&world, &from, &part.last]));
        let rows = rows.map_err(unreadable)?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }
}

/// The entries of a part of the log, which are read page after page.
struct Entries<'a> {
    log: &'a SharedLog,
    part: &'a Segment,
    /// The number of the next entry.
    next: i64,
    page: std::vec::IntoIter<(i64, Read)>,
}

impl<'a> Entries<'a> {
    fn of(log: &'a SharedLog, part: &'a Segment) -> Self {
        Self { log, part, next: part.first, page: Vec::new().into_iter() }
    }

    /// Reads the next page.
    fn turn(&mut self) -> Result<(), Unrestored> {
        let (next, part) = (self.next, self.part);
        let mut page = Vec::new();
        for (seq, frames) in self.log.page(part, next)? {
            let lines = frames.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            for (seq, line) in (seq..=part.last).zip(lines) {
                let entry = entry(seq.unsigned_abs(), line).map_err(Unrestored::Differs);
                page.push((seq, entry.map(|entry| (Place::Entry(seq), entry))));
            }
        }
        if page.first().is_none_or(|(seq, _)| *seq != next) {
            let what = format!("entry {next} of world {} is missing in the log", part.world);
            return Err(Unrestored::Differs(what));
        }
        self.page = page.into_iter();
        Ok(())
    }
}

impl Iterator for Entries<'_> {
    type Item = Read;

    fn next(&mut self) -> Option<Read> {
        if self.page.len() == 0 {
            if self.next > self.part.last {
                return None;
            }
            if let Err(error) = self.turn() {
                self.next = self.part.last + 1;
                return Some(Err(error));
            }
        }
        let (seq, entry) = self.page.next()?;
        self.next = seq + 1;
        Some(entry)
    }
}

impl Archive for SharedLog {
    fn restore(&self, engine: &Engine, world: KeyHash) -> Result<Restored, Unrestored> {
        let held = self.held_now(world)?;
        let segments = held.segments(world);
        let mut count = Count::start(self, &segments);
        let mut forked = None;
        for (place, part) in segments.iter().enumerate() {
            let is_last = place + 1 == segments.len();
            let player = Player::alone(engine, part.world, forked.take());
            if is_last {
                player.expect(held.progress.clone());
            }
            let number = (part.last + 1 - part.first).unsigned_abs();
            pipeline::play((engine, &player), Entries::of(self, part), number, || {
                count.one();
                let ends = || unreadable(Fault::new("the process ends"));
                if engine.is_ending() { Err(ends()) } else { Ok(()) }
            })?;
            if is_last {
                let restored = player.restored();
                // If the claim has changed, there can be inputs that were not replayed.
                let now = self.held_now(world)?;
                return if now.epoch == held.epoch { Ok(restored) } else { Err(Unrestored::Moved) };
            }
            forked = player.take_fork();
            if forked.is_none() {
                let what = format!("world {world} was not forked again");
                return Err(Unrestored::Differs(what));
            }
        }
        Err(Unrestored::Moved)
    }

    fn owing(&self, every: bool, is_real: bool) -> Vec<KeyHash> {
        let after = self.state().owing_after.clone();
        let found = self.pool.with(|connection| {
            if every || is_real {
                connection.query(OWING_MORE, &[&after, &every, &is_real])
            } else {
                connection.query(OWING, &[&after])
            }
        });
        // Without an answer, the next look finds them.
        let Ok(rows) = found else { return Vec::new() };
        let last = rows.get(MOST - 1).map(|row| row.get(0));
        self.state().owing_after = last.unwrap_or_default();
        rows.iter().filter_map(|row| KeyHash::from_bytes(row.get(0))).collect()
    }

    fn is_shared(&self) -> bool {
        true
    }
}

fn unreadable(fault: Fault) -> Unrestored {
    Unrestored::Unreadable(fault.why)
}

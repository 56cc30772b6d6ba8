//! Replays the entries of one world, in order.
//!
//! A long world uses three threads: one reads and checks entries, one executes them, and one compares their results.
//! Execution is the only work that must be in order, and it is less than half of the whole. Deliberately absent: the
//! source of the entries.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, Scope, scope};
use std::{io, panic};

use crate::engine::recording::Entry;
use crate::engine::{Engine, Player, Unrestored};
use crate::io::wal::replay::{Due, Executed, Stopped, step};
use crate::io::wal::text::Place;

/// The minimum number of entries for several threads. For fewer entries, the start of the threads takes longer than
/// the replay.
const LONG: u64 = 512;
/// The entries that are passed to another thread together.
const BATCH: usize = 64;
/// The batches that wait for a thread.
const AHEAD: usize = 4;

/// An entry that was read, or why it could not be.
pub(in crate::io) type Read = Result<(Place, Entry), Unrestored>;
type Ready = Result<Due, Unrestored>;

/// Replays about `number` entries. Calls `done` after each.
///
/// # Errors
/// The first entry that cannot be read, or that differs; or the error of `done`.
pub(in crate::io) fn play(
    (engine, player): (&Engine, &Player<'_>),
    entries: impl Iterator<Item = Read> + Send,
    number: u64,
    mut done: impl FnMut() -> Result<(), Unrestored>,
) -> Result<(), Unrestored> {
    let entries = entries.map(|read| read.map(|(place, entry)| Due::of(engine, place, entry)));
    if number < LONG {
        for due in entries {
            if let Some(executed) = execute(player, due)? {
                executed.compare().map_err(why)?;
            }
            done()?;
        }
        return Ok(());
    }
    let no_thread = |error: io::Error| Unrestored::Unreadable(format!("no thread: {error}"));
    scope(|scope| {
        let entries = batches(scope, entries).map_err(no_thread)?;
        let (results, left) = sync_channel(AHEAD);
        let comparing = Builder::new().spawn_scoped(scope, move || compare(&left));
        let comparing = comparing.map_err(no_thread)?;
        let executed = execute_all(player, &entries, &results, &mut done);
        drop((entries, results)); // this ends the other threads
        let compared = comparing.join().unwrap_or_else(|why| panic::resume_unwind(why));
        compared.map_err(why).and(executed) // a difference is in an earlier entry than a failed execution
    })
}

/// Reads and prepares entries on another thread.
fn batches<'s>(
    scope: &'s Scope<'s, '_>,
    mut entries: impl Iterator<Item = Ready> + Send + 's,
) -> io::Result<Receiver<Vec<Ready>>> {
    let (sender, receiver) = sync_channel(AHEAD);
    Builder::new().spawn_scoped(scope, move || {
        loop {
            let batch: Vec<_> = entries.by_ref().take(BATCH).collect();
            if batch.is_empty() || sender.send(batch).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// Executes entries until one fails, or until the comparing thread has ended.
fn execute_all(
    player: &Player<'_>,
    entries: &Receiver<Vec<Ready>>,
    results: &SyncSender<Vec<Executed>>,
    done: &mut impl FnMut() -> Result<(), Unrestored>,
) -> Result<(), Unrestored> {
    for batch in entries {
        let mut executed = Vec::with_capacity(batch.len());
        let mut ended = Ok(());
        for entry in batch {
            match execute(player, entry).and_then(|one| done().map(|()| one)) {
                Ok(one) => executed.extend(one),
                Err(error) => {
                    ended = Err(error);
                    break;
                }
            }
        }
        let is_compared = results.send(executed).is_ok();
        ended?;
        if !is_compared {
            return Ok(());
        }
    }
    Ok(())
}

fn execute(player: &Player<'_>, due: Ready) -> Result<Option<Executed>, Unrestored> {
    step(player, due?, 0).map_err(why)
}

fn compare(executed: &Receiver<Vec<Executed>>) -> Result<(), Stopped> {
    executed.iter().flatten().try_for_each(Executed::compare)
}

fn why(stopped: Stopped) -> Unrestored {
    Unrestored::Differs(match stopped {
        Stopped::Wrong(why) => why,
        Stopped::Differs(difference) => difference.text(),
    })
}

//! The thread that stores the inputs of a [`SharedLog`] in groups.
//!
//! A group is what arrived while the previous one was being stored: one statement, one round trip. Each world's part
//! is stored only if this process still serves the world, and its log ends at the expected entry. If an error proves
//! that nothing was stored, the worlds of the group are replayed without it, under the same claims. After any other
//! error the result is unknown, so the worlds are lost: their next requests claim and replay them with the stored
//! inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, PoisonError};
use std::time::Duration;

use crate::engine::recording::KeyHash;
use crate::io::store::claims::{Held, Segment};
use crate::io::store::connection::{Connection, Fault};
use crate::io::store::group::{Group, Part};
use crate::io::store::log::{Pending, Phase, SharedLog};
use crate::io::wal::lease::is_unfenced;

/// After an error, the log tries each time after this pause whether it can store inputs again.
const PAUSE: Duration = Duration::from_secs(1);
/// The most entries of a group.
const MOST: usize = 4_096;

const APPEND: &str = "with b as (select * from unnest($2::bytea[], $3::int8[], $4::int8[], $5::int4[], $6::bytea[], $7::int8[], $8::int8[], \
    $9::bool[], $10::bool[], $11::bool[], $12::bool[], $13::text[]) \
    b(world, epoch, seq, n, frames, first_seq, inputs, forked, used, quiet, endpoints, progress)), \
    f as (update sandbox_world w set next_seq = b.seq + b.n, first_seq = b.first_seq, inputs = b.inputs, forked = b.forked, used = b.used, \
    quiet = b.quiet, endpoints = b.endpoints, progress = b.progress from b \
    where w.id = b.world and w.owner = $1 and w.epoch = b.epoch and w.next_seq = b.seq returning w.id), \
    l as (insert into sandbox_log (world, seq, epoch, n, frames) \
    select b.world, b.seq, b.epoch, b.n, b.frames from b join f on f.id = b.world where b.n > 0) select id from f";
const FORK: &str = "with t as (select id from sandbox_world where id = $7 and owner = $1 and epoch = $8 and first_seq = $9 and next_seq = $9 \
    and inputs = 0 and not forked for update), \
    s as (update sandbox_world set next_seq = $4 + 1, inputs = $6, used = true, quiet = false \
    where id = $2 and owner = $1 and epoch = $3 and next_seq = $4 and exists (select from t) returning id), \
    u as (update sandbox_world set forked = true, used = true, endpoints = $14 where id = $7 and exists (select from s)), \
    o as (insert into sandbox_origin (target, life, place, world, first_seq, last_seq) \
    select $7, $9, p.place, p.world, p.first_seq, p.last_seq \
    from unnest($10::int4[], $11::bytea[], $12::int8[], $13::int8[]) p(place, world, first_seq, last_seq) where exists (select from s)), \
    l as (insert into sandbox_log (world, seq, epoch, n, frames) select $2, $4, $3, 1, $5 where exists (select from s)) select id from s";
/// The conditions of [`APPEND`] that keep two processes from extending the same world.
const FENCE: &str = "and w.owner = $1 and w.epoch = b.epoch and w.next_seq = b.seq";
/// Finds out whether inputs can be stored: adds a row that needs new pages, and removes it.
const TRY: &str =
    "insert into sandbox_log (world, seq, epoch, n, frames) values ('\\xID', 1, 0, 1, '\\xBYTES')";
/// The size of that row.
const TRIED: usize = 64 * 1024;

/// The next action of the thread.
enum Turn {
    Write(Vec<Pending>),
    Try,
    End,
}

impl SharedLog {
    pub(super) fn write(&self, connection: Connection) {
        let mut connection = Some(connection);
        loop {
            match self.turn() {
                Turn::End => break,
                Turn::Try => self.try_out(&mut connection),
                Turn::Write(pending) => self.store(pending, &mut connection),
            }
            let mut state = self.state();
            state.writing.clear();
            let pending = std::mem::take(&mut state.pending);
            state.removing.retain(|world| pending.iter().any(|one| one.removed() == Some(*world)));
            state.pending = pending;
            drop(state);
            self.room.notify_all();
        }
        self.written.send_modify(|written| written.has_ended = true);
    }

    /// Waits for something to do.
    fn turn(&self) -> Turn {
        let mut state = self.state();
        while state.pending.is_empty() {
            if state.phase == Phase::Closed {
                return Turn::End;
            }
            if state.failed.is_none() {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.wake.wait_timeout(state, PAUSE);
            let (after, time) = waited.unwrap_or_else(PoisonError::into_inner);
            state = after;
            if time.timed_out() && state.pending.is_empty() {
                return Turn::Try;
            }
        }
        // A fork is stored alone, because it changes two worlds.
        let is_fork = state.pending.front().is_some_and(Pending::is_fork);
        let until = state.pending.iter().take(MOST).position(Pending::is_fork);
        let count = if is_fork { 1 } else { until.unwrap_or(MOST.min(state.pending.len())) };
        let pending: Vec<Pending> = state.pending.drain(..count).collect();
        state.writing = pending.iter().map(|one| one.tenure.world).collect();
        drop(state);
        self.room.notify_all();
        Turn::Write(pending)
    }

    fn try_out(&self, connection: &mut Option<Connection>) {
        let me = self.state().me.clone();
        match self.using(connection, |connection| connection.execute(&attempt(&me))) {
            Ok(()) => self.recovered(),
            Err(fault) => self.failed(&fault),
        }
    }

    /// Works with the connection of this thread, which is dropped after a fault.
    fn using<T>(
        &self,
        connection: &mut Option<Connection>,
        work: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut open = match connection.take().filter(Connection::is_open) {
            Some(open) => open,
            None => Connection::open(&self.pool.config)?,
        };
        let done = work(&mut open)?;
        *connection = Some(open);
        Ok(done)
    }

    fn store(&self, pending: Vec<Pending>, connection: &mut Option<Connection>) {
        let is_fork = pending.first().is_some_and(Pending::is_fork);
        let (me, held) = self.held(&pending);
        let group = Group::of(pending, &held, self.salt);
        let up_to = group.up_to;
        if !group.parts.is_empty() {
            let forked = is_fork.then(|| group.forked()).flatten();
            let target = forked.map(|(key, _)| self.held_by(key));
            let done = self.using(connection, |connection| match forked.zip(target.as_ref()) {
                Some((forked, Some(target))) => fork(connection, &me, &group, (forked, target)),
                // This process no longer serves the key of the fork.
                Some((_, None)) => Ok(BTreeSet::new()),
                None => append(connection, &me, &group),
            });
            match done {
                Ok(stored) => self.stored_parts(group, &stored, forked),
                Err(fault) => self.lost_parts(group, &fault),
            }
        }
        self.written.send_modify(|written| written.up_to = written.up_to.max(up_to));
    }

    /// The current claims of these entries' worlds.
    fn held(&self, pending: &[Pending]) -> (Vec<u8>, BTreeMap<KeyHash, Held>) {
        let state = self.state();
        let mut held = BTreeMap::new();
        for one in pending {
            let world = one.tenure.world;
            if let Some(claim) = state.claims.by_world.get(&world) {
                held.entry(world).or_insert_with(|| claim.held.clone());
            }
        }
        (state.me.clone(), held)
    }

    fn held_by(&self, world: KeyHash) -> Option<Held> {
        self.state().claims.by_world.get(&world).map(|claim| claim.held.clone())
    }

    /// The database has answered: parts that are not in `stored` were refused.
    fn stored_parts(
        &self,
        group: Group,
        stored: &BTreeSet<KeyHash>,
        forked: Option<(KeyHash, bool)>,
    ) {
        let mut state = self.state();
        for (world, part) in group.parts {
            if !stored.contains(&world) {
                self.counts.fenced.fetch_add(1, Ordering::Relaxed);
                part.lose();
                state.claims.lose(world, part.held.epoch, part.place);
                continue;
            }
            self.counts.stored.fetch_add(part.inputs, Ordering::Relaxed);
            let before = part.held.segments(world);
            if let Some(claim) = state.claims.by_world.get_mut(&world)
                && claim.held.epoch == part.held.epoch
            {
                claim.held = part.held;
            }
            let Some((key, has_endpoints)) = forked else { continue };
            if let Some(target) = state.claims.by_world.get_mut(&key) {
                (target.held.before, target.held.is_used) = (before, true);
                target.held.has_endpoints = has_endpoints;
            }
        }
        drop(state);
        self.recovered();
    }

    /// The group was not stored, or the result is unknown. A part without entries has no effect on the next one.
    fn lost_parts(&self, group: Group, fault: &Fault) {
        let is_undone = fault.had_no_effect();
        self.counts.unknown.fetch_add(u64::from(!is_undone), Ordering::Relaxed);
        let mut state = self.state();
        for (world, part) in group.parts.into_iter().filter(|(_, part)| part.count > 0) {
            if is_undone {
                part.refuse();
            } else {
                part.lose();
                state.claims.lose(world, part.held.epoch, part.place);
            }
        }
        drop(state);
        self.failed(fault);
    }

    fn failed(&self, fault: &Fault) {
        let mut state = self.state();
        if state.failed.is_none() {
            tracing::error!(
                %fault,
                "inputs cannot be stored: requests that change a world are refused until they can be stored again"
            );
        }
        state.failed = Some(fault.why.as_str().into());
    }

    fn recovered(&self) {
        if self.state().failed.take().is_some() {
            tracing::warn!("inputs can be stored again");
        }
    }
}

/// The statements of a try. Bytes that resemble random data are not compressed.
fn attempt(me: &[u8]) -> String {
    let hex = |bytes: &mut dyn Iterator<Item = u8>| -> String {
        let mut text = String::new();
        bytes.for_each(|byte| write!(text, "{byte:02x}").expect("a string grows"));
        text
    };
    let next = |last: &u64| Some(last.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1));
    let mut bytes = std::iter::successors(Some(1_u64), next).map(|one| one.to_be_bytes()[0]);
    let row = TRY.replace("ID", &hex(&mut me.iter().copied()));
    let row = row.replace("BYTES", &hex(&mut bytes.by_ref().take(TRIED)));
    format!("begin; {row}; rollback")
}

/// Without the fence, the kill drill of the tests must find faults. Release builds always have the fence.
fn append_statement() -> &'static str {
    static STATEMENT: LazyLock<&'static str> = LazyLock::new(|| {
        if is_unfenced() {
            APPEND.replace(FENCE, "and $1::bytea is not null").leak()
        } else {
            APPEND
        }
    });
    *STATEMENT
}

/// Adds the entries of all worlds to the log. Returns the worlds for which it was done.
fn append(
    connection: &mut Connection,
    me: &Vec<u8>,
    group: &Group,
) -> Result<BTreeSet<KeyHash>, Fault> {
    let parts: Vec<(&KeyHash, &Part)> = group.parts.iter().collect();
    let ids: Vec<Vec<u8>> = parts.iter().map(|(world, _)| world.bytes().to_vec()).collect();
    let numbers =
        |of: fn(&Part) -> i64| -> Vec<i64> { parts.iter().map(|(_, part)| of(part)).collect() };
    let flags =
        |of: fn(&Held) -> bool| -> Vec<bool> { parts.iter().map(|(_, p)| of(&p.held)).collect() };
    let (epochs, seqs) = (numbers(|part| part.held.epoch), numbers(|part| part.seq));
    let (firsts, inputs) = (numbers(|part| part.held.first), numbers(|part| part.held.inputs));
    let counts: Vec<i32> = parts.iter().map(|(_, part)| part.count).collect();
    let frames: Vec<&[u8]> = parts.iter().map(|(_, part)| part.frames.as_slice()).collect();
    let forked = flags(|held| !held.before.is_empty());
    let (used, quiet) = (flags(|held| held.is_used), flags(|held| held.is_quiet));
    let endpoints = flags(|held| held.has_endpoints);
    let progress: Vec<String> = parts
        .iter()
        .map(|(_, part)| serde_json::to_string(&part.held.progress).expect("string keys"))
        .collect();
    let rows = connection.query(
        append_statement(),
        &[
            me, &ids, &epochs, &seqs, &counts, &frames, &firsts, &inputs, &forked, &used, &quiet,
            &endpoints, &progress,
        ],
    )?;
    Ok(rows.iter().filter_map(|row| KeyHash::from_bytes(row.get(0))).collect())
}

/// Adds a fork to the log of its source, and lets the log of another key begin with it: both or neither.
fn fork(
    connection: &mut Connection,
    me: &Vec<u8>,
    group: &Group,
    ((key, has_endpoints), target): ((KeyHash, bool), &Held),
) -> Result<BTreeSet<KeyHash>, Fault> {
    let Some((world, part)) = group.parts.iter().next() else { return Ok(BTreeSet::new()) };
    let before: Vec<Segment> = part.held.segments(*world);
    let places: Vec<i32> = (0..).zip(&before).map(|(place, _)| place).collect();
    let worlds: Vec<Vec<u8>> = before.iter().map(|part| part.world.bytes().to_vec()).collect();
    let firsts: Vec<i64> = before.iter().map(|part| part.first).collect();
    let lasts: Vec<i64> = before.iter().map(|part| part.last).collect();
    let (source, key) = (world.bytes().to_vec(), key.bytes().to_vec());
    let rows = connection.query(
        FORK,
        &[
            me,
            &source,
            &part.held.epoch,
            &part.seq,
            &part.frames,
            &part.held.inputs,
            &key,
            &target.epoch,
            &target.first,
            &places,
            &worlds,
            &firsts,
            &lasts,
            &has_endpoints,
        ],
    )?;
    Ok(rows.iter().filter_map(|row| KeyHash::from_bytes(row.get(0))).collect())
}

/// The threads of a log.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) log: Arc<SharedLog>,
    pub(super) threads: Vec<std::thread::JoinHandle<()>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::recording::{Note, ProgressOf, Salt, Tenure};
    use crate::io::store::claims::Claim;
    use crate::io::store::log::What;

    /// The database answers after the lease has ended, and the claim with it.
    #[test]
    fn an_input_that_was_refused_is_lost_also_if_its_claim_has_ended() {
        let config = tokio_postgres::Config::new();
        let log = SharedLog::new(Salt([3; 16]), config, Duration::from_secs(1));
        let world = KeyHash::EMPTY;
        let held = Held {
            epoch: 1,
            next: 1,
            first: 1,
            inputs: 0,
            before: Vec::new(),
            is_used: false,
            is_quiet: false,
            has_endpoints: false,
            progress: ProgressOf::new(),
        };
        for is_known in [true, false] {
            let tenure = Arc::new(Tenure::new(world));
            let mut claim = Claim::new(held.clone());
            claim.adopt(&tenure);
            log.state().claims.by_world.insert(world, claim);
            let what = What::Note(Note::Spent(Vec::new()));
            let pending = vec![Pending { place: 1, tenure: Arc::clone(&tenure), what }];
            let (_, held) = log.held(&pending);
            let group = Group::of(pending, &held, log.salt);
            log.state().claims.lose_all(2);
            assert!(!tenure.has_lost(1), "it may have been stored");
            if is_known {
                log.stored_parts(group, &BTreeSet::new(), None);
            } else {
                log.lost_parts(group, &Fault::new("no answer"));
            }
            assert!(tenure.has_lost(1), "{is_known}");
        }
    }
}

//! The thread that keeps this process in the cluster: it renews the lease, and releases worlds that other processes
//! request or that left memory.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::recording::KeyHash;
use crate::io::store::claims::Claim;
use crate::io::store::connection::{Connection, Fault};
use crate::io::store::log::{Phase, SharedLog, State};
use crate::io::store::writer::Running;
use crate::io::wal::lease::now_ms;

/// The interval at which requests of other processes are read.
const LOOK: Duration = Duration::from_millis(100);
/// The minimum time before a world is released, so that two proxies that disagree do not move it all the time.
const HOLD: Duration = Duration::from_millis(250);
/// The time for which an unloaded world stays claimed, because its next request can come soon.
const KEEP: Duration = Duration::from_secs(10);
/// After this many times the lease without a renewal, the row of a process is removed.
const LEASES: i64 = 60;
/// Maximum number of worlds that are released at once.
const MOST: usize = 1_000;

const REGISTER: &str = "insert into sandbox_node (id, version, lease_until) \
    values (uuid_send(gen_random_uuid()), $1, clock_timestamp() + $2::int8 * interval '1 millisecond') returning id";
const RENEW: &str = "update sandbox_node set lease_until = clock_timestamp() + $2::int8 * interval '1 millisecond' where id = $1 returning 1";
const WANTED: &str = "select id, epoch from sandbox_world where owner = $1 and wanted limit 1000";
const RELEASE: &str = "update sandbox_world w set owner = null, wanted = false from unnest($2::bytea[], $3::int8[]) r(id, epoch) \
    where w.id = r.id and w.owner = $1 and w.epoch = r.epoch";
/// Ends the leases of processes that have not renewed them for long, as the next request to one of their worlds would.
const CLEAN: &str = "delete from sandbox_node where lease_until < clock_timestamp() - $1::int8 * interval '1 millisecond'";
const LEAVE: &str = "delete from sandbox_node where id = $1";

/// Worlds, each with the number of its claim.
type Epochs = BTreeMap<KeyHash, i64>;

impl SharedLog {
    /// Joins the cluster, and starts to store inputs.
    ///
    /// # Errors
    /// A text for the person who starts the server.
    pub(crate) fn start(self: &Arc<Self>) -> Result<Running, String> {
        let failed = |fault: Fault| format!("the store cannot be used: {fault}");
        let open = || Connection::open(&self.pool.config).map_err(failed);
        let (mut keeping, writing) = (open()?, open()?);
        self.register(&mut keeping).map_err(failed)?;
        let mut running = Running { log: Arc::clone(self), threads: Vec::new() };
        let mut spawn = |name: &str, work: Box<dyn FnOnce(&Self) + Send>| {
            let log = Arc::clone(self);
            let thread = std::thread::Builder::new().name(name.to_owned());
            let thread = thread.spawn(move || work(&log)).map_err(|error| error.to_string())?;
            running.threads.push(thread);
            Ok::<_, String>(())
        };
        spawn("store", Box::new(move |log| log.write(writing)))?;
        spawn("lease", Box::new(move |log| log.keep(keeping)))?;
        Ok(running)
    }

    fn lease_ms(&self) -> i64 {
        i64::try_from(self.lease_time.as_millis()).unwrap_or(i64::MAX)
    }

    /// Gets a new name and a lease.
    fn register(&self, connection: &mut Connection) -> Result<(), Fault> {
        let (sent, version) = (now_ms(), env!("CARGO_PKG_VERSION"));
        let rows = connection.query(REGISTER, &[&version, &self.lease_ms()])?;
        let me = rows.first().map(|row| row.get::<_, Vec<u8>>(0));
        self.state().me =
            me.ok_or_else(|| Fault::new("it did not return a name for this process"))?;
        self.lease.renew(sent, self.lease_time);
        Ok(())
    }

    fn keep(&self, connection: Connection) {
        let mut connection = Some(connection);
        let often = (self.lease_time / 10).min(Duration::from_millis(500));
        let mut renewed = Instant::now();
        let mut swept = Instant::now();
        while self.state().phase != Phase::Closed {
            std::thread::sleep(LOOK.min(often));
            let renews = renewed.elapsed() >= often;
            let sweeps = swept.elapsed() >= KEEP / 2;
            let mut open = match connection.take() {
                Some(open) => open,
                None => match Connection::open(&self.pool.config) {
                    Ok(open) => open,
                    Err(_) => continue, // the lease ends, and requests are refused with the reason
                },
            };
            let done = self.round(&mut open, renews, sweeps);
            if done.is_ok() {
                connection = Some(open);
                renewed = if renews { Instant::now() } else { renewed };
                swept = if sweeps { Instant::now() } else { swept };
            }
        }
    }

    fn round(&self, connection: &mut Connection, renews: bool, sweeps: bool) -> Result<(), Fault> {
        let me = self.state().me.clone();
        if renews || !self.lease.is_alive() {
            let sent = now_ms();
            if connection.query(RENEW, &[&me, &self.lease_ms()])?.is_empty() {
                return self.begin_anew(connection);
            }
            self.lease.renew(sent, self.lease_time);
        }
        if sweeps {
            connection.query(CLEAN, &[&(self.lease_ms() * LEASES)])?;
        }
        let rows = connection.query(WANTED, &[&me])?;
        let wanted =
            rows.iter().filter_map(|row| Some((KeyHash::from_bytes(row.get(0))?, row.get(1))));
        let wanted: Epochs = wanted.collect();
        let mut state = self.state();
        let mut leaving = std::mem::take(&mut state.claims.dropped);
        let asked: Vec<KeyHash> = wanted.keys().copied().collect();
        let begun = state.begin_to_leave(&asked, HOLD);
        self.counts.handed_over.fetch_add(begun.len() as u64, Ordering::Relaxed);
        let is_free = |world: &KeyHash| {
            !state.claims.by_world.contains_key(world) && !state.claims.coming.contains(world)
        };
        leaving.extend(wanted.into_iter().filter(|(world, _)| is_free(world)));
        leaving.extend(begun);
        // While the database cannot be written, a released world could not be claimed again.
        if sweeps && state.failed.is_none() {
            let unused = state.unused();
            leaving.extend(state.begin_to_leave(&unused, KEEP));
        }
        drop(state);
        self.give_back(connection, &me, leaving)
    }

    /// Another process has ended the lease, so other processes can serve all of its worlds.
    fn begin_anew(&self, connection: &mut Connection) -> Result<(), Fault> {
        tracing::warn!("the lease of this process has ended; its worlds are read again");
        self.counts.lost_leases.fetch_add(1, Ordering::Relaxed);
        self.lease.end();
        let mut state = self.state();
        let next = state.next;
        state.claims.lose_all(next);
        drop(state);
        self.register(connection)
    }

    /// Releases worlds to other processes. Those whose inputs are not stored soon are released in a later round, so that the lease
    /// is renewed in time.
    fn give_back(
        &self,
        connection: &mut Connection,
        me: &Vec<u8>,
        mut worlds: Epochs,
    ) -> Result<(), Fault> {
        if worlds.is_empty() {
            return Ok(());
        }
        let until = Instant::now() + LOOK;
        let mut state = self.state();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let stored = state.stored_of(&worlds);
            if stored.len() == worlds.len() || state.phase == Phase::Closed {
                break;
            }
            if left.is_zero() {
                worlds.retain(|world, epoch| {
                    let is_stored = stored.contains_key(world);
                    if !is_stored {
                        state.claims.dropped.insert(*world, *epoch);
                    }
                    is_stored
                });
                break;
            }
            state = self.room.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        if worlds.is_empty() {
            return Ok(());
        }
        let ids: Vec<Vec<u8>> = worlds.keys().map(|world| world.bytes().to_vec()).collect();
        let epochs: Vec<i64> = worlds.values().copied().collect();
        let released = connection.query(RELEASE, &[me, &ids, &epochs]);
        let mut state = self.state();
        for (world, epoch) in &worlds {
            let is_same = |claim: &Claim| claim.held.epoch == *epoch;
            if state.claims.by_world.get(world).is_some_and(is_same) {
                state.claims.by_world.remove(world);
            }
            if released.is_err() && !state.claims.coming.contains(world) {
                state.claims.dropped.insert(*world, *epoch);
            }
        }
        drop(state);
        self.room.notify_all();
        released.map(drop)
    }
}

impl State {
    /// From now on, requests to these worlds wait and new inputs are lost. Only for worlds that were claimed for at
    /// least this time.
    fn begin_to_leave(&mut self, worlds: &[KeyHash], least: Duration) -> Epochs {
        let next = self.next;
        let mut leaving = Epochs::new();
        for world in worlds {
            let Some(claim) = self.claims.by_world.get_mut(world) else { continue };
            if claim.since.elapsed() >= least && !claim.is_leaving {
                claim.is_leaving = true;
                claim.lose(next);
                leaving.insert(*world, claim.held.epoch);
            }
        }
        leaving
    }

    /// Those of these worlds whose inputs are all stored or lost.
    fn stored_of(&self, worlds: &Epochs) -> Epochs {
        let mut stored = worlds.clone();
        let pending = self.pending.iter().map(|one| &one.tenure.world);
        for world in pending.chain(&self.writing) {
            stored.remove(world);
        }
        stored
    }

    /// Claimed worlds that left memory.
    fn unused(&self) -> Vec<KeyHash> {
        let claims = self.claims.by_world.iter();
        let unused =
            claims.filter(|(_, claim)| !claim.is_resident() && claim.since.elapsed() >= KEEP);
        unused.map(|(world, _)| *world).take(MOST).collect()
    }
}

impl Running {
    /// Stores the pending inputs, releases all worlds, and ends.
    ///
    /// # Errors
    /// If the last inputs could not be stored.
    pub(crate) fn finish(self) -> Result<(), String> {
        let Self { log, threads } = self;
        let mut state = log.state();
        state.phase = Phase::Leaving;
        while !state.pending.is_empty() || !state.writing.is_empty() {
            log.wake.notify_one();
            let waited = log.room.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.phase = Phase::Closed;
        let me = state.me.clone();
        drop(state);
        log.wake.notify_all();
        log.room.notify_all();
        let joined: Vec<_> = threads.into_iter().map(std::thread::JoinHandle::join).collect();
        log.lease.end();
        let left = log.pool.with(|connection| connection.query(LEAVE, &[&me]));
        if joined.iter().any(Result::is_err) {
            return Err("a thread of the store has failed because of a bug".to_owned());
        }
        if let Err(fault) = left {
            tracing::warn!(%fault, "other processes get the worlds of this one when its lease ends");
        }
        let failed = log.state().failed.clone();
        failed.map_or(Ok(()), |why| Err(why.to_string()))
    }
}

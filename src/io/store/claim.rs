//! Claims a world, so that only this process serves it.
//!
//! If a running process serves the world, this process requests the world: the other process sees the request, stores pending inputs, and
//! releases the world. A lease does not end by itself: a late process may renew its lease until another process has ended it.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio_postgres::Row;

use crate::engine::recording::{KeyHash, moving, unavailable};
use crate::io::store::claims::{Claim, Held};
use crate::io::store::connection::{Connection, Fault};
use crate::io::store::log::{Phase, SharedLog};
use crate::value::ApiError;

/// The maximum time that a request waits for a world.
const TIMEOUT: Duration = Duration::from_millis(900);
/// The pause before the next attempt.
const PAUSE: Duration = Duration::from_millis(40);

/// A world that is new, free, or already claimed by this process.
const CLAIM: &str = "insert into sandbox_world (id, owner, epoch) select $1, $2, 1 where exists (select from sandbox_node where id = $2) \
    on conflict (id) do update set owner = $2, epoch = sandbox_world.epoch + 1, wanted = false \
    where sandbox_world.owner is null or sandbox_world.owner = $2 \
    returning epoch, next_seq, first_seq, inputs, forked, used, quiet, endpoints, progress";
/// The process that serves a world, and whether its lease has lapsed or was ended.
const OWNER: &str = "select w.owner, n.id is null as has_ended, coalesce(n.lease_until < clock_timestamp(), true) as has_lapsed \
    from sandbox_world w left join sandbox_node n on n.id = w.owner where w.id = $1 and w.owner is not null";
const END: &str = "delete from sandbox_node where id = $1 and lease_until < clock_timestamp()";
/// Takes a world of a process that has ended. The owner is known from an earlier statement, and this statement checks
/// its end.
const TAKE: &str = "update sandbox_world set owner = $2, epoch = epoch + 1, wanted = false where id = $1 and owner = $3 \
    and not exists (select from sandbox_node where id = $3) and exists (select from sandbox_node where id = $2) \
    returning epoch, next_seq, first_seq, inputs, forked, used, quiet, endpoints, progress";
const ASK: &str =
    "update sandbox_world set wanted = true where id = $1 and owner = $2 and not wanted";
const ORIGIN: &str = "select world, first_seq, last_seq from sandbox_origin where target = $1 and life = $2 order by place";

/// The result of an attempt.
enum Attempt {
    Claimed {
        held: Box<Held>,
        /// Whether the process that served it had ended.
        is_takeover: bool,
    },
    /// A running process serves it.
    Held,
}

impl SharedLog {
    /// Claims a world once for all requests that wait for it. Returns whether this call claimed it.
    pub(super) fn claim_slowly(&self, world: KeyHash, asks: bool) -> Result<bool, ApiError> {
        let deadline = Instant::now() + TIMEOUT;
        let mut state = self.state();
        loop {
            if state.phase != Phase::Live {
                return Err(moving("this process is shutting down; repeat the request"));
            }
            if !self.lease.is_alive() {
                return Err(unavailable(
                    "this process has no connection to its database, or has lost its lease there",
                ));
            }
            let is_coming = state.claims.coming.contains(&world);
            match state.claims.by_world.get(&world) {
                Some(claim) if !claim.is_leaving => return Ok(false),
                None if !is_coming => break,
                _ => {}
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(moving("the world of this key is being claimed; repeat the request"));
            }
            let waited = self.room.wait_timeout(state, left.min(PAUSE));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.claims.coming.insert(world);
        let me = state.me.clone();
        drop(state);
        let claimed = self.claim_until(world, &me, deadline, asks);
        let mut state = self.state();
        state.claims.coming.remove(&world);
        let claimed = claimed.and_then(|held| {
            if state.me != me || !self.lease.is_alive() {
                return Err(moving("this process has just lost its lease; repeat the request"));
            }
            state.claims.dropped.remove(&world);
            state.claims.by_world.insert(world, Claim::new(held));
            Ok(true)
        });
        drop(state);
        self.room.notify_all();
        claimed
    }

    fn claim_until(
        &self,
        world: KeyHash,
        me: &[u8],
        deadline: Instant,
        asks: bool,
    ) -> Result<Held, ApiError> {
        loop {
            let attempt = self.pool.with(|connection| attempt(connection, world, me, asks));
            match attempt {
                Ok(Attempt::Claimed { held, is_takeover }) => {
                    let counts = &self.counts;
                    let count = if is_takeover { &counts.taken_over } else { &counts.claimed };
                    count.fetch_add(1, Ordering::Relaxed);
                    return Ok(*held);
                }
                Ok(Attempt::Held) if asks && Instant::now() + PAUSE < deadline => {
                    std::thread::sleep(PAUSE);
                }
                Ok(Attempt::Held) => {
                    let detail = "another process serves the world of this key and was asked to \
                        release it; nothing was changed";
                    return Err(moving(detail));
                }
                Err(fault) => {
                    tracing::warn!(%fault, "a world cannot be claimed");
                    let detail = format!(
                        "the database does not answer for the world of this key ({fault}); nothing was changed"
                    );
                    return Err(unavailable(detail));
                }
            }
        }
    }
}

fn attempt(
    connection: &mut Connection,
    world: KeyHash,
    me: &[u8],
    asks: bool,
) -> Result<Attempt, Fault> {
    let id = world.bytes().to_vec();
    let mine = connection.query(CLAIM, &[&id, &me])?;
    if let Some(row) = mine.first() {
        return claimed(connection, &id, row, false);
    }
    let owner = connection.query(OWNER, &[&id])?;
    let Some(owner) = owner.first() else { return Ok(Attempt::Held) };
    let (name, has_ended): (Vec<u8>, bool) = (owner.get("owner"), owner.get("has_ended"));
    if !has_ended && owner.get("has_lapsed") {
        connection.query(END, &[&name])?;
    } else if !has_ended {
        if asks {
            connection.query(ASK, &[&id, &name])?;
        }
        return Ok(Attempt::Held);
    }
    let taken = connection.query(TAKE, &[&id, &me, &name])?;
    match taken.first() {
        Some(row) => claimed(connection, &id, row, true),
        None => Ok(Attempt::Held),
    }
}

fn claimed(
    connection: &mut Connection,
    id: &Vec<u8>,
    row: &Row,
    is_takeover: bool,
) -> Result<Attempt, Fault> {
    let origin = if row.get("forked") {
        connection.query(ORIGIN, &[id, &row.get::<_, i64>("first_seq")])?
    } else {
        Vec::new()
    };
    Ok(Attempt::Claimed { held: Box::new(Held::read(row, &origin)?), is_takeover })
}

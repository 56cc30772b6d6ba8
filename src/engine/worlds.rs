//! Worlds by key.

#![expect(
    clippy::disallowed_types,
    reason = "looked up by key; iterated only to drop worlds that nobody can tell from new ones"
)]

use std::collections::HashMap;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use crate::engine::WorldTag;
use crate::engine::cache::{ReadCache, WORLD_BYTES};
use crate::engine::idempotency::SeenKeys;
use crate::value::error::{ApiError, ErrorCode};
use crate::value::time::Timestamp;
use crate::world::base::Base;
use crate::world::{ClockMode, World};

/// Turns of the loop that waits for a step to end: some ten microseconds.
const SPINS: u32 = 300;

/// One key's world. Reads share it; a step has it alone. What is remembered of requests has a lock of its own, which is
/// taken after the world's and held for a look-up only.
pub(super) struct Slot {
    world: RwLock<World>,
    memory: Mutex<Memory>,
    tag: WorldTag,
}

/// What is remembered of the requests to a world.
pub(super) struct Memory {
    pub(super) seen: SeenKeys,
    pub(super) reads: ReadCache,
    /// `Sandbox-Time`, made anew when the clock has moved.
    time: Option<(Timestamp, HeaderValue)>,
}

impl Memory {
    /// Forgets answers that the last write may have made wrong; of a world that started again, its keys, too.
    pub(super) fn changed(&mut self, world: &World) {
        self.reads.clear();
        if world.version() == 0 {
            self.seen.clear();
        }
    }

    /// Virtual time as a header.
    pub(super) fn time_header(&mut self, now: Timestamp) -> HeaderValue {
        if let Some((at, header)) = &self.time
            && *at == now
        {
            return header.clone();
        }
        let header = HeaderValue::try_from(now.to_string()).expect("an instant is ASCII");
        self.time = Some((now, header.clone()));
        header
    }
}

impl Slot {
    /// The world, to look at.
    pub(super) fn world(&self) -> RwLockReadGuard<'_, World> {
        self.world.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world, for one step. A panic inside a step is caught and undone before the lock is given back, so a poisoned
    /// lock guards a whole world.
    ///
    /// A step takes microseconds: waiting for it awake is cheaper than being put to sleep and woken.
    pub(super) fn world_mut(&self) -> RwLockWriteGuard<'_, World> {
        for _ in 0..SPINS {
            match self.world.try_write() {
                Ok(world) => return world,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => core::hint::spin_loop(),
            }
        }
        self.world.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What names the world in the log.
    pub(super) const fn tag(&self) -> WorldTag {
        self.tag
    }
}

/// All worlds.
pub(super) struct Worlds {
    base: Arc<Base>,
    mode: ClockMode,
    /// The only keys taken; any if empty.
    keys: Vec<String>,
    most: usize,
    open: RwLock<HashMap<Box<str>, Arc<Slot>>>,
}

impl Worlds {
    pub(super) fn new(base: Arc<Base>, mode: ClockMode, keys: Vec<String>, most: usize) -> Self {
        Self {
            base,
            mode,
            keys,
            most,
            open: RwLock::default(),
        }
    }

    pub(super) const fn base(&self) -> &Arc<Base> {
        &self.base
    }

    pub(super) fn count(&self) -> u64 {
        self.open
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len() as u64
    }

    /// The world of a key, opened if it is new.
    pub(super) fn open(&self, key: &str) -> Result<Arc<Slot>, ApiError> {
        if let Some(slot) = self
            .open
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(key)
        {
            return Ok(Arc::clone(slot));
        }
        if looks_live(key) {
            let detail =
                "this looks like a live key: the sandbox takes test keys only, and has not kept it";
            return Err(unauthorized(ErrorCode::LiveKeyRefused, detail));
        }
        if !self.keys.is_empty() && !self.keys.iter().any(|known| known == key) {
            return Err(unauthorized(
                ErrorCode::InvalidApiKey,
                "the API key is not one of those this sandbox was started with",
            ));
        }
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= self.most && !open.contains_key(key) {
            // A world in which nothing happened can be grown again and nobody can tell.
            open.retain(|_, slot| Arc::strong_count(slot) > 1 || slot.world().version() > 0);
            if open.len() >= self.most {
                let detail = format!(
                    "{} worlds are open, which is all that --max-worlds allows",
                    self.most
                );
                return Err(ApiError::new(ErrorCode::Overloaded, detail));
            }
        }
        let slot = open
            .entry(key.into())
            .or_insert_with(|| Arc::new(self.fresh(key)));
        Ok(Arc::clone(slot))
    }

    fn fresh(&self, key: &str) -> Slot {
        let memory = Memory {
            seen: SeenKeys::default(),
            reads: ReadCache::new(WORLD_BYTES),
            time: None,
        };
        Slot {
            world: RwLock::new(World::new(Arc::clone(&self.base), self.mode)),
            memory: Mutex::new(memory),
            tag: tag(key),
        }
    }
}

/// A short hash of a key, made with a secret of this process so that nobody can find the key by trying.
fn tag(key: &str) -> WorldTag {
    use std::hash::{BuildHasher, RandomState};
    static SECRET: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
    WorldTag((SECRET.hash_one(key) >> 32) as u32)
}

/// The key of `Authorization: Bearer KEY` (specification, §5).
pub(super) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Err(unauthorized(
            ErrorCode::MissingCredentials,
            "send Authorization: Bearer <API_KEY>; any test key opens a world",
        ));
    };
    let malformed = || {
        unauthorized(
            ErrorCode::InvalidApiKey,
            "expected one header, Authorization: Bearer <API_KEY>, with 1 to 255 visible ASCII characters",
        )
    };
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, key) = text.split_once(' ').ok_or_else(malformed)?;
    let key = key.trim_start_matches(' ');
    let good =
        scheme.eq_ignore_ascii_case("bearer") && is_well_formed(key) && values.next().is_none();
    if good { Ok(key) } else { Err(malformed()) }
}

fn is_well_formed(key: &str) -> bool {
    (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a request with this key could open a world.
pub(crate) fn is_usable_key(key: &str) -> bool {
    is_well_formed(key) && !looks_live(key)
}

/// Keys of live systems, by how they are usually written.
fn looks_live(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("live_")
        || key.starts_with("live-")
        || key.contains("_live_")
        || key.contains("-live-")
}

fn unauthorized(code: ErrorCode, detail: &str) -> ApiError {
    let mut error = ApiError::new(code, detail);
    error.header = Some(("www-authenticate", "Bearer".to_owned()));
    error
}

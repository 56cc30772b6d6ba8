//! The engine's state: its configuration, the worlds, and the wall clock that some of them follow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use crate::api::check::suggestion;
use crate::api::host::{Host, OpenWorld, Session};
use crate::api::operation::Operation;
use crate::api::{self, system};
use crate::engine::advance;
use crate::engine::cache::{ReadCache, SHARED_BYTES};
use crate::engine::contract::{Auth, Overlay};
use crate::engine::delivery_waker::Courier;
use crate::engine::flight::Owing;
use crate::engine::idempotency::Answers;
use crate::engine::keys::KeySpace;
use crate::engine::player::Archive;
use crate::engine::quota::Most;
use crate::engine::recording::{Before, Recorder, Tape};
use crate::engine::response::Pages;
use crate::engine::router::Router;
use crate::engine::slot::{Opening, Slot};
use crate::engine::worlds::Worlds;
use crate::engine::write::guard;
use crate::tester::inputs::Inputs;
use crate::tester::outbox::Settings;
use crate::tester::snapshots::TesterPart;
use crate::value::error::{ApiError, ErrorCode};
use crate::value::span::Span;
use crate::value::time::Timestamp;

use crate::world::script::Scenario;
use crate::world::situation::Situation;
use crate::world::{Base, ClockMode, Shape, World};

/// The scenarios and situations that ship with the binary. Each file is read when it is first used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Library {
    pub(crate) scenarios: fn() -> Vec<Arc<Scenario>>,
    /// The scenario of a name.
    pub(crate) scenario: fn(&str) -> Option<Arc<Scenario>>,
    /// The scenario that a text describes.
    pub(crate) read: fn(&str, &str) -> Result<Arc<Scenario>, ApiError>,
    /// The situation in which an event of that type happens, after those that it needs.
    pub(crate) situations: fn(&str) -> Vec<Arc<Situation>>,
    /// The import of TOML files and of the files that they name, and a world after it.
    pub(crate) import: Import,
}

/// Reads an import, and tries it in a copy of a world.
pub(crate) type Import =
    fn(&[String], &BTreeMap<String, String>, &World) -> Result<(Arc<Scenario>, World), ApiError>;

#[cfg(test)]
impl Library {
    pub(crate) const EMPTY: Self = Self {
        scenarios: Vec::new,
        scenario: |_| None,
        read: |_, _| Ok(Arc::default()),
        situations: |_| Vec::new(),
        import: |_, _, world| Ok((Arc::default(), world.clone())),
    };
}

/// The configuration of an engine.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) seed: u64,
    pub(crate) shape: Shape,
    pub(crate) mode: ClockMode,
    /// The only keys that open a world. If empty, any key opens a world, except keys that look live.
    pub(crate) api_keys: Vec<String>,
    /// The contract overlay. Its keys are accepted in addition to those above.
    pub(crate) contract: Overlay,
    pub(crate) max_worlds: usize,
    /// Maximum number of events that each world keeps; `None` keeps all.
    pub(crate) max_events: Option<u64>,
    pub(crate) pages: Pages,
    /// Scenarios from files, which can be loaded by name. They have priority over shipped scenarios of the same name.
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    pub(crate) library: Library,
    /// Records every input that changes a world.
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its configuration contains keys, and it has many worlds.
        f.debug_struct("Engine").field("seed", &self.config.seed).finish_non_exhaustive()
    }
}

/// All worlds and the access to them. Shared by all threads.
pub(crate) struct Engine {
    pub(super) config: Config,
    pub(super) router: Router,
    pub(super) worlds: Worlds,
    /// The cached reads of unchanged worlds, which all return the same answers.
    pub(super) untouched: Mutex<ReadCache>,
    /// Virtual time in a world driven by the wall clock.
    pub(super) wall: AtomicI64,
    /// Its start: the start of virtual time, or the end of a continued recording.
    pub(super) wall_origin: AtomicI64,
    /// Milliseconds of the wall clock since the server started, as last reported. Rates are measured by it.
    pub(super) edge_ms: AtomicU64,
    /// Reads stored inputs again.
    pub(super) archive: OnceLock<Arc<dyn Archive>>,
    /// Worlds that must be replayed without a call.
    pub(super) owing: Mutex<Owing>,
    /// Whether the process ends, so that no replay is started or continued.
    pub(super) is_ending: AtomicBool,
    /// Whether a proxy must send requests to another process.
    pub(super) is_leaving: AtomicBool,
    /// What the world of a key may contain.
    pub(super) most: Most,
    /// Scenarios of files that can be loaded; see [`Config::scenarios`].
    scenarios: RwLock<Vec<Arc<Scenario>>>,
}

impl Engine {
    /// An engine without worlds; they open as keys come.
    pub(crate) fn new(config: Config) -> Self {
        let base = Arc::new(Base::new(config.seed, config.shape.clone()));
        Self {
            wall: AtomicI64::new(config.shape.start.millis()),
            wall_origin: AtomicI64::new(config.shape.start.millis()),
            worlds: Worlds::new(
                base,
                config.mode,
                Auth {
                    keys: [&*config.api_keys, &config.contract.auth.keys].concat(),
                    ..config.contract.auth.clone()
                },
                config.max_worlds,
                config.max_events,
                config.recorder.clone(),
            ),
            router: Router::new(&config.contract.rows),
            edge_ms: AtomicU64::new(0),
            untouched: Mutex::new(ReadCache::new(SHARED_BYTES)),
            scenarios: RwLock::new(
                config.scenarios.iter().filter(|known| !known.is_import()).cloned().collect(),
            ),
            archive: OnceLock::new(),
            owing: Mutex::default(),
            is_ending: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
            most: Most::default(),
            config,
        }
    }

    /// Starts every world with these scenarios. Must be called before the first request.
    pub(crate) fn with_started(mut self, scenarios: Vec<Arc<Scenario>>) -> Self {
        self.worlds.start_with(scenarios);
        self
    }

    /// Reads worlds from this archive when their keys arrive. Must be called before the first request.
    pub(crate) fn read_from(&self, archive: Arc<dyn Archive>) {
        self.archive.get_or_init(|| archive);
    }

    /// Replaces the scenarios of files. Worlds that run one of them continue with its new rows.
    pub(crate) fn renew_scenarios(&self, scenarios: Vec<Arc<Scenario>>) {
        let mut known = self.scenarios.write().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(&scenarios);
        drop(known);
        if let Some(renewed) = crate::tester::renewed(&self.worlds.started(), &scenarios) {
            let started = self.worlds.started.write();
            *started.unwrap_or_else(PoisonError::into_inner) = renewed;
        }
        for slot in self.worlds.resident_slots() {
            let mut world = slot.world_mut();
            let renewed = crate::tester::renewed(&slot.tester().scenarios, &scenarios);
            let Some(renewed) = renewed else { continue };
            let world = &mut *world;
            let done = guard(world, |world| {
                let tester = &mut *slot.tester();
                let mut session = Session { world, tester, host: self };
                session.end_scenarios();
                for scenario in renewed.into_iter().filter(|scenario| !scenario.is_import()) {
                    session.begin_scenario(scenario);
                }
                slot.rearm(tester);
                Ok(())
            });
            done.ok(); // a panic was already logged
            slot.changed(world);
        }
    }

    /// Accepts the keys of these teams. Must be called before the first request.
    pub(crate) fn with_key_spaces(mut self, spaces: Vec<KeySpace>) -> Self {
        self.worlds.spaces = spaces;
        self
    }

    /// Limits what the world of each key may contain.
    pub(crate) const fn with_most(mut self, most: Most) -> Self {
        self.most = most;
        self
    }

    /// Lets the names of recorded worlds open them. Only for an engine without clients.
    pub(crate) const fn opening_recorded(mut self) -> Self {
        self.worlds.opens_recorded = true;
        self
    }

    /// The clock of a fresh world.
    pub(crate) const fn mode(&self) -> ClockMode {
        self.config.mode
    }

    /// The base of every fresh world.
    pub(crate) fn base(&self) -> &Arc<Base> {
        self.worlds.base()
    }

    /// Whether only listed keys are accepted.
    pub(crate) fn is_closed(&self) -> bool {
        self.worlds.is_closed()
    }

    /// Reports the virtual time of worlds that the wall clock drives.
    pub(crate) fn tick(&self, since_start: Duration, speed: u32) {
        let ms = i64::try_from(since_start.as_millis())
            .unwrap_or(i64::MAX)
            .saturating_mul(i64::from(speed));
        let origin = Timestamp::from_millis(self.wall_origin.load(Ordering::Relaxed));
        let now = origin.plus_millis(ms);
        self.wall.store(now.millis(), Ordering::Relaxed);
        for slot in self.worlds.waker().watched() {
            self.follow_eagerly(&slot);
        }
    }

    /// Starts sending webhooks. In existing worlds (restored from a write-ahead log), only new events are
    /// sent. Must be called before the first
    /// request.
    pub(crate) fn start_deliveries(&self, settings: Settings, courier: Arc<dyn Courier>) {
        let waker = self.worlds.waker();
        waker.open(Arc::new(settings), courier);
        for slot in self.worlds.resident_slots() {
            let mut outbox = waker.outbox(&slot.world());
            let mut tester = slot.tester();
            outbox.put_shaping(tester.outbox.shaping().clone());
            tester.outbox = outbox;
            drop(tester);
            slot.tester_changed();
        }
    }

    /// Reads the world of a key, which opens if it is new.
    pub(crate) fn with_world<T>(
        &self,
        key: &str,
        look: impl FnOnce(&World) -> T,
    ) -> Result<T, ApiError> {
        Ok(look(&self.open_world(key)?.world()))
    }

    /// The keys of all worlds in memory, sorted.
    pub(crate) fn keys(&self) -> Vec<String> {
        self.worlds.keys()
    }

    /// Advances the clock of a key's world, attempts the due deliveries on the way, and returns the new time.
    pub(crate) async fn advance(&self, key: &str, by: Span) -> Result<Timestamp, ApiError> {
        advance::by(&self.open_world(key)?, by).await
    }

    /// A world with endpoints or readers follows the wall clock by itself, so that its webhooks are sent and its stream moves without a call.
    fn follow_eagerly(&self, slot: &Arc<Slot>) {
        if slot.tape.as_ref().is_some_and(Tape::is_playing) {
            return; // its recorded inputs say when the clock moves it
        }
        let now = Timestamp::from_millis(self.wall.load(Ordering::Relaxed));
        let due = |world: &World| world.timers().next().is_some_and(|timer| timer.due <= now);
        let real = slot.world().mode() == ClockMode::Real;
        let is_watched = slot.delivers() || slot.readers.is_read();
        if real && is_watched && (due(&slot.world()) || slot.is_due_by(now)) {
            self.follow_wall(slot);
        }
    }

    /// Calls a control row on a key's world and tester.
    pub(crate) fn at_tester<T>(
        &self,
        key: &str,
        act: impl FnOnce(&mut Session<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let slot = self.open_world(key)?;
        let world = &mut *slot.world_mut();
        slot.memory().next_tester_call();
        let done = guard(world, |world| {
            let tester = &mut slot.tester();
            act(&mut Session { world, tester, host: self })
        });
        slot.changed(world);
        done
    }

    pub(super) fn follow_wall(&self, slot: &Arc<Slot>) {
        Self::follow_to(slot, Timestamp::from_millis(self.wall.load(Ordering::Relaxed)));
    }

    /// Moves a world to that wall-clock time. Does nothing while the log cannot be written, so that reads continue.
    pub(super) fn follow_to(slot: &Arc<Slot>, now: Timestamp) {
        let stands = |tape: &Tape| !tape.is_playing() && tape.accepts().is_err();
        if slot.tape.as_ref().is_some_and(stands) {
            return;
        }
        let world = &mut *slot.world_mut();
        if slot.deliveries().are_dismissed() {
            return; // a move of an unloaded world would be stored among the inputs of its successor
        }
        let before = Before::of(world);
        let followed = guard(world, |world| {
            system::follow(world, now);
            Ok(())
        });
        followed.ok(); // a bug there was logged; the request is still answered
        if let Some(tape) = &slot.tape {
            slot.note_starts();
            tape.followed(now, before, world);
        }
        if world.version() != before.version() {
            slot.changed(world);
        }
        if slot.tape.as_ref().is_some_and(Tape::is_playing) {
            slot.collect_events(world);
        } else {
            slot.deliver_events(world);
        }
    }
}

impl Host for Engine {
    fn scenarios(&self) -> Vec<Arc<Scenario>> {
        let mut known = self.scenarios.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.extend((self.config.library.scenarios)());
        known
    }

    fn scenario(&self, name: &str) -> Result<Arc<Scenario>, ApiError> {
        let own = self.scenarios.read().unwrap_or_else(PoisonError::into_inner);
        let found = own.iter().find(|scenario| scenario.name == name).cloned();
        found.or_else(|| (self.config.library.scenario)(name)).ok_or_else(|| {
            let shipped = (self.config.library.scenarios)();
            let near = suggestion(name, own.iter().chain(&shipped).map(|known| &*known.name));
            let detail =
                format!("unknown scenario {name:?}{near}; GET /_sandbox/scenarios lists all");
            ApiError::new(ErrorCode::UnknownScenario, detail)
        })
    }

    fn read_scenario(&self, name: &str, text: &str) -> Result<Arc<Scenario>, ApiError> {
        (self.config.library.read)(name, text)
    }

    fn read_import(
        &self,
        paths: &[String],
        files: &BTreeMap<String, String>,
        world: &World,
    ) -> Result<(Arc<Scenario>, World), ApiError> {
        (self.config.library.import)(paths, files, world)
    }

    fn operations(&self) -> Vec<&'static Operation> {
        api::product().chain(api::control()).collect()
    }

    fn situation_showing(&self, event: &str) -> Vec<Arc<Situation>> {
        (self.config.library.situations)(event)
    }

    fn open(&self, key: &str, world: World, part: TesterPart) -> Result<(), ApiError> {
        let opening = Opening { world, part, answers: Answers::default() };
        self.worlds.place_for_fork(key)?.take(opening, None);
        Ok(())
    }

    fn past(
        &self,
        world: &World,
        inputs: &Inputs,
        sequence: u64,
    ) -> Result<(World, TesterPart), ApiError> {
        self.past(&Mutex::default(), world, sequence, || inputs.leading_to(sequence))
    }

    fn worlds(&self) -> Vec<OpenWorld> {
        self.worlds.list()
    }
}

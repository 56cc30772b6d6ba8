//! The sandbox in the process of a test: one line starts a server on a free port.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use crate::api::control::snapshots;
use crate::api::host::Session;
use crate::engine::contract::Overlay;
use crate::engine::{Config, Engine};
use crate::io::background::Background;
use crate::io::server::ServerConfig;
use crate::io::webhooks::Webhooks;
use crate::render::pages;
use crate::scenario;
use crate::tester::request_log::DEFAULT_MOST;
use crate::tester::snapshots::Snapshot;
use crate::value::{ApiError, Id, Look, Span, Timestamp};
use crate::world::script::Scenario;
use crate::world::{ClockMode, MAX_EVENTS, Shape, World};

/// A running sandbox; stopped when dropped.
///
/// ```
/// let sandbox = sandbox::Sandbox::builder().seed(42).start()?;
/// assert!(sandbox.url().starts_with("http://127.0.0.1:"));
/// // … point the code under test at `sandbox.url()`, with any test key …
/// let now = sandbox.advance("test_key", "10d")?;
/// assert_eq!(now.to_string(), "2026-01-11T00:00:00.000Z");
/// # Ok::<(), sandbox::SandboxError>(())
/// ```
#[derive(Debug)]
pub struct Sandbox {
    pub(super) engine: Arc<Engine>,
    server: Background,
    /// The near misses of verifications, with their keys.
    pub(super) misses: Mutex<Vec<(String, String)>>,
}

/// A stored state of a world, from [`Sandbox::snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotId(Id<Snapshot>);

impl fmt::Display for SnapshotId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why a sandbox did not start, or why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxError(pub(super) String);

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SandboxError {}

/// The options of a sandbox. The defaults are seed 42, three companies of 25 people, an instant clock and a
/// free port.
#[derive(Clone, Debug)]
pub struct Builder {
    seed: u64,
    shape: Shape,
    mode: ClockMode,
    port: u16,
    api_keys: Vec<String>,
    contract: Overlay,
    /// Additional scenarios that can be loaded by name; they come before the shipped ones.
    scenarios: Vec<Arc<Scenario>>,
    /// Scenarios that start with every world.
    started: Vec<Arc<Scenario>>,
    most_requests: usize,
}

impl Builder {
    /// The seed; the same seed produces the same world.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Companies of each world.
    #[must_use]
    pub const fn companies(mut self, companies: u64) -> Self {
        self.shape.companies = companies;
        self
    }

    /// Employees of each company.
    #[must_use]
    pub const fn employees_per_company(mut self, employees: u64) -> Self {
        self.shape.employees_per_company = employees;
        self
    }

    /// Countries of the companies in turn, ISO 3166-1 alpha-2.
    #[must_use]
    pub fn countries<'a>(mut self, countries: impl IntoIterator<Item = &'a str>) -> Self {
        self.shape.countries = countries.into_iter().map(str::to_owned).collect();
        self
    }

    /// The start of the virtual time.
    #[must_use]
    pub const fn start_at(mut self, start: Timestamp) -> Self {
        self.shape.start = start;
        self
    }

    /// The clock: `Instant` or `Manual`. With `Real`, the time does not move here, because a test must not
    /// depend on the wall clock.
    #[must_use]
    pub const fn clock(mut self, mode: ClockMode) -> Self {
        self.mode = mode;
        self
    }

    /// The port to listen on; the default 0 selects a free one.
    #[must_use]
    pub const fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Accepts only this key and the keys of further calls.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_keys.push(key.into());
        self
    }

    /// Replaces assumptions where the real service differs. Takes a contract overlay in the format of
    /// `--contract`, or `published` for
    /// only the two published operations.
    ///
    /// ```
    /// let builder = sandbox::Sandbox::builder().contract("[errors]\nformat = \"envelope\"\n")?;
    /// let mistake = sandbox::Sandbox::builder().contract("[errors]\nformta = 1\n");
    /// assert!(mistake.unwrap_err().to_string().contains("did you mean `format`?"));
    /// # Ok::<(), sandbox::SandboxError>(())
    /// ```
    ///
    /// # Errors
    /// If the overlay has a mistake; the error lists all of them.
    pub fn contract(mut self, overlay: &str) -> Result<Self, SandboxError> {
        self.contract = match overlay {
            "published" => Overlay::published(),
            text => Overlay::parse("contract", text, Look::Plain).map_err(SandboxError)?,
        };
        Ok(self)
    }

    /// Starts every world with a shipped scenario. Its `[world]` overrides the builder.
    ///
    /// ```
    /// let sandbox = sandbox::Sandbox::builder().scenario("partial-failure")?.start()?;
    /// assert!(sandbox::Sandbox::builder().scenario("partial-failur").is_err());
    /// # Ok::<(), sandbox::SandboxError>(())
    /// ```
    ///
    /// # Errors
    /// If no shipped scenario has this name; the error names the nearest one.
    pub fn scenario(mut self, name: &str) -> Result<Self, SandboxError> {
        let found = scenario::find(name);
        self.started.push(found.map_err(|error| SandboxError(error.detail))?);
        Ok(self)
    }

    /// The same with your own scenario, given as the text of a file. It may include only shipped scenarios.
    ///
    /// # Errors
    /// If the scenario has a mistake; the error lists all of them, with their lines.
    pub fn scenario_text(mut self, name: &str, text: &str) -> Result<Self, SandboxError> {
        let checked = scenario::check_text(name, text);
        let report = checked.report(Look::Plain);
        let scenario = Arc::new(checked.scenario.ok_or(SandboxError(report))?);
        self.scenarios.push(Arc::clone(&scenario));
        self.started.push(scenario);
        Ok(self)
    }

    /// Adds this scenario by its name. It replaces a shipped one of the same name.
    pub(crate) fn known(mut self, scenario: Arc<Scenario>) -> Self {
        self.scenarios.push(scenario);
        self
    }

    /// The whole shape of each world.
    pub(crate) fn shaped(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Starts every world with this scenario.
    pub(crate) fn started(mut self, scenario: Arc<Scenario>) -> Self {
        self.started.push(Arc::clone(&scenario));
        self.known(scenario)
    }

    /// The requests that the request log of each world keeps.
    pub(crate) const fn most_requests(mut self, most: usize) -> Self {
        self.most_requests = most;
        self
    }

    /// Starts the server and returns when it listens.
    ///
    /// # Errors
    /// If the shape is invalid (an unknown country, too many people), or the port is not available.
    pub fn start(mut self) -> Result<Sandbox, SandboxError> {
        for scenario in &self.started {
            self.shape = scenario.world.shape(self.shape);
            self.seed = scenario.world.seed.unwrap_or(self.seed);
            self.mode = scenario.world.clock.unwrap_or(self.mode);
        }
        self.shape.check().map_err(SandboxError)?;
        let engine = Engine::new(Config {
            seed: self.seed,
            shape: self.shape,
            mode: self.mode,
            api_keys: self.api_keys,
            contract: self.contract,
            max_worlds: usize::MAX,
            max_events: Some(MAX_EVENTS),
            pages: pages::page,
            scenarios: self.scenarios,
            library: scenario::LIBRARY,
            recorder: None,
        });
        let engine = engine.with_max_requests(self.most_requests).with_started(self.started);
        let engine = Arc::new(engine);
        let base_path = engine.base_path().to_owned();
        let config = ServerConfig { port: self.port, base_path, ..ServerConfig::default() };
        let opened = Arc::clone(&engine);
        let server = Background::start_with(config, Arc::clone(&engine), move |addresses| {
            Webhooks::default().open(&opened, addresses, None, Arc::default())
        });
        let server = server.map_err(|error| SandboxError(error.to_string()))?;
        Ok(Sandbox { engine, server, misses: Mutex::default() })
    }
}

impl Sandbox {
    /// A builder of a sandbox.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            seed: 42,
            shape: Shape::default(),
            mode: ClockMode::Instant,
            port: 0,
            api_keys: Vec::new(),
            contract: Overlay::default(),
            scenarios: Vec::new(),
            started: Vec::new(),
            most_requests: DEFAULT_MOST,
        }
    }

    /// The URL of the server, without a slash at the end: `http://127.0.0.1:49152`.
    #[must_use]
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// Advances the clock of a key's world by a duration such as `10d`, `90s` or `2bd`. Returns the new time
    /// when the due work is done
    /// and the due webhooks were attempted.
    ///
    /// # Errors
    /// If the duration is invalid or leads beyond the year 2199, or the key opens no world.
    pub fn advance(&self, key: &str, by: &str) -> Result<Timestamp, SandboxError> {
        let by: Span = by.parse().map_err(|expected: &str| SandboxError(expected.to_owned()))?;
        let advanced = wait_for(self.engine.advance(key, by));
        advanced.map_err(|error| SandboxError(error.detail))
    }

    /// Stores the current state of a key's world, to restore it later. This costs next to nothing, for a
    /// world of any size.
    ///
    /// ```
    /// # let sandbox = sandbox::Sandbox::builder().start()?;
    /// let before = sandbox.snapshot("test_key")?;
    /// sandbox.fork("test_key", "test_other")?;
    /// sandbox.advance("test_key", "30d")?;
    /// sandbox.restore("test_key", &before)?;
    /// assert_eq!(sandbox.digest("test_key")?, sandbox.digest("test_other")?);
    /// # Ok::<(), sandbox::SandboxError>(())
    /// ```
    ///
    /// # Errors
    /// If the key opens no world, or already has 100 snapshots.
    pub fn snapshot(&self, key: &str) -> Result<SnapshotId, SandboxError> {
        self.at_tester(key, |session| {
            let taken = session.tester.take_snapshot(session.world, None);
            taken.map(|snapshot| SnapshotId(snapshot.id)).ok_or_else(snapshots::full)
        })
    }

    /// Restores the state of the snapshot: records, books, event log, clock, running scenarios and
    /// idempotency answers. The same calls then get
    /// the same answers, ids included. The snapshot remains.
    ///
    /// # Errors
    /// If the key opens no world, or the snapshot belongs to another key.
    pub fn restore(&self, key: &str, snapshot: &SnapshotId) -> Result<(), SandboxError> {
        self.at_tester(key, |session| {
            let restored = session.tester.restore_snapshot(snapshot.0, session.world);
            restored.then_some(()).ok_or_else(|| snapshots::unknown(snapshot.0))
        })
    }

    /// Opens another key with a copy of the state and the running scenarios of this key's world. Later
    /// changes of one do not affect the other.
    ///
    /// # Errors
    /// If either key opens no world, or the new key already has a world.
    pub fn fork(&self, key: &str, new_key: &str) -> Result<(), SandboxError> {
        self.at_tester(key, |session| {
            let (world, part) = (session.world.clone(), session.tester.part());
            session.host.open(new_key, world, part)
        })
    }

    fn at_tester<T>(
        &self,
        key: &str,
        act: impl FnOnce(&mut Session<'_>) -> Result<T, ApiError>,
    ) -> Result<T, SandboxError> {
        let done = self.engine.at_tester(key, act);
        done.map_err(|error| SandboxError(error.detail))
    }

    /// One hash of a key's world: equal for equal worlds.
    ///
    /// # Errors
    /// If the key opens no world.
    pub fn digest(&self, key: &str) -> Result<String, SandboxError> {
        self.engine.with_world(key, World::digest).map_err(|error| SandboxError(error.detail))
    }
}

/// Blocks the calling thread until a future is done. The thread of the server does the work.
fn wait_for<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

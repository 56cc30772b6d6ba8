//! The sandbox in a test's own process: a server on a free port in one line.

use std::fmt;
use std::sync::Arc;

use crate::api::system;
use crate::engine::{Config, Engine};
use crate::io::background::Background;
use crate::io::server::ServerConfig;
use crate::render::pages;
use crate::value::time::{Span, Timestamp};
use crate::world::base::Shape;
use crate::world::{ClockMode, World};

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
    engine: Arc<Engine>,
    server: Background,
}

/// Why a sandbox did not start, or did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxError(String);

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SandboxError {}

/// How to start a sandbox. Without a call of its methods: seed 42, three companies of 25 people, an instant clock, any free port.
#[derive(Clone, Debug)]
pub struct Builder {
    seed: u64,
    shape: Shape,
    mode: ClockMode,
    port: u16,
    api_keys: Vec<String>,
}

impl Builder {
    /// The seed: the same one grows the same world.
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

    /// Where virtual time begins.
    #[must_use]
    pub const fn start_at(mut self, start: Timestamp) -> Self {
        self.shape.start = start;
        self
    }

    /// How time passes: `Instant` or `Manual`. A wall clock has no place in a test; a `Real` one stands still here.
    #[must_use]
    pub const fn clock(mut self, mode: ClockMode) -> Self {
        self.mode = mode;
        self
    }

    /// The port to listen on; 0, a free one, if not said.
    #[must_use]
    pub const fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Takes this key and those of other calls only.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_keys.push(key.into());
        self
    }

    /// Starts the server and returns when it listens.
    ///
    /// # Errors
    /// If the world cannot be grown so (an unknown country, too many people), or the port cannot be had.
    pub fn start(self) -> Result<Sandbox, SandboxError> {
        self.shape.check().map_err(SandboxError)?;
        let engine = Arc::new(Engine::new(Config {
            seed: self.seed,
            shape: self.shape,
            mode: self.mode,
            api_keys: self.api_keys,
            max_worlds: usize::MAX,
            pages: pages::page,
        }));
        let config = ServerConfig {
            port: self.port,
            ..ServerConfig::default()
        };
        let server = Background::start(config, Arc::clone(&engine))
            .map_err(|error| SandboxError(error.to_string()))?;
        Ok(Sandbox { engine, server })
    }
}

impl Sandbox {
    /// A sandbox to be.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            seed: 42,
            shape: Shape::default(),
            mode: ClockMode::Instant,
            port: 0,
            api_keys: Vec::new(),
        }
    }

    /// Where it answers, without a slash at the end: `http://127.0.0.1:49152`.
    #[must_use]
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// Advances the clock of a key's world by a length of time such as `10d`, `90s` or `2bd`, and returns when the world is
    /// quiet, with the instant it is then.
    ///
    /// # Errors
    /// If the length of time is not one, or the key opens no world.
    pub fn advance(&self, key: &str, by: &str) -> Result<Timestamp, SandboxError> {
        let by: Span = by
            .parse()
            .map_err(|expected: &str| SandboxError(expected.to_owned()))?;
        let advanced = self
            .engine
            .advance(key, |world| system::advance(world, world.now().plus(by)));
        advanced.map_err(|error| SandboxError(error.detail))
    }

    /// One hash of a key's world: equal for equal worlds.
    ///
    /// # Errors
    /// If the key opens no world.
    pub fn digest(&self, key: &str) -> Result<String, SandboxError> {
        self.engine
            .with_world(key, World::digest)
            .map_err(|error| SandboxError(error.detail))
    }
}

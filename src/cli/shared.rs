//! `--store URL`: worlds in a database that several processes share.

use std::sync::Arc;
use std::time::Duration;

use crate::cli::failure::Failure;
use crate::cli::persist::{differences, same_worlds};
use crate::engine::recording::Header;
use crate::engine::{Archive, Engine};
use crate::io::store::log::SharedLog;
use crate::io::store::schema::{Joined, address, join};
use crate::io::store::writer::Running;

/// A store that this process has joined, before it serves.
pub(super) struct Shared {
    pub(super) log: Arc<SharedLog>,
    pub(super) header: Header,
    speed: u32,
    age: Duration,
    worlds: u64,
}

impl Shared {
    /// Joins the store of an address. `worlds` are those that the flags describe, with the speed of the wall clock.
    pub(super) fn open(
        url: &str,
        lease: Duration,
        (header, speed): (&Header, u32),
    ) -> Result<Self, Failure> {
        let config = address(url).map_err(Failure::Usage)?;
        let Joined { config, header: held, speed: held_speed, age, worlds } =
            join(config, header, speed).map_err(Failure::Impossible)?;
        let mut differs = differences(&held, header);
        if held_speed != speed {
            differs.push(format!("--clock real:{held_speed} (given: real:{speed})"));
        }
        same_worlds("the store", "name another database", &differs)?;
        let log = Arc::new(SharedLog::new(held.salt, config, lease));
        Ok(Self { log, header: held, speed, age, worlds })
    }

    pub(super) fn banner(&self) -> String {
        format!(
            "  the store has worlds {}; each is claimed and restored when its key arrives\n\n",
            self.worlds
        )
    }

    /// Begins to serve. With the clock `real`, the time of worlds counts from the creation of the store, in all
    /// processes.
    pub(super) fn start(self, engine: &Engine) -> Result<Running, Failure> {
        let age = i64::try_from(self.age.as_millis()).unwrap_or(i64::MAX);
        let passed = age.saturating_mul(i64::from(self.speed));
        engine.resume_wall(self.header.shape.start.plus_millis(passed));
        engine.read_from(Arc::clone(&self.log) as Arc<dyn Archive>);
        self.log.start().map_err(Failure::Impossible)
    }
}

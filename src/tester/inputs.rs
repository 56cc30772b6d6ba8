//! The inputs of a world since it was opened, so that the world can be shared as text. They are kept in memory, and only a few of them.

use std::sync::Arc;

use crate::value::Timestamp;
use crate::world::script::{Scenario, imports};
use crate::world::{Base, ClockMode, World};

/// The most inputs that are kept.
const MOST: usize = 500;
/// The most bytes of their paths and bodies.
const MOST_BYTES: usize = 256 * 1_024;

/// A call that changed the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedInput {
    pub(crate) method: &'static str,
    /// Path and query.
    pub(crate) target: String,
    /// Headers that affect it, never a credential.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

/// The inputs of one world.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// What the world was opened with.
    start: Option<(Arc<Base>, ClockMode)>,
    /// The scenarios and imports that it was opened with.
    pub(crate) scenarios: Vec<Arc<Scenario>>,
    kept: Vec<SharedInput>,
    bytes: usize,
    /// Why they are not all of them, if so.
    missing: Option<&'static str>,
}

impl Inputs {
    /// Those of a world that was just opened.
    pub(crate) fn of(world: &World, scenarios: &[Arc<Scenario>]) -> Self {
        let start = Some((Arc::clone(world.base()), world.mode()));
        let imports = imports(scenarios);
        let is_fork = world.version() != imports || imports == 0 && world.log_length() > 0;
        let missing = is_fork.then_some("it began as a fork: share its source");
        Self { start, scenarios: scenarios.to_vec(), missing, ..Self::default() }
    }

    /// The clock was moved to this time by a part of an advance. Parts without another input between them are one advance.
    pub(crate) fn advanced(&mut self, to: Timestamp) {
        const TARGET: &str = "/_sandbox/clock/advance";
        let body = format!("{{\"to\":\"{to}\"}}");
        match self.kept.last_mut() {
            Some(last) if last.target == TARGET && last.body.starts_with("{\"to\"") => {
                last.body = body;
            }
            _ => self.add(SharedInput {
                method: "POST",
                target: TARGET.to_owned(),
                headers: Vec::new(),
                body,
            }),
        }
    }

    /// The number of those that are kept.
    pub(crate) const fn len(&self) -> usize {
        self.kept.len()
    }

    /// Adds one.
    pub(crate) fn add(&mut self, input: SharedInput) {
        self.bytes += input.target.len() + input.body.len();
        if self.kept.len() >= MOST || self.bytes > MOST_BYTES {
            self.missing.get_or_insert("it has more than 500 inputs or 256 KiB of them");
        }
        if self.missing.is_some() {
            self.kept = Vec::new();
            return;
        }
        self.kept.push(input);
    }

    /// The seed, shape and clock that the world was opened with, and all inputs; an error says why they are not known.
    pub(crate) fn all<'a>(
        &'a self,
        world: &'a World,
    ) -> Result<(&'a Base, ClockMode, &'a [SharedInput]), &'static str> {
        let (base, mode) =
            self.start.as_ref().map_or((world.base(), world.mode()), |(base, mode)| (base, *mode));
        match (mode, self.missing) {
            (_, Some(why)) => Err(why),
            (ClockMode::Real, None) => Err("the wall clock moves it"),
            (mode, None) => Ok((base, mode, &self.kept)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Shape;

    fn input(body: &str) -> SharedInput {
        SharedInput {
            method: "POST",
            target: "/x".to_owned(),
            headers: Vec::new(),
            body: body.to_owned(),
        }
    }

    #[test]
    fn inputs_are_all_kept_or_none() {
        let world = World::new(Arc::new(Base::new(42, Shape::default())), ClockMode::Manual);
        let mut few = Inputs::of(&world, &[]);
        (0..MOST).for_each(|_| few.add(input("{}")));
        assert_eq!(few.all(&world).map(|(_, _, inputs)| inputs.len()), Ok(MOST));
        few.add(input("{}"));
        assert!(few.all(&world).is_err() && few.kept.is_empty());
        let mut large = Inputs::of(&world, &[]);
        large.add(input(&"x".repeat(MOST_BYTES)));
        assert!(large.all(&world).is_err());
    }
}

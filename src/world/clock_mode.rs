//! The clock modes of a world.

use serde::{Deserialize, Serialize};

/// The clock of a world.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClockMode {
    /// All effects of a request have happened before the next one; dates wait until the clock is advanced.
    #[default]
    Instant,
    /// Time moves only when the clock is advanced.
    Manual,
    /// Time follows the wall clock.
    Real,
}

impl ClockMode {
    /// The name on the command line and on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instant => "instant",
            Self::Manual => "manual",
            Self::Real => "real",
        }
    }
}

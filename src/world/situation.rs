//! Situations as data: calls that bring a world into a state. `scenario` reads them from the library.

use crate::world::script::{CallStep, OutcomeRule};

/// `[[situation]]`: calls that bring a world into a state. All effects of a call happen before the next call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Situation {
    pub(crate) name: String,
    /// The situation whose steps come first.
    pub(crate) needs: Option<String>,
    /// Types of events that happen in it.
    pub(crate) events: Vec<String>,
    /// operationIds whose examples are taken after it.
    pub(crate) samples: Vec<String>,
    /// What the outside world answers to its calls.
    pub(crate) outcomes: Vec<OutcomeRule>,
    pub(crate) steps: Vec<CallStep>,
}

//! The state of a world's rules: the rows with their counters, and the outcomes of a request's header.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::payments::platform_fee::FeeSchedule;
use crate::world::event::RequestRef;
use crate::world::script::{OutcomeRule, TimelineRow};

/// The data that a request passes to all its effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) request: Arc<RequestRef>,
    /// The outcomes of its header.
    pub(crate) outcomes: Vec<OutcomeRule>,
}

/// The rows that decide, and their counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) outcomes: Vec<OutcomeState>,
    pub(crate) timeline: Vec<TimelineState>,
    /// The number of rules made at run time; it numbers the next one.
    pub(crate) rules: u64,
    #[serde(default, skip_serializing_if = "FeeSchedule::is_standard")]
    pub(crate) platform_fee: FeeSchedule,
    /// The fixed amount that a company pays with its first fee of a month, in minor units.
    #[serde(default, skip_serializing_if = "is_none")]
    pub(crate) monthly_fee: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_none(fee: &i64) -> bool {
    *fee == 0
}

/// An outcome row and its counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutcomeState {
    pub(crate) row: OutcomeRule,
    /// The scenario of the row; none for a rule made at run time.
    pub(crate) scenario: Option<String>,
    /// The rule's own number, if it is one.
    pub(crate) rule: Option<u64>,
    /// The number of matches of its selectors.
    pub(crate) asked: u64,
    /// Number of decisions that it made.
    pub(crate) hits: u64,
}

/// A timeline row and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimelineState {
    pub(crate) row: TimelineRow,
    pub(crate) scenario: Option<String>,
    /// Its timer is set or has run.
    pub(crate) armed: bool,
    pub(crate) hits: u64,
    /// Why its last call was refused, if it was.
    pub(crate) refused: Option<String>,
}

//! Lifecycles as const rows: the check, the 409 with `allowed`, the docs and the tests all read the same rows.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::time::Timestamp;

/// One arrow of a lifecycle.
pub(crate) struct Transition<S: 'static> {
    /// The states it may start in.
    pub(crate) from: &'static [S],
    /// What does it, as the API names it.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "for the docs of the verbs, which come with their rows"
        )
    )]
    pub(crate) verb: &'static str,
    /// The state it ends in.
    pub(crate) to: S,
}

/// The states of one kind of resource.
pub(crate) trait State: Copy + Eq + 'static {
    /// Every state and its name on the wire.
    const STATES: &'static [(Self, &'static str)];

    /// Every arrow; a state without one that leaves it is terminal.
    const ROWS: &'static [Transition<Self>];

    /// The name on the wire.
    fn name(self) -> &'static str {
        Self::STATES
            .iter()
            .find(|(state, _)| *state == self)
            .map_or("unknown", |(_, name)| name)
    }

    /// Whether some row leads from this state to that one.
    fn may_become(self, to: Self) -> bool {
        Self::ROWS
            .iter()
            .any(|row| row.to == to && row.from.contains(&self))
    }
}

/// Declares a status: its states in wire order and the arrows between them.
macro_rules! states {
    (
        $(#[$doc:meta])* $name:ident { $($state:ident $wire:literal),* $(,)? }
        $($verb:literal: $($from:ident)|* => $to:ident;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub(crate) enum $name { $(#[serde(rename = $wire)] $state,)* }

        impl $crate::model::lifecycle::State for $name {
            const STATES: &'static [(Self, &'static str)] = &[$((Self::$state, $wire),)*];
            const ROWS: &'static [$crate::model::lifecycle::Transition<Self>] = &[$(
                $crate::model::lifecycle::Transition { from: &[$(Self::$from),*], verb: $verb, to: Self::$to },
            )*];
        }
    };
}
pub(crate) use states;

/// One line of a `status_history`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{S}Change")]
pub(crate) struct StatusChange<S> {
    /// The state entered.
    pub(crate) status: S,
    /// When, in virtual time.
    pub(crate) at: Timestamp,
    /// Why, where more is known than the transition's own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<Cow<'static, str>>,
}

impl<S> StatusChange<S> {
    /// Entered then, for no reason beyond the transition itself.
    pub(crate) const fn plain(status: S, at: Timestamp) -> Self {
        Self {
            status,
            at,
            reason: None,
        }
    }
}

/// Walks every row of a lifecycle; for the test that each state can be reached and left as declared.
#[cfg(test)]
pub(crate) fn assert_sound<S: State + core::fmt::Debug>(initial: S) {
    let mut reached = vec![initial];
    loop {
        let next = S::ROWS
            .iter()
            .find(|row| !reached.contains(&row.to) && row.from.iter().any(|s| reached.contains(s)));
        let Some(row) = next else { break };
        assert!(!row.verb.is_empty());
        reached.push(row.to);
    }
    for (state, name) in S::STATES {
        assert!(
            reached.contains(state),
            "no row leads to {name} ({state:?})"
        );
    }
}

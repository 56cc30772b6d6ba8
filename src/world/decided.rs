//! Decisions of the outside world that were taken: the answer, and why.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::AnyId;
use crate::model::decision::Decision;
use crate::model::payments::{RailId, Refusal};
use crate::value::span::Span;
use crate::value::time::Timestamp;

/// The answer of the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecisionAnswer {
    /// The name of the choice.
    pub(crate) choice: &'static str,
    /// Why the payment does not arrive, if the choice says so.
    pub(crate) code: Option<Refusal>,
    /// A duration that replaces the normal one.
    pub(crate) after: Option<Span>,
}

impl DecisionAnswer {
    /// This choice, with the normal timing.
    pub(crate) fn plain(decision: &'static Decision, choice: &str) -> Self {
        let choice = decision.choice(choice).expect("a choice of the table");
        Self { choice: choice.name, code: None, after: None }
    }

    /// This choice about a payment on that rail, with the given code or its own.
    pub(crate) fn on_rail(
        decision: &'static Decision,
        choice: &str,
        rail: RailId,
        code: Option<&str>,
    ) -> Self {
        let plain = Self::plain(decision, choice);
        let choice = decision.choice(choice).expect("a choice of the table");
        let refusal = |reason| match (code, decision.codes_of(choice.name)) {
            (Some(code), Some(scope)) => Refusal::with_code(rail, code, scope, choice.late),
            _ => Refusal::because(rail, reason, choice.late),
        };
        Self { code: choice.code.map(refusal), ..plain }
    }
}

/// The reason of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DecisionReason")]
pub(crate) enum Why {
    /// A row of a scenario, or a rule added at run time.
    Rule,
    /// The `Sandbox-Scenario` header of the request that caused it.
    Header,
    /// A reserved value in the data.
    MagicValue,
    /// The default.
    Default,
}

impl Why {
    /// The name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Header => "header",
            Self::MagicValue => "magic_value",
            Self::Default => "default",
        }
    }
}

/// A logged decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// Its position among the world's decisions, from 1.
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
    pub(crate) decision: Cow<'static, str>,
    pub(crate) subject: AnyId,
    pub(crate) chosen: Cow<'static, str>,
    pub(crate) code: Option<Cow<'static, str>>,
    pub(crate) after: Option<Span>,
    pub(crate) why: Why,
    /// The row, header or value that decided.
    pub(crate) source: Option<Box<str>>,
}

//! Decisions of the outside world that were taken: the answer, and why.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::AnyId;
use crate::model::decision::Decision;
use crate::model::payments::return_code::ReturnCode;
use crate::value::span::Span;
use crate::value::time::Timestamp;

/// The answer of the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DecisionAnswer {
    /// The name of the choice.
    pub(crate) choice: &'static str,
    /// The return code, if the choice has one.
    pub(crate) code: Option<ReturnCode>,
    /// A duration that replaces the normal one.
    pub(crate) after: Option<Span>,
}

impl DecisionAnswer {
    /// This choice, with its own code and the normal timing.
    pub(crate) fn plain(decision: &'static Decision, choice: &str) -> Self {
        let choice = decision.choice(choice).expect("a choice of the table");
        let code = choice.code.map(str::parse);
        Self {
            choice: choice.name,
            code: code.map(|code| code.expect("the table holds return codes")),
            after: None,
        }
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
    pub(crate) code: Option<ReturnCode>,
    pub(crate) after: Option<Span>,
    pub(crate) why: Why,
    /// The row, header or value that decided.
    pub(crate) source: Option<String>,
}

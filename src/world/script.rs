//! The rows of a scenario as plain data, checked when they were read.
//!
//! Files are parsed to the right of the engine. This module has only the types that the world and the tester
//! use.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::decision::Decision;
use crate::model::payments::{FeeSchedule, RailId};
use crate::value::{Date, Span, Timestamp};
pub(crate) use crate::world::selector::{Comparison, Range, Selector, Wanted, When};
use crate::world::{Base, Shape};

/// A whole scenario, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scenario {
    /// Its name: the file name without its extension.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) world: WorldPart,
    pub(crate) outcomes: Vec<OutcomeRule>,
    pub(crate) webhooks: Vec<WebhookRow>,
    pub(crate) faults: Vec<FaultRow>,
    pub(crate) timeline: Vec<TimelineRow>,
    pub(crate) limits: Limits,
    pub(crate) steps: Vec<Step>,
    pub(crate) expect: Expectation,
    /// The calls that create what an import describes. Only an import has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) imports: Vec<ImportCall>,
}

impl Scenario {
    /// Whether it is an import: it belongs to the start of its world, and no load or reset ends it.
    pub(crate) const fn is_import(&self) -> bool {
        !self.imports.is_empty()
    }
}

/// The number of imports among these scenarios.
pub(crate) fn imports(scenarios: &[Arc<Scenario>]) -> u64 {
    scenarios.iter().filter(|scenario| scenario.is_import()).count() as u64
}

/// A call that an import makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ImportCall {
    /// The operationId.
    pub(crate) call: String,
    /// The members of path and body, by name; they may refer to replies of earlier calls: `@c1.data.id`.
    pub(crate) with: Value,
    /// The name under which later calls find its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) save: Option<String>,
    /// The names of the replies that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<String>,
    /// The call is left out while this day is in the future.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) not_before: Option<Date>,
}

/// `[world]`: the shape of the world that the scenario starts. An absent key does not change it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorldPart {
    pub(crate) seed: Option<u64>,
    pub(crate) companies: Option<u64>,
    pub(crate) employees_per_company: Option<u64>,
    pub(crate) countries: Option<Vec<String>>,
    pub(crate) start: Option<Timestamp>,
    pub(crate) clock: Option<crate::world::ClockMode>,
}

impl WorldPart {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The described base: another base with these changes.
    pub(crate) fn base(&self, of: &Arc<Base>) -> Result<Arc<Base>, String> {
        let shape = self.shape(of.shape().clone());
        let seed = self.seed.unwrap_or(of.seed());
        if seed == of.seed() && shape == *of.shape() {
            return Ok(Arc::clone(of));
        }
        shape.check()?;
        Ok(Arc::new(Base::new(seed, shape)))
    }

    /// A shape with these changes.
    pub(crate) fn shape(&self, mut shape: Shape) -> Shape {
        if let Some(companies) = self.companies {
            shape.companies = companies;
        }
        if let Some(employees) = self.employees_per_company {
            shape.employees_per_company = employees;
        }
        if let Some(countries) = &self.countries {
            shape.countries.clone_from(countries);
        }
        if let Some(start) = self.start {
            shape.start = start;
        }
        shape
    }
}

/// `[[outcome]]`: a choice for a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutcomeRule {
    /// The decision's name, one of [`crate::model::decision::DECISIONS`].
    pub(crate) on: Cow<'static, str>,
    pub(crate) when: When,
    /// The name of the choice.
    pub(crate) then: Cow<'static, str>,
    /// A code of a payment rail.
    pub(crate) code: Option<String>,
    /// A duration that replaces the normal one.
    pub(crate) after: Option<Span>,
    /// The source of the row, for the reason of a decision: `partial-failure.toml:14`, `rule rul_…`,
    /// `Sandbox-Scenario`.
    pub(crate) source: String,
}

/// A rail or code of a row that its decision does not have.
pub(crate) enum RailFault {
    /// `payment_rail` of its conditions.
    Rail(String),
    /// The code.
    Code(String),
}

/// Checks the code of a row: a code of the rail that its conditions name, or of any rail of the decision's payments.
pub(crate) fn check_rail(
    decision: &Decision,
    choice: &str,
    select: &[Selector],
    code: Option<&str>,
) -> Result<(), RailFault> {
    let Some(scope) = decision.codes_of(choice) else { return Ok(()) };
    let named = select.iter().find(|selector| selector.field == "payment_rail");
    let named: Option<RailId> = named
        .map(|selector| match &selector.wanted {
            Wanted::Is(Value::String(name)) => scope.rail(name).map_err(RailFault::Rail),
            _ => Err(RailFault::Rail("expected the name of a payment rail".to_owned())),
        })
        .transpose()?;
    code.map_or(Ok(()), |code| scope.check(named, code).map_err(RailFault::Code))
}

/// `[[webhook]]`: a change of deliveries of matching events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WebhookRow {
    /// `payroll_run.paid`, `payroll_run.*`, `*`.
    pub(crate) on: String,
    pub(crate) when: When,
    pub(crate) shape: Shaping,
    /// The delay: of a duplicate's copy, of a delayed delivery, or the longest delay of a reordered one.
    pub(crate) delay: Option<Span>,
    pub(crate) source: String,
}

/// The change of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DeliveryShaping")]
pub(crate) enum Shaping {
    Duplicate,
    Delay,
    Drop,
    Reorder,
    BadSignature,
    StaleTimestamp,
    Truncate,
}

/// `[[fault]]`: a fault of the caller's own exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FaultRow {
    /// An operationId (`runPayroll`), a domain (`payments.*`), or `*`.
    pub(crate) on: String,
    pub(crate) when: When,
    pub(crate) fault: Fault,
    pub(crate) source: String,
}

/// The fault of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// Refused with this status before the call changes anything, unless `after_commit`.
    pub(crate) status: Option<u16>,
    /// The status comes after the commit: the call has taken effect.
    pub(crate) after_commit: bool,
    /// `Retry-After` of the refusal.
    pub(crate) retry_after: Option<Span>,
    /// The reply is delayed, by the wall clock; the call has taken effect by then.
    pub(crate) latency_ms: Option<u64>,
    pub(crate) lose: Option<Lose>,
    pub(crate) body: Option<BodyFault>,
}

/// The lost half of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LostPart")]
pub(crate) enum Lose {
    /// Before the commit: the call changes nothing.
    Request,
    /// After the commit: the call has taken effect.
    Reply,
}

/// The fault of a reply's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BodyFault {
    /// Ends before its `Content-Length`.
    Truncated,
    /// Not JSON.
    Garbage,
    /// Sent a few bytes at a time.
    Slow,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) rate: Option<Rate>,
    pub(crate) latency: Option<Latency>,
    /// The platform fee. It is part of the world, unlike the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) platform_fee: Option<FeeSchedule>,
    /// The fixed fee of a month. It is part of the world, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) monthly_fee: Option<i64>,
}

/// `100/min`: the most requests in a window of the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rate {
    pub(crate) requests: u64,
    pub(crate) window_ms: u64,
}

/// The latency of every call: evenly between `mean - spread` and `mean + spread`, drawn by the request's
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) mean_ms: u64,
    pub(crate) spread_ms: u64,
}

/// `[[timeline]]`: a call or an inbound event on a date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimelineRow {
    pub(crate) at: Moment,
    /// The interval with which it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) every: Option<Span>,
    pub(crate) does: TimelineAction,
    pub(crate) source: String,
}

/// When a timeline row is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Moment {
    /// This duration after the load of the scenario.
    In(Span),
    At(Timestamp),
    /// After the first event of this type, and this duration.
    After {
        event: String,
        delay: Span,
    },
}

/// The action of a timeline row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimelineAction {
    /// An operation by its operationId, called by the system; its input may contain references.
    Call { operation: String, with: Value },
    /// An inbound event: a kind of `/_sandbox/inbound/{kind}`.
    Inbound { kind: String, with: Value },
}

impl TimelineAction {
    /// The operation or the inbound kind.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Call { operation, .. } => operation,
            Self::Inbound { kind, .. } => kind,
        }
    }
}

/// `[[step]]`: a step of `sandbox scenario test`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    Call(Box<CallStep>),
    /// Advances the clock.
    Advance {
        by: Span,
        source: String,
    },
    /// Advances the clock until no work is pending.
    Idle {
        source: String,
    },
}

/// A step that calls an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallStep {
    /// The operationId.
    pub(crate) call: String,
    /// The members of path, query and body, by name; they may contain references.
    pub(crate) with: Value,
    /// Additional request headers: `Idempotency-Key`, `Sandbox-Scenario`.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) expect: Reaction,
    /// Stores the reply's body under this name, for `@name.data.id`.
    pub(crate) save: Option<String>,
    pub(crate) source: String,
}

/// The expected reply of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reaction {
    pub(crate) status: Option<u16>,
    /// Members that must have these values; other members are allowed.
    pub(crate) body: Option<Value>,
    pub(crate) headers: BTreeMap<String, String>,
    /// The exchange ends without a complete reply.
    pub(crate) lost: bool,
}

/// `[expect]`: the expected result at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expectation {
    /// Event types in order; `…` matches any number of events.
    pub(crate) events: Vec<String>,
    /// The number of deliveries that a receiver got, by event type.
    pub(crate) deliveries: BTreeMap<String, u64>,
}

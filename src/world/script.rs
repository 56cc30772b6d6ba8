//! What the outside world was told to do: the rows of a scenario as plain data, checked where they were read.
//!
//! A file is parsed to the right of the engine; here stand only the types that the world and a tester act on.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::payments::FeeSchedule;
use crate::value::{Span, Timestamp};
use crate::world::{Base, Shape};

/// A whole scenario, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scenario {
    /// Its name: the file's, without the ending.
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
}

/// `[world]`: how the world is grown when the scenario starts it; what is absent stays as it was.
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
    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The base that it describes: of another one, with what it says instead.
    pub(crate) fn base(&self, of: &Arc<Base>) -> Result<Arc<Base>, String> {
        let shape = self.shape(of.shape().clone());
        let seed = self.seed.unwrap_or(of.seed());
        if seed == of.seed() && shape == *of.shape() {
            return Ok(Arc::clone(of));
        }
        shape.check()?;
        Ok(Arc::new(Base::new(seed, shape)))
    }

    /// A shape with what this part says instead.
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

/// How often a row acts: every part must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct When {
    /// What must be true of the subject.
    pub(crate) select: Vec<Selector>,
    /// Only those times that it is asked, counted from 1 over what the selectors let through; every time if empty.
    pub(crate) nth: Vec<Range>,
    /// At most so often.
    pub(crate) times: Option<u64>,
    /// In so many of a million cases, drawn by (seed, decision, subject).
    pub(crate) chance_ppm: Option<u32>,
}

/// Places from `first` to `last`, without end if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) last: Option<u64>,
}

impl Range {
    /// That place alone.
    pub(crate) const fn only(place: u64) -> Self {
        Self { first: place, last: Some(place) }
    }
}

/// One condition on a field of the subject, or of what is related to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Selector {
    /// `department`, `amount`, `period`; or a kind: `employee`, `company`, `payroll_run`.
    pub(crate) field: String,
    pub(crate) wanted: Wanted,
}

/// What a selector wants to see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    /// This value exactly; of a kind, this id.
    Is(Value),
    /// A number in this relation to that one.
    Compare(Comparison, i64),
    /// Of a kind: the one at this place in what it belongs to, from 1: the third of the run.
    Ordinal(u64),
    /// Of a kind: `@employee:3`, the one grown at this place of the world, from 1.
    Reference(u64),
}

/// A relation between numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

/// `[[outcome]]`: what the outside world decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutcomeRule {
    /// The decision's name, one of [`crate::model::decision::DECISIONS`].
    pub(crate) on: Cow<'static, str>,
    pub(crate) when: When,
    /// The name of the choice.
    pub(crate) then: Cow<'static, str>,
    /// A return code `R01` … `R85`.
    pub(crate) code: Option<String>,
    /// Instead of the normal timing.
    pub(crate) after: Option<Span>,
    /// Where the row stands, for whoever asks why: `partial-failure.toml:14`, `rule rul_…`, `Sandbox-Scenario`.
    pub(crate) source: String,
}

/// `[[webhook]]`: what happens to deliveries of matching events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WebhookRow {
    /// `payroll_run.paid`, `payroll_run.*`, `*`.
    pub(crate) on: String,
    pub(crate) when: When,
    pub(crate) shape: Shaping,
    /// How late: of a duplicate its copy, of a delay the delivery, of a reorder how long it is held back.
    pub(crate) delay: Option<Span>,
    pub(crate) source: String,
}

/// What can happen to a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Shaping {
    Duplicate,
    Delay,
    Drop,
    Reorder,
    BadSignature,
    StaleTimestamp,
    Truncate,
}

/// `[[fault]]`: what happens to the caller's own exchange.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FaultRow {
    /// An operationId (`runPayroll`), a domain (`payments.*`), or `*`.
    pub(crate) on: String,
    pub(crate) when: When,
    pub(crate) fault: Fault,
    pub(crate) source: String,
}

/// What goes wrong with an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    /// Refused with this status before anything happens, unless `after_commit`.
    pub(crate) status: Option<u16>,
    /// The status comes after the commit: what was asked has happened all the same.
    pub(crate) after_commit: bool,
    /// `Retry-After` of that refusal.
    pub(crate) retry_after: Option<Span>,
    /// The reply is held back, on the wall clock; what was asked has happened by then.
    pub(crate) latency_ms: Option<u64>,
    pub(crate) lose: Option<Lose>,
    pub(crate) body: Option<BodyFault>,
}

/// Which half of an exchange is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Lose {
    /// Before the commit: nothing has happened.
    Request,
    /// After the commit: everything has.
    Reply,
}

/// What becomes of a reply's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BodyFault {
    /// Ends before its `Content-Length`.
    Truncated,
    /// No JSON.
    Garbage,
    /// Comes a few bytes at a time.
    Slow,
}

/// `[limits]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) rate: Option<Rate>,
    pub(crate) latency: Option<Latency>,
    /// What the service charges: part of the world, unlike the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) platform_fee: Option<FeeSchedule>,
}

/// `100/min`: so many requests in a window of wall-clock time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rate {
    pub(crate) requests: u64,
    pub(crate) window_ms: u64,
}

/// Latency of every call: evenly between `mean - spread` and `mean + spread`, drawn by the request's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) mean_ms: u64,
    pub(crate) spread_ms: u64,
}

/// `[[timeline]]`: something that happens on a date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimelineRow {
    pub(crate) at: Moment,
    pub(crate) does: Deed,
    pub(crate) source: String,
}

/// When a timeline row is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Moment {
    /// So long after the scenario was loaded.
    In(Span),
    At(Timestamp),
    /// When an event of this type happens first, and so long after it.
    After {
        event: String,
        delay: Span,
    },
}

/// What a timeline row does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Deed {
    /// An operation by its operationId, as the system; its input may hold references.
    Call { operation: String, with: Value },
    /// Something that the outside world does: a kind of `/_sandbox/inbound/{kind}`.
    Inbound { kind: String, with: Value },
}

impl Deed {
    /// What it calls, or receives.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Call { operation, .. } => operation,
            Self::Inbound { kind, .. } => kind,
        }
    }
}

/// `[[step]]`: what `sandbox scenario test` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    Call(Box<CallStep>),
    /// Moves the clock on.
    Advance {
        by: Span,
        source: String,
    },
    /// Until nothing is due.
    Idle {
        source: String,
    },
}

/// A step that calls an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallStep {
    /// operationId.
    pub(crate) call: String,
    /// Path, query and body members together, by name; references inside.
    pub(crate) with: Value,
    /// Further request headers: `Idempotency-Key`, `Sandbox-Scenario`.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) expect: Reaction,
    /// Keeps the reply's body under this name, for `@name.data.id`.
    pub(crate) save: Option<String>,
    pub(crate) source: String,
}

/// What a step expects of its reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reaction {
    pub(crate) status: Option<u16>,
    /// Members that must be there with these values; others may be there, too.
    pub(crate) body: Option<Value>,
    pub(crate) headers: BTreeMap<String, String>,
    /// The exchange ends without a whole reply.
    pub(crate) lost: bool,
}

/// `[expect]`: what must have happened in the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expectation {
    /// Types of events in order; `…` for any in between.
    pub(crate) events: Vec<String>,
    /// Deliveries that a receiver got, by type of event.
    pub(crate) deliveries: BTreeMap<String, u64>,
}

impl Selector {
    /// A condition as a row writes it: `department = "Engineering"`, `amount = ">= 500000"`, `employee = 3`,
    /// `employee = "@employee:3"`. `is_kind` says whether the field names a kind of resource.
    pub(crate) fn of(field: &str, is_kind: bool, wanted: &Value) -> Result<Self, &'static str> {
        let wanted = match wanted {
            Value::Number(number) if is_kind => {
                let place = number.as_u64().filter(|place| *place > 0);
                Wanted::Ordinal(place.ok_or("expected a place from 1")?)
            }
            Value::String(text) if is_kind => match text.strip_prefix('@') {
                Some(reference) => {
                    let place = reference.split_once(':').map(|(_, place)| place.parse());
                    let place = place.and_then(Result::ok).filter(|place| *place > 0);
                    Wanted::Reference(place.ok_or("expected a reference such as @employee:3")?)
                }
                None => Wanted::Is(Value::String(text.clone())),
            },
            _ if is_kind => return Err("expected a place from 1, an id, or a reference"),
            Value::String(text) => match Comparison::split(text) {
                Some((relation, number)) => {
                    let number = number.parse();
                    Wanted::Compare(
                        relation,
                        number.map_err(|_| "expected a whole number to compare with")?,
                    )
                }
                None => Wanted::Is(Value::String(text.clone())),
            },
            Value::Number(number) if number.as_i64().is_none() => {
                return Err("expected a whole number");
            }
            Value::Bool(_) | Value::Number(_) => Wanted::Is(wanted.clone()),
            _ => return Err("expected a text, a whole number, or true or false"),
        };
        Ok(Self { field: field.to_owned(), wanted })
    }
}

impl Comparison {
    /// The relation at the start of a text, and what follows it.
    fn split(text: &str) -> Option<(Self, &str)> {
        const RELATIONS: [(&str, Comparison); 7] = [
            (">=", Comparison::GreaterOrEqual),
            ("<=", Comparison::LessOrEqual),
            ("!=", Comparison::NotEqual),
            ("==", Comparison::Equal),
            (">", Comparison::Greater),
            ("<", Comparison::Less),
            ("=", Comparison::Equal),
        ];
        RELATIONS
            .iter()
            .find_map(|(sign, relation)| Some((*relation, text.strip_prefix(sign)?.trim())))
    }
}

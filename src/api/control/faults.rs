//! Network faults added at run time: they apply to the caller's own requests to this key's world.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::api::check::suggestion;
use crate::api::prelude::*;
use crate::tester::fault::{self, contradiction};
use crate::tester::wire::Armed;
use crate::world::script::{BodyFault, Fault, FaultRow, Lose, Range, Selector, When};

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        method: Method::Post,
        path: "/_sandbox/faults",
        summary: "Add a fault",
        description: "Adds a fault for requests to this key's world: an error status, a delay, a \
            lost request or reply, or a damaged body. `where` restricts it to calls with certain \
            members. The first fault that matches applies. Faults added here come before those of scenarios. \
            A key can have at most 1,000 rules and faults.",
        success: 201,
        example: r#"{"on":"runPayroll","times":1,"latency":"20ms"}"#,
        ..operation!(tester add_fault)
    },
    Operation {
        path: "/_sandbox/faults",
        summary: "List faults",
        description: "Lists all faults in the order of evaluation, with their counters.",
        ..operation!(tester list_faults)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/faults/{fault_id}",
        summary: "Remove a fault",
        description: "Removes the fault. It no longer applies.",
        ..operation!(tester remove_fault)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/faults",
        summary: "Remove all faults",
        description: "Removes all faults, including those of scenarios. Limits do not change.",
        ..operation!(tester remove_faults)
    },
]);

/// A fault to add.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddFault {
    /// The requests it applies to: an operationId such as `runPayroll`, a domain such as `payments.*`, or `*` for the whole product API.
    /// Only `sandbox.*` matches control operations.
    on: Text<80>,
    /// Only if these members of the path or body have these values, like `where` in a scenario.
    #[serde(default)]
    r#where: Map<String, Value>,
    /// Only these matching calls, counted from 1: `2`, `[1, 3]`, `"2.."` or `"2..4"`. Default: every call.
    nth: Option<Nth>,
    /// Maximum number of times that the fault applies. Default: unlimited.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    times: Option<u64>,
    /// Probability as decimal text from `0` to `1`, such as `"0.1"`, drawn from the seed. Default: always.
    chance: Option<Text<10>>,
    #[serde(flatten)]
    fault: RuleFault,
}

/// The fault of a rule, without the requests it applies to.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RuleFault {
    /// Refuse the call with this status, before any change.
    #[schemars(range(min = 400, max = 599))]
    status: Option<u16>,
    /// Return the status after the commit: the operation has taken effect.
    after_commit: Option<bool>,
    /// `Retry-After` of the refusal, in whole seconds.
    retry_after: Option<Span>,
    /// Delay of the reply in wall-clock time, at most `5m`. The operation has already taken effect.
    latency: Option<Span>,
    /// Close the connection instead of replying: before or after the commit.
    lose: Option<Lose>,
    /// Damage the reply's body, or send it slowly.
    body: Option<BodyFault>,
}

impl RuleFault {
    /// The fault for that operation, with its limits.
    pub(crate) fn on(
        self,
        on: Text<80>,
        r#where: Map<String, Value>,
        nth: Option<u64>,
        times: Option<u64>,
    ) -> AddFault {
        AddFault { on, r#where, nth: nth.map(Nth::One), times, chance: None, fault: self }
    }
}

/// Positions from 1.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "MatchPositions")]
pub(crate) enum Nth {
    /// One position.
    One(u64),
    /// A list of positions.
    Many(Vec<u64>),
    /// A range with both ends, or without the last.
    Between(Text<40>),
}

/// A fault and its counters.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub(crate) struct FaultShape {
    /// The id of the fault.
    id: String,
    /// The requests that the fault applies to.
    on: String,
    /// Its source: `rule` and its id, or a position in a scenario file. Affected replies name it in `Sandbox-Decision`.
    source: String,
    /// The fault in the format of the `Sandbox-Fault` header.
    does: String,
    /// The members that have conditions.
    conditions: Vec<String>,
    /// The conditions with their values, as they were given.
    r#where: Map<String, Value>,
    /// The matching calls that it applies to, from 1; every call if empty.
    nth: Vec<String>,
    /// Maximum number of times that it applies; null if unlimited.
    times: Option<u64>,
    /// Probability in parts per million; null for always.
    chance_ppm: Option<u32>,
    /// Number of calls that it matched.
    asked: u64,
    /// Number of times that it was applied.
    hits: u64,
}

impl FaultShape {
    fn of(armed: &Armed) -> Self {
        let (row, when) = (&armed.row, &armed.row.when);
        let place = |range: &Range| match range.last {
            Some(last) if last == range.first => last.to_string(),
            Some(last) => format!("{}..{last}", range.first),
            None => format!("{}..", range.first),
        };
        Self {
            id: armed.id.clone(),
            on: row.on.clone(),
            source: row.source.clone(),
            does: row.fault.to_string(),
            conditions: when.select.iter().map(|selector| selector.field.clone()).collect(),
            r#where: when.conditions(),
            nth: when.nth.iter().map(place).collect(),
            times: when.times,
            chance_ppm: when.chance_ppm,
            asked: armed.asked,
            hits: armed.hits,
        }
    }
}

/// Maximum number of rules and faults that can be added at run time, because calls are compared with all of them.
const MOST_RULES: usize = 1_000;

/// Refuses a rule or fault beyond the maximum.
pub(super) fn check_room(session: &Session<'_>) -> Result<()> {
    let outcomes = session.world.script().outcomes.iter().filter(|state| state.rule.is_some());
    let faults = session.tester.wire.rows().iter().filter(|armed| armed.at_run_time);
    let shapes = session.tester.outbox.shaping().rows().iter().filter(|row| row.rule.is_some());
    if outcomes.count() + faults.count() + shapes.count() < MOST_RULES {
        return Ok(());
    }
    let detail =
        format!("this key has {MOST_RULES} rules and faults, the maximum: remove one first");
    Err(ApiError::of_member("", "too_many", detail))
}

fn add_fault(session: &mut Session<'_>, input: AddFault) -> Result<Plain<FaultShape>> {
    check_room(session)?;
    let row = row(input, &session.host.operations())?;
    let key = session.world.base().key();
    Ok(Plain(FaultShape::of(session.tester.wire.add(row, key))))
}

/// The fault as a row, or all mistakes in it.
pub(crate) fn row(input: AddFault, operations: &[&Operation]) -> Result<FaultRow> {
    let mut wrong = Vec::new();
    let mut refuse = |pointer: String, code, detail: String| {
        wrong.push(Violation::new(pointer, code, detail));
    };
    if let Err(detail) = check_on(input.on.as_str(), operations) {
        refuse("/on".to_owned(), "unknown", detail);
    }
    let mut select = Vec::new();
    for (field, wanted) in &input.r#where {
        match condition(input.on.as_str(), field, wanted, operations) {
            Ok(selector) => select.push(selector),
            Err((code, detail)) => refuse(format!("/where/{}", escaped(field)), code, detail),
        }
    }
    let nth = input.nth.map_or(Some(Vec::new()), places).unwrap_or_else(|| {
        let detail = "expected positions from 1, such as 2, [1, 3], \"2..\" or \"2..4\"";
        refuse("/nth".to_owned(), "format", detail.to_owned());
        Vec::new()
    });
    let chance = input.chance.map(|chance| ppm(chance.as_str()));
    if chance == Some(None) {
        let detail = "expected a decimal from 0 to 1 with at most six decimal places, such as 0.1";
        refuse("/chance".to_owned(), "range", detail.to_owned());
    }
    let latency_ms = input.fault.latency.map(|span| fault::wall_ms(&span.to_string()));
    if let Some(Err(expected)) = latency_ms {
        refuse("/latency".to_owned(), "range", expected.to_owned());
    }
    let fault = Fault {
        status: input.fault.status,
        after_commit: input.fault.after_commit.unwrap_or(false),
        retry_after: input.fault.retry_after,
        latency_ms: latency_ms.map(Result::unwrap_or_default),
        lose: input.fault.lose,
        body: input.fault.body,
    };
    if let Some((part, detail)) = contradiction(&fault) {
        let pointer = if part.is_empty() { String::new() } else { format!("/{part}") };
        refuse(pointer, "contradiction", detail);
    }
    ApiError::if_any(wrong)?;
    Ok(FaultRow {
        on: input.on.into_string(),
        when: When { select, nth, times: input.times, chance_ppm: chance.flatten() },
        fault,
        source: String::new(),
    })
}

/// Checks that `on` names `*`, a domain, or an operation. The error is a message.
fn check_on(on: &str, operations: &[&Operation]) -> Result<(), String> {
    let domains = operations.iter().map(|row| format!("{:?}.*", row.domain).to_ascii_lowercase());
    let mut known: Vec<String> = domains.collect();
    known.sort_unstable();
    known.dedup();
    known.extend(operations.iter().map(|row| row.operation_id()));
    if on == "*" || known.iter().any(|name| name == on) {
        return Ok(());
    }
    let near = suggestion(on, known.iter().map(String::as_str));
    Err(format!(
        "expected an operationId such as runPayroll, a domain such as payments.*, or *{near}"
    ))
}

/// A condition of `where`, on a member of the path or body of the operations of `on`. The error is a code and a
/// message.
pub(crate) fn condition(
    on: &str,
    field: &str,
    wanted: &Value,
    operations: &[&Operation],
) -> Result<Selector, (&'static str, String)> {
    let known = members(on, operations);
    if !known.contains(field) {
        let near = suggestion(field, known.iter().map(String::as_str));
        return Err(("unknown", format!("expected a member of the path or body of {on}{near}")));
    }
    Selector::of(field, false, wanted).map_err(|expected| ("type", expected.to_owned()))
}

/// The members of path and body of the operations that `on` names.
fn members(on: &str, operations: &[&Operation]) -> BTreeSet<String> {
    let is_meant = |row: &Operation| match on.strip_suffix(".*") {
        Some(domain) => format!("{:?}", row.domain).eq_ignore_ascii_case(domain),
        None if on == "*" => row.contract != Contract::Control,
        None => row.operation_id() == on,
    };
    let mut names = BTreeSet::new();
    for row in operations.iter().filter(|row| is_meant(row)) {
        names.extend(row.path_parameters().map(str::to_owned));
        if row.method.has_body() {
            names.extend(row.checker().names().map(str::to_owned));
        }
    }
    names
}

/// A name as a part of a JSON pointer.
pub(super) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn places(nth: Nth) -> Option<Vec<Range>> {
    let one = |place: u64| {
        let range = Range { first: place, last: Some(place) };
        (place > 0).then_some(range)
    };
    match nth {
        Nth::One(place) => Some(vec![one(place)?]),
        Nth::Many(places) if places.is_empty() => None,
        Nth::Many(places) => places.into_iter().map(one).collect(),
        Nth::Between(text) => {
            let (first, last) = text.as_str().split_once("..")?;
            let first = first.parse().ok().filter(|first| *first > 0)?;
            let last = match last {
                "" => None,
                last => Some(last.parse().ok().filter(|last| *last >= first)?),
            };
            Some(vec![Range { first, last }])
        }
    }
}

/// Parts per million of a decimal from 0 to 1, read digit by digit without floats.
fn ppm(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part: u32 = format!("{part:0<6}").parse().ok()?;
    match whole {
        "0" => Some(part),
        "1" if part == 0 => Some(1_000_000),
        _ => None,
    }
}

fn list_faults(session: &mut Session<'_>, _: Nothing) -> Result<List<FaultShape>> {
    let rows = session.tester.wire.rows().iter();
    Ok(List::whole(rows.map(FaultShape::of).collect()))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RemoveFault {
    /// The fault.
    fault_id: Text<64>,
}

/// Number of faults, rules or logged requests that were removed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemovedCount")]
pub(crate) struct Removed {
    /// Number of removed entries.
    removed: u64,
}

impl Removed {
    pub(crate) fn of(count: usize) -> Plain<Self> {
        Plain(Self { removed: count as u64 })
    }
}

fn remove_fault(session: &mut Session<'_>, input: RemoveFault) -> Result<Plain<Removed>> {
    if session.tester.wire.remove(input.fault_id.as_str()) {
        return Ok(Removed::of(1));
    }
    let detail = "no fault with this id exists in this key's world: GET /_sandbox/faults lists \
        them";
    Err(ApiError::new(ErrorCode::ResourceNotFound, detail))
}

fn remove_faults(session: &mut Session<'_>, _: Nothing) -> Result<Plain<Removed>> {
    Ok(Removed::of(session.tester.wire.clear()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_is_read_to_the_millionth() {
        for (text, expected) in [
            ("0", Some(0)),
            ("0.1", Some(100_000)),
            ("0.000001", Some(1)),
            ("1", Some(1_000_000)),
            ("1.0", Some(1_000_000)),
            ("1.1", None),
            ("0.0000001", None),
            ("-0.1", None),
            ("1e-7", None),
            ("2", None),
        ] {
            assert_eq!(ppm(text), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_target_of_a_fault_is_refused_with_the_nearest_name() {
        let rows: Vec<_> = crate::api::product().chain(crate::api::control()).collect();
        let check_on = |on| check_on(on, &rows);
        for good in ["*", "payments.*", "business.*", "sandbox.*", "runPayroll", "getClock"] {
            assert_eq!(check_on(good), Ok(()), "{good}");
        }
        for (bad, near) in [("runPayrol", "runPayroll"), ("payment.*", "payments.*")] {
            let error = check_on(bad).expect_err(bad);
            assert!(error.ends_with(&format!("did you mean {near}")), "{error}");
        }
        assert!(check_on("run_payroll").is_err() && check_on("").is_err());
    }
}

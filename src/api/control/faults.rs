//! Faults of the wire at run time: what happens to the caller's own exchange with this key's world.

use crate::api::check::suggestion;
use crate::api::prelude::*;
use crate::api::{control, product};
use crate::tester::fault::{self, contradiction};
use crate::tester::wire::Armed;
use crate::world::script::{BodyFault, Fault, FaultRow, Lose, Range, When};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        method: Method::Post,
        path: "/_sandbox/faults",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Add a fault",
        description: "Lets exchanges with this key's world go wrong: an error status, a delay, a lost request or reply, a broken body. \
            Of all faults the first that matches acts; those added here come before those of scenarios.",
        success: 201,
        example: r#"{"on":"runPayroll","times":1,"latency":"20ms"}"#,
        ..operation!(tester add_fault)
    },
    Operation {
        method: Method::Get,
        path: "/_sandbox/faults",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "List faults",
        description: "Every fault in the order in which they are asked, with how often each was asked and acted.",
        ..operation!(tester list_faults)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/faults/{fault_id}",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Remove a fault",
        description: "From now on it acts no more.",
        errors: &[ErrorCode::ResourceNotFound],
        ..operation!(tester remove_fault)
    },
    Operation {
        method: Method::Delete,
        path: "/_sandbox/faults",
        domain: Domain::Sandbox,
        contract: Contract::Control,
        summary: "Remove all faults",
        description: "Those of scenarios, too. Limits stay as they are.",
        ..operation!(tester remove_faults)
    },
];

/// A fault to be.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AddFault {
    /// What it acts on: an operationId such as `runPayroll`, a domain such as `payments.*`, or `*` for the whole product. The control
    /// plane is reached by `sandbox.*` alone.
    on: Text<80>,
    /// Only those times that such a call comes, from 1: `2`, `[1, 3]`, `"2.."` or `"2..4"`. Every time if absent.
    nth: Option<Nth>,
    /// At most so often. Without end if absent.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    times: Option<u64>,
    /// In that part of all cases, a decimal from `0` to `1` as text such as `"0.1"`, drawn from the seed. Always if absent.
    chance: Option<Text<10>>,
    /// The call is refused with this status before anything happens.
    #[schemars(range(min = 400, max = 599))]
    status: Option<u16>,
    /// The status comes after the commit: what was asked has happened all the same.
    after_commit: Option<bool>,
    /// `Retry-After` of that refusal, in whole seconds.
    retry_after: Option<Span>,
    /// The reply is held back for so long on the wall clock, at most `10m`; what was asked has happened by then.
    latency: Option<Span>,
    /// The connection is closed instead of a reply: before the commit, or after it.
    lose: Option<Lose>,
    /// The reply's body is broken, or slow.
    body: Option<BodyFault>,
}

/// What a rule's fault does: a fault without what it acts on.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RuleFault {
    /// The call is refused with this status before anything happens.
    #[schemars(range(min = 400, max = 599))]
    status: Option<u16>,
    /// The status comes after the commit: what was asked has happened all the same.
    after_commit: Option<bool>,
    /// `Retry-After` of that refusal, in whole seconds.
    retry_after: Option<Span>,
    /// The reply is held back for so long on the wall clock, at most `10m`; what was asked has happened by then.
    latency: Option<Span>,
    /// The connection is closed instead of a reply: before the commit, or after it.
    lose: Option<Lose>,
    /// The reply's body is broken, or slow.
    body: Option<BodyFault>,
}

impl RuleFault {
    /// The fault on that operation, so often.
    pub(crate) fn on(self, operation: Text<80>, nth: Option<u64>, times: Option<u64>) -> AddFault {
        AddFault {
            on: operation,
            nth: nth.map(Nth::One),
            times,
            chance: None,
            status: self.status,
            after_commit: self.after_commit,
            retry_after: self.retry_after,
            latency: self.latency,
            lose: self.lose,
            body: self.body,
        }
    }
}

/// Places from 1.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Nth {
    /// One place.
    One(u64),
    /// Several.
    Many(Vec<u64>),
    /// A range, with both ends or without the last.
    Between(Text<40>),
}

/// A fault as it stands.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub(crate) struct FaultShape {
    /// Its id.
    id: String,
    /// What it acts on.
    on: String,
    /// Where it stands: `rule` and its id, or a place in a scenario's file. Replies that it touched name it in `Sandbox-Decision`.
    source: String,
    /// What it does, as the header `Sandbox-Fault` would ask for it.
    does: String,
    /// Which times it acts, from 1; every time if empty.
    nth: Vec<String>,
    /// How often at most; null without end.
    times: Option<u64>,
    /// In how many of a million cases; null for all.
    chance_ppm: Option<u32>,
    /// How many calls came that it could act on.
    asked: u64,
    /// How often it acted.
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
            nth: when.nth.iter().map(place).collect(),
            times: when.times,
            chance_ppm: when.chance_ppm,
            asked: armed.asked,
            hits: armed.hits,
        }
    }
}

fn add_fault(session: &mut Session<'_>, input: AddFault) -> Result<Plain<FaultShape>, ApiError> {
    let row = row(input)?;
    let key = session.world.base().key();
    Ok(Plain(FaultShape::of(session.tester.wire.add(row, key))))
}

/// The row that was asked for, or everything that is wrong with it.
pub(crate) fn row(input: AddFault) -> Result<FaultRow, ApiError> {
    let mut wrong = Vec::new();
    let mut refuse = |pointer: String, code, detail: String| {
        wrong.push(Violation::new(pointer, code, detail));
    };
    if let Err(detail) = check_on(input.on.as_str()) {
        refuse("/on".to_owned(), "unknown", detail);
    }
    let nth = input.nth.map_or(Some(Vec::new()), places).unwrap_or_else(|| {
        let detail = "expected places from 1, such as 2, [1, 3], \"2..\" or \"2..4\"";
        refuse("/nth".to_owned(), "format", detail.to_owned());
        Vec::new()
    });
    let chance = input.chance.map(|chance| ppm(chance.as_str()));
    if chance == Some(None) {
        let detail = "expected a part from 0 to 1 in at most six decimals, such as 0.1";
        refuse("/chance".to_owned(), "range", detail.to_owned());
    }
    let latency_ms = input.latency.map(|span| fault::wall_ms(&span.to_string()));
    if let Some(Err(expected)) = latency_ms {
        refuse("/latency".to_owned(), "range", expected.to_owned());
    }
    let fault = Fault {
        status: input.status,
        after_commit: input.after_commit.unwrap_or(false),
        retry_after: input.retry_after,
        latency_ms: latency_ms.map(Result::unwrap_or_default),
        lose: input.lose,
        body: input.body,
    };
    if let Some((part, detail)) = contradiction(&fault) {
        let pointer = if part.is_empty() { String::new() } else { format!("/{part}") };
        refuse(pointer, "contradiction", detail);
    }
    if !wrong.is_empty() {
        return Err(ApiError::invalid(wrong));
    }
    Ok(FaultRow {
        on: input.on.into_string(),
        when: When { select: Vec::new(), nth, times: input.times, chance_ppm: chance.flatten() },
        fault,
        source: String::new(),
    })
}

/// Whether `on` names something: `*`, a domain, or an operation. An error is what to say.
pub(crate) fn check_on(on: &str) -> Result<(), String> {
    let rows = || product().chain(control());
    let domains = rows().map(|row| format!("{:?}.*", row.domain).to_ascii_lowercase());
    let mut known: Vec<String> = domains.collect();
    known.sort_unstable();
    known.dedup();
    known.extend(rows().map(Operation::operation_id));
    if on == "*" || known.iter().any(|name| name == on) {
        return Ok(());
    }
    let near = suggestion(on, known.iter().map(String::as_str));
    Err(format!(
        "expected an operationId such as runPayroll, a domain such as payments.*, or *{near}"
    ))
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

/// Millionths of a decimal from 0 to 1, read digit by digit: no float comes near a draw.
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

#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListFaults {}

/// Every fault.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Faults {
    /// In the order in which they are asked.
    data: Vec<FaultShape>,
}

fn list_faults(session: &mut Session<'_>, _: ListFaults) -> Result<Plain<Faults>, ApiError> {
    let rows = session.tester.wire.rows().iter();
    let data = rows.map(FaultShape::of).collect();
    Ok(Plain(Faults { data }))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RemoveFault {
    /// The fault.
    fault_id: Text<64>,
}

/// What was removed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Removed {
    /// How many.
    removed: u64,
}

impl Removed {
    pub(crate) fn of(count: usize) -> Plain<Self> {
        Plain(Self { removed: count as u64 })
    }
}

fn remove_fault(session: &mut Session<'_>, input: RemoveFault) -> Result<Plain<Removed>, ApiError> {
    if session.tester.wire.remove(input.fault_id.as_str()) {
        return Ok(Removed::of(1));
    }
    let detail = "no fault of this key's world has this id: GET /_sandbox/faults lists them";
    Err(ApiError::new(ErrorCode::ResourceNotFound, detail))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct RemoveFaults {}

fn remove_faults(session: &mut Session<'_>, _: RemoveFaults) -> Result<Plain<Removed>, ApiError> {
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
    fn what_a_fault_acts_on_is_known_or_the_nearest_is_named() {
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

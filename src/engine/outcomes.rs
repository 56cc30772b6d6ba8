//! Outcomes by header: reads `Sandbox-Scenario` and writes `Sandbox-Decision`.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::api::host::Host;
use crate::engine::headers::SANDBOX_SCENARIO;
use crate::engine::slot::Slot;
use crate::model::decision::{DECISIONS, Decision};
use crate::value::{ApiError, ErrorCode};
use crate::world::script::{OutcomeRule, When};
use crate::world::{Decided, Why, World};

pub(super) const SANDBOX_DECISION: HeaderName = HeaderName::from_static("sandbox-decision");
/// The most decisions that one header lists.
const MOST_LISTED: usize = 16;

/// A part of the header.
pub(super) enum Chosen {
    Row(OutcomeRule),
    /// All outcomes of the scenario with that name.
    Named(String),
}

/// The outcomes that a request chooses: `payout.settle=returned;code=R02`, several separated by commas, or a
/// scenario's name for all of its outcomes.
/// An unknown name is refused, never ignored.
pub(super) fn wanted(headers: &HeaderMap) -> Result<Vec<Chosen>, ApiError> {
    let mut chosen = Vec::new();
    for value in headers.get_all(SANDBOX_SCENARIO) {
        let text = value.to_str().map_err(|_| unknown("expected visible ASCII characters"))?;
        for part in text.split(',').map(str::trim) {
            if !part.contains('=') {
                chosen.push(named(part)?);
                continue;
            }
            let row = outcome(part)?;
            let is_same =
                |other: &Chosen| matches!(other, Chosen::Row(other) if other.on == row.on);
            if chosen.iter().any(is_same) {
                return Err(unknown(format!("{} is chosen twice", row.on)));
            }
            chosen.push(Chosen::Row(row));
        }
    }
    Ok(chosen)
}

/// The rows of the parts. The key's own scenarios come before those of the host, as for a load.
pub(super) fn resolved(
    chosen: &[Chosen],
    slot: Option<&Slot>,
    host: &dyn Host,
) -> Result<Vec<OutcomeRule>, ApiError> {
    let mut outcomes = Vec::new();
    for part in chosen {
        match part {
            Chosen::Row(row) => outcomes.push(row.clone()),
            Chosen::Named(name) => {
                let own = slot.and_then(|slot| {
                    slot.tester().own.iter().find(|own| own.name == *name).cloned()
                });
                let named = own.map_or_else(|| host.scenario(name), Ok)?;
                outcomes.extend(named.outcomes.iter().cloned());
            }
        }
    }
    Ok(outcomes)
}

/// The outcomes header of a request as it was sent, even if it was refused. Several headers are joined by commas,
/// which is equivalent.
pub(super) fn as_sent(headers: &HeaderMap) -> Option<Box<str>> {
    let values = headers.get_all(SANDBOX_SCENARIO).iter();
    let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", ").into())
}

fn unknown(detail: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::UnknownScenario, format!("Sandbox-Scenario: {}", detail.into()))
}

fn named(part: &str) -> Result<Chosen, ApiError> {
    let Some(decision) = Decision::find(part) else { return Ok(Chosen::Named(part.to_owned())) };
    let detail =
        format!("{part} is a decision: write {part}=CHOICE, with one of {}", choices(decision));
    Err(unknown(detail))
}

fn choices(decision: &Decision) -> String {
    let known: Vec<&str> = decision.choices.iter().map(|choice| choice.name).collect();
    known.join(", ")
}

fn outcome(text: &str) -> Result<OutcomeRule, ApiError> {
    let mut parts = text.split(';').map(str::trim);
    let (name, then) = parts.next().and_then(|first| first.split_once('=')).unwrap_or((text, ""));
    let (name, then) = (name.trim(), then.trim());
    let Some(decision) = Decision::find(name) else {
        let known: Vec<&str> = DECISIONS.iter().map(|row| row.name).collect();
        return Err(unknown(format!(
            "there is no decision {name:?}: expected {}",
            known.join(", ")
        )));
    };
    let Some(choice) = decision.choice(then) else {
        return Err(unknown(format!(
            "{name} has no choice {then:?}: expected one of {}",
            choices(decision)
        )));
    };
    let mut outcome = OutcomeRule {
        on: decision.name.into(),
        when: When::default(),
        then: choice.name.into(),
        code: None,
        after: None,
        source: "Sandbox-Scenario".to_owned(),
    };
    for part in parts {
        let wrong = |expected: &str| unknown(format!("{part}: {expected}"));
        match part.split_once('=') {
            Some(("code", _)) if outcome.code.is_some() => {
                return Err(unknown("code is given twice"));
            }
            Some(("after", _)) if outcome.after.is_some() => {
                return Err(unknown("after is given twice"));
            }
            Some(("code", code)) if choice.code.is_some() => {
                if let Some(scope) = decision.codes_of(choice.name) {
                    scope.check(None, code).map_err(|why| wrong(&why))?;
                }
                outcome.code = Some(code.to_owned());
            }
            Some(("after", after)) if choice.after.is_some() => {
                outcome.after = Some(after.parse().map_err(wrong)?);
            }
            _ => return Err(unknown(format!("{name}={then} does not support {part:?}"))),
        }
    }
    Ok(outcome)
}

/// The decisions after this number.
pub(super) fn since(world: &World, sequence: u64) -> Vec<Arc<Decided>> {
    let decided = world.decided().iter().rev();
    let mut new: Vec<_> =
        decided.take_while(|decided| decided.sequence > sequence).cloned().collect();
    new.reverse();
    new
}

/// The number of decisions of a world.
pub(super) fn count(world: &World) -> u64 {
    world.decided().last().map_or(0, |last| last.sequence)
}

/// `Sandbox-Decision`: `payout.settle=returned;code=R02;why=rule;times=2`. Chosen outcomes come first.
pub(super) fn header(decided: &[Arc<Decided>]) -> Option<HeaderValue> {
    let mut kinds: Vec<(&Decided, u64)> = Vec::new();
    for decided in decided {
        let same = |other: &Decided| {
            other.decision == decided.decision
                && other.chosen == decided.chosen
                && other.code == decided.code
                && other.why == decided.why
        };
        match kinds.iter_mut().find(|(other, _)| same(other)) {
            Some((_, times)) => *times += 1,
            None => kinds.push((decided, 1)),
        }
    }
    kinds.sort_by_key(|(decided, _)| decided.why == Why::Default);
    kinds.truncate(MOST_LISTED);
    let parts: Vec<String> = kinds
        .iter()
        .map(|(decided, times)| {
            let code = decided.code.as_ref().map(|code| format!(";code={code}"));
            let code = code.unwrap_or_default();
            let times = if *times > 1 { format!(";times={times}") } else { String::new() };
            let why = decided.why.name();
            format!("{}={}{code};why={why}{times}", decided.decision, decided.chosen)
        })
        .collect();
    (!parts.is_empty()).then(|| HeaderValue::try_from(parts.join(", ")).expect("names are ASCII"))
}

//! Cases as NDJSON: one object on each input line, one result on each output line, in order. A refused line
//! has its reason in
//! its own output line and does not stop the others.
//!
//! Numbers may also be strings. `attrs`, `inputs`, `gross` and `ytd` may be the text of a CSV cell
//! (`a=b;c=d`, or JSON). So a CSV table of cases can be used after a change of format.
//!
//! An input `earning.bonus` or `pay.bonus` is paid in addition to `gross`, as that component. An input
//! `deduction.401k` is a deduction of that type.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::outcome::{CasesOutcome, Error};
use super::{deductions, money};
use crate::model::payroll::{
    Component, Pack, Pay, PayError, PayInput, PayPeriod, Profile, YearToDate, library,
};

/// A case. The additional columns of a table of expected results are accepted and ignored; other unknown
/// members are refused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    pack: Option<String>,
    period: Option<PayPeriod>,
    #[serde(default)]
    k: Value,
    #[serde(default)]
    attrs: Value,
    #[serde(default)]
    inputs: Value,
    gross: Value,
    #[serde(default)]
    ytd: Value,
    #[serde(rename = "id")]
    _id: Option<IgnoredAny>,
    #[serde(rename = "engine")]
    _engine: Option<IgnoredAny>,
    #[serde(rename = "line")]
    _line: Option<IgnoredAny>,
    #[serde(rename = "expected")]
    _expected: Option<IgnoredAny>,
    #[serde(rename = "tol")]
    _tolerance: Option<IgnoredAny>,
}

/// The result of a case, in minor units.
#[derive(Serialize)]
struct CaseResult {
    gross: i64,
    /// Amounts by line with a role, and of the memos that the pack shows.
    lines: Map<String, Value>,
    tax: i64,
    employee: i64,
    employer: i64,
    withheld: i64,
    /// Deductions that the inputs name, by type.
    #[serde(skip_serializing_if = "Map::is_empty")]
    deductions: Map<String, Value>,
    net: i64,
}

/// Answers every line of `input` and skips empty ones. `default` is the pack of cases without one.
pub(super) fn answer_all(
    default: Option<&str>,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<CasesOutcome, Error> {
    let mut outcome = CasesOutcome::Computed;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let written = match answer(default, text) {
            Ok(answer) => serde_json::to_writer(&mut output, &answer),
            Err(error) => {
                outcome = CasesOutcome::SomeRefused;
                serde_json::to_writer(&mut output, &json!({ "error": error, "line": number }))
            }
        };
        written.map_err(io::Error::from)?;
        output.write_all(b"\n")?;
    }
    output.flush()?;
    Ok(outcome)
}

fn answer(default: Option<&str>, text: &[u8]) -> Result<CaseResult, String> {
    let case: Case = serde_json::from_slice(text).map_err(|error| {
        let why = if error.is_data() {
            ""
        } else {
            "expected a case such as {\"pack\": \"GB\", \"gross\": 300000}: "
        };
        format!("{why}{error}")
    })?;
    let code = case.pack.as_deref().or(default).ok_or("the case has no `pack`")?;
    let unknown = || PayError::UnknownPack(code.to_owned()).to_string();
    let pack = library().pack(code).ok_or_else(unknown)?;
    let (pay, profile) = evaluate(pack, &case)?;
    let deductions = deductions::of(pack, &profile);
    let deductions = deductions.map(|(kind, amount)| (kind.id.clone(), Value::from(amount)));
    let lines = pack.lines().iter().zip(&pay.amounts);
    let shown = pack.shown_names().zip(&pay.shown);
    let shown = shown.map(|(name, amount)| (name.to_owned(), Value::from(*amount)));
    Ok(CaseResult {
        gross: pay.gross,
        lines: lines
            .map(|(line, amount)| (line.id.clone(), Value::from(*amount)))
            .chain(shown)
            .collect(),
        tax: pay.tax,
        employee: pay.employee,
        employer: pay.employer,
        withheld: pay.withheld,
        deductions: deductions.collect(),
        net: pay.net - deductions::sum(pack, &profile, pay.net)?,
    })
}

fn evaluate(pack: &Pack, case: &Case) -> Result<(Pay, Profile), String> {
    let number = match &case.k {
        Value::Null => 1,
        k => u32::try_from(whole("k", k)?)
            .map_err(|_| format!("`k` is {k}: must be a number from 1"))?,
    };
    let totals = ytd(&case.ytd)?;
    let ytd = YearToDate::from_names(pack, &totals).map_err(|error| error.to_string())?;
    let mut profile = profile(pack, &case.attrs)?;
    let mut earnings = earnings(pack, &case.gross)?;
    read_inputs(pack, &case.inputs, &mut profile, &mut earnings)?;
    let sum: i128 = earnings.iter().map(|(_, amount)| i128::from(*amount)).sum();
    if sum > i128::from(money::MOST) {
        return Err(money::too_large("the sum of `gross` and earnings", pack.minor_digits));
    }
    let pay = pack.evaluate(&PayInput {
        period: case.period.unwrap_or(pack.periods[0]),
        number,
        attributes: profile.attributes,
        inputs: &profile.inputs,
        on: None,
        earnings: &earnings,
        ytd: &ytd,
    });
    Ok((pay.map_err(|error| error.to_string())?, profile))
}

fn profile(pack: &Pack, given: &Value) -> Result<Profile, String> {
    let text = |(name, value): (String, Value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Bool(_) | Value::Number(_) => Ok((name, value.to_string())),
        _ => Err(format!("`attrs`: `{name}` is not a string, a boolean or a number")),
    };
    let values = pairs("attrs", given)?.into_iter().map(text);
    let values = values.collect::<Result<Vec<(String, String)>, String>>()?;
    let values = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    pack.profile(values).map_err(|error| error.to_string())
}

/// Numbers of the pack, deductions by type, and earnings that are paid on top.
fn read_inputs(
    pack: &Pack,
    given: &Value,
    profile: &mut Profile,
    earnings: &mut Vec<(Component, i64)>,
) -> Result<(), String> {
    for (name, value) in pairs("inputs", given)? {
        let number = whole(&name, &value)?;
        let component = name.strip_prefix("earning.").or_else(|| name.strip_prefix("pay."));
        if let Some(component) = component {
            earnings.push((pack.component(component), number));
        } else {
            let index = pack.input(&name).map_err(|error| error.to_string())?;
            profile.inputs[index] = number;
        }
    }
    Ok(())
}

/// An amount, which is all basic salary, or an object of amounts by component.
fn earnings(pack: &Pack, given: &Value) -> Result<Vec<(Component, i64)>, String> {
    match from_cell("gross", given)? {
        Value::Object(parts) => parts
            .iter()
            .map(|(name, amount)| Ok((pack.component(name), whole(name, amount)?)))
            .collect(),
        amount => Ok(vec![(pack.component("basic"), whole("gross", &amount)?)]),
    }
}

fn ytd(given: &Value) -> Result<BTreeMap<String, i64>, String> {
    match from_cell("ytd", given)? {
        Value::Null => Ok(BTreeMap::new()),
        Value::Object(totals) => {
            totals.iter().map(|(name, total)| Ok((name.clone(), whole(name, total)?))).collect()
        }
        _ => Err("`ytd` must be an object of minor units by name".to_owned()),
    }
}

/// An object, or a cell of `a=b;c=d`.
fn pairs(key: &str, given: &Value) -> Result<Vec<(String, Value)>, String> {
    match given {
        Value::Null => Ok(Vec::new()),
        Value::Object(pairs) => Ok(pairs.clone().into_iter().collect()),
        Value::String(cell) => {
            let pair = |text: &str| match text.split_once('=') {
                Some((name, value)) => Ok((name.to_owned(), Value::from(value))),
                None => Err(format!("`{key}`: `{text}` is not NAME=VALUE")),
            };
            cell.split(';').filter(|text| !text.is_empty()).map(pair).collect()
        }
        _ => Err(format!("`{key}` must be an object, or text such as a=b;c=d")),
    }
}

/// Reads JSON inside a string, as in a CSV cell. An empty cell is null.
fn from_cell(key: &str, given: &Value) -> Result<Value, String> {
    match given {
        Value::String(cell) if cell.is_empty() => Ok(Value::Null),
        Value::String(cell) => {
            serde_json::from_str(cell).map_err(|error| format!("`{key}`: `{cell}`: {error}"))
        }
        other => Ok(other.clone()),
    }
}

fn whole(name: &str, value: &Value) -> Result<i64, String> {
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    };
    number.ok_or_else(|| {
        format!("`{name}` is {value}: must be a whole number (money in minor units)")
    })
}

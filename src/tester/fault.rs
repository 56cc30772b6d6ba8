//! Network faults as text: the format of the header, and which parts of a fault exclude each other.
//!
//! `status=503;retry_after=1s`, `lose=reply`, `latency=2s`, `body=garbage`. Deliberately absent: when a fault is applied (`wire`), and its
//! effect on a request, which the engine and the edge implement.

use core::fmt;

use crate::value::Span;
use crate::world::script::{BodyFault, Fault, Lose};

/// The maximum delay of a reply. Clients have timed out by then, and a longer delay would only keep the connection
/// open.
pub(crate) const LONGEST_MS: u64 = 5 * 60 * 1_000;

/// A mistake in a fault: the member, and a sentence.
pub(crate) type Contradiction = (&'static str, String);

/// The first invalid member or combination of members of a fault.
pub(crate) fn contradiction(fault: &Fault) -> Option<Contradiction> {
    let found = |part, detail: &str| Some((part, detail.to_owned()));
    let (status, lose, body) = (fault.status, fault.lose, fault.body);
    if status.is_none() && lose.is_none() && body.is_none() && fault.latency_ms.is_none() {
        return found("", "expected one of status, latency, lose and body");
    }
    if status.is_some_and(|status| !(400..=599).contains(&status)) {
        return found("status", "expected a status from 400 to 599");
    }
    if status.is_some() && lose.is_some() {
        let detail = "a lost reply has no status; use status or lose, or two rows with nth";
        return found("lose", detail);
    }
    if status.is_some() && body.is_some() {
        let detail = "a refusal always has a problem document as its body; use status or body";
        return found("body", detail);
    }
    if lose.is_some() && body.is_some() {
        return found("body", "a lost reply has no body; use lose or body");
    }
    if lose.is_some() && fault.latency_ms.is_some() {
        return found("latency", "a lost reply has no delay; use lose or latency");
    }
    if fault.after_commit && status.is_none() {
        let detail =
            "after_commit requires a status; lose = \"reply\" always acts after the commit";
        return found("after_commit", detail);
    }
    if fault.retry_after.is_some() && status.is_none() {
        return found("retry_after", "retry_after requires a status");
    }
    if matches!(fault.retry_after, Some(Span::BusinessDays(_))) {
        return found("retry_after", "retry_after must be a wall-clock time such as 1s or 2m");
    }
    if fault.latency_ms.is_some_and(|ms| ms > LONGEST_MS) {
        return found("latency", "latency must be at most 5m");
    }
    None
}

/// Milliseconds of wall-clock time; an error says what was expected.
pub(crate) fn wall_ms(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a duration such as 110ms, 2s or 1m, at most 5m";
    match text.parse() {
        Ok(Span::Millis(ms)) => {
            u64::try_from(ms).ok().filter(|ms| *ms <= LONGEST_MS).ok_or(EXPECTED)
        }
        _ => Err(EXPECTED),
    }
}

/// Parses the fault in a header; an error is a sentence.
pub(crate) fn parse(text: &str) -> Result<Fault, String> {
    let mut fault = Fault::default();
    let mut seen: Vec<&str> = Vec::new();
    for part in text.split(';') {
        let Some((name, value)) = part.trim().split_once('=') else {
            return Err(format!(
                "expected name=value such as status=503;retry_after=1s or body=garbage, but found {:?}",
                part.trim()
            ));
        };
        let (name, value) = (name.trim(), value.trim());
        if seen.contains(&name) {
            return Err(format!("{name} is given twice"));
        }
        seen.push(name);
        let hint = separator(value);
        let wrong = |expected: &str| format!("{name}: {expected}, but found {value:?}{hint}");
        match name {
            "status" => {
                let status =
                    value.parse().map_err(|_| wrong("expected a number from 400 to 599"))?;
                fault.status = Some(status);
            }
            "after_commit" => {
                let yes = value.parse().map_err(|_| wrong("expected true or false"))?;
                fault.after_commit = yes;
            }
            "retry_after" => {
                fault.retry_after = Some(value.parse().map_err(wrong)?);
            }
            "latency" => fault.latency_ms = Some(wall_ms(value).map_err(wrong)?),
            "lose" => {
                fault.lose = Some(match value {
                    "request" => Lose::Request,
                    "reply" => Lose::Reply,
                    _ => return Err(wrong("expected request or reply")),
                });
            }
            "body" => {
                fault.body = Some(match value {
                    "truncated" => BodyFault::Truncated,
                    "garbage" => BodyFault::Garbage,
                    "slow" => BodyFault::Slow,
                    _ => return Err(wrong("expected truncated, garbage or slow")),
                });
            }
            _ => {
                return Err(format!(
                    "{name:?} is not one of status, after_commit, retry_after, latency, lose and body"
                ));
            }
        }
    }
    match contradiction(&fault) {
        None => Ok(fault),
        Some((_, detail)) => Err(detail),
    }
}

/// A hint for a value with a comma. Commas separate the choices of `Sandbox-Scenario`, so they are tried here, too.
fn separator(value: &str) -> &'static str {
    let has_comma = value.contains(',');
    if has_comma { "; a semicolon separates the parts: status=503;retry_after=1s" } else { "" }
}

/// In the format of the header.
impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.status.map(|status| format!("status={status}")));
        parts.extend(self.after_commit.then(|| "after_commit=true".to_owned()));
        parts.extend(self.retry_after.map(|span| format!("retry_after={span}")));
        let latency = self.latency_ms.and_then(|ms| i64::try_from(ms).ok());
        parts.extend(latency.map(|ms| format!("latency={}", Span::Millis(ms))));
        parts.extend(self.lose.map(|lose| format!("lose={}", lose.name())));
        parts.extend(self.body.map(|body| format!("body={}", body.name())));
        out.write_str(&parts.join(";"))
    }
}

impl Lose {
    const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Reply => "reply",
        }
    }
}

impl BodyFault {
    const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Garbage => "garbage",
            Self::Slow => "slow",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_reads_back_what_it_wrote() {
        for text in [
            "status=503;retry_after=1s",
            "status=500;after_commit=true",
            "status=503;latency=2s",
            "lose=request",
            "latency=110ms;body=slow",
            "body=garbage",
        ] {
            let fault = parse(text).expect(text);
            assert_eq!(fault.to_string(), text);
        }
    }

    #[test]
    fn contradicting_parts_of_a_fault_are_refused_by_name() {
        for (text, part) in [
            ("", "expected name=value"),
            ("status", "expected name=value"),
            ("status=200", "status"),
            ("status=600", "status"),
            ("status=abc", "status"),
            ("status=503,retry_after=1s", "a semicolon separates the parts"),
            ("lose=reply,latency=1s", "a semicolon separates the parts"),
            ("status=503;status=503", "twice"),
            ("status=503;lose=reply", "lose"),
            ("status=503;body=garbage", "body"),
            ("lose=reply;body=slow", "body"),
            ("lose=reply;latency=2s", "use lose or latency"),
            ("retry_after=1s", "expected one of"),
            ("latency=1s;retry_after=1s", "retry_after"),
            ("status=503;retry_after=2bd", "retry_after"),
            ("latency=1s;after_commit=true", "after_commit"),
            ("latency=301s", "at most 5m"),
            ("latency=1bd", "latency"),
            ("lose=both", "lose"),
            ("colour=red", "is not one of status"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: expected {part:?}, got {error}");
        }
    }
}

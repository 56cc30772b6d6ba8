//! Faults of the wire in words: how one is written in a header, and which parts of one do not go together.
//!
//! `status=503;retry_after=1s`, `lose=reply`, `latency=2s`, `body=garbage`. Deliberately absent: when a fault acts (`wire`) and what
//! it does to an exchange, which is the engine's and the edge's.

use core::fmt;

use crate::value::Span;
use crate::world::script::{BodyFault, Fault, Lose};

/// The longest that a reply is held back: beyond it any client has given up, and a connection would be kept for nothing.
pub(crate) const LONGEST_MS: u64 = 10 * 60 * 1_000;

/// What is wrong with a fault: the part, and a sentence.
pub(crate) type Contradiction = (&'static str, String);

/// What of a fault cannot be, or cannot be together.
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
        let detail =
            "a reply that is lost has no status: take status or lose, or two rows with nth";
        return found("lose", detail);
    }
    if status.is_some() && body.is_some() {
        let detail = "a refusal's body is a problem document: take status or body";
        return found("body", detail);
    }
    if lose.is_some() && body.is_some() {
        return found("body", "a reply that is lost has no body: take lose or body");
    }
    if fault.after_commit && status.is_none() {
        let detail = "says when a status comes, and there is none: lose = \"reply\" is after the commit anyway";
        return found("after_commit", detail);
    }
    if fault.retry_after.is_some() && status.is_none() {
        return found("retry_after", "goes with a status, and there is none");
    }
    if matches!(fault.retry_after, Some(Span::BusinessDays(_))) {
        return found("retry_after", "is time on the caller's own clock, such as 1s or 2m");
    }
    if fault.latency_ms.is_some_and(|ms| ms > LONGEST_MS) {
        return found("latency", "expected at most 10m");
    }
    None
}

/// Milliseconds of the wall clock; an error says what was expected.
pub(crate) fn wall_ms(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a length of time such as 110ms, 2s or 1m, at most 10m";
    match text.parse() {
        Ok(Span::Millis(ms)) => {
            u64::try_from(ms).ok().filter(|ms| *ms <= LONGEST_MS).ok_or(EXPECTED)
        }
        _ => Err(EXPECTED),
    }
}

/// The fault that a header asks for; an error is a sentence on what is wrong.
pub(crate) fn parse(text: &str) -> Result<Fault, String> {
    let mut fault = Fault::default();
    let mut seen: Vec<&str> = Vec::new();
    for part in text.split(';') {
        let Some((name, value)) = part.trim().split_once('=') else {
            return Err(format!("expected name=value, not {:?}", part.trim()));
        };
        let (name, value) = (name.trim(), value.trim());
        if seen.contains(&name) {
            return Err(format!("{name} is said twice"));
        }
        seen.push(name);
        let wrong = |expected: &str| format!("{name}: {expected}, not {value:?}");
        match name {
            "status" => {
                let status = value.parse().map_err(|_| wrong("expected a status"))?;
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
                    "{name:?} is not known: status, after_commit, retry_after, latency, lose and body are"
                ));
            }
        }
    }
    match contradiction(&fault) {
        None => Ok(fault),
        Some(("", detail)) => Err(detail),
        Some((part, detail)) => Err(format!("{part}: {detail}")),
    }
}

/// As a header would ask for it.
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
            "latency=2s;lose=reply",
            "lose=request",
            "latency=110ms;body=slow",
            "body=garbage",
        ] {
            let fault = parse(text).expect(text);
            assert_eq!(fault.to_string(), text);
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_part_that_is_wrong() {
        for (text, part) in [
            ("", "expected name=value"),
            ("status", "expected name=value"),
            ("status=200", "status"),
            ("status=600", "status"),
            ("status=abc", "status"),
            ("status=503;status=503", "twice"),
            ("status=503;lose=reply", "lose"),
            ("status=503;body=garbage", "body"),
            ("lose=reply;body=slow", "body"),
            ("retry_after=1s", "expected one of"),
            ("latency=1s;retry_after=1s", "retry_after"),
            ("status=503;retry_after=2bd", "retry_after"),
            ("latency=1s;after_commit=true", "after_commit"),
            ("latency=1h", "latency"),
            ("latency=1bd", "latency"),
            ("lose=both", "lose"),
            ("colour=red", "not known"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

//! The trace of a call, as W3C Trace Context (level 2) writes it in the header `traceparent`.
//!
//! Deliberately absent: `tracestate`, which belongs to the vendors of tracing systems.

use core::fmt;

/// The id of a trace: 32 hexadecimal digits, not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceId(u128);

impl TraceId {
    /// Parses 32 lower-case hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bits = u128::from_str_radix(hexadecimal::<32>(text)?, 16).ok()?;
        (bits != 0).then_some(Self(bits))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The value of a valid `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceParent {
    pub(crate) trace: TraceId,
    parent: u64,
    flags: u8,
}

impl TraceParent {
    /// Parses the header's value. For a version after 00, only the parts that the standard guarantees are read. The header is passed on as
    /// version 00, with the flag `sampled`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (known, rest) = text.split_at_checked(55)?;
        let mut parts = known.split('-');
        let mut part = || parts.next();
        let version = hexadecimal::<2>(part()?)?;
        let trace = TraceId::parse(part()?)?;
        let parent = u64::from_str_radix(hexadecimal::<16>(part()?)?, 16).ok()?;
        let flags = u8::from_str_radix(hexadecimal::<2>(part()?)?, 16).ok()?;
        let (is_open, flags) = match version {
            "ff" => return None,
            "00" => (rest.is_empty(), flags),
            _ => (rest.is_empty() || rest.starts_with('-'), flags & 1),
        };
        (is_open && parent != 0).then_some(Self { trace, parent, flags })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

/// The text, if it consists of that many lower-case hexadecimal digits.
fn hexadecimal<const DIGITS: usize>(text: &str) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == DIGITS && text.bytes().all(is_digit)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    #[test]
    fn a_valid_traceparent_is_written_as_it_was_read() {
        for flags in ["00", "01", "03"] {
            let text = format!("00-{TRACE}-{PARENT}-{flags}");
            let read = TraceParent::parse(&text).expect("it is valid");
            assert_eq!((read.to_string(), read.trace.to_string()), (text, TRACE.to_owned()));
        }
    }

    #[test]
    fn a_later_version_is_passed_on_as_version_00() {
        for rest in ["", "-what-the-future-brings"] {
            let read = TraceParent::parse(&format!("cc-{TRACE}-{PARENT}-ff{rest}"));
            assert_eq!(read.expect("valid").to_string(), format!("00-{TRACE}-{PARENT}-01"));
        }
    }

    #[test]
    fn an_invalid_traceparent_is_none() {
        let zero = "0".repeat(32);
        let invalid = [
            String::new(),
            "00".to_owned(),
            format!("00-{TRACE}-{PARENT}"),
            format!("00-{TRACE}-{PARENT}-0"),
            format!("00-{TRACE}-{PARENT}-01-"),
            format!("00-{TRACE}-{PARENT}-011"),
            format!("cc-{TRACE}-{PARENT}-01x"),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("0-{TRACE}-{PARENT}-01x"),
            format!("00-{zero}-{PARENT}-01"),
            format!("00-{TRACE}-0000000000000000-01"),
            format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{PARENT}-+1"),
            format!("00_{TRACE}_{PARENT}_01"),
            format!("00-{TRACE}-{}é-01", &PARENT[2..]),
        ];
        for text in invalid {
            assert_eq!(TraceParent::parse(&text), None, "{text}");
        }
    }
}

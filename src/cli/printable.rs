//! Makes untrusted text safe for a terminal.

/// Replaces control characters, so that a sender cannot control the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

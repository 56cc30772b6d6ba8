//! What a timer declares: its name, the events that it emits and the timers that it starts.
//!
//! The files with the timers' functions import this module and not `system`, whose table imports them.

/// The declaration of one timer.
pub(crate) struct SystemRow {
    pub(crate) name: &'static str,
    pub(crate) emits: &'static [&'static str],
    /// Names of the timers that it starts.
    pub(crate) starts: &'static [&'static str],
}

impl SystemRow {
    /// A timer that starts no other one.
    pub(crate) const LAST: Self = Self { name: "", emits: &[], starts: &[] };
}

//! The rules that a run must keep, with their severity and their fix.

use serde::Serialize;

/// Whether a finding fails its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Severity {
    Fail,
    Warn,
}

/// A rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rule {
    /// Its name in reports.
    pub(super) id: &'static str,
    pub(super) severity: Severity,
    /// The required behaviour.
    pub(super) fix: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $fix:expr;)*) => {
        $(pub(super) const $name: &Rule = &Rule { id: $id, severity: Severity::$severity, fix: $fix };)*

        /// Every rule, in the order of reports.
        pub(super) const ALL: &[&Rule] = &[$($name,)*];
    };
}

const KEEP: &str = "make the key once for one purchase, store it before the first attempt, send it again on every retry";
const SEND: &str = "send an Idempotency-Key with every write, and the same one on a retry";
const LOOK_UP: &str =
    "look up what happened, or retry with the same key, before you try another way";
const UNKNOWN: &str = "treat a 5xx and silence as \"not known\", not as failed";
const SAY_SO: &str = "report \"not known\" (exit 75) while the outcome is not known";

rules! {
    MOVED_TWICE "money.moved_twice" Fail KEEP;
    MOVED_ELSEWHERE "money.moved_elsewhere" Fail LOOK_UP;
    UNPAID_BUT_OK "money.unpaid_but_ok" Fail SAY_SO;
    ENTRIES_DIFFER "money.entries_differ" Fail LOOK_UP;
    MOVED_TWICE_ON_RERUN "money.moved_twice_on_rerun" Fail KEEP;
    UNPAID_BUT_OK_ON_RERUN "money.unpaid_but_ok_on_rerun" Fail SAY_SO;
    NEVER_ENDS "app.never_ends" Fail "set a time limit for each request and a limit of attempts, then report \"not known\" (exit 75)";
    WITHOUT_KEY "retry.without_key" Fail SEND;
    FRESH_KEY "retry.fresh_key" Fail KEEP;
    OTHER_WAY "retry.other_way" Fail UNKNOWN;
    IGNORES_RETRY_AFTER "retry.ignores_retry_after" Fail "wait as long as Retry-After says";
    NO_BACK_OFF "retry.no_back_off" Fail "double the pause after every attempt, and add a random part";
    ACCEPTS_BAD_SIGNATURE "hook.accepts_bad_signature" Fail "check webhook-signature before you read the body";
    ACCEPTS_STALE "hook.accepts_stale" Fail "refuse a webhook-timestamp that is older than five minutes";
    STATE_DIFFERS "state.differs" Warn KEEP;
    SAYS_FAILED_BUT_PAID "app.says_failed_but_paid" Warn UNKNOWN;
}

/// The fixes for the money rules in webhook cases.
pub(super) const HOOK_FIXES: [(&str, &str); 4] = [
    ("hook_duplicate", "remember webhook-id, and act once for each"),
    ("hook_late", "compare sequence before you store a state"),
    ("hook_order", "compare sequence before you store a state"),
    ("hook_before_reply", "accept a webhook that comes before its reply"),
];

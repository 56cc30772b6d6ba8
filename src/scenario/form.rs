//! The form of a scenario file: every table, its keys, and their values.
//!
//! This is the only description: the reader accepts only these keys, and the JSON Schema for editors is made
//! from it. Deliberately absent: the
//! combinations of keys, which the readers of the rows check.

use crate::scenario::words::{
    bodies, callable, choices, clocks, decisions, events, faulted, fees, halves, inbound, matched,
    operations, shapings,
};

/// A table of the file.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name in messages: `[[outcome]]`, `a step's expect`.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) takes: Takes,
    pub(crate) required: bool,
}

/// The type of a key's value.
#[derive(Debug)]
pub(crate) enum Takes {
    Text,
    /// A text in a special form.
    Spelt(Spelling),
    /// A whole number in these bounds.
    Count(u64, u64),
    /// From 0 to 1.
    Chance,
    Truth,
    /// One of these names.
    Name(fn() -> Vec<String>),
    /// A list of these values.
    List(&'static Takes),
    /// Any one of these.
    Either(&'static [Takes]),
    /// Free names, each with this type of value.
    Each(&'static Takes),
    /// Any JSON object in a table, with references.
    Members,
    /// A table.
    Part(&'static Table),
    /// Any number of tables.
    Rows(&'static Table),
}

/// Forms of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// `2bd`, `1h30m`.
    Span,
    /// An instant.
    Instant,
    /// `+3d` or an instant.
    Moment,
    /// `2..`, `2..4`.
    Places,
    /// `100/min`.
    Rate,
    /// A name of lower-case letters, digits and underscores.
    Identifier,
    /// A seed in decimal digits, because an integer of TOML ends at `i64::MAX`.
    Seed,
}

impl Spelling {
    /// The expected value, for messages.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Span => "expected a duration such as \"2bd\", \"90s\" or \"1h30m\"",
            Self::Instant => "expected an instant such as \"2026-03-20T08:00:00Z\"",
            Self::Moment => "expected \"+3d\" or an instant such as \"2026-03-20T08:00:00Z\"",
            Self::Places => "expected a number from 1, a list of them, \"2..\" or \"2..4\"",
            Self::Rate => "expected a rate such as \"100/min\", \"10/s\" or \"1000/h\"",
            Self::Identifier => {
                "expected lower-case letters, digits and underscores, a letter first"
            }
            Self::Seed => EXPECTED_SEED,
        }
    }

    /// The regular expression of the schema.
    pub(crate) const fn pattern(self) -> &'static str {
        const INSTANT: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt].+$";
        match self {
            Self::Span => "^([0-9]+bd|([0-9]+(ms|s|m|h|d|w))+)$",
            Self::Instant => INSTANT,
            Self::Moment => {
                "^(\\+([0-9]+bd|([0-9]+(ms|s|m|h|d|w))+)|[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt].+)$"
            }
            Self::Places => "^[1-9][0-9]*\\.\\.([1-9][0-9]*)?$",
            Self::Rate => "^[1-9][0-9]*/(s|min|h)$",
            Self::Identifier => "^[a-z][a-z0-9_]*$",
            Self::Seed => "^[0-9]{1,20}$",
        }
    }
}

/// The largest number that every reader of JSON keeps exactly.
const MOST: u64 = 9_007_199_254_740_991;

/// The largest integer of TOML.
pub(super) const MOST_INTEGER: u64 = i64::MAX.cast_unsigned();
pub(super) const EXPECTED_SEED: &str =
    "expected a number from 0 to 18446744073709551615, in quotes if it is over 9223372036854775807";

pub(super) const fn key(name: &'static str, takes: Takes, about: &'static str) -> Key {
    Key { name, about, takes, required: false }
}

pub(super) const fn required(name: &'static str, takes: Takes, about: &'static str) -> Key {
    Key { required: true, ..key(name, takes, about) }
}

const SPAN: Takes = Takes::Spelt(Spelling::Span);

/// The occurrences on which a row acts.
const NTH: Key = key(
    "nth",
    Takes::Either(&[
        Takes::Count(1, MOST),
        Takes::List(&Takes::Count(1, MOST)),
        Takes::Spelt(Spelling::Places),
    ]),
    "Act only on these matches, counted from 1: 1, [1, 2], \"2..\" or \"2..4\".",
);
const TIMES: Key = key("times", Takes::Count(1, MOST), "How often the row acts at most.");
const CHANCE: Key = key(
    "chance",
    Takes::Chance,
    "The share of matches on which the row acts, from 0 to 1. It depends on the seed, so it is the same in every run.",
);

/// The file.
pub(crate) static FILE: Table = Table {
    name: "a scenario",
    about: "What the outside world does. Serve with it by `sandbox --scenario FILE`.",
    keys: &[
        key("title", Takes::Text, "A short title."),
        key("about", Takes::Text, "A description in sentences."),
        key(
            "include",
            Takes::List(&Takes::Text),
            "Files, relative to this one, or shipped scenarios, whose rows follow those of this file.",
        ),
        key("world", Takes::Part(&WORLD), WORLD.about),
        key("outcome", Takes::Rows(&OUTCOME), OUTCOME.about),
        key("webhook", Takes::Rows(&WEBHOOK), WEBHOOK.about),
        key("fault", Takes::Rows(&FAULT), FAULT.about),
        key("timeline", Takes::Rows(&TIMELINE), TIMELINE.about),
        key("limits", Takes::Part(&LIMITS), LIMITS.about),
        key("step", Takes::Rows(&STEP), STEP.about),
        key("expect", Takes::Part(&EXPECT), EXPECT.about),
    ],
};

/// `[world]`.
pub(crate) static WORLD: Table = Table {
    name: "[world]",
    about: "The shape of the world that the scenario starts.",
    keys: &[
        key(
            "seed",
            Takes::Either(&[Takes::Count(0, MOST_INTEGER), Takes::Spelt(Spelling::Seed)]),
            "The seed of the world, from 0 to 18446744073709551615. Write one over 9223372036854775807 in quotes.",
        ),
        key("companies", Takes::Count(1, 1_000_000_000), "Companies."),
        key("employees_per_company", Takes::Count(0, 1_000_000_000), "Employees of each company."),
        key(
            "countries",
            Takes::List(&Takes::Text),
            "ISO 3166-1 codes of the companies' countries, in turn.",
        ),
        key("start", Takes::Spelt(Spelling::Instant), "The start of the virtual time."),
        key("clock", Takes::Name(clocks), "The clock."),
    ],
};

/// `[[outcome]]`.
pub(crate) static OUTCOME: Table = Table {
    name: "[[outcome]]",
    about: "A decision of the outside world; the first row that matches applies.",
    keys: &[
        required(
            "on",
            Takes::Name(decisions),
            "The decision: `sandbox scenario list --decisions` lists all.",
        ),
        key(
            "where",
            Takes::Members,
            "Conditions on the subject: members, or a kind with an ordinal, an id or a reference.",
        ),
        NTH,
        TIMES,
        CHANCE,
        required(
            "then",
            Takes::Name(choices),
            "The choice: `sandbox scenario list --decisions` lists those of each decision.",
        ),
        key(
            "code",
            Takes::Text,
            "A code of a rail of the same direction. The payment gets its own rail's code for the same reason.",
        ),
        key("after", SPAN, "A duration that replaces the normal one."),
    ],
};

/// `[[webhook]]`.
pub(crate) static WEBHOOK: Table = Table {
    name: "[[webhook]]",
    about: "What happens to deliveries of matching events; the first row that matches applies.",
    keys: &[
        required(
            "on",
            Takes::Name(matched),
            "A type of event, all of a resource (`payroll_run.*`), or `*`.",
        ),
        key("where", Takes::Members, "Conditions on the resource of the event."),
        NTH,
        TIMES,
        CHANCE,
        required("do", Takes::Name(shapings), "The change of the delivery."),
        key(
            "delay",
            SPAN,
            "The delay of a duplicate's copy, of a delayed delivery, or of a reordered one.",
        ),
    ],
};

/// `[[fault]]`.
pub(crate) static FAULT: Table = Table {
    name: "[[fault]]",
    about: "What happens to the caller's own HTTP exchange; the first row that matches applies.",
    keys: &[
        required(
            "on",
            Takes::Name(faulted),
            "An operationId, all of a domain (`payments.*`), or `*`.",
        ),
        key("where", Takes::Members, "Conditions on members of the path or body of the call."),
        NTH,
        TIMES,
        CHANCE,
        key("status", Takes::Count(400, 599), "Refuse with this status before anything happens."),
        key("after_commit", Takes::Truth, "Send the status after the call has taken effect."),
        key("retry_after", SPAN, "`Retry-After` of the refusal."),
        key("latency", SPAN, "Delay the reply, by the wall clock."),
        key(
            "lose",
            Takes::Name(halves),
            "Lose the request before the call takes effect, or the reply afterwards.",
        ),
        key("body", Takes::Name(bodies), "Damage the reply's body."),
    ],
};

/// `[[timeline]]`.
pub(crate) static TIMELINE: Table = Table {
    name: "[[timeline]]",
    about: "A call or an inbound event on a date.",
    keys: &[
        key(
            "at",
            Takes::Spelt(Spelling::Moment),
            "A duration after the start, or after the event of `after` (`+3d`), or an instant.",
        ),
        key("after", Takes::Name(events), "The first event of this type."),
        key(
            "every",
            Takes::Spelt(Spelling::Span),
            "Repeats the row after its time, with this interval of at least a minute.",
        ),
        key("call", Takes::Name(operations), "The operation that the system calls."),
        key("inbound", Takes::Name(inbound), "The action that the outside world takes."),
        key("with", Takes::Members, "Its input."),
    ],
};

/// `[limits]`.
pub(crate) static LIMITS: Table = Table {
    name: "[limits]",
    about: "Rate limit, latency of every call, and the platform fee.",
    keys: &[
        key(
            "rate",
            Takes::Spelt(Spelling::Rate),
            "The maximum number of requests in a second, minute or hour of the wall clock.",
        ),
        key(
            "latency",
            Takes::Either(&[SPAN, Takes::Part(&LATENCY)]),
            "The latency of every call, by the wall clock.",
        ),
        key(
            "platform_fee",
            Takes::Either(&[Takes::Name(fees), Takes::Rows(&FEE_TIER)]),
            "The price for moving money: the service's tiers, none, or tiers of the scenario.",
        ),
        key(
            "monthly_fee",
            Takes::Count(0, MOST),
            "The fixed amount that a company pays together with its first fee of a month, in minor units of that currency.",
        ),
    ],
};

/// One tier of `platform_fee`.
pub(crate) static FEE_TIER: Table = Table {
    name: "[[limits.platform_fee]]",
    about: "A rate, and the volume of the month from which it applies.",
    keys: &[
        required(
            "from",
            Takes::Count(0, MOST),
            "The volume of the month from which it applies, in minor units; 0 for the first tier.",
        ),
        required(
            "basis_points",
            Takes::Count(0, 10_000),
            "The fee in basis points of the volume above `from`.",
        ),
    ],
};

/// The table form of `latency`.
pub(crate) static LATENCY: Table = Table {
    name: "latency",
    about: "Evenly between mean - spread and mean + spread.",
    keys: &[
        required("mean", SPAN, "The mean."),
        key("spread", SPAN, "The maximum difference from the mean latency."),
    ],
};

/// `[[step]]`.
pub(crate) static STEP: Table = Table {
    name: "[[step]]",
    about: "A step of `sandbox scenario test`: a call, or an advance of the clock.",
    keys: &[
        key("call", Takes::Name(callable), "The operation to call."),
        key("with", Takes::Members, "Members of its path, query and body, by name."),
        key("headers", Takes::Each(&Takes::Text), "Further request headers."),
        key("expect", Takes::Part(&REACTION), REACTION.about),
        key(
            "save",
            Takes::Spelt(Spelling::Identifier),
            "Store the reply's body under this name, for `@name.data.id`.",
        ),
        key("advance", SPAN, "Advance the clock."),
        key("idle", Takes::Truth, "Advance the clock until no work is pending."),
    ],
};

/// `expect` of a step.
pub(crate) static REACTION: Table = Table {
    name: "expect of a step",
    about: "The expected reply.",
    keys: &[
        key("status", Takes::Count(100, 599), "Its status."),
        key(
            "body",
            Takes::Members,
            "Members of the reply that must have these values; other members are allowed.",
        ),
        key("headers", Takes::Each(&Takes::Text), "Headers that must have these values."),
        key("lost", Takes::Truth, "The exchange ends without a complete reply."),
    ],
};

/// `[expect]`.
pub(crate) static EXPECT: Table = Table {
    name: "[expect]",
    about: "The expected result after the steps.",
    keys: &[
        key(
            "events",
            Takes::List(&Takes::Text),
            "Event types in order; \"…\" matches any number of events.",
        ),
        key(
            "deliveries",
            Takes::Each(&Takes::Count(0, MOST)),
            "The number of deliveries that a receiver got, by event type.",
        ),
    ],
};

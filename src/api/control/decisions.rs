//! Decisions: the list of all decisions made, and the table of possible ones.

use crate::api::prelude::*;
use crate::model::decision::DECISIONS;
use crate::world::decided::{Decided, Why};
use crate::world::envelope::DecisionShape;

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/decisions",
        summary: "List decisions",
        description: "Lists every decision of the outside world, in order, with its name, the \
            choice and the reason. The reason is a rule, a header, a magic value, or the default. \
            The latest 100,000 are kept.",
        long: true,
        ..operation!(read list_decisions)
    },
    Operation {
        path: "/_sandbox/magic-values",
        summary: "List magic values",
        description: "Lists the reserved values that choose a result. Generated data never contains a reserved value.",
        ..operation!(read list_magic_values)
    },
]);

list! {
    struct ListDecisions of Decided;
    filter
        /// Filter by decision, such as `payout.settle`.
        decision: Text<64> => |name, decided| name.as_str() == decided.decision,
        /// Filter by the resource that was decided about.
        subject_id: Text<64> = subject,
        /// Filter by reason.
        why: Why;
}

fn list_decisions(world: &World, input: ListDecisions) -> Result<List<DecisionShape>> {
    let decided = world.decided().iter().filter(|decided| input.accepts(decided));
    let decided: Vec<_> = decided.collect();
    Ok(input.paging.list(&decided, |decided| DecisionShape::of(decided)))
}

/// Reserved values, by the data that they are used in.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MagicValues {
    /// Account numbers of payment methods.
    bank_accounts: Vec<MagicValue>,
    /// Account numbers that payers of collections and customers of invoices pay from.
    payer_accounts: Vec<MagicValue>,
    /// Last names of people and first words of business names, for verifications and screenings.
    names: Vec<MagicValue>,
    /// Tokens of documents.
    document_tokens: Vec<MagicValue>,
    /// Decisions that values, rules and headers can make, with all choices.
    decisions: Vec<DecisionRow>,
}

/// One reserved value.
#[derive(Serialize, JsonSchema)]
struct MagicValue {
    /// The value, or the first and the last value of a range.
    value: &'static str,
    /// The result of the value.
    outcome: &'static str,
}

/// One decision of the outside world.
#[derive(Serialize, JsonSchema)]
struct DecisionRow {
    /// The name of the decision in scenario files, rules and headers.
    name: &'static str,
    /// What is decided, and by which party.
    about: &'static str,
    /// All choices; the first is the default.
    choices: Vec<&'static str>,
}

/// The result of a payout to a reserved account (`docs/conventions.md`).
const BANK_ACCOUNTS: &[(&str, &str)] = &[
    ("9999999900", "paid"),
    (
        "9999999902 … 9999999934",
        "returned for the reason of the ACH code R02 … R34, with the code of the payment's rail",
    ),
    ("9999999990", "delayed"),
    ("9999999991", "held, then released"),
    ("9999999992", "held, then rejected"),
    ("9999999998", "the rail does not respond"),
    ("9999999999", "paid, and returned later"),
];

/// The behaviour of a payer with a reserved account.
const PAYER_ACCOUNTS: &[(&str, &str)] = &[
    ("9999999900", "paid"),
    (
        "9999999901 … 9999999951",
        "declined for the reason of the ACH code R01 … R51, with the code of the payment's rail",
    ),
    ("9999999990", "paid late"),
    ("9999999993", "paid by half"),
    ("9999999994", "never paid"),
    ("9999999995", "paid, and charged back"),
];

/// The result for a subject with a reserved name.
const NAMES: &[(&str, &str)] = &[
    ("Review", "a verification is in review for a day"),
    ("Decline", "a verification is declined"),
    ("Retry", "a verification must be submitted again, and is then approved"),
    ("Expire", "a verification is never answered and expires"),
    ("Offline", "a verification is answered after six hours"),
    ("Sanctioned", "a screening has a hit of score 100 on the sanctions list"),
    ("Pep", "a screening has a hit of score 100 on the list of politically exposed persons"),
    ("Lookalike", "a screening has a hit of score 87 about another person"),
];

/// The result for a document with a reserved token; every other token is accepted.
const DOCUMENT_TOKENS: &[(&str, &str)] = &[
    ("tok_ok", "accepted"),
    ("tok_blurry", "rejected: it cannot be read; another one may be sent"),
    ("tok_expired", "rejected: it is no longer valid; another one may be sent"),
    ("tok_forged", "rejected: it is not genuine, so the verification is declined"),
];

fn values(rows: &[(&'static str, &'static str)]) -> Vec<MagicValue> {
    let rows = rows.iter();
    rows.map(|&(value, outcome)| MagicValue { value, outcome }).collect()
}

fn list_magic_values(_: &World, _: Nothing) -> Result<Plain<MagicValues>> {
    let decisions = DECISIONS.iter().map(|row| DecisionRow {
        name: row.name,
        about: row.about,
        choices: row.choices.iter().map(|choice| choice.name).collect(),
    });
    Ok(Plain(MagicValues {
        bank_accounts: values(BANK_ACCOUNTS),
        payer_accounts: values(PAYER_ACCOUNTS),
        names: values(NAMES),
        document_tokens: values(DOCUMENT_TOKENS),
        decisions: decisions.collect(),
    }))
}

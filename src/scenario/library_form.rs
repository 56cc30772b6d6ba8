//! The form of a file of situations, as `form` describes scenarios.

use crate::scenario::form::{OUTCOME, STEP, Spelling, Table, Takes, key, required};
use crate::scenario::words::{callable, events, states};

/// A file of the library of situations.
pub(crate) static LIBRARY: Table = Table {
    name: "the library",
    about: "Situations: how to bring a world into a state.",
    keys: &[
        key("title", Takes::Text, "What the situations are about, in a few words."),
        key("about", Takes::Text, "A longer description, in sentences."),
        key("situation", Takes::Rows(&SITUATION), SITUATION.about),
    ],
};

/// `[[situation]]`.
pub(crate) static SITUATION: Table = Table {
    name: "[[situation]]",
    about: "Calls that bring a world into a state.",
    keys: &[
        required("name", Takes::Spelt(Spelling::Identifier), "Its name."),
        key("needs", Takes::Text, "The situation whose steps come first."),
        key("events", Takes::List(&Takes::Name(events)), "Types of events that happen in it."),
        key(
            "states",
            Takes::List(&Takes::Name(states)),
            "States that resources enter in it, such as `payout: paid`.",
        ),
        key(
            "samples",
            Takes::List(&Takes::Name(callable)),
            "Operations whose examples in the document are taken after it.",
        ),
        key("outcome", Takes::Rows(&OUTCOME), "What the outside world answers to its calls."),
        required("step", Takes::Rows(&STEP), "The calls. None of them moves the clock."),
    ],
};

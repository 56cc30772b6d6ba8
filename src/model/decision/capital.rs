//! Decisions about investors and underwriters.

use crate::model::Kind;
use crate::model::decision::choice::{Decision, choice};

/// An investor's reply to a deal.
pub(crate) static INVESTOR: Decision = Decision {
    name: "investor.reply",
    about: "What the investor of a deal replies when the deal enters screening",
    subject: Kind::Deal,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("interested", "the investor continues; the deal records it")
            .after("from the question to the reply; default two business days"),
        choice("passes", "the investor declines; the deal is lost")
            .after("from the question to the reply; default two business days"),
    ],
};

/// An underwriter's decision about an application.
pub(crate) static UNDERWRITER: Decision = Decision {
    name: "underwriter.reply",
    about: "What the underwriter decides about an application in review",
    subject: Kind::Application,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("by_score", "according to the credit score and the sales")
            .after("from the review to the decision; default one business day"),
        choice(
            "approved",
            "an offer of the full amount, independent of the score; overdue filings and late \
                    or defaulted loans still prevent it",
        )
        .after("from the review to the decision; default one business day"),
        choice("rejected", "no offer, independent of the score")
            .after("from the review to the decision; default one business day"),
        choice(
            "information_requested",
            "a newer credit score is required within 14 days; with it, the application is \
                    reviewed again",
        )
        .after("from the review to the request; default one business day"),
    ],
};

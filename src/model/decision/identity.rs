//! Decisions about verification bureaus, watchlists and account resolution.

use crate::model::Kind;
use crate::model::decision::choice::{Decision, choice};

/// A bureau's answer to a verification.
pub(crate) static BUREAU_REPLY: Decision = Decision {
    name: "bureau.reply",
    about: "What the bureau answers to a submitted verification",
    subject: Kind::Verification,
    related: &[Kind::Subject, Kind::Employee, Kind::Company],
    codes: None,
    choices: &[
        choice("approved", "the identity is confirmed")
            .after("from the submission to the answer; default 2 or 60 seconds"),
        choice("declined", "the register contains different data; the case ends")
            .after("from the submission to the answer; default 2 or 60 seconds"),
        choice("in_review", "a manual review is required; the bureau answers after a day")
            .after("from the submission to the review; default 2 or 60 seconds"),
        choice(
            "resubmission_requested",
            "a document cannot be read; the case may be submitted again",
        )
        .after("from the submission to the answer; default 2 or 60 seconds"),
        choice("offline", "the bureau answers late, and approves")
            .after("from the submission to the answer; default six hours"),
        choice("expired", "the bureau never answers; the case expires")
            .after("from the submission to the end of the case; default 24 hours"),
    ],
};

/// The watchlist provider's reply about a name.
pub(crate) static WATCHLIST_REPLY: Decision = Decision {
    name: "watchlist.reply",
    about: "What the watchlist provider replies about a screened subject",
    subject: Kind::AmlScreening,
    related: &[Kind::Subject, Kind::Employee, Kind::Company],
    codes: None,
    choices: &[
        choice("by_name", "the entries that match the name")
            .after("from the request to the reply; default 5 seconds"),
        choice("clear", "no hit, independent of the name")
            .after("from the request to the reply; default 5 seconds"),
        choice("sanctioned", "the subject is sanctioned: a hit of score 100")
            .after("from the request to the reply; default 5 seconds"),
        choice("pep", "the subject holds a public office: a hit of score 100")
            .after("from the request to the reply; default 5 seconds"),
        choice("lookalike", "a sanctioned person has a similar name: a hit of score 87")
            .after("from the request to the reply; default 5 seconds"),
    ],
};

/// Whether a bank knows an account, and its holder.
pub(crate) static ACCOUNT_RESOLVE: Decision = Decision {
    name: "bank_account.resolve",
    about: "What the bank answers about the holder of an account",
    subject: Kind::BankAccountVerification,
    related: &[],
    codes: None,
    choices: &[
        choice("match", "the holder has the expected name"),
        choice("partial_match", "the holder's name matches partly"),
        choice("no_match", "the account belongs to another person"),
        choice("not_found", "the bank does not know this account"),
    ],
};

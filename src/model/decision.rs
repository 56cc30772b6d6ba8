//! What the outside world decides: one table of decisions, their choices and what each choice may carry.
//!
//! Our own state never decides here: a short wallet is a fact. `world.decide` is the one door through which a handler asks.

use crate::model::Kind;

/// One question that the outside world answers.
pub(crate) struct Decision {
    /// `payout.settle`: what scenario rows and the `Sandbox-Scenario` header call it.
    pub(crate) name: &'static str,
    /// Who decides, and what.
    pub(crate) about: &'static str,
    /// What it is asked of.
    pub(crate) subject: Kind,
    /// What a selector may look at beyond the subject, nearest first.
    pub(crate) related: &'static [Kind],
    /// Every answer; the first is what happens when nobody says otherwise.
    pub(crate) choices: &'static [Choice],
}

/// One answer.
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The return code it carries unless another is given; none where a code has no meaning.
    pub(crate) code: Option<&'static str>,
    /// What `after` changes; none where a time has no meaning.
    pub(crate) after: Option<&'static str>,
}

impl Decision {
    /// The decision of that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        DECISIONS.iter().copied().find(|decision| decision.name == name)
    }

    /// The answer of that name.
    pub(crate) fn choice(&self, name: &str) -> Option<&'static Choice> {
        self.choices.iter().find(|choice| choice.name == name)
    }
}

const fn choice(name: &'static str, about: &'static str) -> Choice {
    Choice { name, about, code: None, after: None }
}

/// A run's gross to net, from the request to the figures.
pub(crate) static RUN_CALCULATE: Decision = Decision {
    name: "payroll_run.calculate",
    about: "How long the payroll engine takes over a run",
    subject: Kind::PayrollRun,
    related: &[Kind::Company],
    choices: &[
        choice("on_time", "after two seconds"),
        Choice {
            after: Some("from the request to the figures; ten minutes if not said"),
            ..choice("delayed", "later than that")
        },
    ],
};

/// Whether the company's bank lets the run's money go.
pub(crate) static RUN_FUND: Decision = Decision {
    name: "payroll_run.fund",
    about: "Whether the company's bank lets the money of an approved run go",
    subject: Kind::PayrollRun,
    related: &[Kind::Company],
    choices: &[
        choice("funded", "the money is reserved"),
        choice(
            "insufficient_funds",
            "the bank says that the account is short; the run waits in funding_failed",
        ),
        Choice {
            after: Some("from the cut-off to the money; one business day if not said"),
            ..choice("delayed", "the money comes late")
        },
    ],
};

/// What becomes of one payout.
pub(crate) static PAYOUT_SETTLE: Decision = Decision {
    name: "payout.settle",
    about: "What the receiving bank does with a payout that was sent",
    subject: Kind::Payout,
    related: &[
        Kind::Beneficiary,
        Kind::Escrow,
        Kind::PayrollItem,
        Kind::Employee,
        Kind::PayrollRun,
        Kind::Company,
    ],
    choices: &[
        Choice {
            after: Some("from sent to paid, instead of the rail's own time"),
            ..choice("paid", "the money arrives in the rail's own time")
        },
        Choice {
            after: Some("from sent to paid; three business days if not said"),
            ..choice("delayed", "the money arrives late")
        },
        Choice {
            code: Some("R03"),
            after: Some("from sent to failed; the rail's own time if not said"),
            ..choice("failed", "the rail gives up; nothing left the bank")
        },
        Choice {
            code: Some("R02"),
            after: Some("from sent to returned; two business days if not said"),
            ..choice("returned", "the money comes back instead of arriving")
        },
        Choice {
            code: Some("R02"),
            after: Some("from paid to returned; two business days if not said"),
            ..choice("returned_late", "the money arrives, and comes back afterwards")
        },
        Choice {
            after: Some("how long it is held; one business day if not said"),
            ..choice("held_then_paid", "the rail holds it for a look, then lets it go")
        },
        Choice {
            code: Some("R16"),
            after: Some("how long it is held; one business day if not said"),
            ..choice("held_then_rejected", "the rail holds it for a look, then refuses it")
        },
        Choice {
            code: Some("R85"),
            after: Some("from sent to failed; at once if not said"),
            ..choice("rail_down", "the rail does not answer; sending again can help")
        },
    ],
};

/// Whether an employee's bank account stands the check.
pub(crate) static BANK_ACCOUNT_CHECK: Decision = Decision {
    name: "bank_account.check",
    about: "What the bank answers when an employee's account is checked",
    subject: Kind::Employee,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("match", "the account is open and the name is the employee's")
        },
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("name_mismatch", "the account is open and belongs to somebody else")
        },
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("account_closed", "the account is closed")
        },
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("account_not_found", "the bank knows no such account")
        },
    ],
};

/// Whether a beneficiary's bank account stands the check.
pub(crate) static BENEFICIARY_CHECK: Decision = Decision {
    name: "beneficiary.check",
    about: "What the bank answers when a beneficiary's account is resolved",
    subject: Kind::Beneficiary,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice(
                "match",
                "the account is open and its holder's name is the beneficiary's, wholly or in part",
            )
        },
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("name_mismatch", "the account is open and belongs to somebody else")
        },
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("account_closed", "the account is closed")
        },
        Choice {
            after: Some("from the request to the answer, instead of 30 seconds"),
            ..choice("account_not_found", "the bank knows no such account")
        },
    ],
};

/// What the tax office says to a return.
pub(crate) static TAX_OFFICE: Decision = Decision {
    name: "tax_filing.reply",
    about: "What the tax office answers to a return that was submitted",
    subject: Kind::TaxFiling,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the acknowledgement to the answer, instead of two business days"),
            ..choice("accepted", "acknowledged after an hour, taken two business days later")
        },
        Choice {
            after: Some("from the acknowledgement to the answer, instead of two business days"),
            ..choice("rejected", "the return is to be amended; what was paid stays paid")
        },
        Choice {
            after: Some("from the return to the acknowledgement; one business day if not said"),
            ..choice("delayed", "acknowledged late, and taken then")
        },
    ],
};

/// What a regulator says to a report.
pub(crate) static REGULATOR: Decision = Decision {
    name: "regulator.reply",
    about: "What the regulator answers to a report that was submitted",
    subject: Kind::RegulatoryReport,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the report to the answer, instead of one business day"),
            ..choice("accepted", "acknowledged on the next business day")
        },
        Choice {
            after: Some("from the report to the answer, instead of one business day"),
            ..choice("rejected", "the report may be submitted again")
        },
    ],
};

/// Whether a conversion between two currencies comes about.
pub(crate) static FX_TRANSFER_SETTLE: Decision = Decision {
    name: "fx_transfer.settle",
    about: "Whether somebody takes the other side of a conversion between two currencies",
    subject: Kind::FxTransfer,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the debit to the credit, instead of a minute"),
            ..choice("completed", "the other currency arrives within a minute")
        },
        Choice {
            after: Some("from the debit to the money's return, instead of a minute"),
            ..choice("failed", "nobody does; the money is given back")
        },
        Choice {
            after: Some("from the debit to the credit; one business day if not said"),
            ..choice("delayed", "the other currency arrives late")
        },
    ],
};

/// What a payer does who is asked for money.
pub(crate) static COLLECTION_PAY: Decision = Decision {
    name: "collection.pay",
    about: "What the payer does who is asked for money",
    subject: Kind::Collection,
    related: &[Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the payment, instead of the method's own time"),
            ..choice("paid", "pays in the method's own time")
        },
        Choice {
            after: Some(
                "from the request to the payment; ten days beyond the due date of an invoice, else ten days, by card and mobile money six hours, if not said",
            ),
            ..choice("late", "pays late")
        },
        Choice {
            after: Some("from the request to the payment, instead of the method's own time"),
            ..choice("short", "pays half of it")
        },
        choice("never", "never pays: the request expires"),
        Choice {
            code: Some("R01"),
            after: Some("from the request to the attempt, instead of the method's own time"),
            ..choice("declined", "tries to, and the payment fails")
        },
        Choice {
            after: Some("from the payment to the chargeback; ten days if not said"),
            ..choice("disputed", "pays, and wants it back afterwards")
        },
    ],
};

/// When collected money arrives.
pub(crate) static COLLECTION_SETTLE: Decision = Decision {
    name: "collection.settle",
    about: "When collected money arrives in the wallet",
    subject: Kind::Collection,
    related: &[Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the payment to the wallet, instead of one business day"),
            ..choice("on_time", "on the next business day")
        },
        Choice {
            after: Some("from the payment to the wallet; five business days if not said"),
            ..choice("delayed", "later than that")
        },
    ],
};

/// Whether a refund arrives.
pub(crate) static REFUND_SETTLE: Decision = Decision {
    name: "refund.settle",
    about: "What the payer's bank does with a refund",
    subject: Kind::Refund,
    related: &[Kind::Collection, Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the refund to the payer's account, instead of the method's own time"),
            ..choice("succeeded", "it arrives")
        },
        Choice {
            code: Some("R02"),
            after: Some("from the refund to its failure, instead of the method's own time"),
            ..choice("failed", "the payer's bank does not take it; the money comes back")
        },
    ],
};

/// How a contested dispute ends.
pub(crate) static DISPUTE_VERDICT: Decision = Decision {
    name: "dispute.verdict",
    about: "What the payer's bank says to the evidence of a contested dispute",
    subject: Kind::Dispute,
    related: &[Kind::Collection, Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the evidence to the verdict, instead of 14 days"),
            ..choice("won", "the company keeps the money")
        },
        Choice {
            after: Some("from the evidence to the verdict, instead of 14 days"),
            ..choice("lost", "the money goes back")
        },
    ],
};

/// What a bureau says to a verification.
pub(crate) static BUREAU_REPLY: Decision = Decision {
    name: "bureau.reply",
    about: "What the bureau answers to a verification that was submitted",
    subject: Kind::Verification,
    related: &[Kind::Subject, Kind::Employee, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the submission to the answer, instead of 2 or 60 seconds"),
            ..choice("approved", "the subject is who they say")
        },
        Choice {
            after: Some("from the submission to the answer, instead of 2 or 60 seconds"),
            ..choice("declined", "the register has other data; the case is over")
        },
        Choice {
            after: Some("from the submission to the review, instead of 2 or 60 seconds"),
            ..choice("in_review", "somebody has to look; after a day the bureau does")
        },
        Choice {
            after: Some("from the submission to the answer, instead of 2 or 60 seconds"),
            ..choice(
                "resubmission_requested",
                "a document cannot be read; the case may be submitted again",
            )
        },
        Choice {
            after: Some("from the submission to the answer; six hours if not said"),
            ..choice("offline", "the bureau does not answer for a while, and approves then")
        },
        Choice {
            after: Some("from the submission to the end of the case; 24 hours if not said"),
            ..choice("expired", "the bureau does not answer at all: the case expires")
        },
    ],
};

/// What a bank's statement makes of a wallet's transactions.
pub(crate) static STATEMENT_NOISE: Decision = Decision {
    name: "bank_statement.noise",
    about: "How far a bank's statement is from the books, where the sandbox plays the bank",
    subject: Kind::Wallet,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the statement, instead of five seconds"),
            ..choice(
                "usual",
                "some fees, merged lines, shifted days, cut references, duplicates and missing lines",
            )
        },
        Choice {
            after: Some("from the request to the statement, instead of five seconds"),
            ..choice("clean", "every transaction as it is in the books")
        },
        Choice {
            after: Some("from the request to the statement, instead of five seconds"),
            ..choice("heavy", "three times as much as usual")
        },
    ],
};

/// What an investor says to a deal.
pub(crate) static INVESTOR: Decision = Decision {
    name: "investor.reply",
    about: "What the investor of a deal says who is asked when it is screened",
    subject: Kind::Deal,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the question to the reply, instead of two business days"),
            ..choice("interested", "the investor goes on; the deal notes it")
        },
        Choice {
            after: Some("from the question to the reply, instead of two business days"),
            ..choice("passes", "the investor does not; the deal is lost")
        },
    ],
};

/// What an underwriter says to an application.
pub(crate) static UNDERWRITER: Decision = Decision {
    name: "underwriter.reply",
    about: "What an underwriter says to an application that is taken up",
    subject: Kind::Application,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the review to the decision, instead of one business day"),
            ..choice("by_score", "what the credit score and the sales say")
        },
        Choice {
            after: Some("from the review to the decision, instead of one business day"),
            ..choice(
                "approved",
                "an offer of the whole amount, whatever the score; what is overdue or defaulted still speaks against it",
            )
        },
        Choice {
            after: Some("from the review to the decision, instead of one business day"),
            ..choice("rejected", "no offer, whatever the score")
        },
        Choice {
            after: Some("from the review to the question, instead of one business day"),
            ..choice(
                "information_requested",
                "a newer credit score is wanted within 14 days; once it is there the application is reviewed again",
            )
        },
    ],
};

/// What whoever keeps the lists says of a name.
pub(crate) static WATCHLIST_REPLY: Decision = Decision {
    name: "watchlist.reply",
    about: "What whoever keeps the lists says of a subject who is screened",
    subject: Kind::AmlScreening,
    related: &[Kind::Subject, Kind::Employee, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the answer, instead of 5 seconds"),
            ..choice("by_name", "what the lists have of the name")
        },
        Choice {
            after: Some("from the request to the answer, instead of 5 seconds"),
            ..choice("clear", "nothing, whatever the name")
        },
        Choice {
            after: Some("from the request to the answer, instead of 5 seconds"),
            ..choice("sanctioned", "the subject is sanctioned: a hit of score 100")
        },
        Choice {
            after: Some("from the request to the answer, instead of 5 seconds"),
            ..choice("pep", "the subject is in public office: a hit of score 100")
        },
        Choice {
            after: Some("from the request to the answer, instead of 5 seconds"),
            ..choice("lookalike", "somebody sanctioned has a like name: a hit of score 87")
        },
    ],
};

/// Whether a bank knows an account, and as whose.
pub(crate) static ACCOUNT_RESOLVE: Decision = Decision {
    name: "bank_account.resolve",
    about: "What the bank answers when it is asked whose an account is",
    subject: Kind::BankAccountVerification,
    related: &[],
    choices: &[
        choice("match", "the account is that of the expected name"),
        choice("partial_match", "the holder's name is that one in part"),
        choice("no_match", "the account is somebody else's"),
        choice("not_found", "the bank knows no such account"),
    ],
};

/// Every decision, in the order in which a payroll meets them.
pub(crate) static DECISIONS: &[&Decision] = &[
    &BANK_ACCOUNT_CHECK,
    &RUN_CALCULATE,
    &RUN_FUND,
    &PAYOUT_SETTLE,
    &TAX_OFFICE,
    &REGULATOR,
    &FX_TRANSFER_SETTLE,
    &BENEFICIARY_CHECK,
    &COLLECTION_PAY,
    &COLLECTION_SETTLE,
    &REFUND_SETTLE,
    &DISPUTE_VERDICT,
    &UNDERWRITER,
    &INVESTOR,
    &BUREAU_REPLY,
    &WATCHLIST_REPLY,
    &ACCOUNT_RESOLVE,
    &STATEMENT_NOISE,
];

//! Decisions of the outside world: one table of decisions, their choices, and what each choice may include.
//!
//! The simulator's own state is never a decision: an insufficient balance is a fact. Handlers get a decision only through `world.decide`.

use crate::model::Kind;

/// One decision of the outside world.
pub(crate) struct Decision {
    /// The name used in scenario rows and the `Sandbox-Scenario` header, such as `payout.settle`.
    pub(crate) name: &'static str,
    /// The party that decides, and the subject.
    pub(crate) about: &'static str,
    /// The kind of resource that it is about.
    pub(crate) subject: Kind,
    /// Related kinds that a selector may use, nearest first.
    pub(crate) related: &'static [Kind],
    /// Every choice; the first is the default.
    pub(crate) choices: &'static [Choice],
}

/// One choice.
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The default return code; none if the choice has no code.
    pub(crate) code: Option<&'static str>,
    /// What `after` changes; none if the choice has no delay.
    pub(crate) after: Option<&'static str>,
}

impl Decision {
    /// The decision with that name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        DECISIONS.iter().copied().find(|decision| decision.name == name)
    }

    /// The choice with that name.
    pub(crate) fn choice(&self, name: &str) -> Option<&'static Choice> {
        self.choices.iter().find(|choice| choice.name == name)
    }
}

const fn choice(name: &'static str, about: &'static str) -> Choice {
    Choice { name, about, code: None, after: None }
}

/// The calculation of a run, from request to result.
pub(crate) static RUN_CALCULATE: Decision = Decision {
    name: "payroll_run.calculate",
    about: "How long the calculation of a run takes",
    subject: Kind::PayrollRun,
    related: &[Kind::Company],
    choices: &[
        choice("on_time", "after two seconds"),
        Choice {
            after: Some("from the request to the result; default ten minutes"),
            ..choice("delayed", "after more than two seconds")
        },
    ],
};

/// Whether the company's bank releases the run's money.
pub(crate) static RUN_FUND: Decision = Decision {
    name: "payroll_run.fund",
    about: "Whether the company's bank releases the money for an approved run",
    subject: Kind::PayrollRun,
    related: &[Kind::Company],
    choices: &[
        choice("funded", "the money is reserved"),
        choice(
            "insufficient_funds",
            "the bank reports insufficient funds; the run waits in funding_failed",
        ),
        Choice {
            after: Some("from the cut-off to the reservation; default one business day"),
            ..choice("delayed", "the money is reserved late")
        },
    ],
};

/// The result of one payout.
pub(crate) static PAYOUT_SETTLE: Decision = Decision {
    name: "payout.settle",
    about: "What the receiving bank does with a payout",
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
            after: Some("from sent to paid; default the rail's own time"),
            ..choice("paid", "the money arrives after the rail's own time")
        },
        Choice {
            after: Some("from sent to paid; default three business days"),
            ..choice("delayed", "the money arrives late")
        },
        Choice {
            code: Some("R03"),
            after: Some("from sent to failed; default the rail's own time"),
            ..choice("failed", "the rail fails; no money left the bank")
        },
        Choice {
            code: Some("R02"),
            after: Some("from sent to returned; default two business days"),
            ..choice("returned", "the money is returned instead of arriving")
        },
        Choice {
            code: Some("R02"),
            after: Some("from paid to returned; default two business days"),
            ..choice("returned_late", "the money arrives and is returned later")
        },
        Choice {
            after: Some("how long it is held; default one business day"),
            ..choice("held_then_paid", "the rail holds it for a review and then releases it")
        },
        Choice {
            code: Some("R16"),
            after: Some("how long it is held; default one business day"),
            ..choice("held_then_rejected", "the rail holds it for a review and then rejects it")
        },
        Choice {
            code: Some("R85"),
            after: Some("from sent to failed; default immediately"),
            ..choice("rail_down", "the rail does not respond; another attempt can succeed")
        },
    ],
};

/// Whether an employee's bank account passes the check.
pub(crate) static BANK_ACCOUNT_CHECK: Decision = Decision {
    name: "bank_account.check",
    about: "What the bank answers when an employee's account is checked",
    subject: Kind::Employee,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("match", "the account is open and the name is the employee's")
        },
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("name_mismatch", "the account is open but belongs to another person")
        },
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("account_closed", "the account is closed")
        },
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("account_not_found", "the bank does not know this account")
        },
    ],
};

/// Whether a beneficiary's bank account passes the check.
pub(crate) static BENEFICIARY_CHECK: Decision = Decision {
    name: "beneficiary.check",
    about: "What the bank answers when a beneficiary's account is checked",
    subject: Kind::Beneficiary,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice(
                "match",
                "the account is open and its holder's name is the beneficiary's, at least partly",
            )
        },
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("name_mismatch", "the account is open but belongs to another person")
        },
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("account_closed", "the account is closed")
        },
        Choice {
            after: Some("from the request to the answer; default 30 seconds"),
            ..choice("account_not_found", "the bank does not know this account")
        },
    ],
};

/// The tax office's answer to a tax filing.
pub(crate) static TAX_OFFICE: Decision = Decision {
    name: "tax_filing.reply",
    about: "What the tax office answers to a submitted tax filing",
    subject: Kind::TaxFiling,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the acknowledgement to the answer; default two business days"),
            ..choice("accepted", "acknowledged after an hour, accepted two business days later")
        },
        Choice {
            after: Some("from the acknowledgement to the answer; default two business days"),
            ..choice("rejected", "the filing must be amended; payments are kept")
        },
        Choice {
            after: Some("from the submission to the acknowledgement; default one business day"),
            ..choice("delayed", "acknowledged late, then accepted")
        },
    ],
};

/// A regulator's answer to a report.
pub(crate) static REGULATOR: Decision = Decision {
    name: "regulator.reply",
    about: "What the regulator answers to a submitted report",
    subject: Kind::RegulatoryReport,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the submission to the answer; default one business day"),
            ..choice("accepted", "acknowledged on the next business day")
        },
        Choice {
            after: Some("from the submission to the answer; default one business day"),
            ..choice("rejected", "rejected; the report may be submitted again")
        },
    ],
};

/// Whether a transfer between two currencies succeeds.
pub(crate) static FX_TRANSFER_SETTLE: Decision = Decision {
    name: "fx_transfer.settle",
    about: "Whether a transfer between two currencies is executed",
    subject: Kind::FxTransfer,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the debit to the credit; default one minute"),
            ..choice("completed", "the other currency arrives within a minute")
        },
        Choice {
            after: Some("from the debit to the refund; default one minute"),
            ..choice("failed", "the transfer is not executed; the money is refunded")
        },
        Choice {
            after: Some("from the debit to the credit; default one business day"),
            ..choice("delayed", "the other currency arrives late")
        },
    ],
};

/// What the payer of a collection does.
pub(crate) static COLLECTION_PAY: Decision = Decision {
    name: "collection.pay",
    about: "What the payer of a collection does",
    subject: Kind::Collection,
    related: &[Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the payment; default the method's own time"),
            ..choice("paid", "pays after the method's own time")
        },
        Choice {
            after: Some(
                "from the request to the payment; default ten days after the due date of an \
                    invoice, else ten days, or six hours by card and mobile money",
            ),
            ..choice("late", "pays late")
        },
        Choice {
            after: Some("from the request to the payment; default the method's own time"),
            ..choice("short", "pays half of the amount")
        },
        choice("never", "never pays: the request expires"),
        Choice {
            code: Some("R01"),
            after: Some("from the request to the attempt; default the method's own time"),
            ..choice("declined", "attempts to pay, and the payment fails")
        },
        Choice {
            after: Some("from the payment to the chargeback; default ten days"),
            ..choice("disputed", "pays, and disputes the payment later")
        },
    ],
};

/// When collected money is settled.
pub(crate) static COLLECTION_SETTLE: Decision = Decision {
    name: "collection.settle",
    about: "When collected money is settled into the wallet",
    subject: Kind::Collection,
    related: &[Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the payment to the settlement; default one business day"),
            ..choice("on_time", "on the next business day")
        },
        Choice {
            after: Some("from the payment to the settlement; default five business days"),
            ..choice("delayed", "after more than two seconds")
        },
    ],
};

/// Whether a refund succeeds.
pub(crate) static REFUND_SETTLE: Decision = Decision {
    name: "refund.settle",
    about: "What the payer's bank does with a refund",
    subject: Kind::Refund,
    related: &[Kind::Collection, Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the refund to its arrival; default the method's own time"),
            ..choice("succeeded", "the money arrives")
        },
        Choice {
            code: Some("R02"),
            after: Some("from the refund to its failure; default the method's own time"),
            ..choice("failed", "the payer's bank refuses it; the money is returned")
        },
    ],
};

/// How a contested dispute ends.
pub(crate) static DISPUTE_VERDICT: Decision = Decision {
    name: "dispute.verdict",
    about: "What the payer's bank decides about a contested dispute",
    subject: Kind::Dispute,
    related: &[Kind::Collection, Kind::Invoice, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the evidence to the decision; default 14 days"),
            ..choice("won", "the company keeps the money")
        },
        Choice {
            after: Some("from the evidence to the decision; default 14 days"),
            ..choice("lost", "the payer gets the money back")
        },
    ],
};

/// A bureau's answer to a verification.
pub(crate) static BUREAU_REPLY: Decision = Decision {
    name: "bureau.reply",
    about: "What the bureau answers to a submitted verification",
    subject: Kind::Verification,
    related: &[Kind::Subject, Kind::Employee, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the submission to the answer; default 2 or 60 seconds"),
            ..choice("approved", "the identity is confirmed")
        },
        Choice {
            after: Some("from the submission to the answer; default 2 or 60 seconds"),
            ..choice("declined", "the register contains different data; the case ends")
        },
        Choice {
            after: Some("from the submission to the review; default 2 or 60 seconds"),
            ..choice("in_review", "a manual review is required; the bureau answers after a day")
        },
        Choice {
            after: Some("from the submission to the answer; default 2 or 60 seconds"),
            ..choice(
                "resubmission_requested",
                "a document cannot be read; the case may be submitted again",
            )
        },
        Choice {
            after: Some("from the submission to the answer; default six hours"),
            ..choice("offline", "the bureau answers late, and approves")
        },
        Choice {
            after: Some("from the submission to the end of the case; default 24 hours"),
            ..choice("expired", "the bureau never answers; the case expires")
        },
    ],
};

/// How a bank statement differs from a wallet's transactions.
pub(crate) static STATEMENT_NOISE: Decision = Decision {
    name: "bank_statement.noise",
    about: "How much a simulated bank statement differs from the books",
    subject: Kind::Wallet,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the statement; default five seconds"),
            ..choice(
                "usual",
                "some fees, merged lines, shifted days, cut references, duplicates and missing lines",
            )
        },
        Choice {
            after: Some("from the request to the statement; default five seconds"),
            ..choice("clean", "every transaction as it is in the books")
        },
        Choice {
            after: Some("from the request to the statement; default five seconds"),
            ..choice("heavy", "three times as many differences as usual")
        },
    ],
};

/// An investor's reply to a deal.
pub(crate) static INVESTOR: Decision = Decision {
    name: "investor.reply",
    about: "What the investor of a deal replies when the deal enters screening",
    subject: Kind::Deal,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the question to the reply; default two business days"),
            ..choice("interested", "the investor continues; the deal records it")
        },
        Choice {
            after: Some("from the question to the reply; default two business days"),
            ..choice("passes", "the investor declines; the deal is lost")
        },
    ],
};

/// An underwriter's decision about an application.
pub(crate) static UNDERWRITER: Decision = Decision {
    name: "underwriter.reply",
    about: "What the underwriter decides about an application in review",
    subject: Kind::Application,
    related: &[Kind::Company],
    choices: &[
        Choice {
            after: Some("from the review to the decision; default one business day"),
            ..choice("by_score", "according to the credit score and the sales")
        },
        Choice {
            after: Some("from the review to the decision; default one business day"),
            ..choice(
                "approved",
                "an offer of the full amount, independent of the score; overdue filings and late \
                    or defaulted loans still prevent it",
            )
        },
        Choice {
            after: Some("from the review to the decision; default one business day"),
            ..choice("rejected", "no offer, independent of the score")
        },
        Choice {
            after: Some("from the review to the request; default one business day"),
            ..choice(
                "information_requested",
                "a newer credit score is required within 14 days; with it, the application is \
                    reviewed again",
            )
        },
    ],
};

/// The watchlist provider's reply about a name.
pub(crate) static WATCHLIST_REPLY: Decision = Decision {
    name: "watchlist.reply",
    about: "What the watchlist provider replies about a screened subject",
    subject: Kind::AmlScreening,
    related: &[Kind::Subject, Kind::Employee, Kind::Company],
    choices: &[
        Choice {
            after: Some("from the request to the reply; default 5 seconds"),
            ..choice("by_name", "the entries that match the name")
        },
        Choice {
            after: Some("from the request to the reply; default 5 seconds"),
            ..choice("clear", "no hit, independent of the name")
        },
        Choice {
            after: Some("from the request to the reply; default 5 seconds"),
            ..choice("sanctioned", "the subject is sanctioned: a hit of score 100")
        },
        Choice {
            after: Some("from the request to the reply; default 5 seconds"),
            ..choice("pep", "the subject holds a public office: a hit of score 100")
        },
        Choice {
            after: Some("from the request to the reply; default 5 seconds"),
            ..choice("lookalike", "a sanctioned person has a similar name: a hit of score 87")
        },
    ],
};

/// Whether a bank knows an account, and its holder.
pub(crate) static ACCOUNT_RESOLVE: Decision = Decision {
    name: "bank_account.resolve",
    about: "What the bank answers about the holder of an account",
    subject: Kind::BankAccountVerification,
    related: &[],
    choices: &[
        choice("match", "the holder has the expected name"),
        choice("partial_match", "the holder's name matches partly"),
        choice("no_match", "the account belongs to another person"),
        choice("not_found", "the bank does not know this account"),
    ],
};

/// Every decision, in the order in which a payroll needs them.
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

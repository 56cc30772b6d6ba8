//! Decisions about payouts, beneficiaries, conversions, collections, refunds, disputes and bank statements.

use crate::model::Kind;
use crate::model::decision::choice::{Choice, Decision, choice};

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

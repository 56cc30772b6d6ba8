//! Decisions about payouts, beneficiaries, conversions, collections, refunds, disputes and bank statements.

use crate::model::Kind;
use crate::model::decision::choice::{Decision, choice};
use crate::model::payments::Scope;
use crate::model::payments::rails::DETAILS_CORRECTED;

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
    codes: Some(Scope::Payouts),
    choices: &[
        choice("paid", "the money arrives after the rail's own time")
            .after("from sent to paid; default the rail's own time"),
        choice("delayed", "the money arrives late")
            .after("from sent to paid; default three business days"),
        choice("failed", "the rail fails; no money left the bank")
            .code("account_not_found")
            .after("from sent to failed; default the rail's own time"),
        choice(
            "returned",
            "the money is returned instead of arriving; an instant rail refuses at once, and the payout fails",
        )
            .code("account_closed")
            .after("from sent to returned; default the time of the rail"),
        choice("returned_late", "the money arrives and is returned later")
            .code("account_closed")
            .late()
            .after("from paid to returned; default two business days"),
        choice(
            "paid_then_corrected",
            "the money arrives, and the receiving bank reports other details of the account",
        )
            .code(DETAILS_CORRECTED)
            .of(Scope::Corrections)
            .after("from paid to the report; default two business days"),
        choice("held_then_paid", "the rail holds it for a review and then releases it")
            .after("how long it is held; default one business day"),
        choice("held_then_rejected", "the rail holds it for a review and then rejects it")
            .code("account_frozen")
            .after("how long it is held; default one business day"),
        choice("rail_down", "the rail does not respond; another attempt can succeed")
            .code("rail_unavailable")
            .after("from sent to failed; default immediately"),
    ],
};

/// Whether a beneficiary's bank account passes the check.
pub(crate) static BENEFICIARY_CHECK: Decision = Decision {
    name: "beneficiary.check",
    about: "What the bank answers when a beneficiary's account is checked",
    subject: Kind::Beneficiary,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice(
            "match",
            "the account is open and its holder's name is the beneficiary's, at least partly",
        )
        .after("from the request to the answer; default 30 seconds"),
        choice("name_mismatch", "the account is open but belongs to another person")
            .after("from the request to the answer; default 30 seconds"),
        choice("account_closed", "the account is closed")
            .after("from the request to the answer; default 30 seconds"),
        choice("account_not_found", "the bank does not know this account")
            .after("from the request to the answer; default 30 seconds"),
    ],
};

/// Whether a transfer between two currencies succeeds.
pub(crate) static FX_TRANSFER_SETTLE: Decision = Decision {
    name: "fx_transfer.settle",
    about: "Whether a transfer between two currencies is executed",
    subject: Kind::FxTransfer,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("completed", "the other currency arrives within a minute")
            .after("from the debit to the credit; default one minute"),
        choice("failed", "the transfer is not executed; the money is refunded")
            .after("from the debit to the refund; default one minute"),
        choice("delayed", "the other currency arrives late")
            .after("from the debit to the credit; default one business day"),
    ],
};

/// The reaction of the payer to a collection.
pub(crate) static COLLECTION_PAY: Decision = Decision {
    name: "collection.pay",
    about: "What the payer of a collection does",
    subject: Kind::Collection,
    related: &[Kind::Invoice, Kind::Company],
    codes: Some(Scope::Collections),
    choices: &[
        choice("paid", "pays after the method's own time")
            .after("from the request to the payment; default the method's own time"),
        choice("late", "pays late").after(
            "from the request to the payment; default ten days after the due date of an \
                    invoice, else ten days, or six hours by card and mobile money",
        ),
        choice("short", "pays half of the amount")
            .after("from the request to the payment; default the method's own time"),
        choice("never", "never pays: the request expires"),
        choice("declined", "attempts to pay, and the payment fails")
            .code("insufficient_funds")
            .after("from the request to the attempt; default the method's own time"),
        choice("disputed", "pays, and disputes the payment later")
            .after("from the payment to the chargeback; default ten days"),
    ],
};

/// The reply of the payer's bank about a mandate.
pub(crate) static MANDATE_REPLY: Decision = Decision {
    name: "mandate.reply",
    about: "What the payer's bank answers to a new mandate",
    subject: Kind::Mandate,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice("confirmed", "the mandate is active")
            .after("from the request to the answer; default the rail's own time"),
        choice("refused", "the mandate is revoked")
            .after("from the request to the answer; default the rail's own time"),
        choice("never", "no answer: the mandate stays pending"),
    ],
};

/// Whether a paid direct debit is returned.
pub(crate) static COLLECTION_RETURN: Decision = Decision {
    name: "collection.return",
    about: "Whether the payer's bank sends a paid direct debit back",
    subject: Kind::Collection,
    related: &[Kind::Mandate, Kind::Invoice, Kind::Company],
    codes: Some(Scope::Returns),
    choices: &[
        choice("kept", "the money stays"),
        choice(
            "returned",
            "the money goes back, if the code's window is still open then; otherwise it stays",
        )
        .code("not_authorized")
        .late()
        .after("from the payment to the return; default the time of the rail"),
    ],
};

/// When collected money is settled.
pub(crate) static COLLECTION_SETTLE: Decision = Decision {
    name: "collection.settle",
    about: "When collected money is settled into the wallet",
    subject: Kind::Collection,
    related: &[Kind::Invoice, Kind::Company],
    codes: None,
    choices: &[
        choice("on_time", "on the next business day")
            .after("from the payment to the settlement; default one business day"),
        choice("delayed", "later than the next business day")
            .after("from the payment to the settlement; default five business days"),
    ],
};

/// Whether a refund succeeds.
pub(crate) static REFUND_SETTLE: Decision = Decision {
    name: "refund.settle",
    about: "What the payer's bank does with a refund",
    subject: Kind::Refund,
    related: &[Kind::Collection, Kind::Invoice, Kind::Company],
    codes: Some(Scope::Refunds),
    choices: &[
        choice("succeeded", "the money arrives")
            .after("from the refund to its arrival; default the method's own time"),
        choice("failed", "the payer's bank refuses it; the money is returned")
            .code("account_closed")
            .after("from the refund to its failure; default the method's own time"),
    ],
};

/// The result of a contested dispute.
pub(crate) static DISPUTE_VERDICT: Decision = Decision {
    name: "dispute.verdict",
    about: "What the payer's bank decides about a contested dispute",
    subject: Kind::Dispute,
    related: &[Kind::Collection, Kind::Invoice, Kind::Company],
    codes: None,
    choices: &[
        choice("won", "the company keeps the money")
            .after("from the evidence to the decision; default 14 days"),
        choice("lost", "the payer gets the money back")
            .after("from the evidence to the decision; default 14 days"),
    ],
};

/// The differences of a bank statement from a wallet's transactions.
pub(crate) static STATEMENT_NOISE: Decision = Decision {
    name: "bank_statement.noise",
    about: "How much a simulated bank statement differs from the books",
    subject: Kind::Wallet,
    related: &[Kind::Company],
    codes: None,
    choices: &[
        choice(
            "usual",
            "some fees, merged lines, shifted days, cut references, duplicates and missing lines",
        )
        .after("from the request to the statement; default five seconds"),
        choice("clean", "every transaction as it is in the books")
            .after("from the request to the statement; default five seconds"),
        choice("heavy", "three times as many differences as usual")
            .after("from the request to the statement; default five seconds"),
    ],
};

//! The outside world: calls that a bank, a payer or an owner causes in reality, one operation for each kind.

use serde_json::Value;

use crate::api::capital::deal_verbs::simulate_investor_reply;
use crate::api::control::inbound_payments::{
    simulate_bank_transfer, simulate_card_payment, simulate_chargeback,
};
use crate::api::identity::screenings::simulate_watchlist_hit;
use crate::api::operation::Call;
use crate::api::payments::statement_line::simulate_statement_line;
use crate::api::prelude::*;
use crate::api::reply::Reply;

/// The path of each operation, without the kind.
const PATH: &str = "/_sandbox/inbound/";

pub(crate) const OPERATIONS: &[Operation] = &Domain::Sandbox.table([
    Operation {
        path: "/_sandbox/inbound/bank_transfer",
        summary: "Simulate a bank transfer",
        description: "Money arrives in a company's wallet, from its owners (equity) or a customer \
            (sales). With a `reference` or `account_number` it pays the open collection that has \
            it; the amount may be lower, equal or higher.",
        example: r#"{"company_id":"@company:1","amount":500000,"from":"owner"}"#,
        errors: &[
            ErrorCode::LimitExceeded,
            ErrorCode::CurrencyMismatch,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &[
            "wallet.credited",
            "wallet.created",
            "collection.processing",
            "collection.succeeded",
            "invoice.partially_paid",
            "invoice.paid",
            "tax_liability.created",
            "tax_liability.updated",
        ],
        starts: &[TaskKind::SettleCollection, TaskKind::LiabilityDue, TaskKind::InvoiceOverdue],
        ..operation!(write simulate_bank_transfer)
    },
    Operation {
        path: "/_sandbox/inbound/card_payment",
        summary: "Simulate a card payment",
        description: "The payer of a collection by card pays now, or the payment fails.",
        errors: &[
            ErrorCode::ResourceNotFound,
            ErrorCode::LimitExceeded,
            ErrorCode::InvalidStateTransition,
        ],
        emits: &[
            "wallet.created",
            "collection.processing",
            "collection.succeeded",
            "collection.failed",
            "invoice.partially_paid",
            "invoice.paid",
            "tax_liability.created",
            "tax_liability.updated",
        ],
        starts: &[TaskKind::SettleCollection, TaskKind::LiabilityDue, TaskKind::InvoiceOverdue],
        ..operation!(write simulate_card_payment)
    },
    Operation {
        path: "/_sandbox/inbound/chargeback",
        summary: "Simulate a chargeback",
        description: "The payer's bank takes collected money back, which opens a dispute.",
        errors: &[ErrorCode::ResourceNotFound, ErrorCode::InvalidStateTransition],
        emits: &["dispute.created", "wallet.debited", "wallet.low_balance"],
        starts: &[TaskKind::DisputeUnanswered],
        ..operation!(write simulate_chargeback)
    },
    Operation {
        path: "/_sandbox/inbound/statement_line",
        summary: "Simulate a statement line",
        description: "The bank reports one line for a wallet's account. The line is matched with \
            the books.",
        example: r#"{"wallet_id":"@wallet:1","amount":1500,"direction":"debit","description":"Account fee"}"#,
        emits: &["bank_statement.created"],
        starts: &[TaskKind::ImportStatement],
        ..operation!(write simulate_statement_line)
    },
    Operation {
        path: "/_sandbox/inbound/investor_reply",
        summary: "Simulate an investor's reply",
        description: "The investor of a deal is interested, or declines, which ends the deal.",
        example: r#"{"deal_id":"@deal:1","reply":"interested"}"#,
        errors: &[ErrorCode::InvalidStateTransition],
        emits: &["deal.investor_replied", "deal.lost"],
        ..operation!(write simulate_investor_reply)
    },
    Operation {
        path: "/_sandbox/inbound/watchlist_hit",
        summary: "Simulate a watchlist hit",
        description: "Adds a name to a watchlist: the name of a subject, or any other name. Later \
            screenings and repeated screenings find the name.",
        example: r#"{"list":"pep","name":"Ada Eze"}"#,
        emits: &["watchlist_entry.added"],
        ..operation!(write simulate_watchlist_hit)
    },
]);

/// The last part of the path, and `inbound` in a scenario's timeline.
pub(crate) fn kind_of(row: &Operation) -> Option<&'static str> {
    row.path.strip_prefix(PATH)
}

/// Calls the operation of that kind.
pub(crate) fn receive(world: &mut World, kind: &str, input: Value) -> Result<Reply> {
    let row = OPERATIONS.iter().find(|row| kind_of(row) == Some(kind));
    match row.map(|row| row.call) {
        Some(Call::Write(call)) => call(world, input),
        _ => Err(ApiError::new(
            ErrorCode::ResourceNotFound,
            format!("the outside world has no action {kind:?}"),
        )),
    }
}

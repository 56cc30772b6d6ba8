//! What causes events of this domain: money that comes, goes, is held and exchanged.

use super::{LAST, Recipe};
use crate::api::control::recipes::Act::{self, Answered, Call, Move, Payroll, Transfer};

const NEW_PAYEE: Act = Call("create_beneficiary", PAYEE);
const PAYEE: &str = r#"{"company_id":"@company:1","name":"Ada Trigger","type":"individual","account":
    {"bank_code":"058","account_number":"9999999900","country":"NG","currency":"@currency"}}"#;
const ASK_APPROVAL: Act = Call(
    "update_company",
    r#"{"company_id":"@company:1","payment_settings":{"approval_required":true,"approval_threshold":0}}"#,
);
const NEW_PAYOUT: Act = Call(
    "create_payout",
    r#"{"company_id":"@company:1","wallet_id":"@wallet:1","beneficiary_id":"@payee","amount":10000,"currency":"@currency",
        "rail":"instant","reference":"Triggered"}"#,
);
const STATEMENT_OF_TODAY: &str =
    r#"{"company_id":"@company:1","wallet_id":"@wallet:1","from":"@today","to":"@today"}"#;
/// A line as the transfer before it, but for the words.
const NAMELESS_LINE: Act = Call(
    "import_bank_statement",
    r#"{"company_id":"@company:1","wallet_id":"@wallet:1","from":"@today","to":"@today","lines":[
        {"date":"@today","amount":1000000,"direction":"credit"}]}"#,
);
const UNKNOWN_LINE: Act = Call(
    "import_bank_statement",
    r#"{"company_id":"@company:1","wallet_id":"@wallet:1","from":"@today","to":"@today","lines":[
        {"date":"@today","amount":71,"direction":"debit","description":"Account maintenance fee"}]}"#,
);
const NEW_QUOTE: Act = Call(
    "create_fx_quote",
    r#"{"company_id":"@company:1","source_currency":"@currency","target_currency":"@other_currency","source_amount":100000}"#,
);
const CONVERT: &str = r#"{"quote_id":"@last","source_wallet_id":"@wallet:1"}"#;
const NEW_INVOICE: Act = Call(
    "create_invoice",
    r#"{"company_id":"@company:1","customer":{"name":"Triggered Ltd","email":"accounts@example.com"},"currency":"@currency","lines":[{"description":"Triggered","quantity":1,"unit_amount":100000}],"due_date":"@today"}"#,
);
const SENT: &str = r#"{"invoice_id":"@last"}"#;
/// A collection by card whose payer does what the recipe says.
const BY_CARD: &str = r#"{"company_id":"@company:1","amount":100000,"currency":"@currency","method":"card","reference":"TRIGGERED-@count"}"#;
const BY_PHONE: &str = r#"{"company_id":"@company:1","amount":100000,"currency":"@currency","method":"mobile_money","reference":"TRIGGERED-@count"}"#;
const COLLECTED: Act = Call("create_collection", BY_CARD);
const REFUNDED: &str = r#"{"collection_id":"@last","amount":1000,"reason":"Triggered"}"#;
const DISPUTED: Act = Answered("create_collection", BY_CARD, &[("collection.pay", "disputed")]);
const CONTESTED: &str =
    r#"{"dispute_id":"@disputed","action":"contest","evidence":{"note":"Triggered"}}"#;
const NEW_ESCROW: Act = Call(
    "create_escrow",
    r#"{"company_id":"@company:1","buyer_wallet_id":"@wallet:1","seller_beneficiary_id":"@payee","amount":30000,
        "currency":"@currency","milestones":[{"name":"Design","amount":10000},{"name":"Delivery","amount":20000}],
        "expires_at":"2150-01-01T00:00:00Z"}"#,
);
const FUND_ESCROW: Act = Call("fund_escrow", r#"{"escrow_id":"@last"}"#);

/// What causes which events.
pub(super) const RECIPES: &[Recipe] = &[
    (&["wallet.credited"], &[Transfer]),
    (&["payout.on_hold"], &[Payroll(&[("payout.settle", "held_then_paid")])]),
    (&["beneficiary.created", "beneficiary.verified"], &[NEW_PAYEE]),
    (
        &["beneficiary.rejected"],
        &[Answered("create_beneficiary", PAYEE, &[("beneficiary.check", "account_closed")])],
    ),
    (&["payout.pending_approval"], &[NEW_PAYEE, ASK_APPROVAL, NEW_PAYOUT]),
    (
        &["payout.approved"],
        &[NEW_PAYEE, ASK_APPROVAL, NEW_PAYOUT, Call("approve_payout", r#"{"payout_id":"@last"}"#)],
    ),
    (
        &["payout.cancelled"],
        &[NEW_PAYEE, ASK_APPROVAL, NEW_PAYOUT, Call("cancel_payout", r#"{"payout_id":"@last"}"#)],
    ),
    (&["escrow.created", "escrow.expired"], &[NEW_PAYEE, NEW_ESCROW]),
    (&["escrow.funded"], &[NEW_PAYEE, NEW_ESCROW, FUND_ESCROW]),
    (
        &["escrow.partially_released"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            FUND_ESCROW,
            Call("release_escrow", r#"{"escrow_id":"@last","milestone_id":"milestone_1"}"#),
        ],
    ),
    (
        &["escrow.released"],
        &[NEW_PAYEE, NEW_ESCROW, FUND_ESCROW, Call("release_escrow", r#"{"escrow_id":"@last"}"#)],
    ),
    (
        &["escrow.refunded"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            FUND_ESCROW,
            Call("refund_escrow", r#"{"escrow_id":"@last","reason":"Triggered"}"#),
        ],
    ),
    (
        &["escrow.cancelled"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            Call("refund_escrow", r#"{"escrow_id":"@last","reason":"Triggered"}"#),
        ],
    ),
    (
        &["escrow.disputed"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            FUND_ESCROW,
            Call(
                "dispute_escrow",
                r#"{"escrow_id":"@last","raised_by":"seller","reason":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["wallet.low_balance"],
        &[
            NEW_PAYEE,
            Call(
                "update_company",
                r#"{"company_id":"@company:1","payment_settings":{"low_balance":"@available"}}"#,
            ),
            NEW_PAYOUT,
        ],
    ),
    (
        &["bank_statement.created", "bank_statement.imported", "reconciliation_match.matched"],
        &[
            Transfer,
            Answered(
                "import_bank_statement",
                STATEMENT_OF_TODAY,
                &[("bank_statement.noise", "clean")],
            ),
        ],
    ),
    (&["reconciliation_match.suggested"], &[Transfer, NAMELESS_LINE]),
    (&["reconciliation_match.exception"], &[UNKNOWN_LINE]),
    (
        &["reconciliation_match.resolved"],
        &[
            UNKNOWN_LINE,
            Call(
                "resolve_reconciliation_match",
                r#"{"match_id":"@open_match","action":"ignore","note":"Triggered"}"#,
            ),
        ],
    ),
    (&["fx_quote.created", "fx_quote.expired"], &[NEW_QUOTE]),
    (
        &["fx_transfer.created", "fx_transfer.completed"],
        &[Transfer, NEW_QUOTE, Call("create_fx_transfer", CONVERT)],
    ),
    (
        &["fx_transfer.failed"],
        &[
            Transfer,
            NEW_QUOTE,
            Answered("create_fx_transfer", CONVERT, &[("fx_transfer.settle", "failed")]),
        ],
    ),
    (
        &[
            "collection.created",
            "collection.processing",
            "collection.succeeded",
            "collection.settled",
        ],
        &[COLLECTED],
    ),
    (&["collection.requires_action"], &[Call("create_collection", BY_PHONE)]),
    (
        &["collection.failed"],
        &[Answered("create_collection", BY_CARD, &[("collection.pay", "declined")])],
    ),
    (
        &["collection.expired"],
        &[Answered("create_collection", BY_CARD, &[("collection.pay", "never")])],
    ),
    (
        &["collection.cancelled"],
        &[
            Answered("create_collection", BY_CARD, &[("collection.pay", "never")]),
            Move(LAST, "cancelled"),
        ],
    ),
    (
        &["refund.created", "refund.succeeded", "collection.refunded"],
        &[COLLECTED, Call("create_refund", REFUNDED)],
    ),
    (
        &["refund.failed"],
        &[COLLECTED, Answered("create_refund", REFUNDED, &[("refund.settle", "failed")])],
    ),
    (&["invoice.created"], &[NEW_INVOICE]),
    (&["invoice.sent", "invoice.paid"], &[NEW_INVOICE, Call("send_invoice", SENT)]),
    (
        &["invoice.partially_paid"],
        &[NEW_INVOICE, Answered("send_invoice", SENT, &[("collection.pay", "short")])],
    ),
    (
        &["invoice.overdue"],
        &[NEW_INVOICE, Answered("send_invoice", SENT, &[("collection.pay", "never")])],
    ),
    (
        &["invoice.voided"],
        &[NEW_INVOICE, Call("void_invoice", r#"{"invoice_id":"@last","reason":"Triggered"}"#)],
    ),
    (&["dispute.created", "dispute.lost"], &[DISPUTED]),
    (&["dispute.under_review", "dispute.won"], &[DISPUTED, Call("respond_to_dispute", CONTESTED)]),
    (
        &["dispute.accepted"],
        &[DISPUTED, Call("respond_to_dispute", r#"{"dispute_id":"@disputed","action":"accept"}"#)],
    ),
];

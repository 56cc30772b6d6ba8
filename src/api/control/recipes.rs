//! What causes each type of event: calls of the product, in order, and what the outside world answers to them.
//!
//! Names in their inputs stand for resources of the world that is asked; `trigger` says for which.

/// One thing to do on the way to an event.
pub(super) enum Act {
    /// An operation of the product by its handler's name, and its input.
    Call(&'static str, &'static str),
    /// The same, and what the outside world answers then.
    Answered(
        &'static str,
        &'static str,
        &'static [(&'static str, &'static str)],
    ),
    /// A resource moved along its lifecycle.
    Move(&'static str, &'static str),
    /// A payroll run of two people; the outside world answers so about the first of them.
    Payroll(&'static [(&'static str, &'static str)]),
    /// Money that arrives.
    Transfer,
}

use Act::{Answered, Call, Move, Payroll, Transfer};

const NEW_COMPANY: Act = Call(
    "create_company",
    r#"{"legal_name":"Triggered Ltd","country":"GB","currency":"GBP"}"#,
);
const NEW_EMPLOYEE: Act = Call(
    "create_employee",
    r#"{"company_id":"@company:1","name":"Ada Trigger","role":"Engineer","department":"Engineering","start_date":"2026-01-05"}"#,
);
const NEW_PAY: Act = Call(
    "set_employee_compensation",
    r#"{"employee_id":"@payable","amount":1000000,"currency":"@payable_currency","interval":"month"}"#,
);
const NEW_ACCOUNT: Act = Call(
    "set_employee_payment_method",
    r#"{"employee_id":"@payable","type":"bank","bank_code":"058","account_number":"9999999900"}"#,
);
const NEW_LEAVE: Act = Call(
    "create_leave_request",
    r#"{"employee_id":"@payable","type":"annual","start_date":"@day","end_date":"@day"}"#,
);
const NEW_ENTRY: Act = Call(
    "create_journal_entry",
    r#"{"company_id":"@company:1","effective_on":"@today","memo":"Triggered","lines":[
        {"account":"rent","direction":"debit","amount":100000,"currency":"@currency"},
        {"account":"refunds_payable","direction":"credit","amount":100000,"currency":"@currency"}]}"#,
);
const NEW_FILING: Act = Call(
    "create_tax_filing",
    r#"{"company_id":"@owing_company","tax_type":"@owed_authority","period":"@owed_period","jurisdiction":"@owed_country"}"#,
);
const SUBMIT_FILING: &str = r#"{"tax_filing_id":"@last","declaration":"Ada Trigger"}"#;
const NEW_REPORT: Act = Call(
    "create_regulatory_report",
    r#"{"company_id":"@company:1","type":"payroll_summary","period":"@month"}"#,
);
const SUBMIT_REPORT: &str = r#"{"regulatory_report_id":"@last","declaration":"Ada Trigger"}"#;
const NEW_DRAFT: Act = Call(
    "create_payroll_run",
    r#"{"company_id":"@paid_company","period":"@paid_period","type":"correction","employee_ids":["@paid_employee"]}"#,
);
const EDIT_DRAFT: Act = Call(
    "update_payroll_run",
    r#"{"payroll_run_id":"@last","items":[{"employee_id":"@paid_employee","earnings":[{"label":"Bonus","amount":100000}]}]}"#,
);
const NEW_PAYEE: Act = Call("create_beneficiary", PAYEE);
const NEW_DEAL: Act = Call(
    "create_deal",
    r#"{"company_id":"@company:1","name":"Triggered","instrument":"equity","target_amount":1000000,"currency":"@currency","investor":{"name":"Ada Trigger"}}"#,
);
const CHECKLIST: Act = Call(
    "open_due_diligence_case",
    r#"{"company_id":"@company:1","template":"lite"}"#,
);
const NEW_REQUEST: Act = Call(
    "create_due_diligence_request",
    r#"{"due_diligence_case_id":"@last","category":"other","title":"Triggered"}"#,
);
const NEW_ANSWER: Act = Call(
    "submit_due_diligence_request",
    r#"{"due_diligence_request_id":"@last","answer":"Triggered"}"#,
);
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
const DISPUTED: Act = Answered(
    "create_collection",
    BY_CARD,
    &[("collection.pay", "disputed")],
);
const CONTESTED: &str =
    r#"{"dispute_id":"@disputed","action":"contest","evidence":{"note":"Triggered"}}"#;
const NEW_ESCROW: Act = Call(
    "create_escrow",
    r#"{"company_id":"@company:1","buyer_wallet_id":"@wallet:1","seller_beneficiary_id":"@payee","amount":30000,
        "currency":"@currency","milestones":[{"name":"Design","amount":10000},{"name":"Delivery","amount":20000}],
        "expires_at":"2150-01-01T00:00:00Z"}"#,
);
const FUND_ESCROW: Act = Call("fund_escrow", r#"{"escrow_id":"@last"}"#);
const NEW_SCORE: Act = Call("create_credit_score", r#"{"company_id":"@company:1"}"#);
const APPLY: &str =
    r#"{"company_id":"@company:1","product":"term_loan","amount":100000,"currency":"@currency"}"#;
const APPROVED: Act = Answered(
    "create_application",
    APPLY,
    &[("underwriter.reply", "approved")],
);
const ASKED: Act = Answered(
    "create_application",
    APPLY,
    &[("underwriter.reply", "information_requested")],
);
const ACCEPT: Act = Call(
    "respond_to_offer",
    r#"{"offer_id":"@newest_offer","decision":"accept","wallet_id":"@wallet:1"}"#,
);
const NEW_SUBJECT: Act = Call(
    "create_subject",
    r#"{"type":"person","name":{"first":"Ada","last":"Trigger"},"country":"NG"}"#,
);
const NEW_CASE: Act = Call(
    "create_verification",
    r#"{"subject_id":"@last","type":"kyc","level":"basic"}"#,
);
const SUBMIT_CASE: &str = r#"{"verification_id":"@last","consent":true}"#;
const SCREEN: &str = r#"{"subject_id":"@last"}"#;
const HIT: Act = Answered(
    "create_aml_screening",
    SCREEN,
    &[("watchlist.reply", "sanctioned")],
);
const TRUST: Act = Call("create_trust_score", r#"{"subject_id":"@newest_subject"}"#);
/// Stands for an employee who can be paid.
pub(super) const PAYABLE: &str = "@payable";
/// Stands for what the act before made or moved.
pub(super) const LAST: &str = "@last";

/// What causes which events.
pub(super) const RECIPES: &[(&[&str], &[Act])] = &[
    (
        &[
            "company.created",
            "wallet.created",
            "compliance_requirement.created",
        ],
        &[NEW_COMPANY],
    ),
    (
        &["company.updated"],
        &[Call(
            "update_company",
            r#"{"company_id":"@company:1","metadata":{"triggered":"@count"}}"#,
        )],
    ),
    (
        &["company.status_changed"],
        &[NEW_COMPANY, Move(LAST, "active")],
    ),
    (&["employee.created"], &[NEW_EMPLOYEE]),
    (
        &["employee.updated"],
        &[Call(
            "update_employee",
            r#"{"employee_id":"@employee:1","metadata":{"triggered":"@count"}}"#,
        )],
    ),
    (
        &["employee.suspended", "employee.payroll_status_changed"],
        &[Move(PAYABLE, "suspended")],
    ),
    (
        &["employee.activated"],
        &[Move(PAYABLE, "suspended"), Move(LAST, "active")],
    ),
    (&["employee.leave_started"], &[Move(PAYABLE, "on_leave")]),
    (&["employee.terminated"], &[Move(PAYABLE, "terminated")]),
    (&["employee.compensation_changed"], &[NEW_PAY]),
    (
        &[
            "employee.payment_method_updated",
            "bank_account_verification.completed",
        ],
        &[NEW_ACCOUNT],
    ),
    (&["leave_request.created"], &[NEW_LEAVE]),
    (
        &["leave_request.decided", "employee.leave_ended"],
        &[
            NEW_LEAVE,
            Call(
                "decide_leave_request",
                r#"{"leave_request_id":"@last","decision":"approve"}"#,
            ),
        ],
    ),
    (&["wallet.credited"], &[Transfer]),
    (&["journal_entry.posted"], &[NEW_ENTRY]),
    (
        &["journal_entry.reversed"],
        &[
            NEW_ENTRY,
            Call(
                "reverse_journal_entry",
                r#"{"journal_entry_id":"@last","reason":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["tax_liability.due", "tax_liability.late"],
        &[Payroll(&[])],
    ),
    (&["tax_filing.created"], &[Payroll(&[]), NEW_FILING]),
    (
        &["tax_filing.blocked"],
        &[
            Payroll(&[("payroll_run.fund", "insufficient_funds")]),
            NEW_FILING,
        ],
    ),
    (
        &[
            "tax_filing.submitted",
            "tax_filing.acknowledged",
            "tax_filing.filed",
            "tax_liability.paid",
        ],
        &[
            Payroll(&[]),
            NEW_FILING,
            Call("submit_tax_filing", SUBMIT_FILING),
        ],
    ),
    (
        &["tax_filing.rejected"],
        &[
            Payroll(&[]),
            NEW_FILING,
            Answered(
                "submit_tax_filing",
                SUBMIT_FILING,
                &[("tax_filing.reply", "rejected")],
            ),
        ],
    ),
    (
        &["tax_filing.amended"],
        &[
            Payroll(&[]),
            NEW_FILING,
            Call("submit_tax_filing", SUBMIT_FILING),
            Call(
                "amend_tax_filing",
                r#"{"tax_filing_id":"@last","reason":"A typing error"}"#,
            ),
        ],
    ),
    (&["compliance_requirement.overdue"], &[NEW_COMPANY]),
    (
        &["compliance_requirement.resolved"],
        &[
            NEW_COMPANY,
            Call(
                "resolve_compliance_requirement",
                r#"{"compliance_requirement_id":"@open_requirement","evidence":{"value":"RC 1234567"}}"#,
            ),
        ],
    ),
    (&["regulatory_report.compiled"], &[NEW_REPORT]),
    (
        &[
            "regulatory_report.submitted",
            "regulatory_report.acknowledged",
        ],
        &[NEW_REPORT, Call("submit_regulatory_report", SUBMIT_REPORT)],
    ),
    (
        &["regulatory_report.rejected"],
        &[
            NEW_REPORT,
            Answered(
                "submit_regulatory_report",
                SUBMIT_REPORT,
                &[("regulator.reply", "rejected")],
            ),
        ],
    ),
    (
        &[
            "payroll_run.created",
            "payroll_run.calculated",
            "payroll_run.approved",
            "payroll_run.funded",
            "payroll_run.processing",
            "payroll_run.paid",
            "payroll_item.paid",
            "payslip.issued",
            "payout.created",
            "payout.processing",
            "payout.sent",
            "payout.paid",
            "tax_liability.created",
            "wallet.debited",
        ],
        &[Payroll(&[])],
    ),
    (
        &["payroll_run.pending_approval"],
        &[
            Call(
                "update_company",
                r#"{"company_id":"@paying_company","payroll_settings":{"approval_required":true}}"#,
            ),
            Payroll(&[]),
        ],
    ),
    (
        &["payroll_run.funding_failed"],
        &[Payroll(&[("payroll_run.fund", "insufficient_funds")])],
    ),
    (
        &[
            "payroll_run.partially_paid",
            "payroll_item.returned",
            "payout.returned",
        ],
        &[Payroll(&[("payout.settle", "returned")])],
    ),
    (
        &["payroll_run.updated"],
        &[Payroll(&[]), NEW_DRAFT, EDIT_DRAFT],
    ),
    (
        &["payroll_run.reversed", "payslip.voided"],
        &[
            Payroll(&[]),
            Call(
                "reverse_payroll_run",
                r#"{"payroll_run_id":"@last","reason":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["payslip.corrected"],
        &[
            Payroll(&[]),
            NEW_DRAFT,
            EDIT_DRAFT,
            Call("calculate_payroll_run", r#"{"payroll_run_id":"@last"}"#),
            Call("approve_payroll_run", r#"{"payroll_run_id":"@last"}"#),
        ],
    ),
    (
        &["payroll_item.retried"],
        &[
            Payroll(&[("payout.settle", "failed")]),
            Call(
                "retry_payroll_item",
                r#"{"payroll_run_id":"@unpaid_run","payroll_item_id":"@unpaid_item"}"#,
            ),
        ],
    ),
    (
        &["payroll_item.failed", "payout.failed"],
        &[Payroll(&[("payout.settle", "failed")])],
    ),
    (
        &["payroll_run.failed"],
        &[Payroll(&[
            ("payout.settle", "failed"),
            ("payout.settle", "failed"),
        ])],
    ),
    (
        &["payout.on_hold"],
        &[Payroll(&[("payout.settle", "held_then_paid")])],
    ),
    (
        &["beneficiary.created", "beneficiary.verified"],
        &[NEW_PAYEE],
    ),
    (
        &["beneficiary.rejected"],
        &[Answered(
            "create_beneficiary",
            PAYEE,
            &[("beneficiary.check", "account_closed")],
        )],
    ),
    (
        &["payout.pending_approval"],
        &[NEW_PAYEE, ASK_APPROVAL, NEW_PAYOUT],
    ),
    (
        &["payout.approved"],
        &[
            NEW_PAYEE,
            ASK_APPROVAL,
            NEW_PAYOUT,
            Call("approve_payout", r#"{"payout_id":"@last"}"#),
        ],
    ),
    (
        &["payout.cancelled"],
        &[
            NEW_PAYEE,
            ASK_APPROVAL,
            NEW_PAYOUT,
            Call("cancel_payout", r#"{"payout_id":"@last"}"#),
        ],
    ),
    (
        &["escrow.created", "escrow.expired"],
        &[NEW_PAYEE, NEW_ESCROW],
    ),
    (&["escrow.funded"], &[NEW_PAYEE, NEW_ESCROW, FUND_ESCROW]),
    (
        &["escrow.partially_released"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            FUND_ESCROW,
            Call(
                "release_escrow",
                r#"{"escrow_id":"@last","milestone_id":"milestone_1"}"#,
            ),
        ],
    ),
    (
        &["escrow.released"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            FUND_ESCROW,
            Call("release_escrow", r#"{"escrow_id":"@last"}"#),
        ],
    ),
    (
        &["escrow.refunded"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            FUND_ESCROW,
            Call(
                "refund_escrow",
                r#"{"escrow_id":"@last","reason":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["escrow.cancelled"],
        &[
            NEW_PAYEE,
            NEW_ESCROW,
            Call(
                "refund_escrow",
                r#"{"escrow_id":"@last","reason":"Triggered"}"#,
            ),
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
        &[
            "bank_statement.created",
            "bank_statement.imported",
            "reconciliation_match.matched",
        ],
        &[
            Transfer,
            Answered(
                "import_bank_statement",
                STATEMENT_OF_TODAY,
                &[("bank_statement.noise", "clean")],
            ),
        ],
    ),
    (
        &["reconciliation_match.suggested"],
        &[Transfer, NAMELESS_LINE],
    ),
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
            Answered(
                "create_fx_transfer",
                CONVERT,
                &[("fx_transfer.settle", "failed")],
            ),
        ],
    ),
    (&["subject.created"], &[NEW_SUBJECT]),
    (
        &["subject.updated"],
        &[
            NEW_SUBJECT,
            Call(
                "update_subject",
                r#"{"subject_id":"@last","metadata":{"triggered":"@count"}}"#,
            ),
        ],
    ),
    (
        &["document.received", "document.accepted"],
        &[
            NEW_SUBJECT,
            Call(
                "add_subject_document",
                r#"{"subject_id":"@last","type":"passport","document_token":"tok_ok"}"#,
            ),
        ],
    ),
    (
        &["document.rejected"],
        &[
            NEW_SUBJECT,
            Call(
                "add_subject_document",
                r#"{"subject_id":"@last","type":"passport","document_token":"tok_forged"}"#,
            ),
        ],
    ),
    (
        &["verification.created", "verification.expired"],
        &[NEW_SUBJECT, NEW_CASE],
    ),
    (
        &["verification.cancelled"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Call("cancel_verification", r#"{"verification_id":"@last"}"#),
        ],
    ),
    (
        &["verification.submitted", "verification.approved"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Call("submit_verification", SUBMIT_CASE),
        ],
    ),
    (
        &["verification.declined"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Answered(
                "submit_verification",
                SUBMIT_CASE,
                &[("bureau.reply", "declined")],
            ),
        ],
    ),
    (
        &["verification.in_review"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Answered(
                "submit_verification",
                SUBMIT_CASE,
                &[("bureau.reply", "in_review")],
            ),
        ],
    ),
    (
        &["verification.resubmission_requested"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Answered(
                "submit_verification",
                SUBMIT_CASE,
                &[("bureau.reply", "resubmission_requested")],
            ),
        ],
    ),
    (
        &["aml_screening.created", "aml_screening.completed"],
        &[NEW_SUBJECT, Call("create_aml_screening", SCREEN)],
    ),
    (&["aml_alert.opened"], &[NEW_SUBJECT, HIT]),
    (
        &["aml_alert.dismissed"],
        &[
            NEW_SUBJECT,
            HIT,
            Call(
                "resolve_aml_alert",
                r#"{"alert_id":"@newest_alert","resolution":"false_positive","note":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["aml_alert.confirmed"],
        &[
            NEW_SUBJECT,
            HIT,
            Call(
                "resolve_aml_alert",
                r#"{"alert_id":"@newest_alert","resolution":"true_positive","note":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["aml_alert.escalated"],
        &[
            NEW_SUBJECT,
            HIT,
            Call(
                "resolve_aml_alert",
                r#"{"alert_id":"@newest_alert","resolution":"escalate","note":"Triggered"}"#,
            ),
        ],
    ),
    (
        &["trust_score.created", "trust_score.completed"],
        &[NEW_SUBJECT, TRUST],
    ),
    (
        &["trust_score.changed"],
        &[
            NEW_SUBJECT,
            TRUST,
            Call(
                "create_trust_score",
                r#"{"subject_id":"@newest_subject","signals":{"email_verified":true,"phone_verified":true,"device_known":true}}"#,
            ),
        ],
    ),
    (
        &["credit_score.created", "credit_score.completed"],
        &[NEW_SCORE],
    ),
    (
        &["credit_score.failed"],
        &[
            NEW_COMPANY,
            Call("create_credit_score", r#"{"company_id":"@last"}"#),
        ],
    ),
    (
        &[
            "readiness_assessment.created",
            "readiness_assessment.completed",
        ],
        &[Call(
            "create_readiness_assessment",
            r#"{"company_id":"@company:1"}"#,
        )],
    ),
    (
        &[
            "insurance_risk_score.created",
            "insurance_risk_score.completed",
        ],
        &[Call(
            "create_insurance_risk_score",
            r#"{"company_id":"@company:1","line":"group_life"}"#,
        )],
    ),
    (
        &[
            "application.submitted",
            "application.under_review",
            "application.approved",
            "offer.created",
        ],
        &[APPROVED],
    ),
    (
        &["application.rejected"],
        &[Answered(
            "create_application",
            APPLY,
            &[("underwriter.reply", "rejected")],
        )],
    ),
    (&["application.information_requested"], &[ASKED]),
    (&["application.withdrawn"], &[ASKED]),
    (&["offer.expired"], &[APPROVED]),
    (
        &["offer.declined"],
        &[
            APPROVED,
            Call(
                "respond_to_offer",
                r#"{"offer_id":"@newest_offer","decision":"decline"}"#,
            ),
        ],
    ),
    (
        &[
            "offer.accepted",
            "loan.created",
            "loan.disbursed",
            "loan.repayment_due",
            "loan.late",
            "loan.defaulted",
        ],
        &[APPROVED, ACCEPT],
    ),
    (
        &["loan.repayment_received"],
        &[
            APPROVED,
            ACCEPT,
            Call(
                "create_loan_repayment",
                r#"{"loan_id":"@newest_loan","wallet_id":"@wallet:1","amount":100}"#,
            ),
        ],
    ),
    (
        &["loan.repaid"],
        &[
            APPROVED,
            ACCEPT,
            Call(
                "create_loan_repayment",
                r#"{"loan_id":"@newest_loan","wallet_id":"@wallet:1","amount":"@settlement"}"#,
            ),
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
    (
        &["collection.requires_action"],
        &[Call("create_collection", BY_PHONE)],
    ),
    (
        &["collection.failed"],
        &[Answered(
            "create_collection",
            BY_CARD,
            &[("collection.pay", "declined")],
        )],
    ),
    (
        &["collection.expired"],
        &[Answered(
            "create_collection",
            BY_CARD,
            &[("collection.pay", "never")],
        )],
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
        &[
            COLLECTED,
            Answered("create_refund", REFUNDED, &[("refund.settle", "failed")]),
        ],
    ),
    (&["invoice.created"], &[NEW_INVOICE]),
    (
        &["invoice.sent", "invoice.paid"],
        &[NEW_INVOICE, Call("send_invoice", SENT)],
    ),
    (
        &["invoice.partially_paid"],
        &[
            NEW_INVOICE,
            Answered("send_invoice", SENT, &[("collection.pay", "short")]),
        ],
    ),
    (
        &["invoice.overdue"],
        &[
            NEW_INVOICE,
            Answered("send_invoice", SENT, &[("collection.pay", "never")]),
        ],
    ),
    (
        &["invoice.voided"],
        &[
            NEW_INVOICE,
            Call(
                "void_invoice",
                r#"{"invoice_id":"@last","reason":"Triggered"}"#,
            ),
        ],
    ),
    (&["dispute.created", "dispute.lost"], &[DISPUTED]),
    (
        &["dispute.under_review", "dispute.won"],
        &[DISPUTED, Call("respond_to_dispute", CONTESTED)],
    ),
    (
        &["dispute.accepted"],
        &[
            DISPUTED,
            Call(
                "respond_to_dispute",
                r#"{"dispute_id":"@disputed","action":"accept"}"#,
            ),
        ],
    ),
    (&["deal.created"], &[NEW_DEAL]),
    (
        &["deal.stage_changed", "deal.investor_replied"],
        &[NEW_DEAL, Move(LAST, "screening")],
    ),
    (
        &["deal.won"],
        &[
            NEW_DEAL,
            Move(LAST, "screening"),
            Move(LAST, "due_diligence"),
            Move(LAST, "term_sheet"),
            Move(LAST, "closing"),
            Call(
                "close_deal",
                r#"{"deal_id":"@last","outcome":"won","amount":1000000}"#,
            ),
        ],
    ),
    (
        &["deal.lost"],
        &[
            NEW_DEAL,
            Call("close_deal", r#"{"deal_id":"@last","outcome":"lost"}"#),
        ],
    ),
    (
        &["deal.withdrawn"],
        &[
            NEW_DEAL,
            Call("close_deal", r#"{"deal_id":"@last","outcome":"withdrawn"}"#),
        ],
    ),
    (
        &[
            "due_diligence_case.opened",
            "due_diligence_request.created",
            "due_diligence_request.overdue",
        ],
        &[CHECKLIST],
    ),
    (
        &[
            "due_diligence_request.submitted",
            "due_diligence_request.in_review",
        ],
        &[CHECKLIST, NEW_REQUEST, NEW_ANSWER],
    ),
    (
        &["due_diligence_request.accepted"],
        &[
            CHECKLIST,
            NEW_REQUEST,
            NEW_ANSWER,
            Call(
                "review_due_diligence_request",
                r#"{"due_diligence_request_id":"@last","decision":"accept"}"#,
            ),
        ],
    ),
    (
        &["due_diligence_request.rejected"],
        &[
            CHECKLIST,
            NEW_REQUEST,
            NEW_ANSWER,
            Call(
                "review_due_diligence_request",
                r#"{"due_diligence_request_id":"@last","decision":"reject"}"#,
            ),
        ],
    ),
    (
        &["due_diligence_request.waived"],
        &[
            CHECKLIST,
            NEW_REQUEST,
            Call(
                "review_due_diligence_request",
                r#"{"due_diligence_request_id":"@last","decision":"waive"}"#,
            ),
        ],
    ),
    (
        &["due_diligence_case.completed"],
        &[CHECKLIST, Move(LAST, "completed")],
    ),
];

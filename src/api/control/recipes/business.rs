//! What causes events of this domain: people, payroll, taxes and books.

use super::{LAST, NEW_COMPANY, PAYABLE, Recipe};
use crate::api::control::recipes::Act::{self, Answered, Call, Move, Payroll};

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

/// What causes which events.
pub(super) const RECIPES: &[Recipe] = &[
    (&["company.created", "wallet.created", "compliance_requirement.created"], &[NEW_COMPANY]),
    (
        &["company.updated"],
        &[Call(
            "update_company",
            r#"{"company_id":"@company:1","metadata":{"triggered":"@count"}}"#,
        )],
    ),
    (&["company.status_changed"], &[NEW_COMPANY, Move(LAST, "active")]),
    (&["employee.created"], &[NEW_EMPLOYEE]),
    (
        &["employee.updated"],
        &[Call(
            "update_employee",
            r#"{"employee_id":"@employee:1","metadata":{"triggered":"@count"}}"#,
        )],
    ),
    (&["employee.suspended", "employee.payroll_status_changed"], &[Move(PAYABLE, "suspended")]),
    (&["employee.activated"], &[Move(PAYABLE, "suspended"), Move(LAST, "active")]),
    (&["employee.leave_started"], &[Move(PAYABLE, "on_leave")]),
    (&["employee.terminated"], &[Move(PAYABLE, "terminated")]),
    (&["employee.compensation_changed"], &[NEW_PAY]),
    (&["employee.payment_method_updated", "bank_account_verification.completed"], &[NEW_ACCOUNT]),
    (&["leave_request.created"], &[NEW_LEAVE]),
    (
        &["leave_request.decided", "employee.leave_ended"],
        &[
            NEW_LEAVE,
            Call("decide_leave_request", r#"{"leave_request_id":"@last","decision":"approve"}"#),
        ],
    ),
    (&["journal_entry.posted"], &[NEW_ENTRY]),
    (
        &["journal_entry.reversed"],
        &[
            NEW_ENTRY,
            Call("reverse_journal_entry", r#"{"journal_entry_id":"@last","reason":"Triggered"}"#),
        ],
    ),
    (&["tax_liability.due", "tax_liability.late"], &[Payroll(&[])]),
    (&["tax_filing.created"], &[Payroll(&[]), NEW_FILING]),
    (
        &["tax_filing.blocked"],
        &[Payroll(&[("payroll_run.fund", "insufficient_funds")]), NEW_FILING],
    ),
    (
        &[
            "tax_filing.submitted",
            "tax_filing.acknowledged",
            "tax_filing.filed",
            "tax_liability.paid",
        ],
        &[Payroll(&[]), NEW_FILING, Call("submit_tax_filing", SUBMIT_FILING)],
    ),
    (
        &["tax_filing.rejected"],
        &[
            Payroll(&[]),
            NEW_FILING,
            Answered("submit_tax_filing", SUBMIT_FILING, &[("tax_filing.reply", "rejected")]),
        ],
    ),
    (
        &["tax_filing.amended"],
        &[
            Payroll(&[]),
            NEW_FILING,
            Call("submit_tax_filing", SUBMIT_FILING),
            Call("amend_tax_filing", r#"{"tax_filing_id":"@last","reason":"A typing error"}"#),
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
        &["regulatory_report.submitted", "regulatory_report.acknowledged"],
        &[NEW_REPORT, Call("submit_regulatory_report", SUBMIT_REPORT)],
    ),
    (
        &["regulatory_report.rejected"],
        &[
            NEW_REPORT,
            Answered("submit_regulatory_report", SUBMIT_REPORT, &[("regulator.reply", "rejected")]),
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
    (&["payroll_run.funding_failed"], &[Payroll(&[("payroll_run.fund", "insufficient_funds")])]),
    (
        &["payroll_run.partially_paid", "payroll_item.returned", "payout.returned"],
        &[Payroll(&[("payout.settle", "returned")])],
    ),
    (&["payroll_run.updated"], &[Payroll(&[]), NEW_DRAFT, EDIT_DRAFT]),
    (
        &["payroll_run.reversed", "payslip.voided"],
        &[
            Payroll(&[]),
            Call("reverse_payroll_run", r#"{"payroll_run_id":"@last","reason":"Triggered"}"#),
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
    (&["payroll_item.failed", "payout.failed"], &[Payroll(&[("payout.settle", "failed")])]),
    (
        &["payroll_run.failed"],
        &[Payroll(&[("payout.settle", "failed"), ("payout.settle", "failed")])],
    ),
];

//! What causes events of this domain: scores, due diligence, deals and loans.

use super::{LAST, NEW_COMPANY, Recipe};
use crate::api::control::recipes::Act::{self, Answered, Call, Move};

const NEW_DEAL: Act = Call(
    "create_deal",
    r#"{"company_id":"@company:1","name":"Triggered","instrument":"equity","target_amount":1000000,"currency":"@currency","investor":{"name":"Ada Trigger"}}"#,
);
const CHECKLIST: Act =
    Call("open_due_diligence_case", r#"{"company_id":"@company:1","template":"lite"}"#);
const NEW_REQUEST: Act = Call(
    "create_due_diligence_request",
    r#"{"due_diligence_case_id":"@last","category":"other","title":"Triggered"}"#,
);
const NEW_ANSWER: Act = Call(
    "submit_due_diligence_request",
    r#"{"due_diligence_request_id":"@last","answer":"Triggered"}"#,
);
const NEW_SCORE: Act = Call("create_credit_score", r#"{"company_id":"@company:1"}"#);
const APPLY: &str =
    r#"{"company_id":"@company:1","product":"term_loan","amount":100000,"currency":"@currency"}"#;
const APPROVED: Act = Answered("create_application", APPLY, &[("underwriter.reply", "approved")]);
const ASKED: Act =
    Answered("create_application", APPLY, &[("underwriter.reply", "information_requested")]);
const ACCEPT: Act = Call(
    "respond_to_offer",
    r#"{"offer_id":"@newest_offer","decision":"accept","wallet_id":"@wallet:1"}"#,
);

/// What causes which events.
pub(super) const RECIPES: &[Recipe] = &[
    (&["credit_score.created", "credit_score.completed"], &[NEW_SCORE]),
    (
        &["credit_score.failed"],
        &[NEW_COMPANY, Call("create_credit_score", r#"{"company_id":"@last"}"#)],
    ),
    (
        &["readiness_assessment.created", "readiness_assessment.completed"],
        &[Call("create_readiness_assessment", r#"{"company_id":"@company:1"}"#)],
    ),
    (
        &["insurance_risk_score.created", "insurance_risk_score.completed"],
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
        &[Answered("create_application", APPLY, &[("underwriter.reply", "rejected")])],
    ),
    (&["application.information_requested"], &[ASKED]),
    (&["application.withdrawn"], &[ASKED]),
    (&["offer.expired"], &[APPROVED]),
    (
        &["offer.declined"],
        &[
            APPROVED,
            Call("respond_to_offer", r#"{"offer_id":"@newest_offer","decision":"decline"}"#),
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
    (&["deal.created"], &[NEW_DEAL]),
    (&["deal.stage_changed", "deal.investor_replied"], &[NEW_DEAL, Move(LAST, "screening")]),
    (
        &["deal.won"],
        &[
            NEW_DEAL,
            Move(LAST, "screening"),
            Move(LAST, "due_diligence"),
            Move(LAST, "term_sheet"),
            Move(LAST, "closing"),
            Call("close_deal", r#"{"deal_id":"@last","outcome":"won","amount":1000000}"#),
        ],
    ),
    (&["deal.lost"], &[NEW_DEAL, Call("close_deal", r#"{"deal_id":"@last","outcome":"lost"}"#)]),
    (
        &["deal.withdrawn"],
        &[NEW_DEAL, Call("close_deal", r#"{"deal_id":"@last","outcome":"withdrawn"}"#)],
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
        &["due_diligence_request.submitted", "due_diligence_request.in_review"],
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
    (&["due_diligence_case.completed"], &[CHECKLIST, Move(LAST, "completed")]),
];

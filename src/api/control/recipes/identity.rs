//! What causes events of this domain: who people are, and what the lists say.

use super::Recipe;
use crate::api::control::recipes::Act::{self, Answered, Call};

const NEW_SUBJECT: Act = Call(
    "create_subject",
    r#"{"type":"person","name":{"first":"Ada","last":"Trigger"},"country":"NG"}"#,
);
const NEW_CASE: Act =
    Call("create_verification", r#"{"subject_id":"@last","type":"kyc","level":"basic"}"#);
const SUBMIT_CASE: &str = r#"{"verification_id":"@last","consent":true}"#;
const SCREEN: &str = r#"{"subject_id":"@last"}"#;
const HIT: Act = Answered("create_aml_screening", SCREEN, &[("watchlist.reply", "sanctioned")]);
const TRUST: Act = Call("create_trust_score", r#"{"subject_id":"@newest_subject"}"#);

/// What causes which events.
pub(super) const RECIPES: &[Recipe] = &[
    (&["subject.created"], &[NEW_SUBJECT]),
    (
        &["subject.updated"],
        &[
            NEW_SUBJECT,
            Call("update_subject", r#"{"subject_id":"@last","metadata":{"triggered":"@count"}}"#),
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
    (&["verification.created", "verification.expired"], &[NEW_SUBJECT, NEW_CASE]),
    (
        &["verification.cancelled"],
        &[NEW_SUBJECT, NEW_CASE, Call("cancel_verification", r#"{"verification_id":"@last"}"#)],
    ),
    (
        &["verification.submitted", "verification.approved"],
        &[NEW_SUBJECT, NEW_CASE, Call("submit_verification", SUBMIT_CASE)],
    ),
    (
        &["verification.declined"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Answered("submit_verification", SUBMIT_CASE, &[("bureau.reply", "declined")]),
        ],
    ),
    (
        &["verification.in_review"],
        &[
            NEW_SUBJECT,
            NEW_CASE,
            Answered("submit_verification", SUBMIT_CASE, &[("bureau.reply", "in_review")]),
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
    (&["trust_score.created", "trust_score.completed"], &[NEW_SUBJECT, TRUST]),
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
];

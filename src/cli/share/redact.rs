//! Replaces free text in the bodies of calls. Equal texts get equal replacements, so references stay consistent.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cli::share::line::Shared;

/// Members whose text is always replaced.
const PRIVATE: [&str; 17] = [
    "city",
    "content_base64",
    "description",
    "email",
    "external_id",
    "first_name",
    "last_name",
    "legal_name",
    "line1",
    "line2",
    "memo",
    "message",
    "name",
    "note",
    "reference",
    "street",
    "title",
];

/// Replaces free text in all bodies.
pub(super) fn redact(shared: &mut Shared) {
    let mut known = BTreeMap::new();
    for input in &mut shared.inputs {
        replace(&mut input.body, "", false, &mut known);
    }
}

fn replace(value: &mut Value, name: &str, always: bool, known: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                replace(member, name, always || name == "metadata", known);
            }
        }
        Value::Array(rows) => rows.iter_mut().for_each(|row| replace(row, name, always, known)),
        Value::String(text) if always || PRIVATE.contains(&name) || is_free(text) => {
            let number = known.len() + 1;
            let new = known.entry(text.clone()).or_insert_with(|| {
                if text.contains('@') {
                    format!("redacted-{number}@example.com")
                } else {
                    format!("Redacted {number}")
                }
            });
            text.clone_from(new);
        }
        _ => {}
    }
}

/// Text with spaces, an `@` or letters beyond ASCII is written by a person. Text of a scenario is not.
fn is_free(text: &str) -> bool {
    text.contains([' ', '@']) || !text.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn free_text_is_replaced_and_ids_dates_and_codes_stay() {
        let mut body = json!({
            "company_id": "com_bp9fm3zzz4aa5", "name": "ada", "amount": 5, "start_date": "2026-01-31",
            "status": "active", "currency": "NGN", "email": "ada@example.org",
            "content_base64": "QWRhLCA1MA==",
            "metadata": {"order": "17"}, "lines": [{"text": "Rent for May", "again": "ada@example.org"}],
        });
        replace(&mut body, "", false, &mut BTreeMap::new());
        let expected = json!({
            "company_id": "com_bp9fm3zzz4aa5", "name": "Redacted 1", "amount": 5, "start_date": "2026-01-31",
            "status": "active", "currency": "NGN", "email": "redacted-2@example.com",
            "content_base64": "Redacted 3", "metadata": {"order": "Redacted 4"},
            "lines": [{"text": "Redacted 5", "again": "redacted-2@example.com"}],
        });
        assert_eq!(body, expected);
    }
}

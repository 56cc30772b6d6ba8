//! The rules for webhooks: a wrongly signed or stale first attempt must be refused.

use crate::cli::exam::cases::{Acts, Planned};
use crate::cli::exam::judge::Found;
use crate::cli::exam::rules;
use crate::cli::exam::trial::Ran;

/// What the receiver's answers say.
pub(super) fn judge(planned: &Planned<'_>, ran: &Ran) -> Vec<Found> {
    if !matches!(planned.case.acts, Acts::Hooks(_)) {
        return Vec::new();
    }
    let accepted = |shape: &str| {
        ran.deliveries.iter().any(|row| {
            let status = row["attempts"][0]["http_status"].as_u64();
            row["shaped"] == shape && status.is_some_and(|status| (200..300).contains(&status))
        })
    };
    let mut found = Vec::new();
    if accepted("bad_signature") {
        let what = "a delivery with a wrong signature was answered with success".to_owned();
        found.push((rules::ACCEPTS_BAD_SIGNATURE, vec![what]));
    }
    if accepted("stale_timestamp") {
        let what = "a delivery with an old timestamp was answered with success".to_owned();
        found.push((rules::ACCEPTS_STALE, vec![what]));
    }
    found
}

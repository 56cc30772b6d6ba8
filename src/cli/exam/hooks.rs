//! The rules for webhooks: a wrongly signed or stale first attempt must be refused.

use serde_json::Value;

use crate::cli::exam::cases::{Acts, Planned};
use crate::cli::exam::judge::Found;
use crate::cli::exam::rules;
use crate::cli::exam::trial::Ran;

/// The findings from the receiver's answers.
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

/// Why the deliveries of a run say nothing about their case. A delivery without any reply did not reach the command.
pub(super) fn not_exercised(planned: &Planned<'_>, ran: &Ran) -> Option<&'static str> {
    let is_shaped = |row: &&Value| row["shaped"].is_string();
    match planned.case.acts {
        Acts::Hooks(_) if !ran.deliveries.iter().any(|row| is_shaped(&row)) => {
            Some("no delivery was changed")
        }
        Acts::Hooks(_) if !ran.deliveries.iter().filter(is_shaped).any(was_received) => {
            Some("no changed webhook got a reply: nothing listens at --webhook")
        }
        Acts::Hooks(_) if planned.case.name == "hook_order" && !was_overtaken(ran) => {
            Some("no delivery came after a later one of its resource")
        }
        Acts::EveryReply if !ran.deliveries.iter().any(was_received) => {
            Some("no webhook got a reply: nothing listens at --webhook")
        }
        _ => None,
    }
}

fn was_received(row: &Value) -> bool {
    let attempts = row["attempts"].as_array().map_or(&[][..], Vec::as_slice);
    attempts.iter().any(|attempt| attempt["http_status"].is_number())
}

/// Whether a delivery came after a later one of its resource.
fn was_overtaken(ran: &Ran) -> bool {
    let when = |row: &Value| row["attempts"][0]["wall_at"].as_str().map(str::to_owned);
    let received = || ran.deliveries.iter().filter(|row| was_received(row));
    let mut held = received().filter(|row| row["shaped"] == "reorder");
    held.any(|row| {
        let mut later = received().filter(|other| {
            other["sequence"].as_u64() > row["sequence"].as_u64()
                && ran.resource(other) == ran.resource(row)
        });
        when(row).is_some_and(|at| later.any(|other| when(other).is_some_and(|other| other <= at)))
    })
}

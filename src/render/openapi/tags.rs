//! Tags: the domains of the product, and the topics of the control plane.

use serde_json::{Value, json};

use crate::api::operation::{Domain, Operation};
use crate::render::openapi::webhook;

/// Topics of the control plane: their tag, the first names of their paths below `/_sandbox`, and a description.
const TOPICS: &[(&str, &[&str], &str)] = &[
    ("Server", &["health", "ready", "info", "world", "worlds"], "The server and its worlds."),
    ("Clock", &["clock"], "The virtual time."),
    (
        "State",
        &[
            "reset",
            "import",
            "export",
            "external-ids",
            "snapshots",
            "fingerprint",
            "diff",
            "ledger",
            "explain",
            "inputs",
            "series",
        ],
        "The state of a world: reset, import, export, snapshots, differences, ledger check, parts of amounts, monthly results.",
    ),
    (
        "Outside world",
        &[
            "scenarios",
            "rules",
            "decisions",
            "magic-values",
            "rails",
            "trigger",
            "inbound",
            "resources",
        ],
        "What banks, authorities and payers do: scenarios, rules, decisions, and manual transitions.",
    ),
    (
        "Answers",
        &["bank-statements", "beneficiaries"],
        "Data that only banks have: how a simulated statement was generated, and the amounts of micro-deposits.",
    ),
    ("Faults", &["faults", "limits"], "Faults of the exchange, and limits."),
    (
        "Logs",
        &["events", "requests", "trace"],
        "What happened: events and requests, their verification, and the chain of a trace.",
    ),
    (
        "Webhook endpoints",
        &["webhook-endpoints", "deliveries"],
        "Endpoints, deliveries and their verification.",
    ),
];

/// The tag of a row.
pub(in crate::render) fn of_row(row: &Operation) -> Value {
    match row.domain {
        Domain::Sandbox => topic(row).map_or("Sandbox", |(tag, ..)| *tag).into(),
        domain => json!(domain),
    }
}

fn topic(
    row: &Operation,
) -> Option<&'static (&'static str, &'static [&'static str], &'static str)> {
    let first = row.path.strip_prefix("/_sandbox/")?.split('/').next()?;
    TOPICS.iter().find(|(_, names, _)| names.contains(&first))
}

/// The tags of the rows in the rows' order, then the tag of the webhooks.
pub(super) fn of(rows: &[&Operation], has_webhooks: bool) -> Vec<Value> {
    let mut tags: Vec<Value> = Vec::new();
    for row in rows {
        let name = of_row(row);
        if tags.iter().all(|tag| tag["name"] != name) {
            let about = topic(row).map_or_else(|| about(row.domain), |(.., about)| *about);
            tags.push(json!({ "name": name, "description": about }));
        }
    }
    if has_webhooks {
        tags.push(json!({ "name": webhook::TAG, "description": "Events, sent to the endpoints that subscribe to them." }));
    }
    tags
}

const fn about(domain: Domain) -> &'static str {
    match domain {
        Domain::Business => {
            "Companies, the people they employ, payroll, tax, compliance and accounting."
        }
        Domain::Payments => "Wallets, and payments into and out of them.",
        Domain::Identity => {
            "Identity of people and businesses: subjects, verifications, screening, trust."
        }
        Domain::Capital => "Readiness, due diligence, deals, scores, applications and loans.",
        Domain::Sandbox => "The simulation itself.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_control_plane_has_a_topic() {
        for row in crate::api::control() {
            assert!(topic(row).is_some(), "{}", row.path);
        }
    }
}

//! How to make the resources that no new world has, so that a reader of the document is not left with an empty list.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::api;
use crate::api::operation::Operation;
use crate::api::system::events_of;
use crate::model::Kind;

/// How the sentence begins.
pub(crate) const BEGINS: &str = "A new world has none.";

/// The events that make a resource, the most usual first.
const MAKING: [&str; 8] =
    ["created", "submitted", "opened", "completed", "imported", "compiled", "closed", "suggested"];

/// All events of the product.
static EVENTS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| api::product().flat_map(events_of).collect());

/// The sentence for an operation of the product that reads such resources.
pub(super) fn sentence(row: &Operation) -> Option<String> {
    let event = event(row.path)?;
    Some(format!("{BEGINS} `POST /_sandbox/trigger` with `{{\"type\":\"{event}\"}}` creates one."))
}

/// The event that makes what is read at a path, if no new world has any.
fn event(path: &str) -> Option<&'static str> {
    let kind = kind(path).filter(|kind| !kind.is_grown())?;
    match kind {
        // An audit log has what happened since the start.
        Kind::AuditLog => return Some("employee.created"),
        // One that was received is listed.
        Kind::Loan | Kind::LoanRepayment => return Some("loan.repayment_received"),
        _ => {}
    }
    MAKING.iter().find_map(|way| EVENTS.get(&*format!("{}.{way}", kind.name())).copied())
}

/// The kind of the last collection in a path that is named after one.
fn kind(path: &str) -> Option<Kind> {
    path.rsplit('/').find_map(|part| {
        let name = part.replace('-', "_");
        let is_plural = |one: &str| {
            let stem = name.strip_prefix(one.strip_suffix('y').unwrap_or(one));
            matches!(stem, Some("s" | "es" | "ies"))
        };
        // `requests` of a case are not those of a client.
        let named = |kind: &&Kind| is_plural(kind.name()) && **kind != Kind::Request;
        Kind::ALL.iter().find(named).copied()
    })
}

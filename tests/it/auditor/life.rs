//! The event log: numbers without gaps, time that never goes back, and status histories that follow the
//! lifecycles of `docs/conventions.md`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::books::Books;
use super::ledger::text;
use crate::harness::world::{id, number};

/// The transitions of each kind of resource, `from` to any of `to`. For other kinds, only the form of the
/// history is checked.
const ARROWS: &[(&str, &str, &[&str])] = &[
    ("employee", "pending", &["active", "terminated"]),
    ("employee", "active", &["on_leave", "suspended", "terminated"]),
    ("employee", "on_leave", &["active", "terminated", "suspended"]),
    ("employee", "suspended", &["active", "terminated", "on_leave"]),
    ("company", "pending", &["active", "closed"]),
    ("company", "active", &["suspended", "closed"]),
    ("company", "suspended", &["active", "closed"]),
    ("payroll_run", "draft", &["calculating", "cancelled"]),
    ("payroll_run", "calculating", &["calculated", "cancelled"]),
    ("payroll_run", "calculated", &["pending_approval", "approved", "draft", "cancelled"]),
    ("payroll_run", "pending_approval", &["approved", "draft", "cancelled"]),
    ("payroll_run", "approved", &["funding", "cancelled"]),
    ("payroll_run", "funding", &["processing", "funding_failed"]),
    ("payroll_run", "funding_failed", &["funding", "cancelled"]),
    ("payroll_run", "processing", &["paid", "partially_paid", "failed"]),
    ("payroll_run", "partially_paid", &["paid", "reversed"]),
    ("payroll_run", "paid", &["reversed"]),
    ("payroll_item", "ready", &["processing", "skipped", "blocked"]),
    ("payroll_item", "blocked", &["ready", "skipped", "processing"]),
    ("payroll_item", "processing", &["paid", "failed", "returned"]),
    ("payroll_item", "paid", &["returned", "reversed"]),
    ("payroll_item", "failed", &["processing", "reversed"]),
    ("payroll_item", "returned", &["processing", "reversed"]),
    ("payroll_item", "skipped", &["reversed"]),
    ("payslip", "issued", &["corrected", "voided"]),
    ("payout", "pending_approval", &["queued", "cancelled"]),
    ("payout", "queued", &["processing", "cancelled"]),
    ("payout", "processing", &["sent", "on_hold", "cancelled"]),
    ("payout", "on_hold", &["processing", "failed", "cancelled"]),
    ("payout", "sent", &["paid", "failed", "returned"]),
    ("payout", "paid", &["returned"]),
    ("beneficiary", "pending", &["verified", "rejected"]),
    ("escrow", "created", &["funded", "cancelled", "expired"]),
    ("escrow", "funded", &["partially_released", "released", "disputed", "refunded"]),
    ("escrow", "partially_released", &["partially_released", "released", "disputed", "refunded"]),
    ("escrow", "disputed", &["released", "refunded"]),
    ("tax_liability", "accrued", &["due", "paid", "void"]),
    ("tax_liability", "due", &["late", "paid", "void"]),
    ("tax_liability", "late", &["paid", "void"]),
    ("leave_request", "pending", &["approved", "declined"]),
    ("compliance_requirement", "open", &["overdue", "resolved"]),
    ("compliance_requirement", "overdue", &["resolved"]),
    ("payroll_verification", "pending", &["verified", "failed", "cancelled"]),
    ("regulatory_report", "compiled", &["submitted"]),
    ("regulatory_report", "submitted", &["acknowledged", "rejected"]),
    ("regulatory_report", "rejected", &["submitted"]),
    ("tax_filing", "pending", &["blocked", "submitted"]),
    ("tax_filing", "blocked", &["pending"]),
    ("tax_filing", "submitted", &["filed", "rejected"]),
    ("bill", "draft", &["approved", "void"]),
    ("bill", "approved", &["partially_paid", "paid", "void"]),
    ("bill", "partially_paid", &["partially_paid", "paid"]),
    ("accounting_period", "closed", &["open"]),
    ("accounting_period", "open", &["closed"]),
    ("bank_statement", "processing", &["imported"]),
    ("deal", "open", &["won", "lost", "withdrawn"]),
    ("due_diligence_case", "open", &["completed"]),
    ("due_diligence_request", "requested", &["submitted", "waived"]),
    ("due_diligence_request", "submitted", &["in_review", "accepted", "rejected", "waived"]),
    ("due_diligence_request", "in_review", &["accepted", "rejected", "waived"]),
    ("due_diligence_request", "rejected", &["submitted", "waived"]),
    ("reconciliation_match", "unmatched", &["suggested", "matched", "exception", "ignored"]),
    ("reconciliation_match", "suggested", &["matched", "unmatched", "ignored"]),
    ("reconciliation_match", "exception", &["matched", "ignored"]),
    ("reconciliation_match", "matched", &["unmatched"]),
];

/// The last transition of a return, which two states share.
const AMENDED: [&str; 2] = ["filed", "rejected"];

fn allowed(kind: &str, from: &str, to: &str) -> bool {
    if !ARROWS.iter().any(|(known, ..)| *known == kind) {
        return true;
    }
    let amended = kind == "tax_filing" && AMENDED.contains(&from) && to == "amended";
    let mut arrows = ARROWS.iter();
    amended || arrows.any(|(of, start, ends)| *of == kind && *start == from && ends.contains(&to))
}

pub(super) fn findings(books: &Books, found: &mut Vec<String>) {
    let mut ids = BTreeSet::new();
    let mut last = "";
    let mut histories: BTreeMap<&str, &[Value]> = BTreeMap::new();
    for (place, event) in books.events.iter().enumerate() {
        let name = text(&event["type"]);
        let sequence = number(&event["sequence"]);
        if sequence != i64::try_from(place).unwrap() + 1 {
            found.push(format!("event {} of the log has the number {sequence}", place + 1));
        }
        if !ids.insert(id(event)) {
            found.push(format!("{} appears twice", id(event)));
        }
        if text(&event["timestamp"]) < last {
            found.push(format!("{sequence} {name}: before the event that it follows"));
        }
        last = text(&event["timestamp"]);
        let object = &event["data"]["object"];
        let Some(history) = object["status_history"].as_array() else {
            continue;
        };
        let of = id(object);
        if let Some(fault) = fault(object, history, histories.get(of).copied()) {
            found.push(format!("{sequence} {name} {of}: {fault}"));
        }
        histories.insert(of, history);
    }
}

/// The fault of a history, compared with the earlier history of the resource.
fn fault(object: &Value, history: &[Value], before: Option<&[Value]>) -> Option<String> {
    let kind = text(&object["object"]);
    let status = |change: &Value| text(&change["status"]).to_owned();
    if let Some(before) = before
        && !history.starts_with(before)
    {
        return Some(format!("its history {before:?} was changed to {history:?}"));
    }
    if history.last().map(status).as_deref() != object["status"].as_str() {
        return Some(format!("is {} by its history {history:?}", object["status"]));
    }
    for pair in history.windows(2) {
        let (from, to) = (status(&pair[0]), status(&pair[1]));
        if !allowed(kind, &from, &to) {
            return Some(format!("a {kind} went from {from} to {to}"));
        }
        if text(&pair[0]["at"]) > text(&pair[1]["at"]) {
            return Some(format!("was {to} before it was {from}"));
        }
    }
    None
}

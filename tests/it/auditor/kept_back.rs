//! Compares deductions from pay and the employer's parts with the entries of each run.

use std::collections::BTreeMap;

use serde_json::Value;

use super::books::{Books, Company};
use super::ledger::{text, wide};
use crate::harness::world::id;
/// Deductions and the employer's parts are payable to third parties.
pub(super) fn kept_back<'a>(
    company: &'a Company,
    books: &'a Books,
    roots: &BTreeMap<&'a str, &'a str>,
    moved: &BTreeMap<(&'a str, String), i128>,
    found: &mut Vec<String>,
) {
    let mut kept: BTreeMap<&str, Option<i128>> = BTreeMap::new();
    for (run, items) in &books.runs {
        if run["company_id"] != company.company["id"] {
            continue;
        }
        let part = |item: &Value| match &item["employer_benefits"] {
            Value::Null => 0,
            amount => wide(amount),
        };
        let sum: i128 = items.iter().map(|item| wide(&item["deductions"]) + part(item)).sum();
        // Pay in another currency is rounded part by part.
        let abroad = items.iter().any(|item| !item["fx"].is_null());
        let root = roots.get(id(run)).copied().unwrap_or(id(run));
        let of_root = kept.entry(root).or_insert(Some(0));
        *of_root =
            of_root.filter(|_| !abroad).map(|before| before + if is_posted(run) { sum } else { 0 });
    }
    for (run, kept) in kept {
        let posted = moved.get(&(run, "deductions_payable".to_owned())).copied();
        if let Some(kept) = kept.filter(|kept| posted.unwrap_or_default() != *kept) {
            found.push(format!("{run} keeps back {kept}, its entries {posted:?}"));
        }
    }
}

/// Whether the entries of a run stand.
pub(super) fn is_posted(run: &Value) -> bool {
    !matches!(
        text(&run["status"]),
        "draft" | "calculating" | "calculated" | "pending_approval" | "cancelled" | "failed"
    )
}

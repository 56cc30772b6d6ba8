//! Which operation of the sandbox a call uses: by its path below the base path, by an alias, or by its operationId.

use std::collections::{BTreeMap, BTreeSet};

use crate::api;
use crate::api::operation::{Contract, Operation};
use crate::cli::learn::call::{Call, Shape};
use crate::cli::learn::compare::area;
use crate::cli::learn::learned::Learned;
use crate::engine::contract::{Overlay, WEBHOOK_ENDPOINTS};

/// Paths of the sandbox itself.
const OWN: [&str; 3] = ["/_sandbox", "/docs", "/openapi.json"];

/// Finds the operation of each call, and learns the base path and the aliases. Calls of other hosts, and calls that no program makes,
/// are removed.
pub(super) fn find(calls: &mut Vec<Call>, learned: &mut Learned) {
    calls.retain(|call| !OWN.iter().any(|own| call.path.contains(own)));
    let base = base_path(calls, learned);
    let mut known = BTreeSet::new();
    // The aliases of all other calls are learned before refused calls are compared with them.
    for shows in [true, false] {
        for call in calls.iter_mut().filter(|call| call.shows_its_operation() == shows) {
            let Some(rest) = call.path.strip_prefix(&base) else { continue };
            let (rest, method) = (rest.to_owned(), call.method.clone());
            call.row = by_path(&method, &rest, learned)
                .or_else(|| if shows { by_alias(call, &rest, learned) } else { None });
            if call.row.is_some() {
                known.insert(call.host.clone());
            }
        }
    }
    calls.retain(|call| known.contains(&call.host));
    calls.retain(|call| call.row.is_some() || !manages_endpoints(call, &base, learned));
    absent(calls, learned);
    for call in calls.iter().filter(|call| call.shows_its_operation()) {
        let shows_json = call.reply != Shape::Unknown || !call.is_seen;
        if call.row.is_none() && shows_json {
            let what = format!("`{} {}` is no operation of the sandbox", call.method, call.path);
            learned.differ("paths", what, call, None);
        }
    }
    calls.retain(|call| call.row.is_some());
}

/// Whether a call of the product manages webhook endpoints, which in the sandbox only the control plane does. Learns their path.
fn manages_endpoints(call: &Call, base: &str, learned: &mut Learned) -> bool {
    let path = call.path.strip_prefix(base).filter(|_| call.shows_its_operation());
    let Some(path) = path else { return false };
    let rows = api::control().filter(|row| row.method.name() == call.method);
    let found = rows.into_iter().find_map(|row| {
        let rest = row.path.strip_prefix(WEBHOOK_ENDPOINTS)?;
        let before = prefix(&format!("/webhook-endpoints{rest}"), path);
        let same_end = before.map(|before| format!("{before}/webhook-endpoints"));
        let is_named = call.operation_id.as_deref() == Some(row.operation_id().as_str());
        // A document can name the operation. Then its path before the parts of the row is that of the endpoints.
        let parts = rest.matches('/').count();
        let cut = path.rsplitn(parts + 1, '/').last().filter(|path| path.len() > 1);
        same_end.or_else(|| cut.filter(|_| is_named).map(str::to_owned))
    });
    let Some(found) = found else { return false };
    let what = format!("`{found}` manages webhook endpoints");
    let before = learned.contract().rows.webhook_endpoints.clone();
    let is_new = before.is_none()
        && learned.set(|contract| {
            contract.rows.webhook_endpoints = Some(found.clone());
            true
        });
    let is_same = before.as_ref() == Some(&found);
    if is_new || is_same && learned.has_learned("webhooks.endpoints") {
        learned.differ("webhook-endpoints", what, call, Some("webhooks.endpoints"));
    } else if is_same {
        learned.confirm("webhook-endpoints", call);
    } else {
        let too = if before.is_some() { ", too" } else { "" };
        learned.differ("webhook-endpoints", format!("{what}{too}"), call, None);
    }
    true
}

/// Switches off the operations that a document lacks and no call uses. A document is assumed to be complete.
fn absent(calls: &[Call], learned: &mut Learned) {
    let Some(first) = calls.iter().find(|call| !call.is_seen && call.row.is_some()) else { return };
    let used: BTreeSet<&str> = calls.iter().filter_map(|call| Some(call.row?.name)).collect();
    let served = api::product().filter(|row| learned.contract().rows.serves(row));
    let lacks: Vec<_> = served.filter(|row| !used.contains(row.name)).collect();
    let document = Call::new(document_of(first), "GET", "", 200);
    let is_published = |row: &&Operation| row.contract == Contract::Published;
    let mut others = api::product().filter(|row| !is_published(row));
    let publishes = |contract: &mut Overlay| {
        contract.rows.published_only = true;
        true
    };
    if others.all(|row| !used.contains(row.name))
        && lacks.iter().any(|row| !is_published(row))
        && learned.set(publishes)
    {
        let what = "only the published operations are there".to_owned();
        learned.differ("paths", what, &document, Some("serve"));
    }
    for row in lacks {
        let id = row.operation_id();
        let what = format!("there is no {id}, `{} {}`", row.method.name(), row.path);
        if is_published(&row) {
            learned.differ("paths", what, &document, None);
        } else if !learned.contract().rows.published_only {
            let key = learned.switch_off(row).then(|| format!("operations.{id}.enabled"));
            learned.differ(area(row).unwrap_or("paths"), what, &document, key.as_deref());
        }
    }
}

/// The name of the file that shows a call.
fn document_of(call: &Call) -> String {
    call.at.split(", ").next().unwrap_or_default().to_owned()
}

/// Notes the assumptions on which the calls of a recording depend. Their paths have no base path.
pub(super) fn used(calls: &[Call], learned: &mut Learned) -> usize {
    let mut found = 0;
    for call in calls {
        let Some(row) = by_path(&call.method, &call.path, learned) else { continue };
        found += 1;
        if let Some(area) = area(row) {
            learned.uses(area, call);
        }
        learned.uses(success(row), call);
        if call.sent.as_ref().is_some_and(|sent| sent.contains_key("idempotency-key")) {
            learned.uses("idempotency", call);
        }
    }
    found
}

/// The assumption about the status of an operation's success.
pub(super) fn success(row: &Operation) -> &'static str {
    if row.name == "run_payroll" { "run-status" } else { "statuses" }
}

/// The most frequent prefix of the calls' paths. Calls that prove no operation count only if there are no others, and
/// confirm nothing.
fn base_path(calls: &[Call], learned: &mut Learned) -> String {
    let mut found: BTreeMap<String, (usize, usize, &Call)> = BTreeMap::new();
    for call in calls {
        let prefixes = api::product().filter(|row| row.method.name() == call.method);
        let prefix =
            prefixes.filter_map(|row| prefix(row.path, &call.path)).min_by_key(String::len);
        if let Some(prefix) = prefix {
            let shows = usize::from(call.shows_its_operation());
            let (showing, all, first) = found.entry(prefix).or_insert((0, 0, call));
            if *showing == 0 && shows == 1 {
                *first = call;
            }
            (*showing, *all) = (*showing + shows, *all + 1);
        }
    }
    let ours = learned.contract().base_path.as_str().to_owned();
    let most = found.into_iter().max_by_key(|(_, (showing, all, _))| (*showing, *all));
    let Some((base, (showing, _, call))) = most else { return ours };
    if showing == 0 {
        return base;
    }
    if base == ours {
        learned.confirm("base-path", call);
        return base;
    }
    let what = if base.is_empty() {
        "paths begin after host and port".to_owned()
    } else {
        format!("paths begin with {base}")
    };
    let is_set = learned.set(|contract| base.parse().map(|path| contract.base_path = path).is_ok());
    learned.differ("base-path", what, call, is_set.then_some("base_path"));
    base
}

/// The prefix of a path before a path of the table.
fn prefix(template: &str, path: &str) -> Option<String> {
    let own: Vec<&str> = template.split('/').skip(1).collect();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let before = parts.len().checked_sub(own.len())?;
    let is_same = own.iter().zip(&parts[before..]).all(|(own, part)| is_same_part(own, part));
    is_same.then(|| parts[..before].iter().flat_map(|part| ["/", part]).collect())
}

fn is_same_part(template: &str, part: &str) -> bool {
    if template.starts_with('{') { !part.is_empty() } else { template == part }
}

fn matches(template: &str, path: &str) -> bool {
    prefix(template, path).is_some_and(|before| before.is_empty())
}

fn by_path(method: &str, path: &str, learned: &mut Learned) -> Option<&'static Operation> {
    let mut rows = api::product().filter(|row| row.method.name() == method);
    // A path without parameters wins: `/payouts/batch` is no payout.
    let mut found: Vec<_> = rows
        .by_ref()
        .filter(|row| {
            let aliases = learned.contract().rows.aliases(row);
            matches(row.path, path) || aliases.iter().any(|alias| matches(alias, path))
        })
        .collect();
    found.sort_by_key(|row| row.path.matches('{').count());
    found.first().copied()
}

/// The row that a document names by its operationId, or that has the same end of its path: the part after `/v1` or `/api/payments`.
fn by_alias(call: &Call, path: &str, learned: &mut Learned) -> Option<&'static Operation> {
    let rows = || api::product().filter(|row| row.method.name() == call.method);
    let id = call.operation_id.as_deref();
    let named = rows().find(|row| id == Some(row.operation_id().as_str()));
    let mut ends = rows().filter_map(|row| Some((row, prefix(tail(row.path), path)?)));
    let ended = ends.next().filter(|_| ends.next().is_none());
    let (row, alias) = match (named, ended) {
        (Some(row), _) => (row, renamed(path, row).unwrap_or_else(|| path.to_owned())),
        (None, Some((row, before))) => (row, format!("{before}{}", tail(row.path))),
        (None, None) => return None,
    };
    let what = format!("`{} {alias}` is {}", call.method, row.operation_id());
    let is_added = learned.add_alias(row, &alias);
    let key = is_added.then(|| format!("operations.{}.aliases", row.operation_id()));
    learned.differ("paths", what, call, key.as_deref());
    Some(row)
}

/// The path of a document with the parameter names of the row; none if it has another number of them.
fn renamed(path: &str, row: &Operation) -> Option<String> {
    let mut names = row.path.split('/').filter(|part| part.starts_with('{'));
    let mut parts = Vec::new();
    for part in path.split('/') {
        parts.push(if part.starts_with('{') { names.next()? } else { part });
    }
    names.next().is_none().then(|| parts.join("/"))
}

/// The path after `/v1`, or after `/api` and the domain.
fn tail(path: &str) -> &str {
    let skipped = if path.starts_with("/api/") { 3 } else { 2 };
    let start = path.match_indices('/').nth(skipped - 1).map_or(0, |(at, _)| at);
    &path[start..]
}

//! Checks of calls against the contract: statuses, headers, the form of errors, and pages.

use std::collections::BTreeMap;

use http::HeaderName;

use crate::api::crud::PER_PAGE_CEILING;
use crate::cli::learn::call::{Call, Headers, Key, Shape};
use crate::cli::learn::compare::area;
use crate::cli::learn::learned::Learned;
use crate::cli::learn::matching::success;
use crate::cli::learn::names::{is_idempotency, is_request_id, is_version, with_request_id};
use crate::engine::contract::{ErrorFormat, Header, Name, Overlay};
use crate::value::ErrorCode;

/// Values in calls, each with its call.
type Shown<'c, T> = Vec<(T, &'c Call)>;

/// Runs every check.
pub(super) fn all(calls: &[Call], learned: &mut Learned) {
    statuses(calls, learned);
    errors(calls, learned);
    codes(calls, learned);
    page_sizes(calls, learned);
    page_parameters(calls, learned);
    idempotency(calls, learned);
    headers(calls, learned);
    keys(calls, learned);
    tags_and_traces(calls, learned);
    required_members(calls, learned);
    for call in calls.iter().filter(|call| call.shows_its_operation()) {
        if let Some(area) = call.row.and_then(area) {
            learned.confirm(area, call);
        }
    }
}

/// Compares the recorded values with the sandbox's value. If none is equal, sets the most frequent value; `set`
/// returns whether a contract key can have it.
fn settle<T: Ord + Clone>(
    learned: &mut Learned,
    (id, key): (&str, &str),
    (ours, shown): (&T, &Shown<'_, T>),
    words: impl Fn(&T) -> String,
    set: impl FnOnce(&mut Overlay, &T) -> bool,
) {
    let mut counts: BTreeMap<&T, usize> = BTreeMap::new();
    for (value, _) in shown {
        *counts.entry(value).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count).map(|(value, _)| (*value).clone());
    let Some(most) = most else { return };
    let is_set = !counts.contains_key(ours) && learned.set(|contract| set(contract, &most));
    for (value, call) in shown {
        if value == ours {
            learned.confirm(id, call);
        } else {
            learned.differ(id, words(value), call, (is_set && *value == most).then_some(key));
        }
    }
}

/// The statuses of successes.
fn statuses(calls: &[Call], learned: &mut Learned) {
    let mut shown: BTreeMap<&str, Shown<'_, u16>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.succeeds()) {
        let Some(row) = call.row else { continue };
        shown.entry(row.name).or_default().push((call.status, call));
    }
    for shown in shown.values() {
        let Some(row) = shown.first().and_then(|(_, call)| call.row) else { continue };
        let operation = row.operation_id();
        let ours = learned.contract().rows.status(row);
        let key = format!("operations.{operation}.status");
        let words = |status: &u16| format!("{operation} returns {status}");
        settle(learned, (success(row), &key), (&ours, shown), words, |contract, &status| {
            contract.rows.changed.entry(row.name).or_default().status = Some(status);
            true
        });
    }
}

/// The form of an error response.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Problem,
    Envelope,
    Other,
}

fn form(reply: &Shape) -> Option<Form> {
    let Shape::Object(members) = reply else {
        return (*reply != Shape::Unknown).then_some(Form::Other);
    };
    let inner = reply.member("error");
    let has = |shape: &Shape, name: &str| shape.member(name).is_some();
    Some(match inner {
        Some(inner) if has(inner, "code") && has(inner, "message") => Form::Envelope,
        None if has(reply, "code") && has(reply, "title") && members.contains_key("status") => {
            Form::Problem
        }
        _ => Form::Other,
    })
}

fn errors(calls: &[Call], learned: &mut Learned) {
    let refused = calls.iter().filter(|call| call.is_refused());
    let shown = refused.filter_map(|call| Some((form(&call.reply)?, call))).collect();
    let ours = match learned.contract().dialect.errors {
        ErrorFormat::Problem => Form::Problem,
        ErrorFormat::Envelope => Form::Envelope,
    };
    let words = |form: &Form| {
        match form {
            Form::Problem => "an error is a problem document with `code`",
            Form::Envelope => "an error is `{\"error\": {…}}` with `code` and `message`",
            Form::Other => "an error is neither a problem document nor `{\"error\": {…}}`",
        }
        .to_owned()
    };
    let names = ("error-format", "errors.format");
    settle(learned, names, (&ours, &shown), words, |contract, form| {
        contract.dialect.errors = match form {
            Form::Problem => ErrorFormat::Problem,
            Form::Envelope => ErrorFormat::Envelope,
            Form::Other => return false,
        };
        true
    });
}

/// The codes of errors that were seen.
fn codes(calls: &[Call], learned: &mut Learned) {
    for call in calls.iter().filter(|call| call.is_refused() && call.is_seen) {
        let inner = call.reply.member("error").unwrap_or(&call.reply);
        let Some(code) = inner.member("code").and_then(Shape::text) else { continue };
        let status = call.status;
        let id = match status {
            400 => "codes-400",
            401 | 403 => "codes-401-403",
            402 => "codes-402",
            404 | 405 => "codes-404-405",
            406 => "accept",
            409 | 412 => "codes-409-412",
            413 => "payload-limit",
            415 => "content-type",
            422 => "codes-422",
            429 => "rate-limit",
            500.. => "codes-5xx",
            _ => "error-order",
        };
        let mut known = ErrorCode::ALL.iter().filter(|known| known.status() == status);
        let is_known = known.any(|known| known.code() == code);
        learned.check(id, is_known, &format!("status {status} has the code `{code}`"), call);
    }
}

/// The default and the maximum number of rows of a page.
fn page_sizes(calls: &[Call], learned: &mut Learned) {
    let ours = learned.contract().rows.paging;
    let (mut defaults, mut most) = (Shown::new(), Shown::new());
    for call in calls.iter().filter(|call| call.succeeds() && call.row.is_some()) {
        if let Some(declared) = call.parameter("per_page") {
            defaults.extend(declared.default.map(|rows| (rows, call)));
            let limit = declared.maximum.filter(|rows| *rows <= PER_PAGE_CEILING);
            most.extend(limit.map(|rows| (rows, call)));
        }
        let Some(Shape::List(rows)) = call.reply.member("data") else { continue };
        let total = call.reply.member("meta").and_then(|meta| meta.member("total"));
        let Some(total) = total.and_then(Shape::number) else { continue };
        let (rows, total) = (rows.len() as u64, total.unsigned_abs());
        let is_first = call.query.get("page").is_none_or(|page| page == "1");
        if !call.is_seen || !is_first || rows == 0 {
            continue;
        }
        match call.query.get("per_page").map(|wanted| wanted.parse::<u64>()) {
            None if rows < total => defaults.push((rows, call)),
            Some(Ok(wanted)) if rows < wanted && rows < total => most.push((rows, call)),
            Some(Ok(wanted)) if rows == wanted && wanted > ours.most => most.push((rows, call)),
            _ => {}
        }
    }
    let words = |rows: &u64| format!("a page has at most {rows} rows");
    let names = ("page-size-limit", "paging.per_page_max");
    settle(learned, names, (&ours.most, &most), words, |contract, &rows| {
        contract.rows.paging.most = rows;
        contract.rows.paging.default = contract.rows.paging.default.min(rows);
        true
    });
    let words = |rows: &u64| format!("a page has {rows} rows without `per_page`");
    let names = ("page-size", "paging.per_page_default");
    settle(learned, names, (&ours.default, &defaults), words, |contract, &rows| {
        contract.rows.paging.default = rows;
        if most.is_empty() {
            contract.rows.paging.most = contract.rows.paging.most.max(rows);
        }
        true
    });
}

/// The names of the parameters that select a page, and the reply after the last page.
fn page_parameters(calls: &[Call], learned: &mut Learned) {
    for call in calls.iter().filter(|call| call.row.is_some() && call.succeeds()) {
        let declared = call.parameters.iter().filter(|it| it.place == "query");
        let names: Vec<&str> = declared
            .map(|it| it.name.as_str())
            .chain(call.query.keys().map(String::as_str))
            .collect();
        for (id, ours, others) in [
            ("page", "page", ["cursor", "offset", "starting_after", "page_token"].as_slice()),
            ("page-size", "per_page", ["limit", "page_size", "pageSize", "perPage"].as_slice()),
        ] {
            if names.contains(&ours) {
                if id == "page" {
                    learned.confirm(id, call);
                }
            } else if let Some(other) = others.iter().find(|other| names.contains(*other))
                && call.row.is_some_and(|row| row.checker().names().any(|name| name == ours))
            {
                learned.differ(id, format!("`{other}` replaces `{ours}`"), call, None);
            }
        }
        let page = call.query.get("page").and_then(|page| page.parse::<u64>().ok());
        if let (Some(2..), Some(Shape::List(rows))) = (page, call.reply.member("data"))
            && rows.is_empty()
        {
            learned.confirm("past-the-end", call);
        }
    }
}

/// Whether a POST needs an idempotency key.
fn idempotency(calls: &[Call], learned: &mut Learned) {
    let mut shown = Shown::new();
    for call in calls.iter().filter(|call| call.method == "POST" && call.row.is_some()) {
        let Some(sent) = &call.sent else { continue };
        let declared = call.parameters.iter().find(|it| is_idempotency(&it.name));
        if let Some(declared) = declared {
            shown.push((declared.is_required, call));
        }
        if call.is_seen && named(sent, is_idempotency).is_none() {
            let inner = call.reply.member("error").unwrap_or(&call.reply);
            let code = inner.member("code").and_then(Shape::text).unwrap_or_default();
            if call.succeeds() {
                shown.push((false, call));
            } else if is_idempotency(code) {
                shown.push((true, call));
            }
        }
    }
    let words = |required: &bool| {
        let which = if *required { "needs" } else { "does not need" };
        format!("a POST {which} an idempotency key")
    };
    let ours = learned.contract().rows.key_required;
    let names = ("idempotency", "idempotency.required");
    settle(learned, names, (&ours, &shown), words, |contract, &required| {
        contract.rows.key_required = required;
        true
    });
}

/// The header whose name fits.
fn named(headers: &Headers, fits: impl Fn(&str) -> bool) -> Option<&str> {
    headers.iter().find(|(lower, _)| fits(lower)).map(|(_, (written, _))| written.as_str())
}

/// The names of headers. A reply without an id shows that the header does not exist.
fn headers(calls: &[Call], learned: &mut Learned) {
    type Fits = fn(&str) -> bool;
    let rows: [(&str, &str, Fits); 4] = [
        ("request-id", "request_id", is_request_id),
        ("idempotency-replayed", "idempotent_replayed", |name| name.contains("replay")),
        ("idempotency", "idempotency_key", is_idempotency),
        ("api-version", "api_version", is_version),
    ];
    for (id, key, fits) in rows {
        let Some(header) = Header::ALL.into_iter().find(|header| header.key == key) else {
            continue;
        };
        let ours = learned.contract().called(key).map(str::to_owned);
        let mut shown = Shown::new();
        for call in calls.iter().filter(|call| call.row.is_some()) {
            let headers = if header.of_requests { &call.sent } else { &call.replied };
            let Some(headers) = headers else { continue };
            let by_value = || with_request_id(headers, &call.reply);
            // A proxy can add another header to the default one.
            let is_ours = |ours: &&str| headers.contains_key(&ours.to_ascii_lowercase());
            let name = ours.as_deref().filter(is_ours).or_else(|| named(headers, fits));
            let name = name.or_else(|| if key == "request_id" { by_value() } else { None });
            let name = name.map(str::to_owned);
            if name.is_some() || key == "request_id" && !headers.is_empty() {
                shown.push((name, call));
            }
        }
        let words = |name: &Option<String>| match name {
            Some(name) => format!("the header is `{name}`"),
            None => "there is no such header".to_owned(),
        };
        let key = format!("headers.{key}");
        settle(learned, (id, &key), (&ours, &shown), words, |contract, name| {
            rename(contract, header, name.as_deref())
        });
    }
}

/// Gives a header this name, or removes it.
fn rename(contract: &mut Overlay, header: Header, name: Option<&str>) -> bool {
    let wire = name.map(|name| HeaderName::try_from(name).map(|wire| (name.to_owned(), wire)));
    let Ok(new) = wire.transpose() else { return false };
    contract.dialect.headers.retain(|(other, _)| *other != header);
    match new {
        Some((_, wire)) if wire == header.own() => {}
        new => {
            let name = new.map(|(written, wire)| Name { written, wire });
            contract.dialect.headers.push((header, name));
        }
    }
    true
}

/// Calls without a key, and with one that looks live.
fn keys(calls: &[Call], learned: &mut Learned) {
    // An export can leave credentials out.
    if !calls.iter().any(|call| matches!(call.key, Key::Test | Key::Live)) {
        return;
    }
    for call in calls {
        match (call.key, call.status) {
            (Key::Absent, status) => {
                let what = format!("a call without a key returns {status}");
                learned.check("no-key", status == 401, &what, call);
            }
            (Key::Live, 401) => learned.confirm("live-keys", call),
            _ => {}
        }
    }
}

/// `ETag` on single resources, and the trace of a request.
fn tags_and_traces(calls: &[Call], learned: &mut Learned) {
    for call in calls.iter().filter(|call| call.succeeds() && call.is_seen) {
        let (Some(row), Some(replied)) = (call.row, &call.replied) else { continue };
        if call.method == "GET" && row.path.ends_with('}') {
            let what = "a single resource has no `ETag`";
            learned.check("tags", replied.contains_key("etag"), what, call);
        }
        let sent = call.sent.as_ref().and_then(|sent| sent.get("traceparent"));
        if let Some((_, trace)) = sent {
            let is_returned = replied.get("traceparent").is_some_and(|(_, it)| it == trace);
            learned.check("trace", is_returned, "`traceparent` is not returned", call);
        }
    }
}

/// The members that a payroll run needs.
fn required_members(calls: &[Call], learned: &mut Learned) {
    let runs = calls.iter().filter(|call| call.row.is_some_and(|row| row.name == "run_payroll"));
    for call in runs.filter(|call| !call.is_seen) {
        let Shape::Object(members) = &call.request else { continue };
        let required = members.iter().filter(|(_, (_, required))| *required);
        let required: Vec<&str> = required.map(|(name, _)| name.as_str()).collect();
        let what = format!("the required members are {}", required.join(", "));
        learned.check("run-required", required == ["company_id", "period"], &what, call);
    }
}

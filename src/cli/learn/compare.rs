//! Compares a reply with the reply that the sandbox's own document promises.

use crate::api::operation::Operation;
use crate::cli::learn::call::{Call, Shape};
use crate::cli::learn::document;
use crate::cli::learn::learned::Learned;
use crate::engine::contract::Overlay;
use crate::engine::contract::assumptions;
use crate::render::openapi::{self, Plane};

/// The most rows of a list that are compared.
const MOST_ROWS: usize = 100;

/// A pair of values, with their member.
struct Pair<'p> {
    call: &'p Call,
    /// The assumption about the members of this operation.
    members: &'static str,
    /// The name of the member.
    name: &'p str,
    /// Its path in the reply.
    path: &'p str,
}

/// Compares the replies of all successful calls.
pub(super) fn replies(calls: &[Call], learned: &mut Learned) {
    let own = openapi::document_under(Plane::Product, &Overlay::default());
    let own = document::calls("", &own).expect("a test reads the own document");
    for call in calls.iter().filter(|call| call.succeeds() && call.reply != Shape::Unknown) {
        let Some(row) = call.row else { continue };
        let id = row.operation_id();
        let ours = own.iter().find(|it| it.operation_id.as_deref() == Some(&id) && it.succeeds());
        let Some(ours) = ours.filter(|ours| ours.reply != Shape::Unknown) else { continue };
        if !envelope(&ours.reply, call, learned) {
            continue;
        }
        let pair = Pair { call, members: members_of(row), name: "", path: "" };
        value(&ours.reply, &call.reply, &pair, learned);
    }
}

/// Whether the reply has the envelope of the sandbox.
fn envelope(ours: &Shape, call: &Call, learned: &mut Learned) -> bool {
    let (ours, theirs) = (ours.member("data"), call.reply.member("data"));
    let what = match (ours, theirs) {
        (None, _) | (Some(Shape::List(_)), Some(Shape::List(_))) => return true,
        (Some(Shape::List(_)), _) => "a list is not in `data`, as the specification shows",
        (Some(_), Some(Shape::Object(_))) => {
            learned.confirm("single-envelope", call);
            return true;
        }
        (Some(_), _) => "a single resource is not in `data`",
    };
    learned.differ("single-envelope", what.to_owned(), call, None);
    false
}

/// The assumption about the members of an operation's reply.
fn members_of(row: &Operation) -> &'static str {
    for (path, id) in [
        ("/api/business/employees", "employee-fields"),
        ("/api/business/companies", "company-fields"),
        ("/api/business/payroll-runs", "company-fields"),
        ("/v1/payroll/run", "company-fields"),
    ] {
        if row.path.starts_with(path) {
            return id;
        }
    }
    area(row).unwrap_or("company-fields")
}

/// The area of operations that a row belongs to.
pub(super) fn area(row: &Operation) -> Option<&'static str> {
    let paths = assumptions::all().filter_map(|one| {
        let path = one.area_path().filter(|path| row.path.starts_with(path))?;
        Some((path.len(), one.id.as_str()))
    });
    paths.max().map(|(_, id)| id)
}

/// The assumption about the values of a status.
fn states_of(row: &Operation, name: &str) -> Option<&'static str> {
    let states = [
        ("/api/business/employees", "status", "employee-status"),
        ("/api/business/employees", "payroll_status", "payroll-status"),
        ("/api/business/payroll-runs", "status", "run-states"),
        ("/v1/payroll/run", "status", "run-states"),
        ("/api/business/payslips", "status", "item-states"),
        ("/api/payments/payouts", "status", "payout-states"),
    ];
    let found = states.into_iter().find(|(path, of, _)| row.path.starts_with(path) && *of == name);
    found.map(|(_, _, id)| id)
}

fn value(ours: &Shape, theirs: &Shape, pair: &Pair<'_>, learned: &mut Learned) {
    match (ours, theirs) {
        (Shape::Unknown, _)
        | (_, Shape::Unknown | Shape::Null)
        | (Shape::Decimal, Shape::Integer(_) | Shape::Decimal)
        | (Shape::Truth, Shape::Truth) => {}
        (Shape::Object(ours), Shape::Object(theirs)) => {
            for (name, (shape, _)) in theirs {
                let path = format!("{}.{name}", pair.path);
                let path = path.trim_start_matches('.');
                if let Some((ours, _)) = ours.get(name) {
                    value(ours, shape, &Pair { name, path, ..*pair }, learned);
                } else {
                    let what = format!("a reply has the member `{path}`");
                    learned.differ(pair.members, what, pair.call, None);
                }
            }
            let lacks =
                ours.iter().filter(|(name, (_, always))| *always && !theirs.contains_key(*name));
            for (name, _) in lacks {
                let path = format!("{}.{name}", pair.path);
                let what = format!("a reply lacks the member `{}`", path.trim_start_matches('.'));
                learned.differ(pair.members, what, pair.call, None);
            }
        }
        (Shape::List(ours), Shape::List(theirs)) => {
            let Some(ours) = ours.first() else { return };
            theirs.iter().take(MOST_ROWS).for_each(|it| value(ours, it, pair, learned));
        }
        (Shape::Integer(_), Shape::Integer(_)) => {
            if is_amount(pair.name) {
                learned.confirm("money", pair.call);
            }
        }
        (Shape::Text(known, format), Shape::Text(values, theirs)) => {
            text((known, format.as_deref()), (values, theirs.as_deref()), pair, learned);
        }
        (ours, theirs) => {
            let what = format!("`{}` is {}, not {}", pair.path, theirs.name(), ours.name());
            let id = if is_amount(pair.name) { "money" } else { pair.members };
            learned.differ(id, what, pair.call, None);
        }
    }
}

fn is_amount(name: &str) -> bool {
    name == "amount" || name.ends_with("_amount")
}

/// Compares texts: instants, ids, and the values of enumerations.
fn text(
    (known, format): (&[String], Option<&str>),
    (values, theirs): (&[String], Option<&str>),
    pair: &Pair<'_>,
    learned: &mut Learned,
) {
    let Pair { call, name, path, .. } = *pair;
    if format == Some("date-time") {
        let agrees = if call.is_seen {
            values.iter().all(|value| is_instant(value))
        } else {
            theirs == Some("date-time")
        };
        let what = format!("`{path}` is no instant in UTC with three decimals");
        learned.check("instants", agrees, &what, call);
    }
    if path == "data.id" && call.is_seen {
        let what = "an `id` is not a prefix, `_` and 13 characters of base 32";
        learned.check("ids", values.iter().all(|value| is_id(value)), what, call);
    }
    if known.is_empty() {
        return;
    }
    let id = call.row.and_then(|row| states_of(row, name)).unwrap_or(pair.members);
    let mut agrees = true;
    for value in values.iter().filter(|value| !known.contains(value)) {
        agrees = false;
        learned.differ(id, format!("`{path}` can be `{value}`"), call, None);
    }
    if !call.is_seen && !values.is_empty() {
        for value in known.iter().filter(|value| !values.contains(value)) {
            agrees = false;
            learned.differ(id, format!("`{path}` cannot be `{value}`"), call, None);
        }
    }
    if agrees && !values.is_empty() {
        learned.confirm(id, call);
    }
}

/// `2026-01-31T09:00:00.000Z`.
fn is_instant(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    text.len() == form.len()
        && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

/// `emp_c40beevhftrbn`.
fn is_id(text: &str) -> bool {
    let Some((prefix, rest)) = text.rsplit_once('_') else { return false };
    let is_base_32 = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    !prefix.is_empty()
        && prefix.bytes().all(|byte| byte.is_ascii_lowercase())
        && rest.len() == 13
        && rest.bytes().all(is_base_32)
}

//! Instructions to create resources that no new world has: a sentence for readers, and calls for programs, which
//! "Try" of `/docs` makes first.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::api;
use crate::api::operation::{Contract, Method, Operation};
use crate::api::system::events_of;
use crate::model::Kind;

/// The beginning of the sentence.
pub(crate) const BEGINS: &str = "A new world has none.";

/// The member of an operation with the calls. Each has `method`, `path`, `body`, and `parameters`: values of its reply by name, as in a Link Object.
/// Later paths and the operation itself use those values.
pub(crate) const CALLS: &str = "x-first-calls";

/// The operation that makes an event happen.
const TRIGGER: &str = "/_sandbox/trigger";

/// The events that create a resource, the most usual first.
const MAKING: [&str; 8] =
    ["created", "submitted", "opened", "completed", "imported", "compiled", "closed", "suggested"];

/// Reads of resources that neither a new world has nor an event names: the event, then the call whose reply has the
/// id.
const BY_REPLY: &[(&str, &str, Method, &str, &str)] = &[
    (
        "get_payroll_verification",
        "employee.created",
        Method::Post,
        "/api/business/employees/{employee_id}/verify-payroll",
        "/data/id",
    ),
    (
        "get_audit_log",
        "employee.created",
        Method::Get,
        "/api/business/audit-logs?per_page=1",
        "/data/0/id",
    ),
    (
        "get_loan_repayment",
        "loan.repayment_received",
        Method::Get,
        "/api/capital/loans/{loan_id}/repayments?per_page=1",
        "/data/0/id",
    ),
];

/// Calls that reads of the control plane need first, as JSON. None of these calls changes what later calls of a
/// reader return, apart from the endpoint, which accepts nothing.
const OF_CONTROL: &[(&str, &str)] = &[
    ("list_events", CREATED),
    ("get_diff", CREATED),
    (
        "get_event",
        r#"[{"method":"POST","path":"/_sandbox/trigger","body":{"type":"employee.created"},"parameters":{"event_id":"$response.body#/data/event/id"}}]"#,
    ),
    (
        "list_external_ids",
        r#"[{"method":"POST","path":"/_sandbox/trigger","body":{"type":"employee.created","override":{"metadata":{"external_id":"E-17"}}}}]"#,
    ),
    (
        "list_decisions",
        r#"[{"method":"POST","path":"/_sandbox/trigger","body":{"type":"payout.paid"}}]"#,
    ),
    ("get_statement_file", STATEMENT),
    ("get_statement_truth", STATEMENT),
    (
        "get_micro_deposits",
        r#"[{"method":"POST","path":"/_sandbox/trigger","body":{"type":"beneficiary.micro_deposits_sent"},"parameters":{"beneficiary_id":"$response.body#/data/event/data/object/id"}}]"#,
    ),
    (
        "list_rules",
        r#"[{"method":"POST","path":"/_sandbox/rules","body":{"match":{"decision":"payout.settle"},"times":1,"outcome":{"then":"paid"}}}]"#,
    ),
    (
        "list_faults",
        r#"[{"method":"POST","path":"/_sandbox/faults","body":{"on":"createPayout","times":1,"latency":"1ms"}}]"#,
    ),
    ("list_snapshots", r#"[{"method":"POST","path":"/_sandbox/snapshots","body":{}}]"#),
    ("list_webhook_endpoints", DELIVERED),
    ("get_webhook_endpoint", DELIVERED),
    ("list_endpoint_deliveries", DELIVERED),
    ("list_deliveries", DELIVERED),
    ("get_delivery", DELIVERED),
    ("list_requests", REQUESTED),
    ("get_request", REQUESTED),
    ("get_trace", REQUESTED),
];
const CREATED: &str =
    r#"[{"method":"POST","path":"/_sandbox/trigger","body":{"type":"employee.created"}}]"#;
const STATEMENT: &str = r#"[{"method":"POST","path":"/_sandbox/trigger","body":{"type":"bank_statement.created"},"parameters":{"bank_statement_id":"$response.body#/data/event/data/object/id"}}]"#;
const DELIVERED: &str = r#"[
    {"method":"POST","path":"/_sandbox/webhook-endpoints","body":{"url":"http://127.0.0.1:9/webhooks"},"parameters":{"endpoint_id":"$response.body#/data/endpoint/id"}},
    {"method":"POST","path":"/_sandbox/trigger","body":{"type":"employee.created"}},
    {"method":"GET","path":"/_sandbox/deliveries?per_page=1","parameters":{"delivery_id":"$response.body#/data/0/id"}}
]"#;
const REQUESTED: &str = r#"[
    {"method":"GET","path":"/api/business/companies"},
    {"method":"GET","path":"/_sandbox/requests?per_page=1","parameters":{"request_id":"$response.body#/data/0/request_id","id":"$response.body#/data/0/request_id"}}
]"#;

/// All events of the product.
static EVENTS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| api::product().flat_map(events_of).collect());

/// The sentence for an operation of the product that reads such resources.
pub(super) fn sentence(row: &Operation) -> Option<String> {
    let trigger =
        |event: &str| format!("`POST {TRIGGER}` with `{{\"type\":\"{event}\"}}` creates one.");
    let text = match BY_REPLY.iter().find(|(name, ..)| *name == row.name) {
        Some((_, event, Method::Post, path, _)) => {
            format!(
                "{} Then `POST {path}` starts one.",
                trigger(event).replace("one.", "an employee.")
            )
        }
        _ => trigger(event(row.path)?),
    };
    Some(format!("{BEGINS} {text}"))
}

/// The calls that create the resources of a read; `None` if a new world has them.
pub(super) fn calls(row: &Operation) -> Option<Value> {
    if row.contract == Contract::Control {
        let (_, calls) = OF_CONTROL.iter().find(|(name, _)| *name == row.name)?;
        return Some(serde_json::from_str(calls).expect("the table is JSON"));
    }
    if let Some((_, event, method, path, pointer)) =
        BY_REPLY.iter().find(|(name, ..)| *name == row.name)
    {
        let own = path.split(['{', '}']).nth(1);
        let first = trigger(event, &own.into_iter().collect::<Vec<_>>());
        let id = row.path_parameters().next()?;
        let mut then = json!({ "method": method.name(), "path": path });
        if method.has_body() {
            then["body"] = json!({});
        }
        then["parameters"] = json!({ id: format!("$response.body#{pointer}") });
        return Some(json!([first, then]));
    }
    Some(json!([trigger(event(row.path)?, &row.path_parameters().collect::<Vec<_>>())]))
}

/// The call that makes an event happen, and where its reply has the ids of these names: the event is about the resource, or about a part of it.
fn trigger(event: &str, names: &[&str]) -> Value {
    let object = event.split('.').next().unwrap_or_default();
    let parameters: Map<String, Value> = names
        .iter()
        .map(|name| {
            let is_parent = *name == "application_id" && object == "offer";
            let member = if is_parent { name } else { "id" };
            let pointer = format!("$response.body#/data/event/data/object/{member}");
            ((*name).to_owned(), pointer.into())
        })
        .collect();
    let mut call = json!({ "method": "POST", "path": TRIGGER, "body": { "type": event } });
    if !parameters.is_empty() {
        call["parameters"] = parameters.into();
    }
    call
}

/// The event that creates the resource at a path, if no new world has one.
fn event(path: &str) -> Option<&'static str> {
    let kind = kind(path).filter(|kind| !kind.is_grown())?;
    match kind {
        // An audit log has what happened since the start.
        Kind::AuditLog => return Some("employee.created"),
        // A received repayment creates an entry in the lists of both.
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

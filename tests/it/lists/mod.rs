//! Lists: paging, sorting and filters. Each is compared with the whole list, from which the test selects.

mod contents;
mod input;

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::id;

/// The values of one member that are tried as a filter.
const TRIED: usize = 4;

/// A list, its sort keys, and its filters with the member of each.
struct Listing {
    path: String,
    sorts: &'static [&'static str],
    filters: &'static [(&'static str, &'static str)],
}

/// Every list of the product in a world with at least one run.
fn listings(caller: &Caller) -> Vec<Listing> {
    let company = caller.company(0);
    let wallet = id(&caller.get("/api/payments/wallets").data()[0]).to_owned();
    let run = id(&caller.get("/api/business/payroll-runs").data()[0]).to_owned();
    let list = |path: String, sorts, filters| Listing { path, sorts, filters };
    vec![
        list(
            "/api/business/companies".into(),
            &["created_at", "legal_name", "country"],
            &[("status", "/status"), ("country", "/country")],
        ),
        // Filters and sort keys of the published list use members that it does not show; other tests cover
        // them.
        list(
            "/api/business/employees".into(),
            &["name", "role", "department"],
            &[
                ("status", "/status"),
                ("payroll_status", "/payroll_status"),
                ("department", "/department"),
                ("q", "/name"),
            ],
        ),
        list(
            "/api/business/leave-requests".into(),
            &["created_at", "start_date", "end_date"],
            &[
                ("employee_id", "/employee_id"),
                ("company_id", "/company_id"),
                ("status", "/status"),
                ("type", "/type"),
            ],
        ),
        list(
            "/api/business/payroll-runs".into(),
            &["created_at", "period", "pay_date"],
            &[
                ("company_id", "/company_id"),
                ("period", "/period"),
                ("status", "/status"),
                ("type", "/type"),
            ],
        ),
        list(
            format!("/api/business/payroll-runs/{run}/items"),
            &["created_at", "employee_name", "net"],
            &[("status", "/status"), ("employee_id", "/employee_id")],
        ),
        list(
            "/api/business/payslips".into(),
            &["created_at", "period", "pay_date", "net"],
            &[
                ("employee_id", "/employee_id"),
                ("period", "/period"),
                ("payroll_run_id", "/payroll_run_id"),
            ],
        ),
        list(
            format!("/api/business/ledger-accounts?company_id={company}"),
            &["code", "balance"],
            &[("type", "/type"), ("currency", "/currency")],
        ),
        list(
            format!("/api/business/journal-entries?company_id={company}"),
            &["created_at", "effective_on"],
            &[("source_type", "/source/type"), ("source_id", "/source/id")],
        ),
        list(
            "/api/payments/wallets".into(),
            &["created_at", "currency"],
            &[("company_id", "/company_id"), ("currency", "/currency")],
        ),
        list(
            format!("/api/payments/wallets/{wallet}/transactions"),
            &["created_at", "amount"],
            &[("type", "/type"), ("source_id", "/source/id")],
        ),
        list(
            "/api/payments/payouts".into(),
            &["created_at", "amount"],
            &[
                ("company_id", "/company_id"),
                ("status", "/status"),
                ("source_type", "/source/type"),
                ("source_id", "/source/id"),
            ],
        ),
    ]
}

/// A world with created and changed resources of every kind.
fn lived_in() -> Caller {
    let caller = Caller::instant();
    let company = caller.company(1);
    for (name, department) in
        [("Ada Obi", "Finance"), ("Zoë Ünal", "Kitchen & Bar"), ("Ada Obi", "Sales")]
    {
        let hire = json!({"company_id": company, "name": name, "role": "Accountant", "department": department, "start_date": "2026-02-02"});
        caller.post("/api/business/employees", &hire).expect(201);
    }
    let rows = caller.all("/api/business/employees");
    for (place, change) in [
        (0, json!({"department": "Kitchen & Bar"})),
        (30, json!({"name": "Ada Lovelace"})),
        (74, json!({"role": "Accountant", "department": "Finance"})),
    ] {
        caller.patch(&format!("/api/business/employees/{}", id(&rows[place])), &change).expect(200);
    }
    for (place, kind, month) in
        [(2, "annual", 4), (3, "sick", 3), (2, "unpaid", 5), (40, "sick", 4)]
    {
        let days = |day: u32| format!("2026-{month:02}-{day:02}");
        let leave = json!({"employee_id": id(&rows[place]), "type": kind, "start_date": days(6), "end_date": days(10)});
        let asked = caller.post("/api/business/leave-requests", &leave).expect(201);
        if kind == "sick" {
            let target = format!("/api/business/leave-requests/{}/decide", id(&asked["data"]));
            caller.post(&target, &json!({"decision": "approve"})).expect(200);
        }
    }
    let new = json!({"legal_name": "Lagos Bakery Ltd", "country": "NG", "currency": "NGN"});
    caller.post("/api/business/companies", &new).expect(201);
    caller.run_payroll(&company, "2026-01");
    let asks = json!({"payroll_settings": {"approval_required": true}});
    caller.patch(&format!("/api/business/companies/{company}"), &asks).expect(200);
    caller.run_payroll(&company, "2026-02");
    caller
}

fn with(path: &str, query: &str) -> String {
    let join = if path.contains('?') { '&' } else { '?' };
    format!("{path}{join}{query}")
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(id).collect()
}

fn order(one: &Value, other: &Value) -> Ordering {
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => one.as_str().cmp(&other.as_str()),
    }
}

//! Lists: paging, sorting and filters. Each is compared with the whole list, from which the test selects.

mod contents;
mod forms;
mod input;

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::contract::{self, resolve};
use crate::harness::world::id;

/// The values of one member that are tried as a filter.
const TRIED: usize = 4;

/// A list of the OpenAPI document.
#[derive(Clone)]
struct Listing {
    /// Its path in the document.
    template: String,
    /// Whether the document says that it begins with the newest row.
    newest_first: bool,
    /// With a parent's id where the path needs one, and the required query.
    path: String,
    /// The ascending sort keys.
    sorts: Vec<&'static str>,
    filters: Vec<&'static str>,
}

/// The comparison of a filter's value with a member of a row.
#[derive(Clone, Copy)]
enum Compare {
    Equal,
    /// A substring, ignoring case.
    Part,
    AtLeast,
    AtMost,
    Less,
    /// With the account of any line.
    AnyLine,
    /// Not at all: it selects the day for which the rows are calculated.
    AsOf,
}

/// Filters that do not compare their value with the member of the same name: the end of the list's path (all lists if empty),
/// the filter, the member and the comparison.
const UNLIKE_THEIR_NAMES: [(&str, &str, &str, Compare); 20] = [
    ("", "source_type", "/source/type", Compare::Equal),
    ("", "source_id", "/source/id", Compare::Equal),
    ("", "as_of", "", Compare::AsOf),
    ("", "q", "/name", Compare::Part),
    ("requirements", "subject_type", "/subject/type", Compare::Equal),
    ("audit-logs", "resource_type", "/resource/type", Compare::Equal),
    ("audit-logs", "resource_id", "/resource/id", Compare::Equal),
    ("audit-logs", "from", "/at", Compare::AtLeast),
    ("audit-logs", "to", "/at", Compare::AtMost),
    ("", "from", "/effective_on", Compare::AtLeast),
    ("", "to", "/effective_on", Compare::AtMost),
    ("journal-entries", "account", "/lines", Compare::AnyLine),
    ("invoices", "customer_id", "/customer/id", Compare::Equal),
    ("invoices", "due_before", "/due_date", Compare::Less),
    ("bills", "due_before", "/due_date", Compare::Less),
    ("beneficiaries", "currency", "/account/currency", Compare::Equal),
    ("escrows", "buyer", "/buyer_wallet_id", Compare::Equal),
    ("escrows", "seller", "/seller_beneficiary_id", Compare::Equal),
    ("matches", "min_confidence", "/confidence", Compare::AtLeast),
    ("deals", "investor_id", "/investor/id", Compare::Equal),
];

impl Listing {
    /// Its path with the order of creation.
    fn by_time(&self) -> String {
        if self.newest_first { with(&self.path, "sort=created_at") } else { self.path.clone() }
    }

    fn without_query(&self) -> &str {
        self.path.split('?').next().unwrap()
    }

    /// The member that a filter looks at, and how.
    fn rule(&self, filter: &str) -> (String, Compare) {
        let mut rules = UNLIKE_THEIR_NAMES.iter();
        let own = |rule: &&(&str, &str, &str, Compare)| {
            rule.1 == filter && self.without_query().ends_with(rule.0)
        };
        rules
            .find(own)
            .map_or((format!("/{filter}"), Compare::Equal), |rule| (rule.2.to_owned(), rule.3))
    }

    /// Every row. A row of the published list of employees shows six members: the others are read one by one.
    fn rows(&self, caller: &Caller) -> Vec<Value> {
        let mut rows = caller.all(&self.path);
        if self.path.ends_with("/employees") {
            for row in &mut rows {
                *row = caller.get(&format!("{}/{}", self.path, id(row))).data();
            }
        }
        rows
    }
}

/// Every list of the product, in a world that has the parents of those below a resource.
fn listings(caller: &Caller) -> Vec<Listing> {
    let document = contract::product();
    let paths = document["paths"].as_object().unwrap().iter();
    let lists = paths.filter(|(_, methods)| {
        let content = &methods["get"]["responses"]["200"]["content"]["application/json"];
        let envelope = &resolve(document, &content["schema"])["properties"];
        envelope["meta"].is_object() && envelope["data"]["type"] == "array"
    });
    let lists: Vec<Listing> =
        lists.map(|(path, methods)| listing(caller, path, &methods["get"]["parameters"])).collect();
    assert!(lists.len() >= 30, "only {} lists were found", lists.len());
    // A list below a resource needs one of these resources.
    lists.into_iter().filter(|list| !list.path.is_empty()).collect()
}

fn listing(caller: &Caller, template: &str, parameters: &'static Value) -> Listing {
    let document = contract::product();
    let parameters = parameters.as_array().unwrap().iter().map(|p| resolve(document, p));
    let parameters = parameters.filter(|parameter| parameter["in"] == "query");
    let mut found = Listing {
        template: template.to_owned(),
        newest_first: false,
        path: template.to_owned(),
        sorts: Vec::new(),
        filters: Vec::new(),
    };
    if let (Some(start), Some(end)) = (template.find("/{"), template.find('}')) {
        let parents = caller.all(&template[..start]);
        let below = |parent: &Value| {
            format!("{}/{}{}", &template[..start], id(parent), &template[end + 1..])
        };
        // One with rows, if there is one.
        let mut paths = parents.iter().map(below);
        let filled = |path: &String| caller.get(path).expect(200)["meta"]["total"] != 0;
        found.path = paths.clone().find(filled).or_else(|| paths.next_back()).unwrap_or_default();
    }
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap();
        match name {
            "page" | "per_page" => {}
            "sort" => {
                found.newest_first = parameter["schema"]["default"] == "-created_at";
                let keys = resolve(document, &parameter["schema"])["enum"].as_array().unwrap();
                let keys = keys.iter().map(|key| key.as_str().unwrap());
                found.sorts = keys.filter(|key| !key.starts_with('-')).collect();
            }
            "company_id" if parameter["required"] == true => {
                found.path = with(&found.path, &format!("company_id={}", caller.company(0)));
            }
            _ => found.filters.push(name),
        }
    }
    found
}

/// A world in which every triggerable event has happened, so that no list is empty.
fn busy() -> Caller {
    let caller = lived_in();
    // Later the company has a due date that it missed, so that no loan is granted.
    let lent = json!({"type": "loan.repayment_received"});
    caller.post("/_sandbox/trigger", &lent).expect(200);
    for event in contract::product()["webhooks"].as_object().unwrap().keys() {
        let answer = caller.post("/_sandbox/trigger", &json!({"type": event}));
        assert!(matches!(answer.status, 200 | 409 | 422), "{event}: {}", answer.text());
    }
    caller
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
    let subject = json!({"type": "person", "name": {"first": "Ada", "last": "Obi"}, "country": "NG", "external_id": "crm-1"});
    caller.post("/api/identity/subjects", &subject).expect(201);
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

fn ids(rows: &[Value]) -> Vec<String> {
    let id = |row: &Value| row["id"].as_str().map_or_else(|| row.to_string(), str::to_owned);
    rows.iter().map(id).collect()
}

/// The order of a sort key: null first, severities by weight, text and numbers in their natural order.
fn order(one: &Value, other: &Value) -> Ordering {
    let rank = |value: &Value| match value.as_str() {
        Some("low") => Some(0),
        Some("medium") => Some(1),
        Some("high") => Some(2),
        _ => value.as_i64(),
    };
    (rank(one), one.as_str()).cmp(&(rank(other), other.as_str()))
}

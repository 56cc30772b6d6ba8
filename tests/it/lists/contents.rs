//! The rows of lists and their order.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::harness::Caller;
use crate::harness::world::{id, number};

use super::{Compare, Listing, TRIED, busy, ids, listings, lived_in, order, text, with};

#[test]
fn pages_of_any_size_make_up_the_whole_list() {
    let caller = busy();
    let listings = listings(&caller);
    assert!(listings.len() >= 30, "only {} lists could be read", listings.len());
    for Listing { path, .. } in listings {
        let whole = caller.all(&path);
        assert!(!whole.is_empty(), "{path} is empty though everything happened");
        for per_page in [1, 7, 25] {
            let pages = (whole.len().div_ceil(per_page)).min(6);
            for page in 1..=pages {
                let answer = caller
                    .get(&with(&path, &format!("page={page}&per_page={per_page}")))
                    .expect(200);
                let rows = answer["data"].as_array().unwrap();
                let start = (page - 1) * per_page;
                assert_eq!(
                    rows[..],
                    whole[start..whole.len().min(start + per_page)],
                    "{path} {page} of {per_page}"
                );
                assert_eq!(answer["meta"], json!({"total": whole.len(), "page": page}));
            }
        }
    }
}

#[test]
fn ids_of_a_list_are_unique() {
    let caller = busy();
    for Listing { path, .. } in listings(&caller) {
        let whole = caller.all(&path);
        let mut seen = ids(&whole);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), whole.len(), "{path}");
    }
}

#[test]
fn every_sort_key_orders_the_whole_list_and_keeps_equal_rows_in_creation_order() {
    for caller in [Caller::instant(), busy()] {
        for listing in listings(&caller) {
            // Equal rows stay in the order of creation.
            let whole = Listing { path: listing.by_time(), ..listing.clone() }.rows(&caller);
            for sort in &listing.sorts {
                assert!(whole.iter().all(|row| row.get(sort).is_some()), "{} {sort}", listing.path);
                let sorted =
                    |sort: &str| ids(&caller.all(&with(&listing.path, &format!("sort={sort}"))));
                let mut expected = whole.clone();
                expected.sort_by(|one, other| order(&one[*sort], &other[*sort]));
                assert_eq!(sorted(sort), ids(&expected), "{} {sort}", listing.path);
                let mut expected = whole.clone();
                expected.sort_by(|one, other| order(&other[*sort], &one[*sort]));
                assert_eq!(sorted(&format!("-{sort}")), ids(&expected), "{} -{sort}", listing.path);
            }
        }
    }
}

#[test]
fn lists_of_latest_entries_begin_with_the_newest_one() {
    let caller = busy();
    let mut newest = Vec::new();
    for listing in listings(&caller).iter().filter(|listing| listing.newest_first) {
        let path = &listing.path;
        let whole = caller.all(path);
        assert_eq!(whole, caller.all(&with(path, "sort=-created_at")), "{path}");
        let made = |row: &Value| row["created_at"].as_str().unwrap().to_owned();
        assert!(whole.is_sorted_by(|one, other| made(one) >= made(other)), "{path}");
        newest.push(path.rsplit('/').next().unwrap().to_owned());
    }
    newest.sort();
    let expected = [
        "collections",
        "credit-scores",
        "fx-transfers",
        "insurance-risk-scores",
        "payouts",
        "payroll-runs",
        "payslips",
        "readiness-assessments",
        "refunds",
        "trust-scores",
    ];
    assert_eq!(newest, expected);
    let sequences = |query: &str| -> Vec<i64> {
        let events = caller.get(&format!("/_sandbox/events?per_page=5{query}")).data();
        events.as_array().unwrap().iter().map(|event| number(&event["sequence"])).collect()
    };
    let last = number(&caller.get("/_sandbox/events").expect(200)["meta"]["total"]);
    assert_eq!(sequences(""), [last, last - 1, last - 2, last - 3, last - 4]);
    assert_eq!(sequences("&after=3"), [4, 5, 6, 7, 8]);
    assert_eq!(sequences("&sort=sequence"), [1, 2, 3, 4, 5]);
    assert_eq!(sequences("&after=3&sort=-sequence"), sequences(""));
}

#[test]
fn a_list_whose_rows_belong_to_companies_is_filtered_by_company() {
    let caller = busy();
    let mut others = Vec::new();
    for listing in listings(&caller) {
        let rows = caller.all(&listing.path);
        let has_company = rows.iter().any(|row| row.get("company_id").is_some());
        let is_below_a_parent =
            listing.template.contains('{') || listing.path.contains("company_id=");
        if has_company && !is_below_a_parent && !listing.filters.contains(&"company_id") {
            others.push(listing.path);
        }
    }
    assert_eq!(others, [""; 0]);
}

/// The values of a member with which a filter can be compared: the member, the day of an instant, the accounts of
/// lines.
fn values(row: &Value, member: &str, compare: Compare) -> Vec<Value> {
    let found = row.pointer(member).filter(|value| !value.is_null());
    match (compare, found) {
        (Compare::AnyLine, Some(lines)) => {
            lines.as_array().unwrap().iter().map(|line| line["account"].clone()).collect()
        }
        (Compare::AtLeast | Compare::AtMost | Compare::Less, Some(Value::String(text))) => {
            vec![json!(text[..10])]
        }
        (_, found) => found.cloned().into_iter().collect(),
    }
}

/// Filters without a value in the busy world: no event of that world sets their members. The first company has no
/// form for its employees, no bill is from a beneficiary, and no subject belongs to a company.
const UNTRIED: [&str; 7] = [
    "/api/business/tax-documents?company_id=com_bp9fm3zzz4aa5 employee_id",
    "/api/payments/bills beneficiary_id",
    "/api/identity/subjects company_id",
    "/api/identity/verifications company_id",
    "/api/capital/credit-scores subject_id",
    "/api/identity/aml-alerts company_id",
    "/api/identity/trust-scores company_id",
];

#[test]
fn every_filter_leaves_exactly_the_rows_it_names() {
    let mut untried = Vec::new();
    for (caller, is_busy) in [(Caller::instant(), false), (busy(), true)] {
        for listing in listings(&caller) {
            let whole = listing.rows(&caller);
            for filter in &listing.filters {
                let (member, compare) = listing.rule(filter);
                if matches!(compare, Compare::AsOf) {
                    continue;
                }
                let mut tried: Vec<Value> =
                    whole.iter().flat_map(|row| values(row, &member, compare)).collect();
                tried.sort_by(order);
                tried.dedup();
                let path = &listing.path;
                if is_busy && tried.is_empty() {
                    untried.push(format!("{path} {filter}"));
                }
                for value in tried.iter().step_by(tried.len().div_ceil(TRIED).max(1)) {
                    let lower = |value: &Value| text(value).to_lowercase();
                    let fits = |found: &Value| match compare {
                        Compare::AtLeast => order(found, value).is_ge(),
                        Compare::AtMost => order(found, value).is_le(),
                        Compare::Less => order(found, value).is_lt(),
                        Compare::Part => lower(found).contains(&lower(value)),
                        Compare::Equal | Compare::AnyLine | Compare::AsOf => found == value,
                    };
                    let kept = |row: &&Value| values(row, &member, compare).iter().any(fits);
                    let expected: Vec<Value> = whole.iter().filter(kept).cloned().collect();
                    let encoded = utf8_percent_encode(&text(value), NON_ALPHANUMERIC).to_string();
                    let found = caller.all(&with(path, &format!("{filter}={encoded}")));
                    assert_eq!(ids(&found), ids(&expected), "{path} {filter}={value}");
                }
            }
        }
    }
    assert_eq!(untried, UNTRIED);
}

#[test]
fn filters_combine_with_one_another_with_sorting_and_with_paging() {
    let caller = lived_in();
    let company = caller.company(1);
    let path = format!("/api/business/employees?company_id={company}");
    let whole = caller.all(&path);
    assert_eq!(whole.len(), 28);
    let active: Vec<Value> =
        whole.iter().filter(|row| row["status"] == "active").cloned().collect();
    assert_eq!(caller.all(&format!("{path}&status=active")), active);
    let verified: Vec<Value> =
        active.iter().filter(|row| row["payroll_status"] == "verified").cloned().collect();
    assert!(verified.len() < active.len());
    assert_eq!(caller.all(&format!("{path}&status=active&payroll_status=verified")), verified);
    let mut sorted = verified.clone();
    sorted.sort_by(|one, other| order(&other["name"], &one["name"]));
    let page = caller
        .get(&format!("{path}&status=active&payroll_status=verified&sort=-name&page=2&per_page=5"));
    assert_eq!(page.data(), json!(sorted[5..10]));
    assert_eq!(
        caller.all(&format!("{path}&status=active&payroll_status=closed")),
        [Value::Null; 0]
    );
}

#[test]
fn a_search_by_name_takes_any_part_in_any_case() {
    let caller = lived_in();
    let whole = caller.all("/api/business/employees");
    for part in ["ADA", "zoë", "obi", "e", "a l"] {
        let fits = |row: &&Value| {
            row["name"].as_str().unwrap().to_lowercase().contains(&part.to_lowercase())
        };
        let expected: Vec<Value> = whole.iter().filter(fits).cloned().collect();
        assert!(!expected.is_empty(), "{part}");
        let encoded = utf8_percent_encode(part, NON_ALPHANUMERIC);
        assert_eq!(
            ids(&caller.all(&format!("/api/business/employees?q={encoded}"))),
            ids(&expected),
            "{part}"
        );
    }
}

#[test]
fn changed_and_created_employees_are_merged_into_every_page_of_a_filtered_list() {
    let caller = Caller::instant();
    let before = caller.all("/api/business/employees?department=Finance");
    let rows = caller.all("/api/business/employees");
    // Out of the filter, into it, within it, and new.
    let leaver = id(&before[0]);
    let joiner = rows.iter().find(|row| row["department"] != "Finance").map(id).unwrap();
    let change = |who: &str, body: Value| {
        caller.patch(&format!("/api/business/employees/{who}"), &body).expect(200)
    };
    change(leaver, json!({"department": "Law"}));
    change(joiner, json!({"department": "Finance"}));
    change(id(before.last().unwrap()), json!({"role": "Head of Figures"}));
    let company = caller.company(2);
    let hire = json!({"company_id": company, "name": "New One", "role": "Clerk", "department": "Finance", "start_date": "2026-02-02"});
    let created = caller.post("/api/business/employees", &hire).expect(201);
    let now = caller.all("/api/business/employees");
    let expected: Vec<&Value> = now.iter().filter(|row| row["department"] == "Finance").collect();
    assert_eq!(expected.len(), before.len() + 1);
    assert_eq!(id(expected.last().unwrap()), id(&created["data"]));
    for per_page in [1, 2, 3, 100] {
        let mut found = Vec::new();
        for page in 1..=expected.len().div_ceil(per_page) {
            let path = format!(
                "/api/business/employees?department=Finance&page={page}&per_page={per_page}"
            );
            found.extend(caller.get(&path).data().as_array().unwrap().clone());
        }
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{per_page} a page");
    }
    assert_eq!(
        id(&now[rows.iter().position(|row| id(row) == joiner).unwrap()]),
        joiner,
        "rows keep their places"
    );
}

#[test]
fn journal_entries_and_statements_are_filtered_by_day_and_account() {
    let caller = lived_in();
    let company = caller.company(0);
    let wallet = caller.get("/api/payments/wallets").data()[0]["id"].as_str().unwrap().to_owned();
    for path in [
        format!("/api/business/journal-entries?company_id={company}"),
        format!("/api/payments/wallets/{wallet}/transactions"),
    ] {
        let whole = caller.all(&path);
        let day = |row: &Value| row["effective_on"].as_str().unwrap().to_owned();
        let (from, to) = (day(&whole[whole.len() / 3]), day(&whole[whole.len() / 2]));
        let between: Vec<Value> =
            whole.iter().filter(|row| day(row) >= from && day(row) <= to).cloned().collect();
        assert!(between.len() > 1 && between.len() < whole.len());
        assert_eq!(caller.all(&with(&path, &format!("from={from}&to={to}"))), between);
    }
    let whole = caller.all(&format!("/api/business/journal-entries?company_id={company}"));
    let has = |row: &&Value| {
        row["lines"].as_array().unwrap().iter().any(|line| line["account"] == "rent")
    };
    let expected: Vec<Value> = whole.iter().filter(has).cloned().collect();
    assert_eq!(expected.len(), 12, "rent is paid every month");
    let rent = format!("/api/business/journal-entries?company_id={company}&account=rent");
    assert_eq!(caller.all(&rent), expected);
}

#[test]
fn balances_as_of_a_day_are_those_of_the_entries_until_then() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let entries =
        caller.all(&format!("/api/business/journal-entries?company_id={company}&to=2025-06-30"));
    let accounts =
        caller.all(&format!("/api/business/ledger-accounts?company_id={company}&as_of=2025-06-30"));
    for account in &accounts {
        for (side, member) in [("debit", "debits"), ("credit", "credits")] {
            let lines = entries.iter().flat_map(|entry| entry["lines"].as_array().unwrap());
            let lines = lines
                .filter(|line| line["account"] == account["code"] && line["direction"] == side);
            let sum: i64 = lines.map(|line| line["amount"].as_i64().unwrap()).sum();
            assert_eq!(account[member], sum, "{account}");
        }
    }
    assert!(accounts.iter().any(|account| account["balance"] != 0));
}

//! The table against the catalogue of the service's operations: nothing of it is missing, and what is beyond it is named.

use std::collections::BTreeSet;

use crate::harness::contract::product;

/// `operationId METHOD path` of every operation of the catalogue, in its order.
const CATALOGUE: &str = include_str!("goldens/catalogue.txt");

/// What the sandbox has beyond the catalogue: each reads what a call of the catalogue answers with by `Location`.
const BEYOND: &[&str] = &[
    "getBankStatement GET /api/payments/bank-statements/{}",
    "getLeaveRequest GET /api/business/leave-requests/{}",
    "getPayrollVerification GET /api/business/payroll-verifications/{}",
];

/// A path without the names of its parameters, which say the same by different words.
fn shape(path: &str) -> String {
    let nameless = |part| {
        if str::starts_with(part, '{') { "{}" } else { part }
    };
    let parts = path.split('/').map(nameless);
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_operation_of_the_catalogue_is_served_and_what_else_is_served_is_known() {
    let catalogue: BTreeSet<String> = CATALOGUE.lines().map(shape).collect();
    let mut served = BTreeSet::new();
    for (path, methods) in product()["paths"].as_object().unwrap() {
        for (method, row) in methods.as_object().unwrap() {
            let name = row["operationId"].as_str().unwrap();
            served.insert(format!("{name} {} {}", method.to_uppercase(), shape(path)));
        }
    }
    assert_eq!(catalogue.len(), 134, "as many as it counts itself");
    let missing: Vec<_> = catalogue.difference(&served).collect();
    assert!(missing.is_empty(), "not served: {missing:#?}");
    let beyond: Vec<_> = served.difference(&catalogue).collect();
    assert_eq!(beyond, BEYOND.iter().collect::<Vec<_>>());
}

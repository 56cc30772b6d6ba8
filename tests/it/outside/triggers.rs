//! Events on demand: a second time in one world, and for another company.

use serde_json::{Value, json};

use crate::harness::Caller;

fn trigger(caller: &Caller, event: &str, own: &Value) -> Value {
    caller.post("/_sandbox/trigger", &json!({"type": event, "override": own})).data()["event"]
        .take()
}

#[test]
fn a_loan_is_repaid_on_demand_more_than_once() {
    let caller = Caller::manual();
    let repaid = || trigger(&caller, "loan.repaid", &json!({}))["data"]["object"]["id"].take();
    let first = repaid();
    assert_ne!(first, repaid());
    assert!(first.is_string());
}

#[test]
fn a_payroll_event_is_of_the_company_that_is_named() {
    for event in ["payout.returned", "payroll_run.paid"] {
        let caller = Caller::instant();
        for company in [caller.company(1), caller.company(2)] {
            let own = json!({"company_id": company});
            let object = trigger(&caller, event, &own)["data"]["object"].take();
            assert_eq!(object["company_id"], company.as_str(), "{event}");
        }
    }
}

//! Drafts: they have no entries in the books until they are approved.

use serde_json::json;

use super::{balances, calculated, draft, draft_of, edit, items, paid, verb};
use crate::harness::Caller;
use crate::harness::world::{id, number};

#[test]
fn a_drafted_bonus_is_calculated_looked_at_approved_and_paid() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..2];
    let run = draft_of(&caller, "off_cycle", people);
    assert_eq!(run["status"], "draft");
    let body = json!({"items": [{
        "employee_id": people[0],
        "earnings": [{"label": "Bonus", "amount": 5_000_000}],
        "deductions": [{"label": "Union dues", "amount": 100_000, "timing": "post_tax"}],
        "reimbursements": [{"label": "Taxi", "amount": 20_000}],
    }]});
    assert_eq!(edit(&caller, &run, &body).data()["inputs"].as_array().unwrap().len(), 1);
    let before = balances(&caller);
    let run = calculated(&caller, &run);
    assert_eq!(run["status"], "calculated");
    assert_eq!(balances(&caller), before, "a preview posts nothing");
    let item = items(&caller, &run).remove(0);
    assert_eq!(item["gross"], 5_000_000);
    assert_eq!((&item["deductions"], &item["reimbursements"]), (&json!(100_000), &json!(20_000)));
    let net = number(&item["gross"])
        - number(&item["taxes"])
        - number(&item["employee_contributions"])
        - 100_000
        + 20_000;
    assert_eq!(item["net"], net);
    assert!(run["warnings"].as_array().unwrap().iter().any(|warning| {
        warning["code"] == "nothing_to_pay" && warning["employee_id"] == people[1].as_str()
    }));
    let run = paid(&caller, &run);
    assert_eq!(run["status"], "paid");
    let payslips = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    let of = |person: &str| payslips.iter().find(|it| it["employee_id"] == *person).unwrap();
    let (payslip, nothing) = (of(&people[0]), of(&people[1]));
    assert_eq!((payslips.len(), &nothing["gross"], &nothing["net"]), (2, &json!(0), &json!(0)));
    assert_eq!(payslip["deductions"][0]["label"], "Union dues");
    assert_eq!(payslip["net"], net);
    let owed = balances(&caller);
    assert!(owed.contains(&(json!("deductions_payable"), json!(100_000))));
    caller.audit();
}

#[test]
fn an_edited_run_is_a_draft_again_and_keeps_the_items_of_those_who_stay() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..3];
    let run = calculated(&caller, &draft_of(&caller, "regular", &people[..2]));
    let first = items(&caller, &run);
    let body = json!({"employee_ids": [people[0], people[2]]});
    let run = edit(&caller, &run, &body).data();
    assert_eq!((&run["status"], &run["totals"]), (&json!("draft"), &json!(null)));
    let run = calculated(&caller, &run);
    let second = items(&caller, &run);
    let standing: Vec<_> =
        second.iter().map(|item| (&item["employee_id"], &item["status"])).collect();
    let expected = [
        (json!(people[0]), json!("ready")),
        (json!(people[1]), json!("skipped")),
        (json!(people[2]), json!("ready")),
    ];
    assert_eq!(standing, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    assert_eq!(first[0]["id"], second[0]["id"]);
    assert_eq!(second[1]["gross"], 0);
    let gross: i64 = second.iter().map(|item| number(&item["gross"])).sum();
    assert_eq!(run["totals"]["gross"], gross);
    let run = paid(&caller, &run);
    assert_eq!((&run["status"], &run["settlement"]["paid"]), (&json!("paid"), &json!(2)));
    caller.audit();
}

#[test]
fn an_employee_who_is_no_longer_payable_is_blocked_and_left_out() {
    let caller = Caller::manual();
    let people = &caller.payable(&caller.company(0))[..2];
    let run = draft_of(&caller, "regular", people);
    let path = format!("/api/business/employees/{}/suspend", people[1]);
    caller.post(&path, &json!({"reason": "Investigation"})).expect(200);
    let run = calculated(&caller, &run);
    assert!(run["blockers"][0].as_str().unwrap().contains(&people[1]));
    assert_eq!(items(&caller, &run)[1]["status"], "blocked");
    let run = paid(&caller, &run);
    assert_eq!(run["settlement"]["paid"], 1);
    assert_eq!(items(&caller, &run)[1]["status"], "skipped");
    caller.audit();
}

/// The pay of February 2026, with 20 working days, of which the third employee works ten.
#[test]
fn approval_leaves_out_those_who_left_after_the_calculation_and_pays_leavers_their_days() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let people = &caller.payable(&company)[..4];
    let body = json!({"company_id": company, "period": "2026-02", "employee_ids": people});
    caller.advance(&json!({"to": "2026-02-16T08:00:00Z"}));
    let run = calculated(&caller, &draft(&caller, &body));
    let before = items(&caller, &run);
    let employment = |person: &str, verb: &str, body: &serde_json::Value| {
        caller.post(&format!("/api/business/employees/{person}/{verb}"), body).expect(200);
    };
    employment(&people[0], "suspend", &json!({"reason": "Investigation"}));
    let gone = json!({"reason": "Resignation", "last_working_day": "2026-02-02"});
    employment(&people[1], "terminate", &gone);
    let leaves = json!({
        "reason": "Resignation", "last_working_day": "2026-02-13", "final_pay": {"mode": "next_run"},
    });
    employment(&people[2], "terminate", &leaves);
    let approved = verb(&caller, &run, "approve", &json!({})).data();
    let after = items(&caller, &run);
    let of = |member: &str| -> Vec<_> { after.iter().map(|item| item[member].clone()).collect() };
    assert_eq!(of("status"), ["skipped", "skipped", "ready", "ready"]);
    assert_eq!((&after[0]["net"], &after[1]["net"]), (&json!(0), &json!(0)));
    assert_eq!(after[2]["proration"], json!({"paid_days": 10, "days": 20}));
    assert_eq!(after[3]["net"], before[3]["net"]);
    for member in ["gross", "taxes", "employee_contributions", "employer_contributions", "net"] {
        let sum: i64 = after.iter().map(|item| number(&item[member])).sum();
        assert_eq!(approved["totals"][member], sum, "{member}");
    }
    assert_eq!(approved["blockers"].as_array().unwrap().len(), 2);
    assert_eq!(approved["settlement"]["pending"], 2);
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(caller.run(id(&run))["settlement"]["paid"], 2);
    caller.audit();
}

#[test]
fn a_regular_draft_without_names_is_of_everyone_and_takes_the_period() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let run = draft(&caller, &json!({"company_id": company, "period": "2026-01"}));
    let everyone = run["employee_count"].clone();
    assert_eq!(everyone, caller.payable(&company).len());
    let again =
        caller.post("/v1/payroll/run", &json!({"company_id": company, "period": "2026-01"}));
    again.refused(409, "payroll_period_already_run");
    verb(&caller, &run, "cancel", &json!({"reason": "Not yet"})).expect(200);
    caller.run_payroll(&company, "2026-01");
}

#[test]
fn a_bonus_is_taxed_with_the_salary_of_its_month() {
    let paid_at_once = Caller::manual();
    let company = paid_at_once.company(0);
    let person = &paid_at_once.payable(&company)[..1];
    let bonus = json!({"items": [{"employee_id": person[0], "earnings": [{"label": "Bonus", "amount": 9_000_000}]}]});
    let run = draft_of(&paid_at_once, "regular", person);
    edit(&paid_at_once, &run, &bonus).expect(200);
    let together = items(&paid_at_once, &calculated(&paid_at_once, &run)).remove(0);

    let apart = Caller::manual();
    let run = calculated(&apart, &draft_of(&apart, "regular", person));
    let salary = items(&apart, &run).remove(0);
    let run = draft_of(&apart, "off_cycle", person);
    edit(&apart, &run, &bonus).expect(200);
    let bonus = items(&apart, &calculated(&apart, &run)).remove(0);
    for member in ["gross", "taxes", "employee_contributions", "employer_contributions", "net"] {
        let sum = number(&salary[member]) + number(&bonus[member]);
        assert_eq!(number(&together[member]), sum, "{member}");
    }
}

#[test]
fn deductions_beyond_the_pay_are_lowered_and_the_run_warns() {
    let caller = Caller::manual();
    let person = &caller.payable(&caller.company(0))[..1];
    let run = draft_of(&caller, "regular", person);
    let body = json!({"items": [{
        "employee_id": person[0],
        "deductions": [{"label": "Loan", "amount": 900_000_000_000_i64, "timing": "post_tax"}],
    }]});
    edit(&caller, &run, &body).expect(200);
    let run = calculated(&caller, &run);
    let item = items(&caller, &run).remove(0);
    assert_eq!(item["net"], 0);
    let left =
        number(&item["gross"]) - number(&item["taxes"]) - number(&item["employee_contributions"]);
    assert_eq!(item["deductions"], left);
    let codes: Vec<_> =
        run["warnings"].as_array().unwrap().iter().map(|w| w["code"].clone()).collect();
    assert_eq!(codes, ["deductions_capped", "nothing_to_pay"]);
    assert_eq!(paid(&caller, &run)["status"], "paid");
    caller.audit();
}

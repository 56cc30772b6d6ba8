//! Form 1099-NEC: the payments of a company of the United States to each contractor in a year.

use serde_json::{Value, json};

use super::{DOCUMENTS, amount, in_box, of, world};
use crate::harness::Caller;
use crate::harness::world::{id, number};

const COMPANY: usize = 2;

/// A verified contractor of the company of the United States.
fn contractor(caller: &Caller, more: &Value) -> String {
    let company = caller.company(COMPANY);
    let known = caller.payable(&company).remove(0);
    let known = caller.get(&format!("/api/business/employees/{known}")).data();
    let mut body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Designer", "department": "Marketing",
        "start_date": "2026-01-01", "employment_type": "contractor", "tax_id": known["tax_id"],
        "compensation": {"amount": 100_000, "currency": "USD", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "021000021", "account_number": "9999999900"},
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let created = caller.post("/api/business/employees", &body).expect(201)["data"].take();
    let path = format!("/api/business/employees/{}", id(&created));
    caller.post(&format!("{path}/activate"), &json!({})).expect(200);
    caller.post(&format!("{path}/verify-payroll"), &json!({})).expect(202);
    caller.advance(&json!({"by": "30s"}));
    assert_eq!(caller.get(&path).data()["payroll_status"], "verified");
    id(&created).to_owned()
}

/// Pays a fee in addition to the terms, and waits for its end.
fn pay(caller: &Caller, person: &str, month: &str, fee: i64) {
    let item = json!({
        "employee_id": person,
        "earnings": [{"label": "Fee", "amount": fee}],
        "reimbursements": [{"label": "Train", "amount": 7_700}],
    });
    let draft = json!({
        "company_id": caller.company(COMPANY), "type": "off_cycle", "period": month,
        "employee_ids": [person],
    });
    let run = caller.post("/api/business/payroll-runs", &draft).made();
    let path = format!("/api/business/payroll-runs/{}", id(&run));
    caller.patch(&path, &json!({"items": [item]})).expect(200);
    caller.post(&format!("{path}/calculate"), &json!({})).expect(202);
    caller.advance(&json!({"by": "2s"}));
    caller.post(&format!("{path}/approve"), &json!({})).expect(200);
    caller.advance(&json!({"by": "40d"}));
}

fn documents(caller: &Caller) -> Vec<Value> {
    let company = caller.company(COMPANY);
    caller.all(&format!("{DOCUMENTS}?company_id={company}&form=1099-NEC"))
}

/// Instructions for Form 1099-NEC: box 1 has the fees of the calendar year. Public Law 119-21, section 70433: 2,000 USD or more must be
/// reported for payments made after 31 December 2025.
#[test]
fn a_1099_nec_adds_up_the_fees_of_each_contractor() {
    let caller = world(&["--clock", "manual"]);
    let company = caller.company(COMPANY);
    assert_eq!(documents(&caller), Vec::<Value>::new());
    let (person, other) =
        (contractor(&caller, &json!({})), contractor(&caller, &json!({"name": "Eve"})));
    pay(&caller, &person, "2026-01", 150_000);
    pay(&caller, &other, "2026-01", 30_000);
    pay(&caller, &person, "2026-02", 49_999);
    let listed = documents(&caller);
    assert_eq!(listed.len(), 2);
    let read = || of(&caller, "1099-NEC", &company, "2026", Some(&person)).data();
    let document = read();
    assert_eq!(
        (&document["recipient"], &document["jurisdiction"]),
        (&json!("contractor"), &json!("US"))
    );
    assert_eq!((amount(&document, "1"), &document["payslip_count"]), (199_999, &json!(2)));
    let below = json!({"total": 199_999, "threshold": 200_000, "required": false});
    assert_eq!(document["reporting"], below);
    assert!(listed.iter().any(|it| it["reporting"] == below));
    let shown = caller.get(&format!("/api/business/employees/{person}")).data();
    assert_eq!(*in_box(&document["boxes"], "RECIPIENT TIN"), shown["tax_id"]);
    assert_eq!(*in_box(&document["boxes"], "RECIPIENT"), "Ada Obi");
    pay(&caller, &person, "2026-03", 1);
    assert_eq!(
        read()["reporting"],
        json!({"total": 200_000, "threshold": 200_000, "required": true})
    );
    let page =
        format!("{DOCUMENTS}/1099-NEC?company_id={company}&period=2026&employee_id={person}");
    let page = caller.request("GET", &page).header("Accept", "application/pdf").send(caller.port());
    assert!(page.status == 200 && page.body.starts_with(b"%PDF-"));
    let w2 = of(&caller, "W-2", &company, "2026", Some(&person));
    w2.refused(422, "validation_failed");
}

/// A payment that was reversed, failed or returned was not made; one that arrived later was.
#[test]
fn fees_that_did_not_arrive_are_in_no_1099_nec() {
    let caller = world(&["--clock", "manual"]);
    let company = caller.company(COMPANY);
    caller.pay_monthly(&company);
    let person = contractor(&caller, &json!({}));
    let total = || documents(&caller).first().map_or(0, |it| number(&it["reporting"]["total"]));
    let path = "/api/business/payroll-runs";
    let pay_with = |month: &str, outcome: &str| {
        let draft = json!({"company_id": company, "period": month, "employee_ids": [person]});
        let run = caller.post(path, &draft).expect(201)["data"].take();
        let path = format!("{path}/{}", id(&run));
        caller.post(&format!("{path}/calculate"), &json!({})).expect(202);
        caller.advance(&json!({"by": "2s"}));
        let approve = caller.request("POST", &format!("{path}/approve")).json(&json!({}));
        caller.send(&approve.header("Sandbox-Scenario", outcome)).expect(200);
        caller.advance(&json!({"by": "40d"}));
        path
    };
    pay_with("2026-01", "payout.settle=failed");
    assert_eq!(total(), 0);
    let returned = pay_with("2026-02", "payout.settle=returned_late");
    assert_eq!(total(), 0, "{}", caller.get(&returned).data()["status"]);
    let account = json!({"type": "bank", "bank_code": "021000021", "account_number": "9999999900"});
    let of_person = format!("/api/business/employees/{person}");
    caller
        .send(&caller.request("PUT", &format!("{of_person}/payment-method")).json(&account))
        .expect(200);
    caller.post(&format!("{of_person}/verify-payroll"), &json!({}));
    caller.advance(&json!({"by": "1d"}));
    let paid = pay_with("2026-03", "payout.settle=paid");
    assert_eq!(total(), 100_000);
    caller.post(&format!("{paid}/reverse"), &json!({"reason": "Paid by mistake"})).expect(200);
    assert_eq!(documents(&caller), Vec::<Value>::new());
}

/// Instructions for Form 1099-NEC: a fee to a person who is no US person is not reported on it.
#[test]
fn only_contractors_in_the_country_of_the_company_receive_a_1099_nec() {
    let caller = world(&["--clock", "manual"]);
    let abroad = json!({
        "country": "GB", "tax_id": "MW123456A",
        "compensation": {"amount": 900_000, "currency": "GBP", "interval": "month"},
        "payment_method": {"type": "bank", "bank_code": "200000", "account_number": "55779911"},
    });
    let person = contractor(&caller, &abroad);
    pay(&caller, &person, "2026-01", 900_000);
    assert_eq!(documents(&caller), Vec::<Value>::new());
    let company = caller.company(COMPANY);
    let refused = of(&caller, "1099-NEC", &company, "2026", Some(&person));
    let refused = refused.refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "foreign_form");
}

//! Pay after another pay of the tax year was reversed: limits of the year that it had used up are free again.

use serde_json::{Value, json};

use super::law::{payable_in, set_pay};
use super::moved::{company_of, slip};
use super::verb;
use crate::harness::Caller;
use crate::harness::world::{id, number};

fn reverse(caller: &Caller, slip: &Value) {
    let run = caller.run(slip["payroll_run_id"].as_str().unwrap());
    verb(caller, &run, "reverse", &json!({"reason": "Paid by mistake"})).expect(200);
    caller.advance(&json!({"by": "5d"}));
}

fn futa(slip: &Value) -> i64 {
    let lines = slip["employer_contributions"].as_array().unwrap().iter();
    lines.filter(|line| line["id"] == "futa").map(|line| number(&line["amount"])).sum()
}

/// 26 USC 3301 and 3306(b)(1): 0.6 % of the first 7,000 of wages that are paid in the year. Wages that were taken back are none.
#[test]
fn a_limit_of_the_year_is_free_again_after_a_reversal() {
    let (caller, person) = payable_in("US");
    set_pay(&caller, &person, 1_000_000, &json!([]));
    let first = slip(&caller, &person, "2026-01");
    let second = slip(&caller, &person, "2026-02");
    assert_eq!((futa(&first), futa(&second)), (4_200, 0));
    reverse(&caller, &first);
    let again = slip(&caller, &person, "2026-01");
    assert_eq!(futa(&again), 4_200, "{again}");
    let third = slip(&caller, &person, "2026-03");
    assert_eq!(futa(&third), 0, "{third}");
    caller.audit();
}

/// CRA, guide RC4120: boxes 24 and 26 of the T4 have the earnings of the year up to its maximum, 68,900 and 85,000 in 2026.
#[test]
fn a_t4_after_a_reversal_has_the_earnings_of_the_other_pays() {
    let (caller, person) = payable_in("CA");
    set_pay(&caller, &person, 3_000_000, &json!([]));
    let slips = ["2026-01", "2026-02", "2026-03"].map(|period| slip(&caller, &person, period));
    let company = company_of(&caller, &person);
    let path = format!(
        "/api/business/tax-documents/T4?company_id={company}&period=2026&employee_id={person}"
    );
    let boxes = || {
        let boxes = caller.get(&path).data()["boxes"].take();
        ["24", "26"].map(|name| {
            let found = boxes.as_array().unwrap().iter().find(|it| it["box"] == name).unwrap();
            number(&found["amount"])
        })
    };
    assert_eq!(boxes(), [6_890_000, 8_500_000]);
    reverse(&caller, &slips[0]);
    assert_eq!(boxes(), [6_000_000, 6_000_000]);
    slip(&caller, &person, "2026-01");
    assert_eq!(boxes(), [6_890_000, 8_500_000]);
    caller.audit();
}

/// Tax Administration Act 28 of 2011 (ZA): the monthly EMP201 declares the amounts that the employer has to pay.
#[test]
fn a_prepared_return_declares_what_a_reversal_of_a_part_leaves() {
    let (caller, person) = payable_in("ZA");
    let company = company_of(&caller, &person);
    let people = caller.payable(&company);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    caller.advance(&json!({"to": "2026-02-02T08:00:00Z"}));
    let liability = |status: &str| {
        let path = format!("/api/business/tax-liabilities?company_id={company}&status={status}");
        let all = caller.all(&path);
        all.into_iter().find(|it| it["authority"] == "SARS" && it["payroll_run_id"] == run["id"])
    };
    let body = json!({
        "company_id": company, "tax_type": "SARS", "period": "2026-01", "jurisdiction": "ZA",
    });
    let filing = caller.post("/api/business/tax-filings", &body).made();
    let reverse = json!({"reason": "Paid by mistake", "employee_ids": [person]});
    verb(&caller, &run, "reverse", &reverse).expect(200);
    let path = format!("/api/business/tax-filings/{}", id(&filing));
    let after = caller.get(&path).data();
    let rest = liability("accrued").unwrap();
    assert_eq!(rest["tax_filing_id"], filing["id"]);
    assert_eq!(after["tax_liability_ids"], json!([rest["id"]]));
    assert!(number(&after["amount"]) < number(&filing["amount"]), "{after}");
    assert_eq!(
        (&after["amount"], &after["lines"][0]["amount"]),
        (&rest["amount"], &rest["amount"])
    );
    let declared = json!({"declaration": "Ada Obi"});
    let sent = caller.post(&format!("{path}/submit"), &declared).expect(202);
    assert_eq!(sent["data"]["amount_paid"], rest["amount"]);
    caller.advance(&json!({"by": "5d"}));
    assert_eq!(caller.get(&path).data()["status"], "filed");
    assert_eq!(liability("paid").unwrap()["id"], rest["id"]);
    caller.audit();
}

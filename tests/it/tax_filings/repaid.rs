//! Tax that a run repays to employees.

use serde_json::json;

use crate::harness::world::{id, number};
use crate::payroll_runs::moved::{hired, slip};

/// PAYE is cumulative: a month without pay repays tax of the month before. Income Tax (Pay As You Earn) Regulations 2003 (SI 2003/2682), reg. 68
/// and 69: the employer deducts the repayment from what it pays to HMRC.
#[test]
fn the_credit_of_a_repayment_is_used_once() {
    let (caller, company, person) = hired("GB", "2026-05-01", 300_000);
    slip(&caller, &person, "2026-05");
    let leave = json!({
        "employee_id": person, "type": "unpaid",
        "start_date": "2026-06-01", "end_date": "2026-06-30",
    });
    let leave = caller.post("/api/business/leave-requests", &leave).made();
    let decide = format!("/api/business/leave-requests/{}/decide", id(&leave));
    caller.post(&decide, &json!({"decision": "approve"})).expect(200);
    let june = slip(&caller, &person, "2026-06");
    let repaid = number(&june["net"]);
    assert!(number(&june["gross"]) == 0 && repaid > 0, "{june}");
    let run = caller.run(june["payroll_run_id"].as_str().unwrap());
    // The repayment comes from the available balance: the tax of May stays reserved.
    assert_eq!(number(&run["funding"]["required"]), repaid, "{run}");
    let body = json!({
        "company_id": company, "tax_type": "HMRC", "period": "2026-05", "jurisdiction": "GB",
        "form": "EPS",
    });
    let filing = caller.post("/api/business/tax-filings", &body).made();
    let before = reserved(&caller, &company);
    let submit = format!("/api/business/tax-filings/{}/submit", id(&filing));
    let filing = caller.post(&submit, &json!({"declaration": "Ada Obi"})).expect(202);
    let filing = &filing["data"];
    assert_eq!(number(&filing["credit_used"]), repaid, "{filing}");
    assert_eq!(number(&filing["amount_paid"]), number(&filing["amount"]) - repaid, "{filing}");
    assert_eq!(before - reserved(&caller, &company), number(&filing["amount"]));
    caller.audit();
}

fn reserved(caller: &crate::harness::Caller, company: &str) -> i64 {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    number(&wallets[0]["reserved"])
}

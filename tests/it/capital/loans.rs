//! Loans: disbursed, repaid on time, ahead, late, or never; and their entries.

use serde_json::{Value, json};

use super::{
    application, ask, decided, factor, lent, loan, moved, net, offer, repay, respond, score, sell,
    wallet,
};
use crate::harness::Caller;
use crate::harness::world::{id, number};

const AMOUNT: i64 = 12_000_000;

fn rows(loan: &Value) -> &Vec<Value> {
    loan["schedule"].as_array().unwrap()
}

fn sum(loan: &Value, member: &str) -> i64 {
    rows(loan).iter().map(|row| number(&row[member])).sum()
}

/// Advances to the first minute of the due day of an instalment, counted from 0, plus a number of days.
fn to_day(caller: &Caller, loan: &Value, place: usize, days: u32) -> Vec<String> {
    let due = rows(loan)[place]["due_on"].as_str().unwrap();
    let mut came = caller.advance(&json!({"to": format!("{due}T00:01:00Z")}));
    if days > 0 {
        came.extend(caller.advance(&json!({"by": format!("{days}d")})));
    }
    came.retain(|name| name.starts_with("loan.") && name != "loan.interest_accrued");
    came
}

#[test]
fn a_repayment_can_be_read_by_the_source_of_its_entry() {
    let caller = Caller::instant();
    let lent = lent(&caller, AMOUNT);
    let made =
        [1_000, 2_000].map(|amount| repay(&caller, &lent, amount).expect(201)["data"].take());
    let list = format!("/api/capital/loans/{}/repayments", id(&lent));
    assert_eq!(caller.all(&list), made);
    assert_eq!(caller.all(&format!("{list}?sort=-amount"))[0], made[1]);
    let company = caller.company(0);
    let entries = caller.all(&format!("/api/business/journal-entries?company_id={company}"));
    let mut sources = entries.iter().rev().map(|entry| &entry["source"]);
    let source = sources.find(|source| source["type"] == "loan_repayment").unwrap();
    assert_eq!(source["id"], made[1]["id"]);
    let path = format!("/api/capital/loan-repayments/{}", id(source));
    assert_eq!(caller.get(&path).data(), made[1]);
    caller.get("/api/capital/loan-repayments/lrp_0000000000000").refused(404, "resource_not_found");
    caller
        .get("/api/capital/loans/lon_0000000000000/repayments")
        .refused(404, "resource_not_found");
}

#[test]
fn a_loan_arrives_in_the_wallet_and_is_a_liability() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let made = ask(&caller, &company, AMOUNT, "approved").expect(201)["data"].take();
    caller.advance(&json!({"by": "7d"}));
    let before = wallet(&caller, &company);
    let offer = offer(&caller, &application(&caller, id(&made)));
    let body = json!({"decision": "accept", "wallet_id": id(&before)});
    let taken = respond(&caller, &offer, &body).expect(200)["data"].take();
    assert_eq!(taken["status"], "accepted");
    let id = taken["loan_id"].as_str().unwrap();
    let waiting = loan(&caller, id);
    assert_eq!(
        (&waiting["status"], &waiting["schedule"], &waiting["settlement_amount"]),
        (&json!("pending_disbursement"), &json!([]), &Value::Null)
    );
    let mut came = caller.advance(&json!({"by": "7d"}));
    came.retain(|name| name != "loan.interest_accrued");
    assert_eq!(came, ["loan.disbursed", "wallet.credited"]);
    let active = loan(&caller, id);
    assert_eq!(active["status"], "active");
    let after = wallet(&caller, &company);
    assert_eq!(number(&after["available"]), number(&before["available"]) + AMOUNT);
    assert_eq!(net(&caller, &company, "loans_payable"), -AMOUNT);
    assert_eq!(rows(&active).len(), 12);
    assert_eq!(sum(&active, "principal"), AMOUNT);
    assert_eq!(sum(&active, "amount"), number(&offer["total_repayable"]));
    assert_eq!(rows(&active)[0]["amount"], offer["instalment"]);
    assert_eq!(active["next_due"]["number"], 1);
    caller.audit();
}

#[test]
fn every_row_of_a_schedule_follows_from_the_one_before() {
    let caller = Caller::instant();
    let lent = lent(&caller, 9_999_999);
    let rate = number(&lent["rate_bp"]);
    let mut balance = 9_999_999;
    for row in rows(&lent) {
        // A twelfth of the yearly rate, halves to the even unit.
        let twelfth = balance * rate;
        let (whole, rest) = (twelfth / 120_000, twelfth % 120_000);
        let up = rest * 2 > 120_000 || (rest * 2 == 120_000 && whole % 2 == 1);
        assert_eq!(number(&row["interest"]), whole + i64::from(up));
        assert_eq!(number(&row["amount"]), number(&row["principal"]) + number(&row["interest"]));
        balance -= number(&row["principal"]);
        assert_eq!(number(&row["balance"]), balance);
    }
    assert_eq!(balance, 0);
}

#[test]
fn a_loan_paid_month_by_month_is_repaid() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, AMOUNT);
    let (mut interest, mut principal) = (0, 0);
    for place in 0..12 {
        let came = to_day(&caller, &lent, place, 0);
        assert_eq!(came, ["loan.repayment_due"], "{place}");
        let now = loan(&caller, id(&lent));
        let next = number(&now["next_due"]["amount"]);
        assert_eq!(next, number(&rows(&lent)[place]["amount"]));
        let paid = repay(&caller, &lent, next).expect(201)["data"].take();
        assert_eq!(paid["interest"], rows(&lent)[place]["interest"]);
        assert_eq!(paid["principal"], rows(&lent)[place]["principal"]);
        interest += number(&paid["interest"]);
        principal += number(&paid["principal"]);
    }
    let over = loan(&caller, id(&lent));
    assert_eq!((&over["status"], &over["next_due"]), (&json!("repaid"), &Value::Null));
    assert_eq!(principal, AMOUNT);
    assert_eq!(number(&over["balances"]["interest_paid"]), interest);
    assert_eq!(net(&caller, &company, "loans_payable"), 0);
    assert_eq!(net(&caller, &company, "interest"), interest);
    assert_eq!(factor(&score(&caller, &company), "loans_repaid"), (1, 10));
    let names: Vec<Value> = caller.events().iter().map(|e| e["type"].clone()).collect();
    assert!(names.contains(&json!("loan.repaid")));
    repay(&caller, &lent, 1).refused(409, "invalid_state_transition");
    caller.audit();
}

/// Sources: IFRS 9, paragraph 5.4.1; IAS 1, paragraph 27: interest is an expense of the days on which it accrues.
#[test]
fn interest_is_an_expense_of_every_day() {
    let caller = Caller::instant();
    let lent = lent(&caller, AMOUNT);
    let company = lent["company_id"].as_str().unwrap().to_owned();
    let begun: jiff::civil::Date = lent["disbursed_at"].as_str().unwrap()[..10].parse().unwrap();
    let first: jiff::civil::Date = rows(&lent)[0]["due_on"].as_str().unwrap().parse().unwrap();
    let days = i64::from((first - begun).get_days());
    let month = number(&rows(&lent)[0]["interest"]);
    let until = |date: jiff::civil::Date| {
        let path = "/api/business/reports/profit-and-loss";
        let path = format!("{path}?company_id={company}&from=2026-01-01&to={date}");
        let report = caller.get(&path).data();
        let mut lines = report["expenses"].as_array().unwrap().iter();
        let line = lines.find(|line| line["account"] == "interest");
        line.map_or(0, |line| number(&line["amount"]))
    };
    caller.advance(&json!({"to": format!("{first}T12:00:00Z")}));
    for day in [0, 1, 10, days] {
        let date = begun.checked_add(jiff::Span::new().days(day)).unwrap();
        let (whole, rest) = (month * day / days, month * day % days);
        let up = rest * 2 > days || (rest * 2 == days && whole % 2 == 1);
        assert_eq!(until(date), whole + i64::from(up), "{day} of {days}");
    }
    assert_eq!(net(&caller, &company, "interest_payable"), -month);
    assert_eq!(loan(&caller, id(&lent))["balances"]["interest_accrued"], month);
    // A payment settles the interest that is payable, and is no expense.
    repay(&caller, &lent, number(&rows(&lent)[0]["amount"])).expect(201);
    assert_eq!(net(&caller, &company, "interest_payable"), 0);
    assert_eq!(net(&caller, &company, "interest"), month);
    // Interest of the next month that is paid early is an expense when it accrues.
    let second = number(&rows(&lent)[1]["amount"]);
    repay(&caller, &lent, second).expect(201);
    let early = number(&rows(&lent)[1]["interest"]);
    assert_eq!(net(&caller, &company, "interest"), month);
    assert_eq!(net(&caller, &company, "interest_payable"), early);
    to_day(&caller, &lent, 1, 0);
    assert_eq!(net(&caller, &company, "interest"), month + early);
    assert_eq!(net(&caller, &company, "interest_payable"), 0);
    // At the end, all interest that was paid is an expense, and none is payable.
    caller.advance(&json!({"by": "10d"}));
    let settlement = number(&loan(&caller, id(&lent))["settlement_amount"]);
    repay(&caller, &lent, settlement).expect(201);
    let paid = number(&loan(&caller, id(&lent))["balances"]["interest_paid"]);
    assert_eq!(net(&caller, &company, "interest"), paid);
    assert_eq!(net(&caller, &company, "interest_payable"), 0);
    caller.audit();
}

#[test]
fn a_part_pays_interest_first_and_the_rest_catches_up() {
    let caller = Caller::instant();
    let lent = lent(&caller, AMOUNT);
    let (first, interest) =
        (number(&rows(&lent)[0]["amount"]), number(&rows(&lent)[0]["interest"]));
    to_day(&caller, &lent, 0, 0);
    let paid = repay(&caller, &lent, interest + 1_000).expect(201)["data"].take();
    assert_eq!((number(&paid["interest"]), number(&paid["principal"])), (interest, 1_000));
    let now = loan(&caller, id(&lent));
    assert_eq!(number(&now["next_due"]["amount"]), first - interest - 1_000);
    let came = caller.advance(&json!({"by": "1d"}));
    assert!(came.contains(&"loan.late".to_owned()), "{came:?}");
    let late = loan(&caller, id(&lent));
    assert_eq!((&late["status"], &late["late_instalments"]), (&json!("late"), &json!(1)));
    assert_eq!(number(&late["balances"]["overdue"]), first - interest - 1_000);
    repay(&caller, &lent, 1).expect(201);
    assert_eq!(loan(&caller, id(&lent))["status"], "late");
    repay(&caller, &lent, first - interest - 1_001).expect(201);
    let back = loan(&caller, id(&lent));
    assert_eq!(back["status"], "active");
    assert_eq!(back["next_due"]["number"], 2);
    // It still counts as late.
    let company = caller.company(0);
    assert_eq!(factor(&score(&caller, &company), "repayment_late"), (1, 15));
    // A late payment that was made up does not default.
    let came = caller.advance(&json!({"by": "20d"}));
    assert!(!came.contains(&"loan.defaulted".to_owned()));
    caller.audit();
}

#[test]
fn the_whole_balance_costs_interest_to_the_day_only() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, AMOUNT);
    assert_eq!(lent["settlement_amount"], AMOUNT);
    caller.advance(&json!({"by": "10d"}));
    let now = loan(&caller, id(&lent));
    let settlement = number(&now["settlement_amount"]);
    let month = number(&rows(&lent)[0]["interest"]);
    assert!(settlement > AMOUNT && settlement < AMOUNT + month);
    let wrong = repay(&caller, &lent, settlement + 1).refused(422, "validation_failed");
    assert_eq!(wrong["errors"][0]["pointer"], "/amount");
    assert_eq!(wrong["errors"][0]["code"], "beyond_balance");
    let paid = repay(&caller, &lent, settlement).expect(201)["data"].take();
    assert_eq!(number(&paid["principal"]), AMOUNT);
    assert_eq!(number(&paid["balance_after"]), 0);
    let over = loan(&caller, id(&lent));
    assert_eq!((&over["status"], &over["settlement_amount"]), (&json!("repaid"), &Value::Null));
    assert_eq!(net(&caller, &company, "interest"), settlement - AMOUNT);
    let came = caller.advance(&json!({"by": "60d"}));
    assert!(!came.iter().any(|name| name.starts_with("loan.")), "{came:?}");
    caller.audit();
}

#[test]
fn a_prepayment_lowers_the_later_instalments() {
    let caller = Caller::instant();
    let lent = lent(&caller, AMOUNT);
    let first = number(&rows(&lent)[0]["amount"]);
    repay(&caller, &lent, first + 2_000_000).expect(201);
    let now = loan(&caller, id(&lent));
    assert_eq!(now["prepaid_principal"], 2_000_000);
    assert_eq!(sum(&now, "principal") + 2_000_000, AMOUNT);
    assert!(number(&rows(&now)[1]["amount"]) < number(&rows(&lent)[1]["amount"]));
    assert_eq!(rows(&now)[0]["status"], "paid");
    let came = to_day(&caller, &lent, 0, 0);
    assert!(came.is_empty(), "it was paid ahead: {came:?}");
    assert_eq!(to_day(&caller, &lent, 1, 0), ["loan.repayment_due"]);
    caller.audit();
}

#[test]
fn an_unpaid_loan_defaults_after_ninety_days() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let lent = lent(&caller, AMOUNT);
    let before = number(&score(&caller, &company)["score"]);
    assert_eq!(to_day(&caller, &lent, 0, 1), ["loan.repayment_due", "loan.late"]);
    assert!(number(&score(&caller, &company)["score"]) < before);
    let asked = decided(&caller, &company, 100_000, "approved");
    assert_eq!(asked["status"], "rejected");
    caller.advance(&json!({"by": "88d"}));
    assert_eq!(loan(&caller, id(&lent))["status"], "late");
    let came = caller.advance(&json!({"by": "1d"}));
    assert!(came.contains(&"loan.defaulted".to_owned()), "{came:?}");
    let gone = loan(&caller, id(&lent));
    assert_eq!(gone["status"], "defaulted");
    assert!(gone["settlement_amount"].is_null());
    assert_eq!(factor(&score(&caller, &company), "repayment_late").1, 0);
    let asked = decided(&caller, &company, 100_000, "approved");
    let reasons = asked["decision"]["reasons"].as_array().unwrap();
    assert_eq!(reasons[0]["code"], "loan_defaulted");
    repay(&caller, &lent, 1).refused(409, "invalid_state_transition");
    // It has no further effect.
    let came = caller.advance(&json!({"by": "200d"}));
    assert!(!came.iter().any(|name| name.starts_with("loan.")), "{came:?}");
    caller.audit();
}

#[test]
fn a_full_wallet_gets_the_money_when_there_is_room() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let made = ask(&caller, &company, 1_000_000_000_000_000, "approved").expect(201)["data"].take();
    caller.advance(&json!({"by": "7d"}));
    let offer = offer(&caller, &application(&caller, id(&made)));
    let wallet = wallet(&caller, &company);
    let body = json!({"decision": "accept", "wallet_id": id(&wallet)});
    let taken = respond(&caller, &offer, &body).expect(200)["data"].take();
    let id = taken["loan_id"].as_str().unwrap();
    for _ in 0..9 {
        sell(&caller, &company, 1_000_000_000_000_000).expect(200);
    }
    let came = caller.advance(&json!({"by": "5d"}));
    assert!(!came.contains(&"loan.disbursed".to_owned()), "{came:?}");
    assert_eq!(loan(&caller, id)["status"], "pending_disbursement");
    caller.audit();
}

#[test]
fn a_company_that_may_not_pay_receives_its_loan_when_it_may() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let made = ask(&caller, &company, AMOUNT, "approved").expect(201)["data"].take();
    caller.advance(&json!({"by": "7d"}));
    let offer = offer(&caller, &application(&caller, id(&made)));
    let body = json!({"decision": "accept", "wallet_id": id(&wallet(&caller, &company))});
    let taken = respond(&caller, &offer, &body).expect(200)["data"].take();
    let id = taken["loan_id"].as_str().unwrap();
    moved(&caller, &company, "suspended").expect(200);
    moved(&caller, id, "active").refused(409, "invalid_state_transition");
    // The loan waits for the company, but `until idle` does not wait for the loan.
    let came = caller.advance(&json!({"by": "5d"}));
    assert!(!came.contains(&"loan.disbursed".to_owned()), "{came:?}");
    caller.advance(&json!({"until": "idle"}));
    let waiting = loan(&caller, id);
    assert_eq!(waiting["status"], "pending_disbursement");
    moved(&caller, &company, "active").expect(200);
    let now = caller.now();
    caller.advance(&json!({"by": "1d"}));
    let disbursed = loan(&caller, id);
    assert_eq!(disbursed["status"], "active");
    let at = disbursed["disbursed_at"].as_str().unwrap();
    assert!(at > now.as_str() && at.ends_with("T09:00:00.000Z"), "{at}");
    assert_eq!(net(&caller, &company, "loans_payable"), -AMOUNT);
    caller.audit();
}

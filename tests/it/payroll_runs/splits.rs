//! Net pay that is split among several accounts: one payout for each, and one result of the item.

use serde_json::{Value, json};

use super::{items, verb};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

/// An instant world, its first company, and a person whom it can pay.
fn payee() -> (Caller, String, String) {
    let caller = Caller::instant();
    let company = caller.company(0);
    let person = caller.payable(&company).remove(0);
    (caller, company, person)
}

fn set(caller: &Caller, person: &str, splits: &Value) -> Answer {
    let path = format!("/api/business/employees/{person}/payment-method");
    let body = json!({
        "type": "bank", "bank_code": "058", "account_number": "9999999900", "splits": splits,
    });
    caller.send(&caller.request("PUT", &path).json(&body))
}

fn split(number: &str, part: &str, value: i64) -> Value {
    json!({"type": "bank", "bank_code": "058", "account_number": number, part: value})
}

fn pay(caller: &Caller, company: &str, people: &[String]) -> Value {
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let run = caller.post("/v1/payroll/run", &body).made();
    caller.run(id(&run))
}

fn payouts(caller: &Caller, item: &Value) -> Vec<Value> {
    let ids = item["payout_ids"].as_array().unwrap().iter();
    ids.map(|id| caller.get(&format!("/api/payments/payouts/{}", id.as_str().unwrap())).data())
        .collect()
}

#[test]
fn each_account_receives_its_part_and_the_item_is_paid_when_all_have_arrived() {
    let (caller, company, person) = payee();
    // Reserved numbers that choose a late arrival, and one that is on time.
    let splits =
        json!([split("9999999990", "amount", 5_000), split("9999999900", "rate_bp", 2_500)]);
    let method = set(&caller, &person, &splits).data()["payment_method"].take();
    assert_eq!(method["account_number"], "9999999900");
    assert_eq!(method["splits"][0]["account_number"], "9999999990");
    assert_eq!(
        (&method["splits"][0]["amount"], &method["splits"][1]["rate_bp"]),
        (&json!(5_000), &json!(2_500))
    );
    let run = pay(&caller, &company, &[person]);
    assert_eq!((&run["status"], &run["settlement"]["pending"]), (&json!("processing"), &json!(1)));
    caller.advance(&json!({"by": "10d"}));
    let run = caller.run(id(&run));
    assert_eq!(run["status"], "paid");
    let item = items(&caller, &run).remove(0);
    let net = number(&item["net"]);
    let all = payouts(&caller, &item);
    assert_eq!(item["payout_id"], all[0]["id"]);
    let parts: Vec<_> =
        all.iter().map(|it| (it["split"].as_u64(), number(&it["amount"]))).collect();
    let quarter = net / 4;
    assert_eq!(parts, [(None, net - quarter - 5_000), (Some(1), 5_000), (Some(2), quarter)]);
    assert_eq!(all[1]["recipient"]["account_last4"], "9990");
    let paid_at = |status_of: &Value| {
        let history = status_of["status_history"].as_array().unwrap();
        history.iter().find(|it| it["status"] == "paid").unwrap()["at"].clone()
    };
    assert_ne!(paid_at(&all[0]), paid_at(&all[1]));
    assert_eq!(paid_at(&item), paid_at(&all[1]), "the item is paid with its last payout");
    let slips = caller.all(&format!("/api/business/payslips?payroll_run_id={}", id(&run)));
    assert_eq!(slips.len(), 1);
    let page = format!("/api/business/payslips/{}", id(&slips[0]));
    let pdf = caller.request("GET", &page).header("Accept", "application/pdf").send(caller.port());
    assert!(pdf.body.starts_with(b"%PDF-"));
    caller.audit();
}

#[test]
fn only_the_returned_part_of_wages_is_sent_again() {
    let (caller, company, person) = payee();
    set(&caller, &person, &json!([split("9999999902", "amount", 7_000)])).expect(200);
    let run = pay(&caller, &company, std::slice::from_ref(&person));
    // No item is paid, but the other part of the wages has arrived: the run did not fail.
    assert_eq!(run["status"], "partially_paid");
    assert_eq!(run["settlement"], json!({"paid": 0, "failed": 1, "pending": 0}));
    let item = items(&caller, &run).remove(0);
    let before = payouts(&caller, &item);
    // An instant rail refuses at once.
    assert_eq!((&before[0]["status"], &before[1]["status"]), (&json!("paid"), &json!("failed")));
    assert_eq!((&item["status"], &item["failure"]), (&json!("failed"), &before[1]["failure"]));
    caller.audit();
    let digest = caller.digest();
    verb(&caller, &run, "reverse", &json!({"reason": "Paid by mistake"}))
        .refused(409, "invalid_state_transition");
    assert_eq!(caller.digest(), digest);
    set(&caller, &person, &json!([split("9999999900", "amount", 1)])).expect(200);
    let retry = format!("items/{}/retry", id(&item));
    let sent = verb(&caller, &run, &retry, &json!({})).data();
    assert_eq!(sent["payout_ids"][0], item["payout_ids"][0]);
    assert_ne!(sent["payout_ids"][1], item["payout_ids"][1]);
    let run = caller.run(id(&run));
    assert_eq!(run["status"], "paid");
    let item = items(&caller, &run).remove(0);
    let after = payouts(&caller, &item);
    assert_eq!(after[1]["amount"], before[1]["amount"], "the amount of the part stays");
    assert_eq!(after[1]["supersedes"], before[1]["id"]);
    assert_eq!((&item["status"], &item["failure"]), (&json!("paid"), &Value::Null));
    caller.audit();
    verb(&caller, &run, "reverse", &json!({"reason": "Paid by mistake"})).expect(200);
    caller.audit();
}

#[test]
fn a_run_whose_parts_all_failed_leaves_no_entries() {
    let (caller, company, person) = payee();
    let path = format!("/api/business/employees/{person}/payment-method");
    let body = json!({
        "type": "bank", "bank_code": "058", "account_number": "9999999902",
        "splits": [split("9999999903", "rate_bp", 5_000)],
    });
    caller.send(&caller.request("PUT", &path).json(&body)).expect(200);
    let before = super::balances(&caller);
    let run = pay(&caller, &company, &[person]);
    assert_eq!(run["status"], "failed");
    assert_eq!(super::balances(&caller), before);
    caller.audit();
}

#[test]
fn a_part_that_comes_back_late_returns_the_item() {
    let (caller, company, person) = payee();
    set(&caller, &person, &json!([split("9999999999", "amount", 7_000)])).expect(200);
    let run = pay(&caller, &company, &[person]);
    caller.advance(&json!({"by": "30d"}));
    let run = caller.run(id(&run));
    assert_eq!(run["settlement"], json!({"paid": 0, "failed": 1, "pending": 0}));
    let item = items(&caller, &run).remove(0);
    assert_eq!(item["status"], "returned");
    assert_eq!(payouts(&caller, &item)[0]["status"], "paid");
    caller.audit();
}

#[test]
fn fixed_parts_above_the_net_pay_leave_nothing_for_the_other_accounts() {
    let (caller, company, person) = payee();
    let all = 1_000_000_000_000;
    let splits = json!([split("9999999900", "amount", all), split("9999999900", "amount", 1)]);
    set(&caller, &person, &splits).expect(200);
    let run = pay(&caller, &company, &[person]);
    let item = items(&caller, &run).remove(0);
    assert!(item.get("payout_ids").is_none(), "one account receives everything");
    let only =
        caller.get(&format!("/api/payments/payouts/{}", item["payout_id"].as_str().unwrap()));
    let only = only.data();
    assert_eq!((&only["amount"], &only["split"]), (&item["net"], &json!(1)));
    assert_eq!(run["status"], "paid");
    caller.audit();
}

#[test]
fn parts_of_converted_wages_add_up_to_the_conversion() {
    let caller = Caller::instant();
    let company = caller.company(0);
    let home = caller.get(&format!("/api/business/companies/{company}")).data()["country"].take();
    assert_ne!(home, "GB");
    let terms = json!({"amount": 321_123, "currency": "GBP", "interval": "month"});
    let method = json!({
        "type": "bank", "bank_code": "200000", "account_number": "9999999900",
        "splits": [
            {"type": "bank", "bank_code": "200000", "account_number": "9999999900", "rate_bp": 3_333},
            {"type": "bank", "bank_code": "200000", "account_number": "9999999902", "rate_bp": 3_333},
        ],
    });
    let body = json!({
        "company_id": company, "name": "Ada Obi", "role": "Designer", "department": "Marketing",
        "start_date": "2025-12-01", "country": "GB", "tax_id": "MW123456A", "compensation": terms,
        "payment_method": method,
    });
    let person = caller.post("/api/business/employees", &body).made();
    let path = format!("/api/business/employees/{}", id(&person));
    caller.post(&format!("{path}/activate"), &json!({})).expect(200);
    caller.post(&format!("{path}/verify-payroll"), &json!({}));
    let run = pay(&caller, &company, &[id(&person).to_owned()]);
    assert_eq!(run["status"], "partially_paid", "{run}");
    let item = items(&caller, &run).remove(0);
    let all = payouts(&caller, &item);
    assert_eq!(all.len(), 3);
    for (of_item, of_payouts) in [
        (&item["net"], all.iter().map(|it| number(&it["amount"])).sum::<i64>()),
        (
            &item["fx"]["target_amount"],
            all.iter().map(|it| number(&it["fx"]["target_amount"])).sum(),
        ),
        (
            &item["fx"]["source_amount"],
            all.iter().map(|it| number(&it["fx"]["source_amount"])).sum(),
        ),
        (&item["fx"]["fee_amount"], all.iter().map(|it| number(&it["fx"]["fee_amount"])).sum()),
    ] {
        assert_eq!(number(of_item), of_payouts);
    }
    caller.audit();
}

#[test]
fn wrong_splits_are_refused_with_their_members() {
    let (caller, _, person) = payee();
    let good = split("9999999900", "rate_bp", 6_000);
    let mut both = good.clone();
    both["amount"] = json!(1);
    let mut neither = good.clone();
    neither.as_object_mut().unwrap().remove("rate_bp");
    let mut unknown = good.clone();
    unknown["share"] = json!(1);
    let rows = [
        (json!([]), "/splits"),
        (json!([good, good]), "/splits"),
        (json!([both]), "/splits/0"),
        (json!([neither]), "/splits/0"),
        (json!([split("9999999900", "amount", 0)]), "/splits/0/amount"),
        (json!([split("9999999900", "rate_bp", 10_001)]), "/splits/0/rate_bp"),
        (json!([split("12", "amount", 1)]), "/splits/0/account_number"),
        (json!([split("9999999901", "amount", 1)]), "/splits/0/account_number"),
        (json!([unknown]), "/splits/0/share"),
        (json!(vec![split("9999999900", "amount", 1); 6]), "/splits"),
        (json!("all"), "/splits"),
    ];
    let before = caller.digest();
    for (splits, pointer) in rows {
        let refused = set(&caller, &person, &splits).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [pointer], "{splits}");
    }
    assert_eq!(caller.digest(), before);
}

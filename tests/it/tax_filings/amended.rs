//! Amended returns: additions are paid, reductions become a credit, and rejected returns are corrected.

use serde_json::{Value, json};

use super::{FILINGS, filing, owed, prepare, submit, wallet};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

/// A company whose January taxes were filed and paid to the state's tax office.
fn filed(caller: &Caller) -> (String, Value) {
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    let filing = prepare(caller, &company, "SIRS").expect(201)["data"].take();
    submit(caller, &filing).expect(202);
    (company, filing)
}

fn amend(caller: &Caller, filing: &Value, adjustments: &Value) -> Answer {
    let target = format!("{FILINGS}/{}/amend", id(filing));
    let body = json!({"reason": "The schedule was wrong", "adjustments": adjustments});
    caller.post(&target, &body)
}

fn events_after(caller: &Caller, sequence: usize) -> Vec<String> {
    let events = caller.all(&format!("/_sandbox/events?after={sequence}"));
    events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_increase_by_an_amended_return_is_paid_from_the_available_balance() {
    let caller = Caller::instant();
    let (company, first) = filed(&caller);
    let adjustments = json!([
        {"amount": 70_000, "reason": "A bonus was left out"},
        {"authority": "SIRS", "amount": -20_000, "reason": "And a relief"},
    ]);
    let second = amend(&caller, &first, &adjustments).expect(201)["data"].take();
    assert_eq!(number(&second["amount"]) - number(&first["amount"]), 50_000);
    assert_eq!(second["amount_paid"], first["amount"]);
    assert_eq!(second["adjustments"][0]["authority"], "SIRS");
    let before = (
        wallet(&caller, &company, "available"),
        wallet(&caller, &company, "reserved"),
        owed(&caller, &company, "tax_payable:SIRS"),
    );
    let logged = caller.events().len();
    let sent = submit(&caller, &second).expect(202)["data"].take();
    assert_eq!(sent["amount_paid"], sent["amount"]);
    assert_eq!(sent["credit_used"], 0);
    let after = (
        wallet(&caller, &company, "available") + 50_000,
        wallet(&caller, &company, "reserved"),
        owed(&caller, &company, "tax_payable:SIRS"),
    );
    assert_eq!(after, before);
    let events = events_after(&caller, logged);
    assert_eq!(events[..2], ["tax_filing.submitted", "wallet.debited"]);
    assert_eq!(filing(&caller, &second)["status"], "filed");
    caller.audit();
}

#[test]
fn a_decrease_by_an_amended_return_is_used_by_the_next_return() {
    let caller = Caller::instant();
    let (company, first) = filed(&caller);
    let december = owed(&caller, &company, "tax_payable:SIRS");
    let less = json!([{"amount": -90_000, "reason": "One person left"}]);
    let second = amend(&caller, &first, &less).expect(201)["data"].take();
    let available = wallet(&caller, &company, "available");
    let sent = submit(&caller, &second).expect(202)["data"].take();
    assert_eq!(number(&sent["amount_paid"]) - number(&sent["amount"]), 90_000);
    assert_eq!(wallet(&caller, &company, "available"), available, "the authority keeps it");
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), december - 90_000);

    caller.run_payroll(&company, "2026-02");
    let february = json!({
        "company_id": company, "tax_type": "SIRS", "period": "2026-02", "jurisdiction": "NG",
    });
    let february = caller.post(FILINGS, &february).expect(201)["data"].take();
    let (available, reserved) =
        (wallet(&caller, &company, "available"), wallet(&caller, &company, "reserved"));
    let logged = caller.events().len();
    let sent = submit(&caller, &february).expect(202)["data"].take();
    assert_eq!(sent["credit_used"], 90_000);
    assert_eq!(number(&sent["amount"]) - number(&sent["amount_paid"]), 90_000);
    assert_eq!(wallet(&caller, &company, "available") - available, 90_000);
    assert_eq!(reserved - wallet(&caller, &company, "reserved"), number(&sent["amount"]));
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), december);
    assert_eq!(events_after(&caller, logged)[..2], ["tax_filing.submitted", "wallet.credited"]);
    // The used credit is due again if the first return was right.
    let more = json!([{"amount": 90_000, "reason": "The person had not left"}]);
    let third = amend(&caller, &second, &more).expect(201)["data"].take();
    let available = wallet(&caller, &company, "available");
    let sent = submit(&caller, &third).expect(202)["data"].take();
    assert_eq!(sent["credit_used"], -90_000);
    assert_eq!(available - wallet(&caller, &company, "available"), 90_000);
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), december);
    // An amended return does not use the same credit twice.
    let fourth = amend(&caller, &february, &json!([])).expect(201)["data"].take();
    let available = wallet(&caller, &company, "available");
    submit(&caller, &fourth).expect(202);
    assert_eq!(wallet(&caller, &company, "available"), available);
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), december);
    caller.audit();
}

#[test]
fn an_addition_beyond_the_wallet_is_refused_and_changes_nothing() {
    let caller = Caller::instant();
    let (_, first) = filed(&caller);
    let much = json!([{"amount": 1_000_000_000_000_000_i64, "reason": "Too much"}]);
    let second = amend(&caller, &first, &much).expect(201)["data"].take();
    let digest = caller.digest();
    submit(&caller, &second).refused(402, "insufficient_funds");
    assert_eq!(caller.digest(), digest);
}

#[test]
fn a_rejected_return_is_amended_and_filed() {
    let caller = Caller::manual();
    let company = caller.company(0);
    caller.run_payroll(&company, "2026-01");
    caller.advance(&json!({"until": "idle"}));
    let first = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    let target = format!("{FILINGS}/{}/submit", id(&first));
    let request = caller.request("POST", &target).json(&json!({"declaration": "Ada Obi"}));
    caller.send(&request.header("Sandbox-Scenario", "tax_filing.reply=rejected")).expect(202);
    caller.advance(&json!({"by": "3bd"}));
    let rejected = filing(&caller, &first);
    assert_eq!(rejected["status"], "rejected");
    assert_eq!(rejected["amount_paid"], rejected["amount"], "what was paid stays paid");
    let second = amend(&caller, &first, &json!([])).expect(201)["data"].take();
    assert_eq!(filing(&caller, &first)["status"], "amended");
    let reserved = wallet(&caller, &company, "reserved");
    submit(&caller, &second).expect(202);
    assert_eq!(wallet(&caller, &company, "reserved"), reserved);
    caller.advance(&json!({"by": "3bd"}));
    assert_eq!(filing(&caller, &second)["status"], "filed");
    caller.audit();
}

#[test]
fn an_amendment_takes_back_at_most_what_is_declared() {
    let caller = Caller::instant();
    let (_, first) = filed(&caller);
    let declared = number(&first["amount"]);
    let less = |amount: i64| json!({"amount": amount, "reason": "No work was done"});
    let digest = caller.digest();
    for (adjustments, place) in [
        (json!([less(-1_000_000_000_000)]), 0),
        (json!([less(-declared - 1)]), 0),
        (json!([less(1), less(-declared), less(-2)]), 2),
    ] {
        let refused = amend(&caller, &first, &adjustments).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [format!("/adjustments/{place}/amount")]);
        assert_eq!(refused["errors"][0]["code"], "below_zero");
    }
    assert_eq!(caller.digest(), digest);
    let order = json!([less(-declared - 5), less(5)]);
    let nothing = amend(&caller, &first, &order).expect(201)["data"].take();
    assert_eq!(nothing["amount"], 0);
    caller.audit();
}

#[test]
fn adjustments_name_a_line_and_change_something() {
    let caller = Caller::instant();
    let (company, first) = filed(&caller);
    let open = caller.all(&format!("{FILINGS}?company_id={company}&tax_type=vat&status=pending"));
    let open = open.last().unwrap();
    submit(&caller, open).expect(202);
    let reason = "Typing error";
    let faults = [
        (&first, json!([{"amount": 0, "reason": reason}]), "/adjustments/0/amount"),
        (
            &first,
            json!([{"amount": 1, "reason": reason}, {"amount": 1, "authority": "HMRC", "reason": reason}]),
            "/adjustments/1/authority",
        ),
        (&first, json!([{"amount": 1}]), "/adjustments/0/reason"),
        (&first, json!([{"reason": reason}]), "/adjustments/0/amount"),
        (&first, json!([{"amount": 1.5, "reason": reason}]), "/adjustments/0/amount"),
        (
            &first,
            json!([{"amount": 1_000_000_000_000_001_i64, "reason": reason}]),
            "/adjustments/0/amount",
        ),
        (&first, json!(vec![json!({"amount": 1, "reason": reason}); 51]), "/adjustments"),
        (&first, json!([{"amount": 1, "reason": reason, "a": 1}]), "/adjustments/0/a"),
        (&first, json!({}), "/adjustments"),
    ];
    for (filing, adjustments, pointer) in faults {
        let refused = amend(&caller, filing, &adjustments).refused(422, "validation_failed");
        assert_eq!(pointers(&refused), [pointer]);
    }
    let target = format!("{FILINGS}/{}/amend", id(&first));
    let none = caller.post(&target, &json!({})).refused(422, "validation_failed");
    assert_eq!(pointers(&none), ["/reason"]);
    let vat = json!([{"authority": "vat", "amount": 12_345, "reason": "An invoice was left out"}]);
    let amended = amend(&caller, open, &vat).expect(201)["data"].take();
    submit(&caller, &amended).expect(202);
    assert_eq!(owed(&caller, &company, "tax_payable:vat"), 0);
    caller.audit();
}

#[test]
fn a_reversed_run_leaves_a_credit_that_its_return_declares_and_the_next_one_uses() {
    let caller = Caller::instant();
    let (company, first) = filed(&caller);
    let december = owed(&caller, &company, "tax_payable:SIRS");
    let run =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&period=2026-01"));
    let person = run[0]["employees"][0].as_str().unwrap().to_owned();
    let target = format!("/api/business/payroll-runs/{}/reverse", id(&run[0]));
    let body = json!({"reason": "Paid by mistake", "employee_ids": [person]});
    caller.post(&target, &body).expect(200);
    let owing = caller.all("/api/business/tax-liabilities?authority=SIRS&status=accrued");
    let [credit] = owing.as_slice() else { panic!("{owing:?}") };
    let credited = -number(&credit["amount"]);
    assert!(credited > 0);
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), december - credited);
    let second = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    assert_eq!((&second["status"], number(&second["amount"])), (&json!("pending"), -credited));
    let available = wallet(&caller, &company, "available");
    let sent = submit(&caller, &second).expect(202)["data"].take();
    assert_eq!((&sent["amount_paid"], &sent["credit_used"]), (&json!(0), &json!(0)));
    assert_eq!(wallet(&caller, &company, "available"), available);

    let again = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    caller.post("/v1/payroll/run", &again).expect(201);
    let third = prepare(&caller, &company, "SIRS").expect(201)["data"].take();
    assert_eq!(number(&third["amount"]), credited);
    let available = wallet(&caller, &company, "available");
    let sent = submit(&caller, &third).expect(202)["data"].take();
    assert_eq!((number(&sent["amount_paid"]), number(&sent["credit_used"])), (0, credited));
    assert_eq!(wallet(&caller, &company, "available") - available, credited);
    assert_eq!(owed(&caller, &company, "tax_payable:SIRS"), december);
    assert_eq!(filing(&caller, &first)["status"], "filed");
    let clock = caller.get("/_sandbox/clock").data();
    let subjects: Vec<&Value> =
        clock["next"].as_array().unwrap().iter().map(|d| &d["subject"]).collect();
    assert!(!subjects.contains(&&credit["id"]), "a credit is never late");
    caller.audit();
}

#[test]
fn a_credit_that_is_used_in_part_is_declared_by_no_return() {
    let caller = Caller::instant();
    let (company, first) = filed(&caller);
    let december = owed(&caller, &company, "tax_payable:SIRS");
    let runs =
        caller.all(&format!("/api/business/payroll-runs?company_id={company}&period=2026-01"));
    let target = format!("/api/business/payroll-runs/{}/reverse", id(&runs[0]));
    caller.post(&target, &json!({"reason": "Paid by mistake"})).expect(200);
    let run = |period: &str, people: &[Value]| {
        let body = json!({"company_id": company, "period": period, "employees": people});
        caller.post("/v1/payroll/run", &body).expect(201);
        let body = json!({
            "company_id": company, "tax_type": "SIRS", "period": period, "jurisdiction": "NG",
        });
        caller.post(FILINGS, &body).made()
    };
    let people = runs[0]["employees"].as_array().unwrap();
    let small = run("2026-02", &people[..1]);
    let used = number(&submit(&caller, &small).expect(202)["data"]["credit_used"]);
    let credited = number(&first["amount"]);
    assert!(0 < used && used < credited, "{used} of {credited}");
    // No return declares the rest, alone or with other taxes of the month.
    let path = format!("/api/business/tax-liabilities?company_id={company}&authority=SIRS");
    let open = caller.all(&format!("{path}&status=accrued")).remove(0);
    assert_eq!((number(&open["amount"]), number(&open["credit_used"])), (-credited, used));
    let refused = prepare(&caller, &company, "SIRS").refused(422, "validation_failed");
    assert_eq!(refused["errors"][0]["code"], "nothing_owed");
    let more = run("2026-01", &people[..1]);
    assert!(number(&more["amount"]) > 0, "{more}");
    // A lower amount of an earlier return takes no money.
    let less = json!([{"amount": -5, "reason": "Too high"}]);
    let amended = amend(&caller, &first, &less).made();
    let available = wallet(&caller, &company, "available");
    let sent = submit(&caller, &amended).expect(202)["data"].take();
    assert_eq!((number(&sent["amount_paid"]), &sent["credit_used"]), (credited, &json!(0)));
    assert_eq!(wallet(&caller, &company, "available"), available);
    let sent = submit(&caller, &more).expect(202)["data"].take();
    assert_eq!((&sent["amount_paid"], &sent["credit_used"]), (&json!(0), &more["amount"]));
    assert_eq!(
        owed(&caller, &company, "tax_payable:SIRS"),
        december - credited - 5 + used + number(&more["amount"])
    );
    caller.audit();
}

/// GB, Income Tax (PAYE) Regulations 2003 reg. 69: an overpayment is set off against the next payment.
#[test]
fn tax_of_a_failed_run_that_was_paid_is_used_by_the_next_return() {
    let caller = Caller::manual();
    let companies = caller.all("/api/business/companies");
    let company = companies.iter().find(|company| company["country"] == "GB").unwrap();
    let company = id(company).to_owned();
    let people = caller.payable(&company);
    let (people, others) = (&people[..2], &people[2..4]);
    let body = json!({"company_id": company, "period": "2026-01", "employees": people});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    let request = request.header("sandbox-scenario", "payout.settle=returned;code=R02");
    let run = caller.send(&request).made();
    while caller.run(id(&run))["status"] != "processing" {
        caller.advance(&json!({"until": "next_event"}));
    }
    let declare = |period: &str| {
        let body = json!({
            "company_id": company, "tax_type": "HMRC", "period": period, "jurisdiction": "GB",
        });
        let filing = caller.post(FILINGS, &body).made();
        submit(&caller, &filing).expect(202)["data"].take()
    };
    let paid = number(&declare("2026-01")["amount_paid"]);
    assert!(paid > 0);
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(caller.run(id(&run))["status"], "failed");
    let body = json!({"company_id": company, "period": "2026-02", "employees": others});
    caller.post("/v1/payroll/run", &body).expect(201);
    caller.advance(&json!({"by": "20d"}));
    let next = declare("2026-02");
    let amount = number(&next["amount"]);
    assert!(amount > 0);
    assert_eq!(number(&next["credit_used"]), amount.min(paid));
    assert_eq!(number(&next["amount_paid"]), amount - amount.min(paid));
    // A credit that is used up is `paid`; another shows the used amount.
    let path = format!("/api/business/tax-liabilities?company_id={company}&authority=HMRC");
    let credits = |status: &str| -> Vec<Value> {
        let all = caller.all(&format!("{path}&status={status}"));
        all.into_iter().filter(|it| number(&it["amount"]) < 0).collect()
    };
    let used = |credits: &[Value]| -> i64 {
        let used = credits.iter().filter_map(|it| it["credit_used"].as_i64());
        used.sum()
    };
    let (closed, open) = (credits("paid"), credits("accrued"));
    assert_eq!(used(&closed) + used(&open), amount.min(paid), "{closed:?} {open:?}");
    assert!(closed.iter().all(|it| it["tax_filing_id"].is_null()), "no return declares it");
    let sum = |credits: &[Value]| credits.iter().map(|it| number(&it["amount"])).sum::<i64>();
    assert_eq!(sum(&closed) + sum(&open), -paid);
    assert_eq!(open.is_empty(), amount >= paid);
    let all = caller.all(&format!("{path}&status=paid"));
    assert_eq!(sum(&all) - used(&open), paid + number(&next["amount_paid"]), "the payments");
    caller.audit();
}

//! Cases that no call of the product API can cause: money from outside, and a tax office that rejects.

use serde_json::{Value, json};

use crate::api::business::tax_clock;
use crate::api::prelude::*;
use crate::api::{self, system};
use crate::model::business::TaxFiling;
use crate::model::posting;
use crate::world::{Base, ClockMode, RequestRef, Shape};

/// A request as the origin of events.
fn origin() -> Arc<RequestRef> {
    Arc::new(RequestRef {
        id: Id::from_bits(1),
        operation: "test".into(),
        idempotency_key: None,
        trace: None,
    })
}

fn call(world: &mut World, name: &str, input: Value) -> Value {
    let row = api::product().find(|row| row.name == name).expect("a row");
    let reply = system::perform(world, row, origin(), Vec::new(), input);
    let reply = reply.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let mut body: Value = serde_json::from_slice(&reply.into_bytes()).expect("JSON");
    while system::run_next(world, Timestamp::MAX).is_some() {}
    body["data"].take()
}

fn world() -> (World, Id<Company>) {
    let base = Arc::new(Base::new(42, Shape::default()));
    let company = base.id_at(0);
    (World::new(base, ClockMode::Manual), company)
}

#[test]
fn a_run_that_was_short_is_paid_once_the_money_is_there() {
    let (mut world, company) = world();
    let person = world.base().id_at::<Employee>(0);
    let pay = json!({"employee_id": person, "amount": 900_000_000_000_i64, "currency": "NGN", "interval": "month"});
    call(&mut world, "set_employee_compensation", pay);
    let run = json!({"company_id": company, "period": "2026-01", "employees": [person]});
    let run = call(&mut world, "run_payroll", run);
    let one = json!({"payroll_run_id": run["id"]});
    let short = call(&mut world, "retry_payroll_funding", one.clone());
    assert_eq!(short["status"], "funding_failed");
    let wallet: Arc<Wallet> = world.at(0).expect("the company has one");
    let money = posting::opening_cash(AnyId::of(company), wallet.currency, 10_000_000_000_000, 0);
    world.begin(None);
    world.post(company, money);
    world.emit_wallet("wallet.credited", &wallet);
    world.commit();
    let funded = call(&mut world, "retry_payroll_funding", one.clone());
    assert_eq!(funded["status"], "processing");
    assert_eq!(funded["blockers"], json!([]));
    let paid: Vec<_> = world.log().iter().map(|event| event.name.to_string()).collect();
    assert!(paid.iter().any(|name| name == "payroll_run.paid"), "{paid:?}");
    assert!(world.audit().findings.is_empty(), "{:?}", world.audit().findings);
}

#[test]
fn a_rejected_return_is_amended_and_pays_nothing_twice() {
    let (mut world, company) = world();
    call(&mut world, "run_payroll", json!({"company_id": company, "period": "2026-01"}));
    let filing = json!({"company_id": company, "tax_type": "SIRS", "period": "2026-01", "jurisdiction": "NG"});
    let filing = call(&mut world, "create_tax_filing", filing);
    let row = api::product().find(|row| row.name == "submit_tax_filing").expect("a row");
    let sent = json!({"tax_filing_id": filing["id"], "declaration": "Ada Obi"});
    system::perform(&mut world, row, origin(), Vec::new(), sent).expect("it can be submitted");
    let id: Id<TaxFiling> = serde_json::from_value(filing["id"].clone()).expect("an id");
    let mut other = world.clone();
    world.begin(None);
    tax_clock::reject_filing(&mut world, id);
    world.commit();
    let rejected = world.get(id).expect("it is there");
    assert!(rejected.rejection_reason.is_some());
    assert_eq!(rejected.amount_paid, rejected.amount, "what was paid stays paid");
    let amend = json!({"tax_filing_id": id, "reason": "Rejected"});
    let row = api::product().find(|row| row.name == "amend_tax_filing").expect("a row");
    system::perform(&mut world, row, origin(), Vec::new(), amend)
        .expect("a rejected one can be amended");
    let new = world.children::<TaxFiling>(company.bits()).next_back().expect("the new one");
    let entries = world.book(company).expect("books").entries.len();
    let row = api::product().find(|row| row.name == "submit_tax_filing").expect("a row");
    let sent = json!({"tax_filing_id": new, "declaration": "Ada Obi"});
    system::perform(&mut world, row, origin(), Vec::new(), sent).expect("it can be submitted");
    assert_eq!(world.book(company).expect("books").entries.len(), entries);
    assert!(world.audit().findings.is_empty(), "{:?}", world.audit().findings);
    // The control run: without the rejection the same filing is accepted.
    while system::run_next(&mut other, Timestamp::MAX).is_some() {}
    assert!(other.get(id).expect("it is there").rejection_reason.is_none());
}

//! The sales of a company in the months before the world's start.

use serde_json::json;

use super::{COLLECTIONS, INVOICES, booked, collection, told, wallet};
use crate::harness::Caller;
use crate::harness::world::{id, number};

#[test]
fn the_sources_of_history_can_be_read_and_agree_with_their_entries() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let invoices = caller.all(&format!("{INVOICES}?company_id={company}"));
    assert_eq!(invoices.len(), 96);
    let mut open = 0;
    for invoice in &invoices {
        let total = number(&invoice["total"]);
        let sums = booked(&caller, id(invoice));
        assert_eq!(sums[0], ("accounts_receivable".to_owned(), total), "{invoice}");
        let paid = booked(&caller, invoice["collection_id"].as_str().unwrap());
        let asked = collection(&caller, &json!({"id": invoice["collection_id"]}));
        assert_eq!(
            (&asked["amount"], &asked["reference"]),
            (&invoice["total"], &invoice["number"])
        );
        match (invoice["status"].as_str().unwrap(), asked["status"].as_str().unwrap()) {
            ("paid", "settled") => assert!(paid.contains(&("cash_available".to_owned(), total))),
            ("paid", "succeeded") => {
                assert!(paid.contains(&("collections_in_transit".to_owned(), total)));
            }
            ("open", state @ ("pending" | "expired")) => {
                open += 1;
                assert_eq!(paid, []);
                let is_over = asked["expires_at"].as_str().unwrap() < "2026-01-01T00:00:00.001Z";
                assert_eq!(state == "expired", is_over, "{asked}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(open > 0, "no invoice is open when the world begins");
    let accounts = caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    let owed = accounts.iter().find(|account| account["code"] == "accounts_receivable").unwrap();
    let due: i64 = invoices.iter().map(|invoice| number(&invoice["amount_due"])).sum();
    assert_eq!(number(&owed["balance"]), due);
}

#[test]
fn a_grown_open_invoice_is_paid_by_a_transfer() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let open = caller.all(&format!("{COLLECTIONS}?company_id={company}&status=pending"));
    let asked = &open[0];
    let before = number(&wallet(&caller, "NGN")["pending"]);
    let body =
        json!({"company_id": company, "amount": asked["amount"], "reference": asked["reference"]});
    caller.post("/_sandbox/inbound/bank_transfer", &body).expect(200);
    assert_eq!(number(&wallet(&caller, "NGN")["pending"]), before + number(&asked["amount"]));
    let invoice = asked["invoice_id"].as_str().unwrap();
    assert_eq!(told(&caller, invoice), ["invoice.paid"]);
    caller.advance(&json!({"by": "9d"}));
    assert_eq!(collection(&caller, asked)["status"], "settled");
    caller.audit();
}

#[test]
fn a_grown_settled_collection_can_be_refunded() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let old = caller.all(&format!("{COLLECTIONS}?company_id={company}&status=settled")).remove(0);
    let body = json!({"amount": 100, "reason": "A credit"});
    caller.post(&format!("{COLLECTIONS}/{}/refunds", id(&old)), &body).expect(201);
    caller.advance(&json!({"by": "9d"}));
    assert_eq!(collection(&caller, &old)["amount_refunded"], 100);
    caller.audit();
}

#[test]
fn a_grown_invoice_that_is_paid_in_part_becomes_overdue() {
    let caller = Caller::manual();
    let company = caller.company(0);
    let open = caller.all(&format!("{INVOICES}?company_id={company}&status=open"));
    let due = |invoice: &&serde_json::Value| invoice["due_date"].as_str().unwrap() > "2026-01-03";
    let invoice = open.iter().find(due).expect("an invoice that is due later");
    let body = json!({"company_id": company, "amount": 100, "reference": invoice["number"]});
    caller.post("/_sandbox/inbound/bank_transfer", &body).expect(200);
    caller.advance(&json!({"by": "60d"}));
    let path = format!("{INVOICES}/{}", id(invoice));
    let late = caller.get(&path).data();
    assert_eq!((&late["status"], &late["overdue"]), (&json!("partially_paid"), &json!(true)));
    assert_eq!(told(&caller, id(invoice)), ["invoice.partially_paid", "invoice.overdue"]);
}

//! Cash flow: payments and refunds of customers include the tax on the sale.

use serde_json::{Value, json};

use crate::accounting::bad_debts::{collect, debit_until_paid, read, sent, write_off};
use crate::accounting::bills::company_of;
use crate::accounting::report;
use crate::harness::Caller;
use crate::harness::world::{id, number};

/// Receipts from customers, and payments to authorities, from that day on.
fn since(caller: &Caller, company: &str, day: &str) -> [i64; 2] {
    let flow = report(caller, "cash-flow", company, &format!("from={day}&to=2027-12-31"));
    let lines = flow["operating"]["lines"].as_array().expect("lines");
    ["receipts_from_customers", "payments_to_authorities"].map(|activity| {
        let line = lines.iter().find(|line| line["activity"] == activity);
        line.map_or(0, |line| number(&line["amount"]))
    })
}

fn today(caller: &Caller) -> String {
    caller.now()[..10].to_owned()
}

/// IAS 7.14: a refund is a payment to the customer, with the tax in it. The next return pays less to the authority.
#[test]
fn the_tax_in_a_refund_is_paid_to_the_customer() {
    let (_server, caller, company) = company_of("GB");
    let invoice = sent(&caller, &company, "GBP", "9999999900");
    caller.advance(&json!({"by": "12d"}));
    let invoice = read(&caller, &invoice);
    assert_eq!(invoice["status"], "paid");
    let path = format!(
        "/api/payments/collections/{}/refunds",
        invoice["collection_id"].as_str().expect("an id")
    );
    let refund = |amount: i64, choice: &str| -> Value {
        let body = json!({"reason": "Damaged", "amount": amount});
        let request = caller.request("POST", &path).json(&body);
        caller.send(&request.header("sandbox-scenario", choice)).made()
    };
    let failing = refund(60_000, "refund.settle=failed");
    assert_eq!(failing["tax_amount"], 10_000);
    assert_eq!(since(&caller, &company, &today(&caller)), [0, 0]);
    caller.advance(&json!({"by": "1h"}));
    let next = today(&caller);
    caller.advance(&json!({"by": "14d"}));
    let failed = caller.get(&format!("/api/payments/refunds/{}", id(&failing))).data();
    assert_eq!(failed["status"], "failed");
    assert_eq!(since(&caller, &company, &next), [0, 0]);

    let first = today(&caller);
    let pending = refund(120_000, "refund.settle=succeeded");
    assert_eq!(pending["tax_amount"], 20_000);
    assert_eq!(since(&caller, &company, &first), [0, 0]);
    caller.advance(&json!({"by": "14d"}));
    assert_eq!(since(&caller, &company, &first), [-120_000, 0]);
    caller.audit();
}

/// A later payment of a debt, or its return, counts in full as a receipt, even if its tax is due again.
#[test]
fn the_tax_in_a_recovered_debt_is_received_from_the_customer() {
    let (_server, caller, company) = company_of("GB");
    let invoice = sent(&caller, &company, "GBP", "9999999994");
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    write_off(&caller, &invoice).expect(200);
    caller.advance(&json!({"to": "2026-08-01T08:00:00Z"}));
    assert_eq!(read(&caller, &invoice)["write_off"]["tax_relieved"], 20_000);
    collect(&caller, &company, &invoice, 60_000).expect(201);
    caller.advance(&json!({"by": "1h"}));
    assert_eq!(read(&caller, &invoice)["write_off"]["tax_relieved"], 10_000);
    assert_eq!(since(&caller, &company, "2026-08-01"), [60_000, 0]);

    let (_server, caller, company) = company_of("CA");
    let invoice = sent(&caller, &company, "CAD", "9999999994");
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    write_off(&caller, &invoice).expect(200);
    debit_until_paid(&caller, &company, &invoice, "CAD");
    let total = number(&invoice["total"]);
    assert_eq!(since(&caller, &company, "2026-02-10"), [total, 0]);
    caller.advance(&json!({"by": "14d"}));
    assert_eq!(read(&caller, &invoice)["status"], "written_off");
    assert_eq!(since(&caller, &company, "2026-02-10"), [0, 0]);
    caller.audit();
}

//! Bad debts: overdue invoices that are written off, the relief from their tax, and later payments.

use serde_json::{Value, json};

use super::bills::{balance, company_of, vat};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

const INVOICES: &str = "/api/payments/invoices";

/// An invoice to a customer whose account number chooses the result of the payment.
pub(super) fn sent(caller: &Caller, company: &str, currency: &str, account: &str) -> Value {
    let body = json!({
        "company_id": company, "currency": currency, "due_date": "2026-01-31",
        "customer": {"name": "Harbour Foods Ltd", "email": "a@harbour.example.com", "account_number": account},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 100_000}],
    });
    let invoice = caller.post(INVOICES, &body).made();
    caller.post(&format!("{INVOICES}/{}/send", id(&invoice)), &json!({})).data()
}

pub(super) fn write_off(caller: &Caller, invoice: &Value) -> Answer {
    let body = json!({"reason": "The customer is insolvent"});
    caller.post(&format!("{INVOICES}/{}/write-off", id(invoice)), &body)
}

pub(super) fn read(caller: &Caller, invoice: &Value) -> Value {
    caller.get(&format!("{INVOICES}/{}", id(invoice))).data()
}

/// Balances of receivables, bad debts and tax on sales.
fn books(caller: &Caller, company: &str) -> [i64; 3] {
    ["accounts_receivable", "bad_debts", "tax_payable:vat"].map(|it| balance(caller, company, it))
}

/// The changes of these balances.
fn changed(caller: &Caller, company: &str, before: [i64; 3]) -> [i64; 3] {
    let now = books(caller, company);
    [now[0] - before[0], now[1] - before[1], now[2] - before[2]]
}

pub(super) fn collect(caller: &Caller, company: &str, invoice: &Value, amount: i64) -> Answer {
    let body = json!({
        "company_id": company, "amount": amount, "currency": "GBP", "method": "card",
        "reference": format!("LATE-{amount}"), "invoice_id": invoice["id"],
    });
    caller.post("/api/payments/collections", &body)
}

/// Source: Value Added Tax Act 1994, section 36, and VAT Notice 700/18: the debt is written off, and the tax is taken back six months
/// after the due date; a later payment returns its part. IFRS 9, 5.4.4: a write-off reduces the receivable.
#[test]
fn the_tax_of_a_british_bad_debt_is_taken_back_after_six_months_and_returned_with_payments() {
    let (_server, caller, company) = company_of("GB");
    let invoice = sent(&caller, &company, "GBP", "9999999994");
    let before = books(&caller, &company);
    let early = write_off(&caller, &invoice).refused(409, "invalid_state_transition");
    assert!(early["detail"].as_str().unwrap().contains("2026-01-31"), "{early}");
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    let bad = write_off(&caller, &invoice).data();
    assert_eq!(
        bad["write_off"],
        json!({"on": "2026-02-10", "amount": 120_000, "tax": 20_000, "recovered": 0,
            "tax_relief_on": "2026-07-31", "tax_relieved": 0})
    );
    assert_eq!((&bad["status"], &bad["amount_due"]), (&json!("written_off"), &json!(0)));
    assert_eq!((&bad["overdue"], &bad["amount_paid"]), (&json!(false), &json!(0)));
    assert_eq!(changed(&caller, &company, before), [-120_000, 120_000, 0]);
    let again = write_off(&caller, &invoice).refused(409, "invalid_state_transition");
    assert_eq!(again["current"], "written_off");
    let void = json!({"reason": "Late"});
    caller
        .post(&format!("{INVOICES}/{}/void", id(&invoice)), &void)
        .refused(409, "invalid_state_transition");

    caller.advance(&json!({"to": "2026-07-30T23:00:00Z"}));
    assert_eq!(changed(&caller, &company, before)[1], 120_000);
    caller.advance(&json!({"to": "2026-08-01T08:00:00Z"}));
    assert_eq!(changed(&caller, &company, before), [-120_000, 100_000, -20_000]);
    let quarter = vat(&caller, &company).into_iter().find(|row| row["period"] == "2026-09");
    assert_eq!(quarter.expect("the quarter of the relief")["amount"], -20_000);

    let beyond = collect(&caller, &company, &invoice, 120_001).refused(422, "validation_failed");
    assert_eq!(pointers(&beyond), ["/amount"]);
    collect(&caller, &company, &invoice, 60_000).expect(201);
    caller.advance(&json!({"by": "1h"}));
    let part = read(&caller, &invoice);
    assert_eq!((&part["status"], &part["amount_paid"]), (&json!("written_off"), &json!(60_000)));
    assert_eq!(part["write_off"]["tax_relieved"], 10_000);
    assert_eq!(changed(&caller, &company, before), [-120_000, 50_000, -10_000]);
    collect(&caller, &company, &invoice, 60_001).refused(422, "validation_failed");
    collect(&caller, &company, &invoice, 59_999).expect(201);
    caller.advance(&json!({"by": "1h"}));
    collect(&caller, &company, &invoice, 1).expect(201);
    caller.advance(&json!({"by": "1h"}));
    let paid = read(&caller, &invoice);
    assert_eq!((&paid["status"], &paid["amount_paid"]), (&json!("paid"), &json!(120_000)));
    assert_eq!(changed(&caller, &company, before), [-120_000, 0, 0]);
    collect(&caller, &company, &invoice, 1).refused(409, "invalid_state_transition");
    caller.audit();
}

/// Sources: Value-Added Tax Act 89 of 1991, section 22(1) (ZA): when it is written off; no rule is stated for Nigeria.
#[test]
fn the_law_of_the_country_decides_about_the_tax() {
    for (country, currency, tax, relieved) in
        [("ZA", "ZAR", 15_000, 15_000), ("NG", "NGN", 7_500, 0), ("US", "USD", 0, 0)]
    {
        let (_server, caller, company) = company_of(country);
        let invoice = sent(&caller, &company, currency, "9999999994");
        let before = books(&caller, &company);
        caller.advance(&json!({"to": "2026-02-01T08:00:00Z"}));
        let bad = write_off(&caller, &invoice).data();
        assert_eq!(bad["write_off"]["tax_relieved"], relieved, "{country}");
        let total = 100_000 + tax;
        assert_eq!(changed(&caller, &company, before), [-total, total - relieved, -relieved]);
        caller.advance(&json!({"by": "366d"}));
        assert_eq!(changed(&caller, &company, before)[1], total - relieved, "{country}");
    }
}

#[test]
fn only_the_unpaid_part_is_written_off_and_no_payment_in_progress() {
    let (_server, caller, company) = company_of("GB");
    let (half, paid) = (
        sent(&caller, &company, "GBP", "9999999993"),
        sent(&caller, &company, "GBP", "9999999900"),
    );
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    write_off(&caller, &paid).refused(409, "invalid_state_transition");
    collect(&caller, &company, &half, 100).expect(201);
    caller.advance(&json!({"by": "10s"}));
    let paying = write_off(&caller, &half).refused(409, "invalid_state_transition");
    assert!(paying["detail"].as_str().unwrap().contains("in progress"), "{paying}");
    caller.advance(&json!({"by": "1h"}));
    let before = books(&caller, &company);
    let bad = write_off(&caller, &half).data();
    assert_eq!(
        (number(&bad["write_off"]["amount"]), number(&bad["write_off"]["tax"])),
        (59_900, 9_983)
    );
    assert_eq!(changed(&caller, &company, before), [-59_900, 59_900, 0]);
    let empty = caller.post(&format!("{INVOICES}/{}/write-off", id(&half)), &json!({"reason": ""}));
    assert_eq!(pointers(&empty.refused(422, "validation_failed")), ["/reason"]);
}

/// The collection of the invoice stays open: a later payment by it is a recovery.
#[test]
fn a_transfer_after_the_write_off_is_a_recovery() {
    let (_server, caller, company) = company_of("GB");
    let invoice = sent(&caller, &company, "GBP", "9999999994");
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    let bad = write_off(&caller, &invoice).data();
    let before = books(&caller, &company);
    let transfer = json!({"company_id": company, "amount": 120_000, "reference": bad["number"]});
    caller.post("/_sandbox/inbound/bank_transfer", &transfer).expect(200);
    assert_eq!(read(&caller, &invoice)["status"], "paid");
    assert_eq!(changed(&caller, &company, before), [0, -120_000, 0]);
    // On the cash basis the debt never was revenue: the receipt is.
    let path = format!("/api/business/reports/profit-and-loss?company_id={company}");
    let cash = caller.get(&format!("{path}&from=2026-02-10&to=2026-02-10&basis=cash")).data();
    assert_eq!(cash["revenue"], json!([{"account": "sales", "amount": 120_000}]));
    caller.advance(&json!({"by": "366d"}));
    caller.audit();
}

/// A direct debit that pays the whole debt, and that the payer's bank sends back.
fn debit_and_return(caller: &Caller, company: &str, invoice: &Value, currency: &str) {
    let asked = invoice["collection_id"].as_str().unwrap();
    caller.post(&format!("/api/payments/collections/{asked}/cancel"), &json!({})).expect(200);
    let body = json!({
        "company_id": company, "amount": invoice["total"], "currency": currency,
        "method": "direct_debit", "reference": "DEBIT-1", "invoice_id": invoice["id"],
    });
    let request = caller.request("POST", "/api/payments/collections").json(&body);
    let request = request.header("sandbox-scenario", "collection.return=returned");
    caller.send(&request).expect(201);
}

/// Makes such a payment, up to the point at which the debt is paid and not yet returned.
pub(super) fn debit_until_paid(caller: &Caller, company: &str, invoice: &Value, currency: &str) {
    debit_and_return(caller, company, invoice, currency);
    caller.advance(&json!({"until": "next_event"}));
    while read(caller, invoice)["status"] != "paid" {
        caller.advance(&json!({"until": "next_event"}));
    }
}

/// Sources: Excise Tax Act, section 231 (CA), and Value Added Tax Act 1994, section 36 (GB): the tax of what is unpaid is taken back.
#[test]
fn a_recovery_that_is_returned_loses_the_debt_and_takes_its_tax_back_again() {
    let (_server, caller, company) = company_of("CA");
    let invoice = sent(&caller, &company, "CAD", "9999999994");
    let (total, tax) = (number(&invoice["total"]), number(&invoice["tax_total"]));
    let before = books(&caller, &company);
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    write_off(&caller, &invoice).expect(200);
    debit_until_paid(&caller, &company, &invoice, "CAD");
    assert_eq!(changed(&caller, &company, before), [-total, 0, 0]);
    caller.advance(&json!({"by": "14d"}));
    let lost = read(&caller, &invoice);
    assert_eq!((&lost["status"], &lost["amount_paid"]), (&json!("written_off"), &json!(0)));
    assert_eq!(number(&lost["write_off"]["tax_relieved"]), tax);
    assert_eq!(changed(&caller, &company, before), [-total, total - tax, -tax]);
    caller.audit();

    let (_server, caller, company) = company_of("GB");
    let invoice = sent(&caller, &company, "GBP", "9999999994");
    let before = books(&caller, &company);
    caller.advance(&json!({"to": "2026-02-10T08:00:00Z"}));
    write_off(&caller, &invoice).expect(200);
    debit_and_return(&caller, &company, &invoice, "GBP");
    caller.advance(&json!({"to": "2026-07-30T08:00:00Z"}));
    assert_eq!(changed(&caller, &company, before), [-120_000, 120_000, 0]);
    caller.advance(&json!({"to": "2026-08-01T08:00:00Z"}));
    assert_eq!(read(&caller, &invoice)["write_off"]["tax_relieved"], 20_000);
    assert_eq!(changed(&caller, &company, before), [-120_000, 100_000, -20_000]);
    caller.audit();
}

/// Source: VAT Notice 700/18, 2.2: six months after the later of the due date and the date of supply.
#[test]
fn the_tax_of_an_invoice_that_is_sent_after_its_due_date_waits_from_the_supply() {
    let (_server, caller, company) = company_of("GB");
    let body = json!({
        "company_id": company, "currency": "GBP", "due_date": "2026-01-02",
        "customer": {"name": "Harbour Foods Ltd", "email": "a@harbour.example.com", "account_number": "9999999994"},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 100_000}],
    });
    let invoice = caller.post(INVOICES, &body).made();
    caller.advance(&json!({"to": "2026-03-02T08:00:00Z"}));
    caller.post(&format!("{INVOICES}/{}/send", id(&invoice)), &json!({})).expect(200);
    caller.advance(&json!({"by": "1d"}));
    let bad = write_off(&caller, &invoice).data();
    assert_eq!(bad["write_off"]["tax_relief_on"], "2026-09-02");
}

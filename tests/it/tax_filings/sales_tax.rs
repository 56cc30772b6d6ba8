//! Tax on sales, and taxes of runs that fail.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{FILINGS, owed, submit, wallet};
use crate::harness::Caller;
use crate::harness::server::Server;
use crate::harness::world::{id, number};

/// A British company in a world with a manual clock.
fn british() -> (Arc<Server>, Caller, String) {
    let flags = ["--seed", "42", "--clock", "manual", "--countries", "GB", "--companies", "1"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::of(&server);
    let company = caller.company(0);
    (server, caller, company)
}

fn prepare(caller: &Caller, company: &str, tax_type: &str, period: &str) -> Value {
    let body = json!({
        "company_id": company, "tax_type": tax_type, "period": period, "jurisdiction": "GB",
    });
    caller.post(FILINGS, &body).expect(201)["data"].take()
}

/// Sends an invoice of 1,000.00 and the standard tax.
fn sell(caller: &Caller, company: &str) -> Value {
    let body = json!({
        "company_id": company, "currency": "GBP", "due_date": "2026-12-31",
        "customer": {"name": "Harbour Foods Ltd", "email": "accounts@harbour.example.com"},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 100_000}],
    });
    let invoice = caller.post("/api/payments/invoices", &body).expect(201)["data"].take();
    caller.post(&format!("/api/payments/invoices/{}/send", id(&invoice)), &json!({})).expect(200)
}

fn liabilities(caller: &Caller, company: &str, authority: &str) -> Vec<Value> {
    let path = "/api/business/tax-liabilities";
    caller.all(&format!("{path}?company_id={company}&authority={authority}"))
}

/// Value Added Tax Regulations 1995, regulation 25: a return declares the tax of its quarter.
#[test]
fn tax_on_sales_is_declared_and_paid_by_quarter() {
    let (_server, caller, company) = british();
    let before = owed(&caller, &company, "tax_payable:vat");
    sell(&caller, &company);
    sell(&caller, &company);
    let [first] = &liabilities(&caller, &company, "vat")[..] else { panic!("one row a quarter") };
    assert_eq!(first["amount"], 40_000);
    assert_eq!(first["payroll_run_id"], Value::Null);
    assert_eq!((&first["period"], &first["due_on"]), (&json!("2026-03"), &json!("2026-05-07")));
    assert_eq!(owed(&caller, &company, "tax_payable:vat") - before, 40_000);

    caller.advance(&json!({"to": "2026-04-01T08:00:00Z"}));
    sell(&caller, &company);
    let rows = liabilities(&caller, &company, "vat");
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[1]["period"], &rows[1]["amount"]), (&json!("2026-06"), &json!(20_000)));

    let filing = prepare(&caller, &company, "vat", "2026-01");
    assert_eq!(filing["form"], "VAT100");
    assert_eq!((&filing["amount"], &filing["period"]), (&json!(40_000), &json!("2026-03")));
    assert_eq!(filing["tax_liability_ids"], json!([first["id"]]));
    submit(&caller, &filing).expect(202);
    assert_eq!(owed(&caller, &company, "tax_payable:vat") - before, 20_000);
    assert_eq!(liabilities(&caller, &company, "vat")[0]["status"], "paid");

    // The next quarter is not part of it, and becomes late on its own day.
    caller.advance(&json!({"to": "2026-08-09T00:00:00Z"}));
    assert_eq!(liabilities(&caller, &company, "vat")[1]["status"], "late");
}

/// Value Added Tax Regulations 1995, regulation 25 (GB), and Value-Added Tax Act 89 of 1991, section 28 (ZA): a return is made after the end of its
/// period. The service of HM Revenue & Customs answers `TAX_PERIOD_NOT_ENDED`.
#[test]
fn a_return_of_tax_on_sales_is_refused_until_its_period_is_over() {
    let (_server, caller, company) = british();
    sell(&caller, &company);
    let filing = prepare(&caller, &company, "vat", "2026-02");
    let digest = caller.digest();
    let refusal = submit(&caller, &filing).refused(409, "invalid_state_transition");
    let detail = refusal["detail"].as_str().unwrap();
    assert!(detail.contains("2026-03-31") && detail.contains("2026-01-01"), "{detail}");
    assert_eq!(caller.digest(), digest);
    caller.advance(&json!({"to": "2026-03-31T23:59:59Z"}));
    submit(&caller, &filing).refused(409, "invalid_state_transition");
    caller.advance(&json!({"by": "1s"}));
    submit(&caller, &filing).expect(202);

    // The return of the history that South Africa's period of December and January leaves open.
    let caller = Caller::of(&Arc::new(Server::start(&[
        "--clock",
        "manual",
        "--countries",
        "ZA",
        "--companies",
        "1",
    ])));
    let company = caller.company(0);
    let open = caller.all(&format!("{FILINGS}?company_id={company}&tax_type=vat&status=pending"));
    assert_eq!(open[0]["period"], "2026-01");
    submit(&caller, &open[0]).refused(409, "invalid_state_transition");
    caller.advance(&json!({"to": "2026-02-01T00:00:00Z"}));
    submit(&caller, &open[0]).expect(202);
    caller.audit();
}

/// The same laws: one return declares the whole period, even if it is prepared before the end of the period.
#[test]
fn a_prepared_return_of_tax_on_sales_takes_up_the_rest_of_its_period() {
    let (_server, caller, company) = british();
    let before = owed(&caller, &company, "tax_payable:vat");
    sell(&caller, &company);
    let filing = prepare(&caller, &company, "vat", "2026-01");
    let read = || caller.get(&format!("{FILINGS}/{}", id(&filing))).data();
    sell(&caller, &company);
    assert_eq!(
        (&read()["amount"], &read()["lines"][0]["amount"]),
        (&json!(40_000), &json!(40_000))
    );
    caller.advance(&json!({"to": "2026-03-31T08:00:00Z"}));
    sell(&caller, &company);
    buy(&caller, &company, "GBP");
    let rows = liabilities(&caller, &company, "vat");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((&rows[0]["amount"], &rows[0]["input_tax"]), (&json!(40_000), &json!(20_000)));
    assert_eq!(rows[0]["tax_filing_id"], filing["id"]);
    // There is no second return of the period.
    let again = json!({
        "company_id": company, "tax_type": "vat", "period": "2026-03", "jurisdiction": "GB",
    });
    let refusal = caller.post(FILINGS, &again).refused(422, "validation_failed");
    assert_eq!(refusal["errors"][0]["code"], "nothing_owed");
    // Sales of the next period are not part of it.
    caller.advance(&json!({"to": "2026-04-01T08:00:00Z"}));
    sell(&caller, &company);
    let sent = submit(&caller, &filing).expect(202)["data"].take();
    assert_eq!((&sent["amount"], &sent["amount_paid"]), (&json!(40_000), &json!(40_000)));
    assert_eq!(owed(&caller, &company, "tax_payable:vat") - before, 20_000);
    let next = prepare(&caller, &company, "vat", "2026-04");
    assert_eq!((&next["period"], &next["amount"]), (&json!("2026-06"), &json!(20_000)));
    caller.audit();
}

/// South Africa's period of December and January begins in the history, whose return is pending.
#[test]
fn a_return_of_the_history_takes_up_the_rest_of_its_period() {
    let flags = ["--clock", "manual", "--countries", "ZA", "--companies", "1"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::of(&server);
    let company = caller.company(0);
    let path = format!("{FILINGS}?company_id={company}&tax_type=vat&period=2026-01");
    let [before] = &caller.all(&path)[..] else { panic!("one return") };
    let body = json!({
        "company_id": company, "currency": "ZAR", "due_date": "2026-12-31",
        "customer": {"name": "Harbour Foods Ltd", "email": "accounts@harbour.example.com"},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 100_000, "tax_rate": 1_500}],
    });
    let mut ids = Vec::new();
    for taxes in 1..=2 {
        let invoice = caller.post("/api/payments/invoices", &body).made();
        let send = format!("/api/payments/invoices/{}/send", id(&invoice));
        caller.post(&send, &json!({})).expect(200);
        let [after] = &caller.all(&path)[..] else { panic!("one return") };
        assert_eq!(number(&after["amount"]) - number(&before["amount"]), taxes * 15_000);
        ids = after["tax_liability_ids"].as_array().unwrap().clone();
    }
    let [liability] = &liabilities(&caller, &company, "vat")[..] else { panic!("one liability") };
    assert_eq!((&liability["id"], &liability["amount"]), (&ids[0], &json!(30_000)));
    let again = json!({
        "company_id": company, "tax_type": "vat", "period": "2026-01", "jurisdiction": "ZA",
    });
    caller.post(FILINGS, &again).refused(422, "validation_failed");
    caller.advance(&json!({"to": "2026-02-02T08:00:00Z"}));
    let sent = submit(&caller, before).expect(202)["data"].take();
    assert_eq!(number(&sent["amount"]) - number(&before["amount"]), 30_000);
    assert_eq!(liabilities(&caller, &company, "vat")[0]["status"], "paid");
    caller.audit();
}

#[test]
fn a_month_without_sales_has_no_tax_to_declare() {
    let (_server, caller, company) = british();
    sell(&caller, &company);
    let body = json!({
        "company_id": company, "tax_type": "vat", "period": "2026-04", "jurisdiction": "GB",
    });
    let refusal = caller.post(FILINGS, &body).expect(422);
    assert_eq!(refusal["errors"][0]["code"], "nothing_owed");
    assert_eq!(liabilities(&caller, &company, "vat")[0]["tax_filing_id"], Value::Null);
}

/// Regulation 38: a refund lowers the tax of the period in which it is booked.
#[test]
fn a_refund_lowers_the_tax_to_declare() {
    let (_server, caller, company) = british();
    let before = owed(&caller, &company, "tax_payable:vat");
    let invoice = sell(&caller, &company)["data"].take();
    caller.advance(&json!({"by": "10d"}));
    let target = format!("/api/payments/collections?invoice_id={}", id(&invoice));
    let collection = caller.all(&target).remove(0);
    for (amount, tax) in [(1, 0), (59_999, 10_000), (60_000, 10_000)] {
        let body = json!({"amount": amount, "reason": "Returned"});
        let target = format!("/api/payments/collections/{}/refunds", id(&collection));
        let refund = caller.post(&target, &body).expect(201)["data"].take();
        assert_eq!(refund["tax_amount"], tax);
    }
    assert_eq!(liabilities(&caller, &company, "vat")[0]["amount"], 0);
    assert_eq!(owed(&caller, &company, "tax_payable:vat"), before);
}

#[test]
fn a_refund_after_a_failed_one_corrects_the_rounding_of_the_tax() {
    let (_server, caller, company) = british();
    let before = owed(&caller, &company, "tax_payable:vat");
    let invoice = sell(&caller, &company)["data"].take();
    caller.advance(&json!({"by": "10d"}));
    let path = format!("/api/payments/collections?invoice_id={}", id(&invoice));
    let target = format!("/api/payments/collections/{}/refunds", id(&caller.all(&path)[0]));
    let refund = |amount: i64, outcome: &str| {
        let body = json!({"amount": amount, "reason": "Returned"});
        let request = caller.request("POST", &target).json(&body);
        let made = caller.send(&request.header("Sandbox-Scenario", outcome)).made();
        number(&made["tax_amount"])
    };
    // 20,000 of 120,000 are tax: 5 contain 0, and 6 contain 1.
    assert_eq!(refund(5, "refund.settle=failed"), 0);
    assert_eq!(refund(1, "refund.settle=succeeded"), 1);
    caller.advance(&json!({"by": "10d"}));
    assert_eq!(refund(5, "refund.settle=succeeded"), 0);
    assert_eq!(refund(119_994, "refund.settle=succeeded"), 19_999);
    assert_eq!(owed(&caller, &company, "tax_payable:vat"), before);
    caller.audit();
}

/// Regulation 38 and Directive 2006/112/EC, article 90: refunds return the tax in proportion, in the period of the refund, however many
/// collections paid the invoice.
#[test]
fn refunds_of_an_invoice_return_its_whole_tax_in_the_period_of_the_refund() {
    let (_server, caller, company) = british();
    let body = json!({
        "company_id": company, "currency": "GBP", "due_date": "2026-12-31",
        "customer": {"name": "Harbour Foods Ltd", "email": "accounts@harbour.example.com"},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 333}],
    });
    let invoice = caller.post("/api/payments/invoices", &body).expect(201)["data"].take();
    let send = format!("/api/payments/invoices/{}/send", id(&invoice));
    let request = caller.request("POST", &send).json(&json!({}));
    caller.send(&request.header("sandbox-scenario", "collection.pay=short")).expect(200);
    caller.advance(&json!({"by": "10d"}));
    let rest = json!({
        "company_id": company, "amount": 200, "currency": "GBP", "method": "bank_transfer",
        "invoice_id": id(&invoice), "reference": "REST-1",
        "payer": {"name": "Harbour Foods Ltd", "email": "accounts@harbour.example.com"},
    });
    caller.post("/api/payments/collections", &rest).expect(201);
    caller.advance(&json!({"to": "2026-04-02T08:00:00Z"}));
    let path = format!("/api/payments/collections?invoice_id={}", id(&invoice));
    let collections = caller.all(&path);
    assert_eq!(collections.len(), 2);
    let refund = |collection: &Value, amount: i64| {
        let path = format!("/api/payments/collections/{}/refunds", id(collection));
        let body = json!({"amount": amount, "reason": "Returned"});
        number(&caller.post(&path, &body).expect(201)["data"]["tax_amount"])
    };
    let (mut sum, mut tax) = (0, 0);
    for collection in &collections {
        let received = number(&collection["amount_received"]);
        for amount in [1, 2, received - 3] {
            sum += amount;
            tax += refund(collection, amount);
            assert_eq!(tax, sum * 67 / 400, "{sum} of 400"); // 20 % of 333 is 66.6
        }
    }
    assert_eq!((sum, tax), (400, 67));
    let rows = liabilities(&caller, &company, "vat");
    let row = |row: &Value| (row["period"].as_str().unwrap().to_owned(), number(&row["amount"]));
    let expected = [("2026-03".to_owned(), 67), ("2026-06".to_owned(), -67)];
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
}

/// A run fails after its taxes were paid. The authority keeps the money, and the next return uses it.
#[test]
fn tax_that_was_paid_for_a_failed_run_lowers_the_next_return() {
    let (_server, caller, company) = british();
    let before = owed(&caller, &company, "tax_payable:HMRC");
    let reserved = wallet(&caller, &company, "reserved");
    let unlucky = caller.payable(&company).remove(0);
    let body = json!({"company_id": company, "period": "2026-01", "employees": [unlucky]});
    let request = caller.request("POST", "/v1/payroll/run").json(&body);
    caller.send(&request.header("sandbox-scenario", "payout.settle=returned;code=R16")).expect(201);
    let runs = format!("/api/business/payroll-runs?company_id={company}&sort=-created_at");
    while caller.all(&runs)[0]["status"] != "processing" {
        caller.advance(&json!({"until": "next_event"}));
    }
    let filing = prepare(&caller, &company, "HMRC", "2026-01");
    let tax = number(&filing["amount"]);
    submit(&caller, &filing).expect(202);
    caller.advance(&json!({"by": "20d"}));
    assert_eq!(caller.all(&runs)[0]["status"], "failed");
    assert_eq!(wallet(&caller, &company, "reserved"), reserved);
    let rows = liabilities(&caller, &company, "HMRC");
    assert_eq!(rows.iter().map(|row| number(&row["amount"])).sum::<i64>(), 0, "{rows:?}");
    assert_eq!(owed(&caller, &company, "tax_payable:HMRC") - before, -tax);

    // The next return of the month declares it, and the return after that uses it.
    let less = prepare(&caller, &company, "HMRC", "2026-01");
    assert_eq!(less["amount"], -tax);
    submit(&caller, &less).expect(202);
    caller.run_payroll(&company, "2026-02");
    caller.advance(&json!({"until": "idle"}));
    let next = prepare(&caller, &company, "HMRC", "2026-02");
    let sent = submit(&caller, &next).expect(202)["data"].take();
    assert_eq!(sent["credit_used"], tax.min(number(&next["amount"])));
    assert_eq!(
        number(&sent["amount_paid"]),
        number(&next["amount"]) - number(&sent["credit_used"])
    );
    assert!(number(&sent["credit_used"]) > 0);
}

/// Each return is paid in its own currency: euros of one are no pounds of another.
#[test]
fn a_credit_in_one_currency_pays_no_return_in_another() {
    let (_server, caller, company) = british();
    let euros = json!({
        "company_id": company, "amount": 100_000, "currency": "EUR", "method": "card",
        "reference": "EURO-1",
    });
    caller.post("/api/payments/collections", &euros).expect(201);
    buy(&caller, &company, "EUR");
    sell(&caller, &company);
    caller.advance(&json!({"to": "2026-04-02T08:00:00Z"}));
    let mut returns = [(); 2].map(|()| prepare(&caller, &company, "vat", "2026-03"));
    returns.sort_by_key(|filing| number(&filing["amount"]));
    let currencies = returns.each_ref().map(|filing| filing["currency"].clone());
    assert_eq!(currencies, [json!("EUR"), json!("GBP")]);
    let sent = returns.map(|filing| submit(&caller, &filing).expect(202)["data"].take());
    let [bought, sold] = &sent;
    assert_eq!((number(&bought["amount"]), number(&bought["amount_paid"])), (-20_000, 0));
    assert_eq!((number(&sold["amount_paid"]), number(&sold["credit_used"])), (20_000, 0));
    // The surplus is repaid in euros.
    caller.advance(&json!({"by": "10d"}));
    let filed = caller.get(&format!("{FILINGS}/{}", id(bought))).data();
    assert_eq!((&filed["status"], number(&filed["amount_paid"])), (&json!("filed"), -20_000));
    caller.audit();
}

#[test]
fn a_return_of_less_than_zero_needs_no_wallet_and_its_repayment_opens_one() {
    let (_server, caller, company) = british();
    buy(&caller, &company, "EUR");
    caller.advance(&json!({"to": "2026-04-02T08:00:00Z"}));
    let filing = prepare(&caller, &company, "vat", "2026-03");
    let pounds = caller.all(&format!("/api/payments/wallets?company_id={company}")).remove(0);
    let body = json!({"declaration": "Ada Obi", "wallet_id": pounds["id"]});
    let path = format!("{FILINGS}/{}/submit", id(&filing));
    let refusal = caller.post(&path, &body).refused(422, "validation_failed");
    assert_eq!(refusal["errors"][0]["code"], "foreign_wallet");
    let sent = submit(&caller, &filing).expect(202)["data"].take();
    assert_eq!((number(&sent["amount"]), number(&sent["amount_paid"])), (-20_000, 0));
    let wallets = || caller.all(&format!("/api/payments/wallets?company_id={company}"));
    assert_eq!(wallets().len(), 1);
    caller.advance(&json!({"by": "1h"}));
    let events = caller.advance(&json!({"by": "10d"}));
    let names = ["wallet.created", "tax_filing.filed", "wallet.credited"];
    let told = events.iter().filter(|name| names.contains(&name.as_str()));
    assert_eq!(told.collect::<Vec<_>>(), names);
    let wallets = wallets();
    assert_eq!(
        (&wallets[1]["currency"], &wallets[1]["available"]),
        (&json!("EUR"), &json!(20_000))
    );
    caller.audit();
}

/// Approves a bill of 1,000.00 and the standard tax.
fn buy(caller: &Caller, company: &str, currency: &str) {
    let body = json!({
        "company_id": company, "currency": currency, "due_date": "2026-12-31",
        "vendor": {"name": "Northern Power plc"},
        "lines": [{"description": "Electricity", "quantity": 1, "unit_amount": 100_000}],
    });
    let bill = caller.post("/api/payments/bills", &body).made();
    caller.post(&format!("/api/payments/bills/{}/approve", id(&bill)), &json!({})).expect(200);
}

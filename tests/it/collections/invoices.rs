//! Invoices: drafted, sent, paid in parts or late, voided, printed.

use serde_json::{Value, json};

use super::{COLLECTIONS, INVOICES, ask, at, booked, collection, statuses, told};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::world::{id, number};

fn wanted(caller: &Caller, more: &Value) -> Value {
    let mut body = json!({
        "company_id": caller.company(0), "currency": "NGN", "due_date": "2026-02-28",
        "customer": {"id": "C-1", "name": "Harbour Foods Ltd", "email": "accounts@harbour.example.com"},
        "lines": [
            {"description": "Consulting", "quantity": 3, "unit_amount": 10_001},
            {"description": "Books", "quantity": 2, "unit_amount": 450, "tax_rate": 0},
        ],
    });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn draft(caller: &Caller, more: &Value) -> Value {
    caller.post(INVOICES, &wanted(caller, more)).made()
}

fn send(caller: &Caller, of: &Value) -> Answer {
    caller.post(&format!("{INVOICES}/{}/send", id(of)), &json!({}))
}

fn void(caller: &Caller, of: &Value) -> Answer {
    let body = json!({"reason": "Sent to the wrong customer"});
    caller.post(&format!("{INVOICES}/{}/void", id(of)), &body)
}

fn read(caller: &Caller, of: &Value) -> Value {
    caller.get(&format!("{INVOICES}/{}", id(of))).data()
}

/// A customer whose account chooses the payment.
fn from(account: &str) -> Value {
    json!({"customer": {"name": "Harbour Foods Ltd", "email": "a@harbour.example.com", "account_number": account}})
}

#[test]
fn a_draft_sums_with_tax_by_rate_and_posts_no_entry() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    // 30,003 at 7.5 % is 2,250.225, which no book can contain.
    let taxes =
        json!([{"rate": 0, "net": 900, "tax": 0}, {"rate": 750, "net": 30_003, "tax": 2_250}]);
    assert_eq!(invoice["taxes"], taxes);
    assert_eq!(
        (number(&invoice["net_total"]), number(&invoice["tax_total"]), number(&invoice["total"])),
        (30_903, 2_250, 33_153)
    );
    assert_eq!((&invoice["status"], &invoice["number"]), (&json!("draft"), &Value::Null));
    assert_eq!(booked(&caller, id(&invoice)), []);
    let british = json!({"company_id": caller.company(1), "currency": "GBP"});
    assert_eq!(draft(&caller, &british)["lines"][0]["tax_rate"], 2_000);
    let american = json!({"company_id": caller.company(2), "currency": "USD"});
    assert_eq!(draft(&caller, &american)["tax_total"], 0);
}

#[test]
fn a_sent_invoice_is_numbered_booked_collected_and_paid() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    let sent = send(&caller, &invoice).data();
    assert_eq!((&sent["status"], &sent["number"]), (&json!("open"), &json!("INV-2026-0001")));
    assert_eq!(sent["issued_on"], "2026-01-01");
    let books =
        [at("accounts_receivable", 33_153), at("sales", -30_903), at("tax_payable:vat", -2_250)];
    assert_eq!(booked(&caller, id(&invoice)), books);
    let asked = collection(&caller, &json!({"id": sent["collection_id"]}));
    assert_eq!((&asked["reference"], &asked["amount"]), (&json!("INV-2026-0001"), &json!(33_153)));
    assert_eq!((&asked["method"], &asked["invoice_id"]), (&json!("bank_transfer"), &invoice["id"]));
    assert_eq!(asked["expires_at"], "2026-04-30T00:00:00.000Z");
    caller.advance(&json!({"by": "2d"}));
    let paid = read(&caller, &invoice);
    assert_eq!(statuses(&paid), ["draft", "open", "paid"]);
    assert_eq!((&paid["amount_paid"], &paid["amount_due"]), (&json!(33_153), &json!(0)));
    let asked = id(&asked).to_owned();
    assert_eq!(
        booked(&caller, &asked),
        [at("accounts_receivable", -33_153), at("collections_in_transit", 33_153)]
    );
    assert_eq!(told(&caller, id(&invoice)), ["invoice.created", "invoice.sent", "invoice.paid"]);
    let names: Vec<Value> = caller.events().iter().map(|event| event["type"].clone()).collect();
    assert!(names.contains(&json!("journal_entry.posted")), "{names:?}");
    let refused = send(&caller, &invoice).refused(409, "invalid_state_transition");
    // A direct debit that comes back reopens it.
    let allowed = json!(["open", "partially_paid", "written_off"]);
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("paid"), &allowed));
    caller.audit();
}

#[test]
fn numbers_have_no_gaps_by_company_and_year() {
    let caller = Caller::manual();
    let sent = |more: &Value| send(&caller, &draft(&caller, more)).data()["number"].clone();
    let other = json!({"company_id": caller.company(1), "currency": "GBP"});
    assert_eq!(sent(&json!({})), "INV-2026-0001");
    let unsent = draft(&caller, &json!({}));
    void(&caller, &unsent).expect(200);
    let gone = draft(&caller, &json!({}));
    send(&caller, &gone).expect(200);
    void(&caller, &gone).expect(200);
    assert_eq!(read(&caller, &gone)["number"], "INV-2026-0002");
    assert_eq!(sent(&json!({})), "INV-2026-0003");
    assert_eq!(sent(&other), "INV-2026-0001");
    caller.advance(&json!({"to": "2027-01-05T00:00:00Z"}));
    assert_eq!(sent(&json!({"due_date": "2027-02-01"})), "INV-2027-0001");
    let history = caller.all(&format!("{INVOICES}?company_id={}", caller.company(0)));
    assert_eq!(history[47]["number"], "INV-2025-0048");
}

#[test]
fn a_number_already_used_as_a_reference_gets_a_suffix() {
    let caller = Caller::manual();
    let never = json!({"reference": "INV-2026-0001", "payer": {"account_number": "9999999994"}});
    ask(&caller, &never).expect(201);
    let invoice = draft(&caller, &json!({}));
    let sent = send(&caller, &invoice).data();
    assert_eq!((&sent["status"], &sent["number"]), (&json!("open"), &json!("INV-2026-0001")));
    let asked = collection(&caller, &json!({"id": sent["collection_id"]}));
    assert_eq!(asked["reference"], "INV-2026-0001-2");
}

#[test]
fn the_rest_of_a_short_payment_can_be_requested() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &from("9999999993"));
    send(&caller, &invoice).expect(200);
    caller.advance(&json!({"by": "6d"}));
    let part = read(&caller, &invoice);
    assert_eq!(
        (&part["status"], &part["amount_paid"], &part["amount_due"]),
        (&json!("partially_paid"), &json!(16_576), &json!(16_577))
    );
    void(&caller, &invoice).refused(409, "invalid_state_transition");
    let more = |amount: i64, reference: &str| {
        ask(
            &caller,
            &json!({"amount": amount, "invoice_id": invoice["id"], "reference": reference}),
        )
    };
    assert_eq!(pointers(&more(16_578, "A").refused(422, "validation_failed")), ["/amount"]);
    more(16_000, "A").expect(201);
    let twice = more(577, "B").refused(422, "validation_failed");
    assert_eq!(pointers(&twice), ["/invoice_id"]);
    caller.advance(&json!({"by": "1m"}));
    assert_eq!(read(&caller, &invoice)["amount_due"], 577);
    more(577, "B").expect(201);
    caller.advance(&json!({"by": "1m"}));
    assert_eq!(statuses(&read(&caller, &invoice)), ["draft", "open", "partially_paid", "paid"]);
    more(1, "C").refused(409, "invalid_state_transition");
    assert_eq!(
        told(&caller, id(&invoice))[2..],
        ["invoice.partially_paid", "invoice.partially_paid", "invoice.paid"]
    );
    caller.audit();
}

#[test]
fn a_late_customer_is_overdue_and_pays_ten_days_after_the_day() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &from("9999999990"));
    send(&caller, &invoice).expect(200);
    caller.advance(&json!({"to": "2026-02-28T23:59:59Z"}));
    assert_eq!(read(&caller, &invoice)["overdue"], false);
    let names = caller.advance(&json!({"to": "2026-03-01T00:00:00Z"}));
    assert_eq!(names, ["invoice.overdue"]);
    let late = read(&caller, &invoice);
    assert_eq!((&late["overdue"], &late["status"]), (&json!(true), &json!("open")));
    caller.advance(&json!({"to": "2026-03-10T11:00:00Z"}));
    let paid = read(&caller, &invoice);
    assert_eq!((&paid["overdue"], &paid["status"]), (&json!(false), &json!("paid")));
}

#[test]
fn an_unpaid_invoice_stays_open_when_its_collection_expires() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &from("9999999994"));
    let sent = send(&caller, &invoice).data();
    caller.advance(&json!({"to": "2026-05-01T00:00:00Z"}));
    let asked = collection(&caller, &json!({"id": sent["collection_id"]}));
    assert_eq!(asked["status"], "expired");
    let owed = read(&caller, &invoice);
    assert_eq!((&owed["overdue"], &owed["status"]), (&json!(true), &json!("open")));
    let again = json!({"amount": owed["amount_due"], "invoice_id": invoice["id"]});
    ask(&caller, &again).expect(201);
    caller.advance(&json!({"by": "1m"}));
    assert_eq!(read(&caller, &invoice)["status"], "paid");
}

#[test]
fn a_void_invoice_mirrors_its_entry_and_cancels_its_collection() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    let sent = send(&caller, &invoice).data();
    let gone = void(&caller, &invoice).data();
    assert_eq!((&gone["status"], &gone["amount_due"]), (&json!("void"), &json!(0)));
    assert_eq!(gone["status_history"][2]["reason"], "Sent to the wrong customer");
    assert_eq!(booked(&caller, id(&invoice)), []);
    let asked = collection(&caller, &json!({"id": sent["collection_id"]}));
    assert_eq!(asked["status"], "cancelled");
    caller.advance(&json!({"by": "90d"}));
    assert_eq!(read(&caller, &invoice)["overdue"], false);
    let refused = void(&caller, &invoice).refused(409, "invalid_state_transition");
    assert_eq!((&refused["current"], &refused["allowed"]), (&json!("void"), &json!([])));
    send(&caller, &invoice).refused(409, "invalid_state_transition");
    let names = ["created", "sent", "voided"].map(|name| format!("invoice.{name}"));
    assert_eq!(told(&caller, id(&invoice)), names);
    let events = caller.events();
    let about = |event: &&Value| event["data"]["object"]["source"]["id"] == invoice["id"];
    let entries = events.iter().filter(about);
    let entries = entries.map(|event| (&event["type"], &event["data"]["object"]["memo"]));
    let (posted, memos) =
        (json!("journal_entry.posted"), [json!("Invoice sent"), json!("Invoice voided")]);
    assert_eq!(entries.collect::<Vec<_>>(), memos.each_ref().map(|memo| (&posted, memo)));
    caller.audit();
}

#[test]
fn an_invoice_that_is_being_paid_cannot_be_voided() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    let sent = send(&caller, &invoice).data();
    super::moved(&caller, sent["collection_id"].as_str().unwrap(), "processing").expect(200);
    void(&caller, &invoice).refused(409, "invalid_state_transition");
    caller.advance(&json!({"by": "1m"}));
    assert_eq!(read(&caller, &invoice)["status"], "paid");
}

#[test]
fn bad_invoices_are_refused_with_every_fault() {
    let caller = Caller::manual();
    let refused = |more: &Value| {
        let answer = caller.post(INVOICES, &wanted(&caller, more));
        let problem = answer.refused(422, "validation_failed");
        pointers(&problem).join(" ")
    };
    let line = |name: &str, value: Value| {
        let mut line = json!({"description": "X", "quantity": 1, "unit_amount": 1});
        line[name] = value;
        json!({"lines": [line]})
    };
    assert_eq!(refused(&json!({"due_date": "2025-12-31"})), "/due_date");
    assert_eq!(refused(&json!({"due_date": "2037-01-01"})), "/due_date");
    assert_eq!(refused(&json!({"lines": []})), "/lines");
    assert_eq!(refused(&line("quantity", json!(0))), "/lines/0/quantity");
    assert_eq!(refused(&line("tax_rate", json!(10_001))), "/lines/0/tax_rate");
    assert_eq!(refused(&line("unit_amount", json!(0))), "/lines/0/unit_amount");
    let most = json!({"lines": [{"description": "X", "quantity": 1_000_000, "unit_amount": 1_000_000_000_000_000_i64}]});
    assert_eq!(refused(&most), "/lines");
    let taxed = json!({"lines": [{"description": "X", "quantity": 1, "unit_amount": 1_000_000_000_000_000_i64}]});
    assert_eq!(refused(&taxed), "/lines");
    let missing = wanted(&caller, &json!({"company_id": "com_0000000000000"}));
    caller.post(INVOICES, &missing).refused(404, "resource_not_found");
    for (verb, body) in [("send", json!({})), ("void", json!({"reason": "X"}))] {
        let target = format!("{INVOICES}/inv_0000000000000/{verb}");
        caller.post(&target, &body).refused(404, "resource_not_found");
    }
}

#[test]
fn a_collection_for_an_invoice_is_of_its_company_and_currency() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    let asked = |more: Value| {
        let mut body = json!({"invoice_id": invoice["id"], "amount": 1});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        ask(&caller, &body)
    };
    asked(json!({})).refused(409, "invalid_state_transition");
    send(&caller, &invoice).expect(200);
    let open = read(&caller, &invoice)["collection_id"].clone();
    caller
        .post(&format!("{COLLECTIONS}/{}/cancel", open.as_str().unwrap()), &json!({}))
        .expect(200);
    let refused = asked(json!({"currency": "USD"})).refused(422, "currency_mismatch");
    assert_eq!(pointers(&refused), ["/currency"]);
    let foreign = asked(json!({"company_id": caller.company(1), "currency": "GBP"}));
    assert_eq!(pointers(&foreign.refused(422, "validation_failed")), ["/invoice_id"]);
    asked(json!({})).expect(201);
}

#[test]
fn a_suspended_company_sends_nothing() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    super::moved(&caller, &caller.company(0), "suspended").expect(200);
    send(&caller, &invoice).refused(403, "company_suspended");
    let body = json!({"legal_name": "New Ltd", "country": "GB", "currency": "GBP"});
    let new = caller.post("/api/business/companies", &body).made();
    let pending = draft(&caller, &json!({"company_id": new["id"], "currency": "GBP"}));
    send(&caller, &pending).refused(403, "compliance_blocked");
}

#[test]
fn an_invoice_beyond_the_limit_of_the_wallet_is_refused() {
    let caller = Caller::manual();
    let most = 1_000_000_000_000_000_i64;
    let transfer = json!({"company_id": caller.company(2), "amount": most, "from": "owner"});
    while caller.post("/_sandbox/inbound/bank_transfer", &transfer).status == 200 {}
    let more = json!({"company_id": caller.company(2), "currency": "USD", "lines": [{"description": "X", "quantity": 1, "unit_amount": most}]});
    send(&caller, &draft(&caller, &more)).refused(402, "limit_exceeded");
}

#[test]
fn an_invoice_is_a_page_to_print_in_every_state() {
    let caller = Caller::manual();
    let invoice = draft(&caller, &json!({}));
    let path = format!("{INVOICES}/{}", id(&invoice));
    let page = |file: &str| {
        let request = caller.request("GET", &path).header("Accept", "application/pdf");
        let page = request.send(caller.port());
        assert_eq!(page.header("content-type"), Some("application/pdf"));
        assert!(page.body.starts_with(b"%PDF-") && page.body.trim_ascii_end().ends_with(b"%%EOF"));
        let name = page.header("content-disposition").unwrap().to_owned();
        assert!(name.contains(file), "{name}");
        page.body
    };
    let unsent = page(&format!("invoice-{}", id(&invoice)));
    send(&caller, &invoice).expect(200);
    let open = page("invoice-INV-2026-0001");
    caller.advance(&json!({"by": "6d"}));
    let paid = page("invoice-INV-2026-0001");
    assert!(unsent != open && open != paid);
    assert_eq!(paid, page("invoice-INV-2026-0001"));
    assert_eq!(caller.get(&path).data()["object"], "invoice");
}

#[test]
fn lists_of_invoices_filter_by_what_they_name() {
    let caller = Caller::manual();
    let company = caller.company(0);
    draft(&caller, &json!({"due_date": "2026-01-01"}));
    let count = |query: &str| caller.all(&format!("{INVOICES}?{query}")).len();
    assert_eq!(count(&format!("company_id={company}")), 97);
    assert_eq!(count("status=draft"), 1);
    assert_eq!(count("customer_id=C-1"), 1);
    assert_eq!(count(&format!("company_id={company}&status=draft&due_before=2026-01-02")), 1);
    assert_eq!(count(&format!("company_id={company}&status=draft&due_before=2026-01-01")), 0);
    let due = caller.all(&format!("{INVOICES}?company_id={company}&sort=due_date"));
    assert!(
        due.windows(2).all(|pair| pair[0]["due_date"].as_str() <= pair[1]["due_date"].as_str())
    );
}

use std::sync::Arc;

use serde_json::{Value, json};

use crate::accounting::{ENTRIES, available, of, report};
use crate::harness::Caller;
use crate::harness::http::{Answer, pointers};
use crate::harness::server::Server;
use crate::harness::world::{id, number};

const BILLS: &str = "/api/payments/bills";

/// A company in a world with a manual clock.
pub(super) fn company_of(country: &str) -> (Arc<Server>, Caller, String) {
    let flags = ["--seed", "42", "--clock", "manual", "--countries", country, "--companies", "1"];
    let server = Arc::new(Server::start(&flags));
    let caller = Caller::of(&server);
    let company = caller.company(0);
    (server, caller, company)
}

pub(super) fn bill(company: &str, currency: &str, lines: &Value) -> Value {
    json!({
        "company_id": company, "vendor": {"name": "Northern Power plc"}, "currency": currency,
        "lines": lines, "due_date": "2026-01-31",
    })
}

pub(super) fn draft(caller: &Caller, body: &Value) -> Value {
    caller.post(BILLS, body).expect(201)["data"].take()
}

pub(super) fn verb(caller: &Caller, bill: &Value, verb: &str, body: &Value) -> Answer {
    caller.post(&format!("{BILLS}/{}/{verb}", id(bill)), body)
}

pub(super) fn approved(caller: &Caller, body: &Value) -> Value {
    verb(caller, &draft(caller, body), "approve", &json!({})).data()
}

pub(super) fn balance(caller: &Caller, company: &str, account: &str) -> i64 {
    let accounts = caller.all(&format!("/api/business/ledger-accounts?company_id={company}"));
    let account = accounts.iter().find(|one| one["code"] == account);
    account.map_or(0, |account| number(&account["balance"]))
}

pub(super) fn wallet(caller: &Caller, company: &str) -> String {
    let wallets = caller.all(&format!("/api/payments/wallets?company_id={company}"));
    id(&wallets[0]).to_owned()
}

pub(super) fn vat(caller: &Caller, company: &str) -> Vec<Value> {
    let path = "/api/business/tax-liabilities";
    caller.all(&format!("{path}?company_id={company}&authority=vat"))
}

/// Source: IAS 1, paragraphs 27 and 28: an expense is recognised when it is incurred, not when it is paid.
#[test]
fn a_bill_is_an_expense_when_it_is_approved_and_a_payment_settles_the_debt() {
    let (_server, caller, company) = company_of("GB");
    let body = bill(
        &company,
        "GBP",
        &json!([
            {"description": "Electricity", "quantity": 2, "unit_amount": 50_000},
            {"description": "Office", "quantity": 1, "unit_amount": 30_000, "account": "rent", "tax_rate": 0},
        ]),
    );
    let january = "from=2026-01-01&to=2026-01-31";
    let profit = || report(&caller, "profit-and-loss", &company, january);
    let (before, rent, paid) = (
        of(&profit(), "expenses", "purchases"),
        of(&profit(), "expenses", "rent"),
        available(&caller, &company),
    );
    let drafted = draft(&caller, &body);
    assert_eq!((&drafted["total"], &drafted["tax_recoverable"]), (&json!(150_000), &json!(20_000)));
    let of_history = balance(&caller, &company, "accounts_payable");
    let payable = || balance(&caller, &company, "accounts_payable") - of_history;
    let bill = verb(&caller, &drafted, "approve", &json!({})).data();
    assert_eq!(bill["status"], "approved");
    assert_eq!(of(&profit(), "expenses", "purchases") - before, 100_000);
    assert_eq!(of(&profit(), "expenses", "rent") - rent, 30_000);
    assert_eq!(payable(), 150_000);
    assert_eq!(balance(&caller, &company, "vat_recoverable"), 20_000);
    // Paid in two parts; no more than is due.
    let wallet = wallet(&caller, &company);
    let pay =
        |amount: i64| verb(&caller, &bill, "pay", &json!({"wallet_id": wallet, "amount": amount}));
    let part = pay(50_000).data();
    assert_eq!((&part["status"], &part["amount_due"]), (&json!("partially_paid"), &json!(100_000)));
    assert_eq!(pointers(&pay(100_001).refused(422, "validation_failed")), ["/amount"]);
    verb(&caller, &bill, "void", &json!({"reason": "Late"}))
        .refused(409, "invalid_state_transition");
    assert_eq!(pay(100_000).data()["status"], "paid");
    pay(1).refused(409, "invalid_state_transition");
    assert_eq!(payable(), 0);
    assert_eq!(available(&caller, &company), paid - 150_000);
    assert_eq!(of(&profit(), "expenses", "purchases") - before, 100_000);
    caller.audit();
}

#[test]
fn a_bill_needs_money_a_wallet_of_its_currency_and_valid_members() {
    let (_server, caller, company) = company_of("GB");
    let lines = json!([{"description": "A factory", "quantity": 1, "unit_amount": 800_000_000_000_000_i64}]);
    let huge = approved(&caller, &bill(&company, "GBP", &lines));
    let euros = approved(
        &caller,
        &bill(&company, "EUR", &json!([{"description": "Ink", "quantity": 1, "unit_amount": 100}])),
    );
    let wallet = wallet(&caller, &company);
    let before = caller.digest();
    let pay = |bill: &Value| verb(&caller, bill, "pay", &json!({"wallet_id": wallet}));
    pay(&huge).refused(402, "insufficient_funds");
    pay(&euros).refused(422, "currency_mismatch");
    let spoiled = |member: &str, value: Value| {
        let mut body = bill(
            &company,
            "GBP",
            &json!([{"description": "Ink", "quantity": 1, "unit_amount": 100}]),
        );
        match body.pointer_mut(member) {
            Some(known) => *known = value,
            None => body[&member[1..]] = value,
        }
        let problem = caller.post(BILLS, &body).refused(422, "validation_failed");
        pointers(&problem).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(spoiled("/lines/0/quantity", json!(0)), ["/lines/0/quantity"]);
    assert_eq!(spoiled("/lines", json!([])), ["/lines"]);
    assert_eq!(spoiled("/vendor", json!({})), ["/vendor/name"]);
    assert_eq!(spoiled("/issued_on", json!("2026-01-02")), ["/issued_on"]);
    assert_eq!(spoiled("/issued_on", json!("2024-12-31")), ["/issued_on"]);
    assert_eq!(spoiled("/due_date", json!("2025-12-31")), ["/due_date"]);
    assert_eq!(spoiled("/colour", json!("red")), ["/colour"]);
    let sales =
        json!([{"description": "Ink", "quantity": 1, "unit_amount": 1, "account": "sales"}]);
    assert_eq!(spoiled("/lines", sales), ["/lines/0/account"]);
    let much =
        json!([{"description": "Ink", "quantity": 1_000_000, "unit_amount": 999_999_999_999_i64}]);
    assert_eq!(spoiled("/lines", much), ["/lines"]);
    assert_eq!(caller.digest(), before);
}

#[test]
fn a_bill_is_refused_in_a_wrong_state_and_by_a_company_that_may_not_pay() {
    let (_server, caller, company) = company_of("GB");
    let ink = |amount: i64| json!([{"description": "Ink", "quantity": 1, "unit_amount": amount, "tax_rate": 0}]);
    let bill_of = |company: &str, amount: i64| draft(&caller, &bill(company, "GBP", &ink(amount)));
    let small = bill_of(&company, 100);
    verb(&caller, &small, "approve", &json!({})).expect(200);
    verb(&caller, &small, "approve", &json!({})).refused(409, "invalid_state_transition");
    let newcomer = json!({"legal_name": "Ink Ltd", "country": "GB", "currency": "GBP"});
    let newcomer = caller.post("/api/business/companies", &newcomer).expect(201)["data"].take();
    let owed = bill_of(id(&newcomer), 100);
    verb(&caller, &owed, "approve", &json!({})).expect(200);
    let of_newcomer = json!({"wallet_id": wallet(&caller, id(&newcomer))});
    verb(&caller, &owed, "pay", &of_newcomer).refused(403, "compliance_blocked");
    let huge = bill_of(&company, 1_000_000_000_000_000);
    let deposit =
        json!({"company_id": company, "amount": 1_000_000_000_000_000_i64, "from": "owner"});
    for _ in 0..9 {
        caller.post("/_sandbox/inbound/bank_transfer", &deposit);
    }
    verb(&caller, &huge, "approve", &json!({})).refused(402, "limit_exceeded");
    let path = format!("/_sandbox/resources/{company}/transition");
    caller.post(&path, &json!({"to": "suspended"})).expect(200);
    let pay = json!({"wallet_id": wallet(&caller, &company)});
    verb(&caller, &small, "pay", &pay).refused(403, "company_suspended");
}

/// A bill is dated on its own day, which must be open when it is approved.
#[test]
fn a_grown_bill_that_is_paid_in_part_becomes_overdue() {
    let (_server, caller, company) = company_of("GB");
    let open = caller.all(&format!("{BILLS}?company_id={company}&status=approved&overdue=false"));
    let due = |bill: &&Value| bill["due_date"].as_str().unwrap() > "2026-01-03";
    let bill = open.iter().find(due).expect("a bill that is due later");
    let body = json!({"wallet_id": wallet(&caller, &company), "amount": 5});
    verb(&caller, bill, "pay", &body).expect(200);
    let events = caller.advance(&json!({"by": "60d"}));
    let late = caller.get(&format!("{BILLS}/{}", id(bill))).data();
    assert_eq!((&late["status"], &late["overdue"]), (&json!("partially_paid"), &json!(true)));
    assert!(events.iter().any(|name| name == "bill.overdue"), "{events:?}");
}

#[test]
fn a_bill_of_a_closed_month_cannot_be_approved() {
    let (_server, caller, company) = company_of("GB");
    let mut body =
        bill(&company, "GBP", &json!([{"description": "Ink", "quantity": 1, "unit_amount": 100}]));
    body["issued_on"] = json!("2025-12-30");
    let late = draft(&caller, &body);
    let periods = "/api/business/accounting-periods";
    let month = caller.post(periods, &json!({"company_id": company, "period": "2025-12"}));
    let month = month.expect(201)["data"].take();
    let before = caller.digest();
    verb(&caller, &late, "approve", &json!({})).refused(409, "accounting_period_closed");
    assert_eq!(caller.digest(), before);
    caller
        .post(&format!("{periods}/{}/reopen", id(&month)), &json!({"reason": "A bill"}))
        .expect(200);
    verb(&caller, &late, "approve", &json!({})).expect(200);
    let entries = caller.all(&format!("{ENTRIES}?company_id={company}&source_id={}", id(&late)));
    assert_eq!(entries[0]["effective_on"], "2025-12-30");
}

/// Sources: Directive 2006/112/EC, article 168; Value Added Tax Act 1994, section 25: output tax less input tax.
#[test]
fn a_return_declares_tax_on_sales_less_tax_on_purchases() {
    let (_server, caller, company) = company_of("GB");
    let before = balance(&caller, &company, "tax_payable:vat");
    let sale = json!({
        "company_id": company, "currency": "GBP", "due_date": "2026-12-31",
        "customer": {"name": "Harbour Foods Ltd", "email": "accounts@harbour.example.com"},
        "lines": [{"description": "Consulting", "quantity": 1, "unit_amount": 100_000}],
    });
    let invoice = caller.post("/api/payments/invoices", &sale).expect(201)["data"].take();
    caller.post(&format!("/api/payments/invoices/{}/send", id(&invoice)), &json!({})).expect(200);
    let ink = |amount: i64| json!([{"description": "Ink", "quantity": 1, "unit_amount": amount}]);
    approved(&caller, &bill(&company, "GBP", &ink(40_000)));
    let void = approved(&caller, &bill(&company, "GBP", &ink(10_000)));
    assert_eq!(vat(&caller, &company)[0]["amount"], 10_000);
    verb(&caller, &void, "void", &json!({"reason": "Returned"})).expect(200);
    let [liability] = &vat(&caller, &company)[..] else { panic!("one row a quarter") };
    assert_eq!((&liability["amount"], &liability["input_tax"]), (&json!(12_000), &json!(8_000)));
    assert_eq!(balance(&caller, &company, "vat_recoverable"), 8_000);

    let file = |period: &str| {
        let body = json!({
            "company_id": company, "tax_type": "vat", "period": period, "jurisdiction": "GB",
        });
        let filings = "/api/business/tax-filings";
        let filing = caller.post(filings, &body).expect(201)["data"].take();
        let path = format!("{filings}/{}/submit", id(&filing));
        caller.post(&path, &json!({"declaration": "Ada Lovelace"})).expect(202)["data"].take()
    };
    caller.advance(&json!({"to": "2026-04-02T08:00:00Z"}));
    let money = available(&caller, &company);
    let filing = file("2026-01");
    assert_eq!((&filing["amount"], &filing["amount_paid"]), (&json!(12_000), &json!(12_000)));
    assert_eq!(money - available(&caller, &company), 12_000);
    assert_eq!(balance(&caller, &company, "tax_payable:vat"), before);
    assert_eq!(balance(&caller, &company, "vat_recoverable"), 0);

    caller.audit();
}

/// Sources: Value Added Tax Act 1994, section 25(3); Value-Added Tax Act 89 of 1991, section 44(1); Excise Tax Act, section 228(3): the authority pays
/// tax on purchases beyond the tax on sales. Value Added Tax Act, 2013 (Kenya), section 17(5), and Nigeria: the next return uses it.
#[test]
fn tax_on_purchases_beyond_that_on_sales_is_repaid_or_used_by_the_next_return() {
    for (country, currency, is_repaid) in [
        ("GB", "GBP", true),
        ("ZA", "ZAR", true),
        ("CA", "CAD", true),
        ("KE", "KES", false),
        ("NG", "NGN", false),
    ] {
        let (_server, caller, company) = company_of(country);
        // The pending return of the history covers January, too, in South Africa.
        caller.advance(&json!({"to": "2026-02-02T08:00:00Z"}));
        let before = balance(&caller, &company, "tax_payable:vat");
        let ink = json!([{"description": "Ink", "quantity": 1, "unit_amount": 200_000}]);
        let mut ink = bill(&company, currency, &ink);
        ink["due_date"] = json!("2026-12-31");
        approved(&caller, &ink);
        let mut open = vat(&caller, &company);
        let liability = open.remove(open.len() - 1);
        let amount = number(&liability["amount"]);
        assert!(amount < 0, "{liability}");
        let day = liability["due_on"].as_str().unwrap();
        caller.advance(&json!({"to": format!("{day}T08:00:00Z")}));
        let filings = "/api/business/tax-filings";
        let body = json!({
            "company_id": company, "tax_type": "vat", "period": liability["period"], "jurisdiction": country,
        });
        let filing = caller.post(filings, &body).expect(201)["data"].take();
        let path = format!("{filings}/{}", id(&filing));
        let submit = format!("{path}/submit");
        let sent = caller.post(&submit, &json!({"declaration": "Ada Lovelace"})).expect(202);
        assert_eq!(sent["data"]["amount_paid"], 0, "the authority has not answered");
        assert_eq!(balance(&caller, &company, "tax_payable:vat"), before + amount);
        caller.advance(&json!({"by": "7d"}));
        let filed = caller.get(&path).data();
        let repaid = if is_repaid { amount } else { 0 };
        assert_eq!((&filed["status"], &filed["amount_paid"]), (&json!("filed"), &json!(repaid)));
        assert_eq!(balance(&caller, &company, "tax_payable:vat"), before + amount - repaid);
        let entries =
            caller.all(&format!("{ENTRIES}?company_id={company}&source_id={}", id(&filing)));
        let memo = |entry: &Value| entry["memo"] == "Filing repaid";
        assert_eq!(entries.iter().filter(|entry| memo(entry)).count(), usize::from(is_repaid));
        let events = caller.events();
        let of_filing = |event: &Value| event["type"] == "tax_filing.filed";
        let place = events.iter().position(of_filing).expect("the authority answered");
        let next = events.get(place + 1);
        let credited = next.is_some_and(|event| event["type"] == "wallet.credited");
        assert_eq!(credited, is_repaid, "{country}");
        caller.audit();
    }
}

/// Source: IAS 2, paragraph 11: a tax that the company cannot recover is part of the cost. The United States have no federal sales tax.
#[test]
fn tax_is_an_expense_where_no_return_deducts_it() {
    let (_server, caller, company) = company_of("US");
    let lines =
        json!([{"description": "Ink", "quantity": 1, "unit_amount": 10_000, "tax_rate": 800}]);
    let january = "from=2026-01-01&to=2026-01-31";
    let purchases =
        || of(&report(&caller, "profit-and-loss", &company, january), "expenses", "purchases");
    let before = purchases();
    let bill = approved(&caller, &bill(&company, "USD", &lines));
    assert_eq!((&bill["total"], &bill["tax_recoverable"]), (&json!(10_800), &json!(0)));
    assert_eq!(purchases() - before, 10_800);
    assert_eq!(balance(&caller, &company, "vat_recoverable"), 0);
    assert!(vat(&caller, &company).is_empty());
    caller.audit();
}

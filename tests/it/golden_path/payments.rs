//! Incoming, outgoing, held, converted and reconciled money; then the reports, which show every minor unit.

use serde_json::{Value, json};

use super::{Path, twice};
use crate::harness::world::{id, number};

const PAYMENTS: &str = "/api/payments";

fn walk() -> Path {
    let mut path = Path::begin();
    let company = path.company();
    let of = format!("company_id={}", id(&company));
    let wallets = path.get(&format!("{PAYMENTS}/wallets?{of}"));
    let wallet = id(&wallets[0]).to_owned();
    let invoiced = invoice(&mut path, &company);
    let lost = collect(&mut path, &company);
    let paid = pay(&mut path, &company, &wallet);
    let converted = convert(&mut path, &company, &wallet);
    reconcile(&mut path, &company, &wallet);
    let spent = reports(&mut path, &of);
    assert_eq!(spent("sales"), invoiced + 400_000 - 100_000, "less the refund");
    assert_eq!(spent("chargeback_losses"), lost);
    assert_eq!(spent("purchases"), paid);
    assert!(spent("fees") > converted, "the platform fees, and the spread");
    path.caller.audit();
    path
}

/// An invoice is sent and paid: returns its income without tax.
fn invoice(path: &mut Path, company: &Value) -> i64 {
    let invoice = json!({
        "company_id": company["id"], "customer": {"name": "Harbour Foods", "email": "pay@harbour.example"},
        "currency": "NGN", "due_date": "2026-02-15",
        "lines": [{"description": "Bread, January", "quantity": 12, "unit_amount": 250_000}],
    });
    let invoice = path.post(201, &format!("{PAYMENTS}/invoices"), &invoice);
    let at = format!("{PAYMENTS}/invoices/{}", id(&invoice));
    let sent = path.post(200, &format!("{at}/send"), &json!({}));
    assert_eq!((&sent["status"], &sent["number"]), (&json!("open"), &json!("INV-2026-0001")));
    path.advance("5d");
    let invoice = path.get(&at);
    assert_eq!((&invoice["status"], &invoice["amount_due"]), (&json!("paid"), &json!(0)));
    number(&invoice["net_total"])
}

/// A card pays and is partly refunded; another payment is charged back: returns the loss.
fn collect(path: &mut Path, company: &Value) -> i64 {
    let mut card = |reference: &str, amount: i64| {
        let collection = json!({
            "company_id": company["id"], "amount": amount, "currency": "NGN", "method": "card",
            "reference": reference, "payer": {"name": "Ngozi Eze"},
        });
        let collection = path.post(201, &format!("{PAYMENTS}/collections"), &collection);
        path.advance("4d");
        let at = format!("{PAYMENTS}/collections/{}", id(&collection));
        assert_eq!(path.get(&at)["status"], "settled");
        id(&collection).to_owned()
    };
    let (first, second) = (card("ORDER-1", 300_000), card("ORDER-2", 100_000));
    let refund = json!({"amount": 100_000, "reason": "One loaf too many"});
    let refund = path.post(201, &format!("{PAYMENTS}/collections/{first}/refunds"), &refund);
    let back = json!({"collection": second, "reason": "Not delivered"});
    path.post(200, "/_sandbox/inbound/chargeback", &back);
    path.advance("8d");
    let refund = path.get(&format!("{PAYMENTS}/refunds/{}", id(&refund)));
    assert_eq!(refund["status"], "succeeded");
    let disputes = path.get(&format!("{PAYMENTS}/disputes?company_id={}", id(company)));
    assert_eq!(disputes[0]["status"], "lost", "no answer came");
    100_000
}

/// A supplier is paid by payout and from an escrow: returns the purchases.
fn pay(path: &mut Path, company: &Value, wallet: &str) -> i64 {
    let payee = json!({
        "company_id": company["id"], "name": "Adaeze Supplies Ltd", "type": "business",
        "account": {"bank_code": "058", "account_number": "9999999900", "country": "NG", "currency": "NGN"},
    });
    let payee = path.post(201, &format!("{PAYMENTS}/beneficiaries"), &payee);
    path.advance("1m");
    let payout = json!({
        "company_id": company["id"], "wallet_id": wallet, "beneficiary_id": payee["id"], "amount": 700_000,
        "currency": "NGN", "rail": "standard", "reference": "Flour",
    });
    let payout = path.post(201, &format!("{PAYMENTS}/payouts"), &payout);
    let escrow = json!({
        "company_id": company["id"], "buyer_wallet_id": wallet, "seller_beneficiary_id": payee["id"],
        "amount": 900_000, "currency": "NGN",
        "milestones": [{"name": "Oven ordered", "amount": 300_000}, {"name": "Oven works", "amount": 600_000}],
    });
    let escrow = path.post(201, &format!("{PAYMENTS}/escrows"), &escrow);
    let at = format!("{PAYMENTS}/escrows/{}", id(&escrow));
    path.post(200, &format!("{at}/fund"), &json!({}));
    let first = json!({"milestone_id": escrow["milestones"][0]["id"]});
    let escrow = path.post(200, &format!("{at}/release"), &first);
    assert_eq!(escrow["status"], "partially_released");
    let rest = json!({"amount": 600_000, "reason": "The oven never came"});
    path.post(200, &format!("{at}/refund"), &rest);
    path.advance("7d");
    let payout = path.get(&format!("{PAYMENTS}/payouts/{}", id(&payout)));
    assert_eq!(payout["status"], "paid");
    700_000 + 300_000
}

/// Naira are converted to pounds: returns the spread.
fn convert(path: &mut Path, company: &Value, wallet: &str) -> i64 {
    let quote = json!({
        "company_id": company["id"], "source_currency": "NGN", "target_currency": "GBP", "source_amount": 50_000_000,
    });
    let quote = path.post(201, &format!("{PAYMENTS}/fx-quotes"), &quote);
    let transfer = json!({"quote_id": quote["id"], "source_wallet_id": wallet});
    let transfer = path.post(201, &format!("{PAYMENTS}/fx-transfers"), &transfer);
    path.advance("2m");
    let transfer = path.get(&format!("{PAYMENTS}/fx-transfers/{}", id(&transfer)));
    assert_eq!(transfer["status"], "completed");
    let pounds = path.get(&format!("{PAYMENTS}/wallets?company_id={}&currency=GBP", id(company)));
    assert_eq!(pounds[0]["available"], transfer["target_amount"]);
    number(&transfer["fee_amount"])
}

/// The bank's statement is imported, and every movement is matched or explained.
fn reconcile(path: &mut Path, company: &Value, wallet: &str) {
    let span = json!({
        "company_id": company["id"], "wallet_id": wallet, "from": "2026-01-01", "to": "2026-01-28",
    });
    let statement = path.post(202, &format!("{PAYMENTS}/bank-statements"), &span);
    path.advance("10s");
    let matches = path.get(&format!(
        "{PAYMENTS}/reconciliation-matches?statement_id={}&per_page=100",
        id(&statement)
    ));
    let is_matched = |one: &&Value| one["status"] == "matched";
    assert!(matches.as_array().unwrap().iter().filter(is_matched).count() >= 4, "{matches}");
}

/// The reports agree with one another. Returns the amount of an account in profit and loss.
fn reports(path: &mut Path, of: &str) -> impl Fn(&str) -> i64 + use<> {
    let at = "/api/business/reports";
    let profit = path.get(&format!("{at}/profit-and-loss?{of}&from=2026-01-01&to=2026-03-31"));
    let sheet = path.get(&format!("{at}/balance-sheet?{of}&as_of=2026-03-31"));
    let cash = path.get(&format!("{at}/cash-flow?{of}&from=2026-01-01&to=2026-03-31"));
    path.get(&format!("{at}/trial-balance?{of}&as_of=2026-03-31"));
    assert_eq!(
        number(&sheet["total_assets"]),
        number(&sheet["total_liabilities"]) + number(&sheet["total_equity"])
    );
    assert_eq!(sheet["current_earnings"], profit["net_profit"]);
    assert!(!cash["closing_balance"].is_null() || cash.is_object());
    move |account| {
        let rows = [&profit["revenue"], &profit["expenses"]];
        let mut rows = rows.into_iter().flat_map(|rows| rows.as_array().unwrap());
        let row = rows.find(|row| row["account"] == account);
        row.map_or(0, |row| number(&row["amount"]))
    }
}

#[test]
fn the_golden_path_through_payments_leads_into_reports_twice_in_the_same_bytes() {
    twice(walk);
}

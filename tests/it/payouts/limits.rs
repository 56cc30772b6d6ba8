//! The largest amount of one payment on a rail (`fixtures/rails.toml`).

use serde_json::json;

use super::{BENEFICIARIES, PAYOUTS, wallet};
use crate::harness::Caller;
use crate::harness::http::pointers;
use crate::harness::server::Server;
use crate::harness::world::{id, number};

/// Sources: `fixtures/rails.toml`: Faster Payments 1,000,000 GBP; RTP 10,000,000 USD; Same Day ACH 1,000,000 USD; South African EFT and RTC
/// 5,000,000 ZAR; `PesaLink` 999,999 KES. Bacs, CHAPS and ACH of the next day have no limit here.
#[test]
fn a_payout_above_the_limit_of_its_rail_is_refused() {
    for (country, currency, bank_code, rows) in [
        (
            "GB",
            "GBP",
            "040004",
            &[
                ("instant", "gb_faster_payments", Some(100_000_000)),
                ("same_day", "gb_chaps", None),
                ("standard", "gb_bacs_credit", None),
            ][..],
        ),
        (
            "US",
            "USD",
            "021000021",
            &[
                ("instant", "us_rtp", Some(1_000_000_000)),
                ("same_day", "us_ach_credit", Some(100_000_000)),
                ("standard", "us_ach_credit", None),
            ],
        ),
        (
            "ZA",
            "ZAR",
            "632005",
            &[
                ("instant", "za_rtc", Some(500_000_000)),
                ("standard", "za_eft_credit", Some(500_000_000)),
            ],
        ),
        ("KE", "KES", "01", &[("instant", "ke_pesalink", Some(99_999_900))]),
    ] {
        let flags =
            ["--seed", "42", "--clock", "manual", "--countries", country, "--companies", "1"];
        let server = std::sync::Arc::new(Server::start(&flags));
        let caller = Caller::of(&server);
        let company = caller.company(0);
        let deposit = json!({"company_id": company, "amount": 10_000_000_000_i64, "from": "owner"});
        caller.post("/_sandbox/inbound/bank_transfer", &deposit).expect(200);
        let account = json!({"bank_code": bank_code, "account_number": "9999999900", "country": country, "currency": currency});
        let payee = json!({"company_id": company, "name": "Ann Lee", "type": "individual", "account": account});
        let payee = caller.post(BENEFICIARIES, &payee).made();
        caller.advance(&json!({"by": "30s"}));
        for &(speed, rail, limit) in rows {
            let pay = |amount: i64| {
                let body = json!({
                    "company_id": company, "wallet_id": wallet(&caller, &company), "beneficiary_id": id(&payee),
                    "amount": amount, "currency": currency, "rail": speed, "reference": "Limit",
                });
                caller.post(PAYOUTS, &body)
            };
            let within = limit.unwrap_or(2_000_000_000);
            let made = pay(within).made();
            assert_eq!((&made["payment_rail"], number(&made["amount"])), (&json!(rail), within));
            if let Some(limit) = limit {
                let before = caller.digest();
                let refused = pay(limit + 1).refused(422, "validation_failed");
                assert_eq!(pointers(&refused), ["/amount"], "{rail}");
                assert_eq!(refused["errors"][0]["code"], "beyond_rail_limit");
                assert!(
                    refused["errors"][0]["detail"].as_str().unwrap().contains(rail),
                    "{refused}"
                );
                assert_eq!(caller.digest(), before);
            }
        }
    }
}

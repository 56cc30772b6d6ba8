//! Steps of a walk that need several matching resources: a beneficiary in the wallet's currency, a funded
//! escrow, an open quote. Bodies from the
//! document alone seldom match.

use serde_json::{Value, json};

use super::walk::Walk;
use crate::harness::world::id;

/// The resources of a walk that can send or receive money.
#[derive(Default)]
pub(super) struct Spending {
    wallets: Vec<Value>,
    payees: Vec<Value>,
    payouts: Vec<Value>,
    escrows: Vec<Value>,
    collections: Vec<Value>,
    disputes: Vec<Value>,
}

impl Spending {
    /// Learns the resources of an answer.
    pub(super) fn learn(&mut self, value: &Value) {
        match value {
            Value::Array(rows) => rows.iter().for_each(|row| self.learn(row)),
            Value::Object(members) => {
                let list = match value["object"].as_str() {
                    Some("wallet") => Some(&mut self.wallets),
                    Some("beneficiary") => Some(&mut self.payees),
                    Some("payout") => Some(&mut self.payouts),
                    Some("escrow") => Some(&mut self.escrows),
                    Some("collection") => Some(&mut self.collections),
                    Some("dispute") => Some(&mut self.disputes),
                    _ => None,
                };
                if let Some(list) = list {
                    list.retain(|known| known["id"] != value["id"]);
                    list.push(value.clone());
                } else if members.contains_key("data") {
                    self.learn(&value["data"]["object"]);
                }
            }
            _ => {}
        }
    }
}

const PAYMENTS: &str = "/api/payments";

impl Walk<'_> {
    /// One use of money.
    pub(super) fn spend(&mut self) {
        let scenes = [
            Self::add_payee,
            Self::pay_payee,
            Self::pay_payee,
            Self::open_escrow,
            Self::move_escrow,
            Self::move_escrow,
            Self::convert,
            Self::convert,
            Self::stop_payout,
            Self::charge_back,
            Self::answer_dispute,
        ];
        let scene = *self.chance.pick(&scenes);
        // None if a needed resource is missing.
        let _ = scene(self);
    }

    fn one_of(&mut self, list: fn(&Spending) -> &Vec<Value>) -> Option<Value> {
        let all = list(&self.spending);
        if all.is_empty() {
            return None;
        }
        let lately = all.len().min(12);
        let place = all.len() - 1 - self.chance.below(lately);
        Some(list(&self.spending)[place].clone())
    }

    fn add_payee(&mut self) -> Option<()> {
        let wallet = self.one_of(|known| &known.wallets)?;
        let fate = *self.chance.pick(&["00", "00", "00", "02", "91", "92", "99"]);
        let body = json!({
            "company_id": wallet["company_id"], "name": "Adaeze Supplies", "type": "business",
            "account": {"bank_code": "058", "account_number": format!("99999999{fate}"), "country": "NG",
                "currency": wallet["currency"]},
        });
        self.post("createBeneficiary", &format!("{PAYMENTS}/beneficiaries"), &body);
        Some(())
    }

    /// A beneficiary, a wallet of the same company and currency, and an affordable amount.
    fn pair(&mut self) -> Option<(Value, Value, i64)> {
        let payee = self.one_of(|known| &known.payees)?;
        let fits = |wallet: &&Value| {
            wallet["company_id"] == payee["company_id"]
                && wallet["currency"] == payee["account"]["currency"]
        };
        let wallet = self.spending.wallets.iter().find(fits)?.clone();
        let amounts = [1, 2, 99_999, 250_000, 7_500_000, i64::MAX];
        Some((payee, wallet, *self.chance.pick(&amounts)))
    }

    fn pay_payee(&mut self) -> Option<()> {
        let (payee, wallet, amount) = self.pair()?;
        let rail = *self.chance.pick(&["instant", "same_day", "standard"]);
        let body = json!({
            "company_id": payee["company_id"], "wallet_id": wallet["id"], "beneficiary_id": payee["id"],
            "amount": amount, "currency": wallet["currency"], "rail": rail, "reference": "Walked",
        });
        self.post("createPayout", &format!("{PAYMENTS}/payouts"), &body);
        Some(())
    }

    fn open_escrow(&mut self) -> Option<()> {
        let (payee, wallet, amount) = self.pair()?;
        let mut body = json!({
            "company_id": payee["company_id"], "buyer_wallet_id": wallet["id"],
            "seller_beneficiary_id": payee["id"], "amount": amount, "currency": wallet["currency"],
        });
        if self.chance.once_in(3) {
            let later = self.today.tomorrow().ok()?;
            body["auto_release_at"] = json!(format!("{later}T12:00:00Z"));
        }
        self.post("createEscrow", &format!("{PAYMENTS}/escrows"), &body);
        Some(())
    }

    fn move_escrow(&mut self) -> Option<()> {
        let escrow = self.one_of(|known| &known.escrows)?;
        let at = format!("{PAYMENTS}/escrows/{}", id(&escrow));
        let half = escrow["amount"].as_i64()? / 2 + 1;
        let (name, verb, body) = match self.chance.below(7) {
            0..3 => ("fundEscrow", "fund", json!({})),
            3 => ("releaseEscrow", "release", json!({})),
            4 => ("releaseEscrow", "release", json!({"amount": half})),
            5 => ("refundEscrow", "refund", json!({"reason": "Walked"})),
            _ => ("disputeEscrow", "dispute", json!({"raised_by": "buyer", "reason": "Walked"})),
        };
        self.post(name, &format!("{at}/{verb}"), &body);
        Some(())
    }

    fn convert(&mut self) -> Option<()> {
        let wallet = self.one_of(|known| &known.wallets)?;
        let target = *self.chance.pick(&["USD", "GBP", "JPY", "UGX"]);
        let amount = *self.chance.pick(&[1, 5_000, 1_000_001]);
        let quote = json!({
            "company_id": wallet["company_id"], "source_currency": wallet["currency"],
            "target_currency": target, "source_amount": amount,
        });
        let quote = self.post("createFxQuote", &format!("{PAYMENTS}/fx-quotes"), &quote)?;
        let transfer = json!({"quote_id": quote["id"], "source_wallet_id": wallet["id"]});
        self.post("createFxTransfer", &format!("{PAYMENTS}/fx-transfers"), &transfer);
        Some(())
    }

    fn stop_payout(&mut self) -> Option<()> {
        let payout = self.one_of(|known| &known.payouts)?;
        let (name, verb) =
            *self.chance.pick(&[("cancelPayout", "cancel"), ("approvePayout", "approve")]);
        let path = format!("{PAYMENTS}/payouts/{}/{verb}", id(&payout));
        self.post(name, &path, &json!({}));
        Some(())
    }

    fn charge_back(&mut self) -> Option<()> {
        let collection = self.one_of(|known| &known.collections)?;
        let body = json!({"collection": collection["id"], "reason": "Walked"});
        self.post("chargeback", "/_sandbox/inbound/chargeback", &body);
        let company = collection["company_id"].as_str()?.to_owned();
        self.look(&format!("{PAYMENTS}/disputes?company_id={company}&sort=-created_at"));
        Some(())
    }

    fn answer_dispute(&mut self) -> Option<()> {
        let dispute = self.one_of(|known| &known.disputes)?;
        let body = if self.chance.once_in(2) {
            json!({"action": "accept"})
        } else {
            json!({"action": "contest", "evidence": {"note": "Walked"}})
        };
        let path = format!("{PAYMENTS}/disputes/{}/respond", id(&dispute));
        self.post("respondToDispute", &path, &body);
        Some(())
    }
}

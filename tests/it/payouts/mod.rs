//! Beneficiaries and payouts: recipients, rails, and returns.

mod beneficiaries;
mod corrections;
mod limits;
mod micro_deposits;
mod outcomes;
mod race;
mod rail_codes;
mod rails;
mod refusals;
mod words;

use serde_json::{Value, json};

use crate::harness::world::{id, number};
use crate::harness::{Answer, Caller};

pub(crate) const PAYOUTS: &str = "/api/payments/payouts";
pub(crate) const BENEFICIARIES: &str = "/api/payments/beneficiaries";
/// A Nigerian account that accepts money.
pub(crate) const GOOD: &str = "9999999900";

/// A company with money and a beneficiary.
pub(crate) struct Payer {
    pub(crate) caller: Caller,
    pub(crate) company: String,
    pub(crate) wallet: String,
    pub(crate) beneficiary: String,
}

impl Payer {
    /// The first grown company, which is Nigerian.
    pub(crate) fn of(caller: Caller) -> Self {
        let company = caller.company(0);
        let wallet = wallet(&caller, &company);
        let mut payer = Self { caller, company, wallet, beneficiary: String::new() };
        payer.beneficiary = payer.payee(GOOD);
        payer
    }

    pub(crate) fn manual() -> Self {
        Self::of(Caller::manual())
    }

    pub(crate) fn instant() -> Self {
        Self::of(Caller::instant())
    }

    /// A verified beneficiary with this account.
    pub(crate) fn payee(&self, account: &str) -> String {
        let made = self.caller.post(BENEFICIARIES, &self.payee_body(account));
        let made = made.made();
        self.caller.advance(&json!({"by": "30s"}));
        let payee = self.beneficiary_now(id(&made));
        assert_eq!(payee["status"], "verified");
        id(&payee).to_owned()
    }

    pub(crate) fn payee_body(&self, account: &str) -> Value {
        let account = json!({"bank_code": "011", "account_number": account, "country": "NG", "currency": "NGN"});
        json!({"company_id": self.company, "name": "Adaeze Obi", "type": "individual", "account": account})
    }

    pub(crate) fn beneficiary_now(&self, id: &str) -> Value {
        self.caller.get(&format!("{BENEFICIARIES}/{id}")).data()
    }

    pub(crate) fn body(&self, amount: i64) -> Value {
        json!({"company_id": self.company, "wallet_id": self.wallet, "beneficiary_id": self.beneficiary,
            "amount": amount, "currency": "NGN", "rail": "instant", "reference": "Invoice 7"})
    }

    /// Requests a payout, with the members of `more` over the usual body.
    pub(crate) fn ask(&self, amount: i64, more: &Value) -> Answer {
        self.caller.post(PAYOUTS, &with(self.body(amount), more))
    }

    pub(crate) fn pay(&self, amount: i64, more: &Value) -> Value {
        self.ask(amount, more).made()
    }

    pub(crate) fn payout(&self, of: &Value) -> Value {
        self.caller.get(&format!("{PAYOUTS}/{}", id(of))).data()
    }

    /// The wallet's balances.
    pub(crate) fn balance(&self, which: &str) -> i64 {
        let wallet = self.caller.get(&format!("/api/payments/wallets/{}", self.wallet));
        number(&wallet.data()[which])
    }

    pub(crate) fn verb(&self, payout: &Value, verb: &str, body: &Value) -> Answer {
        self.caller.post(&format!("{PAYOUTS}/{}/{verb}", id(payout)), body)
    }

    pub(crate) fn settings(&self, settings: &Value) {
        let path = format!("/api/business/companies/{}", self.company);
        let body = json!({"payment_settings": settings});
        self.caller.patch(&path, &body).expect(200);
    }

    pub(crate) fn transition(&self, of: &str, body: &Value) -> Answer {
        self.caller.post(&format!("/_sandbox/resources/{of}/transition"), body)
    }

    /// Adds an amount to the wallet.
    pub(crate) fn receive(&self, amount: i64) -> Answer {
        let body = json!({"company_id": self.company, "amount": amount});
        self.caller.post("/_sandbox/inbound/bank_transfer", &body)
    }

    /// Fills the wallet to its limit.
    pub(crate) fn fill(&self) {
        while self.receive(1_000_000_000_000_000).status == 200 {}
        let mut step = 1_000_000_000_000_000;
        while step > 0 {
            if self.receive(step).status != 200 {
                step /= 10;
            }
        }
    }
}

/// The wallet of a company's own currency.
pub(crate) fn wallet(caller: &Caller, company: &str) -> String {
    let wallets = caller.get(&format!("/api/payments/wallets?company_id={company}"));
    id(&wallets.data()[0]).to_owned()
}

/// Merges one body over another.
pub(crate) fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// Statuses that a resource has had.
pub(crate) fn history(resource: &Value) -> Vec<&str> {
    let lines = resource["status_history"].as_array().unwrap().iter();
    lines.map(|line| line["status"].as_str().unwrap()).collect()
}

/// Pointer and code of every violation.
pub(crate) fn faults(problem: &Value) -> Vec<(&str, &str)> {
    let errors = problem["errors"].as_array().into_iter().flatten();
    errors
        .map(|error| (error["pointer"].as_str().unwrap(), error["code"].as_str().unwrap()))
        .collect()
}

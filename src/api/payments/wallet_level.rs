//! A company's payment settings: the amount from which payments need approval, and the limit for low-balance events.
//!
//! They are in the company's currency; other currencies are converted at the reference rate of the day.

use crate::api::prelude::*;
use crate::model::business::company::PaymentSettings;
use crate::model::fx::Rates;

/// Changes to the settings for payouts; absent members stay.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = changes)]
pub(crate) struct PaymentSettingsChange {
    /// Whether payouts to beneficiaries need approval.
    approval_required: Option<bool>,
    /// Smallest amount that needs approval, in minor units of the company's currency; 0 means every payout.
    #[schemars(range(min = 0, max = Amount::MAX))]
    approval_threshold: Option<i64>,
    /// A limit in minor units. If the available balance is below the limit after an outgoing payment, or after this change,
    /// `wallet.low_balance` is emitted. 0 means never.
    #[schemars(range(min = 0, max = Amount::MAX))]
    low_balance: Option<i64>,
}

impl PaymentSettingsChange {
    /// The settings after that change.
    pub(crate) fn apply(&self, settings: Option<PaymentSettings>) -> PaymentSettings {
        let settings = settings.unwrap_or_default();
        PaymentSettings {
            approval_required: self.approval_required.unwrap_or(settings.approval_required),
            approval_threshold: self.approval_threshold.unwrap_or(settings.approval_threshold),
            low_balance: self.low_balance.unwrap_or(settings.low_balance),
        }
    }
}

/// Whether a payout of that amount needs approval. In a currency without a reference rate it always does.
pub(crate) fn needs_approval(
    world: &World,
    company: &Company,
    amount: i64,
    currency: Currency,
) -> bool {
    let settings = company.payment_settings.as_deref().copied().unwrap_or_default();
    settings.approval_required
        && in_own_currency(world, company, amount, currency)
            .is_none_or(|amount| amount >= i128::from(settings.approval_threshold))
}

/// Emits the events of a debit from a wallet that had `before`, including the low balance if it fell below the company's limit.
pub(crate) fn debited(world: &mut World, company: &Company, wallet: &Wallet, before: i64) {
    world.emit_wallet("wallet.debited", wallet);
    let left = world.balances(wallet.company_id, wallet.currency).available;
    let below = |balance| is_below(world, company, wallet.currency, balance);
    if below(left) && !below(before) {
        world.emit_wallet("wallet.low_balance", wallet);
    }
}

/// Emits the low balances of wallets that are below the new limit of their company and were not below the one before.
pub(crate) fn limited(world: &mut World, before: &Company, company: &Company) {
    let is_news = |wallet: &Arc<Wallet>| {
        let left = world.balances(company.id, wallet.currency).available;
        is_below(world, company, wallet.currency, left)
            && !is_below(world, before, wallet.currency, left)
    };
    let low: Vec<Arc<Wallet>> = world.wallets_of(company.id).filter(is_news).collect();
    for wallet in low {
        world.emit_wallet("wallet.low_balance", &wallet);
    }
}

/// Whether a balance is below the company's limit; it never is if there is none.
fn is_below(world: &World, company: &Company, currency: Currency, balance: i64) -> bool {
    let mark = company.payment_settings.as_deref().copied().unwrap_or_default().low_balance;
    mark != 0
        && in_own_currency(world, company, balance, currency)
            .is_some_and(|balance| balance < i128::from(mark))
}

fn in_own_currency(
    world: &World,
    company: &Company,
    amount: i64,
    currency: Currency,
) -> Option<i128> {
    if currency == company.currency {
        return Some(i128::from(amount));
    }
    let mut rates = Rates::new(world.base().key());
    rates.translate(amount.into(), currency, company.currency, world.today())
}

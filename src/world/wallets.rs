//! Wallets: what a company's wallets hold, and how they are shown.

use std::sync::Arc;

use crate::model::Account;
use crate::model::business::Company;
use crate::model::payments::{Balances, Wallet};
use crate::value::{Currency, Id};
use crate::world::World;

impl World {
    /// The balance of the company's wallet in this currency: a sum of the ledger.
    pub(crate) fn balances(&self, company: Id<Company>, currency: Currency) -> Balances {
        let balance = |account| {
            let net = self.totals(company, currency, account).net();
            i64::try_from(net)
                .expect("a wallet's balance stays within 64 bits: every sum put in is bounded")
        };
        Balances {
            available: balance(Account::CashAvailable),
            pending: balance(Account::CollectionsInTransit),
            reserved: balance(Account::CashReserved),
            escrow: balance(Account::EscrowHeld),
        }
    }

    /// The shown form of the wallet, with its balances and the time of their last change.
    pub(crate) fn with_balances(&self, wallet: &Wallet) -> Wallet {
        let book = self.book(wallet.company_id);
        let lines = book.and_then(|book| book.by_wallet.get(&wallet.id.bits()));
        let last = lines.and_then(|lines| lines.lines.last()).map(|line| line.created_at);
        let at_start = || self.base.opening(wallet.company_id)?.moved(wallet.id);
        let moved = last.or_else(at_start);
        Wallet {
            balances: self.balances(wallet.company_id, wallet.currency),
            updated_at: moved.map_or(wallet.updated_at, |moved| moved.max(wallet.updated_at)),
            ..wallet.clone()
        }
    }

    /// The company's wallet of this currency, opened if there is none.
    pub(crate) fn wallet_for(&mut self, company: Id<Company>, currency: Currency) -> Arc<Wallet> {
        if let Some(wallet) = self.wallet_of(company, currency) {
            return wallet;
        }
        let id = self.next_id(company.bits());
        let wallet = Wallet::open(id, company, currency, self.now);
        self.record("wallet.created", wallet)
    }

    /// The company's wallets, in creation order.
    pub(crate) fn wallets_of(&self, company: Id<Company>) -> impl Iterator<Item = Arc<Wallet>> {
        let grown = self.base.index_of(company).and_then(|index| self.at::<Wallet>(index));
        let created = self.children::<Wallet>(company.bits()).filter_map(|id| self.find(id));
        grown.into_iter().chain(created)
    }

    /// The company's wallet of this currency, if there is one.
    pub(crate) fn wallet_of(
        &self,
        company: Id<Company>,
        currency: Currency,
    ) -> Option<Arc<Wallet>> {
        self.wallets_of(company).find(|wallet| wallet.currency == currency)
    }

    /// Emits an event about a wallet, with its balances.
    pub(crate) fn emit_wallet(&mut self, name: &'static str, wallet: &Wallet) {
        let shown = Arc::new(self.with_balances(wallet));
        self.emit(name, &shown);
    }
}

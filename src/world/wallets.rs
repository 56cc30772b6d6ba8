//! The balances of a company's wallets, and the wire form of wallets.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::business::Company;
use crate::model::payments::{Balances, Wallet};
use crate::model::{Account, AnyId, Entity, JournalEntry};
use crate::value::{Currency, Id, Timestamp};
use crate::world::World;
use crate::world::transaction::Undo;

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
        Wallet {
            balances: self.balances(wallet.company_id, wallet.currency),
            updated_at: self.moved_before(wallet, &BTreeSet::new()),
            ..wallet.clone()
        }
    }

    /// When the wallet last changed without these entries.
    fn moved_before(&self, wallet: &Wallet, entries: &BTreeSet<Id<JournalEntry>>) -> Timestamp {
        let book = self.book(wallet.company_id);
        let lines = book.and_then(|book| book.by_wallet.get(&wallet.id.bits()));
        let mut lines = lines.into_iter().flat_map(|lines| lines.lines.iter().rev());
        let last = lines.find(|line| !entries.contains(&line.journal_entry_id));
        let at_start = || self.base.opening(wallet.company_id)?.moved(wallet.id);
        let moved = last.map(|line| line.created_at).or_else(at_start);
        moved.map_or(wallet.updated_at, |moved| moved.max(wallet.updated_at))
    }

    /// The wire form of the wallet before the entries that this step has posted since its last event; `None` without
    /// such entries.
    fn before_step(&self, wallet: &Wallet) -> Option<Wallet> {
        let (id, company) = (AnyId::of(wallet.id), wallet.company_id.bits());
        let steps = self.transaction.undo.iter().rev();
        let since =
            steps.take_while(|undo| !matches!(undo, Undo::Emit { subject } if *subject == id));
        let posted =
            since.filter(|undo| matches!(undo, Undo::Post { company: of } if *of == company));
        let entries = self.book(wallet.company_id)?.entries.iter().rev();
        let entries: Vec<_> = entries.take(posted.count()).collect();
        let lines = entries.iter().flat_map(|entry| &entry.lines);
        let mut balances = self.balances(wallet.company_id, wallet.currency);
        let shown = balances;
        for line in lines.filter(|line| line.currency == wallet.currency) {
            let balance = match line.account {
                Account::CashAvailable => &mut balances.available,
                Account::CollectionsInTransit => &mut balances.pending,
                Account::CashReserved => &mut balances.reserved,
                Account::EscrowHeld => &mut balances.escrow,
                _ => continue,
            };
            *balance -= line.signed();
        }
        let ids = entries.iter().map(|entry| entry.id).collect();
        let updated_at = self.moved_before(wallet, &ids);
        (balances != shown).then(|| Wallet { balances, updated_at, ..wallet.clone() })
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

    /// Emits an event about a wallet, with its balances now and before.
    pub(crate) fn emit_wallet(&mut self, name: &'static str, wallet: &Wallet) {
        let shown = Arc::new(self.with_balances(wallet));
        let before = self.before_step(wallet).map(|before| Arc::new(before).into_record());
        self.emit_from(name, &shown, before);
    }
}

//! The ledger: the journal of every company since its start, its totals, and the statements of its wallets.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, Vector};
use serde::{Deserialize, Serialize};

use crate::model::{Account, Direction, EntryLine, JournalEntry, WalletTransaction};
use crate::value::Currency;
use crate::world::days::Days;
use crate::world::statement::WalletLines;

/// Gross debits and credits of one account, in minor units. Both are stored, so that the turnover is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) debits: i128,
    pub(crate) credits: i128,
}

impl Totals {
    /// Debits less credits.
    pub(crate) const fn net(self) -> i128 {
        self.debits - self.credits
    }

    /// Both sums.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self { debits: self.debits + other.debits, credits: self.credits + other.credits }
    }

    /// Adds a line, or removes it.
    fn apply(&mut self, line: &EntryLine, sign: i128) {
        match line.direction {
            Direction::Debit => self.debits += sign * i128::from(line.amount),
            Direction::Credit => self.credits += sign * i128::from(line.amount),
        }
    }
}

/// Totals by currency and account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Currency, Account, Totals)>", into = "Vec<(Currency, Account, Totals)>")]
pub(crate) struct Sums(BTreeMap<(Currency, Account), Totals>);

impl Sums {
    /// Adds every line of an entry.
    pub(crate) fn add(&mut self, lines: &[EntryLine]) {
        for line in lines {
            self.0.entry((line.currency, line.account)).or_default().apply(line, 1);
        }
    }

    /// Removes every line of an entry.
    pub(crate) fn remove(&mut self, lines: &[EntryLine]) {
        for line in lines {
            let totals = self.0.entry((line.currency, line.account)).or_default();
            totals.apply(line, -1);
            if *totals == Totals::default() {
                self.0.remove(&(line.currency, line.account));
            }
        }
    }

    /// Whether nothing was added, or all of it was removed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds other totals.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (&row, &totals) in &other.0 {
            let own = self.0.entry(row).or_default();
            *own = own.plus(totals);
        }
    }

    /// Totals of one account.
    pub(crate) fn get(&self, currency: Currency, account: Account) -> Totals {
        self.0.get(&(currency, account)).copied().unwrap_or_default()
    }

    /// All accounts with entries, ordered by currency and account.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Currency, Account, Totals)> {
        self.0.iter().map(|(&(currency, account), &totals)| (currency, account, totals))
    }
}

impl From<Vec<(Currency, Account, Totals)>> for Sums {
    fn from(rows: Vec<(Currency, Account, Totals)>) -> Self {
        Self(
            rows.into_iter()
                .map(|(currency, account, totals)| ((currency, account), totals))
                .collect(),
        )
    }
}

impl From<Sums> for Vec<(Currency, Account, Totals)> {
    fn from(sums: Sums) -> Self {
        sums.iter().collect()
    }
}

/// One company's books.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "WrittenBook")]
pub(crate) struct Book {
    pub(crate) entries: Vector<Arc<JournalEntry>>,
    pub(crate) sums: Sums,
    /// The movements of available balances, of all the company's wallets, in order.
    pub(crate) statement: Vector<Arc<WalletTransaction>>,
    /// The same by wallet: an index, which is rebuilt like the next one.
    #[serde(skip)]
    pub(crate) by_wallet: OrdMap<u64, WalletLines>,
    /// The same entries by day: an index, which is rebuilt when the book is read.
    #[serde(skip)]
    pub(crate) days: Days,
}

/// The serialised form of a book.
#[derive(Deserialize)]
struct WrittenBook {
    entries: Vector<Arc<JournalEntry>>,
    sums: Sums,
    statement: Vector<Arc<WalletTransaction>>,
}

impl From<WrittenBook> for Book {
    fn from(written: WrittenBook) -> Self {
        let mut days = Days::default();
        for entry in &written.entries {
            days.add(entry);
        }
        let mut by_wallet = OrdMap::<u64, WalletLines>::new();
        for line in &written.statement {
            let lines = by_wallet.entry(line.wallet_id.bits()).or_default();
            lines.push(Arc::clone(line));
        }
        Self {
            entries: written.entries,
            sums: written.sums,
            statement: written.statement,
            by_wallet,
            days,
        }
    }
}

/// The books of every company since its start. A clone shares them. The first posting to a company after a
/// clone copies that company's totals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Books(OrdMap<u64, Arc<Book>>);

impl Books {
    /// The book of this company, if it has entries.
    pub(crate) fn get(&self, company: u64) -> Option<&Book> {
        self.0.get(&company).map(AsRef::as_ref)
    }

    /// Every company with a book.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Book)> {
        self.0.iter().map(|(&company, book)| (company, &**book))
    }

    /// The companies whose books differ between both.
    pub(crate) fn differing(&self, other: &Self) -> Vec<u64> {
        let differs = |company: &&u64| match (self.0.get(*company), other.0.get(*company)) {
            (Some(one), Some(other)) => !Arc::ptr_eq(one, other),
            _ => true,
        };
        let both = self.0.keys().chain(other.0.keys());
        let mut companies: Vec<u64> = both.filter(differs).copied().collect();
        companies.sort_unstable();
        companies.dedup();
        companies
    }

    /// Appends an entry with its wallet transactions.
    pub(crate) fn post(&mut self, entry: Arc<JournalEntry>, views: Vec<WalletTransaction>) {
        let book = Arc::make_mut(self.0.entry(entry.company_id.bits()).or_default());
        book.sums.add(&entry.lines);
        book.days.add(&entry);
        book.entries.push_back(entry);
        for line in views.into_iter().map(Arc::new) {
            let lines = book.by_wallet.entry(line.wallet_id.bits()).or_default();
            lines.push(Arc::clone(&line));
            book.statement.push_back(line);
        }
    }

    /// Removes the company's last entry.
    pub(crate) fn undo_post(&mut self, company: u64) {
        let book = self.0.get_mut(&company).expect("what is undone was posted");
        let book = Arc::make_mut(book);
        let entry = book.entries.pop_back().expect("what is undone was posted");
        book.sums.remove(&entry.lines);
        book.days.remove(&entry);
        let of_entry = |line: &&Arc<WalletTransaction>| line.journal_entry_id == entry.id;
        while let Some(wallet) = book.statement.last().filter(of_entry).map(|l| l.wallet_id) {
            book.statement.pop_back();
            if let Some(lines) = book.by_wallet.get_mut(&wallet.bits()) {
                lines.pop();
                if lines.is_empty() {
                    book.by_wallet.remove(&wallet.bits());
                }
            }
        }
        if book.entries.is_empty() {
            self.0.remove(&company);
        }
    }
}

//! The ledger: the journal of every company since its start, its totals, and the statements of its wallets.

use std::sync::Arc;

use imbl::{OrdMap, Vector};
use serde::{Deserialize, Serialize};

use crate::model::ledger::{JournalEntry, WalletTransaction};
use crate::world::days::Days;
use crate::world::sums::Sums;

/// The lines of one wallet since the start, in the order of posting.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalletLines {
    pub(super) lines: Vector<Arc<WalletTransaction>>,
    /// The number of lines with an earlier day than the previous line, from entries posted for past days.
    pub(super) back: u64,
}

impl WalletLines {
    fn push(&mut self, line: Arc<WalletTransaction>) {
        self.back += u64::from(self.is_back(&line));
        self.lines.push_back(line);
    }

    fn pop(&mut self) {
        if let Some(line) = self.lines.pop_back() {
            self.back -= u64::from(self.is_back(&line));
        }
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn is_back(&self, line: &WalletTransaction) -> bool {
        let last = self.lines.last();
        last.is_some_and(|last| last.effective_on > line.effective_on)
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
    /// The lines by wallet: an index, which is rebuilt like the next one.
    #[serde(skip)]
    pub(crate) by_wallet: OrdMap<u64, WalletLines>,
    /// The entries by day: an index, which is rebuilt when the book is read.
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

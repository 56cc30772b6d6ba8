//! The journal: entries are appended, and never edited. A reversal appends the mirror, and marks the original
//! entry.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::business::Company;
use crate::model::posting::Posting;
use crate::model::{
    Account, AnyId, Entity, EntryStatus, JournalEntry, Kind, Object, Record, WalletTransaction,
};
use crate::value::{Date, Id, Metadata};
use crate::world::transaction::Undo;
use crate::world::{Change, Origin, World};

impl World {
    /// The current state of the entry with this id, with any source.
    pub(crate) fn entry(&self, id: Id<JournalEntry>) -> Option<Arc<JournalEntry>> {
        let posted = || {
            let mut entries = self.books.iter().flat_map(|(_, book)| book.entries.iter());
            entries.find(|entry| entry.id == id).cloned()
        };
        self.find(id).or_else(posted)
    }

    /// The current state of an entry; a book has it as it was posted.
    pub(crate) fn as_it_stands(&self, entry: &Arc<JournalEntry>) -> Arc<JournalEntry> {
        let changed = self.overlay.get(Kind::JournalEntry, entry.id.bits());
        let changed = changed.and_then(JournalEntry::of_record);
        Arc::clone(changed.unwrap_or(entry))
    }

    /// Posts an entry that counts on this day in reports. None if it has no lines, because nothing moved.
    ///
    /// # Panics
    /// If debits and credits differ: a function of `posting` is wrong, and the request is undone.
    pub(crate) fn post_on(
        &mut self,
        company: Id<Company>,
        posting: Posting,
        effective_on: Date,
    ) -> Option<Arc<JournalEntry>> {
        if posting.lines.is_empty() {
            return None;
        }
        let entry = Arc::new(self.written(company, posting, effective_on));
        self.append(&entry);
        Some(entry)
    }

    /// Posts an entry of a caller. It is its own source, and is found by its id.
    pub(crate) fn post_manual(
        &mut self,
        company: Id<Company>,
        posting: Posting,
        effective_on: Date,
        metadata: Metadata,
    ) -> Arc<JournalEntry> {
        let entry =
            Arc::new(JournalEntry { metadata, ..self.written(company, posting, effective_on) });
        self.append(&entry);
        self.file(&entry);
        entry
    }

    /// Posts the mirror of an entry, and marks the entry as reversed. Returns the mirror and the marked
    /// entry.
    pub(crate) fn reverse(
        &mut self,
        entry: &Arc<JournalEntry>,
        memo: Cow<'static, str>,
        source: AnyId,
        effective_on: Date,
    ) -> (Arc<JournalEntry>, Arc<JournalEntry>) {
        let is_filed = self.overlay.get(Kind::JournalEntry, entry.id.bits()).is_some();
        if !is_filed && self.base.index_of(entry.id).is_none() {
            self.file(entry); // so that its change has a state before
        }
        let posting = Posting::mirror(entry, memo, source);
        let mirror = Arc::new(JournalEntry {
            reverses: Some(entry.id),
            ..self.written(entry.company_id, posting, effective_on)
        });
        self.append(&mirror);
        self.file(&mirror);
        let reversed = Arc::new(JournalEntry {
            status: EntryStatus::Reversed,
            reversed_by: Some(mirror.id),
            updated_at: self.now,
            ..(**entry).clone()
        });
        self.put(&reversed);
        (mirror, reversed)
    }

    /// The id of the next entry in this company's books.
    pub(crate) fn next_entry_id(&self, company: Id<Company>) -> Id<JournalEntry> {
        let ordinal = self.book(company).map_or(0, |book| book.entries.len()) as u64;
        let key = self.base.key().with("entry").at(company.bits());
        Id::from_bits(key.at(ordinal).hash())
    }

    fn written(
        &self,
        company_id: Id<Company>,
        posting: Posting,
        effective_on: Date,
    ) -> JournalEntry {
        assert!(posting.balances(), "an entry does not balance: {posting:?}");
        JournalEntry {
            id: self.next_entry_id(company_id),
            object: Object::NAME,
            company_id,
            status: EntryStatus::Posted,
            effective_on,
            posted_at: self.now,
            memo: posting.memo,
            source: posting.source,
            lines: posting.lines,
            reverses: None,
            reversed_by: None,
            created_at: self.now,
            updated_at: self.now,
            metadata: Metadata::default(),
        }
    }

    fn append(&mut self, entry: &Arc<JournalEntry>) {
        let views = self.views(entry);
        self.transaction
            .staged
            .push(Change { before: None, after: Record::JournalEntry(Arc::clone(entry)) });
        self.books.post(Arc::clone(entry), views);
        self.transaction.undo.push(Undo::Post { company: entry.company_id.bits() });
    }

    /// Stores an entry so that it is found by its id. Another event reports the posting.
    fn file(&mut self, entry: &Arc<JournalEntry>) {
        let (kind, id) = (Kind::JournalEntry, entry.id.bits());
        let parent = entry.parent();
        let origin = Origin::Created { parent };
        let record = Record::JournalEntry(Arc::clone(entry));
        let before = self.overlay.put(kind, id, record, origin);
        self.transaction.undo.push(Undo::Put { kind, id, before, origin });
    }

    /// The statement lines of a new entry: one for each wallet whose available money it moves.
    fn views(&self, entry: &JournalEntry) -> Vec<WalletTransaction> {
        let company = entry.company_id;
        let key = self.base.key().with("statement").at(company.bits());
        let lines = self.book(company).map_or(0, |book| book.statement.len()) as u64;
        let wallets = entry.moves_available();
        let wallets = wallets.filter_map(|currency| self.wallet_of(company, currency));
        (lines..)
            .zip(wallets)
            .map(|(ordinal, wallet)| {
                let totals = self.totals(company, wallet.currency, Account::CashAvailable);
                let id = Id::from_bits(key.at(ordinal).hash());
                WalletTransaction::of(entry, &wallet, id, totals.net())
            })
            .collect()
    }
}

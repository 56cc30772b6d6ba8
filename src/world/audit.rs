//! Checks every invariant of a world, from the records themselves.

use std::collections::BTreeMap;

use crate::model::business::Company;
use crate::model::{
    Account, Entity, EntryLine, JournalEntry, Kind, Record, WalletTransaction, posting,
};
use crate::value::{Currency, Date, Id};
use crate::world::World;
use crate::world::days::Days;
use crate::world::log_hashes::are_equal;
use crate::world::sums::Sums;

/// The checks of an audit, and its findings.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    pub(crate) entries: u64,
    pub(crate) events: u64,
    /// The first event checked, if older ones were dropped. A record that no later event changed cannot be
    /// checked.
    pub(crate) begins: Option<u64>,
    pub(crate) findings: Vec<String>,
}

impl World {
    /// Checks every invariant of the changed companies of this world, or of all companies of a small one.
    pub(crate) fn audit(&self) -> Audit {
        let mut audit = Audit::default();
        for company in self.audited() {
            self.audit_books(company, &mut audit);
        }
        self.audit_log(&mut audit);
        self.audit_timers(&mut audit);
        audit
    }

    /// All companies of a small world; for a large one, those with stored books.
    fn audited(&self) -> Vec<Id<Company>> {
        const SMALL: u64 = 16;
        let grown = self.base.shape().companies;
        let mut companies: Vec<Id<Company>> =
            (0..grown.min(SMALL)).map(|index| self.base.id_at(index)).collect();
        companies.extend(self.created::<Company>());
        companies.extend(self.books.iter().map(|(bits, _)| Id::from_bits(bits)));
        companies.sort_unstable();
        companies.dedup();
        companies
    }

    /// Entries balance and have a source. Totals and statements are sums of the entries. No wallet is
    /// overdrawn.
    fn audit_books(&self, company: Id<Company>, audit: &mut Audit) {
        let history = self.base.history(company);
        let grown = history.iter().flat_map(|history| history.entries.iter());
        let book = self.book(company);
        let since = book.into_iter().flat_map(|book| book.entries.iter());
        let mut sums = Sums::default();
        let mut days = BTreeMap::new();
        let mut cash: Vec<(&JournalEntry, Currency)> = Vec::new();
        for entry in grown.chain(since) {
            audit.entries += 1;
            self.audit_entry(entry, audit);
            sums.add(&entry.lines);
            by_day(entry, &mut days);
            cash.extend(moved_wallets(entry).into_iter().map(|one| (&**entry, one)));
        }
        for (currency, account, totals) in sums.iter() {
            if totals != self.totals(company, currency, account) {
                audit.findings.push(format!(
                    "{company}: the total of {account} {currency} is not the sum of its entries"
                ));
            }
            if account == Account::CashAvailable && totals.net() < 0 {
                audit.findings.push(format!("{company}: the {currency} wallet is overdrawn"));
            }
        }
        let grown = history.iter().map(|history| &history.days);
        let since = book.into_iter().map(|book| &book.days);
        if indexed(grown.chain(since)) != days {
            audit
                .findings
                .push(format!("{company}: the sums by day are not the sums of the entries"));
        }
        let statement = history.iter().flat_map(|history| history.statement.iter());
        let statement = statement.chain(book.into_iter().flat_map(|book| book.statement.iter()));
        audit_statement(company, &cash, &statement.map(AsRef::as_ref).collect::<Vec<_>>(), audit);
    }

    fn audit_entry(&self, entry: &JournalEntry, audit: &mut Audit) {
        let mut net: BTreeMap<Currency, i128> = BTreeMap::new();
        for line in &entry.lines {
            *net.entry(line.currency).or_default() += i128::from(line.signed());
        }
        if entry.lines.len() < 2 || net.values().any(|net| *net != 0) {
            audit.findings.push(format!("{} does not balance", entry.id));
        }
        if entry.lines.iter().any(|line| line.amount <= 0) {
            audit.findings.push(format!("{} has a line without an amount", entry.id));
        }
        // Reads the records alone: a scan of the book for each of its entries would be quadratic.
        let changed = self.overlay.get(Kind::JournalEntry, entry.id.bits());
        let mirrored = changed
            .and_then(JournalEntry::of_record)
            .and_then(|entry| self.find(entry.reversed_by?));
        if mirrored.is_some_and(|mirror| mirror.reverses != Some(entry.id)) {
            audit
                .findings
                .push(format!("{} is reversed by an entry that reverses another one", entry.id));
        }
        if !self.exists(entry.source) {
            audit.findings.push(format!(
                "{} has the source {}, which does not exist",
                entry.id, entry.source
            ));
        }
    }

    /// Sequence numbers have no gap, time never goes back, and the last change of each record is its stored
    /// state.
    fn audit_log(&self, audit: &mut Audit) {
        let mut last: BTreeMap<(Kind, u64), &Record> = BTreeMap::new();
        let mut at = self.base.shape().start;
        let first = self.log.first_sequence();
        audit.begins = self.log.is_trimmed().then_some(first);
        for (number, event) in (first..).zip(self.log.iter()) {
            audit.events += 1;
            if event.sequence != number || event.at < at || event.at > self.now {
                audit.findings.push(format!("event {} is out of order", event.sequence));
            }
            at = event.at;
            for change in event.changes() {
                last.insert((change.kind(), change.after.bits()), change.after);
            }
        }
        for (kind, id, record) in self.records() {
            let logged = last.remove(&(kind, id));
            if logged.is_none() && audit.begins.is_some() {
                continue; // the event of its last change was dropped
            }
            // A world that began with a checkpoint has copies.
            if !logged.is_some_and(|logged| are_equal(logged, record)) {
                audit
                    .findings
                    .push(format!("a {} differs from its last change in the log", kind.name()));
            }
        }
        let unknown = last.keys().filter(|(kind, _)| *kind != Kind::JournalEntry).count();
        if unknown > 0 {
            audit.findings.push(format!("{unknown} records of the log are not in the world"));
        }
    }

    fn audit_timers(&self, audit: &mut Audit) {
        let due: Vec<_> = self.timers().collect();
        if due.windows(2).any(|pair| pair[0].due > pair[1].due) {
            audit.findings.push("timers are out of order".to_owned());
        }
        if due.first().is_some_and(|timer| timer.due < self.now) {
            audit.findings.push("a due timer did not run".to_owned());
        }
    }
}

/// Debits less credits by day, currency and account: all of them, those of lines against cash, and those of the tax of customers.
type ByDay = BTreeMap<(Date, Currency, Account), [i128; 3]>;

/// Adds an entry's lines to its day.
fn by_day(entry: &JournalEntry, days: &mut ByDay) {
    for line in &entry.lines {
        let place = (entry.effective_on, line.currency, line.account);
        let [all, against_cash, customers_tax] = days.entry(place).or_default();
        *all += i128::from(line.signed());
        let touches_cash =
            |other: &EntryLine| other.currency == line.currency && other.account.is_cash();
        if !line.account.is_cash() && entry.lines.iter().any(touches_cash) {
            *against_cash += i128::from(line.signed());
            let of_customer = matches!(entry.source.kind, Kind::Refund | Kind::Collection);
            if of_customer && line.account == posting::vat_account() {
                *customers_tax += i128::from(line.signed());
            }
        }
    }
}

/// The sums from the indexes of a company's books.
fn indexed<'a>(indexes: impl Iterator<Item = &'a Days>) -> ByDay {
    let mut found = ByDay::new();
    for (date, day) in indexes.flat_map(Days::iter) {
        let indexes = [&day.sums, &day.against_cash, &day.customers_tax];
        for (place, sums) in indexes.into_iter().enumerate() {
            for (currency, account, totals) in sums.iter() {
                found.entry((date, currency, account)).or_default()[place] += totals.net();
            }
        }
    }
    found
}

/// The currencies in which an entry moves available money.
fn moved_wallets(entry: &JournalEntry) -> Vec<Currency> {
    let mut found = Vec::new();
    for line in &entry.lines {
        if line.account == Account::CashAvailable && !found.contains(&line.currency) {
            found.push(line.currency);
        }
    }
    found
}

/// The statement has one line for each entry and wallet whose available money it moves, and its balances have
/// no gap.
fn audit_statement(
    company: Id<Company>,
    cash: &[(&JournalEntry, Currency)],
    lines: &[&WalletTransaction],
    audit: &mut Audit,
) {
    if cash.len() != lines.len() {
        audit.findings.push(format!(
            "{company}: the statement has {} lines for {} entries",
            lines.len(),
            cash.len()
        ));
    }
    let mut balances: BTreeMap<Currency, i128> = BTreeMap::new();
    for ((entry, currency), line) in cash.iter().zip(lines) {
        let moved = entry
            .lines
            .iter()
            .filter(|l| l.account == Account::CashAvailable && l.currency == *currency)
            .map(|l| i128::from(l.signed()));
        let balance = balances.entry(*currency).or_default();
        *balance += moved.sum::<i128>();
        if line.journal_entry_id != entry.id
            || line.currency != *currency
            || i128::from(line.balance_after) != *balance
        {
            audit
                .findings
                .push(format!("{}: the running balance differs from the ledger's", line.id));
        }
    }
}

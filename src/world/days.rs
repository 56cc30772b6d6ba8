//! Totals of entries by day, so that a report sums days instead of entries.

use std::sync::Arc;

use imbl::OrdMap;

use crate::model::ledger::{EntryLine, JournalEntry};
use crate::value::time::Date;
use crate::world::sums::Sums;

/// The totals of a company's entries on each day with entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Days(OrdMap<Date, Arc<Day>>);

/// The totals of the entries of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Day {
    /// Every line.
    pub(crate) sums: Sums,
    /// The lines against cash: for entries that move cash in a currency, their other lines in that currency.
    /// They show the reasons of cash movements.
    pub(crate) against_cash: Sums,
    /// The lines of entries that close a year, or reverse that. They are part of the sums, and no report of profit counts them.
    pub(crate) closing: Sums,
}

impl Days {
    /// Adds an entry to its day.
    pub(crate) fn add(&mut self, entry: &JournalEntry) {
        let day = Arc::make_mut(self.0.entry(entry.effective_on).or_default());
        day.sums.add(&entry.lines);
        if entry.closes_year() {
            day.closing.add(&entry.lines);
        }
        for line in against_cash(&entry.lines) {
            day.against_cash.add(core::slice::from_ref(line));
        }
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, entry: &JournalEntry) {
        let Some(day) = self.0.get_mut(&entry.effective_on) else { return };
        let day = Arc::make_mut(day);
        day.sums.remove(&entry.lines);
        if entry.closes_year() {
            day.closing.remove(&entry.lines);
        }
        for line in against_cash(&entry.lines) {
            day.against_cash.remove(core::slice::from_ref(line));
        }
        if day.sums.is_empty() {
            self.0.remove(&entry.effective_on);
        }
    }

    /// About how much memory they take.
    pub(super) fn bytes(&self) -> usize {
        let sums = |day: &Day| day.sums.bytes() + day.against_cash.bytes() + day.closing.bytes();
        self.iter().map(|(_, day)| size_of::<(Date, Day)>() + sums(day)).sum()
    }

    /// Every day, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Date, &Day)> {
        self.0.iter().map(|(date, day)| (*date, &**day))
    }

    /// The days of a range, both ends included, in order.
    pub(crate) fn between(&self, first: Date, last: Date) -> impl Iterator<Item = (Date, &Day)> {
        let any = first <= last;
        let days = any.then(|| self.0.range(first..=last));
        days.into_iter().flatten().map(|(date, day)| (*date, &**day))
    }
}

/// The lines that show the reasons of cash movements. In a currency in which an entry moves no cash, there
/// are none.
pub(crate) fn against_cash(lines: &[EntryLine]) -> impl Iterator<Item = &EntryLine> {
    let moves_cash = |line: &EntryLine| {
        let mut others = lines.iter();
        others.any(|other| other.account.is_cash() && other.currency == line.currency)
    };
    lines.iter().filter(move |line| !line.account.is_cash() && moves_cash(line))
}
